"""A connection to a scripted agent, with all its records."""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.config.agent_catalogue import Launch
from acp_tui.connection.agent_connection import AgentConnection
from acp_tui.connection.params import SessionSetup
from acp_tui.protocol.translator import Translator
from acp_tui.session.reduce import reduce
from acp_tui.session.state import Session
from tests.support.leftovers import MARK, processes_with

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from acp_tui.connection.errors import AgentExit
    from acp_tui.session.record import Record

    Handler = Callable[[dict[str, Any]], Awaitable[dict[str, Any] | None]]

REPOSITORY = Path(__file__).parents[2]
SESSION = "session-1"


def text(words: str) -> list[dict[str, Any]]:
    """Return a prompt."""
    return [{"type": "text", "text": words}]


@dataclass
class Client:
    """Uses a connection as the controller does."""

    launch: Launch
    cwd: Path
    mark: str
    session: Session = field(default_factory=Session)
    translator: Translator = field(default_factory=Translator)
    records: list[Record] = field(default_factory=list)
    lines: list[str | None] = field(default_factory=list)
    exits: list[AgentExit] = field(default_factory=list)
    stderr: bytearray = field(default_factory=bytearray)
    handlers: dict[str, Handler] = field(default_factory=dict)
    served: list[str] = field(default_factory=list)
    connection: AgentConnection = field(init=False)
    _clock: itertools.count[int] = field(default_factory=itertools.count)

    @classmethod
    def of(cls, cwd: Path, module: str, *args: str, env: dict[str, str] | None = None) -> Client:
        """Return a client for an agent in `tests/fake_agents`."""
        mark = uuid.uuid4().hex
        environment = {"PYTHONPATH": str(REPOSITORY), MARK: mark, **(env or {})}
        command = [sys.executable, "-m", f"tests.fake_agents.{module}", *args]
        return cls(Launch("scripted", "Scripted Agent", command, environment), cwd, mark)

    async def start(self, **options: Any) -> AgentConnection:
        """Start the agent."""
        self.connection = await AgentConnection.start(
            self.launch,
            str(self.cwd),
            session=self.session,
            observe=self.observe,
            serve=self.serve,
            on_exit=self.exits.append,
            clock=lambda: next(self._clock),
            stderr=self.stderr.extend,
            **options,
        )
        return self.connection

    async def initialize(self) -> AgentConnection:
        """Start and initialize the agent."""
        await self.start()
        await self.connection.initialize({"fs": {"readTextFile": True}})
        return self.connection

    async def open(self) -> AgentConnection:
        """Start and initialize the agent, and open a session."""
        await self.initialize()
        await self.connection.new_session(SessionSetup(str(self.cwd)))
        return self.connection

    def observe(self, record: Record, line: str | None) -> None:
        """Store a record and update the session."""
        self.records.append(record)
        self.lines.append(line)
        for event in self.translator.translate(record):
            reduce(self.session, event, record.at)

    async def serve(
        self, method: str, params: dict[str, Any], request_id: int | str
    ) -> dict[str, Any] | None:
        """Answer a request with its handler. Without one, wait until the request is cancelled."""
        self.served.append(method)
        if method in self.handlers:
            return await self.handlers[method](params)
        await asyncio.Event().wait()
        raise AssertionError

    def frames(self, direction: str) -> list[Any]:
        """Return all frames of one direction."""
        return [record.frame for record in self.records if record.direction == direction]

    def said(self) -> list[str]:
        """Return the chunks of the agent's messages."""
        updates = (
            frame["params"]["update"]
            for frame in self.frames("received")
            if isinstance(frame, dict)
            and frame.get("method") == "session/update"
            and "update" in frame["params"]
        )
        return [update["content"]["text"] for update in updates if isinstance(update.get("content"), dict)]

    def heard(self) -> Any:
        """Return the last chunk, in which the scripted agent reports what it received."""
        return json.loads(self.said()[-1])

    def left_behind(self) -> list[int]:
        """Return the agent's processes that are still running."""
        return processes_with(self.mark)
