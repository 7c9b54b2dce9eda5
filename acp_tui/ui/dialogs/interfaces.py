"""Interfaces between the command line, which prepares a conversation, and the screen that runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from acp_tui.app_context import AppContext
    from acp_tui.controller import Conversation
    from acp_tui.errors import UserError
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
