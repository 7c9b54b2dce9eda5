"""The list of the changed files on the review screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual.message import Message

from acp_tui.session.safe_text import escape_invisible_line
from acp_tui.ui.drawing.wrap import shorten_path
from acp_tui.ui.entries.headline import line_counts
from acp_tui.ui.panes.files import STATUS_LETTERS
from acp_tui.ui.panes.pane_list import (
    RIGHT_MARGIN,
    PaneItem,
    PaneList,
    heading_item,
    justified_line,
    text_item,
)
from acp_tui.ui.screens.review.file_diff import COMMENT_SIGN
from acp_tui.ui.theme.palette import Spans, current_palette

if TYPE_CHECKING:
    from rich.style import Style
    from textual import events
    from textual.strip import Strip

    from acp_tui.review.changed_file import FileKind
    from acp_tui.review.decisions import Verb

MIN_NAME_CELLS = 6
GUTTER = 2
"""The width of the mark for the chosen file, and of that for the kind of change."""
VERDICT_SIGNS: dict[Verb, str] = {"accept": "✓", "revert": "↶"}


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file in the list, and what is shown about the file."""

    path: Path
    name: str
    kind: FileKind | None  # None if it does not differ
    counts: tuple[int, int] | None = None  # added and removed lines; None if unknown or not text
    comments: int = 0
    verdict: Verb | None = None  # None until the file is reviewed

    @property
    def open(self) -> bool:
        """Whether something is left to review."""
        return self.kind is not None and self.verdict is None


class ReviewFileList(PaneList, inherit_bindings=False):
    """The files to review, the reviewed ones, and those no longer changed. The screen handles the keys."""

    MARKED_WITHOUT_FOCUS: ClassVar = True

    _shown: tuple[object, ...] = ()
    _files: Sequence[ListedFile] = ()

    class Chosen(Message):
        """The user chose another file with the mouse."""

    def show_files(self, files: Sequence[ListedFile], note: str = "") -> None:
        """Show the files, and a note below them."""
        if (*files, note) == self._shown:
            return
        self._shown, self._files = (*files, note), files
        left = [file for file in files if file.open]
        done = [file for file in files if file.verdict is not None]
        unchanged = [file for file in files if not file.open and file.verdict is None]
        items = [heading_item("To review", f"{len(left):,}", first=True)]
        items += [self._item(file) for file in left]
        if done:
            items.append(heading_item("Reviewed", f"{len(done):,}"))
            items += [self._item(file) for file in done]
        if unchanged:
            items.append(heading_item("No longer changed", f"{len(unchanged):,}"))
            items += [self._item(file) for file in unchanged]
        if note:
            items.append(text_item(f"\n{note}", current_palette().dim))
        self.show(items)

    @property
    def wanted_width(self) -> int:
        """The width at which no name is shortened."""
        return max((self._row_width(file) for file in self._files), default=0)

    def _row_width(self, file: ListedFile) -> int:
        right = Segment.get_line_length(self._right(file))
        return 2 * GUTTER + cell_len(escape_invisible_line(file.name)) + right + RIGHT_MARGIN + 1

    def apply_theme(self) -> None:
        """Draw all files again in the next call of `show_files`."""
        self._shown = ()

    def _item(self, file: ListedFile) -> PaneItem:
        return PaneItem(lambda width: [self._row(file, width)], str(file.path))

    def _row(self, file: ListedFile, width: int) -> Strip:
        palette = current_palette()
        letter = Segment("  ")
        if file.verdict is not None:
            letter = Segment(f"{VERDICT_SIGNS[file.verdict]} ", palette.dim)
        elif file.kind is not None:
            letter = Segment(f"{STATUS_LETTERS[file.kind]} ", self._style(file.kind))
        right = self._right(file)
        room = width - RIGHT_MARGIN - cell_len(letter.text) - Segment.get_line_length(right)
        if room < MIN_NAME_CELLS:
            room, right = width - RIGHT_MARGIN - cell_len(letter.text), []
        name = shorten_path(escape_invisible_line(file.name), max(MIN_NAME_CELLS, room))
        text = palette.text if file.open else palette.dim
        return justified_line([letter, Segment(name, text)], right, width)

    def _right(self, file: ListedFile) -> Spans:
        right: Spans = []
        if file.comments:
            right.append(Segment(f" {COMMENT_SIGN}{file.comments}", current_palette().accent))
        if file.counts is not None and file.open:
            for count, style in line_counts(*file.counts):
                right += [Segment(" "), Segment(count, style)]
        return right

    def _style(self, kind: FileKind) -> Style:
        palette = current_palette()
        return {"added": palette.success, "deleted": palette.error}.get(kind, palette.warning)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Choose the file under the mouse."""
        super().on_mouse_down(event)
        self.post_message(self.Chosen())
