"""Where a tool call tells what it is about: every source is read, so that they can be compared."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from acp_tui.protocol.raw_input_keys import (
    ARGUMENT_KEYS,
    COMMAND_KEYS,
    COMMAND_LIST_KEYS,
    DIRECTORY_KEYS,
    ENVIRONMENT_KEYS,
    PATH_KEYS,
    PATH_LIST_KEYS,
)
from acp_tui.session.state import Content, Diff

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from acp_tui.session.state import ToolCall

MAX_NESTING = 4
_EDITOR_COMMANDS = frozenset({"view", "create", "str_replace", "insert", "undo_edit"})
"""What Anthropic's text editor tool (OpenHands' `file_editor`) calls its `command`, beside a `path`."""
FILE_KINDS = frozenset({"read", "edit", "delete", "move"})
"""Kinds whose text may be the content of a file."""


@dataclass(slots=True)
class FoundCommands:
    """Every command a tool call tells, and where it would run."""

    commands: list[str | tuple[str, ...]] = field(default_factory=list)
    cwd: str | None = None
    env: dict[str, str] = field(default_factory=dict)
    doubt: str | None = None


@dataclass(frozen=True, slots=True)
class FoundTool:
    """The MCP server and tool; both None when it is none."""

    server: str | None = None
    name: str | None = None
    doubt: str | None = None


def commands_of(call: ToolCall) -> FoundCommands:
    """The commands in the raw input and in complete JSON in the text.

    The kind only decides where a "command" cannot be one: files that are read or edited may hold JSON,
    and editor tools call what they do a command.
    """
    found = FoundCommands()
    about_files = call.kind in FILE_KINDS
    inputs = [
        told
        for told in _nested(_raw_inputs(call) if about_files else _inputs(call))
        if call.kind == "execute" or not _is_editor_command(told)
    ]
    for told in inputs:
        _add_commands(found, told)
    if found.commands or call.kind == "execute":  # elsewhere `env` and `directory` may mean anything
        for told in inputs:
            _add_directory(found, told)
            _add_environment(found, told)
    return found


def _add_commands(found: FoundCommands, told: Mapping[str, Any]) -> None:
    for key in COMMAND_KEYS:
        value = told.get(key)
        if value in (None, "", []):
            continue
        command = _command(value, told.get("args"))
        if command is None:
            found.doubt = f"`{key}` of its raw input is neither a string nor a list of strings"
        else:
            found.commands.append(command)
    for key in COMMAND_LIST_KEYS:
        value = told.get(key)
        if value in (None, "", []):
            continue
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            found.commands += value
        else:
            found.doubt = f"`{key}` of its raw input is not a list of strings"


def _add_environment(found: FoundCommands, told: Mapping[str, Any]) -> None:
    """`{"A": "1"}`, or `[{"name": "A", "value": "1"}]` as the protocol's own requests have it."""
    for key in ENVIRONMENT_KEYS:
        value = told.get(key)
        pairs: Iterable[tuple[object, object]] = ()
        if isinstance(value, dict):
            pairs = value.items()
        elif isinstance(value, list) and all(isinstance(one, dict) and "name" in one for one in value):
            pairs = [(one["name"], one.get("value", "")) for one in value]
        elif value not in (None, "", []):
            found.doubt = f"`{key}` of its raw input names no variables"
        found.env |= {str(name): str(content) for name, content in pairs}


def _is_editor_command(told: Mapping[str, Any]) -> bool:
    command = told.get("command")
    if not isinstance(command, str) or command not in _EDITOR_COMMANDS:
        return False
    return any(isinstance(told.get(key), str) for key in PATH_KEYS)


def paths_of(call: ToolCall) -> list[list[str]]:
    """The paths each source names; sources that name none are left out."""
    diffs = [part.path for part in call.content if isinstance(part, Diff)]
    locations = [location.path for location in call.locations]
    inputs = [list(dict.fromkeys(_paths(told))) for told in _inputs(call)]
    return [source for source in (diffs, locations, *inputs) if source]


def mcp_tool_of(call: ToolCall) -> FoundTool:
    """The tool of an MCP server, from the call's name or what `_meta` says of it."""
    names = {name for name in (call.name, *_names_in(call.meta)) if name}
    found = {name for name in names if name.startswith("mcp__")}
    if not found:
        return FoundTool()
    full = found.pop()
    if any(name != full and not full.endswith(f"__{name}") for name in names):
        return FoundTool(doubt="its sources name different tools")
    parts = full.removeprefix("mcp__").split("__")
    if len(parts) != 2 or not all(parts):
        return FoundTool(doubt="the name of its tool cannot be told from that of the server")
    return FoundTool(*parts)


def url_of(call: ToolCall) -> str | None:
    """The address a fetch names."""
    urls = {told["url"] for told in _inputs(call) if isinstance(told.get("url"), str)}
    return urls.pop() if len(urls) == 1 else None


def texts_of(call: ToolCall) -> list[str]:
    """What may speak of a command without telling it: title, text, and raw input that is a text."""
    raw = [call.raw_input] if isinstance(call.raw_input, str) else []
    return [
        call.title,
        call.permission_title,
        *raw,
        *(part.text for part in call.content if isinstance(part, Content)),
    ]


def _inputs(call: ToolCall) -> Iterator[Mapping[str, Any]]:
    """The arguments of the call, in every place where they are complete."""
    yield from _raw_inputs(call)
    for part in call.content:
        if isinstance(part, Content) and part.kind == "text" and (told := _object(part.text)):
            yield told


def _raw_inputs(call: ToolCall) -> Iterator[Mapping[str, Any]]:
    if isinstance(call.raw_input, dict):
        yield call.raw_input
    elif isinstance(call.raw_input, str) and (told := _object(call.raw_input)):
        yield told


def _nested(inputs: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The objects, and those they hold under the usual names for arguments."""
    level = list(inputs)
    for _ in range(MAX_NESTING):
        yield from level
        level = [told[key] for told in level for key in ARGUMENT_KEYS if isinstance(told.get(key), dict)]


def _object(text: str) -> dict[str, Any] | None:
    """A complete JSON object with members."""
    text = text.strip()
    if not (text.startswith("{") and text.endswith("}")):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _command(value: Any, args: Any) -> str | tuple[str, ...] | None:
    if isinstance(value, str) and not args:
        return value
    words = value if isinstance(value, list) else [value]
    words = [*words, *args] if isinstance(args, list) else words
    if not all(isinstance(word, str) for word in words) or not (args is None or isinstance(args, list)):
        return None
    return tuple(words)


def _add_directory(found: FoundCommands, told: Mapping[str, Any]) -> None:
    for key in DIRECTORY_KEYS:
        value = told.get(key)
        if isinstance(value, str) and value:
            if found.cwd not in (None, value):
                found.doubt = "its sources name different directories"
            found.cwd = value


def _paths(told: Mapping[str, Any]) -> Iterator[str]:
    for key in PATH_KEYS:
        if isinstance(told.get(key), str) and told[key]:
            yield told[key]
    for key in PATH_LIST_KEYS:
        for item in told[key] if isinstance(told.get(key), (list, dict)) else ():  # a dict: by path
            if isinstance(item, str) and item:
                yield item
            elif isinstance(item, dict):
                yield from (item[key] for key in PATH_KEYS if isinstance(item.get(key), str) and item[key])


def _names_in(meta: Mapping[str, Any]) -> Iterator[str]:
    """`_meta.toolName` and `_meta.AGENT.toolName`."""
    for told in (meta, *meta.values()):
        if isinstance(told, dict) and isinstance(told.get("toolName"), str):
            yield told["toolName"]
