"""The screen with the transcript of a subagent. It opens over the screen of the conversation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from acp_tui.entry_kinds.kind_table import kind_of
from acp_tui.errors import UserError
from acp_tui.session.record import Change
from acp_tui.session.safe_text import escape_line
from acp_tui.session.state import Entry, Subagent
from acp_tui.text_format import folder_label
from acp_tui.ui import keys
from acp_tui.ui.conversation.session_screen import SessionScreen
from acp_tui.ui.conversation.status_tracker import StatusTracker

if TYPE_CHECKING:
    from acp_tui.ui.dialogs.base_screen import SessionContext
    from acp_tui.wire.entry_frames import EntryPlace


class SubagentScreen(SessionScreen):
    """Shows the growing transcript of a subagent. No prompts can be sent from here."""

    BINDINGS: ClassVar = keys.bindings("subagent")
    INTERRUPT = "subagent.interrupt"
    AUTO_FOCUS = "Transcript"

    def __init__(self, subagent: Subagent, views: SubagentViews, conversation: SessionContext) -> None:
        """`conversation` is the context of the subagent's conversation."""
        self.subagent = subagent
        self._views = views
        super().__init__(subagent.session, StatusTracker(_title(subagent)))
        cwd = subagent.session.cwd or conversation.cwd
        self.status.project = folder_label(cwd) if cwd else ""
        self.show_session(subagent.session, cwd)

    def now(self) -> float:
        """Return the current time, in seconds since the epoch; in a replay, that of the recording."""
        return self._views.now()

    def show_again(self, subagent: Subagent | None) -> None:
        """Draw the transcript again after a change of the kind "reset" (see `Change`).

        `subagent` is the current state of the subagent shown here. If None, the transcript stays as it was.
        """
        if subagent is self.subagent:
            self.show_changes([Change("reset")])
        elif subagent is not None:
            self.subagent = subagent
            self.show_session(subagent.session, self.context.cwd)
            self.update_status()

    def update_status(self) -> None:
        """Show the current state and title of the subagent."""
        self.status.agent = _title(self.subagent)
        super().update_status()
        self.refresh_bindings()

    def is_asking(self) -> bool:
        """Return True while the subagent waits for an answer from the user."""
        return self.subagent.is_asking

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return False for "stop_subagent" while the subagent cannot be stopped."""
        if action == "stop_subagent":
            return self._views.can_stop(self.subagent)
        return super().check_action(action, parameters)

    def run_entry_action(self, action: str, entry: Entry) -> None:
        """Run an action, such as "copy", on an entry of the transcript."""
        if action == "kill" and not isinstance(entry, Subagent):
            entry = self.subagent
        if not self._views.run_entry_action(action, entry):
            super().run_entry_action(action, entry)

    def open_wire(self, entry: Entry | None = None) -> None:
        """Show the messages of this subagent, or those that made an entry."""
        self._views.open_wire(entry, self.subagent)

    def show_entry_at(self, place: EntryPlace) -> None:
        """Show an entry of this subagent or, after closing this screen, one elsewhere."""
        if place.subagent == self.subagent.key:
            super().show_entry_at(place)
        else:
            self.dismiss()
            self.app.call_later(self._views.show_entry_at, place)

    def action_stop_subagent(self) -> None:
        """Stop this subagent."""
        self._views.stop(self.subagent)

    def action_close(self) -> None:
        """Close the search or the panes over the transcript; if neither is open, go back."""
        if not self.close_find_or_overlay():
            self.dismiss()

    def action_interrupt(self) -> None:
        """Copy the selection; if nothing is selected, do the same as `action_close`."""
        if not self.copy_selection():
            self.action_close()


def _title(subagent: Subagent) -> str:
    return escape_line(f"Subagent: {subagent.name}")


class SubagentViews:
    """Opens and updates the transcripts of subagents, and stops subagents."""

    def __init__(self, screen: SessionScreen) -> None:
        self._screen = screen
        self._context = screen.context
        self._open: list[SubagentScreen] = []

    def now(self) -> float:
        """Return the conversation's time; see `SessionScreen.now`."""
        return self._screen.now()

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

    def open_wire(self, entry: Entry | None, subagent: Subagent) -> None:
        """Show the messages of a subagent, or those that made an entry of its transcript."""
        self._screen.wire.open(entry, subagent)

    def show_entry_at(self, place: EntryPlace) -> None:
        """Show an entry of a subagent's transcript, which is opened first, or of the conversation."""
        if not place.subagent:
            self._screen.show_entry(place.entry)
        elif (subagent := self._context.session.subagents.get(place.subagent)) is not None:
            self.open(subagent)
            self._screen.app.call_later(self._open[-1].show_entry, place.entry)

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
