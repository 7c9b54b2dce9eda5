"""The base of the fake agents: JSON-RPC on the standard streams, without the SDK.

It can also send invalid frames and lines that are not JSON.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    Handler = Callable[["ScriptedAgent", dict[str, Any]], None]

SESSION = "session-1"


class ScriptedAgent:
    """Answers requests with `handlers`, which by default follow the protocol."""

    def __init__(self) -> None:
        self.capabilities: dict[str, Any] = {}
        self.version: Any = 1
        self.meta: dict[str, Any] = {}
        self.auth_methods: list[dict[str, Any]] = []
        self.handlers: dict[str, Handler] = {
            "initialize": ScriptedAgent.initialized,
            "session/new": lambda agent, request: agent.answer(request, {"sessionId": SESSION}),
            "session/prompt": lambda agent, request: agent.end_turn(request),
        }
        self._asked = 0
        self._answers: dict[Any, dict[str, Any]] = {}

    # ----------------------------------------------------------------- sending

    def raw(self, text: str) -> None:
        """Write any text to stdout."""
        sys.stdout.write(text)
        sys.stdout.flush()

    def send(self, *frames: Any) -> None:
        """Send frames in one write."""
        self.raw("".join(json.dumps(frame) + "\n" for frame in frames))

    def answer(self, request: dict[str, Any], result: Any) -> None:
        """Answer a request with a result."""
        self.send({"jsonrpc": "2.0", "id": request["id"], "result": result})

    def fail(self, request: dict[str, Any], error: Any) -> None:
        """Answer a request with an error of any shape."""
        self.send({"jsonrpc": "2.0", "id": request["id"], "error": error})

    def end_turn(self, request: dict[str, Any], stop_reason: str = "end_turn") -> None:
        """Answer a prompt, which ends the turn."""
        self.answer(request, {"stopReason": stop_reason})

    def say(self, text: str, session: str = SESSION) -> None:
        """Send a chunk of a message."""
        self.send(chunk(text, session))

    def say_json(self, value: Any) -> None:
        """Send a value to the test, as JSON in a message."""
        self.say(json.dumps(value))

    def write_stderr(self, *lines: str) -> None:
        """Write lines to stderr."""
        for line in lines:
            print(line, file=sys.stderr, flush=True)

    def initialized(self, request: dict[str, Any]) -> None:
        """Answer `initialize`."""
        self.answer(
            request,
            {
                "protocolVersion": self.version,
                "agentInfo": {"name": "scripted", "version": "1"},
                "agentCapabilities": self.capabilities,
                "authMethods": self.auth_methods,
                "_meta": self.meta,
            },
        )

    # ----------------------------------------------------------------- receiving

    def receive(self) -> dict[str, Any] | None:
        """Return the next frame; None if the client has closed stdin."""
        line = sys.stdin.readline()
        if not line:
            return None
        frame: dict[str, Any] = json.loads(line)
        return frame

    def ask(self, method: str, params: Any, request_id: Any = None) -> dict[str, Any]:
        """Send a request and wait for its answer, handling other frames meanwhile."""
        self._asked += 1
        request_id = f"agent-{self._asked}" if request_id is None else request_id
        self.send(request_frame(method, params, request_id))
        return self.answer_to(request_id)

    def answer_to(self, request_id: Any) -> dict[str, Any]:
        """Wait for the answer to a request sent before."""
        while request_id not in self._answers:
            frame = self.receive()
            if frame is None:
                sys.exit(0)
            self.handle(frame)
        return self._answers.pop(request_id)

    def handle(self, frame: dict[str, Any]) -> None:
        """Handle a frame from the client."""
        if "method" not in frame:
            self._answers[frame["id"]] = frame
            return
        handler = self.handlers.get(frame["method"])
        if handler is not None:
            handler(self, frame)
        elif "id" in frame:
            self.fail(frame, {"code": -32601, "message": "Method not found"})

    def run(self) -> None:
        """Handle frames until the client closes stdin."""
        while (frame := self.receive()) is not None:
            self.handle(frame)


def chunk(text: str, session: str = SESSION) -> dict[str, Any]:
    """Return an `agent_message_chunk`."""
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    return {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": update}}


def request_frame(method: str, params: Any, request_id: Any) -> dict[str, Any]:
    """Return a request of the agent."""
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def cancel_frame(request_id: Any) -> dict[str, Any]:
    """Return the cancellation of a request."""
    return {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": request_id}}
