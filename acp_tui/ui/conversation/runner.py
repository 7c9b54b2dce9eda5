"""Starts and commands the conversation of a screen."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from acp_tui.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Sequence
    from pathlib import Path

    from acp_tui.app_context import AppContext
    from acp_tui.controller import Conversation, QuestionHandler
    from acp_tui.controller.prompt_queue import PromptQueue
    from acp_tui.session.attachment import Attachment
    from acp_tui.session.change import Change
    from acp_tui.session.events import Event
    from acp_tui.session.record import Record
    from acp_tui.session.state import AuthMethod, QueuedPrompt, Session


class StartQuestion(Protocol):
    """A yes-or-no question that has to be answered before an agent starts."""

    @property
    def text(self) -> str:
        """What the user reads."""

    @property
    def yes(self) -> str:
        """The answer that starts the agent."""

    @property
    def no(self) -> str:
        """The answer that does not."""

    @property
    def declined(self) -> str:
        """The sentence after a no."""

    def accept(self) -> None:
        """Called after a yes."""


class PreparedConversation(Protocol):
    """A conversation made from the command line's arguments, not yet started."""

    app_context: AppContext
    conversation: Conversation

    def start_questions(self) -> Sequence[StartQuestion]:
        """What the user has to agree to before the agent starts."""

    async def open(self) -> None:
        """Open the session. The agent must be running."""

    async def apply_options(self, failed: Callable[[UserError], None]) -> None:
        """Apply the requested modes and options to the open session; report failures to `failed`."""


class ConversationView(Protocol):
    """What the runner reports to; the screen."""

    def session_created(self, session: Session) -> None:
        """The session state exists. The agent does not run yet."""

    def record_applied(self, record: Record, events: Sequence[Event], changes: Sequence[Change]) -> None:
        """A record was applied to the session."""

    def start_failed(self, error: UserError) -> None:
        """The conversation could not be made."""

    def open_failed(self, *, session_lost: bool) -> None:
        """The agent did not start or opened no session. The transcript shows the reason.

        `session_lost`: the agent does not know the session to resume; a restart begins a new one.
        """

    def sign_in_required(self, methods: list[AuthMethod]) -> None:
        """The user has to sign in by one of these methods first."""

    def turn_failed(self, error: UserError, text: str) -> None:
        """A prompt failed or could not be sent."""

    def send_failed(self, error: UserError, text: str) -> None:
        """A prompt was not sent and goes back to the input."""

    async def confirm(self, question: str, *, yes: str, no: str) -> bool:
        """Ask the user a yes-or-no question."""

    def show_error(self, error: UserError) -> None:
        """Show any other error."""


class ConversationRunner:
    """Owns one conversation: starts its agent, sends prompts and commands, closes it."""

    def __init__(
        self,
        make: Callable[[QuestionHandler], PreparedConversation],
        question_handler: QuestionHandler,
        view: ConversationView,
    ) -> None:
        self._make = make
        self._question_handler = question_handler
        self.view = view
        self._making: asyncio.Task[PreparedConversation] | None = None
        self._closed = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._early: list[tuple[str, Sequence[Attachment]]] = []  # sent before there was anything to take it
        self._reading = asyncio.Lock()  # what is attached: prompts stay in their order
        self._attempts = 0  # to open the session
        self._session_lost = False  # the agent does not know the session that was to be resumed
        self.opening = False
        """True while the agent is started or its session opened."""
        self._draft_failed = False
        self._signing_in: asyncio.Task[None] | None = None
        self.prepared: PreparedConversation | None = None
        self.prompt_queue: PromptQueue | None = None

    @property
    def conversation(self) -> Conversation | None:
        """The conversation, or None before it exists."""
        return self.prepared.conversation if self.prepared is not None else None

    # ---- the life of the agent

    async def start(self) -> None:
        """Make the conversation, start the agent and open the session. Imports happen here, not before."""
        if self._closed:
            return
        self._making = asyncio.create_task(asyncio.to_thread(self._make, self._question_handler))
        try:
            prepared = await asyncio.shield(self._making)
        except UserError as error:
            self.view.start_failed(error)
            return
        if not self._closed:
            await self._begin(prepared)

    async def _begin(self, prepared: PreparedConversation) -> None:
        from acp_tui.controller.prompt_queue import PromptQueue

        self.prepared = prepared
        self.opening = True
        self.prompt_queue = PromptQueue(prepared.conversation, self._turn_failed)
        prepared.conversation.listen(self.view.record_applied)
        self.view.session_created(prepared.conversation.session)
        for text, attachments in self._early:
            self.submit(text, attachments)
        for question in prepared.start_questions():
            if not await self.view.confirm(question.text, yes=question.yes, no=question.no):
                self.view.start_failed(UserError(question.declined))
                return
            question.accept()
        await self._opened_by(prepared.conversation.start, prepared.open, self._apply_options)

    async def restart(self) -> None:
        """Restart the agent, running or dead."""
        if self.prepared is None or self.prompt_queue is None:
            return  # it is being started for the first time
        self.prompt_queue.closed()
        conversation = self.prepared.conversation
        open_session = conversation.open_new if self._session_lost else self._open
        self._session_lost = False
        await self._opened_by(conversation.reconnect, open_session)

    async def sign_in(self, method: AuthMethod) -> None:
        """Sign in by one of the agent's methods. May wait for a login; `give_up_sign_in` cancels it."""
        assert self.prepared is not None
        conversation = self.prepared.conversation
        self._signing_in = login = asyncio.create_task(conversation.sign_in(method.id))
        opening = [] if conversation.session.phase in ("idle", "prompting") else [self._open]
        try:
            await self._opened_by(lambda: login, *opening)
        except asyncio.CancelledError:
            if not login.cancelled():
                raise
            self.view.show_error(UserError("Sign-in cancelled."))
            self.view.open_failed(session_lost=False)
        finally:
            self._signing_in = None

    @property
    def signing_in(self) -> bool:
        """True while the agent waits for a login."""
        return self._signing_in is not None

    def give_up_sign_in(self) -> None:
        """Cancel the sign-in."""
        if self._signing_in is not None:
            self._signing_in.cancel()

    async def _open(self) -> None:
        """Reopen the current session, else open the requested one."""
        assert self.prepared is not None
        if self.prepared.conversation.session.session_id is None:
            await self.prepared.open()
            await self._apply_options()
        else:
            await self.prepared.conversation.open_again()

    async def _opened_by(self, *steps: Callable[[], Awaitable[None]]) -> None:
        """Run the steps that open the session, then send the prompts typed meanwhile."""
        assert self.prompt_queue is not None
        self._attempts += 1
        attempt = self._attempts
        self.opening = True
        failure: UserError | None = None
        try:
            for step in steps:
                await step()
        except UserError as error:
            failure = error
        finally:
            is_last = attempt == self._attempts  # no other attempt was begun meanwhile
            if is_last:
                self.opening = False
        if failure is None:
            self.prompt_queue.opened()
        elif is_last:
            self._opening_failed(failure)

    def _opening_failed(self, error: UserError) -> None:
        from acp_tui.controller import SignInNeeded

        if isinstance(error, SignInNeeded) and error.methods:
            self.view.sign_in_required(error.methods)
            return
        self._note(error)
        self._session_lost = _is_session_lost(error)
        self.view.open_failed(session_lost=self._session_lost)

    def _note(self, error: UserError) -> None:
        """Add the error to the transcript, unless the session shows it already."""
        from acp_tui.session.events import Noticed
        from acp_tui.session.state import Notice

        assert self.prepared is not None
        conversation = self.prepared.conversation
        last = conversation.session.entries[-1:]
        if not (last and isinstance(last[0], Notice) and last[0].level == "error"):
            conversation.note(Noticed("error", str(error)))

    async def _apply_options(self) -> None:
        """Apply the requested settings. Failures are shown and do not stop the conversation."""
        assert self.prepared is not None
        await self.prepared.apply_options(self.view.show_error)

    def _turn_failed(self, error: UserError, text: str) -> None:
        from acp_tui.controller import SignInNeeded

        self.view.turn_failed(error, text)
        if isinstance(error, SignInNeeded) and error.methods:
            self.view.sign_in_required(error.methods)

    async def close(self) -> None:
        """Close the conversation, also one that is still being made."""
        self._closed = True
        for task in list(self._tasks):
            task.cancel()
        if self._making is None:
            return
        try:
            prepared = await self._making
        except UserError:
            return  # nothing to close, and the error was shown
        await prepared.conversation.close()
        await asyncio.to_thread(prepared.app_context.prune)

    # ---- prompts

    def submit(self, text: str, attachments: Sequence[Attachment] = ()) -> None:
        """Send a prompt, or queue it during a turn."""
        if self.prompt_queue is None:
            self._early.append((text, attachments))
        elif attachments or self._reading.locked():
            self._spawn(self._submit_with(text, attachments))
        else:
            self.prompt_queue.submit(text)

    async def _submit_with(self, text: str, attachments: Sequence[Attachment]) -> None:
        blocks = await self._blocks(text, attachments)
        if blocks is not None and self.prompt_queue is not None:
            self.prompt_queue.submit(text, blocks)

    def send_now(self, text: str, attachments: Sequence[Attachment] = ()) -> None:
        """Cancel the turn and send this prompt; without text, the first queued one."""
        if self.prompt_queue is not None:
            self._spawn(self._send_with(text, attachments))

    async def _send_with(self, text: str, attachments: Sequence[Attachment]) -> None:
        blocks = await self._blocks(text, attachments) if attachments else []
        if blocks is not None and self.prompt_queue is not None:
            await self.prompt_queue.send_at_once(text, blocks or None)

    async def _blocks(self, text: str, attachments: Sequence[Attachment]) -> list[dict[str, Any]] | None:
        """Build the content blocks; None if an attachment failed (the user is told)."""
        assert self.prepared is not None
        async with self._reading:
            try:
                conversation = self.prepared.conversation
                confirm = partial(self.view.confirm, yes="Yes, attach it", no="No, do not send it")
                return await conversation.blocks_for(text, attachments, confirm)
            except UserError as error:
                self.view.send_failed(error, text)
                return None

    def send_queued_now(self, prompt_id: str) -> None:
        """Cancel the turn and send a queued prompt."""
        if self.prompt_queue is not None:
            self._spawn(self.prompt_queue.send_now(prompt_id))

    def resume(self) -> None:
        """Resume the paused queue."""
        if self.prompt_queue is not None:
            self.prompt_queue.next()

    def take_back(self, prompt_id: str | None = None) -> QueuedPrompt | None:
        """Remove a queued prompt (by default the last) and return it."""
        return self.prompt_queue.take_back(prompt_id) if self.prompt_queue is not None else None

    def remove_queued(self, prompt_id: str) -> None:
        """Remove a queued prompt."""
        if self.prompt_queue is not None:
            self.prompt_queue.remove(prompt_id)

    def save_draft(self, text: str) -> None:
        """Save the unsent prompt; say once when that stops working."""
        if self.prepared is None:
            return
        try:
            self.prepared.app_context.save_draft(self.prepared.conversation, text)
        except UserError as error:
            if not self._draft_failed:
                self.view.show_error(error)
            self._draft_failed = True
        else:
            self._draft_failed = False

    # ---- the user's own commands

    def run_command(self, line: str) -> None:
        """Run a command line in the workspace."""
        if self.prepared is None:
            self.view.send_failed(UserError("acp-tui is still starting. Try again in a moment."), f"!{line}")
        else:
            self._do(lambda conversation: conversation.user_commands.run(line))

    def kill_command(self, terminal_id: str) -> None:
        """Kill a command of the user's."""
        self._do(lambda conversation: conversation.user_commands.kill(terminal_id))

    # ---- the conversation as a document

    async def export(self, form: str, theme: str) -> Path:
        """Export the conversation and return the file's path."""
        if self.prepared is None:
            raise UserError("No conversation yet.")
        return await asyncio.to_thread(
            self.prepared.app_context.export, self.prepared.conversation, form, theme
        )

    # ---- commands

    def stop_turn(self) -> None:
        """Cancel the turn; the agent ends it."""
        self._do(lambda conversation: conversation.cancel())

    def set_mode(self, mode: str) -> None:
        """Change the agent's mode."""
        self._do(lambda conversation: choose_mode(conversation, mode))

    def set_option(self, option: str, value: str | bool) -> None:
        """Change an option of the agent; `model` works for agents that list models separately."""
        known = self.conversation is not None and any(
            one.id == option for one in self.conversation.session.config_options
        )
        if known:
            self._do(lambda conversation: conversation.set_config_option(option, value))
        elif option == "mode":
            self.set_mode(str(value))
        else:
            self._do(lambda conversation: conversation.set_model(str(value)))

    def _do(self, command: Callable[[Conversation], Coroutine[Any, Any, object]]) -> None:
        if self.prepared is not None:
            self._spawn(command(self.prepared.conversation))

    def _spawn(self, work: Coroutine[Any, Any, object]) -> None:
        """Run in the background and show a `UserError`."""

        async def told() -> None:
            try:
                await work
            except UserError as error:
                self.view.show_error(error)

        task = asyncio.create_task(told())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _is_session_lost(error: UserError) -> bool:
    from acp_tui.connection.errors import RequestFailed

    return isinstance(error, RequestFailed) and error.method in ("session/load", "session/resume")


async def choose_mode(conversation: Conversation, mode: str) -> None:
    """Change the mode, which some agents expose as an option."""
    from acp_tui.controller import set_mode

    await set_mode(conversation, mode)
