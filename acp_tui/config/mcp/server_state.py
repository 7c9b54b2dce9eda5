"""Whether the user has turned servers on or off: `[mcp_state.NAME]` in `mcp.toml`."""

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
    """What the user said with `acp-tui mcp enable` and `disable` about the servers of one name."""

    enabled: bool | None = None  # None: as in the definition
    enabled_for: tuple[str, ...] = ()  # agents that get it whatever else applies
    disabled_for: tuple[str, ...] = ()  # agents that do not get it
    origin: str = ""  # file and line

    def to_entry(self) -> dict[str, Any]:
        """Return the table of `mcp.toml`; empty if nothing was said."""
        entry = {name: list(getattr(self, name)) for name in ("enabled_for", "disabled_for")}
        given: dict[str, Any] = {name: agents for name, agents in entry.items() if agents}
        return given if self.enabled is None else {"enabled": self.enabled, **given}


NO_STATE = ServerState()


def states_in(document: TomlDocument) -> dict[str, ServerState]:
    """Return the states in `mcp.toml` by server. Errors are added to the problems of the document."""
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
