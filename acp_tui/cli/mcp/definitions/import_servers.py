"""`acp-tui mcp import`: copies MCP servers from other programs. The files of the programs are not changed."""

from __future__ import annotations

import argparse
import os
import shlex
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.cli.mcp.definitions.addition import add_options, addition, write
from acp_tui.cli.mcp.definitions.other_clients import clients, found_servers, servers_of_file
from acp_tui.cli.mcp.definitions.server_fields import Field, definition_json
from acp_tui.cli.options import FAILED, OK
from acp_tui.config.problems import closest_match
from acp_tui.console.messages import print_message
from acp_tui.console.streams import print_json
from acp_tui.console.tables import aligned, truncate, wrapped
from acp_tui.errors import UserError
from acp_tui.session.text.safe_text import visible_line
from acp_tui.store.mcp.own_mcp_servers import read_own_servers
from acp_tui.store.secret_patterns import redact_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from acp_tui.cli.mcp.definitions.addition import Addition
    from acp_tui.cli.mcp.definitions.other_clients import FoundServer

COMMAND_WIDTH = 44


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the action's arguments to the parser."""
    names = ", ".join(client.name for client in clients())
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = f"Without NAME, the servers that were found are listed. Programs for --from: {names}."
    parser.add_argument("words", nargs="*", metavar="NAME", help="the servers to import")
    parser.add_argument("--all", action="store_true", help="import all servers that can be imported")
    parser.add_argument(
        "--from",
        dest="source",
        metavar="SOURCE",
        help="only servers from this program, project folder, or JSON or TOML file",
    )
    parser.add_argument(
        "--as", dest="new_name", metavar="NAME", help="give the server another name (only with one NAME)"
    )
    add_options(parser)


def run(args: argparse.Namespace) -> int:
    """List the servers of other programs, or import the chosen ones."""
    found = _found(args.source)
    if not args.words and not args.all:
        _print_found(found, as_json=args.json)
        return OK
    if args.new_name and (args.all or len(args.words) != 1):
        raise UserError("--as needs exactly one server.", exit_code=2)
    chosen = _all(found, replace=args.replace) if args.all else [_named(name, found) for name in args.words]
    additions = [_addition(one, args.new_name) for one in chosen]
    if not additions:
        print_message("There is nothing to import.")
        return FAILED
    done = write(additions, replace=args.replace, yes=args.yes, as_json=args.json)
    return OK if done else FAILED


def _found(source: str | None) -> list[FoundServer]:
    """Return the servers that `source`, the value of `--from`, selects; if it is None, those of all programs.

    Raises `UserError` if `source` is a program without servers, or a file that does not exist or is invalid.
    """
    if source is None:
        return found_servers(print_message)
    path = Path(os.path.expanduser(source))  # noqa: PTH111 - leaves an unknown `~user` as it is
    found = found_servers(print_message)
    known = [one for one in found if one.matches(source) or one.project == os.path.realpath(path)]
    if not known and source in [client.name for client in clients()]:
        [files] = [client.files for client in clients() if client.name == source]
        looked = " and ".join(map(str, files))
        raise UserError(f"No MCP servers of {source} were found; looked in {looked}.")
    if not os.path.isdir(path):  # noqa: PTH112 - never raises
        return known or servers_of_file(path)
    file = path / ".mcp.json"
    return [*known, *servers_of_file(file)] if file.exists() or not known else known


def _named(name: str, found: Sequence[FoundServer]) -> FoundServer:
    """Return the server with this name.

    Raises `UserError` if no server has the name, or if several different servers have the name.
    """
    servers = [one for one in found if one.server.name == name]
    if not servers:
        guess = closest_match(name, [one.server.name for one in found])
        hint = f"; did you mean {guess}?" if guess else ". `acp-tui mcp import` lists what was found."
        raise UserError(f"No other client has a server named {name}{hint}", exit_code=2)
    if len({one.server.definition() for one in servers}) > 1:
        places = "; ".join(f"--from {one.project or one.client.name}" for one in servers)
        raise UserError(f"There are different servers named {name}. Choose one: {places}", exit_code=2)
    return servers[0]


def _all(found: Sequence[FoundServer], *, replace: bool) -> list[FoundServer]:
    """Return the servers to import: for each name, the first server that can be imported.

    Print why the other servers are left out, except for duplicates of a chosen server.
    """
    existing = {} if replace else read_own_servers().servers
    chosen: dict[str, FoundServer] = {}
    for one in found:
        name, origin = one.server.name, one.server.origin
        if one.server.problems:
            print_message(f"{name} ({origin}) is not imported: {'; '.join(one.server.problems)}.")
        elif name in existing:
            print_message(f"{name} ({origin}) is not imported: you already have a server of that name.")
        elif name not in chosen:
            chosen[name] = one
        elif chosen[name].server.definition() != one.server.definition():
            first = chosen[name].server.origin
            print_message(f"{name} ({origin}) is not imported: {first} defines another server of that name.")
    return list(chosen.values())


def _addition(one: FoundServer, new_name: str | None) -> Addition:
    facts = [Field("from", f"{one.server.origin} ({one.place})")]
    if one.project:
        facts.append(
            Field("note", "The server was defined for one project; acp-tui will use it in all folders.")
        )
    if one.server.problems:
        raise UserError(f"{one.server.name} cannot be imported: {'; '.join(one.server.problems)}.")
    return addition(new_name or one.server.name, one.entry(), facts)


def _print_found(found: Sequence[FoundServer], *, as_json: bool) -> None:
    existing = read_own_servers().servers
    if as_json:
        servers = [
            definition_json(one.server)
            | {
                "client": one.client.name,
                "for_project": one.project or None,
                "problems": one.server.problems,
                "imported": one.server.name in existing,
            }
            for one in found
        ]
        print_json({"found": servers})
        return
    if not found:
        print("No MCP servers of other programs were found. These files were looked for:")
        print("\n".join(aligned([("   ", client.title, str(client.files[0])) for client in clients()])))
        return
    for place, group in groupby(found, key=lambda one: f"{one.place}  {one.server.file}"):
        ones = list(group)
        print(visible_line(place))
        print("\n".join(aligned([("   ", *_row(one, existing)) for one in ones])))
        for one in ones:
            for problem in one.server.problems:
                print("\n".join(wrapped(f"{one.server.name}: {problem}", " " * 9)))
    print("Import with `acp-tui mcp import NAME…` or `acp-tui mcp import --all`.")


def _row(one: FoundServer, existing: dict[str, dict[str, object]]) -> Iterator[str]:
    server = one.server
    what = shlex.join([server.command, *server.args]) if server.transport == "stdio" else server.url
    yield server.name
    yield truncate(redact_text(what), COMMAND_WIDTH)
    if server.problems:
        yield "cannot be imported"
    elif server.name in existing:
        yield "you already have a server of that name"
