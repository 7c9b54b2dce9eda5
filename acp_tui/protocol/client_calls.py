"""Translates acp-tui's requests, and the agent's answers to them, into events.

Answers to prompts differ between the dialects of the protocol, so `v1` and `draft` translate such answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from acp_tui.protocol.readers import session_options, values
from acp_tui.protocol.readers.agent_info import read_agent
from acp_tui.protocol.readers.content import read_blocks
from acp_tui.session import events as ev

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.session.state import Content

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
    how = OPENING_METHODS.get(method)
    if how is None:
        return []
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


@dataclass(slots=True)
class AgentAnswer:
    """The params of a request that acp-tui sent, and the agent's result."""

    params: dict[str, Any]
    result: dict[str, Any]


def result_events(method: str, params: dict[str, Any], result: Any) -> list[ev.Event]:
    """Return the events for the agent's answer to a request. `params` are those of the request."""
    reader = _ANSWERS.get(method)
    if reader is None:
        return [ev.Nothing(f"the answer to {method}")]
    return reader(AgentAnswer(params, values.obj(result)))


def opening_events(method: str, params: dict[str, Any], result: Any) -> list[ev.Event]:
    """Return the events for the answer to a request with one of the `OPENING_METHODS`.

    The answers to `session/load` and `session/resume` can lack the session's id. The requests contain the id.
    """
    how = OPENING_METHODS[method]
    answer = values.obj(result)
    requested_id = values.raw(params, "sessionId") if how in ("load", "resume") else None
    session_id = values.raw(answer, "sessionId") or requested_id
    if session_id is None:
        return [ev.ProtocolFault(f"The answer to {method} has no sessionId", result)]
    modes, mode = session_options.read_modes(answer)
    models, model = session_options.read_models(answer)
    opened = ev.SessionOpened(
        session_id, how, modes, mode, session_options.read_config_options(answer), models, model
    )
    return [opened, *_commands(answer)]


def initialize_events(answer: dict[str, Any], dialect: Literal["v1", "0.1.0"]) -> list[ev.Event]:
    """Return the events for the answer to `initialize`."""
    return [ev.Initialized(read_agent(answer), dialect), *_commands(answer)]


def _commands(answer: dict[str, Any]) -> list[ev.Event]:
    """Return an event if an answer contains slash commands. Only answers of the draft contain commands."""
    commands = session_options.read_commands(answer)
    return [] if commands is None else [ev.CommandsChanged(commands)]


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
    options = session_options.read_config_options(answer.result)
    if options is not None:
        return [ev.ConfigOptionsChanged(options)]
    option_id, value = values.raw(answer.params, "configId"), answer.params.get("value")
    if option_id is None or not isinstance(value, (str, bool)):
        return []
    return [ev.ConfigOptionSet(option_id, value)]


def _steered(answer: AgentAnswer) -> list[ev.Event]:
    if answer.result.get("outcome") in TAKEN_OUTCOMES:
        return [ev.Steered(*_prompt(answer.params))]
    return [ev.Nothing(f"the answer to {STEERING}")]


_ANSWERS: dict[str, Callable[[AgentAnswer], list[ev.Event]]] = {
    "authenticate": _signed_in,
    "logout": _signed_out,
    "session/set_mode": _mode_set,
    "session/set_model": _model_set,
    "session/set_config_option": _option_set,
    STEERING: _steered,
}
