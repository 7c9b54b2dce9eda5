"""Reads MCP servers in the notations of other programs, for `acp-tui mcp import`.

Codex has TOML with keys of its own. OpenCode, Zed, VS Code and Windsurf have JSON. It differs from
`.mcp.json` in the key that contains the servers, and in keys of a server.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from acp_tui.config import toml_document
from acp_tui.config.mcp.server import Server, parse
from acp_tui.config.mcp.sources import from_entries, load_json
from acp_tui.errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

JSON_ROOTS: tuple[tuple[str, ...], ...] = (
    ("mcpServers",),
    ("servers",),
    ("context_servers",),
    ("mcp", "servers"),
    ("mcp",),
)
"""The paths of keys that can contain the servers: of most programs, VS Code's `mcp.json`, Zed, VS Code's
settings, OpenCode."""
TOML_ROOT = "mcp_servers"

_OPENCODE_VARIABLE = re.compile(r"\{env:(\w+)\}")


def keys_looked_for(file: Path) -> str:
    """Return the keys that can contain servers in a file, for a message."""
    return TOML_ROOT if _is_toml(file) else ", ".join(".".join(path) for path in JSON_ROOTS)


def servers_in(raw: bytes, file: Path) -> list[Server] | None:
    """Return the servers in a file of another program; None if no key of the file contains servers.

    Raises `UserError` if the file is invalid.
    """
    if _is_toml(file):
        return _codex_servers(file)
    data, lines, repeated = load_json(raw, file)
    for path in JSON_ROOTS:
        entries: Any = data
        for key in path:
            entries = entries.get(key) if isinstance(entries, dict) else None
        if isinstance(entries, dict):
            translated = {name: _translated(entry) for name, entry in entries.items()}
            return from_entries(translated, file, lines, path, repeated)
    return None


def _is_toml(file: Path) -> bool:
    return file.suffix.lower() == ".toml"


# --------------------------------------------------------------------------- Codex


def _codex_servers(file: Path) -> list[Server] | None:
    document = toml_document.read(file)
    if document.problems:
        raise UserError(f"{document.problems[0]}.", exit_code=1)
    entries = document.data.get(TOML_ROOT)
    if not isinstance(entries, dict):
        return None
    return [
        parse(name, _codex_entry(entry), file, document.line(TOML_ROOT, name))
        for name, entry in entries.items()
    ]


def _codex_entry(entry: Any) -> Any:
    """Return an entry of Codex with acp-tui's keys."""
    if not isinstance(entry, dict):
        return entry
    names = {
        "http_headers": "headers",
        "tool_timeout_sec": "timeout",
        "startup_timeout_sec": "connect_timeout",
        "enabled_tools": "include_tools",
        "disabled_tools": "exclude_tools",
    }
    own = {names.get(key, key): value for key, value in entry.items()}
    own.pop("env_vars", None)  # names of variables to pass on; acp-tui passes all
    headers = own.get("headers", {})
    variables = own.pop("env_http_headers", {})
    if isinstance(headers, dict) and isinstance(variables, dict):
        headers = headers | {name: f"${{{variable}}}" for name, variable in variables.items()}
        if isinstance(token := own.pop("bearer_token_env_var", None), str):
            headers = {**headers, "Authorization": f"Bearer ${{{token}}}"}
        if headers:
            own["headers"] = headers
    return own


# --------------------------------------------------------------------------- JSON


def _translated(entry: Any) -> Any:
    """Return an entry of OpenCode, Zed, VS Code or Windsurf with the keys of `.mcp.json`."""
    if not isinstance(entry, dict):
        return entry
    own = _with_variables(entry)
    if own.get("source") == "extension" and "command" not in own and "url" not in own:
        return {"source": "extension"}  # Zed's extension knows the command
    if own.get("source") in ("custom", "extension"):
        del own["source"]
    if isinstance(program := own.get("command"), dict):  # older settings of Zed
        del own["command"]
        own |= {"command" if key == "path" else key: value for key, value in program.items()}
    if own.get("type") == "remote":  # OpenCode: http, or sse if the server does not support http
        del own["type"]
    for name, other in (("env", "environment"), ("url", "serverUrl"), ("excludeTools", "disabledTools")):
        if other in own and name not in own:
            own[name] = own.pop(other)
    if own.get("env") is None:
        own.pop("env", None)
    if own.get("oauth") in ({}, False):
        del own["oauth"]  # OpenCode's own sign-in
    return own


def _with_variables(value: Any) -> Any:
    """Return a value with OpenCode's `{env:NAME}` as `${NAME}`."""
    if isinstance(value, str):
        return _OPENCODE_VARIABLE.sub(r"${\1}", value)
    if isinstance(value, list):
        return [_with_variables(item) for item in value]
    return {key: _with_variables(item) for key, item in value.items()} if isinstance(value, dict) else value
