"""What an agent says about itself: its name, version, capabilities, and sign-in methods."""

from __future__ import annotations

from typing import Any

from acp_tui.protocol.readers import values
from acp_tui.session.state import Agent, AuthMethod, SuggestedCommand
from acp_tui.session.text.safe_text import visible_line


def read_agent(result: dict[str, Any]) -> Agent:
    """Read what the agent says about itself in the result of `initialize`.

    The result may follow version 1 of the protocol or the draft.
    """
    info = values.obj(values.first(result, "agentInfo", "serverInfo"))
    version = result.get("protocolVersion")
    version = visible_line(version) if isinstance(version, str) else version
    return Agent(
        name=values.line(info, "name"),
        title=values.line(info, "title"),
        version=values.line(info, "version"),
        protocol_version=version if isinstance(version, str) else values.integer(result, "protocolVersion"),
        capabilities=values.obj(values.first(result, "agentCapabilities", "capabilities")),
        auth_methods=read_auth_methods(result.get("authMethods")),
        meta=values.obj(result.get("_meta")),
    )


def read_auth_methods(value: Any) -> list[AuthMethod]:
    """Read the sign-in methods in the result of `initialize`, or in an error that requires a sign-in."""
    return [method for item in values.items(value) if (method := _method(item)) is not None]


def _method(item: Any) -> AuthMethod | None:
    if not isinstance(item, dict) or (identity := values.raw(item, "id", "methodId")) is None:
        return None
    return AuthMethod(
        id=identity,
        name=values.line(item, "name", "title") or visible_line(identity),
        description=values.text(item, "description"),
        kind=values.line(item, "type") or "agent",
        args=values.strings(item.get("args")),
        env=_environment(item.get("env")),
        suggested=_suggested_command(values.obj(values.obj(item.get("_meta")).get("terminal-auth"))),
        vars=_variable_names(item),
    )


def _suggested_command(item: dict[str, Any]) -> SuggestedCommand | None:
    if not (command := values.raw(item, "command")):
        return None
    return SuggestedCommand(
        command,
        args=values.strings(item.get("args")),
        env=_environment(item.get("env")),
        label=values.line(item, "label"),
    )


def _environment(value: Any) -> dict[str, str]:
    """Read environment variables from an object, or from the protocol's usual list of `{"name", "value"}`."""
    if isinstance(value, dict):
        return {name: content for name, content in value.items() if isinstance(content, str)}
    pairs = [
        (values.raw(pair, "name"), values.raw(pair, "value")) for pair in map(values.obj, values.items(value))
    ]
    return {name: content for name, content in pairs if name is not None and content is not None}


def _variable_names(item: dict[str, Any]) -> list[str]:
    """Read the names of the environment variables that a sign-in method of the type `env_var` requires.

    The protocol no longer contains this type.
    """
    listed = values.items(item.get("vars"))
    found = [var if isinstance(var, str) else values.raw(values.obj(var), "name") for var in listed]
    return [visible_line(name) for name in [*found, values.raw(item, "varName")] if name]
