"""Version 2 of the protocol, which is a draft: its updates, permission requests and turns.

A prompt is answered at once. A `state_update` ends the turn. Updates are patches by id: a field that is left
out is unchanged, null clears it, a value replaces it, and chunks append.
"""

from __future__ import annotations

import base64
import binascii
import codecs
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from acp_tui.protocol import request_readers, updates, values
from acp_tui.protocol.content import read_blocks, read_tool_content
from acp_tui.protocol.draft import V1
from acp_tui.protocol.error_reader import read_error
from acp_tui.protocol.field_faults import SHAPES_V2, field_faults
from acp_tui.protocol.raw_patches import PatchedFile, patched_files
from acp_tui.protocol.token_usage import model_tokens, turn_tokens
from acp_tui.session import events as ev
from acp_tui.session.safe_text import escape_controls, escape_line
from acp_tui.session.state import Content, Diff, RequestId, TerminalRef, ToolContent

if TYPE_CHECKING:
    from acp_tui.protocol.updates import Reader
    from acp_tui.session.state import Dialect

VERSION = 2
_PATCHED_FIELDS = {
    "title": "title",
    "name": "name",
    "kind": "kind",
    "status": "status",
    "content": "content",
    "locations": "locations",
    "rawInput": "raw_input",
    "rawOutput": "raw_output",
    "_meta": "meta",
}
"""The fields of a tool call that null clears, and their names in the state."""
_REMOVED_KINDS = ("tool_call", "plan", "current_mode_update", "available_commands")
"""Kinds of updates of version 1 that do not exist in version 2, or that this module reads itself."""


def is_version_2(result: Mapping[str, Any]) -> bool:
    """Return True if an answer to `initialize` is of version 2.

    Some agents answer with any version that they are asked for, but otherwise as in version 1.
    """
    return result.get("protocolVersion") == VERSION and ("info" in result or "capabilities" in result)


class V2(V1):
    """The dialect of version 2. It remembers the turn's state, and output that ends amid a character."""

    name: Dialect = "v2"
    has_batches = True
    shapes = SHAPES_V2

    def __init__(self) -> None:
        self._working = False  # the agent has reported work that it has not ended
        self._decoders: dict[tuple[str, str], codecs.IncrementalDecoder] = {}  # by session and terminal

    def prompt_answered(self, result: Any) -> list[ev.Event]:  # noqa: ARG002 - the answer says no more
        """Return the event for a prompt that was accepted. A `state_update` ends the turn."""
        return [ev.TurnAccepted()]

    def prompt_refused(self) -> list[ev.Event]:
        """Return the event that no answer to the prompt is to come."""
        return [ev.TurnAccepted()]

    def end_turn(self, _update: dict[str, Any], /) -> list[ev.Event]:
        """Return a fault: version 2 has no such notification."""
        return [ev.Unknown("notification end_turn", _update)]

    def read_update(self, update: dict[str, Any], session_id: str, *, is_own: bool) -> list[ev.Event]:
        """Return the events for the `update` object of a `session/update` of this session."""
        readers = READERS
        kind = update.get("sessionUpdate")
        if kind == "state_update" and is_own:
            readers = {kind: self._state}
        elif kind == "terminal_update":
            readers = {kind: partial(self._terminal, session_id)}
        elif kind == "terminal_output_chunk":
            readers = {kind: partial(self._terminal_chunk, session_id)}
        return updates.read_update_with(readers, SHAPES_V2, update)

    def permission_events(
        self, params: dict[str, Any], request_id: RequestId, made_up: str, *, other_session: str = ""
    ) -> list[ev.Event]:
        """Return the events for a permission request, whose subject is a tool call, a command or nothing."""
        return _permission_events(params, request_id, made_up, other_session)

    # ----------------------------------------------------------------------- turns

    def _state(self, update: dict[str, Any]) -> list[ev.Event] | None:
        """Read the state of the session itself. Idle with a reason ends a turn."""
        state = values.line(update, "state")
        if state is None:
            return None
        events = self._turn_state(state, update)
        if isinstance(background := update.get("background"), list):
            items = [values.obj(item) for item in background]
            calls = [name for item in items if (name := values.raw(item, "toolCallId")) is not None]
            terminals = [name for item in items if (name := values.raw(item, "terminalId")) is not None]
            events.append(ev.BackgroundWorkChanged(calls, terminals))
        return events

    def _turn_state(self, state: str, update: dict[str, Any]) -> list[ev.Event]:
        """Return the events for a state, without the background work."""
        if state != "idle":
            self._working = True
            return [ev.WorkStateChanged(state), *updates.unknown_state(state, update)]
        was_working, self._working = self._working, False
        reason = values.line(update, "stopReason")
        if reason == "error":
            return [ev.TurnFailed(read_error(update.get("error") or {"message": "The turn failed"}))]
        if reason is None and not was_working:
            return [ev.WorkStateChanged(state)]
        ended = ev.TurnEnded(reason or "end_turn", turn_tokens(update), model_tokens(update))
        if reason is None:
            return [ev.ProtocolFault("The turn ended without a stopReason; assuming end_turn", update), ended]
        return [ended]

    # ----------------------------------------------------------------------- the agent's terminals

    def _terminal(self, session_id: str, update: dict[str, Any]) -> list[ev.Event] | None:
        terminal_id = values.raw(update, "terminalId")
        if terminal_id is None:
            return None
        command, cwd = _clearable(update, "command"), _clearable(update, "cwd")
        events: list[ev.Event] = [ev.TerminalCreated(terminal_id, "agent", command, cwd)]
        if "capabilities" in update:
            cancel = values.obj(update["capabilities"]).get("cancel")
            events.append(ev.TerminalControlChanged(terminal_id, cancel is not None and cancel is not False))
        if "output" in update:
            self._decoders.pop((session_id, terminal_id), None)
            events.append(ev.TerminalCleared(terminal_id))
            if (data := values.obj(update["output"]).get("data")) is not None:
                events += self._output(session_id, terminal_id, data)
        if "exitStatus" in update:
            status = update["exitStatus"]
            code, signal = values.integer(values.obj(status), "exitCode"), None
            if status is None:
                events.append(ev.TerminalCleared(terminal_id, exit_only=True))
            else:
                signal = values.line(values.obj(status), "signal")
                events += self._end_output(session_id, terminal_id)
                events.append(ev.TerminalExited(terminal_id, code, signal))
        return events

    def _terminal_chunk(self, session_id: str, update: dict[str, Any]) -> list[ev.Event] | None:
        terminal_id = values.raw(update, "terminalId")
        return None if terminal_id is None else self._output(session_id, terminal_id, update.get("data"))

    def _output(self, session_id: str, terminal_id: str, data: Any) -> list[ev.Event]:
        """Decode base64 and then UTF-8. Half of a character is held back for the next chunk."""
        try:
            written = base64.b64decode(data, validate=True)
        except (binascii.Error, TypeError, ValueError):
            return [ev.ProtocolFault("Terminal output that is not valid base64", data)]
        decoder = self._decoders.get((session_id, terminal_id))
        if decoder is None:
            decoder = codecs.getincrementaldecoder("utf-8")("replace")
            self._decoders[session_id, terminal_id] = decoder
        text = decoder.decode(written)
        return [ev.TerminalOutput(terminal_id, text)] if text else [ev.IgnoredMessage("terminal output")]

    def _end_output(self, session_id: str, terminal_id: str) -> list[ev.Event]:
        decoder = self._decoders.pop((session_id, terminal_id), None)
        rest = decoder.decode(b"", final=True) if decoder is not None else ""
        return [ev.TerminalOutput(terminal_id, rest)] if rest else []


def _clearable(source: Mapping[str, Any], name: str) -> str | None:
    """Return the text of a field: empty if it is null, None if it is left out."""
    return None if name not in source else values.line(dict(source), name) or ""


# --------------------------------------------------------------------------- messages


def _message(speaker: ev.Speaker) -> Reader:
    def read(update: dict[str, Any]) -> list[ev.Event] | None:
        message_id = values.raw(update, "messageId")
        if message_id is None:
            return None
        contents = read_blocks(update["content"] or []) if "content" in update else None
        return [ev.MessageReplaced(speaker, message_id, contents)]

    return read


# --------------------------------------------------------------------------- tool calls


def _tool_call_update(update: dict[str, Any]) -> list[ev.Event] | None:
    call_id = values.raw(update, "toolCallId")
    if call_id is None:
        return None
    call = _read_call(update, call_id)
    return [call, *updates.unreadable_content(call.content or ())]


def _content_chunk(update: dict[str, Any]) -> list[ev.Event] | None:
    call_id, content = values.raw(update, "toolCallId"), update.get("content")
    if call_id is None or content is None:
        return None
    added = read_content([content])
    return [
        ev.ToolCallChanged(call_id, announced=True, is_patch=True, added=added),
        *updates.unreadable_content(added),
    ]


def _read_call(source: dict[str, Any], call_id: str, *, asked: bool = False) -> ev.ToolCallChanged:
    call = updates.read_tool_call({**source, "content": None}, call_id, announced=not asked, asked=asked)
    call.is_patch = True
    if not asked:  # a question takes nothing back: what is known of the call is judged as well
        call.cleared = frozenset(
            own for name, own in _PATCHED_FIELDS.items() if name in source and source[name] is None
        )
    if source.get("content") is not None:
        call.content = read_content(values.items(source["content"]))
    if "capabilities" in source:
        cancel = values.obj(source["capabilities"]).get("cancel")
        call.can_cancel = cancel is not None and cancel is not False
    return call


def read_content(items: list[Any]) -> list[ToolContent]:
    """Read the content of a tool call, whose diffs are lists of changes with a git patch."""
    found: list[ToolContent] = []
    for item in items:
        source = values.obj(item)
        is_diff = source.get("type") == "diff" and (
            "changes" in source or isinstance(source.get("patch"), dict)
        )
        found += (_diffs(source) if is_diff else None) or read_tool_content([item]) or []
    return found


def _diffs(source: dict[str, Any]) -> list[ToolContent]:
    """Return a diff for each change. Its text comes from the file's part of the patch, if there is one.

    What the patch changes besides is returned as well, so that nothing is hidden: files that no change names,
    and text in which no files are found.
    """
    given = source.get("patch")
    patch = given if isinstance(given, str) else values.raw(values.obj(given), "text") or ""
    files = patched_files(patch)
    changes = [values.obj(change) for change in values.items(source.get("changes"))]
    by_path = {path: file for file in reversed(files) for name in file.paths for path in _spellings(name)}
    found: list[ToolContent] = []
    for index, change in enumerate(changes):
        path, old_path = values.line(change, "path") or "", values.line(change, "oldPath")
        file = by_path.get(path) or (files[index] if len(files) == len(changes) else None)
        operation = _operation(values.line(change, "operation"), file)
        text = _patch_text(operation, path, old_path, change, file)
        found.append(Diff(path, None, None, patch=text, old_path=old_path, operation=operation))
    named = {values.line(change, name) for change in changes for name in ("path", "oldPath")}
    for file in files:
        for path in [path for path in file.paths if named.isdisjoint(_spellings(path))]:
            text, operation = escape_controls("\n".join(file.lines)), _operation("modify", file)
            found.append(Diff(escape_line(path), None, None, patch=text, operation=operation))
    if patch.strip() and not files:
        found.append(Content("text", escape_controls(patch)))
    return found


def _spellings(name: str) -> tuple[str, ...]:
    """Return the paths that a name in a patch can stand for: its first slash may be missing."""
    path = escape_line(name)
    return (path,) if path.startswith("/") else (path, f"/{path}")


def _operation(stated: str | None, file: PatchedFile | None) -> str:
    """Return what happens to a file: what the agent states, unless its patch deletes or moves the file."""
    if file is not None and stated not in ("delete", "move"):
        if file.operation == "delete":
            return "delete"
        if any(line.startswith("rename ") for line in file.lines):
            return "move"
    return stated or "unknown"


def _patch_text(
    operation: str, path: str, old_path: str | None, change: dict[str, Any], file: PatchedFile | None
) -> str:
    lines = file.lines if file is not None else []
    text = escape_controls("\n".join(lines))
    notes = []
    if operation in ("move", "copy") or old_path is not None:
        word = {"move": "rename", "copy": "copy"}.get(operation, operation)
        pairs = [(f"{word} from ", old_path or "?"), (f"{word} to ", path)]
        if not all(_names(lines, prefix, name) for prefix, name in pairs):
            notes = [f"{prefix}{name}" for prefix, name in pairs]
    elif not lines:
        kind = values.line(change, "fileType") or "file"
        kind = kind if kind == "file" or kind == "directory" else f"{kind} file"
        words = {"add": f"new {kind}", "delete": f"deleted {kind}", "modify": f"changed {kind}"}
        notes = [words.get(operation, f"{operation} {kind}")]
    return "\n".join([*notes, text] if text else notes)


def _names(lines: list[str], prefix: str, path: str) -> bool:
    """Return True if one of the lines consists of the prefix and this path."""
    names = (line.removeprefix(prefix) for line in lines if line.startswith(prefix))
    return any(path in _spellings(name) for name in names)


# --------------------------------------------------------------------------- permission requests


def _permission_events(
    params: dict[str, Any], request_id: RequestId, made_up: str, other_session: str
) -> list[ev.Event]:
    """Return what a permission request is about, as a tool call, and then the request.

    The subject may be a tool call, a command that the agent runs, missing, or of an unknown type. `made_up`
    is the id of the call if the request names none.
    """
    given = params.get("subject")
    if given is None and "toolCall" in params:  # as in version 1
        given = {"type": "tool_call", "toolCall": params["toolCall"]}
    subject = values.obj(given)
    title = values.line(params, "title")
    source = subject.get("toolCall")
    if subject.get("type") == "tool_call" and isinstance(source, dict):
        call = _read_call(source, values.raw(source, "toolCallId") or made_up, asked=True)
    elif subject.get("type") == "command":
        call = _command_call(subject, made_up, title)
    else:
        call = ev.ToolCallChanged(made_up, title=title, asked=True, is_patch=True)
        call.has_raw_input, call.raw_input = given is not None, given
    call.question_title = title
    if description := values.text(params, "description"):
        call.added = [*call.added, Content("text", description, of_request=True)]
    parent = updates.parent_call_id(values.obj(subject.get("toolCall")))
    event: ev.Event = call if parent is None else ev.InSubagent(parent, call)
    return [
        ev.OtherSessionUpdate(other_session, call) if other_session else event,
        *field_faults(request_readers.PERMISSION, params, SHAPES_V2),
        ev.PermissionRequested(
            request_id,
            call.call_id,
            request_readers.read_options(params.get("options")),
            answerable=request_id is not None,
            session_id=other_session,
        ),
    ]


def _command_call(subject: dict[str, Any], made_up: str, title: str | None) -> ev.ToolCallChanged:
    """Return a call for a command that the agent wants to run.

    The command is the call's raw input: it is judged like a command that version 1 reports there.
    """
    named = values.raw(subject, "toolCallId")
    raw_input = {
        name: value
        for name, value in subject.items()
        if name not in ("type", "toolCallId", "terminalId", "_meta") and value is not None
    }
    call = updates.read_tool_call({"kind": "execute", "rawInput": raw_input}, named or made_up, asked=True)
    call.is_patch = True
    if named is None:
        call.title = call.command or title
    if (terminal_id := values.raw(subject, "terminalId")) is not None:
        call.added = [TerminalRef(terminal_id)]
    return call


READERS: dict[str, Callable[[dict[str, Any]], list[ev.Event] | None]] = {
    **{kind: reader for kind, reader in updates.READERS.items() if kind not in _REMOVED_KINDS},
    "user_message": _message("user"),
    "agent_message": _message("agent"),
    "agent_thought": _message("thought"),
    "tool_call_update": _tool_call_update,
    "tool_call_content_chunk": _content_chunk,
}
"""The functions that read updates, by the kind of update. They return None if the update is unreadable."""


# --------------------------------------------------------------------------- what is sent


def initialize_params(info: dict[str, str], capabilities: Mapping[str, Any]) -> dict[str, Any]:
    """Return the params of `initialize`. `capabilities` are the `clientCapabilities` of version 1.

    Files and terminals of the client do not exist in version 2, and notices need no capability.
    """
    own: dict[str, Any] = {}
    if values.obj(capabilities.get("auth")).get("terminal"):
        own["auth"] = {"terminal": {}}
    if elicitation := values.obj(capabilities.get("elicitation")):
        own["elicitation"] = dict(elicitation)
    return {"protocolVersion": VERSION, "info": info, "capabilities": own}


def request(method: str, params: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Translate a request of version 1 to version 2: its method and its params."""
    match method:
        case "authenticate" | "logout":
            return f"auth/{'login' if method == 'authenticate' else 'logout'}", params
        case "session/load":
            return "session/resume", {**_with_servers(params), "replayFrom": {"type": "start"}}
        case "session/new" | "session/resume" | "session/fork":
            return method, _with_servers(params)
        case "session/set_config_option":
            kind = "boolean" if isinstance(params["value"], bool) else "id"
            return method, {**params, "type": kind}
    return method, params


def _with_servers(params: dict[str, Any]) -> dict[str, Any]:
    """Return the params with MCP servers that each have a type."""
    servers = [{"type": "stdio", **server} for server in params.get("mcpServers", ())]
    return {**params, "mcpServers": servers}
