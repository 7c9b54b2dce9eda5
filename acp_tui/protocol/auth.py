"""The ways to sign in that an agent names."""

from __future__ import annotations

from typing import Any

from acp_tui.protocol import read
from acp_tui.session.state import AuthMethod
from acp_tui.session.text import visible_line


def auth_methods(value: Any) -> list[AuthMethod]:
    """The methods of an `initialize` answer, or of an error that wants a sign-in."""
    return [method for item in read.items(value) if (method := _method(item)) is not None]


def _method(item: Any) -> AuthMethod | None:
    if not isinstance(item, dict) or (identity := read.raw(item, "id", "methodId")) is None:
        return None
    method = AuthMethod(
        id=identity,
        name=read.line(item, "name", "title") or visible_line(identity),
        description=read.text(item, "description"),
        kind=read.line(item, "type") or "agent",
        args=read.strings(item.get("args")),
        env=_environment(item.get("env")),
        vars=_names(item),
    )
    terminal = read.obj(read.obj(item.get("_meta")).get("terminal-auth"))
    if terminal:
        method.command = read.raw(terminal, "command")
        method.label = read.line(terminal, "label")
        method.args = read.strings(terminal.get("args")) or method.args
        method.env = _environment(terminal.get("env")) or method.env
    return method


def _environment(value: Any) -> dict[str, str]:
    """Variables as an object, or as the list of pairs that other places of the protocol use."""
    if isinstance(value, dict):
        return {name: content for name, content in value.items() if isinstance(content, str)}
    pairs = [(read.raw(pair, "name"), read.raw(pair, "value")) for pair in map(read.obj, read.items(value))]
    return {name: content for name, content in pairs if name is not None and content is not None}


def _names(item: dict[str, Any]) -> list[str]:
    """The variables that an `env_var` method (removed from the protocol) wants."""
    listed = read.items(item.get("vars"))
    found = [var if isinstance(var, str) else read.raw(read.obj(var), "name") for var in listed]
    return [visible_line(name) for name in [*found, read.raw(item, "varName")] if name]
