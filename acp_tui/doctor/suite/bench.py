"""What the checks share: running agents, a scratch folder, sessions, prompts and the turns they started.

Agents take seconds to start and models cost money, so checks share one connection, its session, and a turn
for each purpose.
"""

from __future__ import annotations

import tomllib
from collections.abc import AsyncIterator, Awaitable, Callable, Container, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from acp_tui.doctor.report import FoundViolation, iterate_violations
from acp_tui.doctor.suite.client import (
    Failed,
    NotOffered,
    NotSeen,
    ObservedTurn,
    Patience,
    SuiteClient,
    session_records,
)
from acp_tui.errors import UsageError, os_errors_reported
from acp_tui.session.record import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, Record

if TYPE_CHECKING:
    from acp_tui.config.agent_catalogue import Launch
    from acp_tui.doctor.suite.client import Handler

Shared = TypeVar("Shared")

MAX_SILENT_STARTS = 2
"""How often the agent is started before the suite gives up on one that sends no message."""
SPOKEN_VERSIONS = (1, "1", "1.0")
"""What is taken for version 1, which the checks are about."""
MAX_FAILED_STARTS = 2
"""After so many starts without an answer to `initialize`, the agent gets no other chance."""
_NOT_INITIALIZED = "the agent could not be initialized; see the handshake"
FILE_TEXT = "one two three\n"
"""The content of the file that a prompt can name as `{file}`."""
PLACEHOLDERS = ("{file}", "{missing}", "{folder}")
REFUSING_CODES = frozenset({INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND})
"""Errors that say that a request itself is wrong. Others can come from the model or the network."""
_PROMPT_FILES = {"acp-tui-demo": "demo_prompts.toml"}
"""Prompts for agents that understand no ordinary ones, by the name in `agentInfo`."""
_SETUP_METHODS = frozenset({"initialize", "session/new", "session/load", "session/resume", "session/fork"})


class Bench:
    """Starts the agent for the checks and collects what they saw. Close it with `close`."""

    def __init__(
        self,
        launch: Launch,
        *,
        cwd: str,
        scratch: Path,
        timeout: float,
        prompts: Mapping[str, str] | None = None,
        sign_in: str | None = None,
    ) -> None:
        """Create the bench without starting the agent.

        Args:
            launch: How to start the agent.
            cwd: Where the agent is started. Its sessions are in `scratch`.
            scratch: An empty folder, which the agent may change.
            timeout: Seconds to wait for an answer.
            prompts: Prompts by purpose, instead of the packaged ones.
            sign_in: The id of the method with which to sign in after `initialize`.
        """
        self.scratch = scratch
        self.timeout = timeout
        self._patience = Patience(timeout)
        self.sign_in = sign_in
        self.evidence: list[Record] = []
        """What the current check has seen."""
        self.clients: list[SuiteClient] = []
        """All connections so far."""
        self._launch = launch
        self._cwd = cwd
        self._prompts = prompts or {}
        self._main: SuiteClient | None = None
        self._session: str | None = None
        self._shared: dict[str, tuple[Any, list[Record]]] = {}  # results or exceptions, and what was seen
        self._files = 0
        self._failed_starts = 0  # in a row
        self._violations: dict[tuple[bool, int], list[FoundViolation]] = {}

    # ----------------------------------------------------------------- agents

    @property
    def agent(self) -> dict[str, Any]:
        """The first answer to `initialize`; empty if there was none."""
        return next((client.agent for client in self.clients if client.agent), {})

    @asynccontextmanager
    async def start(self) -> AsyncIterator[SuiteClient]:
        """Start another agent, which gets no message yet, and end it after the block."""
        client = await self._start()
        try:
            yield client
        finally:
            await client.close()

    @asynccontextmanager
    async def connect(self, capabilities: dict[str, Any] | None = None) -> AsyncIterator[SuiteClient]:
        """Start another agent, initialize it, and end it after the block."""
        async with self.start() as client:
            await self._initialize(client, capabilities)
            yield client

    async def client(self) -> SuiteClient:
        """Return the shared connection. The agent is restarted if it has exited or does not answer."""
        if self._main is None or self._main.stuck or not self._main.alive:
            if self._main is not None:
                await self._main.close()
            self._main = self._session = None
            client = await self._start()
            try:
                await self._initialize(client, None)
            except BaseException:
                await client.close()
                raise
            self._main = client
        initialize = self._main.records[0]  # belongs to what the check has seen, though it came earlier
        if not any(record is initialize for record in self.evidence):
            self.evidence.append(initialize)
        return self._main

    async def _start(self) -> SuiteClient:
        silent = not any(isinstance(record.frame, dict) for record in self.received())
        if silent and len(self.clients) >= MAX_SILENT_STARTS:
            raise NotSeen("the agent has sent no message since its first start; see the handshake")
        client = await SuiteClient.start(
            self._launch, cwd=self._cwd, folder=self.scratch, patience=self._patience, on_record=self._note
        )
        self.clients.append(client)
        return client

    async def _initialize(self, client: SuiteClient, capabilities: dict[str, Any] | None) -> None:
        if self._failed_starts >= MAX_FAILED_STARTS:
            raise NotSeen(_NOT_INITIALIZED)
        try:
            result = await client.initialize(capabilities)
        except Failed as failure:  # the checks of the handshake report it
            self._failed_starts += 1
            raise NotSeen(_NOT_INITIALIZED) from failure
        self._failed_starts = 0
        if result.get("protocolVersion") not in SPOKEN_VERSIONS:
            raise NotOffered(f"the agent speaks version {result.get('protocolVersion')!r}, not version 1")
        if self.sign_in is not None:
            await client.request("authenticate", {"methodId": self.sign_in})

    def _note(self, client: SuiteClient, record: Record) -> None:
        del client
        self.evidence.append(record)

    async def close(self) -> None:
        """End the shared agent."""
        if self._main is not None:
            await self._main.close()

    # ----------------------------------------------------------------- sessions and turns

    async def session(self) -> tuple[SuiteClient, str]:
        """Return the shared connection and its session."""
        client = await self.client()
        if self._session is None:
            try:
                self._session = await client.new_session(self.folder("shared"))
            except Failed as failure:  # as above
                raise NotSeen("no session could be opened; see the sessions") from failure
            await client.settle()
        return client, self._session

    def folder(self, name: str) -> Path:
        """Return a folder in the scratch folder, which is created if it is missing."""
        folder = self.scratch / name
        folder.mkdir(exist_ok=True)
        return folder

    def prompt(self, purpose: str, file: Path | None = None) -> str:
        """Return the prompt for a purpose, with `file` or a new file of its own.

        Raises `NotSeen` if there is no such prompt, or if the agent does not answer the simplest one.
        """
        reply, _ = self._shared.get("turn reply", (None, None))
        if isinstance(reply, Failed):
            raise NotSeen("the agent answers no prompts; see stop-reason")
        text = self._prompt_table().get(purpose)
        if not text:
            raise NotSeen(f'there is no prompt for "{purpose}"; use --prompts FILE')
        missing = self.scratch / "shared" / f"missing-{self._files}.txt"
        paths = (file or self.new_file(), missing, self.folder("shared"))
        for placeholder, path in zip(PLACEHOLDERS, paths, strict=True):
            text = text.replace(placeholder, str(path))
        return text

    def new_file(self, text: str = FILE_TEXT) -> Path:
        """Create a file in the folder of the shared session."""
        self._files += 1
        file = self.folder("shared") / f"notes-{self._files}.txt"
        file.write_text(text, encoding="utf-8")
        return file

    def _prompt_table(self) -> Mapping[str, str]:
        info = self.agent.get("agentInfo")
        name = info.get("name") if isinstance(info, dict) else None
        packaged = _PROMPT_FILES.get(str(name), "prompts.toml")
        return {**read_prompts(Path(__file__).with_name(packaged)), **self._prompts}

    async def shared(self, name: str, make: Callable[[], Awaitable[Shared]]) -> Shared:
        """Return what `make` returns or raise what it raises. It is called only once for each name.

        What it has seen becomes evidence of each check that asks for it.
        """
        if name not in self._shared:
            start = len(self.evidence)
            try:
                result: Any = await make()
            except (Failed, NotOffered, NotSeen) as error:
                result = error
            self._shared[name] = (result, self.evidence[start:])
        result, seen = self._shared[name]
        known = {id(record) for record in self.evidence}
        self.evidence += [record for record in seen if id(record) not in known]
        if isinstance(result, Exception):
            raise result
        return cast("Shared", result)

    async def turn(self, purpose: str) -> ObservedTurn:
        """Return the turn for a purpose in the shared session. Its end may be an error.

        The turn runs only once. Raises as `ObservedTurn.finish` and `prompt` do.
        """

        async def run() -> ObservedTurn:
            client, session = await self.session()
            turn = await client.run_turn(session, self.prompt(purpose))
            await client.settle()
            return turn

        return await self.shared(f"turn {purpose}", run)

    async def good_turn(self, purpose: str) -> ObservedTurn:
        """Return the turn for a purpose. Raises `NotSeen` if it ended with an error."""
        turn = await self.turn(purpose)
        require_success(turn)
        return turn

    async def asked_turn(self, method: str, handler: Handler, *purposes: str) -> ObservedTurn:
        """Run a turn in which the agent sends a request that `handler` answers.

        The prompts are tried until one leads to such a request. Raises `NotSeen` if none does, and `Failed`
        if the agent does not go on after the answer.
        """
        client, session = await self.session()
        with client.serving(method, handler):
            for purpose in purposes:
                turn = client.start_turn(session, self.prompt(purpose))
                try:
                    await turn.finish()
                except NotSeen:
                    if turn.is_silent_after_answering(method):
                        raise Failed(f"the turn did not go on after the answer to {method}") from None
                    raise
                if turn.requests(method):
                    return turn
        raise NotSeen(f"the agent sent no {method}")

    # ----------------------------------------------------------------- records

    def begin_check(self) -> None:
        """Forget what earlier checks have seen."""
        self.evidence = []

    def evidence_in_context(self) -> list[Record]:
        """Return the evidence, preceded by the messages that set up the connections it comes from."""
        seen = {id(record) for record in self.evidence}
        found: list[Record] = []
        for client in self.clients:
            if any(id(record) in seen for record in client.records):
                sessions = {_session_of(record) for record in client.records if id(record) in seen}
                setup = {id(record) for record in _setup_records(client.records, sessions)} | seen
                found += [record for record in client.records if id(record) in setup]
        return found

    def violations(self, *, by_session: bool) -> list[FoundViolation]:
        """Return the violations that `doctor` finds in everything seen so far on connections of version 1.

        With `by_session`, the sessions are examined one by one, and a replay apart from what came before.
        """
        key = by_session, sum(len(client.records) for client in self.clients)
        if key not in self._violations:
            # Another version has another schema.
            spoken = [one for one in self.clients if one.agent.get("protocolVersion", 1) in SPOKEN_VERSIONS]
            streams = [client.records for client in spoken]
            if by_session:
                streams = [stream for records in streams for stream in _session_streams(records)]
            self._violations[key] = [one for records in streams for one in iterate_violations(records)]
        return self._violations[key]

    def received(self) -> Iterator[Record]:
        """Yield everything that was received so far, on all connections."""
        for client in self.clients:
            yield from (record for record in client.records if record.direction == "received")


def require_success(turn: ObservedTurn) -> None:
    """Raise `NotSeen` if a turn ended with an error, `Failed` if the error says that the prompt is wrong."""
    if turn.error is not None:
        code = turn.error.get("code") if isinstance(turn.error, dict) else None
        message = turn.error.get("message") if isinstance(turn.error, dict) else turn.error
        kind = Failed if code in REFUSING_CODES else NotSeen
        raise kind(f"the prompt was answered with error {code}: {str(message)[:200]}")


def read_prompts(file: Path) -> dict[str, str]:
    """Read a file of prompts: TOML with a string for each purpose. Raises `UserError`."""
    with os_errors_reported(f"{file} cannot be read"):
        data = file.read_bytes()
    try:
        table = tomllib.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file} is not valid TOML: {error}.") from None
    if wrong := [name for name, text in table.items() if not isinstance(text, str)]:
        raise UsageError(f"{file}: {wrong[0]} must be a string with a prompt.")
    return table


def _setup_records(records: list[Record], sessions: Container[Any]) -> Iterator[Record]:
    """Yield the requests that set up a connection or open one of these sessions, and their answers."""
    waiting: dict[Any, Record] = {}
    for record in records:
        frame = record.frame
        if not isinstance(frame, dict) or not isinstance(frame.get("id"), (int, str)):
            continue
        if record.direction == "sent" and frame.get("method") in _SETUP_METHODS:
            waiting[frame["id"]] = record
        elif record.direction == "received" and "method" not in frame and frame["id"] in waiting:
            request = waiting.pop(frame["id"])
            named = {_session_of(request), _session_of(record)} - {None}
            if not named or any(session in sessions for session in named):
                yield request
                yield record


def _session_of(record: Record) -> str | None:
    """Return the session that a message names in its parameters or its result."""
    frame = record.frame if isinstance(record.frame, dict) else {}
    for part in (frame.get("params"), frame.get("result")):
        if isinstance(part, dict) and isinstance(session := part.get("sessionId"), str):
            return session
    return None


def _session_streams(records: list[Record]) -> Iterator[list[Record]]:
    """Yield the records of each session. A session that is loaded again begins a new stream."""
    sessions: dict[str, list[int]] = {}  # where each stream of a session begins
    for index, record in enumerate(records):
        frame = record.frame
        params = frame.get("params") if isinstance(frame, dict) else None
        named = params.get("sessionId") if isinstance(params, dict) else None
        if isinstance(frame, dict) and isinstance(named, str):
            starts = sessions.setdefault(named, [0])
            if record.direction == "sent" and frame.get("method") in ("session/load", "session/resume"):
                starts.append(index)
    for session, starts in sessions.items():
        for start, end in zip(starts, [*starts[1:], len(records)], strict=True):
            yield list(session_records(records[start:end], session))
