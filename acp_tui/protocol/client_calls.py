"""Translates acp-tui's requests, and the agent's answers to them, into events.

Answers to prompts differ between the dialects of the protocol, so `draft` translates such answers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from acp_tui.protocol import values
from acp_tui.protocol.content import read_blocks
from acp_tui.session import events as ev
from acp_tui.session.safe_text import escape_line
from acp_tui.session.state import (
    Agent,
    AuthMethod,
    Choice,
    ConfigOption,
    Content,
    Mode,
    SlashCommand,
    SuggestedCommand,
)

if TYPE_CHECKING:
    from acp_tui.session.state import Dialect

OpeningMethod = Literal["new", "load", "resume", "fork"]
OPENING_METHODS: dict[str, OpeningMethod] = {
    "session/new": "new",
    "session/load": "load",
    "session/resume": "resume",
    "session/fork": "fork",
}
STEERING = "_session/steering"
"""The method of an extension that sends a message into the running turn. See `Agent.can_steer`."""
TAKEN_OUTCOMES = ("injected", "startedNewTurn")
"""The values of `outcome` in the answer to `STEERING` which mean that the agent accepted the message."""


def call_events(method: str, params: dict[str, Any]) -> list[ev.Event]:
    """Return the events for a request that acp-tui sent."""
    if method == "session/prompt":
        return [ev.PromptSent(*_prompt(params))]
    if method == "initialize":
        version = values.raw(params, "protocolVersion") or ""
        return [ev.Initializing(values.integer(params, "protocolVersion") or version)]
    if method not in OPENING_METHODS:
        return []
    how = opening_of(method, params)
    directories = values.strings(params.get("additionalDirectories"))
    names = (values.line(values.obj(server), "name") for server in values.items(params.get("mcpServers")))
    session_id = values.raw(params, "sessionId")
    servers = [name for name in names if name]
    return [ev.SessionOpening(how, values.raw(params, "cwd") or "", directories, session_id, servers)]


def _prompt(params: dict[str, Any]) -> tuple[list[Content], str]:
    """Return the content blocks of a prompt, and the prompt's complete text as sent."""
    prompt = params.get("prompt")
    if isinstance(prompt, str):
        return read_blocks(prompt), prompt
    listed = values.items(prompt)
    texts = (values.obj(block).get("text") for block in listed)
    return read_blocks(listed), "".join(text for text in texts if isinstance(text, str))


def result_events(method: str, params: dict[str, Any], result: Any) -> list[ev.Event]:
    """Return the events for the agent's answer to a request. `params` are those of the request."""
    reader = _ANSWERS.get(method)
    if reader is None:
        return [ev.IgnoredMessage(f"the answer to {method}")]
    return reader(AgentAnswer(params, values.obj(result)))


def opening_events(method: str, params: dict[str, Any], result: Any) -> list[ev.Event]:
    """Return the events for the answer to a request with one of the `OPENING_METHODS`.

    The answers to `session/load` and `session/resume` can lack the session's id. The requests contain the id.
    """
    how = opening_of(method, params)
    answer = values.obj(result)
    requested_id = values.raw(params, "sessionId") if how in ("load", "resume") else None
    session_id = values.raw(answer, "sessionId") or requested_id
    if session_id is None:
        return [ev.ProtocolFault(f"The answer to {method} has no sessionId", result)]
    modes, mode = read_modes(answer)
    models, model = read_models(answer)
    opened = ev.SessionOpened(session_id, how, modes, mode, read_config_options(answer), models, model)
    return [opened, *_commands(answer)]


def opening_of(method: str, params: dict[str, Any]) -> OpeningMethod:
    """Return what a request with one of the `OPENING_METHODS` does.

    In version 2, `session/resume` can also ask for the history, like `session/load` in version 1.
    """
    how = OPENING_METHODS[method]
    return "load" if how == "resume" and params.get("replayFrom") is not None else how


def initialize_events(answer: dict[str, Any], dialect: Dialect) -> list[ev.Event]:
    return [ev.Initialized(read_agent(answer), dialect), *_commands(answer)]


def _commands(answer: dict[str, Any]) -> list[ev.Event]:
    """Return an event if an answer contains slash commands. Only answers of the draft contain commands."""
    commands = read_commands(answer)
    return [] if commands is None else [ev.CommandsChanged(commands)]


@dataclass(slots=True)
class AgentAnswer:
    """The params of a request that acp-tui sent, and the agent's result."""

    params: dict[str, Any]
    result: dict[str, Any]


def _signed_in(answer: AgentAnswer) -> list[ev.Event]:
    return [ev.SignedIn(values.raw(answer.params, "methodId") or "")]


def _signed_out(_answer: AgentAnswer) -> list[ev.Event]:
    return [ev.SignedOut()]


def _mode_set(answer: AgentAnswer) -> list[ev.Event]:
    mode = values.raw(answer.params, "modeId")
    return [] if mode is None else [ev.ModeChanged(mode)]


def _model_set(answer: AgentAnswer) -> list[ev.Event]:
    model = values.raw(answer.params, "modelId")
    return [] if model is None else [ev.ModelChanged(model)]


def _option_set(answer: AgentAnswer) -> list[ev.Event]:
    options = read_config_options(answer.result)
    if options is not None:
        return [ev.ConfigOptionsChanged(options)]
    option_id, value = values.raw(answer.params, "configId"), answer.params.get("value")
    if option_id is None or not isinstance(value, (str, bool)):
        return []
    return [ev.ConfigOptionSet(option_id, value)]


def _steered(answer: AgentAnswer) -> list[ev.Event]:
    if answer.result.get("outcome") in TAKEN_OUTCOMES:
        return [ev.Steered(*_prompt(answer.params))]
    return [ev.IgnoredMessage(f"the answer to {STEERING}")]


_ANSWERS: dict[str, Callable[[AgentAnswer], list[ev.Event]]] = {
    "authenticate": _signed_in,
    "auth/login": _signed_in,
    "logout": _signed_out,
    "auth/logout": _signed_out,
    "session/set_mode": _mode_set,
    "session/set_model": _model_set,
    "session/set_config_option": _option_set,
    STEERING: _steered,
}


# --------------------------------------------------------------------------- reading what agents send


def read_commands(source: dict[str, Any]) -> list[SlashCommand] | None:
    """Read the slash commands in an update or an answer; None if there is no list of commands."""
    found = values.first(source, "availableCommands", "available_commands", "commands")
    if not isinstance(found, list):
        return None
    return [command for item in found if (command := _command(item)) is not None]


def _command(item: Any) -> SlashCommand | None:
    if isinstance(item, str):
        return SlashCommand(escape_line(item))
    source = values.obj(item)
    name = values.line(source, "name")
    if name is None:
        return None
    given = values.obj(source.get("input"))
    hint = values.line(given, "hint") or values.line(values.obj(given.get("unstructured")), "hint")
    return SlashCommand(name, values.text(source, "description") or "", hint)


def read_modes(result: dict[str, Any]) -> tuple[list[Mode] | None, str | None]:
    """Read the available modes and the current mode's id from the answer to a request that opens a session.

    Either result is None if it is missing.
    """
    source = values.obj(result.get("modes"))
    current = values.raw(source, "currentModeId", "modeId") or values.raw(result, "currentModeId", "modeId")
    listed = values.first(source, "availableModes", "modes")
    if not isinstance(listed, list):
        return None, current
    found: list[Mode] = []
    for item in listed:
        entry = values.obj(item)
        identity = values.raw(entry, "id", "modeId")
        if identity is not None:
            name = values.line(entry, "name") or escape_line(identity)
            found.append(Mode(identity, name, values.text(entry, "description")))
    return found, current


def read_models(result: dict[str, Any]) -> tuple[list[Choice] | None, str | None]:
    """Read the available models and the current model's id; both are None if the list of models is missing.

    Models are no longer part of the protocol, but agents still send them.
    """
    source = values.obj(result.get("models"))
    if not isinstance(source.get("availableModels"), list):
        return None, None
    found: list[Choice] = []
    for item in source["availableModels"]:
        entry = values.obj(item)
        identity = values.raw(entry, "modelId", "id")
        if identity is not None:
            name = values.line(entry, "name") or escape_line(identity)
            found.append(Choice(identity, name, values.text(entry, "description")))
    return found, values.raw(source, "currentModelId")


def read_config_options(source: Any) -> list[ConfigOption] | None:
    """Read the config options in an update or an answer; None if there is no list of options."""
    listed = values.obj(source).get("configOptions")
    if not isinstance(listed, list):
        return None
    return [option for item in listed if (option := _option(item)) is not None]


def _option(item: Any) -> ConfigOption | None:
    source = values.obj(item)
    identity = values.raw(source, "id", "configId")
    if identity is None:
        return None
    current = source.get("currentValue")
    choices = _choices(source.get("options"))
    return ConfigOption(
        id=identity,
        name=values.line(source, "name") or escape_line(identity),
        kind=values.line(source, "type") or ("select" if choices else "unknown"),
        current=current if isinstance(current, bool) else values.raw(source, "currentValue"),
        description=values.text(source, "description"),
        category=values.line(source, "category"),
        choices=choices,
    )


def _choices(value: Any, group: str | None = None) -> list[Choice]:
    """Read the values that a config option can have, grouped or not.

    `group` is the name of the group that `value` lists; None at the top level.
    """
    found: list[Choice] = []
    for item in values.items(value):
        source = values.obj(item)
        if group is None and isinstance(source.get("options"), list):
            found += _choices(source["options"], values.line(source, "name", "group") or "")
        elif (chosen := values.raw(source, "value")) is not None:
            name = values.line(source, "name") or escape_line(chosen)
            found.append(Choice(chosen, name, values.text(source, "description"), group))
    return found


def read_agent(result: dict[str, Any]) -> Agent:
    """Read what the agent says about itself in the result of `initialize`.

    The result may follow version 1 of the protocol or the draft.
    """
    info = values.obj(values.first(result, "agentInfo", "info", "serverInfo"))
    version = result.get("protocolVersion")
    version = escape_line(version) if isinstance(version, str) else version
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
        name=values.line(item, "name", "title") or escape_line(identity),
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
    return [escape_line(name) for name in [*found, values.raw(item, "varName")] if name]
