"""The tables `[mcp_state.NAME]` in `mcp.toml`, which say whether the user has turned servers on or off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from acp_tui.config import validators
from acp_tui.config.validators import InvalidValueError

if TYPE_CHECKING:
    from acp_tui.config.toml_document import TomlDocument

_KEYS = ("enabled", "enabled_for", "disabled_for")


@dataclass(frozen=True, slots=True)
class ServerState:
    """Whether the user has turned the servers with the same name on or off, as saved in `mcp.toml`."""

    enabled: bool | None = None  # None: as in the definition
    enabled_for: tuple[str, ...] = ()  # agents that get the servers even if they are disabled
    disabled_for: tuple[str, ...] = ()  # agents that do not get the servers
    origin: str = ""  # the file and line of the table

    def to_entry(self) -> dict[str, Any]:
        """Return the table for `mcp.toml`; empty if the state is the default."""
        entry = {name: list(getattr(self, name)) for name in ("enabled_for", "disabled_for")}
        given: dict[str, Any] = {name: agents for name, agents in entry.items() if agents}
        return given if self.enabled is None else {"enabled": self.enabled, **given}


NO_STATE = ServerState()


def states_in(document: TomlDocument) -> dict[str, ServerState]:
    """Return the states in `mcp.toml` by server name. Errors are added to the problems of the document."""
    entries = document.data.get("mcp_state", {})
    if not isinstance(entries, dict):
        document.report(("mcp_state",), str(validators.invalid_value("tables, [mcp_state.NAME]", entries)))
        return {}
    return {name: _state(document, name, entry) for name, entry in entries.items()}


def _state(document: TomlDocument, name: str, entry: Any) -> ServerState:
    path = ("mcp_state", name)
    if not isinstance(entry, dict):
        document.report(path, str(validators.invalid_value(f"a table, [mcp_state.{name}]", entry)))
        return NO_STATE
    line = document.line(*path)
    values: dict[str, Any] = {"origin": str(document.file) if line is None else f"{document.file}:{line}"}
    for key, value in entry.items():
        if key not in _KEYS:
            document.report_unknown_key((*path, key), _KEYS)
            continue
        try:
            values[key] = validators.boolean(value) if key == "enabled" else tuple(validators.strings(value))
        except InvalidValueError as error:
            document.report((*path, key), str(error))
    return ServerState(**values)
