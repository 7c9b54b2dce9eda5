"""Runs the conversation of a screen: starts the agent, opens the session, passes the user's commands on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from acp_tui.connection.errors import AgentGone, SignInNeeded
from acp_tui.errors import UserError
from acp_tui.ui.conversation.reconnection import Reconnection

if TYPE_CHECKING:
    from acp_tui.app_context import AppContext
    from acp_tui.controller import Conversation, QuestionHandler
    from acp_tui.controller.prompt_queue import PromptQueue
    from acp_tui.guarded_question import GuardedQuestion, StartAnswer
    from acp_tui.session.attachment import Attachment
    from acp_tui.session.events import Event
    from acp_tui.session.record import Change, Record
    from acp_tui.session.state import AuthMethod, QueuedPrompt, Session, Terminal, ToolCall
    from acp_tui.workspace.git.worktree import WorktreeLock

    Step = Callable[[], Awaitable[None]]


class PreparedConversation(Protocol):
    """A conversation, and what the app needs to start and to close it."""

    app_context: AppContext
    conversation: Conversation
    worktree_lock: WorktreeLock | None
    worktree_passed_on: bool
    closing_notes: list[str]
    when_closed: Callable[[], None]
    """Called when the user has closed the conversation but the app keeps running."""

    def start_questions(self) -> Iterator[GuardedQuestion[StartAnswer]]:
        """Yield the questions to ask before the agent starts. An answer may change the next question."""

    async def open(self) -> None:
        """Open the session. The agent must be running."""

    async def apply_options(self, failed: Callable[[UserError], None]) -> None:
        """Apply the requested modes and options to the open session; report failures to `failed`."""


class ConversationView(Protocol):
    """Interface through which a `ConversationRunner` reports to the screen and asks the user."""

    def session_created(self, session: Session) -> None:
        """Called when the state of the session was created. The agent is not running yet."""

    def record_applied(self, record: Record, events: Sequence[Event], changes: Sequence[Change]) -> None:
        """Called when a record has been applied to the session."""

    def start_failed(self, error: UserError) -> None:
        """Called when the conversation could not be created, or the user refused to start its agent."""

    def opening_started(self) -> None:
        """Called each time a session is about to be opened, and after a sign-in even if one is open."""

    def session_opened(self) -> None:
        """Called each time a session has been opened, and after a sign-in even if one was open."""

    def open_failed(self) -> None:
        """Called when the agent did not start or opened no session. The transcript shows the reason."""

    def not_reopened(self, reason: str) -> None:
        """Called when the agent cannot reopen the requested session. `reason` is a sentence."""

    def sign_in_required(self, methods: list[AuthMethod], reason: str) -> None:
        """Called when the agent requires a sign-in, or a sign-in has failed. `reason` says why."""

    def sign_in_abandoned(self) -> None:
        """Called when an attempt to sign in was abandoned, for example because the user closed the dialog."""

    def turn_failed(self, error: UserError, text: str) -> None:
        """Called when the prompt `text` could not be sent, or the agent answered it with an error.

        Not called if the agent requires a sign-in.
        """

    def send_failed(self, error: UserError, text: str) -> None:
        """Called when `text` was not sent: a prompt, or `!` and a shell command.

        A prompt is not sent if an attachment cannot be read, or if the user declines an attachment. A command
        is not run while acp-tui is still starting.
        """

    async def ask_before_start(self, question: GuardedQuestion[StartAnswer]) -> StartAnswer:
        """Ask the user a question before the agent starts, and return the chosen answer."""

    async def confirm(self, question: str, *, yes: str, no: str) -> bool:
        """Ask the user a question, and return True for yes. `yes` and `no` are the labels of the answers."""

    def reconnection_changed(self) -> None:
        """Called when acp-tui has planned to connect again by itself."""

    def show_error(self, error: UserError) -> None:
        """Show an error that no other method reports."""


class BackgroundTasks:
    """Starts tasks, and cancels those that still run when the conversation is closed."""

    def __init__(self, show_error: Callable[[UserError], None]) -> None:
        """`show_error` is called with each `UserError` that a task raises."""
        self._show_error = show_error
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, object]) -> asyncio.Task[None]:
        """Run a coroutine in the background."""
        task = asyncio.create_task(self._run(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: work.close())  # a task that is cancelled at once never begins it
        return task

    async def _run(self, work: Coroutine[Any, Any, object]) -> None:
        try:
            await work
        except UserError as error:
            self._show_error(error)

    def cancel(self) -> None:
        """Cancel all running tasks."""
        for task in list(self._tasks):
            task.cancel()


class PromptSender:
    """Accepts prompts from the first frame on, and keeps them until the conversation has a queue."""

    def __init__(self, view: ConversationView, tasks: BackgroundTasks) -> None:
        self._view = view
        self._tasks = tasks
        self._prepared: PreparedConversation | None = None
        self._queue: PromptQueue | None = None
        self._early: list[tuple[str, Sequence[Attachment]]] = []
        self._early_now = 0  # how many of these, at the beginning, are to be sent now
        self._attachment_lock = asyncio.Lock()  # later prompts wait until the attachments have been read
        self._draft_failed = False
        self._early_draft = ""  # typed before `connect`

    def connect(self, prepared: PreparedConversation, queue: PromptQueue) -> None:
        """Set the conversation whose drafts and attachments are used, and the queue that gets the prompts."""
        self._prepared, self._queue = prepared, queue
        if self._early_draft:
            self.save_draft(self._early_draft)

    def submit_early(self) -> None:
        """Submit the prompts that were kept before `connect`."""
        for text, attachments in self._early:
            self.submit(text, attachments)
        self._early.clear()

    # ------------------------------------------------------------------------- sending

    def submit(self, text: str, attachments: Sequence[Attachment] = ()) -> None:
        """Send a prompt, or queue it during a turn."""
        if self._queue is None:
            self._early.append((text, attachments))
        elif attachments or self._attachment_lock.locked():
            self._tasks.start(self._submit_with(text, attachments))
        else:
            self._queue.submit(text)

    def submit_first(self, text: str) -> None:
        """Send a prompt before the queued ones.

        If the prompt cannot be sent at once, put the prompt at the head of the queue. During a turn, also
        offer the prompt to an agent that supports steering. Does nothing before `connect`.
        """
        if self._queue is not None:
            self._tasks.start(self._queue.submit_first(text))

    async def _submit_with(self, text: str, attachments: Sequence[Attachment]) -> None:
        blocks = await self._read_attachments(text, attachments)
        if blocks is not None and self._queue is not None:
            self._queue.submit(text, blocks)

    def send_now(self, text: str, attachments: Sequence[Attachment] = ()) -> None:
        """Send a prompt, or the first queued one if `text` is empty, without waiting for the turn to end.

        If the agent supports steering, the prompt is offered during the turn, and stays queued if the agent
        does not take the prompt. Otherwise, the turn is cancelled first.
        """
        if self._queue is not None:
            self._tasks.start(self._send_now_with(text, attachments))
        elif text:
            self._early.insert(self._early_now, (text, attachments))
            self._early_now += 1

    async def _send_now_with(self, text: str, attachments: Sequence[Attachment]) -> None:
        blocks = await self._read_attachments(text, attachments) if attachments else []
        if blocks is not None and self._queue is not None:
            await self._queue.send_at_once(text, blocks or None)

    async def _read_attachments(
        self, text: str, attachments: Sequence[Attachment]
    ) -> list[dict[str, Any]] | None:
        """Return the content blocks of a prompt. If reading an attachment fails, show why and return None."""
        assert self._prepared is not None
        async with self._attachment_lock:
            try:
                confirm = partial(self._view.confirm, yes="Yes, attach it", no="No, do not send the prompt")
                return await self._prepared.conversation.blocks_for(text, attachments, confirm)
            except UserError as error:
                self._view.send_failed(error, text)
                return None

    # ------------------------------------------------------------------------- the queue

    def send_queued_now(self, prompt_id: str) -> None:
        """Send a queued prompt without waiting for the turn to end (see `send_now`)."""
        if self._queue is not None:
            self._tasks.start(self._queue.send_now(prompt_id))

    def resume(self) -> None:
        """Resume the paused queue."""
        if self._queue is not None:
            self._queue.next()

    def take_back(self, prompt_id: str | None = None) -> QueuedPrompt | None:
        """Remove a queued prompt, by default the last, and return it; None if there is no such prompt."""
        return self._queue.take_back(prompt_id) if self._queue is not None else None

    def remove_queued(self, prompt_id: str) -> None:
        """Remove a queued prompt."""
        if self._queue is not None:
            self._queue.remove(prompt_id)

    # ------------------------------------------------------------------------- the draft

    def save_draft(self, text: str) -> None:
        """Save the unsent prompt. Of several failures in a row, only the first is shown."""
        if self._prepared is None:
            self._early_draft = text
            return
        try:
            self._prepared.app_context.save_draft(self._prepared.conversation, text)
        except UserError as error:
            if not self._draft_failed:
                self._view.show_error(error)
            self._draft_failed = True
        else:
            self._draft_failed = False


class SignInFlow:
    """The sign-ins of one conversation. The user chooses the method of each attempt."""

    def __init__(self, view: ConversationView, runner: ConversationRunner) -> None:
        """`view` asks the user to choose a method; `runner` repeats what the agent refused."""
        self._view = view
        self._runner = runner
        self._login: asyncio.Task[None] | None = None
        self._refused: list[Callable[[], None]] = []  # repeat the refused requests, apart from prompts
        self._last_attempt: tuple[str, int] | None = None  # the method's name, and the turn at the time
        self._cancelled: str | None = None  # the name of the method that the user cancelled

    def required(self, need: SignInNeeded, repeat: Callable[[], None] | None = None) -> None:
        """Let the user choose a sign-in method, unless the agent is already performing a sign-in.

        `repeat` repeats the refused request after the sign-in.
        """
        if repeat is not None:
            self._refused.append(repeat)
        if self._login is None:
            self._view.sign_in_required(need.methods, self._reason(need))

    def _reason(self, need: SignInNeeded) -> str:
        conversation = self._runner.started_conversation
        title, said = conversation.launch.title, need.error.message
        attempt, self._last_attempt = self._last_attempt, None
        if attempt is not None and conversation.session.turn <= attempt[1] + 1:
            return f'You signed in with "{attempt[0]}", but {title} still requires a sign-in: {said}'
        return f"{title}: {said}"

    # ------------------------------------------------------------------------- attempts

    @property
    def waiting(self) -> bool:
        """True while the agent performs a sign-in."""
        return self._login is not None

    async def by_agent(self, method: AuthMethod) -> None:
        """Sign in by a method that the agent performs. `cancel` ends the wait."""
        conversation = self._runner.started_conversation
        self._cancelled = None
        self._login = login = asyncio.create_task(conversation.sign_in(method.id))
        try:
            await login
        except asyncio.CancelledError:
            if not login.cancelled():
                raise
            self._cancelled = method.name
            self._view.show_error(UserError("Sign-in cancelled."))
            self.abandon()
            return
        except AgentGone as error:
            self.abandon()
            if not error.exit.expected:
                self._view.show_error(error)
            return
        except UserError as error:
            self.failed(str(error))
            return
        finally:
            self._login = None
        await self._succeeded(method.name, self._runner.reopen)

    def cancel(self) -> None:
        """Stop waiting for the agent's sign-in."""
        if self._login is not None:
            self._login.cancel()

    async def by_program(self, method: AuthMethod) -> None:
        """Restart the agent after the program of `method` has signed in: a running agent would not notice."""
        self._cancelled = None
        await self._succeeded(method.name, self._runner.restart)

    def failed(self, reason: str) -> None:
        """Let the user choose a method again after a failed sign-in."""
        agent = self._runner.started_conversation.session.agent
        self._view.sign_in_required(agent.auth_methods if agent is not None else [], reason)

    def abandon(self) -> None:
        """Forget the refused requests, except the prompt, which stays in the queue."""
        self._refused.clear()
        self._view.sign_in_abandoned()

    async def notice_late_success(self) -> None:
        """Open the session if the user cancelled the last sign-in.

        Called when the agent stops requiring a sign-in: the cancelled sign-in has succeeded after all.
        """
        name, self._cancelled = self._cancelled, None
        if name is not None:
            await self._runner.reopen()

    async def _succeeded(self, name: str, proceed: Callable[[], Awaitable[bool]]) -> None:
        self._last_attempt = name, self._runner.started_conversation.session.turn
        if await proceed():
            refused, self._refused = self._refused, []
            self._runner.resend_refused()
            for repeat in refused:
                repeat()


class ConversationRunner:
    """Owns one conversation, from its creation until it is closed."""

    def __init__(
        self,
        make: Callable[[QuestionHandler], PreparedConversation],
        question_handler: QuestionHandler,
        view: ConversationView,
    ) -> None:
        """`make` is called in a thread, because it reads files and imports slow modules."""
        self._make = make
        self._question_handler = question_handler
        self._view = view
        self._tasks = BackgroundTasks(view.show_error)
        self._making: asyncio.Task[PreparedConversation] | None = None
        self._closed = False
        self._open_attempts = 0
        self._was_open = False  # whether the requested session, or a new one instead of it, was opened
        self._refused_opening: Sequence[Step] = ()  # to be repeated after the sign-in
        self._prompt_queue: PromptQueue | None = None
        self.opening = False
        """True while the agent starts or its session is being opened."""
        self.prepared: PreparedConversation | None = None
        self.prompts = PromptSender(view, self._tasks)
        self.sign_in = SignInFlow(view, self)
        self.reconnection = Reconnection(self._connect_again, self._tasks.start, view.reconnection_changed)

    @property
    def conversation(self) -> Conversation | None:
        """The conversation, or None before it exists."""
        return self.prepared.conversation if self.prepared is not None else None

    @property
    def started_conversation(self) -> Conversation:
        """The conversation. `start` must have created it."""
        assert self.prepared is not None
        return self.prepared.conversation

    # ------------------------------------------------------------------------- start and end

    async def start(self) -> None:
        """Create the conversation, start the agent and open the session."""
        if self._closed:
            return
        self._making = asyncio.create_task(asyncio.to_thread(self._make, self._question_handler))
        try:
            prepared = await asyncio.shield(self._making)
        except UserError as error:
            self._view.start_failed(error)
            return
        if not self._closed:
            await self._begin(prepared)

    async def _begin(self, prepared: PreparedConversation) -> None:
        from acp_tui.controller.prompt_queue import PromptQueue

        self.prepared = prepared
        self.opening = True
        self._prompt_queue = PromptQueue(prepared.conversation, self._turn_failed)
        self.prompts.connect(prepared, self._prompt_queue)
        prepared.conversation.listen(self._view.record_applied)
        self.reconnection.watch(prepared.conversation)
        self._view.session_created(prepared.conversation.session)
        self.prompts.submit_early()
        for question in prepared.start_questions():
            answer = await self._view.ask_before_start(question)
            await asyncio.to_thread(answer.accept)
            if answer.refusal:
                self._view.start_failed(UserError(answer.refusal))
                return
        await self._open_by(prepared.conversation.start, prepared.open, self._apply_options)

    async def restart(self) -> bool:
        """Restart the agent, even if it has ended, and reopen its session.

        If the agent no longer knows a session that was open before, open a new session. Return True if a
        session is open.
        """
        self.reconnection.take_over()
        return await self._connect_again()

    async def _connect_again(self) -> bool:
        if self.prepared is None or self._prompt_queue is None:
            return False  # the first start has not finished
        self._prompt_queue.closed()
        opening = self._refused_opening or (self._open,)
        return await self._open_by(self.prepared.conversation.reconnect, *opening)

    async def open_new(self) -> None:
        """Open a new session instead of the requested one. Restart the agent if it has ended."""
        self.reconnection.take_over()
        conversation = self.started_conversation
        start = conversation.reconnect if conversation.session.phase == "dead" else None
        await self._open_by(start, conversation.open_new, self._apply_options)

    async def close(self, *, close_session: bool = False) -> None:
        """Close the conversation. If it is still being created, wait for its creation first.

        With `close_session`, the agent is told that its session is no longer needed.
        """
        self._closed = True
        self.reconnection.stop()
        self._tasks.cancel()
        if self._making is None:
            return
        try:
            prepared = await self._making
        except UserError:
            return  # there is nothing to close, and the error was shown
        self.prepared = prepared
        await prepared.conversation.close(close_session=close_session)
        await asyncio.to_thread(prepared.app_context.prune)
        if close_session:
            prepared.when_closed()

    # ------------------------------------------------------------------------- opening the session

    async def _open_by(self, start: Step | None, *opening: Step) -> bool:
        """Run the steps that open the session, then send the waiting prompts.

        `start` starts the agent; None if the agent runs already. Return True if all steps succeeded.

        If several calls overlap, only the call that began last reports a failure.
        """
        assert self._prompt_queue is not None
        self._open_attempts += 1
        attempt = self._open_attempts
        self.opening = True
        self._view.opening_started()
        failure: UserError | None = None
        try:
            for step in (start, *opening) if start is not None else opening:
                await step()
        except UserError as error:
            failure = error
        finally:
            is_last = attempt == self._open_attempts
            if is_last:
                self.opening = False
        if failure is None:
            self._was_open = True
            self._refused_opening = ()
            self.reconnection.succeeded()
            self._prompt_queue.opened()
            self._view.session_opened()
        elif is_last:
            self._open_failed(failure, opening)
            self.reconnection.failed(failure)
        return failure is None

    async def reopen(self) -> bool:
        """After a sign-in, repeat the refused steps. If there are none, open the session unless it is open.

        Return True if the session is open afterwards.
        """
        is_open = self.started_conversation.session.phase in ("idle", "prompting")
        return await self._open_by(None, *(self._refused_opening or (() if is_open else (self._open,))))

    async def _open(self) -> None:
        """Reopen the current session; if none was open yet, open the requested one."""
        assert self.prepared is not None
        if self._was_open:
            if not await self.prepared.conversation.open_again():
                self._pause_queue()
        else:
            await self.prepared.open()
            await self._apply_options()

    async def _apply_options(self) -> None:
        """Apply the requested modes and options. The conversation continues if that fails."""
        assert self.prepared is not None
        await self.prepared.apply_options(self._view.show_error)

    def _open_failed(self, error: UserError, opening: Sequence[Step]) -> None:
        from acp_tui.controller import SignInNeeded

        if isinstance(error, SignInNeeded) and error.methods:
            self._refused_opening = opening
            self.sign_in.required(error)
            return
        if reason := _why_not_reopened(error):
            self._pause_queue()
            self._view.not_reopened(reason)
        else:
            self._add_to_transcript(error)
            self._view.open_failed()

    def _pause_queue(self) -> None:
        """Pause the queue, because its prompts may make no sense in a new session."""
        from acp_tui.session.events import QueuePaused

        conversation = self.started_conversation
        if not all(prompt.paused for prompt in conversation.session.queue):
            conversation.note(QueuePaused(True))

    def _add_to_transcript(self, error: UserError) -> None:
        """Add an error to the transcript, unless the transcript's last entry is an error already."""
        from acp_tui.session.events import Noticed
        from acp_tui.session.state import Notice

        conversation = self.started_conversation
        last = conversation.session.entries[-1:]
        if not (last and isinstance(last[0], Notice) and last[0].level == "error"):
            conversation.note(Noticed("error", str(error)))

    # ------------------------------------------------------------------------- commands

    def stop_turn(self) -> None:
        """Cancel the turn. It ends when the agent answers."""
        self._run(lambda conversation: conversation.cancel())

    def set_mode(self, mode: str) -> None:
        """Change the agent's mode."""
        self._run(lambda conversation: _set_mode(conversation, mode))

    def set_option(self, option: str, value: str | bool) -> None:
        """Change an agent option. `mode` and `model` work even if the agent does not list them as options."""
        self._run(lambda _: self.change_option(option, value))

    async def change_option(self, option: str, value: str | bool) -> None:
        """Change an agent option and wait for the agent's answer. Raises `UserError` if the agent refuses."""
        from acp_tui.controller.agent_options import change_setting

        if self.prepared is not None:
            await change_setting(self.prepared.conversation, option, value)

    def send_by_hand(self, method: str, params: Any, *, is_request: bool, faults: Sequence[str]) -> None:
        """Send a message that the user wrote. The transcript shows it with its answer, even an error.

        Prompts to the session wait in the queue until the turn of a prompt by hand has ended.
        """
        self._tasks.start(self._send_by_hand(method, params, is_request=is_request, faults=faults))

    async def _send_by_hand(
        self, method: str, params: Any, *, is_request: bool, faults: Sequence[str]
    ) -> None:
        from acp_tui.connection.errors import RequestFailed

        conversation = self.started_conversation
        sending = conversation.send_by_hand(method, params, is_request=is_request, faults=faults)
        with suppress(RequestFailed):
            if method == "session/prompt" and is_request and conversation.is_about_session(params):
                assert self._prompt_queue is not None
                await self._prompt_queue.run(sending)
            else:
                await sending

    def run_command(self, line: str) -> None:
        """Run a shell command of the user in the workspace."""
        if self.prepared is None:
            error = UserError("acp-tui is still starting. Try again in a moment.")
            self._view.send_failed(error, f"!{line}")
        else:
            self._run(lambda conversation: conversation.user_commands.run(line))

    def kill_command(self, terminal_id: str) -> None:
        """Kill a shell command of the user."""
        self._run(lambda conversation: conversation.user_commands.kill(terminal_id))

    def cancel_work(self, entry: ToolCall | Terminal) -> None:
        """Ask the agent to stop one tool call or command. The turn goes on."""
        self._run(lambda conversation: conversation.cancel_work(entry))

    async def export(self, file_format: str, theme: str) -> Path:
        """Export the conversation and return the file's path."""
        if self.prepared is None:
            raise UserError("No conversation yet.")
        return await asyncio.to_thread(
            self.prepared.app_context.export, self.prepared.conversation, file_format, theme
        )

    def sign_out(self) -> None:
        """Sign out of the agent's account."""
        self._run(lambda conversation: conversation.sign_out())

    def _run(self, command: Callable[[Conversation], Coroutine[Any, Any, object]]) -> None:
        if self.prepared is not None:
            self._tasks.start(self._run_signed_in(self.prepared.conversation, command))

    async def _run_signed_in(
        self, conversation: Conversation, command: Callable[[Conversation], Coroutine[Any, Any, object]]
    ) -> None:
        """Run a command. If the agent requires a sign-in first, run the command again after the sign-in."""
        from acp_tui.controller import SignInNeeded

        try:
            await command(conversation)
        except SignInNeeded as need:
            if not need.methods:
                raise
            self.sign_in.required(need, lambda: self._run(command))

    def _turn_failed(self, error: UserError, text: str) -> None:
        from acp_tui.controller import SignInNeeded

        if isinstance(error, SignInNeeded) and error.methods:
            self.sign_in.required(error)  # nothing to repeat: the prompt stays in the queue
        elif isinstance(error, SignInNeeded):
            self._view.show_error(error)
        else:
            self._view.turn_failed(error, text)

    def resend_refused(self) -> None:
        """After a sign-in, send the refused prompt again, if there is one."""
        assert self._prompt_queue is not None
        self._prompt_queue.resend_refused()


def _why_not_reopened(error: UserError) -> str:
    """Return the error's text if the error means that the agent cannot reopen the session; otherwise ""."""
    from acp_tui.connection.errors import RequestFailed, SignInNeeded
    from acp_tui.controller.session_opener import CannotReopen

    if isinstance(error, SignInNeeded):
        return ""
    refused = isinstance(error, RequestFailed) and error.method in ("session/load", "session/resume")
    return str(error) if refused or isinstance(error, CannotReopen) else ""


async def _set_mode(conversation: Conversation, mode: str) -> None:
    """Set the agent's mode, even if the agent offers its modes as values of an option."""
    from acp_tui.controller import set_mode

    await set_mode(conversation, mode)
