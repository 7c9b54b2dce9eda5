"""One conversation, from the start of the agent to its end.

Commands go down from here to the agent; what comes back is recorded, folded into the session, and told to
whoever listens.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from acp_tui.connection.client import AgentConnection
from acp_tui.connection.errors import ConnectionFault, NotOffered, RequestFailed
from acp_tui.controller.baseline_tracker import BaselineTracker
from acp_tui.controller.capabilities import client_capabilities, session_parameters
from acp_tui.controller.diff_places import DiffPlaces
from acp_tui.controller.permission_gate import PermissionGate
from acp_tui.controller.prompt_blocks import PromptBlockBuilder, adapt_blocks
from acp_tui.controller.recorder import Recorder
from acp_tui.controller.request_handlers import RequestHandlers
from acp_tui.controller.settings_restore import restore_settings
from acp_tui.controller.sign_in import explain_sign_in_errors
from acp_tui.controller.user_commands import UserCommands
from acp_tui.errors import Refusal, UserError
from acp_tui.permissions.identity import identity_of
from acp_tui.processes import Reaper
from acp_tui.session.events import AgentExited, AgentStarted, Noticed, SessionOpened
from acp_tui.session.state import REQUEST_CANCELLED
from acp_tui.store.folders import BASELINE
from acp_tui.workspace.baseline.work_tree import Limits
from acp_tui.workspace.files.files import Files
from acp_tui.workspace.files.listing import FileListing
from acp_tui.workspace.files.roots import Roots
from acp_tui.workspace.terminals.terminals import Terminals

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Sequence
    from pathlib import Path

    from acp_tui.agents.launch import Launch
    from acp_tui.config.mcp import Server
    from acp_tui.config.policies import Policy
    from acp_tui.config.settings import Settings
    from acp_tui.connection.process import Exit
    from acp_tui.controller.facts import FileVersions, McpServerStatus
    from acp_tui.controller.user_questions import QuestionHandler
    from acp_tui.permissions.rule_store import RuleStore
    from acp_tui.permissions.rules import Rule
    from acp_tui.session.change import Change
    from acp_tui.session.events import Event
    from acp_tui.session.record import Record
    from acp_tui.session.state import Session
    from acp_tui.store.folders import NullFolder, SessionFolder
    from acp_tui.workspace.baseline.changes import FileChange

WAIT_NOTICE_SECONDS = 3.0
"""Seconds after which it is said what is being waited for."""
QUIET_SECONDS = 0.3
"""A replayed history has ended when nothing came for so long."""
LATE_HISTORY_SECONDS = 10.0
"""The longest wait for a history that comes after the answer to `session/load`."""


@dataclass(slots=True)
class Options:
    """How a conversation is to be held."""

    cwd: Path
    directories: list[Path] = field(default_factory=list)
    policy: Policy = "ask"
    run_rules: list[Rule] = field(default_factory=list)
    servers: list[Server] = field(default_factory=list)
    question_handler: QuestionHandler | None = None
    terminal_sign_in: bool = False  # can the agent's own sign-in be run in a terminal?


class Conversation:
    """One agent, one session, one folder to work in."""

    def __init__(
        self,
        launch: Launch,
        options: Options,
        settings: Settings,
        folder: SessionFolder | NullFolder,
        *,
        rule_store: RuleStore | None = None,
        past: Iterable[Record] = (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.launch = launch
        self.options = options
        self.folder = folder
        self.mcp_servers: list[McpServerStatus] = []
        """Those of the settings, as the agent was given them when the session was opened."""
        self._settings = settings
        self._clock = clock
        self._agent: AgentConnection | None = None
        self._coming_and_going = asyncio.Lock()  # an agent is started, or everything is ended
        self._closing = False
        self._closed = False
        self._recorder = Recorder(folder, past, clock)
        self.listen, self.note = self._recorder.listen, self._recorder.note
        self._roots = Roots(options.cwd, options.directories)
        self._reaper = Reaper()
        limits = Limits(file_size=settings.workspace.max_baseline_file_size)
        self._baseline = BaselineTracker(
            self._roots, folder.path / BASELINE if folder.path else None, limits, self.note, self._reaper
        )
        self.listen(self._see)
        self._gate = PermissionGate(
            policy=options.policy,
            identity=lambda: identity_of(launch, self.session.agent.name if self.session.agent else None),
            project=str(self._roots.cwd),
            note=self.note,
            rule_store=rule_store,
            run_rules=options.run_rules,
            question_handler=options.question_handler,
            clock=clock,
        )
        self._terminals = Terminals(
            self._roots.cwd,
            on_output=self._recorder.terminal_output,
            on_exit=self._recorder.terminal_exited,
            taken=self.session.terminals,
        )
        files = Files(self._roots, settings.workspace.sensitive)
        self._diff_places = DiffPlaces(files, self.note)
        self.blocks_for = PromptBlockBuilder(files, lambda: self.session.agent).blocks
        self.listing = FileListing(self._roots.directories, reaper=self._reaper)
        self.user_commands = UserCommands(self._roots.cwd, self._recorder)
        self._handlers = RequestHandlers(
            self.session,
            self._gate,
            files,
            self._terminals,
            self._baseline.keep,
            self.note,
            missing_file_is_empty=launch.missing_file_is_empty,
        )

    @property
    def session(self) -> Session:
        """The live state. Only to be read."""
        return self._recorder.session

    @property
    def cwd(self) -> Path:
        """The folder to work in, as it is on disk."""
        return self._roots.cwd

    @property
    def log_path(self) -> str | None:
        """The wire log; None when none is kept."""
        return str(self.folder.path / "wire.jsonl") if self.folder.path else None

    @property
    def _connection(self) -> AgentConnection:
        if self._agent is None:
            raise NotOffered(f"{self.launch.title} has not been started.")
        return self._agent

    # ----------------------------------------------------------------- opening

    async def start(self) -> None:
        """Start the agent's process and agree on the protocol."""
        async with self._coming_and_going:
            if self._closing:
                raise NotOffered("The conversation is closed.")
            agent = await self._start()
        question_handler = self.options.question_handler
        capabilities = client_capabilities(
            elicitation=question_handler.elicitation_modes if question_handler else (),
            terminal_sign_in=self.options.terminal_sign_in,
        )
        async with self._impatience("to start"):
            await agent.initialize(capabilities, timeout=self._settings.timeouts.initialize)
        told = self.session.agent
        if told is not None and self.launch.title == self.launch.name:  # it has no title but its program
            self.launch.title = agent.title = told.title or told.name or self.launch.title

    async def _start(self) -> AgentConnection:
        try:
            self._agent = await AgentConnection.start(
                self.launch,
                str(self._roots.cwd),
                session=self.session,
                observe=self._recorder.observe,
                serve=self._handlers,
                on_exit=self._exited,
                clock=self._clock,
                stderr=self.folder.stderr_sink,
            )
        except ConnectionFault as fault:
            self.note(AgentExited(reason=str(fault), stderr_tail=fault.stderr_tail))
            raise
        self.note(AgentStarted(self.launch.command, str(self._roots.cwd), self._agent.pid))
        return self._agent

    async def open_new(self) -> None:
        """Begin a new session."""
        self._baseline.begin()
        reopened = bool(self.session.settings)
        cwd, directories, servers = self._place()
        timeout = self._settings.timeouts.session
        with explain_sign_in_errors(self.launch.title, self.session):
            async with self._impatience("to open a session"):
                await self._connection.new_session(cwd, directories, servers, timeout=timeout)
        await self._opened(reopened)

    async def open_known(self, session_id: str) -> None:
        """Go on with a session that the agent keeps: resumed, or loaded where it cannot be resumed."""
        agent = self.session.agent
        resume = agent is not None and agent.can("sessionCapabilities", "resume")
        if agent is None or not agent.can_resume:
            raise NotOffered(f"{self.launch.title} can neither resume nor load a session.")
        self._baseline.begin()
        reopened = bool(self.session.settings)
        cwd, directories, servers = self._place()
        call = self._connection.resume_session if resume else self._connection.load_session
        with explain_sign_in_errors(self.launch.title, self.session):
            async with self._impatience("to open the session again"):
                await call(session_id, cwd, directories, servers, timeout=self._settings.timeouts.session)
        await self._opened(reopened)
        await self._late_history()

    async def _late_history(self) -> None:
        """Wait until a replay that comes after the answer has ended: a prompt must not get in between."""
        deadline = self._clock() + LATE_HISTORY_SECONDS
        while not self.session.history_complete and self._clock() < deadline:
            heard_at = self.session.heard_at
            await asyncio.sleep(QUIET_SECONDS)
            if self.session.heard_at == heard_at:
                return

    async def reconnect(self) -> None:
        """End the agent, with the terminals it had, and start it again."""
        if self._agent is not None:
            await self._agent.close()
        await self._terminals.release_all()
        self._gate.turn_ended()
        await self.start()

    async def open_again(self) -> None:
        """Go on with the session there was, or begin a new one where the agent does not know it any more."""
        session_id = self.session.session_id
        try:
            if session_id is not None:
                await self.open_known(session_id)
                return
        except NotOffered as error:
            self.note(Noticed("warning", str(error)))
        except RequestFailed as failure:  # many keep a session only from its first answer on
            if failure.error.code == REQUEST_CANCELLED:
                raise
        await self.open_new()

    def _place(self) -> tuple[str, list[str], list[dict[str, Any]]]:
        """Folder, further folders and MCP servers, as this agent takes them; what it does not is said."""
        agent = self.session.agent
        assert agent is not None
        place = session_parameters(agent, self.launch, self._roots.directories[1:], self.options.servers)
        self.mcp_servers = place.given
        for sentence in place.left_out:
            self.note(Noticed("warning", sentence))
        return str(self._roots.cwd), place.directories, place.servers

    async def _opened(self, reopened: bool) -> None:
        """Keep what identifies the session; `reopened`: it had settings before, which it is to have again."""
        self.folder.update_meta(
            session_id=self.session.session_id,
            cwd=str(self._roots.cwd),
            directories=[str(directory) for directory in self._roots.directories[1:]],
        )
        if not reopened:
            return
        timeout = self._settings.timeouts.session
        async with self._impatience("to restore its settings"):
            await restore_settings(self._connection, self.session, self.note, timeout=timeout)

    async def sign_in(self, method_id: str) -> None:
        """Sign in by a method of the agent's own; may wait for a login elsewhere, so cancel it to give up."""
        await self._connection.authenticate(method_id)

    # ----------------------------------------------------------------- settings

    async def set_mode(self, mode: str) -> None:
        """Change the agent's mode."""
        await self._connection.set_mode(self._session_id, mode)

    async def set_config_option(self, option: str, value: str | bool) -> None:
        """Change one of the agent's options."""
        await self._connection.set_config_option(self._session_id, option, value)

    async def set_model(self, model: str) -> None:
        """Change the model, with agents that offer models apart from their options."""
        await self._connection.set_model(self._session_id, model)

    def set_policy(self, policy: Policy) -> None:
        """Change what is allowed without asking, until this conversation is closed."""
        self.options.policy = policy
        self._gate.change_policy(policy)

    # ----------------------------------------------------------------- turns

    async def prompt(self, blocks: Sequence[dict[str, Any]]) -> None:
        """One turn. How it ended is in the session; a failed one raises."""
        await self._baseline.ready()
        try:
            with explain_sign_in_errors(self.launch.title, self.session):
                await self._connection.prompt(self._session_id, adapt_blocks(blocks, self.session.agent))
        finally:
            self._gate.turn_ended()
            self.folder.update_meta(title=self.session.title, stop=self.session.stop_reason)

    async def cancel(self) -> None:
        """Ask the agent to stop, and answer what it has asked; it ends the turn itself."""
        await self._connection.cancel(self._session_id)
        await self._connection.answer_pending(self._session_id)

    async def changes(self) -> list[FileChange]:
        """All files that are not as they were when the conversation began."""
        return await self._baseline.changes()

    @property
    def finds_all_changes(self) -> bool:
        """False when `changes` misses what the agent did not announce: without git, or in a huge folder."""
        return self._baseline.complete

    async def versions(self, change: FileChange) -> FileVersions:
        """What a changed file held when the conversation began, and what it holds now."""
        return await self._baseline.versions(change)

    async def revert(self, path: Path) -> None:
        """Put a file back as it was when the conversation began."""
        await self._baseline.revert(path)

    async def kill_terminal(self, terminal_id: str) -> None:
        """End a command that runs in a terminal of ours; the agent is told its end as any other."""
        terminal = self.session.terminals.get(terminal_id)
        if terminal is not None and terminal.owner == "user":
            await self.user_commands.kill(terminal_id)
            return
        try:
            await self._terminals.kill(terminal_id)
        except Refusal as refusal:
            raise UserError(f"It cannot be ended: {refusal.message}.") from None

    @property
    def _session_id(self) -> str:
        if self.session.session_id is None:
            raise NotOffered(f"{self.launch.title} has no open session.")
        return self.session.session_id

    # ----------------------------------------------------------------- the end

    async def close(self) -> None:
        """End everything this conversation started, also what is just being started. Nothing outlives it."""
        self._closing = True
        async with self._coming_and_going:
            if self._closed:
                return
            self._closed = True
            if self._agent is not None:
                await self._agent.answer_pending()
            await self._terminals.close()
            await self.user_commands.close()
            if self._agent is not None:
                await self._agent.close()
            await self._diff_places.close()
            await self._baseline.close()
            await asyncio.to_thread(self.listing.close)
            await asyncio.to_thread(self._reaper.close)
            self.folder.close()

    def _exited(self, ended: Exit) -> None:
        self.note(
            AgentExited(
                exit_code=ended.code,
                signal=ended.signal,
                stderr_tail=ended.stderr_tail,
                expected=self._closing or ended.expected,
                reason=ended.reason,
            )
        )

    # ----------------------------------------------------------------- on the way

    def _see(self, _record: Record, events: Sequence[Event], changes: Sequence[Change]) -> None:
        loaded = any(isinstance(event, SessionOpened) for event in events)
        history = loaded or self.session.replaying
        self._baseline.see(changes, history=history)
        self._diff_places.see(changes, history=history)

    @asynccontextmanager
    async def _impatience(self, what: str) -> AsyncIterator[None]:
        """Says what is being waited for, with the agent's last words, when it takes long; then how long."""
        began, title = self._clock(), self.launch.title
        said = False

        def say() -> None:
            nonlocal said
            said = True
            last = self._connection.stderr_tail(1)
            words = f" Its last line on stderr: {last[0]}" if last else ""
            self.note(Noticed("info", f"Waiting for {title} {what} …{words}", source="waiting"))

        timer = asyncio.get_running_loop().call_later(WAIT_NOTICE_SECONDS, say)
        try:
            yield
        finally:
            timer.cancel()
        if said:
            took = f"{self._clock() - began:.0f} s"
            self.note(Noticed("info", f"{title} took {took} {what}", source="waited"))
