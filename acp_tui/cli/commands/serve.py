"""`acp-tui serve AGENT`: serves an agent over WebSocket, to acp-tui on another machine."""

from __future__ import annotations

import argparse
import asyncio
import ipaddress
import re
import secrets
import shlex
import signal
import socket
import ssl
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.cli.options import OK, REPEATABLE, add_account_options, require_agent
from acp_tui.cli.project_trust import wide_workspace
from acp_tui.config.agent_catalogue import launch_from_command, require_command, resolve_launch
from acp_tui.errors import UsageError, UserError, os_errors_reported
from acp_tui.session.safe_text import escape_line

if TYPE_CHECKING:
    from acp_tui.config.agent_catalogue import Launch

DEFAULT_ADDRESS = ("127.0.0.1", 0)
MAX_TOKEN_BYTES = 4096
EPILOG = """\
examples:
  acp-tui serve claude-code                      on this machine, with a token that is printed
  acp-tui serve claude-code --listen 127.0.0.1:8700 --token-file token.txt
  acp-tui serve codex --listen 0.0.0.0:8700 --tls-cert cert.pem --tls-key key.pem

Each connection gets an agent of its own. If the connection is lost, its agent and the running turn are ended.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_account_options(parser)
    about = "where to listen (default: 127.0.0.1 and a free port)"
    parser.add_argument(
        "--listen", type=_address, default=DEFAULT_ADDRESS, metavar="ADDRESS:PORT", help=about
    )
    about = "the folder of all sessions; others are refused (default: current)"
    parser.add_argument("--folder", type=Path, metavar="DIR", help=about)
    about = "file with the token that clients must send (default: make one and print it)"
    parser.add_argument("--token-file", type=Path, metavar="FILE", help=about)
    about = "accept connections from web pages of this origin (repeatable)"
    parser.add_argument("--allow-origin", **REPEATABLE, metavar="ORIGIN", help=about)
    about = "certificate chain in PEM format; other machines can connect only with TLS"
    parser.add_argument("--tls-cert", type=Path, metavar="FILE", help=about)
    parser.add_argument("--tls-key", type=Path, metavar="FILE", help="its private key in PEM format")


def run(args: argparse.Namespace) -> int:
    """Serve the agent until a signal arrives."""
    from acp_tui.config.settings import load
    from acp_tui.store.log_file import log_to_file

    require_agent(args.agent, args.program)
    if args.agent is not None and args.program is not None:
        raise UsageError("Name an agent or use --command 'PROG ARGS', but not both.")
    folder = _folder(args.folder)
    tls = _tls_context(args.tls_cert, args.tls_key)
    host, _ = args.listen
    if tls is None and not ipaddress.ip_address(host).is_loopback:
        raise UsageError(f"Other machines can reach {host}: --tls-cert and --tls-key are required.")
    token = secrets.token_urlsafe(32) if args.token_file is None else _read_token(args.token_file)
    launch = launch_from_command(args.program) if args.program else resolve_launch(args.agent, load(folder))
    require_command(launch)
    log_to_file()
    asyncio.run(_serve(args, launch, folder, token, tls))
    return OK


async def _serve(
    args: argparse.Namespace, launch: Launch, folder: Path, token: str, tls: ssl.SSLContext | None
) -> None:
    from acp_tui.connection.agent_server import ENDPOINT, AgentServer

    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under `nohup`
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
    origins = [origin.rstrip("/") for origin in args.allow_origin]
    server = AgentServer(launch, folder, token, origins=origins, say=_print_line)
    host, port = args.listen
    with os_errors_reported(f"Cannot listen on {_joined(host, port)}"):
        port = await server.start(host, port, tls)
    try:
        scheme = "ws" if tls is None else "wss"
        url = f"{scheme}://{_joined(_reachable_name(host), port)}{ENDPOINT}"
        _print_address(launch.title, folder, url, token, args.token_file)
        await stop.wait()
    finally:
        await server.close()


def _print_address(title: str, folder: Path, url: str, token: str, token_file: Path | None) -> None:
    print(f"Serving {title} in {escape_line(str(folder))} at {url}")
    file = "FILE" if token_file is None else shlex.quote(str(token_file))
    if token_file is None:
        print(f"Token: {token}")
        print("Save the token in a file that only you can read. Connect with:")
    else:
        print("Connect with:")
    print(f"  acp-tui {url} --token-file {file}")
    print("Press Ctrl+C to stop.", flush=True)


def _print_line(text: str) -> None:
    with suppress(OSError):  # nobody reads stderr any more
        print(escape_line(text), file=sys.stderr, flush=True)


# --------------------------------------------------------------------------- the options


def _address(text: str) -> tuple[str, int]:
    """Parse ADDRESS:PORT, such as `127.0.0.1:8700`, `[::1]:8700` or `localhost:8700`."""
    host, colon, port = text.rpartition(":")
    host = "127.0.0.1" if host == "localhost" else host.removeprefix("[").removesuffix("]")
    try:
        ipaddress.ip_address(host)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected an IP address and a port such as 127.0.0.1:8700, got {text!r}"
        ) from None
    if not colon or not re.fullmatch(r"[0-9]{1,5}", port) or int(port) > 65535:
        raise argparse.ArgumentTypeError(f"expected a port from 0 to 65535, got {port!r}")
    return host, int(port)


def _joined(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _reachable_name(host: str) -> str:
    """Return the host for the printed address: this machine's name if it listens on all addresses."""
    return socket.gethostname() if ipaddress.ip_address(host).is_unspecified else host


def _folder(given: Path | None) -> Path:
    folder = (given or Path.cwd()).resolve()
    if not folder.is_dir():
        raise UsageError(f"The folder {escape_line(str(folder))} does not exist.")
    if given is None and (what := wide_workspace(folder)):
        raise UsageError(f"The folder would be {what}; choose one with --folder DIR.")
    return folder


def _read_token(file: Path) -> str:
    """Return the token in a file. Raises `UserError`, which never contains the token."""
    shown = escape_line(str(file))
    with os_errors_reported(f"Cannot read the token file {shown}"), file.open("rb") as content:
        token = content.read(MAX_TOKEN_BYTES + 1).strip()
    if not re.fullmatch(rb"[!-~]+", token) or len(token) > MAX_TOKEN_BYTES:
        raise UserError(f"The token file {shown} must contain one token on one line.")
    return token.decode()


def _tls_context(cert: Path | None, key: Path | None) -> ssl.SSLContext | None:
    if cert is None and key is None:
        return None
    if cert is None or key is None:
        raise UsageError("--tls-cert and --tls-key are used together.")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        # Without the password, OpenSSL would ask for it on the terminal.
        context.load_cert_chain(cert, key, password=lambda: b"-")
    except (OSError, ValueError) as error:
        why = "they do not contain a certificate and its unencrypted key in PEM format"
        if not isinstance(error, ssl.SSLError):
            why = str(getattr(error, "strerror", None) or error)
        files = escape_line(f"{cert} and {key}")
        raise UserError(f"Cannot use {files}: {why}.") from None
    return context
