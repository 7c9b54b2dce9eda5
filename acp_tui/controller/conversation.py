"""One conversation with an agent, including the start and the end of the agent's process.

Commands go from here to the agent. What comes back is recorded, folded into the session, and passed to the
listeners.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from acp_tui.connection.errors import NotSupported
from acp_tui.connection.params import TraceContext
from acp_tui.controller.agent_sessions import AgentSessions
from acp_tui.controller.agent_supervisor import AgentSupervisor, SlowStepNotices
from acp_tui.controller.baseline_tracker import BaselineTracker, ChangeOrigin, FileVersions
from acp_tui.controller.diff_locator import DiffLocator
from acp_tui.controller.mcp.app_socket import AppSocket
from acp_tui.controller.mcp.bridge_host import BridgeHost, BridgeOffer
from acp_tui.controller.mcp.own_server import AcpChannel, OwnServer, OwnServerOffer
from acp_tui.controller.mcp.server_access import OneShotServerClient
from acp_tui.controller.mcp.usage_facts import UsageFacts
from acp_tui.controller.permission_gate import PermissionGate
from acp_tui.controller.prompt_blocks import PromptBlockBuilder, adapt_blocks
from acp_tui.controller.recorder import Recorder
from acp_tui.controller.request_handlers import RequestHandlers
from acp_tui.controller.rewind import Rewind
from acp_tui.controller.rule_book import RuleBook
from acp_tui.controller.session_opener import McpServerStatus, SessionOpener, client_capabilities
from acp_tui.errors import Refusal, UserError
from acp_tui.permissions.rules import Rule, identity_of
from acp_tui.processes.reaper import Reaper
from acp_tui.session.events import Event, Noticed, SessionOpened, TerminalCreated
from acp_tui.session.state import Terminal
from acp_tui.session.usage_text import compact_command, context_share
from acp_tui.store.session_folder import NullFolder, SessionFolder, set_session_name
from acp_tui.store.session_title import session_name
from acp_tui.store.stored_sessions import BASELINE, StoredSession
from acp_tui.workspace.baseline.file_change import FileChange, Limits
from acp_tui.workspace.baseline.folder_snapshot import worktree_base
from acp_tui.workspace.baseline.turn_history import HistoryLimits
from acp_tui.workspace.files.file_access import FileAccess, path_context, remote_path_context
from acp_tui.workspace.files.file_listing import FileListing
from acp_tui.workspace.files.open_folder import Roots
from acp_tui.workspace.git.worktree import META_FIELD, Worktree
from acp_tui.workspace.terminals.terminals import Terminals, user_shell

if TYPE_CHECKING:
    from acp_tui.config.agent_catalogue import Launch
    from acp_tui.config.mcp import Server, UnsentServer
    from acp_tui.config.settings import Settings
    from acp_tui.config.validators import Policy
    from acp_tui.connection.agent_connection import AgentConnection
    from acp_tui.controller.review import ConversationReview
    from acp_tui.controller.user_questions import QuestionHandler
    from acp_tui.permissions.rule_store import RuleStore
    from acp_tui.processes.piped_process import LineRing
    from acp_tui.session.record import Change, Record
    from acp_tui.session.state import Session, ToolCall


Result = TypeVar("Result")
HYSTERESIS = 0.05
"""How far usage must fall below the threshold, as a share of the window, to rearm the warning."""


@dataclass(slots=True)
class Options:
    """What the user chose for a conversation before it starts."""

    cwd: Path
    directories: list[Path] = field(default_factory=list)
    policy: Policy = "ask"
    run_rules: list[Rule] = field(default_factory=list)
    servers: list[Server] = field(default_factory=list)  # read each time a session is opened
    withheld_servers: list[UnsentServer] = field(default_factory=list)  # shown with the reason
    question_handler: QuestionHandler | None = None
    can_rewind: bool = False  # files may change between turns: look at them before each turn
    terminal_sign_in: bool = False  # the agent's sign-in command can be run in a terminal
    worktree: Worktree | None = None  # `cwd` is in it


class Conversation:
    """One agent with one session, in one workspace."""

    def __init__(
        self,
        launch: Launch,
        options: Options,
        settings: Settings,
        folder: SessionFolder | NullFolder,
        *,
        rule_store: RuleStore | None = None,
        past: Iterable[Record] = (),
        forked: StoredSession | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`past` are the records of the session's earlier runs; `forked` is the session it is a copy of."""
        self.launch = launch
        self.options = options
        self.folder = folder
        self._settings = settings
        self._lifecycle_lock = asyncio.Lock()  # held while an agent starts or everything is closed
        self._starting: asyncio.Task[AgentConnection] | None = None
        self._closing = False
        self._closed = False
        self.was_stopped = False
        """Whether the running turn, or the last one, was stopped with `cancel`."""
        self._recorder = Recorder(folder, past, clock)
        self.listen, self.note = self._recorder.listen, self._recorder.note
        self._roots = Roots(options.cwd, options.directories)
        self._reaper = Reaper()
        limits = Limits(file_size=settings.workspace.max_baseline_file_size)
        self._baseline = BaselineTracker(
            self._roots,
            folder.path / BASELINE if folder.path else None,
            limits,
            self.note,
            self._reaper,
            HistoryLimits(settings.workspace.max_rewind_turns, settings.workspace.max_rewind_bytes),
            origin=self._origin_of_baseline(forked),
            enabled=not launch.has_remote_files,
            is_worth_keeping=lambda: options.can_rewind and bool(self.session.prompts),
        )
        self._is_resumed = bool(self.session.prompts)
        if options.worktree is not None and folder.meta.get(META_FIELD) != options.worktree.to_dict():
            folder.update_meta(
                **{META_FIELD: options.worktree.to_dict()}
            )  # it was restored from another commit
        self.rewind = Rewind(self._recorder, self._baseline)
        self._usage_facts = UsageFacts(options.servers, launch.name, folder.id or "")
        self._context_warning = ContextWarning(self.session, settings.context_warning, self.note)
        self.listen(self._track_changes)
        self._gate = PermissionGate(
            policy=options.policy,
            identity=lambda: identity_of(launch, self.session.agent.name if self.session.agent else None),
            project=str(self.project_folder),
            folder=self.session_folder,
            note=self.note,
            rule_store=rule_store,
            run_rules=options.run_rules,
            question_handler=options.question_handler,
            clock=clock,
        )
        self.rules = RuleBook(self._gate)
        self._terminals = Terminals(
            self._roots.cwd,
            on_output=self._recorder.terminal_output,
            on_exit=self._recorder.terminal_exited,
            taken=self.session.terminals,
        )
        files = FileAccess(self._roots, settings.workspace.sensitive)
        self._diff_locator = DiffLocator(files, self.note)
        paths = remote_path_context(self.session_folder) if launch.has_remote_files else path_context(files)
        self.mcp_access = OneShotServerClient(options.servers, self._roots.cwd)
        self.blocks_for = PromptBlockBuilder(files, self.session, self.mcp_access).blocks
        self._agent = AgentSupervisor(
            launch, self._roots.cwd, self._recorder, folder, TraceContext(settings.telemetry.traceparent)
        )
        self._wait_notices = SlowStepNotices(launch, self._agent, self._recorder)
        self.own_server = OwnServer(
            self.session, self._gate, files, self._baseline, settings.tools, self.note, self._roots.cwd
        )
        self.bridges = BridgeHost(self._gate, paths, self._roots.directories, self.note)
        self._mcp_socket = AppSocket(
            self.own_server.socket_handlers() | self.bridges.socket_handlers(), self._reaper
        )
        channel = AcpChannel(self.own_server, lambda method, params: self._connection.notify(method, params))
        self._opener = SessionOpener(
            launch,
            self._agent,
            self._recorder,
            folder,
            self._roots,
            options.servers,
            options.withheld_servers,
            OwnServerOffer(lambda: settings.own_server.is_for(launch.name), channel, self._mcp_socket),
            BridgeOffer(self.bridges, self._mcp_socket, self.note),
            self._baseline,
            self._wait_notices,
            timeout=settings.timeouts.session,
        )
        self.subagents = SubagentControl(self.session, self._agent)
        self.agent_sessions = AgentSessions(
            lambda: self._connection, self.session_folder, settings.timeouts.session
        )
        self.listing = FileListing(self._roots.directories, reaper=self._reaper)
        self.user_commands = UserCommands(self._roots.cwd, self._recorder)
        self._handlers = RequestHandlers(
            launch,
            self._recorder,
            self._gate,
            files,
            paths,
            self._terminals,
            self._baseline,
            channel,
            self.bridges,
        )
        self.listen(lambda _record, _events, changes: self._handlers.see_changes(changes))

    def _origin_of_baseline(self, forked: StoredSession | None) -> ChangeOrigin:
        worktree = self.options.worktree
        return ChangeOrigin(
            worktree_base(worktree.path, worktree.base) if worktree is not None else None,
            forked.path / BASELINE if forked is not None else None,
            bool(self.session.prompts),
            self.session.heard_at,
            self._recorder.continued_at,
        )

    @property
    def session(self) -> Session:
        """The session's live state, which callers must not change."""
        return self._recorder.session

    @cached_property
    def review(self) -> ConversationReview:
        """The review of the changed files, with its decisions and comments."""
        from acp_tui.controller.review import ConversationReview

        return ConversationReview(self._baseline, self._roots.cwd)

    @property
    def cwd(self) -> Path:
        """The working directory, with symlinks resolved."""
        return self._roots.cwd

    @property
    def session_folder(self) -> str:
        """The working directory as the agent knows it: on another machine, not the same as `cwd`."""
        return self.launch.session_folder(str(self._roots.cwd))

    @property
    def project_folder(self) -> Path:
        """The folder to which rules, trust and history belong.

        This is `cwd` or, if the session has a git worktree of its own, the user's checkout.
        """
        worktree = self.options.worktree
        return worktree.project_folder if worktree is not None else self.cwd

    @property
    def name(self) -> str:
        """The name that the user gave the session; empty if there is none."""
        return session_name(self.folder.meta)

    def rename(self, name: str) -> None:
        """Name the session. An empty name removes the name."""
        set_session_name(self.folder, name)

    @property
    def log_path(self) -> str | None:
        """The path of the wire log; None if none is kept."""
        return str(self.folder.path / "wire.jsonl") if self.folder.path else None

    @property
    def agent_stderr(self) -> LineRing | None:
        """The last lines of the agent's stderr; None before the agent is started."""
        return self._agent.stderr

    @property
    def was_started(self) -> bool:
        """True once the agent has been started, even if it has ended."""
        return self._agent.was_started

    def explain_silence(self) -> str:
        """Return sentences on why the agent may not have answered; empty if nothing is known.

        While nothing but the opening of a session is waited for, nobody waits for its answers any more.
        """
        if not self._agent.was_started:
            return ""
        return self._connection.stdout_fault() if self.session.working else self._connection.give_up_all()

    @property
    def _connection(self) -> AgentConnection:
        return self._agent.connection

    # ----------------------------------------------------------------- opening

    async def start(self, *, handshake: bool = True) -> None:
        """Start the agent's process and initialize the connection; without `handshake`, only start it."""
        async with self._lifecycle_lock:
            if self._closing:
                raise NotSupported("The conversation is closed.")
            if self._is_resumed:  # the review works even if the agent cannot be started
                self._baseline.begin()
            self._starting = asyncio.create_task(self._agent.start(self._handlers))
            agent = await self._starting
        if not handshake:
            return
        capabilities = client_capabilities(
            elicitation=self.options.question_handler is not None,
            terminal_sign_in=self.options.terminal_sign_in and not self.launch.is_remote,
            workspace=not self.launch.has_remote_files,
        )
        async with self._wait_notices.during("to start"):
            await agent.initialize(capabilities, timeout=self._settings.timeouts.initialize)
        reported = self.session.agent
        if reported is not None and self.launch.title == self.launch.name:  # only the program's name is known
            self.launch.title = agent.title = reported.title or reported.name or self.launch.title

    async def open_new(self) -> None:
        """Start a new session."""
        await self._opener.open_new()

    async def open_known(self, session_id: str) -> None:
        """Reopen a session stored by the agent, with `session/resume` or else with `session/load`."""
        await self._opener.open_known(session_id)

    async def open_fork(self, session_id: str) -> None:
        """Open a copy of one of the agent's sessions. Raises `NotSupported` if the agent offers no copies."""
        await self._opener.open_fork(session_id)

    async def open_again(self) -> bool:
        """Reopen the conversation's session. If the agent cannot reopen the session, start a new one.

        Return False if the session is a new one that lacks earlier prompts.
        """
        return await self._opener.open_again()

    @property
    def mcp_servers(self) -> list[McpServerStatus]:
        """The MCP servers defined for the session, and whether each was sent to the agent."""
        return self._opener.mcp_servers

    async def reconnect(self) -> None:
        """Restart the agent. Its terminals are closed."""
        await self._agent.end()
        self.own_server.stop_calls()
        self.bridges.stop_calls()
        await self._mcp_socket.renew()
        await self._terminals.release_all()
        self._gate.turn_ended()
        await self.start()

    async def sign_in(self, method_id: str) -> None:
        """Sign in with one of the agent's methods.

        There is no timeout, because the user may have to sign in on a web page first.
        """
        await self._connection.authenticate(method_id)

    async def sign_out(self) -> None:
        """Sign out of the agent's account. Raises `NotSupported` if the agent does not offer a sign-out."""
        await self._connection.logout()

    # ----------------------------------------------------------------- settings

    async def set_mode(self, mode: str) -> None:
        """Change the agent's mode."""
        await self._connection.set_mode(self._session_id, mode)

    async def set_config_option(self, option: str, value: str | bool) -> None:
        """Change one of the agent's options."""
        await self._connection.set_config_option(self._session_id, option, value)

    async def set_model(self, model: str) -> None:
        """Change the model of an agent that offers `models` instead of a config option for the model."""
        await self._connection.set_model(self._session_id, model)

    def set_policy(self, policy: Policy) -> None:
        """Change the permission policy until this conversation is closed."""
        self.options.policy = policy
        self._gate.change_policy(policy)

    # ----------------------------------------------------------------- turns

    async def prompt(self, blocks: Sequence[dict[str, Any]]) -> None:
        """Run one turn and wait for its end. The stop reason is in the session. Raises if the turn fails."""
        session_id, content = self._session_id, adapt_blocks(blocks, self.session.agent)
        await self._run_turn(lambda: self._connection.prompt(session_id, content))

    async def _run_turn(self, prompt: Callable[[], Awaitable[Result]]) -> Result:
        """Send a prompt, and do what belongs to the beginning and the end of a turn."""
        self.was_stopped = False
        await self._baseline.ready()
        try:
            if self._baseline.enabled:
                await self.rewind.begin_turn(checkpoint=self.options.can_rewind)
            return await prompt()
        finally:
            self._gate.turn_ended()
            if self._baseline.enabled:
                self.rewind.end_turn()
            title = self.session.title or self.folder.meta.get("title")  # an agent's list may have named it
            self.folder.update_meta(title=title, stop=self.session.stop_reason)

    async def steer(self, blocks: Sequence[dict[str, Any]], *, timeout: float) -> str:
        """Send a message into the running turn. Returns the outcome: see `AgentConnection.steer`."""
        return await self._connection.steer(
            self._session_id, adapt_blocks(blocks, self.session.agent), timeout=timeout
        )

    async def cancel(self) -> None:
        """Tell the agent to stop the turn. Cancel the agent's pending requests, so that the turn can end."""
        self.was_stopped = True
        await self._connection.cancel(self._session_id)
        await self._answer_stopped_requests()

    async def _answer_stopped_requests(self) -> None:
        await self._connection.answer_pending()  # also those of subagents' sessions
        self.own_server.stop_calls()
        self.bridges.stop_calls()

    async def send_by_hand(
        self, method: str, params: Any, *, is_request: bool = True, faults: Sequence[str] = ()
    ) -> Any:
        """Send a message that the user wrote, unchanged, and return the result; None for a notification.

        It is recorded as the user's, with `faults`: sentences on what the schema does not allow in it. A
        prompt to this session is a turn as any other; a cancel of its turn also answers pending requests.
        """
        is_ours = self.is_about_session(params)
        if not is_request:
            if method == "session/cancel" and is_ours:
                self.was_stopped = True
            await self._connection.notify(method, params, faults=[*faults])
            if method == "session/cancel" and is_ours:
                await self._answer_stopped_requests()
            return None
        if method == "session/prompt" and is_ours and not self.session.working:
            return await self._run_turn(lambda: self._connection.prompt_by_hand(params, [*faults]))
        return await self._connection.call_by_hand(method, params, [*faults])

    def answer_requests(
        self, takes: Callable[[dict[str, Any]], bool]
    ) -> Callable[[Any, dict[str, Any]], None]:
        """Leave requests of the agent to the caller, and return the function that answers one by its id.

        `takes` is called with each request and returns True to answer it. An answer has a `result` or an
        `error`. The agent must have been started.
        """
        return self._connection.answer_requests(takes)

    def is_about_session(self, params: Any) -> bool:
        """Return True if params name this session."""
        session_id = params.get("sessionId") if isinstance(params, dict) else None
        return session_id is not None and session_id == self.session.session_id

    async def changes(self) -> list[FileChange]:
        """Return the files that have changed since the conversation began. See `finds_all_changes`."""
        return await self._baseline.changes()

    @property
    def finds_all_changes(self) -> bool:
        """True if `changes` finds all changed files.

        Without git, or in a huge folder, `changes` finds only the files that the agent names.
        """
        return self._baseline.complete

    async def versions(self, change: FileChange) -> FileVersions:
        """Return the contents of a changed file: when the conversation began, and now."""
        return await self._baseline.versions(change)

    async def kill_terminal(self, terminal_id: str) -> None:
        """Kill a command of the user or of the agent. An agent that waits for a command is told its end."""
        terminal = self.session.terminals.get(terminal_id)
        if terminal is not None and terminal.owner == "user":
            await self.user_commands.kill(terminal_id)
            return
        if terminal is not None and terminal.can_cancel:
            await self.cancel_work(terminal)
            return
        try:
            await self._terminals.kill(terminal_id)
        except Refusal as refusal:
            raise UserError(f"The command cannot be stopped: {refusal.message}.") from None

    async def cancel_work(self, entry: ToolCall | Terminal) -> None:
        """Ask the agent to stop one tool call, or the command of one of its terminals. The turn goes on."""
        if isinstance(entry, Terminal):
            await self._connection.cancel_terminal(self._session_id, entry.terminal_id)
        else:
            await self._connection.cancel_tool_call(self._session_id, entry.call_id)

    @property
    def _session_id(self) -> str:
        if self.session.session_id is None:
            raise NotSupported(f"{self.launch.title} has no open session.")
        return self.session.session_id

    # ----------------------------------------------------------------- closing

    async def close(self, *, close_session: bool = False) -> None:
        """End everything that this conversation started, including an agent that is still starting.

        With `close_session`, an agent that can close sessions is told that its session is no longer needed.
        """
        self._closing = self._agent.is_end_expected = True
        if self._starting is not None and self.launch.address is not None:
            self._starting.cancel()  # connecting can take long, and leaves nothing behind
        async with self._lifecycle_lock:
            if self._closed:
                return
            self._closed = True
            self.folder.mark_closing()
            if self._agent.was_started:
                await self._connection.answer_pending()
                if close_session:
                    await self._opener.close_session()
            await self.own_server.close()
            await self._mcp_socket.close()
            await self._terminals.close()
            await self.user_commands.close()
            await self._agent.end()
            await self._diff_locator.close()
            await self._usage_facts.finish()
            await self._baseline.close(checkpoint=self.options.can_rewind)
            await asyncio.to_thread(self.listing.close)
            await asyncio.to_thread(self._reaper.close)
            if self._gate.rule_store is not None:
                await asyncio.to_thread(self._gate.rule_store.matches.write)
            self.folder.close()

    # ----------------------------------------------------------------- listeners

    def _track_changes(self, _record: Record, events: Sequence[Event], changes: Sequence[Change]) -> None:
        loaded = any(isinstance(event, SessionOpened) for event in events)
        history = loaded or self.session.replaying
        everywhere = [change.inner or change for change in changes]  # also in the sessions of subagents
        if not self.launch.has_remote_files:
            self._baseline.see(everywhere, history=history)
            self._diff_locator.see(changes, history=history)
        self._usage_facts.record(events, everywhere, history=history)
        self._context_warning.see(changes)


class ContextWarning:
    """Adds a notice when the usage of the context window rises to the threshold.

    The next notice can follow once the usage has fallen to `HYSTERESIS` below the threshold.
    """

    def __init__(self, session: Session, percent: int, note: Callable[[Event], None]) -> None:
        """The threshold is `percent` of the context window; 0 turns the warning off."""
        self._session = session
        self._threshold = percent / 100
        self._note = note
        self._warned = False

    def see(self, changes: Iterable[Change]) -> None:
        """If one of the changes updates the usage of the context window, check the usage."""
        if self._threshold and any(change.fact == "usage" for change in changes):
            self._check()

    def _check(self) -> None:
        usage = self._session.usage
        share = context_share(usage.used, usage.size)
        if share is None:
            return
        if share < self._threshold:
            self._warned = self._warned and share > self._threshold - HYSTERESIS
        elif not self._warned:
            self._warned = True
            # Called later, because other listeners must see the agent's usage update before this notice.
            asyncio.get_running_loop().call_soon(self._note, Noticed("warning", self._sentence(share)))

    def _sentence(self, share: float) -> str:
        command = compact_command(self._session)
        advice = (
            f"Send {command} to have the agent summarise the conversation."
            if command
            else "The agent may soon forget the beginning of the conversation."
        )
        return f"The context window is {share:.0%} full. {advice}"


class SubagentControl:
    """Stops the subagents of one conversation."""

    def __init__(self, session: Session, agent: AgentSupervisor) -> None:
        self._session = session
        self._agent = agent

    async def stop(self, key: str) -> None:
        """Ask a subagent to stop, and cancel its pending requests. Other agents continue.

        Raises `NotSupported` if the agent cannot stop this subagent.
        """
        subagent = self._session.subagents[key]
        if not subagent.can_cancel:
            raise NotSupported(
                f"{subagent.name} cannot be stopped separately: the agent does not support that."
            )
        session = self._session
        pending = [each.request_id for each in session.permissions.values() if each.subagent == key]
        pending += [each.request_id for each in session.elicitations.values() if each.subagent == key]
        await self._agent.connection.cancel(subagent.session_id)
        self._agent.connection.withdraw_requests(pending)


class UserCommands:
    """Runs command lines, each in its own terminal, and records their output."""

    def __init__(self, cwd: Path, recorder: Recorder) -> None:
        self._cwd = str(cwd)
        self._note = recorder.note
        self._terminals = Terminals(
            cwd,
            on_output=recorder.terminal_output,
            on_exit=recorder.terminal_exited,
            taken=recorder.session.terminals,
            prefix=f"user-{secrets.token_hex(4)}",  # an agent that knew the id could write to the terminal
        )

    async def run(self, line: str) -> str:
        """Start a command line and return the id of its terminal."""
        try:
            terminal = await self._terminals.create(user_shell(self._cwd), ["-c", line], output_byte_limit=0)
        except Refusal as refusal:
            raise UserError(f"The command cannot be run: {refusal.message}.") from None
        self._note(TerminalCreated(terminal, "user", line, self._cwd))
        return terminal

    async def wait(self, terminal_id: str) -> None:
        """Wait until a command that `run` has started has ended."""
        await self._terminals.wait_for_exit(terminal_id)

    async def kill(self, terminal_id: str) -> None:
        """End the process group of a command. Do nothing if the group has ended or the id is unknown."""
        try:
            await self._terminals.kill(terminal_id)
        except Refusal:
            return

    async def close(self) -> None:
        await self._terminals.close()
