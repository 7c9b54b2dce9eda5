"""A conversation written frame by frame, folded as it goes: what most tests of the session drive."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

from hypothesis import settings

from acp_tui.protocol.client_records import to_record
from acp_tui.protocol.fold import Fold
from acp_tui.session.record import Record
from acp_tui.session.state import Entry

if TYPE_CHECKING:
    from acp_tui.session.change import Change
    from acp_tui.session.events import Event
    from acp_tui.session.record import Direction
    from acp_tui.session.state import Session

AnyEntry = TypeVar("AnyEntry", bound=Entry)

# The same examples in every run: a failure in CI is a failure at home.
properties = settings(deadline=None, derandomize=True, database=None, max_examples=60)


class Talk:
    """Plays client and agent; `session` is what came of it. Every record is one second after the last."""

    def __init__(self) -> None:
        self.fold = Fold()
        self.records: list[Record] = []
        self.changes: list[Change] = []
        self._ids = 0

    @property
    def session(self) -> Session:
        """The state so far."""
        return self.fold.session

    @property
    def now(self) -> float:
        """The time of the last record."""
        return self.records[-1].at

    def record(self, direction: Direction, frame: Any) -> list[Change]:
        """Take in one record."""
        record = Record(float(len(self.records) + 1), direction, frame)
        self.records.append(record)
        self.changes = self.fold.apply(record)
        return self.changes

    # ------------------------------------------------------------------- the client

    def client(self, event: Event) -> None:
        """The client did this itself."""
        self.record("client", json.loads(json.dumps(to_record(event))))

    def call(self, method: str, params: dict[str, Any] | None = None) -> int:
        """The client asks; returns the request's id."""
        self._ids += 1
        self.record("sent", {"jsonrpc": "2.0", "id": self._ids, "method": method, "params": params or {}})
        return self._ids

    def ask(self, method: str, params: dict[str, Any] | None = None, result: Any = None) -> None:
        """The client asks and the agent answers."""
        self.answer(self.call(method, params), result)

    def reply(self, request_id: Any, result: Any) -> None:
        """The client answers a request of the agent."""
        self.record("sent", {"jsonrpc": "2.0", "id": request_id, "result": result})

    def prompt(self, *texts: str) -> int:
        """The client sends a prompt; returns the request's id."""
        blocks = [{"type": "text", "text": text} for text in texts or ("hello",)]
        return self.call("session/prompt", {"sessionId": "s1", "prompt": blocks})

    def cancel(self) -> None:
        """The client cancels the turn."""
        self.record("sent", {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "s1"}})

    def opened(self, result: dict[str, Any] | None = None, **initialize: Any) -> Talk:
        """Handshake and a new session."""
        self.ask("initialize", {"protocolVersion": 1}, {"protocolVersion": 1, **initialize})
        self.ask("session/new", {"cwd": "/w", "mcpServers": []}, {"sessionId": "s1", **(result or {})})
        return self

    # ------------------------------------------------------------------- the agent

    def answer(self, call_id: Any, result: Any) -> None:
        """The agent answers a request of the client."""
        self.received({"id": call_id, "result": result})

    def fail(self, call_id: Any, error: Any) -> None:
        """The agent answers with an error."""
        self.received({"id": call_id, "error": error})

    def end(self, call_id: int, reason: str = "end_turn", **more: Any) -> None:
        """The agent ends the turn."""
        self.answer(call_id, {"stopReason": reason, **more})

    def received(self, frame: Any) -> None:
        """A line from the agent."""
        self.record("received", {"jsonrpc": "2.0", **frame} if isinstance(frame, dict) else frame)

    def update(self, kind: str, /, *, session_id: str = "s1", **update: Any) -> None:
        """A session update."""
        params = {"sessionId": session_id, "update": {"sessionUpdate": kind, **update}}
        self.received({"method": "session/update", "params": params})

    def says(self, text: str, **update: Any) -> None:
        """A piece of the agent's message."""
        self.update("agent_message_chunk", content={"type": "text", "text": text}, **update)

    def thinks(self, text: str, **update: Any) -> None:
        """A piece of a thought."""
        self.update("agent_thought_chunk", content={"type": "text", "text": text}, **update)

    def echoes(self, text: str, **update: Any) -> None:
        """A piece of a user message."""
        self.update("user_message_chunk", content={"type": "text", "text": text}, **update)

    def tool(self, call_id: str, **update: Any) -> None:
        """A tool call is announced."""
        self.update("tool_call", toolCallId=call_id, **{"title": call_id, **update})

    def tool_update(self, call_id: str, **update: Any) -> None:
        """… and changes."""
        self.update("tool_call_update", toolCallId=call_id, **update)

    def asks_permission(self, request_id: Any = "p1", **params: Any) -> None:
        """The agent asks for permission."""
        options = [
            {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
            {"optionId": "no", "name": "No", "kind": "reject_once"},
        ]
        frame = {
            "method": "session/request_permission",
            "params": {"sessionId": "s1", "options": options, **params},
        }
        self.received(frame if request_id is None else {"id": request_id, **frame})

    # ------------------------------------------------------------------- looking

    def all(self, kind: type[AnyEntry]) -> list[AnyEntry]:
        """All entries of a kind, in order."""
        return [entry for entry in self.session.entries if isinstance(entry, kind)]

    def only(self, kind: type[AnyEntry]) -> AnyEntry:
        """The one entry of a kind."""
        (entry,) = self.all(kind)
        return entry

    def kinds(self) -> list[str]:
        """The kinds of all entries, in order."""
        return [type(entry).__name__ for entry in self.session.entries]
