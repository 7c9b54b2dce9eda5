"""The user's own tools for agents: `[tools.NAME]` in `config.toml`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.config import validators
from acp_tui.config.validators import InvalidValueError

if TYPE_CHECKING:
    from acp_tui.config.toml_document import TomlDocument

RESERVED_NAMES = frozenset({"show_file", "show_diff", "ask_user", "notify", "open_url", "read_selection"})
"""The names of acp-tui's own tools."""
MAX_SCHEMA_CHARACTERS = 20_000
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(slots=True)
class UserTool:
    """A command that agents can run as a tool of acp-tui's own MCP server."""

    name: str
    file: Path
    line: int | None
    command: list[str] = field(default_factory=list)
    description: str = ""
    schema: dict[str, Any] = field(default_factory=lambda: {"type": "object"})
    timeout: float = 60.0  # seconds


def _schema(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise validators.invalid_value("a table, a JSON schema", value)
    if value.get("type", "object") != "object":
        raise InvalidValueError('expected type = "object": the arguments of a tool are an object')
    try:
        text = json.dumps(value)
    except TypeError:
        raise InvalidValueError("contains a date or a time, which JSON does not have") from None
    if len(text) > MAX_SCHEMA_CHARACTERS:
        raise InvalidValueError(f"has more than {MAX_SCHEMA_CHARACTERS:,} characters")
    return {"type": "object", **value}


_VALIDATORS: dict[str, Callable[[Any], Any]] = {
    "command": validators.command,
    "description": validators.text,
    "schema": _schema,
    "timeout": validators.seconds,
}


def from_document(config: TomlDocument) -> dict[str, UserTool]:
    """Return the tools by name. Tools that cannot be used are left out and reported."""
    found = (_read(config, name, entry) for name, entry in config.tables("tools").items())
    return {tool.name: tool for tool in found if tool is not None}


def _read(config: TomlDocument, name: str, entry: Any) -> UserTool | None:
    path = ("tools", name)
    if not _NAME.fullmatch(name):
        config.report(path, f"{name!r} is not a valid tool name; use up to 64 letters, digits, _ and -")
        return None
    if name in RESERVED_NAMES:
        config.report(path, "acp-tui has its own tool with this name; choose another name")
        return None
    if not isinstance(entry, dict):
        config.table(path, entry)  # reports it
        return None
    values, invalid = config.checked(path, entry, _VALIDATORS, "; agents do not get the tool")
    missing = [key for key in ("command", "description") if key not in entry]
    if missing:
        config.report(path, f"no {' and no '.join(missing)}; agents do not get the tool")
    if invalid or missing:
        return None
    tool = UserTool(name, config.file, config.line(*path), **values)
    tool.command[0] = validators.resolve_program(tool.command[0], config.file.parent)
    return tool
