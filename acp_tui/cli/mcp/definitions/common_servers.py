"""Well-known MCP servers that can be added by name."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

_FILE = Path(__file__).with_name("common_servers.toml")


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
            raise UserError(f"Usage: acp-tui mcp add {self.usage}", exit_code=2)
        if self.url:
            return {"url": self.url, "type": "http", "headers": self.headers}
        # Use absolute paths: no shell will expand `~`, and the server can start in another folder.
        paths = [os.path.abspath(os.path.expanduser(word)) for word in arguments]  # noqa: PTH100, PTH111
        words = [self.argument.format(path=path) for path in paths]
        program, *fixed = self.command
        return {"command": program, "args": [*fixed, *words], "env": self.env or None}


@cache
def common_servers() -> dict[str, CommonServer]:
    """Return the well-known servers by name."""
    entries = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {name: CommonServer(name, **entry) for name, entry in entries.items()}
