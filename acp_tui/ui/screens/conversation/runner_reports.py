"""What the screen of a conversation shows when its runner reports something."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acp_tui.errors import UserError
    from acp_tui.session.change import Change
    from acp_tui.session.events import Event
    from acp_tui.session.record import Record
    from acp_tui.session.state import AuthMethod, Session
    from acp_tui.ui.conversation.interfaces import StartAnswer, StartQuestion
    from acp_tui.ui.screens.conversation.conversation_loader import ConversationLoader
    from acp_tui.ui.screens.conversation.prompts.prompt_actions import PromptActions
    from acp_tui.ui.screens.conversation.question_dialogs import QuestionDialogs
    from acp_tui.ui.screens.conversation.reopening.continuation import Continuation
    from acp_tui.ui.screens.conversation.reopening.readiness import AgentReadiness
    from acp_tui.ui.screens.session.session_screen import SessionScreen
    from acp_tui.ui.screens.sign_in.sign_in_dialogs import SignInDialogs


class RunnerReports:
    """Passes the runner's reports to the parts of the screen. Implements `ConversationView`."""

    def __init__(self, screen: SessionScreen) -> None:
        self._screen = screen

    def connect(
        self,
        *,
        loader: ConversationLoader,
        readiness: AgentReadiness,
        continuation: Continuation,
        sign_in: SignInDialogs,
        prompt_actions: PromptActions,
        dialogs: QuestionDialogs,
    ) -> None:
        """Set the objects that show the reports. Call this before the runner starts.

        These objects are not arguments of `__init__`, because they need the runner, and the runner needs
        this `RunnerReports`.
        """
        self._loader = loader
        self._readiness = readiness
        self._continuation = continuation
        self._sign_in = sign_in
        self._prompt_actions = prompt_actions
        self._dialogs = dialogs

    # ------------------------------------------------------------------------- opening the session

    def session_created(self, session: Session) -> None:
        """Show the session, the draft and the queue of the conversation."""
        self._loader.load(session)

    def start_failed(self, error: UserError) -> None:
        """Tell the app that the agent did not start, so that the app closes this screen."""
        self._screen.post_message(self._screen.Failed(self._screen, error))

    def opening_started(self) -> None:
        """Let the status line show what is in progress, instead of why no session is open."""
        self._readiness.work_started()

    def session_opened(self) -> None:
        """Show the prompt input again if the session was read-only."""
        self._continuation.show_prompt()

    def open_failed(self) -> None:
        """Show in the status line that no session was opened, and which key restarts the agent."""
        self._readiness.open_failed()

    def not_reopened(self, reason: str) -> None:
        """Make the session read-only, and offer to continue in a new one."""
        self._readiness.not_reopened()
        self._continuation.show_read_only(reason)

    def sign_in_required(self, methods: list[AuthMethod], reason: str) -> None:
        """Let the user choose a sign-in method."""
        self.sign_in_abandoned()
        self._sign_in.offer(methods, reason)

    def sign_in_abandoned(self) -> None:
        """Show in the status line that the user has to sign in first."""
        self._readiness.sign_in_required()

    async def ask_before_start(self, question: StartQuestion) -> StartAnswer:
        """Ask the user a question before the agent starts, and return the answer."""
        return await self._dialogs.ask_before_start(question)

    # ------------------------------------------------------------------------- turns

    def record_applied(self, _record: Record, _events: Sequence[Event], changes: Sequence[Change]) -> None:
        """Draw the changes in the next frame."""
        self._screen.frames.add(changes)

    def turn_failed(self, error: UserError, text: str) -> None:
        """Put the prompt back into the input, unless the user has typed something since.

        Show the error in a toast, unless the transcript shows the error already.
        """
        self._prompt_actions.restore_failed(text)
        session = self._screen.session
        if session.last_error is None and session.phase != "dead":
            self.show_error(error)

    def send_failed(self, error: UserError, text: str) -> None:
        """Put the prompt back into the input, unless the user has typed something since. Show the error."""
        self._prompt_actions.restore_unsent(error, text)

    async def confirm(self, question: str, *, yes: str, no: str) -> bool:
        """Ask the user a question whose answers have the labels `yes` and `no`. Return True for yes."""
        return await self._dialogs.confirm(question, yes=yes, no=no)

    def show_error(self, error: UserError) -> None:
        """Show an error in a toast."""
        if self._screen.is_attached:
            self._screen.notify_error(error)
            self._screen.update_status()
