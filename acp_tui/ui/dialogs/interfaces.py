"""Interfaces between the runner of a conversation, the command line and the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from acp_tui.app_context import AppContext
    from acp_tui.controller import Conversation
    from acp_tui.errors import UserError
    from acp_tui.session.events import Event
    from acp_tui.session.record import Change, Record
    from acp_tui.session.state import AuthMethod, Session
    from acp_tui.workspace.git.worktree import WorktreeLock


class GuardedAnswer(Protocol):
    """One answer to a question that must not be answered by accident."""

    @property
    def label(self) -> str:
        """The text of the answer, such as "Trust this folder"."""

    @property
    def grants(self) -> bool:
        """True if the answer allows something.

        Users can choose such an answer only after seeing the whole question.
        """


class StartAnswer(GuardedAnswer, Protocol):
    """A possible answer to a `StartQuestion`."""

    @property
    def refusal(self) -> str:
        """Why the agent does not start after this answer, in a sentence; empty if it starts."""

    @property
    def accept(self) -> Callable[[], None]:
        """The function to call when the user has chosen the answer."""


class GuardedQuestion(Protocol):
    """A question that must not be answered by accident. The dialog makes all texts safe to display."""

    @property
    def title(self) -> str:
        """The question in one line."""

    @property
    def text(self) -> str:
        """What the user should know before answering, in sentences."""

    @property
    def facts(self) -> Sequence[tuple[str, str]]:
        """Pairs of a label and a value to show below the text, such as a path."""

    @property
    def main_fact(self) -> str:
        """The label of the value to highlight; empty if there is none."""

    @property
    def close_label(self) -> str:
        """What closing the dialog means, shown in the hint line next to the key that closes the dialog."""

    @property
    def warnings(self) -> Sequence[str]:
        """Reasons for caution, in sentences."""

    @property
    def position(self) -> tuple[int, int]:
        """The number of this question, and how many questions of its kind there are, for "2 of 3"."""

    @property
    def answers(self) -> Sequence[GuardedAnswer]:
        """The answers. The first is the safe one."""


class StartQuestion(GuardedQuestion, Protocol):
    """A question that has to be answered before an agent starts."""

    @property
    def answers(self) -> Sequence[StartAnswer]:
        """The answers. The first is the safe one."""


class PreparedConversation(Protocol):
    """A conversation, and what the app needs to start and to close it."""

    app_context: AppContext
    conversation: Conversation
    worktree_lock: WorktreeLock | None
    worktree_passed_on: bool
    closing_notes: list[str]
    when_closed: Callable[[], None]
    """Called when the user has closed the conversation but the app keeps running."""

    def start_questions(self) -> Iterator[StartQuestion]:
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

    async def ask_before_start(self, question: StartQuestion) -> StartAnswer:
        """Ask the user a question before the agent starts, and return the chosen answer."""

    async def confirm(self, question: str, *, yes: str, no: str) -> bool:
        """Ask the user a question, and return True for yes. `yes` and `no` are the labels of the answers."""

    def show_error(self, error: UserError) -> None:
        """Show an error that no other method reports."""
