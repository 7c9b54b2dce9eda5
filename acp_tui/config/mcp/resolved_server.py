"""The definition of an MCP server, with variables expanded and the program's path found."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.config.mcp.sign_in_settings import SignInSettings

if TYPE_CHECKING:
    from acp_tui.config.mcp.server import Connection, Transport


@dataclass(frozen=True, slots=True)
class ResolvedServer:
    """An MCP server with expanded values, which can be secrets."""

    name: str
    transport: Transport
    command: str = ""  # the absolute path of the program
    args: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    url: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    cwd: Path | None = None  # the folder in which the program is started; None: the workspace
    timeout: float | None = None  # seconds for a tool call; None: the default
    connect_timeout: float | None = None  # seconds for connecting; None: the default
    include_tools: tuple[str, ...] | None = None  # None: all tools
    exclude_tools: tuple[str, ...] = ()
    sign_in: SignInSettings | None = None
    connection: Connection = "direct"
    digest: str = ""  # of the definition, before variables were expanded
    file: str = ""  # the file with the definition

    def allows_tool(self, name: str) -> bool:
        """Return whether the agent may use a tool. `exclude_tools` takes precedence over `include_tools`."""
        if name in self.exclude_tools:
            return False
        return self.include_tools is None or name in self.include_tools

    def for_agent(self) -> dict[str, Any]:
        """Return the server as the object that is sent to an agent over ACP."""
        if self.transport == "stdio":
            program = {"command": self.command, "args": list(self.args), "env": _pairs(self.env)}
            return {"name": self.name, **program}
        address = {"url": self.url, "headers": _pairs(self.headers)}
        return {"type": self.transport, "name": self.name, **address}

    def to_json(self) -> dict[str, Any]:
        """Return the server as a JSON object, including the secrets."""
        return asdict(self) | {"cwd": None if self.cwd is None else str(self.cwd)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> ResolvedServer:
        """Create a server from an object that `to_json` returned."""
        include, cwd, sign_in = data["include_tools"], data["cwd"], data["sign_in"]
        converted = {
            "args": tuple(data["args"]),
            "cwd": None if cwd is None else Path(cwd),
            "include_tools": None if include is None else tuple(include),
            "exclude_tools": tuple(data["exclude_tools"]),
            "sign_in": None if sign_in is None else SignInSettings(**sign_in),
        }
        return cls(**(data | converted))


def _pairs(values: dict[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in values.items()]
