"""The dialog that shows what a rewind would do to each file, and in which the files to restore are chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.containers import Vertical

from acp_tui.console.quantities import pluralize
from acp_tui.session.text.invisible import reveal_line
from acp_tui.ui import keys
from acp_tui.ui.entries.tool_call.headline import line_counts
from acp_tui.ui.screens.dialogs.dialog import Dialog
from acp_tui.ui.widgets.bar import Bar, KeyHints
from acp_tui.ui.widgets.select_list import Row, SelectList

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from textual.app import ComposeResult

    from acp_tui.controller.changes.rewind import FileTexts
    from acp_tui.ui.drawing.body import Spans
    from acp_tui.ui.theme.palette import Palette
    from acp_tui.workspace.baseline.turn_history import RewindStep

CHROME_ROWS = 6
"""The number of rows of the dialog besides the list: borders, title, a blank row, keys, a margin."""
_ACTIONS = 2
"""The number of rows above the files. "Cancel" is selected first, so that type-ahead restores nothing."""
_VERBS = {
    "restore": "restore",
    "create": "restore (deleted since)",
    "delete": "delete (new since)",
    "mode": "restore the file mode",
}


class RewindDialog(Dialog["frozenset[Path] | None"]):
    """Returns the files to restore, or None if cancelled.

    Files that somebody else than the agent has edited are restored only if the user chooses them.
    """

    CSS = """
    RewindDialog { align: center middle; background: transparent; }
    RewindDialog #dialog {
        width: 84; max-width: 100%; height: auto; padding: 0 1;
        background: $surface; border: round $warning;
    }
    RewindDialog #head { margin-bottom: 1; }
    """
    BINDINGS: ClassVar = keys.bindings("rewind")
    AUTO_FOCUS = ""

    def __init__(
        self,
        title: str,
        steps: Sequence[RewindStep],
        name: Callable[[Path], str],
        texts: Callable[[RewindStep], Awaitable[FileTexts]],
        palette: Palette,
        *,
        cwd: str,
    ) -> None:
        """`name` returns a path for display, `texts` what a step would change."""
        super().__init__()
        self._title = title
        self._steps = steps
        self._display_name = name
        self._texts = texts
        self._palette = palette
        self._cwd = cwd
        self._counts: dict[Path, tuple[int, int]] = {}
        self._chosen = {
            step.path for step in steps if step.obstacle is None and not step.edited_between_turns
        }

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog"):
            yield Bar([Segment(self._title, self._palette.strong)], id="head")
            yield SelectList(self._rows(), self._palette, id="choices")
            hints = [("choose", "take"), ("on / off", "switch"), ("all", "all"), ("diff", "diff")]
            shown = [(keys.bound_keys(self, f"rewind.{key}"), label) for label, key in hints]
            close = keys.bound_keys(self, "rewind.close")
            yield KeyHints([*shown, (close, "cancel")], self._palette, id="keys")

    def on_mount(self) -> None:
        """Count the lines of the files."""
        self._fit()
        self.run_worker(self._count(), group="count", exclusive=True)

    def on_resize(self) -> None:
        """Set the height of the list."""
        self._fit()

    def _fit(self) -> None:
        rows = self.query_one(SelectList)
        width = self.query_one("#dialog").outer_size.width or min(84, self.app.size.width)
        rows.styles.height = max(1, min(rows.height_at(width - 4), self.app.size.height - CHROME_ROWS))

    async def _count(self) -> None:
        for step in self._steps:
            if step.obstacle is None and (counts := (await self._texts(step)).counts) is not None:
                self._counts[step.path] = counts
        self._update()

    def use_palette(self, palette: Palette) -> None:
        """Apply the colours of a new theme."""
        self._palette = palette
        self.query_one(SelectList).use_palette(palette)
        self.query_one("#head", Bar).show([Segment(self._title, palette.strong)])
        self.query_one("#keys", KeyHints).use_palette(palette)
        self._update()

    # ------------------------------------------------------------------------- the rows

    def _update(self) -> None:
        rows = self.query_one(SelectList)
        rows.show(self._rows(), rows.selected)

    def _rows(self) -> list[Row]:
        palette = self._palette
        count = len(self._chosen)
        words = f"Restore {pluralize(count, 'file')}" if count else "Restore no file"
        actions = [Row([], [Segment(text, palette.text)]) for text in ("Cancel", words)]
        return [*actions, *map(self._row, self._steps)]

    def _row(self, step: RewindStep) -> Row:
        palette = self._palette
        name = self._display_name(step.path)
        if step.obstacle is not None:
            text = [Segment(f"{name}: stays", palette.dim)]
            return Row([Segment("    ")], text, [Segment(reveal_line(step.obstacle), palette.dim)])
        note: Spans | None = None
        if step.edited_between_turns:
            words = "Also edited between turns: restoring it loses these edits."
            if not step.changed_by_agent:
                words = "Changed between turns only, not by the agent."
            note = [Segment(words, palette.warning)]
        tail: Spans = []
        for count, style in line_counts(*self._counts.get(step.path, (0, 0)), palette):
            tail += [Segment(" "), Segment(count, style)]
        mark = "[x] " if step.path in self._chosen else "[ ] "
        text = [Segment(f"{name}: {_VERBS[step.kind]}", palette.text)]
        return Row([Segment(mark, palette.accent)], text, note, tail)

    @property
    def _step(self) -> RewindStep | None:
        at = self.query_one(SelectList).selected - _ACTIONS
        return self._steps[at] if at >= 0 else None

    # ------------------------------------------------------------------------- keys

    def on_select_list_chosen(self, event: SelectList.Chosen) -> None:
        """Do the same as Enter on the clicked row."""
        self.query_one(SelectList).selected = event.index
        self.action_choose()

    def action_move(self, step: int) -> None:
        """Move the selection."""
        self.query_one(SelectList).move(step)

    def action_end(self, step: int) -> None:
        """Select the last file, or the first row if `step` is negative."""
        self.query_one(SelectList).move_to_end(step)

    def action_choose(self) -> None:
        """Close the dialog; on a file, choose the file or not."""
        match self.query_one(SelectList).selected:
            case 0:
                self.dismiss(None)
            case 1:
                self.dismiss(frozenset(self._chosen))
            case _:
                self.action_switch()

    def action_switch(self) -> None:
        """Choose the selected file, or no longer."""
        if (step := self._step) is not None and step.obstacle is None:
            self._chosen ^= {step.path}
            self._update()

    def action_toggle_all(self) -> None:
        """Choose all files; if all are chosen, none."""
        every = {step.path for step in self._steps if step.obstacle is None}
        self._chosen = set() if self._chosen == every else every
        self._update()

    async def action_diff(self) -> None:
        """Show what restoring the selected file would change."""
        from acp_tui.session.state import Diff
        from acp_tui.ui.entries.diff.diff_body import DiffBody
        from acp_tui.ui.screens.dialogs.detail import DetailScreen

        if (step := self._step) is None:
            return
        found = await self._texts(step)
        name = self._display_name(step.path)
        if found.problem is not None:
            self.notify(f"{name}: {found.problem}", markup=False)
            return
        diff = Diff(str(step.path), found.now, found.then)
        title = f"{name}: what restoring it changes"
        page = DetailScreen(title, lambda drawing: [DiffBody(diff, drawing)], self._palette, cwd=self._cwd)
        self.app.push_screen(page)
