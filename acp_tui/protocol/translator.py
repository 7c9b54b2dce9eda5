"""Translates frames into events.

The translator matches answers to requests, and separates updates of the conversation's own session ("ours")
from those of other sessions on the same connection.

Never raises: input that cannot be understood also becomes an event.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from acp_tui.protocol import client_records, draft, request_readers, v2, values
from acp_tui.protocol.client_calls import (
    OPENING_METHODS,
    call_events,
    initialize_events,
    opening_events,
    result_events,
)
from acp_tui.protocol.draft import V1
from acp_tui.protocol.error_reader import read_error
from acp_tui.protocol.field_faults import field_faults
from acp_tui.protocol.json_rpc import is_id, line_fault, own_id
from acp_tui.protocol.token_usage import read_metrics
from acp_tui.protocol.updates import is_known_notification, parent_call_id, similar_name
from acp_tui.protocol.v2 import V2
from acp_tui.session import events as ev
from acp_tui.session.record import REQUEST_CANCELLED, Change, Record
from acp_tui.session.reduce import reduce
from acp_tui.session.safe_text import escape_line, visible_excerpt
from acp_tui.session.state import RequestId, Session

if TYPE_CHECKING:
    from acp_tui.session.events import Event

    Pending = dict[RequestId, tuple[str, dict[str, Any]]]


_CONTINUED_IN_VERSION_1 = "The agent does not speak version 2 of the protocol; going on in version 1"
MAX_NOISE_CHARACTERS = 500
"""The number of characters shown of an output line that is not JSON. The log has the whole line."""


class Translator:
    """Translates the records of one conversation, in the order in which they were sent and received."""

    def __init__(self) -> None:
        self._dialect: V1 = V1()
        self._session_id: str | None = None  # our session; None while unknown: all updates count as ours
        self._opening: str | None = None  # the method of an unanswered request to open a session
        self._session_before: str | None = None  # our session when that request was sent
        self._calls: Pending = {}  # our unanswered requests
        self._abandoned: set[RequestId] = set()  # the ids of our requests that we cancelled
        self._last_call = -1
        self._requests: Pending = {}  # the agent's unanswered requests
        self._mark: ev.WrittenByHand | None = None  # announces the next message as written by the user
        self._by_hand: dict[RequestId, bool] = {}  # the user's requests; whether they count, see `_counts`
        self._is_initialized = False
        self._made_up = 0

    def translate(self, record: Record) -> list[ev.Event]:
        """Return the events for one record."""
        frame = record.frame
        if record.direction == "received":
            if type(frame) is dict:
                if frame.get("method") == "session/update" and "id" not in frame:
                    return self._update(frame.get("params"))
                return self._received(frame)
            if type(frame) is list and frame and self._dialect.has_batches:
                return [event for item in frame for event in self._from_batch(record, item)]
            return _not_an_object(frame)
        if record.direction == "sent":
            frames = frame if isinstance(frame, list) else [frame]
            return [event for item in frames if isinstance(item, dict) for event in self._sent(item)]
        return self._client(frame)

    def _from_batch(self, record: Record, item: Any) -> list[ev.Event]:
        """Translate one message of a batch. Batches do not contain batches."""
        if type(item) is dict:
            return self.translate(replace(record, frame=item))
        return [ev.ProtocolFault("The agent sent a batch with an item that is not an object", item)]

    # ----------------------------------------------------------------------- received

    def _update(self, params: Any) -> list[ev.Event]:
        """Translate `session/update`, by far the most frequent kind of frame."""
        if type(params) is not dict:
            return [ev.Unknown("a session update without params", params)]
        update = params.get("update")
        if type(update) is not dict:
            if "sessionUpdate" not in params:
                return [ev.Unknown("a session update without `update`", params)]
            update = params  # some draft agents omit the `update` object
        session_id = params.get("sessionId")
        if not isinstance(session_id, str):
            session_id = self._session_id or ""
        # Updates of a session that is being created may precede its id.
        is_being_created = self._opening in ("session/new", "session/fork")
        is_own = is_being_created or self._session_id is None or session_id == self._session_id
        events = self._dialect.read_update(update, session_id, is_own=is_own)
        if "_meta" in params and (metrics := read_metrics(params["_meta"])) is not None:
            events = [*events, metrics]
        if ("_meta" in update or "parentToolCallId" in update) and (parent := parent_call_id(update)):
            events = [ev.InSubagent(parent, event) for event in events]
        return events if is_own else [ev.OtherSessionUpdate(session_id, event) for event in events]

    def _received(self, frame: dict[str, Any]) -> list[ev.Event]:
        method = frame.get("method")
        if method is None:
            return self._answer(frame)
        if not isinstance(method, str):
            return [ev.ProtocolFault("A message whose method is not a string", frame)]
        raw = frame.get("params")
        params = values.obj(raw)
        request_id = frame.get("id")
        if request_id is None:
            return self._received_notification(method, params, raw)
        if not is_id(request_id):
            return [
                ev.ProtocolFault(
                    f"A request ({escape_line(method)}) whose id is neither a string nor a number", frame
                )
            ]
        is_duplicate = request_id in self._requests
        self._requests.setdefault(request_id, (method, params))
        if method == "session/update":
            return [
                ev.ProtocolFault("session/update was sent as a request; it must be a notification", None),
                *self._update(raw),
            ]
        if is_duplicate:  # an answer would be taken for that of the first request
            text = f"A request ({escape_line(method)}) reuses the id of a pending request"
            return [ev.ProtocolFault(f"{text}; this second request is not answered", frame)]
        if raw is not None and not isinstance(raw, dict):
            self._requests[request_id] = ("", {})  # the error with which it is answered says no more
            return [
                ev.ProtocolFault(f"A request ({escape_line(method)}) whose params are not an object", frame)
            ]
        session_id = params.get("sessionId")
        is_other = self._session_id is not None and session_id != self._session_id
        other = session_id if is_other and isinstance(session_id, str) else ""
        scope = params.get("requestId")
        for_method, _ = self._calls.get(scope, ("", {})) if is_id(scope) else ("", {})
        if method == request_readers.PERMISSION:
            return self._dialect.permission_events(
                params, request_id, self._new_call_id(), other_session=other
            )
        return request_readers.request_events(method, params, request_id, other, for_method)

    def _received_notification(self, method: str, params: dict[str, Any], raw: Any) -> list[ev.Event]:
        match method:
            case "session/update":
                return self._update(raw)
            case "$/cancel_request":
                return self._withdraw_request(params)
            case "elicitation/complete":
                elicitation_id = values.raw(params, "elicitationId") or ""
                return [ev.ElicitationCompleted(elicitation_id)]
            case "_session/retrying":
                return [ev.Retrying(values.line(params, "detail", "message", "reason") or "")]
            case request_readers.PERMISSION:
                return [
                    ev.ProtocolFault("A permission request has no id, so it cannot be answered"),
                    *self._dialect.permission_events(params, None, self._new_call_id()),
                ]
            case "end_turn":
                return self._dialect.end_turn(params)
        if is_known_notification(method):
            return [ev.IgnoredMessage(f"the notification {escape_line(method)}")]
        meant = similar_name(method, ["session/update"])
        return [ev.Unknown(f"notification {visible_excerpt(method, 80)}{meant}", raw)]

    def _new_call_id(self) -> str:
        self._made_up += 1
        return f"unnamed-{self._made_up}"

    def _withdraw_request(self, params: dict[str, Any]) -> list[ev.Event]:
        request_id = params.get("requestId")
        if is_id(request_id) and request_id in self._requests:
            return [ev.RequestWithdrawn(request_id)]
        return [ev.IgnoredMessage("a late cancellation of a request")]

    def _answer(self, frame: dict[str, Any]) -> list[ev.Event]:
        """Translate the agent's answer to a request that acp-tui sent."""
        if "id" not in frame:
            return [ev.ProtocolFault("A message that is not a request, notification or response", frame)]
        call_id = own_id(frame["id"], self._calls)
        failed = frame.get("error") is not None
        if call_id is None and failed:
            return [ev.ProtocolFault(f"The agent reported: {read_error(frame['error']).message}", frame)]
        pending = self._calls.pop(call_id, None) if is_id(call_id) else None
        if pending is None:
            return [self._unexpected_answer(call_id, frame)]
        method, params = pending
        if call_id in self._by_hand:
            return self._answer_to_user(call_id, method, params, frame)
        return self._call_answered(call_id, method, params, frame)

    def _answer_to_user(
        self, call_id: RequestId, method: str, params: dict[str, Any], frame: dict[str, Any]
    ) -> list[ev.Event]:
        """Translate the answer to a request that the user wrote.

        An error is shown with the request, and also elsewhere if it ends a turn or the opening of a session.
        """
        counts = self._by_hand.pop(call_id)
        error = read_error(frame["error"]) if frame.get("error") is not None else None
        answered = ev.HandMessageAnswered(call_id, frame.get("result"), error)
        if error is not None:
            counts = counts and (method == "session/prompt" or method in OPENING_METHODS)
        return [answered, *(self._call_answered(call_id, method, params, frame) if counts else ())]

    def _call_answered(
        self, call_id: RequestId, method: str, params: dict[str, Any], frame: dict[str, Any]
    ) -> list[ev.Event]:
        if frame.get("error") is not None:
            if call_id in self._abandoned:
                return [ev.IgnoredMessage(f"the answer to {method}")]
            return self._call_failed(method, params, frame["error"])
        result = frame.get("result")
        if method == "session/prompt":
            return self._dialect.prompt_answered(result)
        if method in OPENING_METHODS:
            return self._opened(method, params, result)
        if method in ("session/close", "session/delete"):
            ours = values.raw(params, "sessionId") == self._session_id
            return [
                ev.SessionClosed(method == "session/delete")
                if ours
                else ev.IgnoredMessage(f"the answer to {method}")
            ]
        if method == "initialize":
            return self._initialized(params, values.obj(result))
        return result_events(method, params, result)

    def _unexpected_answer(self, call_id: Any, frame: dict[str, Any]) -> ev.ProtocolFault:
        named = visible_excerpt(call_id, 80)
        if is_id(call_id) and isinstance(call_id, int) and 0 <= call_id <= self._last_call:
            return ev.ProtocolFault(f"The agent answered request {named} more than once", frame)
        return ev.ProtocolFault(f"The agent answered a request that was not sent (id {named})", frame)

    def _opened(self, method: str, params: dict[str, Any], result: Any) -> list[ev.Event]:
        self._opening = None
        events = opening_events(method, params, result)
        for event in events:
            if isinstance(event, ev.SessionOpened):
                self._session_id = event.session_id
        return [*events, *field_faults(method, values.obj(result), self._dialect.shapes)]

    def _call_failed(self, method: str, params: dict[str, Any], raw: Any) -> list[ev.Event]:
        error = read_error(raw)
        if method == "session/prompt":
            return [*self._dialect.prompt_refused(), ev.TurnFailed(error)]
        if method == self._opening:
            self._opening, self._session_id = None, self._session_before
        if method == "initialize" and params.get("protocolVersion") == v2.VERSION:
            return [ev.Noticed("info", _CONTINUED_IN_VERSION_1, error.message)]
        if method == "initialize" and params.get("protocolVersion") == 1 and draft.wants_draft(error):
            text = f"The agent does not support version 1 of the protocol; trying draft {draft.VERSION}"
            return [ev.Noticed("info", text, error.message)]
        return [ev.CallFailed(method, error)]

    def _initialized(self, params: dict[str, Any], result: dict[str, Any]) -> list[ev.Event]:
        """Translate the answer to `initialize`, and choose the dialect by the protocol version in the answer.

        If the answer contains no version, the requested version counts.
        """
        self._is_initialized = True
        version = values.first(result, "protocolVersion")
        if version is None:
            version = params.get("protocolVersion")
        if draft.is_draft(version):
            self._dialect = draft.Draft()
        else:
            self._dialect = V2() if v2.is_version_2(result) else V1()
        faults = field_faults("initialize", result, self._dialect.shapes)
        events = [*initialize_events(result, self._dialect.name), *faults]
        if params.get("protocolVersion") == v2.VERSION and self._dialect.name != "v2":
            events.append(ev.Noticed("info", _CONTINUED_IN_VERSION_1))
        return events

    # ----------------------------------------------------------------------- sent

    def _sent(self, frame: dict[str, Any]) -> list[ev.Event]:
        method = frame.get("method")
        frame_id = frame.get("id")
        if not isinstance(method, str):
            return self._answered(frame_id, frame)
        params = values.obj(frame.get("params"))
        mark, self._mark = self._mark, None
        if mark is not None and mark.method == method and mark.request_id == frame_id:
            return self._sent_by_user(mark, params, frame)
        return self._sent_message(frame_id, method, params)

    def _sent_by_user(
        self, mark: ev.WrittenByHand, params: dict[str, Any], frame: dict[str, Any]
    ) -> list[ev.Event]:
        """Translate a message that the user wrote."""
        method, call_id = mark.method, mark.request_id
        sent = ev.HandMessageSent(method, frame.get("params"), call_id, mark.faults)
        counts = method == "$/cancel_request" or self._counts(method, params)
        if call_id is not None:
            self._by_hand[call_id] = counts
        if counts:
            return [sent, *self._sent_message(call_id, method, params)]
        if call_id is not None:
            self._note_call(call_id, method, params)
        return [sent]

    def _counts(self, method: str, params: dict[str, Any]) -> bool:
        """Return whether a message that the user wrote changes the state of the conversation.

        Messages about other sessions do not, nor does a second handshake, nor a reload during a turn.
        """
        if method in ("authenticate", "logout"):
            return True
        if method == "initialize":
            return not self._is_initialized
        is_ours = self._session_id is not None and params.get("sessionId") == self._session_id
        if method in OPENING_METHODS:
            is_prompting = any(pending == "session/prompt" for pending, _ in self._calls.values())
            is_reload = is_ours and method in ("session/load", "session/resume") and not is_prompting
            return self._opening is None and (self._session_id is None or is_reload)
        return is_ours

    def _sent_message(self, frame_id: Any, method: str, params: dict[str, Any]) -> list[ev.Event]:
        if not is_id(frame_id):
            return self._sent_notification(method, params)
        self._note_call(frame_id, method, params)
        if method in OPENING_METHODS:
            self._opening, self._session_before = method, self._session_id
            if method in ("session/load", "session/resume"):
                self._session_id = values.raw(params, "sessionId")
        elif method == "session/prompt":
            self._session_id = values.raw(params, "sessionId") or self._session_id
        return call_events(method, params)

    def _note_call(self, frame_id: RequestId, method: str, params: dict[str, Any]) -> None:
        self._calls[frame_id] = (method, params)
        if isinstance(frame_id, int):
            self._last_call = max(self._last_call, frame_id)

    def _sent_notification(self, method: str, params: dict[str, Any]) -> list[ev.Event]:
        """Translate a notification that acp-tui sent."""
        if method == "session/cancel":
            session_id = values.raw(params, "sessionId")
            if session_id is None or session_id == self._session_id:
                return [ev.CancelSent()]
            return [ev.OtherSessionUpdate(session_id, ev.CancelSent())]  # of a subagent
        if method == "$/cancel_request":
            return self._cancelled(params.get("requestId"))
        return []

    def _cancelled(self, call_id: Any) -> list[ev.Event]:
        """Translate a frame with which acp-tui cancels one of its own requests.

        If a result arrives nevertheless, it is used. A cancelled prompt continues until it is answered.
        """
        method, params = self._calls.get(call_id, ("", {})) if is_id(call_id) else ("", {})
        if not method:
            return []
        by_hand = [ev.HandMessageCancelled(call_id)] if call_id in self._by_hand else []
        if method == "session/prompt" or not self._by_hand.get(call_id, True):
            return [*by_hand]
        self._abandoned.add(call_id)
        failed = self._call_failed(
            method, params, {"code": REQUEST_CANCELLED, "message": "Request cancelled"}
        )
        return [*by_hand, *failed]

    def _answered(self, request_id: Any, frame: dict[str, Any]) -> list[ev.Event]:
        """Translate acp-tui's answer to a request of the agent."""
        pending = self._requests.pop(request_id, None) if is_id(request_id) else None
        if pending is None:
            return []
        method, params = pending
        error = read_error(frame["error"]) if frame.get("error") is not None else None
        return request_readers.answer_events(
            method, request_readers.ClientAnswer(request_id, params, values.obj(frame.get("result")), error)
        )

    # ----------------------------------------------------------------------- the client itself

    def _client(self, frame: Any) -> list[ev.Event]:
        event = client_records.from_record(frame)
        if isinstance(event, ev.WrittenByHand):
            self._mark = event
        elif isinstance(event, (ev.AgentStarted, ev.AgentExited)):
            # Requests to and from the old process will never be answered.
            self._calls.clear()
            self._abandoned.clear()
            self._requests.clear()
            self._by_hand.clear()
            self._mark, self._is_initialized = None, False
            self._opening, self._session_id, self._last_call = None, None, -1
            self._dialect = V1()
        return [event]


def _not_an_object(frame: Any) -> list[ev.Event]:
    """Return the events for a received line that is not a JSON object."""
    if isinstance(frame, str):
        line = escape_line(frame[:MAX_NOISE_CHARACTERS].strip())
        fault = line_fault(frame)
        faults = [ev.ProtocolFault(f"The agent's {fault}")] if fault is not None else []
        return [ev.Noise(line), *faults] if line else []
    kind = "a JSON array" if isinstance(frame, list) else "JSON that is not an object"
    return [ev.ProtocolFault(f"The agent sent {kind}", frame)]


class Fold:
    """The state of one conversation, updated record by record."""

    def __init__(self) -> None:
        self.session = Session()
        self.events: list[Event] = []
        """The events of the record that was applied last."""
        self._translator = Translator()

    def apply(self, record: Record) -> list[Change]:
        """Apply a record and return the changes to `session`."""
        changes: list[Change] = []
        self.events = self._translator.translate(record)
        for event in self.events:
            changes += reduce(self.session, event, record.at)
        return changes


def fold(records: Iterable[Record]) -> Session:
    """Return the session that results from these records."""
    state = Fold()
    for record in records:
        state.apply(record)
    return state.session
