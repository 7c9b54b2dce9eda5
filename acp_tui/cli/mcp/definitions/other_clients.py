"""The MCP servers that the user has defined for other programs. The programs' files are never changed."""

from __future__ import annotations

import os
import stat
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.config import mcp, validators
from acp_tui.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acp_tui.config.mcp import Server

MAX_BYTES = 50_000_000
"""The maximum size of a file. It is large because Claude Code's file also contains its history."""


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
    ]


def found_servers(problem: Callable[[str], None]) -> list[FoundServer]:
    """Return the servers of all known programs. `problem` is called for a file that cannot be read."""
    found: list[FoundServer] = []
    for client in clients():
        for file in client.files:
            try:
                found += _servers_in(client, file)
            except UserError as error:
                problem(str(error))
    return found


def servers_of_file(file: Path) -> list[FoundServer]:
    """Return the servers in a JSON file. Raises `UserError` if it does not exist or is invalid."""
    client = Client(str(file), str(file), (file,))
    if not os.path.exists(file):  # noqa: PTH110 - never raises
        raise UserError(f"{file} does not exist.", exit_code=2)
    return [*_servers_in(client, file.absolute())]


def _servers_in(client: Client, file: Path) -> Iterator[FoundServer]:
    raw = _content(file)
    if raw is None:
        return
    if file.name == ".claude.json":
        for server, project in mcp.from_claude_code(raw, file):
            yield FoundServer(client, server, project)
        return
    for server in mcp.from_json(raw, file) or []:
        # Gemini's `$VAR` is what others write as `${VAR}`.
        yield FoundServer(client, mcp.with_braces(server) if file.parent.name == ".gemini" else server)


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
