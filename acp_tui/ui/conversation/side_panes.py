"""The panes of a session screen: opening, zooming and closing them, and keeping them up to date."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.errors import UserError
from acp_tui.session.safe_text import escape_controls, escape_invisible_line
from acp_tui.session.state import Diff
from acp_tui.ui import keys
from acp_tui.ui.widgets.coalescing_worker import CoalescingWorker

if TYPE_CHECKING:
    from acp_tui.controller import Conversation, FileChange
    from acp_tui.session.record import Change
    from acp_tui.ui.dialogs.base_screen import BaseScreen, SessionContext
    from acp_tui.ui.panes.files import Counts, FilesPane
    from acp_tui.ui.panes.pane import PaneItemAction, PanesActionName
    from acp_tui.ui.panes.panes import Panes, SidePanesLayout
    from acp_tui.ui.transcript.transcript import Transcript


MAX_COUNTED_FILES = 100
"""The maximum number of files whose changed lines are counted."""
MAX_COUNTED_SIZE = 500_000
"""The maximum size of a file whose changed lines are counted: the characters of both versions together."""
MAX_NAMED = 3
"""The maximum number of files that a toast names."""
SCAN_PAUSE_FACTOR = 4
"""The pause after a scan of the changed files is this many times as long as the scan took."""


class SidePanes:
    """Shows the panes beside the transcript, or over the transcript on a narrow terminal.

    The panes are created on first use.
    """

    def __init__(
        self,
        screen: BaseScreen,
        transcript: Transcript,
        context: SessionContext,
        focus_prompt: Callable[[], None],
    ) -> None:
        """`focus_prompt` focuses the prompt or the line in its place, if there is one."""
        self._screen = screen
        self._transcript = transcript
        self._context = context
        self._focus_prompt = focus_prompt
        self._panes: Panes | None = None
        self._was_wide = False
        self._hidden_by_resize = False
        self.layout: SidePanesLayout | None = None
        """The layout of the screen with panes; None until they are opened for the first time."""

    @property
    def visible(self) -> Panes | None:
        """The panes, or None while they are closed."""
        return self._panes if self._panes is not None and self._panes.display else None

    @property
    def created(self) -> Panes | None:
        """The panes, even while they are closed; None until they are opened for the first time."""
        return self._panes

    @property
    def _is_wide(self) -> bool:
        from acp_tui.ui.panes.panes import fits_beside

        return fits_beside(self._screen.size.width)

    @property
    def _has_focus(self) -> bool:
        panes = self.visible
        return panes is not None and (panes.zoomed or panes.current.has_focus)

    @property
    def is_overlay(self) -> bool:
        """True if the panes cover the transcript."""
        panes = self.visible
        return panes is not None and (panes.zoomed or not self._is_wide)

    # ------------------------------------------------------------------------- opening and closing

    def resize(self) -> None:
        """Hide the panes when the terminal becomes narrow, unless they are focused or zoomed.

        When the terminal becomes wide again, show the panes that were hidden in this way.
        """
        if self._is_wide == self._was_wide:
            return
        self._was_wide = self._is_wide
        if self._is_wide and self._hidden_by_resize:
            self.open(focus=False)
        elif not self._is_wide and self.visible is not None and not self._has_focus:
            self.close()
            self._hidden_by_resize = True
        self._screen.refresh_bindings()

    def toggle(self) -> None:
        """Open and focus the panes, or close them."""
        if self.visible is not None:
            self.close()
        else:
            self.open(focus=True)

    def toggle_focus(self) -> None:
        """Open and focus the panes; if they have the focus, do what `leave` does."""
        panes = self.visible
        if panes is not None and panes.current.has_focus:
            self.leave()
        else:
            self.open(focus=True)

    def open_initially(self, name: str) -> None:
        """Open the pane named `name` if there is room beside the transcript; "none" opens no pane.

        Does nothing if the panes have been opened before.
        """
        if self._panes is None and name != "none" and self._is_wide:
            self.open(focus=False, first=name)

    def open(self, *, focus: bool, first: str | None = None) -> None:
        """Show the panes.

        When they are shown for the first time, the pane named `first` is selected; without `first`, a pane
        that has content is selected. Later, `first` has no effect.
        """
        panes = self._panes
        if panes is None:
            from acp_tui.ui.panes.pane import PaneSource
            from acp_tui.ui.panes.panes import Panes, SidePanesLayout

            context = self._context
            source = PaneSource(context.session, context.cwd, context.conversation)
            panes = self._panes = Panes(source, first or self._first_pane())
            self.layout = SidePanesLayout(self._transcript, panes)
            self._screen.mount(panes, after=self._transcript)
        elif not panes.display:
            panes.display = True
            self._reload(panes)
        self._hidden_by_resize = False
        self._screen.refresh_bindings()
        if focus:
            panes.call_after_refresh(panes.current.focus)

    def _first_pane(self) -> str:
        session = self._context.session
        if session.plan is not None:
            return "plan"
        contents = [part for call in session.tool_calls.values() for part in call.content]
        if any(isinstance(part, Diff) for part in contents):
            return "files"
        return "terminals" if session.terminals else "session"

    def close(self) -> None:
        """Hide the panes. They keep their content."""
        panes = self.visible
        if panes is None:
            return
        had_focus = panes.current.has_focus
        self._zoom(on=False)
        panes.display = False
        self._hidden_by_resize = False
        self._screen.refresh_bindings()
        if had_focus:
            self._focus_back()

    def close_overlay(self) -> bool:
        """If the panes cover the transcript, unzoom or close them; return False if they do not cover it."""
        is_overlay = self.is_overlay
        if is_overlay:
            self.leave()
        return is_overlay

    def leave(self) -> None:
        """Unzoom the panes if they are zoomed.

        Otherwise, close them on a narrow terminal, and focus the prompt on a wide terminal.
        """
        if self.visible is not None and self.visible.zoomed:
            self._zoom(on=False)
        elif not self._is_wide:
            self.close()
        else:
            self._focus_back()

    def _focus_back(self) -> None:
        self._transcript.focus()
        self._focus_prompt()

    def _zoom(self, *, on: bool) -> None:
        if self._panes is not None and self.layout is not None:
            self.layout.zoomed = on
            self._panes.set_zoomed(on=on)
            self._screen.refresh_bindings()
            self._panes.refresh(layout=True)  # makes the screen arrange its widgets anew

    def run(self, action: PanesActionName) -> None:
        """Run the action that a key of the panes requested."""
        match action:
            case "leave":
                self.leave()
            case "close":
                self.close()
            case "zoom":
                self._zoom(on=not (self._panes is not None and self._panes.zoomed))

    # ------------------------------------------------------------------------- content

    def show_changes(self, changes: Sequence[Change]) -> None:
        """Apply changes of the session, if the panes are visible."""
        panes = self.visible
        if panes is None:
            return
        context, source = self._context, panes.source
        if source.session is not context.session or source.conversation is not context.conversation:
            self._reload(panes)
        else:
            source.cwd = context.cwd
            panes.apply_changes(changes)

    def reload(self) -> None:
        """Rebuild the selected pane, such as the list of changed files, if the panes are visible."""
        if (panes := self.visible) is not None:
            self._reload(panes)

    def _reload(self, panes: Panes) -> None:
        context, source = self._context, panes.source
        source.session, source.cwd, source.conversation = context.session, context.cwd, context.conversation
        panes.refresh_items()


class PaneActions:
    """Runs the pane actions that need the conversation or a dialog."""

    def __init__(self, screen: BaseScreen, panes: SidePanes, context: SessionContext) -> None:
        self._screen = screen
        self._panes = panes
        self._context = context
        self._scanning = CoalescingWorker(screen, self._scan, screen.notify_error)

    def run(self, event: PaneItemAction) -> None:
        """Run the action that a pane requested."""
        match event.action:
            case "look":
                self.request_scan()
            case "diff":
                self._screen.run_worker(self._show_diff(event.key), group="file diff", exclusive=True)
            case "revert":
                self._screen.run_worker(self._revert(event.key), group="revert", exclusive=True)
            case "accept":
                self._screen.run_worker(self._accept(event.key), group="revert", exclusive=True)
            case "undo":
                self._screen.run_worker(self._undo(), group="revert", exclusive=True)
            case "output":
                self._show_output(event.key)
            case "kill":
                self._screen.run_worker(self._kill_terminal(event.key), group="kill")

    # ------------------------------------------------------------------------- terminals

    def _show_output(self, terminal_id: str) -> None:
        from acp_tui.ui.dialogs.detail import OutputScreen

        context = self._context
        terminal = context.session.terminals.get(terminal_id)
        if terminal is not None:
            self._screen.open_dialog(OutputScreen(terminal, session=context.session, cwd=context.cwd))

    async def _kill_terminal(self, terminal_id: str) -> None:
        if self._context.conversation is not None:
            try:
                await self._context.conversation.kill_terminal(terminal_id)
            except UserError as error:
                self._screen.notify_error(error)

    # ------------------------------------------------------------------------- the list of changed files

    def request_scan(self) -> None:
        """Schedule a scan of the workspace for changed files."""
        self._scanning.request()

    async def _scan(self) -> None:
        conversation = self._context.conversation
        if conversation is None:
            return
        began = time.monotonic()
        changes = await conversation.changes()
        counts: dict[str, Counts] = {}
        for change in changes[:MAX_COUNTED_FILES]:
            if (found := await self._count_lines(conversation, change)) is not None:
                counts[str(change.path)] = found
        accepted = {str(path) for path in await asyncio.to_thread(conversation.review.accepted)}
        self._files_pane().show_changes(changes, counts, accepted)
        await asyncio.sleep((time.monotonic() - began) * SCAN_PAUSE_FACTOR)

    async def _count_lines(self, conversation: Conversation, change: FileChange) -> Counts | None:
        from acp_tui.diffing import compare_texts
        from acp_tui.ui.panes.files import Counts

        versions = await conversation.versions(change)
        size = len(versions.old or "") + len(versions.new or "")
        if versions.problem is not None or size > MAX_COUNTED_SIZE:
            return None
        found = await asyncio.to_thread(compare_texts, versions.old, versions.new)
        return Counts(found.added, found.removed)

    def _files_pane(self) -> FilesPane:
        from acp_tui.ui.panes.files import FilesPane

        assert self._panes.created is not None, "only panes request these actions"
        return self._panes.created.pane(FilesPane)

    # ------------------------------------------------------------------------- one file

    async def _show_diff(self, path: str) -> None:
        from acp_tui.text_format import relative_path
        from acp_tui.ui.dialogs.detail import DetailScreen
        from acp_tui.ui.entries.diff import DiffBody

        try:
            source, diffs = await self._find_diffs(path)
        except UserError as error:
            self._screen.notify_error(error)
            return
        context = self._context
        page = DetailScreen(
            f"{escape_invisible_line(relative_path(path, context.cwd))}: {source}",
            lambda drawing: [DiffBody(diff, drawing) for diff in diffs],
            session=context.session,
            cwd=context.cwd,
        )
        self._screen.open_dialog(page)

    async def _find_diffs(self, path: str) -> tuple[str, list[Diff]]:
        """Return a phrase that says where the diffs of a file come from, and the diffs.

        If possible, there is one diff, from the file's version at session start to the file on disk.
        Otherwise the diffs are those that tool calls reported. Raises `UserError` if no tool call reported a
        diff, and no change of the file is known or its two versions cannot be compared.
        """
        pane, conversation = self._files_pane(), self._context.conversation
        change, reported = pane.change_of(path), pane.touched_file(path)
        diffs = list(reported.diffs.values()) if reported is not None else []
        if change is not None and conversation is not None:
            versions = await conversation.versions(change)
            if versions.problem is None:
                old, new = (
                    text if text is None else escape_controls(text) for text in (versions.old, versions.new)
                )
                return "since the session began", [Diff(path, old, new)]
            if not diffs:
                raise UserError(f"{escape_invisible_line(path)}: {versions.problem}")
        if not diffs:
            raise UserError(f"No change of {escape_invisible_line(path)} is known.")
        return "as reported by the agent", diffs

    async def _revert(self, path: str) -> None:
        from acp_tui.session.state import Choice
        from acp_tui.text_format import relative_path
        from acp_tui.ui.dialogs.choose import ChooseScreen

        change = self._files_pane().change_of(path)
        if change is not None and change.kind == "added":
            effect, done = "Delete the file, which did not exist at session start", "deleted"
        else:
            effect, done = "Restore the version from session start", "restored"
        name = escape_invisible_line(relative_path(path, self._context.cwd))
        undo = keys.bound_keys(self._screen, "pane.undo").partition(" ")[0]
        choices = [
            Choice("keep", "Keep it"),
            Choice("revert", effect, f"You can undo this with {undo} in the pane."),
        ]
        answer = await self._screen.ask(ChooseScreen(f"Revert {name}?", choices))
        if answer != "revert" or self._context.conversation is None:
            return
        try:
            await self._context.conversation.review.revert_to_start(Path(path))
        except UserError as error:
            self._screen.notify_error(error)
        else:
            self._screen.notify(f"{name} {done}.", timeout=4, markup=False)
        self.request_scan()

    async def _accept(self, path: str) -> None:
        if self._context.conversation is not None:
            try:
                await self._context.conversation.review.accept_file(Path(path))
            except UserError as error:
                self._screen.notify_error(error)
            self.request_scan()

    async def _undo(self) -> None:
        conversation = self._context.conversation
        if conversation is None:
            return
        try:
            decision = await conversation.review.undo()
        except UserError as error:
            self._screen.notify_error(error)
            return
        if decision is not None:
            what = "Accept" if decision.verb == "accept" else "Revert"
            names = ", ".join(conversation.review.name(file.path) for file in decision.before[:MAX_NAMED])
            self._screen.notify(f"{what} undone: {names}.", timeout=4, markup=False)
            self.request_scan()
