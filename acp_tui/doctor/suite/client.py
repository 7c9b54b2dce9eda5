"""A client that speaks ACP frame by frame: requests with any id, frames of any order, answers at any time.

Everything that is sent and received becomes a record, as in a session's log. The agent's own requests are
answered from the scratch folder: `ServedRequests`.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.connection.agent_process import AgentProcess
from acp_tui.errors import Refusal
from acp_tui.permissions.decision import decide
from acp_tui.permissions.subject_reader import subject_of_call, subject_of_command
from acp_tui.protocol.json_rpc import MAX_MESSAGE_BYTES, NOT_JSON, LineSplitter, decode, is_id, own_id
from acp_tui.protocol.translator import fold
from acp_tui.session.record import (
    AUTH_REQUIRED,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    NOT_ALLOWED,
    REQUEST_CANCELLED,
    Direction,
    Record,
)
from acp_tui.session.safe_text import visible_excerpt
from acp_tui.workspace.files.file_access import FileAccess, path_context
from acp_tui.workspace.files.open_folder import Roots
from acp_tui.workspace.terminals.terminals import Terminals

if TYPE_CHECKING:
    from acp_tui.config.agent_catalogue import Launch

RequestId = int | str
Handler = Callable[[dict[str, Any], RequestId], Awaitable[Any]]
"""Answers a request of the agent: gets its params and id, returns the result or raises `Refusal`."""

FULL_CAPABILITIES: dict[str, Any] = {
    "fs": {"readTextFile": True, "writeTextFile": True},
    "terminal": True,
    "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
    "auth": {"terminal": True},
    "elicitation": {"form": {}, "url": {}},
    "subagents": {},
}
CLIENT_INFO = {"name": "acp-tui-doctor", "title": "acp-tui doctor", "version": "1"}
QUIET_SECONDS = 0.3
"""Seconds without a message after which nothing more is expected."""
MAX_UNREST_SECONDS = 3.0
"""The longest wait for the agent to become quiet."""
MAX_MISSING_ANSWERS = 2
"""How many answers to a method must be missing in a row before the suite waits only `HOPELESS_SECONDS`."""
HOPELESS_SECONDS = 5.0
CANCEL_GRACE_SECONDS = 10.0
"""Seconds that the agent has to end a turn that was cancelled because it took too long."""


class Failed(Exception):  # noqa: N818 - the outcome of a check, as the two below
    """The agent violates the sentence of the check. The message says how."""


class NotOffered(Exception):  # noqa: N818
    """The agent does not advertise what the check is about."""


class NotSeen(Exception):  # noqa: N818
    """What the check needs did not happen, for example because the model did not do it."""


class ErrorAnswer(Failed):
    """The agent answered a request with an error. A check for which errors are allowed must catch it."""

    def __init__(self, method: str, error: Any) -> None:
        self.code = error.get("code") if isinstance(error, dict) else None
        self.error = error
        message = error.get("message") if isinstance(error, dict) else error
        super().__init__(f"{method} was answered with error {self.code}: {visible_excerpt(message, 200)}")


class Patience:
    """How long to wait for answers: not as long for a method that the agent seems never to answer."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._missing: Counter[str] = Counter()  # answers that did not come; 0 once one has come

    def limit(self, method: str) -> float:
        """Return the seconds to wait for an answer to this method."""
        hopeless = self._missing[method] >= MAX_MISSING_ANSWERS
        return min(self.seconds, HOPELESS_SECONDS) if hopeless else self.seconds

    def note(self, method: str, *, answered: bool) -> None:
        """Take into account whether a request was answered in time."""
        self._missing[method] = 0 if answered else self._missing[method] + 1


class SuiteClient:
    """One connection to a newly started agent. Create it with `start`, and end it with `close`."""

    def __init__(
        self, folder: Path, patience: Patience, on_record: Callable[[SuiteClient, Record], None]
    ) -> None:
        self.folder = folder
        """The scratch folder. The agent may read, write and run commands below it, and nowhere else."""
        self.patience = patience
        self.timeout = patience.seconds
        """Seconds to wait for an answer."""
        self.records: list[Record] = []
        """Everything sent and received."""
        self.agent: dict[str, Any] = {}
        """The result of `initialize`."""
        self.sessions: dict[str, dict[str, Any]] = {}
        """The answers to `session/new`, by session id."""
        self.stuck = False
        """Whether the agent left a request unanswered, so that it must be restarted for the next check."""
        self.served = ServedRequests(self)
        self.handlers: dict[str, Handler] = dict(self.served.handlers)
        """What answers the agent's requests, by method. `serving` replaces one for a while."""
        self._on_record = on_record
        self._ids = itertools.count()
        self._methods: dict[RequestId, str] = {}  # of the requests sent, by id
        self._answers: dict[RequestId, dict[str, Any]] = {}
        self._tasks: dict[RequestId, asyncio.Task[None]] = {}  # that answer the agent's requests
        self._news = asyncio.Event()
        self._process: AgentProcess
        self._reader: asyncio.Task[None]

    @classmethod
    async def start(
        cls,
        launch: Launch,
        *,
        cwd: str,
        folder: Path,
        patience: Patience,
        on_record: Callable[[SuiteClient, Record], None],
    ) -> SuiteClient:
        """Start the agent in `cwd`, without sending anything. Raises `CannotStart`."""
        client = cls(folder, patience, on_record)
        client._process = await AgentProcess.spawn(launch, cwd)
        client._reader = asyncio.create_task(client._read())
        return client

    async def close(self) -> None:
        """End the agent and everything it started."""
        for task in self._tasks.values():
            task.cancel()
        await self._process.close()
        await asyncio.gather(self._reader, *self._tasks.values(), return_exceptions=True)
        await self.served.terminals.close()

    # ----------------------------------------------------------------- the agent

    @property
    def alive(self) -> bool:
        return self._process.writable

    @property
    def stderr_tail(self) -> list[str]:
        """The last lines of the agent's stderr, safe to display."""
        return self._process.stderr_tail(3)

    def offer(self, *path: str) -> Any:
        """Return a capability of the agent, such as `offer("promptCapabilities", "image")`, or None.

        An empty object means that the capability is offered.
        """
        value: Any = self.agent.get("agentCapabilities")
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        return None if value is False else value

    def require(self, *path: str) -> None:
        """Raise `NotOffered` unless the agent offers a capability."""
        if self.offer(*path) is None:
            raise NotOffered(f"the agent does not advertise {'.'.join(path)}")

    async def initialize(
        self, capabilities: dict[str, Any] | None = None, *, version: Any = 1
    ) -> dict[str, Any]:
        """Send `initialize`, with all capabilities unless others are given, and return the result."""
        params = {
            "protocolVersion": version,
            "clientCapabilities": FULL_CAPABILITIES if capabilities is None else capabilities,
            "clientInfo": CLIENT_INFO,
        }
        result = await self.request("initialize", params)
        if not isinstance(result, dict):
            raise Failed("the answer to initialize is not an object")
        self.agent = result
        return result

    async def new_session(self, folder: Path | None = None, **more: Any) -> str:
        """Open a session in a folder and return its id."""
        params = {"cwd": str(folder or self.folder), "mcpServers": [], **more}
        result = await self.request("session/new", params)
        identity = session_id_of(result)
        self.sessions[identity] = result
        return identity

    # ----------------------------------------------------------------- sending

    def send(self, frame: dict[str, Any], text: str | None = None) -> None:
        """Send a frame. `text` is its JSON if that must look in a certain way."""
        self._record("sent", frame)
        if self._process.writable:
            line = json.dumps(frame, ensure_ascii=False) if text is None else text
            self._process.write(f"{line}\n".encode("utf-8", "surrogatepass"))

    def send_request(
        self,
        method: str,
        params: Any = None,
        *,
        request_id: RequestId | None = None,
        spell: Callable[[dict[str, Any]], str] | None = None,
    ) -> RequestId:
        """Send a request and return its id. `answer` waits for the answer.

        `spell` returns the JSON of the frame, if that must look in a certain way.
        """
        identity = next(self._ids) if request_id is None else request_id
        self._methods[identity] = method
        frame = {"jsonrpc": "2.0", "id": identity, "method": method}
        frame = frame if params is None else {**frame, "params": params}
        self.send(frame, None if spell is None else spell(frame))
        return identity

    def notify(self, method: str, params: Any = None) -> None:
        """Send a notification."""
        frame = {"jsonrpc": "2.0", "method": method}
        self.send(frame if params is None else {**frame, "params": params})

    async def request(
        self,
        method: str,
        params: Any = None,
        *,
        request_id: RequestId | None = None,
        timeout: float | None = None,
    ) -> Any:
        """Send a request and return the result. Raises as `result` does."""
        return await self.result(self.send_request(method, params, request_id=request_id), timeout)

    # ----------------------------------------------------------------- waiting

    async def result(self, request_id: RequestId, timeout: float | None = None) -> Any:
        """Wait for the answer to a request and return its result.

        Raises `ErrorAnswer` for an error, `NotSeen` if the agent wants the user to sign in first, and
        `Failed` if there is no answer in time.
        """
        frame = await self.answer(request_id, timeout)
        if "error" not in frame:
            return frame.get("result")
        error = ErrorAnswer(self._methods[request_id], frame["error"])
        if error.code == AUTH_REQUIRED:
            raise NotSeen("the agent wants the user to sign in first; use --sign-in METHOD")
        raise error

    async def answer(self, request_id: RequestId, timeout: float | None = None) -> dict[str, Any]:
        """Wait for the answer to a request and return the frame. Raises `Failed` if none comes in time."""
        method = self._methods[request_id]
        limit = self.patience.limit(method) if timeout is None else timeout
        answered = await self.until(lambda: request_id in self._answers, limit)
        self.patience.note(method, answered=answered)
        if not answered:
            self.stuck = True
            raise Failed(f"{method} was not answered within {limit:g} s")
        return self._answers[request_id]

    def position(self, frame: dict[str, Any]) -> int:
        """Return the place of a frame in `records`. More can follow it before a caller is resumed."""
        return next(index for index, record in enumerate(self.records) if record.frame is frame)

    def answered(self, request_id: RequestId) -> bool:
        """Return True if a request has been answered."""
        return request_id in self._answers

    async def until(self, condition: Callable[[], object], timeout: float | None = None) -> bool:
        """Wait until a condition holds, which is tested after each message. Return False if it never does.

        Raises `Failed` if the agent exits meanwhile.
        """
        try:
            async with asyncio.timeout(self.timeout if timeout is None else timeout):
                while not condition():
                    if self._reader.done():
                        raise Failed(await self._describe_exit())
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            return False
        return True

    async def settle(self) -> None:
        """Wait until the agent has sent nothing for `QUIET_SECONDS`, for at most `MAX_UNREST_SECONDS`."""
        end = time.monotonic() + MAX_UNREST_SECONDS
        count = -1
        while count != len(self.records) and time.monotonic() < end and not self._reader.done():
            count = len(self.records)
            await asyncio.sleep(QUIET_SECONDS)

    async def _describe_exit(self) -> str:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait_for_end(), 1.0)
        code = self._process.returncode
        how = "closed its stdout" if code is None else f"exited with code {code}"
        said = self.stderr_tail
        return f"the agent {how}" + (f"; the end of its stderr: {' / '.join(said)}" if said else "")

    # ----------------------------------------------------------------- receiving

    async def _read(self) -> None:
        splitter = LineSplitter(MAX_MESSAGE_BYTES)
        try:
            while block := await self._process.read():
                for line in splitter.feed(block):
                    self._receive(line)
            self._receive(splitter.rest())
        finally:
            self._news.set()

    def _receive(self, line: bytes) -> None:
        if not line or line.isspace():
            return
        text = line.decode("utf-8", "surrogateescape")
        frame = decode(text)
        readable = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        self._record("received", readable if frame is NOT_JSON or readable != text else frame)
        if isinstance(frame, dict):
            self._dispatch(frame)
        self._news.set()

    def _dispatch(self, frame: dict[str, Any]) -> None:
        identity, method = frame.get("id"), frame.get("method")
        params = frame.get("params")
        params = params if isinstance(params, dict) else {}
        if method is None:
            identity = own_id(identity, self._methods)
            if is_id(identity) and identity in self._methods:
                self._answers.setdefault(identity, frame)
        elif is_id(identity) and isinstance(method, str):
            self._tasks[identity] = asyncio.create_task(self._serve(method, params, identity))
        elif method == "$/cancel_request":
            withdrawn = params.get("requestId")
            if is_id(withdrawn) and withdrawn in self._tasks:
                self._tasks[withdrawn].cancel()

    async def _serve(self, method: str, params: dict[str, Any], identity: RequestId) -> None:
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": identity}
        try:
            answer["result"] = await self.handlers.get(method, _unknown)(params, identity)
        except Refusal as refusal:
            answer["error"] = {"code": refusal.code, "message": refusal.message}
            if refusal.data is not None:
                answer["error"]["data"] = refusal.data
        except asyncio.CancelledError:
            answer["error"] = {"code": REQUEST_CANCELLED, "message": "Request cancelled"}
        except (OSError, ValueError, KeyError, TypeError) as error:
            answer["error"] = {"code": INTERNAL_ERROR, "message": str(error)}
        self.send(answer)

    @contextlib.contextmanager
    def serving(self, method: str, handler: Handler) -> Iterator[None]:
        """Answer the agent's requests for `method` with a handler, within the block."""
        before = self.handlers.get(method)
        self.handlers[method] = handler
        try:
            yield
        finally:
            if before is None:
                del self.handlers[method]
            else:
                self.handlers[method] = before

    def _record(self, direction: Direction, frame: Any) -> None:
        record = Record(time.time(), direction, frame)
        self.records.append(record)
        self._on_record(self, record)

    # ----------------------------------------------------------------- prompts

    def start_turn(self, session: str, prompt: str | Sequence[dict[str, Any]], **more: Any) -> ObservedTurn:
        """Send a prompt, as a text or as content blocks, and return the turn that it starts."""
        blocks = [{"type": "text", "text": prompt}] if isinstance(prompt, str) else list(prompt)
        start = len(self.records)
        params = {"sessionId": session, "prompt": blocks, **more}
        return ObservedTurn(self, session, self.send_request("session/prompt", params), start)

    async def run_turn(
        self, session: str, prompt: str | Sequence[dict[str, Any]], **more: Any
    ) -> ObservedTurn:
        """Send a prompt and wait for its answer. Raises as `ObservedTurn.finish` does."""
        turn = self.start_turn(session, prompt, **more)
        await turn.finish()
        return turn

    def cancel(self, session: str) -> None:
        """Cancel the running turn of a session."""
        self.notify("session/cancel", {"sessionId": session})


class ObservedTurn:
    """A prompt and everything that was sent and received until its answer."""

    def __init__(self, client: SuiteClient, session: str, request_id: RequestId, start: int) -> None:
        self.client = client
        self.session = session
        self.request_id = request_id
        self._start = start
        self._end: int | None = None
        self.answer: dict[str, Any] = {}
        """The answer to the prompt; empty until `finish`."""

    async def finish(self, timeout: float | None = None) -> None:
        """Wait for the answer to the prompt, whether result or error.

        Raises `NotSeen` if the turn takes too long and ends when it is cancelled, and `Failed` if it does
        not end then either.
        """
        patience = self.client.patience
        limit = patience.limit("session/prompt") if timeout is None else timeout
        if not await self.client.until(lambda: self.ended, limit):
            self.client.cancel(self.session)
            grace = min(limit, CANCEL_GRACE_SECONDS)
            if not await self.client.until(lambda: self.ended, grace):
                patience.note("session/prompt", answered=False)
                self.client.stuck = True
                raise Failed(f"session/prompt was not answered within {limit:g} s, nor after session/cancel")
            raise NotSeen(f"the turn took longer than {limit:g} s; use --timeout")
        self.answer = await self.client.answer(self.request_id)
        self._end = self.client.position(self.answer) + 1

    @property
    def ended(self) -> bool:
        return self.client.answered(self.request_id)

    @property
    def records(self) -> list[Record]:
        return self.client.records[self._start : self._end]

    @property
    def error(self) -> Any:
        """The error with which the prompt was answered, or None."""
        return self.answer.get("error")

    @property
    def stop_reason(self) -> Any:
        result = self.answer.get("result")
        return result.get("stopReason") if isinstance(result, dict) else None

    @property
    def received(self) -> list[dict[str, Any]]:
        """The messages that the agent sent during the turn."""
        return [r.frame for r in self.records if r.direction == "received" and isinstance(r.frame, dict)]

    def updates(self, *kinds: str) -> list[dict[str, Any]]:
        """Return the updates of the turn's session, of these kinds or of all."""
        return list(updates_in(self.received, self.session, *kinds))

    def requests(self, *methods: str) -> list[dict[str, Any]]:
        """Return the agent's requests with these methods."""
        return [frame for frame in self.received if frame.get("method") in methods]

    def is_silent_after_answering(self, method: str) -> bool:
        """Return True if nothing came after the client answered a request of the agent with this method."""
        asked = {frame.get("id") for frame in self.requests(method)}
        silent = False
        for record in self.records:
            frame = record.frame if isinstance(record.frame, dict) else {}
            if record.direction == "received":
                silent = False
            elif "method" not in frame and frame.get("id") in asked:
                silent = True
            elif frame.get("method") == "session/cancel":
                break
        return silent

    @property
    def text(self) -> str:
        """The text of the agent's messages."""
        return text_of(self.updates("agent_message_chunk"))

    @property
    def tool_calls(self) -> dict[str, dict[str, Any]]:
        """The tool calls by id, with the fields of all their updates."""
        calls: dict[str, dict[str, Any]] = {}
        for update in self.updates("tool_call", "tool_call_update"):
            given = {name: value for name, value in update.items() if value is not None}
            calls.setdefault(str(update.get("toolCallId")), {}).update(given)
        return calls


def updates_in(frames: Iterable[dict[str, Any]], session: str, *kinds: str) -> Iterator[dict[str, Any]]:
    """Yield the updates of a session in these frames, of these kinds or of all."""
    for frame in frames:
        params = frame.get("params")
        if frame.get("method") == "session/update" and isinstance(params, dict):
            update = params.get("update")
            if params.get("sessionId") != session or not isinstance(update, dict):
                continue
            if not kinds or update.get("sessionUpdate") in kinds:
                yield update


def text_of(chunks: Iterable[dict[str, Any]]) -> str:
    """Return the text of chunks of messages."""
    blocks = [chunk.get("content") for chunk in chunks]
    return "".join(str(block.get("text") or "") for block in blocks if isinstance(block, dict))


def session_id_of(result: Any) -> str:
    """Return the session id in the answer to `session/new` or `session/fork`. Raises `Failed` without one."""
    identity = result.get("sessionId") if isinstance(result, dict) else None
    if not isinstance(identity, str) or not identity:
        raise Failed(f"the answer has no session id: {visible_excerpt(result, 200)}")
    return identity


def session_records(records: Iterable[Record], session: Any) -> Iterator[Record]:
    """Yield the records that concern one session or the whole connection."""
    others: set[Any] = set()  # ids of requests of both sides about other sessions, with the sender
    for record in records:
        frame = record.frame
        if not isinstance(frame, dict):
            yield record
            continue
        sender = record.direction
        identity = frame.get("id") if is_id(frame.get("id")) else None
        if "method" not in frame:
            asker = "received" if sender == "sent" else "sent"
            if (asker, identity) not in others:
                yield record
            continue
        params = frame.get("params")
        named = params.get("sessionId") if isinstance(params, dict) else None
        if named is None or named == session:
            others.discard((sender, identity))
            yield record
        elif identity is not None:
            others.add((sender, identity))


class ServedRequests:
    """Answers the agent's requests for permissions, files and terminals, as far as the scratch folder goes.

    Requests are judged as in a conversation with the policy `yolo` and nobody to ask: what is outside of the
    folder, sensitive or dangerous is refused.
    """

    def __init__(self, client: SuiteClient) -> None:
        self._client = client
        self._files = FileAccess(Roots(client.folder))
        self._context = path_context(self._files)
        self.terminals = Terminals(client.folder, on_output=lambda *_: None, on_exit=lambda *_: None)
        self.handlers: dict[str, Handler] = {
            "session/request_permission": self.permission,
            "fs/read_text_file": self.read,
            "fs/write_text_file": self.write,
            "terminal/create": self.create_terminal,
            "terminal/output": self._output,
            "terminal/wait_for_exit": self._wait_for_exit,
            "terminal/kill": self._kill,
            "terminal/release": self._release,
            "elicitation/create": self._decline,
        }

    async def permission(self, params: dict[str, Any], request_id: RequestId) -> Any:
        """Allow a harmless request once, and reject others."""
        allowed = await asyncio.to_thread(self._is_harmless, params, request_id)
        return choose(params, "allow" if allowed else "reject")

    def _is_harmless(self, params: dict[str, Any], request_id: RequestId) -> bool:
        session = fold(session_records([*self._client.records], params.get("sessionId")))
        pending = session.permissions.get(request_id)
        if pending is None or pending.call_id not in session.tool_calls:
            return False
        subject = subject_of_call(session.tool_calls[pending.call_id], self._context)
        return decide(subject, policy="yolo", interactive=False).answer == "allow"

    async def read(self, params: dict[str, Any], _: RequestId) -> Any:
        """Serve `fs/read_text_file`."""
        with await asyncio.to_thread(self._files.open_for_reading, _text(params, "path")) as file:
            _require(file.inside and not file.sensitive, file.path)
            return {"content": await asyncio.to_thread(file.text, params.get("line"), params.get("limit"))}

    async def write(self, params: dict[str, Any], _: RequestId) -> Any:
        """Serve `fs/write_text_file`."""
        with await asyncio.to_thread(self._files.prepare_writing, _text(params, "path")) as file:
            _require(file.inside and not file.sensitive, file.path)
            await asyncio.to_thread(file.write, _text(params, "content"))
        return {}

    async def create_terminal(self, params: dict[str, Any], _: RequestId) -> Any:
        """Serve `terminal/create`."""
        command, args, cwd = _text(params, "command"), params.get("args") or [], params.get("cwd")
        env = {item["name"]: item["value"] for item in params.get("env") or []}
        read = partial(subject_of_command, command, args, cwd=cwd, env=env, context=self._context)
        subject = await asyncio.to_thread(read)
        _require(decide(subject, policy="yolo", interactive=False).answer == "allow", command)
        limit = params.get("outputByteLimit")
        terminal = await self.terminals.create(command, args, env=env, cwd=cwd, output_byte_limit=limit)
        return {"terminalId": terminal}

    async def _output(self, params: dict[str, Any], _: RequestId) -> Any:
        text, truncated, status = self.terminals.output(_text(params, "terminalId"))
        answer: dict[str, Any] = {"output": text, "truncated": truncated}
        if status is not None:
            answer["exitStatus"] = {"exitCode": status.exit_code, "signal": status.signal}
        return answer

    async def _wait_for_exit(self, params: dict[str, Any], _: RequestId) -> Any:
        status = await self.terminals.wait_for_exit(_text(params, "terminalId"))
        return {"exitCode": status.exit_code, "signal": status.signal}

    async def _kill(self, params: dict[str, Any], _: RequestId) -> Any:
        await self.terminals.kill(_text(params, "terminalId"))
        return {}

    async def _release(self, params: dict[str, Any], _: RequestId) -> Any:
        await self.terminals.release(_text(params, "terminalId"))
        return {}

    async def _decline(self, _params: dict[str, Any], _: RequestId) -> Any:
        return {"action": "decline"}


def choose(params: dict[str, Any], sense: str) -> dict[str, Any]:
    """Return the answer to a permission request: the option `…_once` of a sense, "allow" or "reject".

    Without such an option, another one of the sense is chosen, or else the answer is "cancelled".
    """
    options = [option for option in params.get("options") or [] if isinstance(option, dict)]
    fitting = [option for option in options if str(option.get("kind")).startswith(sense)]
    fitting.sort(key=lambda option: option.get("kind") != f"{sense}_once")
    if not fitting:
        return {"outcome": {"outcome": "cancelled"}}
    return {"outcome": {"outcome": "selected", "optionId": fitting[0].get("optionId")}}


async def _unknown(_params: dict[str, Any], _: RequestId) -> Any:
    raise Refusal(METHOD_NOT_FOUND, "Method not found")


def _text(params: dict[str, Any], name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str):
        raise Refusal(INVALID_PARAMS, f"{name} must be a string")
    return value


def _require(allowed: object, what: str) -> None:
    if not allowed:
        raise Refusal(NOT_ALLOWED, f"the suite allows this only in its scratch folder: {what}")
