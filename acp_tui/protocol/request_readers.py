"""Translates the agent's requests, and acp-tui's answers to them, into events."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from acp_tui.protocol import values
from acp_tui.protocol.field_faults import field_faults
from acp_tui.protocol.updates import is_known_request, parent_call_id, read_tool_call, similar_name
from acp_tui.session import events as ev
from acp_tui.session.record import INVALID_PARAMS
from acp_tui.session.safe_text import escape_line, visible_excerpt
from acp_tui.session.state import PermissionOption, RequestId, RpcError

PERMISSION = "session/request_permission"
ELICITATION = "elicitation/create"

_FILE_METHODS = frozenset({"fs/read_text_file", "fs/write_text_file"})
_SERVED = _FILE_METHODS | {
    "terminal/create", "terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release",
    "mcp/message",
}  # fmt: skip
_REPORTED = (_SERVED - _FILE_METHODS) | {PERMISSION, ELICITATION}
"""The methods for which an error of acp-tui is an event of its own. For files, `FileServed` has the error."""


def request_events(
    method: str,
    params: dict[str, Any],
    request_id: RequestId,
    other_session: str = "",
    for_method: str = "",
) -> list[ev.Event]:
    """Return the events for a request of the agent other than a permission request.

    `other_session` is the id of the request's session, or empty if that is the conversation's own session.
    If the params name an unanswered request of acp-tui's, `for_method` is the method of that request.
    """
    if method == ELICITATION:
        return [_elicitation(params, request_id, other_session, for_method)]
    if method in _SERVED or is_known_request(method):
        return [ev.IgnoredMessage(f"the request {method}")]
    meant = similar_name(method, _SERVED | _REPORTED)
    return [ev.Unknown(f"request {visible_excerpt(method, 80)}{meant}", params)]


def permission_events(
    params: dict[str, Any], request_id: RequestId, made_up: str, *, other_session: str = ""
) -> list[ev.Event]:
    """Return the events for a permission request: first its tool call, then the request.

    The tool call belongs to the session that asks: `other_session`, or the conversation's own session if
    `other_session` is empty. A tool call of the own session that names a parent call belongs to the subagent
    of the parent call. A tool call without an id gets the id `made_up`. A request without an id cannot be
    answered.
    """
    source = values.obj(values.first(params, "toolCall", "tool_call"))
    call_id = values.raw(source, "toolCallId") or values.raw(params, "toolCallId") or made_up
    call = read_tool_call(source, call_id, asked=True)
    if call.title is None:
        call.title = values.line(params, "title", "description", "message")
    return [
        ev.OtherSessionUpdate(other_session, call) if other_session else _in_subagent(call, source),
        *field_faults(PERMISSION, params),
        ev.PermissionRequested(
            request_id,
            call_id,
            read_options(params.get("options")),
            answerable=request_id is not None,
            session_id=other_session,
        ),
    ]


def read_options(value: Any) -> list[PermissionOption]:
    """Read the options of a permission request."""
    return [option for item in values.items(value) if (option := _option(item)) is not None]


def _in_subagent(call: ev.ToolCallChanged, source: dict[str, Any]) -> ev.Event:
    """Return the event for a tool call: `InSubagent` if the agent names a parent call, else `call` itself."""
    parent = parent_call_id(source)
    return call if parent is None else ev.InSubagent(parent, call)


def _option(item: Any) -> PermissionOption | None:
    source = values.obj(item)
    identity = values.raw(source, "optionId", "id")
    if identity is None:
        return None
    kind = values.line(source, "kind") or ""
    return PermissionOption(identity, values.line(source, "name", "label") or escape_line(identity), kind)


def _elicitation(
    params: dict[str, Any], request_id: RequestId, other_session: str, for_method: str
) -> ev.ElicitationRequested:
    schema = params.get("requestedSchema")
    mode = values.line(params, "mode") or ("url" if "url" in params else "form")
    return ev.ElicitationRequested(
        request_id,
        mode=mode,
        message=values.text(params, "message") or "",
        url=values.raw(params, "url"),
        elicitation_id=values.raw(params, "elicitationId"),
        schema=schema if isinstance(schema, dict) else None,
        call_id=values.raw(params, "toolCallId"),
        session_id=other_session,
        for_method=for_method,
        raw=None if mode in ("form", "url") else params,
    )


# --------------------------------------------------------------------------- our answers


@dataclass(slots=True)
class ClientAnswer:
    """A request of the agent, and acp-tui's answer to it."""

    request_id: RequestId
    params: dict[str, Any]
    result: dict[str, Any]
    error: RpcError | None


def answer_events(method: str, answer: ClientAnswer) -> list[ev.Event]:
    """Return the events for acp-tui's answer to a request of the agent."""
    reader = _ANSWERS.get(method)
    error = answer.error
    if error is not None and method in _FILE_METHODS and error.code == INVALID_PARAMS:
        return [ev.RequestRefused(method, error, answer.request_id, _lacks_path(method, answer.params))]
    events = [] if reader is None else reader(answer)
    if error is not None and method in _REPORTED:
        events.append(ev.RequestRefused(method, error, answer.request_id))
    return events


def _lacks_path(method: str, params: dict[str, Any]) -> str:
    """Return a sentence if a request about a file names none; otherwise an empty string."""
    if values.raw(params, "path"):
        return ""
    return f"The agent asked to {'read' if method == 'fs/read_text_file' else 'write'} a file without a path"


def _permission_answered(answer: ClientAnswer) -> list[ev.Event]:
    if answer.error is not None:
        return [ev.PermissionAnswered(answer.request_id, "error")]
    outcome = values.obj(answer.result.get("outcome"))
    if outcome.get("outcome") == "selected":
        return [ev.PermissionAnswered(answer.request_id, "selected", values.raw(outcome, "optionId"))]
    return [ev.PermissionAnswered(answer.request_id, "cancelled")]


def _elicitation_answered(answer: ClientAnswer) -> list[ev.Event]:
    if answer.error is not None:
        return [ev.ElicitationAnswered(answer.request_id, "error")]
    match answer.result.get("action"):
        case "accept":
            return [ev.ElicitationAnswered(answer.request_id, "accept")]
        case "decline":
            return [ev.ElicitationAnswered(answer.request_id, "decline")]
    return [ev.ElicitationAnswered(answer.request_id, "cancel")]


def _file_read(answer: ClientAnswer) -> list[ev.Event]:
    return [_served(answer, wrote=False, line=values.integer(answer.params, "line"))]


def _file_written(answer: ClientAnswer) -> list[ev.Event]:
    return [_served(answer, wrote=True, content=values.text(answer.params, "content") or "")]


def _served(
    answer: ClientAnswer, *, wrote: bool, line: int | None = None, content: str = ""
) -> ev.FileServed:
    path = values.line(answer.params, "path") or ""
    return ev.FileServed(path, wrote, answer.error, answer.request_id, line, content)


def _terminal_created(answer: ClientAnswer) -> list[ev.Event]:
    terminal_id = values.raw(answer.result, "terminalId")
    if terminal_id is None:
        return []
    command = values.raw(answer.params, "command") or ""
    args = values.strings(answer.params.get("args"))
    words = escape_line(shlex.join([command, *args]) if args else command)
    return [ev.TerminalCreated(terminal_id, "client", words, values.line(answer.params, "cwd"))]


def _terminal_released(answer: ClientAnswer) -> list[ev.Event]:
    terminal_id = values.raw(answer.params, "terminalId")
    return [] if terminal_id is None or answer.error is not None else [ev.TerminalReleased(terminal_id)]


_ANSWERS: dict[str, Callable[[ClientAnswer], list[ev.Event]]] = {
    PERMISSION: _permission_answered,
    ELICITATION: _elicitation_answered,
    "fs/read_text_file": _file_read,
    "fs/write_text_file": _file_written,
    "terminal/create": _terminal_created,
    "terminal/release": _terminal_released,
}
