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
    from collections.abc import Callable

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
                "connect_timeout": server.connect_timeout,
                "include_tools": server.include_tools,
                "exclude_tools": server.exclude_tools,
            }
        )


_JSON_ENDS = ("json", "jsonc")


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
        raise UserError(
            f"{file} does not exist. Name a file, a folder, or one of these programs:\n{source_list()}",
            exit_code=2,
        )
    found = _servers_in(client, file.absolute())
    if found:
        return found
    if found is None:
        why = f"has none of the keys that can contain them: {mcp.keys_looked_for(file)}"
    else:
        why = "has an empty list of them"
    raise UserError(f"{file} defines no MCP servers: it {why}. These programs are known:\n{source_list()}")


def _servers_in(client: Client, file: Path) -> list[FoundServer] | None:
    """Return the servers in a file; None if no key of the file contains servers. Raises `UserError`."""
    raw = _content(file)
    if raw is None:
        return None
    if file.name == ".claude.json":
        return [FoundServer(client, *each) for each in mcp.from_claude_code(raw, file)]
    found = mcp.servers_in(raw, file)
    if found is None:
        return None
    # Gemini's `$VAR` is what others write as `${VAR}`.
    is_gemini = file.parent.name == ".gemini"
    return [FoundServer(client, mcp.with_braces(server) if is_gemini else server) for server in found]


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
