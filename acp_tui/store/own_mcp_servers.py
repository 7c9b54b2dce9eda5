"""The file `mcp.toml`: which servers are turned on, and the servers that `acp-tui mcp` has added."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from acp_tui.config import mcp, toml_document
from acp_tui.config.paths import mcp_file, write_private
from acp_tui.errors import UserError, os_errors_reported
from acp_tui.store.locks import change_lock

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
HEADER = (
    "# Written by `acp-tui mcp add`, `import`, `enable` and `disable`, which rewrite this file.\n"
    "# Servers that you write yourself belong in config.toml.\n"
)


def table_text(path: tuple[str, ...], entry: dict[str, Any]) -> str:
    """Return a table with its header.

    Nested tables are written inline; keys with the value None are left out.
    """
    header = ".".join(_key(name) for name in path)
    return "".join([f"[{header}]\n", *(f"{_key(name)} = {_value(value)}\n" for name, value in _given(entry))])


def _given(entry: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(name, value) for name, value in entry.items() if value is not None]


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _string(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, dict):
        pairs = [f"{_key(name)} = {_value(item)}" for name, item in _given(value)]
        return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(item) for item in value if item is not None)}]"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)  # numbers, dates and times: all as in TOML


def _string(text: str) -> str:
    """Return a TOML basic string, which is written like a JSON string except that TOML also escapes DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


@dataclass(slots=True)
class OwnMcpServers:
    """The content of `mcp.toml`."""

    servers: dict[str, dict[str, Any]] = field(default_factory=dict)  # definitions by name
    states: dict[str, mcp.ServerState] = field(default_factory=dict)  # by name


def read_own_servers() -> OwnMcpServers:
    """Return the content of `mcp.toml`. Raises `UserError` if the file is damaged."""
    document = toml_document.read(mcp_file())
    states = mcp.states_in(document)
    servers = document.data.get("mcp_servers", {})
    strange = set(document.data) - {"mcp_servers", "mcp_state"}
    if strange or not isinstance(servers, dict) or not all(isinstance(one, dict) for one in servers.values()):
        raise UserError(f"{document.file} contains something other than MCP servers; correct or remove it.")
    if document.problems:
        raise UserError(f"{document.problems[0]}; correct or remove the file.")
    return OwnMcpServers(dict(servers), states)


def change_own_servers(change: Callable[[OwnMcpServers], None]) -> None:
    """Change `mcp.toml` under a lock. Raises `UserError` and what `change` raises."""
    file = mcp_file()
    with os_errors_reported(f"{file} cannot be written"), change_lock(file):
        own = read_own_servers()
        change(own)
        write_private(Path(os.path.realpath(file)), _text(own))  # the file may be a link, as to dotfiles


def switch_server(server: mcp.Server, *, enabled: bool, agent: str | None = None) -> None:
    """Turn all servers with the name of `server` on or off, for one agent or for all. Raises `UserError`."""

    def change(own: OwnMcpServers) -> None:
        [current] = mcp.with_states([server], own.states)
        own.states[server.name] = mcp.switched_state(current, enabled=enabled, agent=agent)

    change_own_servers(change)


def _text(own: OwnMcpServers) -> str:
    tables = [table_text(("mcp_servers", name), entry) for name, entry in own.servers.items()]
    entries = {name: state.to_entry() for name, state in own.states.items()}
    tables += [table_text(("mcp_state", name), entry) for name, entry in entries.items() if entry]
    return "\n".join([HEADER, *tables])
