"""An MCP server that can be started or sent: its variables are expanded and its program is found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from acp_tui.config.mcp.server import Transport


@dataclass(frozen=True, slots=True)
class ResolvedServer:
    """An MCP server with expanded values, which may be secrets."""

    name: str
    transport: Transport
    command: str = ""  # the absolute path of the program
    args: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    url: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    def for_agent(self) -> dict[str, Any]:
        """Return the server as the object that ACP sends to an agent."""
        if self.transport == "stdio":
            program = {"command": self.command, "args": list(self.args), "env": _pairs(self.env)}
            return {"name": self.name, **program}
        address = {"url": self.url, "headers": _pairs(self.headers)}
        return {"type": self.transport, "name": self.name, **address}


def _pairs(values: dict[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in values.items()]
