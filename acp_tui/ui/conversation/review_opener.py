"""Opens the review of a conversation's changes, saves the review's comments and sends them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.errors import UserError
from acp_tui.session.state import ToolCall

if TYPE_CHECKING:
    from acp_tui.session.record import Change
    from acp_tui.ui.conversation.runner import ConversationRunner
    from acp_tui.ui.conversation.session_screen import SessionScreen
    from acp_tui.ui.screens.review.review_screen import ReviewScreen


class ReviewOpener:
    """Owns the review screen while it is open."""

    def __init__(self, screen: SessionScreen, runner: ConversationRunner) -> None:
        self._screen = screen
        self._runner = runner
        self._open: ReviewScreen | None = None
        self._restored = False

    def open(self, first: Path | None = None) -> None:
        """Open the review; `first` is the file to show first."""
        from acp_tui.ui.screens.review.review_screen import ReviewContext, ReviewScreen

        prepared = self._runner.prepared
        if prepared is None or self._open is not None:
            return
        if not self._restored:
            prepared.app_context.load_comments(prepared.conversation)
            self._restored = True
        context = ReviewContext(
            session=self._screen.session,
            cwd=self._screen.context.cwd,
            prompts=self._prompts,
            edit_file=self._screen.entry_actions.edit_file,
            save_comments=self._save_comments,
            send=self._send,
        )
        self._open = ReviewScreen(prepared.conversation.review, context, first)
        self._screen.open_dialog(self._open, self._closed)

    def _closed(self, _: None) -> None:
        self._open = None
        self._screen.panes.reload()

    def show_changes(self, changes: Sequence[Change]) -> None:
        """Update the open review from the files on disk if a tool call or the turn has ended."""
        if self._open is not None and any(
            (isinstance(change.entry, ToolCall) and change.entry.done) or change.fact == "phase"
            for change in changes
        ):
            self._open.request_refresh()

    def _prompts(self) -> list[str]:
        return [prompt.text for prompt in self._screen.session.prompts]

    def _save_comments(self) -> None:
        prepared = self._runner.prepared
        if prepared is not None:
            try:
                prepared.app_context.save_comments(prepared.conversation)
            except UserError as error:
                self._screen.notify_error(error)

    def _send(self, prompt: str) -> None:
        self._runner.prompts.submit(prompt)
