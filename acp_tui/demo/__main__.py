"""`python -m acp_tui.demo`: run the demo agent on standard input and output."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from pathlib import Path

from acp_tui.config.paths import paths
from acp_tui.console import prepare_streams
from acp_tui.errors import UserError

SPEEDS = ("relaxed", "quick", "instant")


def main() -> int:
    """Serve a client until the client closes standard input or a signal arrives. Return the exit code.

    With `--sign-in`, only let the user sign in.
    """
    prepare_streams()
    args = _arguments()
    if args.sign_in:
        return _sign_in(args.store)
    if sys.stdin.isatty():
        print("This is an ACP agent. It is waiting for a client on standard input.", file=sys.stderr)
        print("To try it: acp-tui exec demo tour", file=sys.stderr)
    try:
        asyncio.run(_serve(args.store, args.auth, args.speed))
    except asyncio.CancelledError:
        pass  # a signal arrived before a client did
    except UserError as error:
        print(f"acp_tui.demo: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m acp_tui.demo",
        description="A scripted ACP agent that demonstrates the protocol, without a model or a network.",
    )
    parser.add_argument(
        "--speed",
        choices=SPEEDS,
        default=os.environ.get("ACP_TUI_DEMO_SPEED", "relaxed"),
        help="initial pace of new sessions (or $ACP_TUI_DEMO_SPEED)",
    )
    parser.add_argument(
        "--store",
        type=Path,
        default=os.environ.get("ACP_TUI_DEMO_STORE") or paths().state / "demo",
        metavar="DIR",
        help="folder for saved sessions (or $ACP_TUI_DEMO_STORE)",
    )
    parser.add_argument(
        "--auth",
        action="store_true",
        default=os.environ.get("ACP_TUI_DEMO_AUTH", "") not in ("", "0"),
        help="require a sign-in (or $ACP_TUI_DEMO_AUTH=1)",
    )
    parser.add_argument("--sign-in", action="store_true", help="sign in on this terminal and exit")
    args = parser.parse_args()
    if args.speed not in SPEEDS:  # argparse does not check defaults
        parser.error(f"ACP_TUI_DEMO_SPEED is {args.speed!r}, but must be one of {', '.join(SPEEDS)}")
    return args


def _sign_in(folder: Path) -> int:
    """Ask on the terminal whether to sign in. Return the exit code; 0 means signed in.

    Called in the process that the client starts for the sign-in method of the type `terminal`.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl+C ends it without a traceback
    print("This is the demo agent of acp-tui. It has no accounts: this only demonstrates signing in.")
    print("Sign in? [y/N] ", end="", flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        print("Not signed in.")
        return 1
    from acp_tui.demo.agent import SignIn

    SignIn(folder, required=True).record()
    print("Signed in.")
    return 0


async def _serve(folder: Path, sign_in_required: bool, speed: str) -> None:
    # Imported here because the SDK takes half a second to load, which --help need not wait for.
    from acp.agent.connection import AgentSideConnection

    from acp_tui.demo.agent import DemoAgent, SignIn
    from acp_tui.demo.sessions import SessionStore, Settings
    from acp_tui.demo.version_2 import Version2Wire

    # Shut down properly on signals: a running command must not outlive the agent.
    this = asyncio.current_task()
    assert this is not None
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, this.cancel)
    wire = await Version2Wire.on_stdio()
    sign_in = SignIn(folder, required=sign_in_required)
    agent = DemoAgent(wire, SessionStore(folder / "sessions"), sign_in, Settings(pace=speed))
    connection = AgentSideConnection(agent, wire, listening=False, use_unstable_protocol=True)
    try:
        await connection.listen()
    finally:
        await connection.close()


if __name__ == "__main__":
    sys.exit(main())
