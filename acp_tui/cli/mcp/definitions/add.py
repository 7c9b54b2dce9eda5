"""`acp-tui mcp add`: adds a well-known or any other server to acp-tui's own file."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.cli.mcp.definitions.addition import add_options, addition, write
from acp_tui.cli.mcp.definitions.common_servers import common_servers
from acp_tui.cli.mcp.definitions.server_fields import Field
from acp_tui.cli.mcp.server_selection import require_known_agent, servers_here
from acp_tui.cli.options import FAILED, OK, assignment, seconds
from acp_tui.config import mcp, validators
from acp_tui.config.problems import closest_match
from acp_tui.console.streams import print_json
from acp_tui.console.tables import aligned
from acp_tui.errors import UserError

if TYPE_CHECKING:
    from acp_tui.cli.mcp.definitions.addition import Addition

EPILOG = """\
examples:
  acp-tui mcp add                                    list the well-known servers
  acp-tui mcp add filesystem ~/notes --as notes
  acp-tui mcp add github
  acp-tui mcp add mine --env 'TOKEN=${MY_TOKEN}' -- ./server.py --verbose
  acp-tui mcp add docs --url https://example.com/mcp --header 'X-Key: ${KEY}'
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the action's arguments to the parser."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    parser.usage = (
        "acp-tui mcp add [options] [WELL-KNOWN-SERVER [ARG…]]\n"
        "       acp-tui mcp add [options] NAME -- COMMAND [ARG…]\n"
        "       acp-tui mcp add [options] NAME --url URL"
    )
    parser.add_argument(
        "words", nargs="*", metavar="NAME [ARG…]", help="name of a well-known server, or a name for your own"
    )
    parser.add_argument("--as", dest="new_name", metavar="NAME", help="give a well-known server another name")
    parser.add_argument("--url", metavar="URL", help="the address of a server on the network")
    parser.add_argument(
        "--type", choices=("http", "sse"), help="transport of the server (default: depends on the URL)"
    )
    parser.add_argument(
        "--env",
        action="append",
        default=[],
        type=assignment,
        metavar="NAME=VALUE",
        help="an environment variable (repeatable)",
    )
    parser.add_argument(
        "--header",
        action="append",
        default=[],
        type=_header,
        metavar="'NAME: VALUE'",
        help="an HTTP header (repeatable)",
    )
    parser.add_argument("--sign-in", action="store_true", help="the server requires you to sign in")
    parser.add_argument(
        "--cwd", metavar="DIR", help="start the server in this folder (default: the workspace)"
    )
    parser.add_argument("--timeout", type=seconds, metavar="SECONDS", help="time limit for each tool call")
    parser.add_argument(
        "--agent",
        action="append",
        default=[],
        metavar="NAME",
        help="give the server to this agent only (repeatable)",
    )
    add_options(parser)


def run(args: argparse.Namespace) -> int:
    """Add the server, or list the well-known ones."""
    if not args.words:
        _list_common_servers(as_json=args.json)
        return OK
    here = servers_here() if args.agent else None
    for agent in args.agent:
        if here is not None:
            require_known_agent(agent, here)
    done = write([_addition(args)], replace=args.replace, yes=args.yes, as_json=args.json)
    return OK if done else FAILED


def _addition(args: argparse.Namespace) -> Addition:
    name, *arguments = args.words
    command = list(args.command_line)
    if command and args.url:
        raise UserError("Give either a command or --url, not both.", exit_code=2)
    options: dict[str, Any] = {
        "cwd": args.cwd and str(Path(os.path.expanduser(args.cwd)).absolute()),  # noqa: PTH111 - leaves an unknown `~user` as it is
        "timeout": args.timeout,
        "agents": args.agent,
        "sign_in": args.sign_in or None,
    }
    env, headers = dict(args.env), dict(args.header)
    if command or args.url:
        if arguments:
            raise UserError(f"Unexpected argument {arguments[0]!r}. Write the command after --.", exit_code=2)
        program = _program(command) if command else {"url": args.url}
        entry = program | {"type": args.type, "env": env, "headers": headers}
        return addition(args.new_name or name, entry | options)
    common = common_servers().get(name)
    if common is None:
        guess = closest_match(name, common_servers())
        hint = f"Did you mean {guess}? " if guess else ""
        raise UserError(
            f"{name} is not a well-known server. {hint}"
            "For a server of your own, give its command after --, or its address with --url.",
            exit_code=2,
        )
    entry = common.entry(arguments)
    entry |= {
        key: {**(entry.get(key) or {}), **more} for key, more in (("env", env), ("headers", headers)) if more
    }
    facts = [Field("about", common.about), Field("see", common.homepage)]
    return addition(args.new_name or name, entry | options, facts)


def _program(command: list[str]) -> dict[str, Any]:
    """Return the keys `command` and `args` of a definition.

    Paths relative to the current folder become absolute.
    """
    here = Path.cwd()
    program, *arguments = command
    return {
        "command": validators.resolve_program(program, here),
        "args": [mcp.absolute_file(word, here) for word in arguments],
    }


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise argparse.ArgumentTypeError(f"expected 'NAME: VALUE', got {text!r}")
    return name.strip(), value.strip()


def _list_common_servers(*, as_json: bool) -> None:
    common = common_servers().values()
    if as_json:
        servers = [
            {"name": one.name, "about": one.about, "arguments": one.arguments, "homepage": one.homepage}
            for one in common
        ]
        print_json({"servers": servers})
        return
    print("\n".join(aligned([(f"acp-tui mcp add {one.usage}", one.about) for one in common])))
    print("Any other server: `acp-tui mcp add NAME -- COMMAND ARG…` or `acp-tui mcp add NAME --url URL`.")
