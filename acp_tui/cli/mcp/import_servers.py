"""`acp-tui mcp import`: copies MCP servers from other programs. The files of the programs are not changed."""

from __future__ import annotations

import argparse
import os
import shlex
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.cli.mcp.add import Addition, add_options, addition, write
from acp_tui.cli.mcp.server_fields import ServerField, definition_json
from acp_tui.cli.options import FAILED, OK
from acp_tui.config import mcp, mcp_sources, validators
from acp_tui.config.validators import closest_match
from acp_tui.console import aligned, print_json, print_message, truncate, wrapped
from acp_tui.errors import UsageError, UserError
from acp_tui.session.safe_text import escape_line
from acp_tui.store.own_mcp_servers import read_own_servers
from acp_tui.store.secret_patterns import redact_text

if TYPE_CHECKING:
    from acp_tui.config.mcp import Server

COMMAND_WIDTH = 44
MAX_BYTES = 50_000_000
"""The maximum size of a file. It is large because Claude Code's file also contains its history."""
_JSON_ENDS = ("json", "jsonc")


@dataclass(frozen=True, slots=True)
class Client:
    """A program whose MCP servers can be imported."""

    name: str  # for --from
    title: str
    files: tuple[Path, ...]  # the possible paths of the program's file


@dataclass(frozen=True, slots=True)
class FoundServer:
    """A server in a file of another program."""

    client: Client
    server: Server
    project: str = ""  # the folder that it is for; "": for all

    @property
    def place(self) -> str:
        """Where the server was found, as shown to the user."""
        return f"{self.client.title}, for {self.project}" if self.project else self.client.title

    def matches(self, source: str) -> bool:
        """Return whether `--from SOURCE` selects this server."""
        return source in (self.client.name, str(self.server.file), self.project)

    def entry(self) -> dict[str, Any]:
        """Return the definition for `mcp.toml`. Paths relative to `server.folder` become absolute."""
        server = self.server
        program = {
            "command": validators.resolve_program(server.command, server.folder),
            "args": [mcp.absolute_file(word, server.folder) for word in server.args],
            "env": server.env,
            "cwd": server.cwd and str(validators.resolve_path(server.folder, server.cwd)),
        }
        address = {"url": server.url, "type": server.transport, "headers": server.headers}
        sign_in = server.sign_in and {name: value for name, value in asdict(server.sign_in).items() if value}
        return (
            server.extra
            | (program if server.transport == "stdio" else address)
            | {
                "sign_in": sign_in,
                "enabled": None if server.enabled else False,
                "agents": server.agents,
                "timeout": server.timeout,
                "connect_timeout": server.connect_timeout,
                "include_tools": server.include_tools,
                "exclude_tools": server.exclude_tools,
            }
        )


def clients() -> list[Client]:
    """Return the programs whose MCP servers can be imported."""
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - works without a home directory
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    claude_code = Path(os.environ.get("CLAUDE_CONFIG_DIR") or home)
    desktop = "claude_desktop_config.json"
    return [
        Client(
            "claude-desktop",
            "Claude Desktop",
            (config / "Claude" / desktop, home / "Library" / "Application Support" / "Claude" / desktop),
        ),
        Client("claude-code", "Claude Code", (claude_code / ".claude.json",)),
        Client("gemini", "Gemini CLI", (home / ".gemini" / "settings.json",)),
        Client("cursor", "Cursor", (home / ".cursor" / "mcp.json",)),
        Client("codex", "Codex", (Path(os.environ.get("CODEX_HOME") or home / ".codex") / "config.toml",)),
        Client("opencode", "OpenCode", tuple(config / "opencode" / f"opencode.{end}" for end in _JSON_ENDS)),
        Client("zed", "Zed", (config / "zed" / "settings.json",)),
        Client(
            "vscode",
            "VS Code",
            tuple(
                folder / "Code" / "User" / name
                for folder in (config, home / "Library" / "Application Support")
                for name in ("mcp.json", "settings.json")
            ),
        ),
        Client("windsurf", "Windsurf", (home / ".codeium" / "windsurf" / "mcp_config.json",)),
    ]


def found_servers(problem: Callable[[str], None]) -> list[FoundServer]:
    """Return the servers of all known programs. `problem` is called for a file that cannot be read."""
    found: list[FoundServer] = []
    for client in clients():
        for file in client.files:
            try:
                found += _servers_in(client, file) or []
            except UserError as error:
                problem(str(error))
    return found


def source_list() -> str:
    """Return the names of the programs, each with its file, for a message."""
    return "\n".join(f"  {client.name}: {client.files[0]}" for client in clients())


def servers_of_file(file: Path) -> list[FoundServer]:
    """Return the servers in a file. Raises `UserError` if it does not exist, is invalid or defines none."""
    client = Client(str(file), str(file), (file,))
    if not os.path.exists(file):  # noqa: PTH110 - never raises
        raise UsageError(
            f"{file} does not exist. Name a file, a folder, or one of these programs:\n{source_list()}"
        )
    found = _servers_in(client, file.absolute())
    if found:
        return found
    if found is None:
        why = f"has none of the keys that can contain them: {mcp_sources.keys_looked_for(file)}"
    else:
        why = "has an empty list of them"
    raise UserError(f"{file} defines no MCP servers: it {why}. These programs are known:\n{source_list()}")


def _servers_in(client: Client, file: Path) -> list[FoundServer] | None:
    """Return the servers in a file; None if no key of the file contains servers. Raises `UserError`."""
    raw = _content(file)
    if raw is None:
        return None
    if file.name == ".claude.json":
        return [FoundServer(client, *each) for each in mcp_sources.from_claude_code(raw, file)]
    found = mcp_sources.servers_in(raw, file)
    if found is None:
        return None
    # Gemini's `$VAR` is what others write as `${VAR}`.
    is_gemini = file.parent.name == ".gemini"
    return [FoundServer(client, mcp_sources.with_braces(server) if is_gemini else server) for server in found]


def _content(file: Path) -> bytes | None:
    """Return the content of a file; None if it does not exist or is not a regular file.

    Raises `UserError` if the file is too large or cannot be read.
    """
    try:
        found = file.stat()
        if not stat.S_ISREG(found.st_mode):
            return None
        if found.st_size > MAX_BYTES:
            raise UserError(f"{file} is not read: larger than {MAX_BYTES // 1_000_000} MB.")
        return file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UserError(f"{file} cannot be read: {error.strerror}.") from None


def configure(parser: argparse.ArgumentParser) -> None:
    names = ", ".join(client.name for client in clients())
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = f"Without NAME, the servers that were found are listed. Programs for --from: {names}."
    parser.add_argument("words", nargs="*", metavar="NAME", help="the servers to import")
    parser.add_argument("--all", action="store_true", help="import all servers that can be imported")
    about = "only servers from this program, project folder, or JSON or TOML file"
    parser.add_argument("--from", dest="source", metavar="SOURCE", help=about)
    about = "give the server another name (only with one NAME)"
    parser.add_argument("--as", dest="new_name", metavar="NAME", help=about)
    add_options(parser)


def run(args: argparse.Namespace) -> int:
    """List the servers of other programs, or import the chosen ones."""
    found = _found(args.source)
    if not args.words and not args.all:
        _print_found(found, as_json=args.json)
        return OK
    if args.new_name and (args.all or len(args.words) != 1):
        raise UsageError("--as needs exactly one server.")
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
        raise UsageError(f"No other client has a server named {name}{hint}")
    if len({one.server.definition() for one in servers}) > 1:
        places = "; ".join(f"--from {one.project or one.client.name}" for one in servers)
        raise UsageError(f"There are different servers named {name}. Choose one: {places}")
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
    facts = [ServerField("from", f"{one.server.origin} ({one.place})")]
    if one.project:
        facts.append(
            ServerField("note", "The server was defined for one project; acp-tui will use it in all folders.")
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
        print(escape_line(place))
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
