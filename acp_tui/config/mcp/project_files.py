"""The MCP servers that a project's own files define. The files may come from an untrusted repository."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from acp_tui.config.mcp.server import Server
from acp_tui.config.mcp.sources import from_json
from acp_tui.config.small_file import read_small_file_inside
from acp_tui.errors import UserError
from acp_tui.session.text.invisible import reveal

if TYPE_CHECKING:
    from pathlib import Path

PROJECT_FILES = {
    ".mcp.json": "mcpServers",
    ".cursor/mcp.json": "mcpServers",
    ".vscode/mcp.json": "servers",
    ".gemini/settings.json": "mcpServers",
}
"""The files in which a project can define MCP servers, each with the key that contains them.

If two files define a server of the same name, the file that comes first here takes precedence.
"""
MAX_SERVERS = 20
"""The maximum number of servers that a project may define. It is low: the user is asked about each one."""
MAX_DEFINITION_CHARACTERS = 4_000
"""The maximum length of a server's definition, which the user reads before allowing the server."""
MAX_NAME_CHARACTERS = 100

_GEMINI_VARIABLE = re.compile(r"\$(\w+)")


@dataclass(frozen=True, slots=True)
class ProjectServers:
    """The MCP servers of a project, and why other servers of the project are missing."""

    servers: list[Server] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)  # sentences


def read_project_servers(cwd: Path) -> ProjectServers:
    """Return the MCP servers that the files of a project define. Blocks: call it in a thread.

    `cwd` is the absolute path of the project's folder.
    """
    found = ProjectServers()
    count = 0
    for name, root in PROJECT_FILES.items():
        file = cwd / name
        try:
            raw = read_small_file_inside(cwd, name)
            servers = from_json(raw, file, (root,)) if raw is not None else None
        except OSError as error:
            found.problems.append(f"{file} is not read: {error.strerror}.")
        except UserError as error:
            found.problems.append(str(error))
        else:
            count = max(count, len(servers or []))
            found.servers.extend(_checked(server, cwd) for server in (servers or [])[: MAX_SERVERS + 1])
    count = max(count, len({server.definition() for server in found.servers}))
    if count > MAX_SERVERS:
        sentence = f"{cwd} defines {count:,} MCP servers; none is used, because the limit is {MAX_SERVERS}."
        return ProjectServers([], [*found.problems, sentence])
    return found


def _checked(server: Server, cwd: Path) -> Server:
    """Return the server, marked as defined by the project.

    The server gets a fault if its definition or its name is too long, or if its name is empty or contains
    control or invisible characters.
    """
    if len(server.definition()) > MAX_DEFINITION_CHARACTERS:
        limit = f"{MAX_DEFINITION_CHARACTERS:,}"
        fault = ("", f"its definition has more than {limit} characters")
        return Server(_shorten(server.name), server.file, server.line, faults=[fault], project=cwd)
    faults = [(key, _shorten(sentence)) for key, sentence in server.faults]  # they may quote the file
    server = replace(server, project=cwd, faults=faults)
    if server.file == cwd / ".gemini/settings.json":
        server = with_braces(server)
    if reveal(server.name) != server.name or "\n" in server.name or "\t" in server.name:
        server.faults.append(("", "its name contains control or invisible characters"))
    if len(server.name) > MAX_NAME_CHARACTERS:
        server.faults.append(("", f"its name has more than {MAX_NAME_CHARACTERS} characters"))
        server.name = _shorten(server.name)
    return server


def _shorten(text: str) -> str:
    """Shorten a text for a message."""
    return text if len(text) <= MAX_NAME_CHARACTERS else text[: MAX_NAME_CHARACTERS - 1] + "…"


def with_braces(server: Server) -> Server:
    """Return the server with `$VAR` replaced by `${VAR}` in command, arguments, variables, URL and headers.

    Gemini's settings accept both notations.
    """

    def braces(text: str) -> str:
        return _GEMINI_VARIABLE.sub(r"${\1}", text)

    def values(texts: dict[str, str]) -> dict[str, Any]:
        return {name: braces(text) for name, text in texts.items()}

    return replace(
        server,
        command=braces(server.command),
        args=[braces(word) for word in server.args],
        env=values(server.env),
        url=braces(server.url),
        headers=values(server.headers),
    )
