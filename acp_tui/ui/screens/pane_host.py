"""The screen's part of the side panes: opening, closing and the actions they request."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on

from acp_tui.errors import UserError
from acp_tui.session.state import Diff
from acp_tui.session.text import visible, visible_line
from acp_tui.ui.panes.messages import PaneItemAction, PanesAction
from acp_tui.ui.screens.transcript_screen import TranscriptScreen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.layout import Layout

    from acp_tui.controller import Conversation, FileChange
    from acp_tui.session.change import Change
    from acp_tui.session.state import Session
    from acp_tui.ui.panes.files import Counts
    from acp_tui.ui.panes.panes import Panes
    from acp_tui.ui.panes.side_panes_layout import SidePanesLayout
    from acp_tui.ui.theme.palette import Palette

MAX_COUNTED_FILES = 100
"""Files whose changed lines are counted."""
MAX_COUNTED_SIZE = 500_000
"""Characters of a file whose changed lines are counted."""
LOOK_PAUSE_FACTOR = 4
"""After a look at the disk so many times as long passes before the next one."""


class PaneHost(TranscriptScreen):
    """A part of every screen with a session. Panes are made when they are first asked for."""

    session: Session
    _panes: Panes | None = None
    _beside: SidePanesLayout | None = None
    _was_wide: bool = False
    _made_way: bool = False  # they were beside the transcript, until there was no room for that
    _look_again: bool = False
    _looking: bool = False

    @property
    def conversation(self) -> Conversation | None:
        """The conversation, where there is one and not only a recording."""
        return None

    @property
    def layout(self) -> Layout:
        """Panes, once there are any, are beside the transcript."""
        return self._beside or super().layout

    @property
    def _is_wide(self) -> bool:
        from acp_tui.ui.panes.side_panes_layout import fits_beside

        return fits_beside(self.size.width)

    @property
    def panes(self) -> Panes | None:
        """The panes, when they are to be seen."""
        return self._panes if self._panes is not None and self._panes.display else None

    # ------------------------------------------------------------------------- open, zoomed, closed

    def on_resize(self) -> None:
        """Panes beside the transcript never come to cover it: they make way, and come back with the room."""
        if self._is_wide == self._was_wide:
            return
        self._was_wide = self._is_wide
        panes = self.panes
        if self._is_wide and self._made_way:
            self._open_panes(focus=False)
        elif not self._is_wide and panes is not None and not self._in_panes:
            self.close_panes()
            self._made_way = True
        self.refresh_bindings()

    @property
    def _in_panes(self) -> bool:
        """Is the user there?"""
        return self.panes is not None and (self.panes.zoomed or self.panes.current.has_focus)

    def action_toggle_panes(self) -> None:
        """Open or close them. They get the focus, so that the footer names their keys."""
        if self.panes is not None:
            self.close_panes()
        else:
            self._open_panes(focus=True)

    def action_to_panes(self) -> None:
        """To the panes, and back to the prompt."""
        panes = self.panes
        if panes is not None and panes.current.has_focus:
            self._leave_panes()
        else:
            self._open_panes(focus=True)

    def begin_with_pane(self, name: str) -> None:
        """As the settings want it, where there is room for it beside the transcript."""
        if self._panes is None and name != "none" and self._is_wide:
            self._open_panes(focus=False, first=name)

    def _open_panes(self, *, focus: bool, first: str | None = None) -> None:
        """`first`: the pane to begin with when there were none yet; None: the first that has something."""
        panes = self._panes
        if panes is None:
            from acp_tui.ui.panes.pane import PaneSource
            from acp_tui.ui.panes.panes import Panes
            from acp_tui.ui.panes.side_panes_layout import SidePanesLayout

            source = PaneSource(self.session, self.transcript.entry_layout.cwd, self.conversation)
            panes = self._panes = Panes(source, self._palette, first or self._first_pane())
            self._beside = SidePanesLayout(self.transcript, panes)
            self.mount(panes, after=self.transcript)
        elif not panes.display:
            panes.display = True
            self._renew_panes(panes)
        self._made_way = False
        self.refresh_bindings()
        if focus:
            panes.call_after_refresh(panes.current.focus)

    def _first_pane(self) -> str:
        """The first one that is not empty."""
        if self.session.plan is not None:
            return "plan"
        contents = [part for call in self.session.tool_calls.values() for part in call.content]
        if any(isinstance(part, Diff) for part in contents):
            return "files"
        return "terminals" if self.session.terminals else "session"

    def close_panes(self) -> None:
        """They keep what they know."""
        panes = self.panes
        if panes is None:
            return
        had_focus = panes.current.has_focus
        self._zoom_panes(on=False)
        panes.display = False
        self._made_way = False
        self.refresh_bindings()
        if had_focus:
            self._focus_back()

    @property
    def covered(self) -> bool:
        """Do panes lie over the conversation?"""
        panes = self.panes
        return panes is not None and (panes.zoomed or not self._is_wide)

    def close_overlay(self) -> bool:
        """Close panes that lie over the conversation; False: there are none."""
        covered = self.covered
        if covered:
            self._leave_panes()
        return covered

    def _leave_panes(self) -> None:
        """One step back: from the full screen, out of the overlay, to the prompt."""
        if self.panes is not None and self.panes.zoomed:
            self._zoom_panes(on=False)
        elif not self._is_wide:
            self.close_panes()
        else:
            self._focus_back()

    def _focus_back(self) -> None:
        self.transcript.focus()
        self.typed("")  # to the prompt, where there is one

    def _zoom_panes(self, *, on: bool) -> None:
        if self._panes is not None and self._beside is not None:
            self._beside.zoomed = on
            self._panes.set_zoomed(on=on)
            self.refresh_bindings()
            self._panes.refresh(layout=True)  # which tells the screen that its arrangement is out of date

    @on(PanesAction)
    def _pane_frame(self, event: PanesAction) -> None:
        event.stop()
        match event.action:
            case "leave":
                self._leave_panes()
            case "close":
                self.close_panes()
            case "zoom":
                self._zoom_panes(on=not (self._panes is not None and self._panes.zoomed))

    # ------------------------------------------------------------------------- what they show

    def show_in_panes(self, changes: Sequence[Change]) -> None:
        """One frame."""
        panes = self.panes
        if panes is None:
            return
        if panes.source.session is not self.session or panes.source.conversation is not self.conversation:
            self._renew_panes(panes)
        else:
            panes.source.cwd = self.transcript.entry_layout.cwd
            panes.apply_changes(changes)

    def use_palette_in_panes(self, palette: Palette) -> None:
        """The theme has changed."""
        if self._panes is not None:
            self._panes.use_palette(palette)

    def _renew_panes(self, panes: Panes) -> None:
        panes.source.session, panes.source.conversation = self.session, self.conversation
        panes.source.cwd = self.transcript.entry_layout.cwd
        panes.refresh_items()

    # ------------------------------------------------------------------------- what is wanted

    @on(PaneItemAction)
    def _pane_wants(self, event: PaneItemAction) -> None:
        event.stop()
        match event.action:
            case "edit":
                self._edit((event.key, event.line))
            case "look":
                self._look_at_disk()
            case "diff":
                self.run_worker(self._show_file_diff(event.key), group="file diff", exclusive=True)
            case "revert":
                self.run_worker(self._revert_file(event.key), group="revert", exclusive=True)
            case "output":
                self._show_output(event.key)
            case "kill":
                self.run_worker(self._kill_terminal(event.key), group="kill")
            case "set":
                self.set_option(event.key)

    def set_option(self, option: str) -> None:
        """Let the user set an option: matters where there is an agent."""

    def _show_output(self, terminal_id: str) -> None:
        from acp_tui.ui.screens.output import OutputScreen

        terminal = self.session.terminals.get(terminal_id)
        if terminal is not None:
            cwd = self.transcript.entry_layout.cwd
            self.app.push_screen(OutputScreen(terminal, self._palette, session=self.session, cwd=cwd))

    async def _kill_terminal(self, terminal_id: str) -> None:
        if self.conversation is not None:
            try:
                await self.conversation.kill_terminal(terminal_id)
            except UserError as error:
                self._complain(error)

    def _complain(self, error: UserError) -> None:
        self.notify(visible_line(str(error)), severity="error", timeout=10, markup=False)

    # ------------------------------------------------------------------------- files

    def _look_at_disk(self) -> None:
        """Once at a time, and never so often that it slows anything down."""
        self._look_again = True
        if not self._looking and self.conversation is not None:
            self._looking = True
            self.run_worker(self._look(), group="look")

    async def _look(self) -> None:
        try:
            while self._look_again and self.conversation is not None:
                self._look_again = False
                began = time.monotonic()
                await self._look_once(self.conversation)
                await asyncio.sleep((time.monotonic() - began) * LOOK_PAUSE_FACTOR)
        except UserError as error:
            self._complain(error)
        finally:
            self._looking = False

    async def _look_once(self, conversation: Conversation) -> None:
        from acp_tui.ui.panes.files import FilesPane

        changes = await conversation.changes()
        counts: dict[str, Counts] = {}
        for change in changes[:MAX_COUNTED_FILES]:
            if (found := await self._counted(conversation, change)) is not None:
                counts[str(change.path)] = found
        if self._panes is not None:
            self._panes.pane(FilesPane).show_changes(changes, counts)

    async def _counted(self, conversation: Conversation, change: FileChange) -> Counts | None:
        from acp_tui.diffing import compare_texts
        from acp_tui.ui.panes.files import Counts

        versions = await conversation.versions(change)
        size = len(versions.old or "") + len(versions.new or "")
        if versions.revert_obstacle is not None or size > MAX_COUNTED_SIZE:
            return None
        found = await asyncio.to_thread(compare_texts, versions.old, versions.new)
        return Counts(found.added, found.removed)

    async def _show_file_diff(self, path: str) -> None:
        from acp_tui.entry_display import relative_path
        from acp_tui.ui.entries.diff.diff_body import DiffBody
        from acp_tui.ui.screens.detail import DetailScreen

        try:
            whence, diffs = await self._diffs_of(path)
        except UserError as error:
            self._complain(error)
            return
        cwd = self.transcript.entry_layout.cwd
        screen = DetailScreen(
            f"{visible_line(relative_path(path, cwd))}: {whence}",
            lambda context: [DiffBody(diff, context) for diff in diffs],
            self._palette,
            session=self.session,
            cwd=cwd,
        )
        self.app.push_screen(screen)

    async def _diffs_of(self, path: str) -> tuple[str, list[Diff]]:
        """What the disk says, else what tool calls told; and which of them it is, in words."""
        from acp_tui.ui.panes.files import FilesPane

        assert self._panes is not None
        pane = self._panes.pane(FilesPane)
        change, told = pane.change_of(path), pane.touched_file(path)
        if change is not None and self.conversation is not None:
            versions = await self.conversation.versions(change)
            if versions.revert_obstacle is None:
                old, new = (text if text is None else visible(text) for text in (versions.old, versions.new))
                return "since the session began", [Diff(path, old, new)]
            if told is None or not told.diffs:
                raise UserError(f"{visible_line(path)}: {versions.revert_obstacle}")
        return "as reported by the agent", list(told.diffs.values()) if told is not None else []

    async def _revert_file(self, path: str) -> None:
        from acp_tui.entry_display import relative_path
        from acp_tui.session.state import Choice
        from acp_tui.ui.panes.files import FilesPane
        from acp_tui.ui.screens.choose import ChooseScreen

        assert self._panes is not None
        change = self._panes.pane(FilesPane).change_of(path)
        if change is not None and change.kind == "added":
            what, done = "Delete it: it did not exist at session start", "deleted"
        else:
            what, done = "Restore the version from session start", "restored"
        name = visible_line(relative_path(path, self.transcript.entry_layout.cwd))
        choices = [
            Choice("keep", "Keep it"),
            Choice("revert", what, "Its current content will be lost."),
        ]
        taken = await self.app.push_screen_wait(ChooseScreen(f"Revert {name}?", choices, self._palette))
        if taken != "revert" or self.conversation is None:
            return
        try:
            await self.conversation.revert(Path(path))
        except UserError as error:
            self._complain(error)
        else:
            self.notify(f"{name} {done}.", timeout=4, markup=False)
        self._look_at_disk()
