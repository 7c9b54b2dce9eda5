"""Actions of the panes: show and revert file changes, show and stop terminals."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.errors import UserError
from acp_tui.session.state import Diff
from acp_tui.session.text.invisible import reveal_line
from acp_tui.session.text.safe_text import visible
from acp_tui.ui import keys
from acp_tui.ui.screens.repeated_job import RepeatedJob

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.controller import Conversation, FileChange
    from acp_tui.ui.panes.files import Counts, FilesPane
    from acp_tui.ui.panes.messages import PaneItemAction
    from acp_tui.ui.screens.base import BaseScreen
    from acp_tui.ui.screens.session.context import SessionContext
    from acp_tui.ui.screens.session.side_panes import SidePanes

MAX_COUNTED_FILES = 100
"""The maximum number of files whose changed lines are counted."""
MAX_COUNTED_SIZE = 500_000
"""The maximum size of a file whose changed lines are counted: the characters of both versions together."""
MAX_NAMED = 3
"""The maximum number of files that a toast names."""
SCAN_PAUSE_FACTOR = 4
"""The pause after a scan of the changed files is this many times as long as the scan took."""


class PaneActions:
    """Runs the pane actions that need the conversation, a dialog or the user's editor."""

    def __init__(
        self,
        screen: BaseScreen,
        panes: SidePanes,
        context: SessionContext,
        *,
        edit_file: Callable[[str, int | None], None],
        choose_option: Callable[[str], None],
        show_server: Callable[[str], None],
    ) -> None:
        self._screen = screen
        self._panes = panes
        self._context = context
        self._edit_file = edit_file
        self._choose_option = choose_option
        self._show_server = show_server
        self._scanning = RepeatedJob(screen, self._scan, screen.notify_error)

    def run(self, event: PaneItemAction) -> None:
        """Run the action that a pane requested."""
        match event.action:
            case "edit":
                self._edit_file(event.key, event.line)
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
            case "set":
                self._choose_option(event.key)
            case "server":
                self._show_server(event.key)

    # ------------------------------------------------------------------------- terminals

    def _show_output(self, terminal_id: str) -> None:
        from acp_tui.ui.screens.dialogs.output import OutputScreen

        context = self._context
        terminal = context.session.terminals.get(terminal_id)
        if terminal is not None:
            self._screen.open_dialog(
                OutputScreen(terminal, context.palette, session=context.session, cwd=context.cwd)
            )

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
        from acp_tui.entry_labels import relative_path
        from acp_tui.ui.entries.diff.diff_body import DiffBody
        from acp_tui.ui.screens.dialogs.detail import DetailScreen

        try:
            source, diffs = await self._find_diffs(path)
        except UserError as error:
            self._screen.notify_error(error)
            return
        context = self._context
        page = DetailScreen(
            f"{reveal_line(relative_path(path, context.cwd))}: {source}",
            lambda drawing: [DiffBody(diff, drawing) for diff in diffs],
            context.palette,
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
                old, new = (text if text is None else visible(text) for text in (versions.old, versions.new))
                return "since the session began", [Diff(path, old, new)]
            if not diffs:
                raise UserError(f"{reveal_line(path)}: {versions.problem}")
        if not diffs:
            raise UserError(f"No change of {reveal_line(path)} is known.")
        return "as reported by the agent", diffs

    async def _revert(self, path: str) -> None:
        from acp_tui.entry_labels import relative_path
        from acp_tui.session.state import Choice
        from acp_tui.ui.screens.dialogs.choose import ChooseScreen

        change = self._files_pane().change_of(path)
        if change is not None and change.kind == "added":
            effect, done = "Delete the file, which did not exist at session start", "deleted"
        else:
            effect, done = "Restore the version from session start", "restored"
        name = reveal_line(relative_path(path, self._context.cwd))
        undo = keys.bound_keys(self._screen, "pane.undo").partition(" ")[0]
        choices = [
            Choice("keep", "Keep it"),
            Choice("revert", effect, f"You can undo this with {undo} in the pane."),
        ]
        answer = await self._screen.ask(ChooseScreen(f"Revert {name}?", choices, self._context.palette))
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
