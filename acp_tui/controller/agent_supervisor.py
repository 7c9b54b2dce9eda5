"""Starts and ends the agent's process during a conversation, and reports slow steps of the agent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.connection.agent_connection import AgentConnection
from acp_tui.connection.errors import AgentExit, ConnectionFault, NotSupported
from acp_tui.session.events import AgentExited, AgentStarted, Noticed

if TYPE_CHECKING:
    from acp_tui.config.agent_catalogue import Launch
    from acp_tui.connection.params import TraceContext
    from acp_tui.controller.recorder import Recorder
    from acp_tui.controller.request_handlers import RequestHandlers
    from acp_tui.processes.piped_process import LineRing
    from acp_tui.store.session_folder import NullFolder, SessionFolder


SLOW_STEP_SECONDS = 3.0
"""Delay before the user is told what acp-tui waits for."""
CUT_TURN = (
    "The connection was lost while the agent was working. What it did or said after the last line above is "
    "not shown here, and a command that was running may have gone on. Nothing is sent again by itself."
)


class AgentSupervisor:
    """Starts and ends the agent's process, and records when the process starts and exits."""

    def __init__(
        self,
        launch: Launch,
        cwd: Path,
        recorder: Recorder,
        folder: SessionFolder | NullFolder,
        trace: TraceContext,
    ) -> None:
        self._trace = trace
        self._launch = launch
        self._cwd = str(cwd)
        self._recorder = recorder
        self._folder = folder
        self._agent: AgentConnection | None = None
        self.is_end_expected = False
        """True once the conversation is being closed. The agent's exit is then not a failure."""

    @property
    def was_started(self) -> bool:
        """True once a process has been started, even if it has ended."""
        return self._agent is not None

    @property
    def connection(self) -> AgentConnection:
        """The connection to the process that was started last. Raises `NotSupported` before any start."""
        if self._agent is None:
            raise NotSupported(f"{self._launch.title} has not been started.")
        return self._agent

    @property
    def stderr(self) -> LineRing | None:
        """The last lines of the agent's stderr; None before the agent is started."""
        return self._agent.stderr if self._agent is not None else None

    async def start(self, handlers: RequestHandlers) -> AgentConnection:
        """Start the agent's process and return the connection to the agent. Raises `ConnectionFault`.

        `handlers` answer the agent's requests.
        """
        was_started = self.was_started
        try:
            self._agent = await AgentConnection.start(
                self._launch,
                self._cwd,
                session=self._recorder.session,
                observe=self._recorder.observe,
                serve=handlers,
                on_exit=self._exited,
                clock=self._recorder.clock,
                stderr=self._folder.stderr_sink,
                trace=self._trace,
            )
        except ConnectionFault as fault:
            self._recorder.note(AgentExited(reason=str(fault), stderr_tail=fault.stderr_tail))
            raise
        in_new_run = self._recorder.session.process is not None and not was_started
        self._recorder.note(AgentStarted(self._launch.command, self._cwd, self._agent.pid, in_new_run))
        return self._agent

    async def end(self) -> None:
        """End the process, if one was started."""
        if self._agent is not None:
            await self._agent.close()

    def _exited(self, ended: AgentExit) -> None:
        expected = self.is_end_expected or ended.expected
        if self._launch.address is not None and self._is_working and not expected:
            self._recorder.note(Noticed("warning", CUT_TURN))
        self._recorder.note(
            AgentExited(
                exit_code=ended.code,
                signal=ended.signal,
                stderr_tail=ended.stderr_tail,
                expected=expected,
                outlived_input=ended.outlived_input,
                reason=ended.describe(self._launch.title) if self._launch.address else ended.reason,
            )
        )

    @property
    def _is_working(self) -> bool:
        """Whether the agent works in a turn or in the background."""
        session = self._recorder.session
        in_background = session.background_calls or session.background_terminals
        subagents = (subagent.is_running for subagent in session.subagents.values())
        return session.working or bool(in_background) or any(subagents)


class SlowStepNotices:
    """Shows a notice, with a fault on stdout and the last line on stderr, while a step of the agent is slow.

    If the step succeeds, another notice says how long the step took.
    """

    def __init__(self, launch: Launch, agent: AgentSupervisor, recorder: Recorder) -> None:
        self._launch = launch
        self._agent = agent
        self._recorder = recorder

    @asynccontextmanager
    async def during(self, step: str) -> AsyncIterator[None]:
        """Show a notice if the `with` block is slow. `step` is an infinitive: "to open a session"."""
        began, title = self._recorder.clock(), self._launch.title
        shown = False

        def show() -> None:
            nonlocal shown
            shown = True
            connection = self._agent.connection
            last = connection.stderr_tail(1)
            stderr = f"Last line on stderr: {last[0]}" if last else ""
            sentences = " ".join(
                filter(None, [f"Waiting for {title} {step} …", connection.stdout_fault(), stderr])
            )
            self._recorder.note(Noticed("info", sentences, source="waiting"))

        timer = asyncio.get_running_loop().call_later(SLOW_STEP_SECONDS, show)
        try:
            yield
        finally:
            timer.cancel()
        if shown:
            took = f"{self._recorder.clock() - began:.0f} s"
            self._recorder.note(Noticed("info", f"{title} took {took} {step}", source="waited"))
