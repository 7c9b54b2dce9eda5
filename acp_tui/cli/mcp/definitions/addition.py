"""Shows MCP server definitions to the user, asks for confirmation, and writes them to `mcp.toml`."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.cli.mcp.definitions.server_fields import (
    Field,
    definition_json,
    field_lines,
    masked,
    secret_arguments,
)
from acp_tui.config import mcp
from acp_tui.config.paths import mcp_file
from acp_tui.config.settings import load
from acp_tui.console.quantities import pluralize
from acp_tui.console.streams import print_json
from acp_tui.errors import UserError
from acp_tui.session.text.invisible import reveal
from acp_tui.session.text.safe_text import visible_line
from acp_tui.store.secret_patterns import redact_text

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from acp_tui.config.mcp import Server
    from acp_tui.store.mcp.own_mcp_servers import OwnMcpServers

MAX_NAME_CHARACTERS = 100
DOWNLOADERS = ("npx", "uvx", "bunx", "pipx", "docker", "podman")
"""Programs that download what they run."""


@dataclass(frozen=True, slots=True)
class Addition:
    """A definition to be written to `mcp.toml`, and what the user should know about its server."""

    server: Server
    entry: dict[str, Any]  # the table of `mcp.toml`
    facts: list[Field]  # what else the user should know


def addition(name: str, entry: dict[str, Any], facts: Sequence[Field] = ()) -> Addition:
    """Return the `Addition` for a definition. Raises `UserError` if the definition is not valid."""
    if not name.strip() or reveal(name) != name or any(not char.isprintable() for char in name):
        raise UserError(
            f"{visible_line(name)!r} is not a valid name: it is empty or contains control characters."
        )
    if len(name) > MAX_NAME_CHARACTERS:
        raise UserError(f"The name has more than {MAX_NAME_CHARACTERS} characters.", exit_code=2)
    entry = {key: value for key, value in entry.items() if value not in (None, [], {}, "")}
    try:
        json.dumps([name, entry], ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:  # a surrogate, from JSON or from bytes on the command line
        raise UserError(f"{visible_line(name)} cannot be added: it contains an invalid character.") from None
    server = mcp.parse(name, entry, mcp_file(), None)
    if server.problems:
        raise UserError(f"{name} cannot be added: {'; '.join(server.problems)}.", exit_code=2)
    return Addition(server, entry, [*facts, *(Field("note", sentence) for sentence in _remarks(server))])


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of actions that write definitions."""
    parser.add_argument(
        "--replace",
        action="store_true",
        help="replace an existing server of the same name in acp-tui's own file",
    )
    parser.add_argument("--yes", "-y", action="store_true", help="do not ask for confirmation")
    parser.add_argument("--json", action="store_true", help="print the result as JSON; needs --yes")


def write(additions: Sequence[Addition], *, replace: bool, yes: bool, as_json: bool) -> bool:
    """Write the definitions. Return False if the user refuses. Raises `UserError`.

    The definitions are shown first, except with `as_json`. The user is asked to confirm, except with `yes`.
    """
    from acp_tui.store.mcp.own_mcp_servers import change_own_servers

    if as_json and not yes:
        raise UserError(
            "--json needs --yes; otherwise the confirmation prompt would be part of the output.", exit_code=2
        )

    def add(own: OwnMcpServers) -> None:
        for one in additions:
            _require_free(one, own, replace=replace)
            own.servers[one.server.name] = one.entry

    _check(additions, replace=replace)
    if not as_json:
        print("\n".join(line for one in additions for line in field_lines(one.server, one.facts)))
    if not yes and not _confirmed(len(additions)):
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
        print(visible_line(f"Added {names} to {mcp_file()}. Takes effect in new sessions."))
    return True


def _check(additions: Sequence[Addition], *, replace: bool) -> None:
    """Raise `UserError` if a name is taken; `replace` permits names in acp-tui's own file.

    Called before the user is asked to confirm the additions.
    """
    from acp_tui.store.mcp.own_mcp_servers import read_own_servers

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


def _confirmed(count: int) -> bool:
    if not sys.stdin.isatty():
        raise UserError(
            "Nothing was written: no terminal to ask for confirmation. Use --yes to write without asking.",
            exit_code=2,
        )
    question = f"Write {pluralize(count, 'server')} to {visible_line(str(mcp_file()))}? [y/N] "
    print(question, end="", flush=True)
    try:
        return input().strip().lower() in ("y", "yes")
    except EOFError:
        return False
