"""Opens and updates the transcripts of subagents, over the screen of the conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.entry_kinds.registry import kind_of
from acp_tui.errors import UserError
from acp_tui.session.state import Subagent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from acp_tui.session.change import Change
    from acp_tui.session.state import Entry
    from acp_tui.ui.screens.base import BaseScreen
    from acp_tui.ui.screens.session.context import SessionContext
    from acp_tui.ui.screens.session.subagent_screen import SubagentScreen


class SubagentViews:
    """Opens and updates the transcripts of subagents, and stops subagents. Implements `SubagentHost`."""

    def __init__(self, screen: BaseScreen, context: SessionContext, now: Callable[[], float]) -> None:
        """`screen` and `context` belong to the conversation; `now` is the conversation's clock."""
        self._screen = screen
        self._context = context
        self._open: list[SubagentScreen] = []
        self.now = now

    def run_entry_action(self, action: str, entry: Entry) -> bool:
        """Run an action on an entry of the transcript; return False if the action is not about subagents."""
        if action == "kill" and isinstance(entry, Subagent):
            self.stop(entry)
        elif action == "transcript" or (action == "open" and kind_of(entry).transcript(entry) is not None):
            self.open(entry)
        else:
            return False
        return True

    def open(self, entry: Entry) -> None:
        """Show the transcript that belongs to an entry."""
        from acp_tui.ui.screens.session.subagent_screen import SubagentScreen

        subagent = self._context.session.subagents.get(kind_of(entry).transcript(entry) or "")
        if subagent is None:
            self._screen.notify("This entry has no transcript to open.", timeout=3)
            return
        self._open = [view for view in self._open if view.is_attached]
        if self._open and self._open[-1].subagent is subagent:
            return
        view = SubagentScreen(subagent, self, self._context)
        view.mode = self._screen.mode
        self._open.append(view)
        self._screen.open_dialog(view)

    def show_changes(self, changes: Sequence[Change]) -> None:
        """Draw changes of the subagents whose transcripts are open."""
        if not self._open:
            return
        was_reset = any(change.kind == "reset" for change in changes)
        self._open = [view for view in self._open if view.is_attached]
        for view in self._open:
            if was_reset:
                view.show_again(self._context.session.subagents.get(view.subagent.key))
                continue
            inner = [
                change.inner
                for change in changes
                if change.session is view.subagent.session and change.inner is not None
            ]
            if inner or any((change.inner or change).entry is view.subagent for change in changes):
                view.show_changes(inner)

    def can_stop(self, subagent: Subagent) -> bool:
        """Return True if a subagent is running and can be stopped."""
        return subagent.can_cancel and subagent.is_running and self._context.conversation is not None

    def stop(self, subagent: Subagent) -> None:
        """Stop a subagent, or say why that is not possible."""
        if self._context.conversation is None or not subagent.is_running:
            self._screen.notify("This subagent is not running.", timeout=3)
        else:
            self._screen.run_worker(self._stop(subagent), group="subagent")

    async def _stop(self, subagent: Subagent) -> None:
        assert self._context.conversation is not None
        try:
            await self._context.conversation.subagents.stop(subagent.key)
        except UserError as error:
            self._screen.notify_error(error)
