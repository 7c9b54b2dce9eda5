"""Sends the messages of a file to an agent, and prints what the agent sends: `acp-tui exec --frames FILE`."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from acp_tui.cli.exec_run import as_json
from acp_tui.cli.headless import HeadlessRun
from acp_tui.cli.options import CANCELLED, FAILED, OK, OTHER_STOP
from acp_tui.connection.errors import ConnectionFault, RequestFailed
from acp_tui.connection.pending_requests import CANCELLED_RESULTS
from acp_tui.console import content_stream, print_message
from acp_tui.errors import UsageError, UserError
from acp_tui.protocol.client_calls import OPENING_METHODS
from acp_tui.protocol.json_rpc import is_id, own_id
from acp_tui.session.events import AgentExited, Noticed
from acp_tui.session.record import REQUEST_CANCELLED
from acp_tui.session.reduce.lifecycle import exit_sentence
from acp_tui.session.safe_text import escape_line, visible_excerpt
from acp_tui.wire.client_methods import SESSION, fault_sentence, method_named, params_faults, with_session
from acp_tui.wire.message_text import decode_json
from acp_tui.wire.schema_check import VERSIONS

if TYPE_CHECKING:
    import argparse

    from acp_tui.session.events import Event
    from acp_tui.session.record import Change, Record

MAX_EXCERPT = 60
"""The maximum number of characters of a line that an error shows."""


@dataclass(frozen=True, slots=True)
class FrameStep:
    """A line of the file."""

    line: int  # counted from 1
    kind: Literal["request", "notification", "answer", "wait"]
    method: str = ""  # empty for an answer
    frame: Any = None


def read_steps(name: str) -> list[FrameStep]:
    """Read a file of messages; `-` stands for stdin. Raises `UsageError` with the line of a mistake."""
    try:
        text = sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"Cannot read {name}: {error.strerror}.") from None
    except UnicodeError:
        raise UsageError(f"{name} is not valid UTF-8.") from None
    shown = "stdin" if name == "-" else name
    steps = [
        _step(line, number, f"{shown}:{number}")
        for number, line in enumerate(text.split("\n"), 1)  # a string in JSON may contain U+2028
        if line.strip()
    ]
    if not steps:
        raise UsageError(f"{shown} contains no messages.")
    ids: dict[Any, int] = {}
    for step in steps:
        if step.kind == "request" and (first := ids.setdefault(step.frame["id"], step.line)) != step.line:
            raise UsageError(f"{shown}:{step.line}: the id is that of line {first}.")
    return steps


def _step(line: str, number: int, place: str) -> FrameStep:
    try:
        frame = decode_json(line)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{place}: not JSON: {error}.") from None
    if not isinstance(frame, dict):
        raise UsageError(f"{place}: not an object: {visible_excerpt(frame, MAX_EXCERPT)}")
    if "wait" in frame:
        if set(frame) != {"wait"} or not isinstance(frame["wait"], str):
            raise UsageError(f'{place}: expected {{"wait": METHOD}}.')
        return FrameStep(number, "wait", frame["wait"])
    if "method" not in frame:
        if ("result" in frame) == ("error" in frame) or not isinstance(frame.get("error", {}), dict):
            raise UsageError(f"{place}: expected a method, a result, an error object, or wait.")
        return FrameStep(number, "answer", frame=frame)
    if not isinstance(frame["method"], str):
        raise UsageError(f"{place}: the method is not a string.")
    if "id" not in frame:
        return FrameStep(number, "notification", frame["method"], frame)
    if not is_id(frame["id"]):
        raise UsageError(f"{place}: an id is a string or a whole number.")
    return FrameStep(number, "request", frame["method"], frame)


async def execute_frames(args: argparse.Namespace, agent: str | None) -> int:
    """Send the messages of the file and return the exit code."""
    steps = read_steps(args.frames)
    headless = HeadlessRun(args, agent)
    run = FrameRun(headless, steps)
    try:
        await headless.run(run.run())
        if headless.failure is not None and headless.stopped_by is None:
            print_message(headless.failure, headless.stderr_tail)
    finally:
        await headless.close()
    if headless.stopped_by is not None:
        return CANCELLED if headless.stopped_by == signal.SIGINT else 128 + headless.stopped_by
    if headless.failure is not None:
        return FAILED
    return OTHER_STOP if run.errors else OK


class FrameRun:
    """Goes through the steps. `self._next` is the one that is carried out now."""

    def __init__(self, headless: HeadlessRun, steps: Sequence[FrameStep]) -> None:
        self._headless = headless
        self._conversation = headless.conversation
        self._steps = steps
        self._next = 0
        self._stream = content_stream()
        self._changed = asyncio.Event()
        self._is_printing = False
        self._heard: Counter[str] = Counter()  # how many messages of each method the agent has sent
        self._awaited: Counter[str] = Counter()  # how many of them the steps so far have waited for
        # The requests of the file, by the ids that acp-tui gave them.
        self._sent: dict[int | str, FrameStep] = {}
        self._answered: set[int] = set()  # the lines of those that are answered
        self._calls: list[asyncio.Task[Any]] = []
        self._held: list[dict[str, Any]] = []  # requests of the agent that the file answers
        self._session_id: str | None = None
        self._waits_for = "the agent"
        self._exit, self._stderr_tail = "The agent ended", list[str]()
        self._answer: Callable[[Any, dict[str, Any]], None] = lambda *_: None
        self.errors = 0
        """The number of requests that the agent answered with an error."""

    async def run(self) -> None:
        """Start the agent, shake hands unless the file does, and carry out the steps."""
        handshake = self._steps[0].method != "initialize"
        conversation = self._conversation
        await conversation.start(handshake=handshake)
        if handshake:
            await self._headless.open()
            await self._headless.apply_options()
            self._session_id = conversation.session.session_id
        self._answer = conversation.answer_requests(self._takes_request)
        conversation.listen(self._see)
        self._is_printing = True
        try:
            while self._next < len(self._steps):
                await self._carry_out(self._steps[self._next])
            await self._until(lambda: all(call.done() for call in self._calls), "the last answers")
            for call in self._calls:
                self._raise_if_failed(call)
        except asyncio.CancelledError:
            if self._headless.stopped_by != signal.SIGPIPE:
                print_message(f"Stopped while waiting for {self._waits_for}.")
            raise
        finally:
            self._end()

    def _end(self) -> None:
        """Cancel what is unanswered on both sides."""
        self._is_printing = False
        self._stream.flush()
        for call in self._calls:
            call.cancel()
        for request in self._held:
            result = CANCELLED_RESULTS.get(request["method"])
            error = {"code": REQUEST_CANCELLED, "message": "Request cancelled"}
            if self._conversation.session.phase != "dead":
                self._answer(request["id"], {"error": error} if result is None else {"result": result})
        if self._session_id is not None:
            self._conversation.folder.update_meta(session_id=self._session_id)

    # ------------------------------------------------------------------------- the steps

    async def _carry_out(self, step: FrameStep) -> None:
        match step.kind:
            case "wait":
                self._skip_waits()  # what it waits for may have come before
                await self._until(lambda: self._is_after(step), f"{step.method} (line {step.line})")
            case "answer":
                await self._until(lambda: self._held, f"a request to answer (line {step.line})")
                self._answer_held(step)
            case _:
                await self._send(step)

    def _is_over(self, step: FrameStep) -> bool:
        """Return True once the agent has sent what a step waits for.

        That is the answers to all requests of the method so far, if there were any. Otherwise it is a message
        of this method that no earlier step has waited for.
        """
        sent = [each.line for each in self._sent.values() if each.method == step.method]
        if sent:
            return self._answered >= {*sent}
        return self._heard[step.method] > self._awaited[step.method]

    def _skip_waits(self) -> None:
        """Go on to the first step that is not over.

        Called at once when a message has come, so that the next step can be the answer to a request.
        """
        while self._next < len(self._steps):
            step = self._steps[self._next]
            if step.kind != "wait" or not self._is_over(step):
                return
            self._awaited[step.method] += 1
            self._next += 1

    async def _send(self, step: FrameStep) -> None:
        params = step.frame.get("params")
        if SESSION in json.dumps(params):
            params = with_session(params, await self._known_session(step))
        is_request = step.kind == "request"
        version = VERSIONS.get(self._conversation.session.dialect)
        found = params_faults(step.method, params, is_request=is_request, version=version)
        faults = [escape_line(fault_sentence(step.method, fault)) for fault in found]
        for fault in faults:
            print_message(f"Line {step.line} is sent, but does not follow the schema: {fault}.")
        known = method_named(step.method, version)
        if known is not None and known.is_request and not is_request:
            print_message(f"Line {step.line}: {step.method} is sent as a notification, because it has no id.")
        message = self._conversation.send_by_hand(step.method, params, is_request=is_request, faults=faults)
        call = asyncio.create_task(message)
        call.add_done_callback(lambda _: self._changed.set())
        if is_request:
            self._calls.append(call)
        await self._until(lambda: self._is_after(step) or call.done(), f"line {step.line} to be sent")
        self._raise_if_failed(call)
        if not self._is_after(step):
            self._next += 1

    def _is_after(self, step: FrameStep) -> bool:
        return self._next >= len(self._steps) or self._steps[self._next].line > step.line

    async def _known_session(self, step: FrameStep) -> str:
        opening = [each.method for each in self._sent.values() if each.method in OPENING_METHODS]
        if self._session_id is None and opening:
            wait = FrameStep(step.line, "wait", opening[-1])
            await self._until(lambda: self._is_over(wait), f"the session of line {step.line}")
        if self._session_id is None:
            raise UserError(f"Line {step.line}: {SESSION} is not known, because no session is open.")
        return self._session_id

    def _answer_held(self, step: FrameStep) -> None:
        request = self._held.pop(0)
        method, wanted = escape_line(request["method"]), step.frame.get("id")
        if wanted is not None and wanted != request["id"]:
            self._held.insert(0, request)
            raise UserError(
                f"Line {step.line}: the agent's request {method} has the id "
                f"{visible_excerpt(request['id'], MAX_EXCERPT)}. The id may be left out."
            )
        self._next += 1
        self._conversation.note(Noticed("info", f"Answered {method} with line {step.line} of the file"))
        answer = {key: step.frame[key] for key in ("result", "error") if key in step.frame}
        self._answer(request["id"], with_session(answer, self._session_id or SESSION))

    def _raise_if_failed(self, call: asyncio.Task[Any]) -> None:
        """Raise the error of a call, unless the agent answered it with an error."""
        if call.done() and not call.cancelled():
            error = call.exception()
            if error is not None and not isinstance(error, RequestFailed):
                raise error

    async def _until(self, condition: Callable[[], object], what: str) -> None:
        """Wait until something has come. Raises `UserError` if the agent ends before."""
        self._waits_for = what
        while not condition():
            if self._conversation.session.phase == "dead":
                for call in self._calls:
                    self._raise_if_failed(call)
                raise ConnectionFault(f"{self._exit} while acp-tui waited for {what}.", self._stderr_tail)
            self._changed.clear()
            await self._changed.wait()

    # ------------------------------------------------------------------------- what comes

    def _takes_request(self, request: dict[str, Any]) -> bool:
        """Keep a request of the agent if the next lines of the file are answers. `_see` has seen it."""
        answers = takewhile(lambda step: step.kind == "answer", self._steps[self._next :])
        if len([*answers]) <= len(self._held):
            return False
        self._held.append(request)
        self._changed.set()
        return True

    def _see(self, record: Record, events: Sequence[Event], _changes: Sequence[Change]) -> None:
        frame = record.frame
        for event in events:
            if isinstance(event, AgentExited):
                self._exit, self._stderr_tail = exit_sentence(event), event.stderr_tail
        if record.direction == "client":
            if frame.get("event") == "written_by_hand" and self._next < len(self._steps):
                step = self._steps[self._next]
                if step.kind == "request":
                    self._sent[frame["request_id"]] = step
                self._next += 1
        elif record.direction == "received":
            for message in _messages(frame):
                self._receive(message)
        else:
            return
        self._changed.set()

    def _receive(self, frame: dict[str, Any]) -> None:
        if "method" in frame:
            if isinstance(frame["method"], str):
                self._heard[frame["method"]] += 1
                self._skip_waits()
        elif (identity := own_id(frame.get("id"), self._sent)) in self._sent:
            step = self._sent[identity]
            self._answered.add(step.line)
            self._note_answer(step, frame)
            frame = {**frame, "id": step.frame["id"]}
            self._skip_waits()
        self._print(frame)

    def _note_answer(self, step: FrameStep, frame: dict[str, Any]) -> None:
        if frame.get("error") is not None:
            self.errors += 1
        elif step.method in OPENING_METHODS:
            result = frame.get("result")
            opened = result.get("sessionId") if isinstance(result, dict) else None
            params = step.frame.get("params")
            asked = params.get("sessionId") if isinstance(params, dict) else None
            found = opened if isinstance(opened, str) else asked
            if isinstance(found, str) and found != SESSION:
                self._session_id = found

    def _print(self, frame: dict[str, Any]) -> None:
        if not self._is_printing:
            return
        self._headless.printing = True
        try:
            self._stream.write(as_json(frame, self._stream) + "\n")
            self._stream.flush()
        except OSError as error:
            self._is_printing = False
            self._headless.handle_output_error(error)
        finally:
            self._headless.printing = False


def _messages(frame: Any) -> Iterator[dict[str, Any]]:
    """Yield the objects in a received line."""
    yield from (item for item in (frame if isinstance(frame, list) else [frame]) if isinstance(item, dict))
