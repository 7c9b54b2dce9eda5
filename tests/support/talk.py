"""Plays client and agent frame by frame and folds the records into a session."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

from hypothesis import settings

from acp_tui.protocol.client_records import to_record
from acp_tui.protocol.translator import Fold
from acp_tui.session.record import Record
from acp_tui.session.state import Entry

if TYPE_CHECKING:
    from acp_tui.session.events import Event
    from acp_tui.session.record import Change, Direction
    from acp_tui.session.state import Session

AnyEntry = TypeVar("AnyEntry", bound=Entry)

# Every run uses the same examples, so that a failure in CI can be reproduced.
properties = settings(derandomize=True, database=None, max_examples=60)


class Talk:
    """A conversation of frames. Each record is one second after the previous one."""

    def __init__(self) -> None:
        self.fold = Fold()
        self.records: list[Record] = []
        self.changes: list[Change] = []
        self._ids = 0

    @property
    def session(self) -> Session:
        """The current state."""
        return self.fold.session

    @property
    def now(self) -> float:
        """The time of the last record."""
        return self.records[-1].at

    def record(self, direction: Direction, frame: Any) -> list[Change]:
        """Add a record and return the changes."""
        record = Record(float(len(self.records) + 1), direction, frame)
        self.records.append(record)
        self.changes = self.fold.apply(record)
        return self.changes

    # ------------------------------------------------------------------- the client

    def client(self, event: Event) -> None:
        """Add a client event."""
        self.record("client", json.loads(json.dumps(to_record(event))))

    def call(self, method: str, params: dict[str, Any] | None = None) -> int:
        """Send a request to the agent and return its id."""
        self._ids += 1
        self.record("sent", {"jsonrpc": "2.0", "id": self._ids, "method": method, "params": params or {}})
        return self._ids

    def ask(self, method: str, params: dict[str, Any] | None = None, result: Any = None) -> None:
        """Send a request to the agent and receive the answer."""
        self.answer(self.call(method, params), result)

    def reply(self, request_id: Any, result: Any) -> None:
        """Answer a request of the agent."""
        self.record("sent", {"jsonrpc": "2.0", "id": request_id, "result": result})

    def prompt(self, *texts: str) -> int:
        """Send a prompt and return the id of the request."""
        blocks = [{"type": "text", "text": text} for text in texts or ("hello",)]
        return self.call("session/prompt", {"sessionId": "s1", "prompt": blocks})

    def cancel(self) -> None:
        """Cancel the turn."""
        self.record("sent", {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "s1"}})

    def opened(self, result: dict[str, Any] | None = None, **initialize: Any) -> Talk:
        """Initialize the agent and open a session."""
        self.ask("initialize", {"protocolVersion": 1}, {"protocolVersion": 1, **initialize})
        self.ask("session/new", {"cwd": "/w", "mcpServers": []}, {"sessionId": "s1", **(result or {})})
        return self

    # ------------------------------------------------------------------- the agent

    def answer(self, call_id: Any, result: Any) -> None:
        """Receive an answer to a request."""
        self.received({"id": call_id, "result": result})

    def fail(self, call_id: Any, error: Any) -> None:
        """Receive an error as the answer to a request."""
        self.received({"id": call_id, "error": error})

    def end(self, call_id: int, reason: str = "end_turn", **more: Any) -> None:
        """Receive the end of the turn."""
        self.answer(call_id, {"stopReason": reason, **more})

    def received(self, frame: Any) -> None:
        """Receive a line from the agent."""
        self.record("received", {"jsonrpc": "2.0", **frame} if isinstance(frame, dict) else frame)

    def update(self, kind: str, /, *, session_id: str = "s1", **update: Any) -> None:
        """Receive a session update."""
        params = {"sessionId": session_id, "update": {"sessionUpdate": kind, **update}}
        self.received({"method": "session/update", "params": params})

    def says(self, text: str, **update: Any) -> None:
        """Receive a chunk of the agent's message."""
        self.update("agent_message_chunk", content={"type": "text", "text": text}, **update)

    def thinks(self, text: str, **update: Any) -> None:
        """Receive a chunk of a thought."""
        self.update("agent_thought_chunk", content={"type": "text", "text": text}, **update)

    def echoes(self, text: str, **update: Any) -> None:
        """Receive a chunk of a user message."""
        self.update("user_message_chunk", content={"type": "text", "text": text}, **update)

    def tool(self, call_id: str, **update: Any) -> None:
        """Receive a new tool call."""
        self.update("tool_call", toolCallId=call_id, **{"title": call_id, **update})

    def tool_update(self, call_id: str, **update: Any) -> None:
        """Receive an update of a tool call."""
        self.update("tool_call_update", toolCallId=call_id, **update)

    def asks_permission(self, request_id: Any = "p1", **params: Any) -> None:
        """Receive a permission request."""
        options = [
            {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
            {"optionId": "no", "name": "No", "kind": "reject_once"},
        ]
        frame = {
            "method": "session/request_permission",
            "params": {"sessionId": "s1", "options": options, **params},
        }
        self.received(frame if request_id is None else {"id": request_id, **frame})

    # ------------------------------------------------------------------- entries

    def all(self, kind: type[AnyEntry]) -> list[AnyEntry]:
        """Return all entries of a kind, in order."""
        return [entry for entry in self.session.entries if isinstance(entry, kind)]

    def only(self, kind: type[AnyEntry]) -> AnyEntry:
        """Return the only entry of a kind."""
        (entry,) = self.all(kind)
        return entry

    def kinds(self) -> list[str]:
        """Return the kinds of all entries, in order."""
        return [type(entry).__name__ for entry in self.session.entries]
