"""Interfaces between the command line, which prepares a conversation, and the screen that runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acp_tui.app_context import AppContext
    from acp_tui.controller import Conversation
    from acp_tui.errors import UserError
    from acp_tui.guarded_question import GuardedQuestion, StartAnswer
    from acp_tui.workspace.git.worktree import WorktreeLock


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
