"""`acp-tui mcp add`: adds a well-known or any other server to acp-tui's own file."""

from __future__ import annotations

import argparse
import json
import os
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.cli.mcp.server_fields import ServerField, definition_json, field_lines, masked, secret_arguments
from acp_tui.cli.mcp.server_selection import require_known_agent, servers_here
from acp_tui.cli.options import FAILED, OK, REPEATABLE, assignment, confirm, seconds
from acp_tui.config import mcp, validators
from acp_tui.config.paths import mcp_file
from acp_tui.config.settings import load
from acp_tui.config.validators import closest_match
from acp_tui.console import aligned, pluralize, print_json
from acp_tui.errors import UsageError, UserError
from acp_tui.session.safe_text import escape_invisible, escape_line
from acp_tui.store.secret_patterns import redact_text

if TYPE_CHECKING:
    from acp_tui.config.mcp import Server
    from acp_tui.store.own_mcp_servers import OwnMcpServers


MAX_NAME_CHARACTERS = 100
DOWNLOADERS = ("npx", "uvx", "bunx", "pipx", "docker", "podman")
"""Programs that download what they run."""
_COMMON_SERVERS = Path(__file__).with_name("common_servers.toml")
EPILOG = """\
examples:
  acp-tui mcp add                                    list the well-known servers
  acp-tui mcp add filesystem ~/notes --as notes
  acp-tui mcp add github
  acp-tui mcp add mine --env 'TOKEN=${MY_TOKEN}' -- ./server.py --verbose
  acp-tui mcp add docs --url https://example.com/mcp --header 'X-Key: ${KEY}'
"""


@dataclass(frozen=True, slots=True)
class Addition:
    """A definition to be written to `mcp.toml`, and what the user should know about its server."""

    server: Server
    entry: dict[str, Any]  # the table of `mcp.toml`
    facts: list[ServerField]  # what else the user should know


def addition(name: str, entry: dict[str, Any], facts: Sequence[ServerField] = ()) -> Addition:
    """Return the `Addition` for a definition. Raises `UserError` if the definition is not valid."""
    if not name.strip() or escape_invisible(name) != name or any(not char.isprintable() for char in name):
        raise UserError(
            f"{escape_line(name)!r} is not a valid name: it is empty or contains control characters."
        )
    if len(name) > MAX_NAME_CHARACTERS:
        raise UsageError(f"The name has more than {MAX_NAME_CHARACTERS} characters.")
    entry = {key: value for key, value in entry.items() if value not in (None, [], {}, "")}
    try:
        json.dumps([name, entry], ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:  # a surrogate, from JSON or from bytes on the command line
        raise UserError(f"{escape_line(name)} cannot be added: it contains an invalid character.") from None
    server = mcp.parse(name, entry, mcp_file(), None)
    if server.problems:
        raise UsageError(f"{name} cannot be added: {'; '.join(server.problems)}.")
    return Addition(
        server, entry, [*facts, *(ServerField("note", sentence) for sentence in _remarks(server))]
    )


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of actions that write definitions."""
    about = "replace an existing server of the same name in acp-tui's own file"
    parser.add_argument("--replace", action="store_true", help=about)
    parser.add_argument("--yes", "-y", action="store_true", help="do not ask for confirmation")
    parser.add_argument("--json", action="store_true", help="print the result as JSON; needs --yes")


def write(additions: Sequence[Addition], *, replace: bool, yes: bool, as_json: bool) -> bool:
    """Write the definitions. Return False if the user refuses. Raises `UserError`.

    The definitions are shown first, except with `as_json`. The user is asked to confirm, except with `yes`.
    """
    from acp_tui.store.own_mcp_servers import change_own_servers

    if as_json and not yes:
        raise UsageError("--json needs --yes; otherwise the confirmation prompt would be part of the output.")

    def add(own: OwnMcpServers) -> None:
        for one in additions:
            _require_free(one, own, replace=replace)
            own.servers[one.server.name] = one.entry

    _check(additions, replace=replace)
    if not as_json:
        print("\n".join(line for one in additions for line in field_lines(one.server, one.facts)))
    question = f"Write {pluralize(len(additions), 'server')} to {escape_line(str(mcp_file()))}?"
    if not yes and not confirm(question, done="was written", verb="write"):
        print("Nothing was written.")
        return False
    change_own_servers(add)
    if as_json:
        servers = [
            definition_json(one.server) | {"notes": [fact.text for fact in one.facts]} for one in additions
        ]
        data = {"added": servers, "file": str(mcp_file())}
        print_json(data)
    else:
        names = ", ".join(one.server.name for one in additions)
        print(escape_line(f"Added {names} to {mcp_file()}. Takes effect in new sessions."))
    return True


def _check(additions: Sequence[Addition], *, replace: bool) -> None:
    """Raise `UserError` if a name is taken; `replace` permits names in acp-tui's own file.

    Called before the user is asked to confirm the additions.
    """
    from acp_tui.store.own_mcp_servers import read_own_servers

    own = read_own_servers()
    others = {server.name: server for server in load(Path.cwd()).mcp_servers if server.file != mcp_file()}
    for one in additions:
        _require_free(one, own, replace=replace)
        if (other := others.get(one.server.name)) is not None:
            raise UserError(
                f"{other.origin} defines {other.name} already, and that definition takes precedence. "
                "Choose another name with --as NAME."
            )


def _require_free(one: Addition, own: OwnMcpServers, *, replace: bool) -> None:
    if one.server.name in own.servers and not replace:
        raise UserError(
            f"{mcp_file()} has a server named {one.server.name} already. "
            "Use --replace, or another name with --as NAME."
        )


def _remarks(server: Server) -> Iterator[str]:
    """Yield what the user should know before the definition is written."""
    if server.command and Path(server.command).name in DOWNLOADERS:
        yield (
            f"Nothing is installed now. {Path(server.command).name} downloads the server when it is first "
            "started. The server then runs with your permissions."
        )
    elif server.command:
        yield "The program runs with your permissions."
    else:
        yield "Requests and their content are sent to this address."
    values = server.env | server.headers
    literal = [name for name, value in values.items() if masked({name: value})[name] != value]
    literal += secret_arguments(server.args)
    if redact_text(server.url) != server.url:
        literal.append("the URL")
    if literal:
        yield (
            f"Stored in plain text, readable only by you: {', '.join(literal)}. A reference such as "
            "'${VARIABLE}' takes the value from the environment instead."
        )
    try:
        mcp.resolve_server(server)
    except mcp.CannotSendError as error:
        yield f"No agent gets the server until this is fixed: {error}."


@dataclass(frozen=True, slots=True)
class CommonServer:
    """An entry of `common_servers.toml`."""

    name: str
    about: str
    homepage: str
    command: list[str] = field(default_factory=list)
    url: str = ""
    arguments: str = ""  # what the user adds, e.g. "DIR…"
    argument: str = ""  # the form of an argument in the command, e.g. "sqlite://{path}"
    env: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def usage(self) -> str:
        """What follows `acp-tui mcp add`: the server's name, then the server's arguments, such as `DIR…`."""
        return f"{self.name} {self.arguments}".rstrip()

    def entry(self, arguments: Sequence[str]) -> dict[str, Any]:
        """Return the definition for `mcp.toml`. Raises `UserError` for missing or superfluous arguments."""
        is_many = self.arguments.endswith("…")
        fits = len(arguments) >= 1 if is_many else len(arguments) == bool(self.arguments)
        if not fits:
            raise UsageError(f"Usage: acp-tui mcp add {self.usage}")
        if self.url:
            return {"url": self.url, "type": "http", "headers": self.headers}
        # Use absolute paths: no shell will expand `~`, and the server can start in another folder.
        paths = [os.path.abspath(os.path.expanduser(word)) for word in arguments]  # noqa: PTH100, PTH111
        words = [self.argument.format(path=path) for path in paths]
        program, *fixed = self.command
        return {"command": program, "args": [*fixed, *words], "env": self.env or None}


@cache
def common_servers() -> dict[str, CommonServer]:
    entries = tomllib.loads(_COMMON_SERVERS.read_text(encoding="utf-8"))
    return {name: CommonServer(name, **entry) for name, entry in entries.items()}


def configure(parser: argparse.ArgumentParser) -> None:
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
    about = "an environment variable (repeatable)"
    parser.add_argument("--env", **REPEATABLE, type=assignment, metavar="NAME=VALUE", help=about)
    about = "an HTTP header (repeatable)"
    parser.add_argument("--header", **REPEATABLE, type=_header, metavar="'NAME: VALUE'", help=about)
    parser.add_argument("--sign-in", action="store_true", help="the server requires you to sign in")
    parser.add_argument(
        "--cwd", metavar="DIR", help="start the server in this folder (default: the workspace)"
    )
    parser.add_argument("--timeout", type=seconds, metavar="SECONDS", help="time limit for each tool call")
    about = "give the server to this agent only (repeatable)"
    parser.add_argument("--agent", **REPEATABLE, metavar="NAME", help=about)
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
        raise UsageError("Give either a command or --url, not both.")
    options: dict[str, Any] = {
        "cwd": args.cwd and str(Path(os.path.expanduser(args.cwd)).absolute()),  # noqa: PTH111 - leaves an unknown `~user` as it is
        "timeout": args.timeout,
        "agents": args.agent,
        "sign_in": args.sign_in or None,
    }
    env, headers = dict(args.env), dict(args.header)
    if command or args.url:
        if arguments:
            raise UsageError(f"Unexpected argument {arguments[0]!r}. Write the command after --.")
        program = _program(command) if command else {"url": args.url}
        entry = program | {"type": args.type, "env": env, "headers": headers}
        return addition(args.new_name or name, entry | options)
    common = common_servers().get(name)
    if common is None:
        guess = closest_match(name, common_servers())
        hint = f"Did you mean {guess}? " if guess else ""
        raise UsageError(
            f"{name} is not a well-known server. {hint}"
            "For a server of your own, give its command after --, or its address with --url."
        )
    entry = common.entry(arguments)
    entry |= {
        key: {**(entry.get(key) or {}), **more} for key, more in (("env", env), ("headers", headers)) if more
    }
    facts = [ServerField("about", common.about), ServerField("see", common.homepage)]
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
