"""One changed file as rows: a heading for each part, the lines of the part, and comments below the lines."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Literal

from rich.segment import Segment
from textual.strip import Strip

from acp_tui.console import pluralize
from acp_tui.diffing.difference import difference_of_blocks
from acp_tui.protocol.content import line_ends
from acp_tui.review.changed_file import MODE, ChangedFile, ChangePart, FileVersion
from acp_tui.session.safe_text import escape_controls, escape_invisible_line, escape_line
from acp_tui.ui.drawing.body import DrawContext, Heights
from acp_tui.ui.drawing.wrap import make_strip, shorten, wrap
from acp_tui.ui.entries.diff import (
    INDENT,
    MIN_SPLIT_WIDTH,
    RowPair,
    RowRenderer,
    SplitRenderer,
    UnifiedRenderer,
    cut_long_lines,
    rows_side_by_side,
    single_column,
)

if TYPE_CHECKING:
    from acp_tui.diffing import Difference, Row
    from acp_tui.review.comments import Comment
    from acp_tui.review.text_change import TextChange
    from acp_tui.ui.theme.palette import Spans


RowKind = Literal["heading", "line", "note", "comment", "blank"]
COMMENT_SIGN = "●"


@dataclass(frozen=True, slots=True)
class ReviewRow:
    """A row: a heading, a pair of lines, a note, a comment or a blank. Long rows wrap on the screen."""

    kind: RowKind
    part: int = -1  # the index of its part; -1 if it belongs to none
    pair: RowPair = (None, None)
    start: tuple[int, int] = (0, 0)  # if `kind` is "line": the hunk's first old and new line number
    text: str = ""
    comment: Comment | None = None

    @property
    def rows(self) -> list[Row]:
        """The old and the new line of the row; an unchanged line is listed once, and a heading has none."""
        old, new = self.pair
        found = [row for row in (old, new if new is not old else None) if row is not None]
        return [row for row in found if row.is_line]

    @property
    def place(self) -> tuple[object, ...]:
        """A key that identifies the row in its part, even after lines were added above the part."""
        note = self.text if self.kind == "note" else ""  # a heading has its hunk's number, which can change
        old, new = self.start
        return (
            self.kind,
            note,
            self.comment and (self.comment.excerpt, self.comment.text),  # its line numbers can change
            *((row.kind, row.old and row.old - old, row.new and row.new - new) for row in self.rows),
        )


class FileDiff:
    """The rows of a changed file at one width. Lines are drawn when they become visible."""

    def __init__(
        self,
        file: ChangedFile,
        parts: Sequence[ChangePart],
        comments: Sequence[Comment],
        context: DrawContext,
        author_of: Callable[[int], tuple[str, bool]],
        other_name: str = "",
    ) -> None:
        """Lay out the rows.

        `author_of` gets the authors of a part as bits (see `ChangedFile.authors_of`). It returns a label for
        the authors, and whether to highlight the label. `other_name` is the result of
        `ReviewState.other_name`.
        """
        self.file = file
        self.parts = parts
        self._context = context
        self._author_of = author_of
        difference = _difference(file.text) if file.text is not None else None
        self._renderer = _renderer(difference, file, context)
        self.rows = list(_rows(file, parts, comments, difference, other_name, split=self.split))
        self.heights = Heights()
        self.heights.reset([self._height(row) for row in self.rows])
        self._drawn: dict[int, list[Strip]] = {}

    @property
    def split(self) -> bool:
        """Whether old and new lines are side by side."""
        return isinstance(self._renderer, SplitRenderer)

    def first_row(self, part: int) -> int:
        """Return the index of a part's first changed row; if there is no such row, that of the heading."""
        rows = [index for index, row in enumerate(self.rows) if row.part == part]
        changed = (index for index in rows if any(row.kind != "same" for row in self.rows[index].rows))
        return next(chain(changed, rows), 0)

    def rows_of(self, part: int) -> range:
        """Return the indexes of all rows of a part, including its heading but not the blank row below it."""
        rows = [index for index, row in enumerate(self.rows) if row.part == part and row.kind != "blank"]
        return range(rows[0], rows[-1] + 1) if rows else range(0)

    def find_part(self, other: FileDiff, part: int) -> int | None:
        """Return the index of the part that corresponds to a part of another diff; None if there is none."""
        if other.file.path != self.file.path or part >= len(other.parts):
            return None
        found = self.file.find(other.file, other.parts[part])
        return self.parts.index(found) if found in self.parts else None

    def strips(self, index: int, *, current: bool) -> list[Strip]:
        """Return the drawn lines of a row, without the marks at the left.

        `current` says whether the cursor is in the part to which the row belongs.
        """
        row = self.rows[index]
        if row.kind == "heading":
            return [self._heading(row, self._context.width - INDENT, current=current)]
        strips = self._drawn.get(index)
        if strips is None:
            strips = self._drawn[index] = self._draw(row)
        return strips

    # ------------------------------------------------------------------------- drawing

    def _height(self, row: ReviewRow) -> int:
        if row.kind == "line" and self._renderer is not None:
            return self._renderer.height(row.pair)
        return len(self._draw(row)) if row.kind == "comment" else 1

    def _draw(self, row: ReviewRow) -> list[Strip]:
        palette, room = self._context.palette, self._context.width - INDENT
        match row.kind:
            case "line" if self._renderer is not None:
                return [strip.crop(INDENT) for strip in self._renderer.strips(row.pair)]
            case "note":
                return [Strip([Segment(shorten(row.text, room), palette.dim)])]
            case "comment" if row.comment is not None:
                texts: list[Spans] = [
                    [Segment(escape_line(line), palette.text)] for line in row.comment.text.split("\n")
                ]
                if row.comment.outdated:
                    texts[-1].append(Segment("  outdated", palette.warning))
                lines = [line for text in texts for line in wrap(text, max(8, room - 2))]
                return [make_strip(line, [Segment("│ ", palette.accent)]) for line in lines]
        return [Strip([])]

    def _heading(self, row: ReviewRow, room: int, *, current: bool) -> Strip:
        palette = self._context.palette
        style = palette.strong if current else palette.dim
        author, remarkable = self._author_of(self.file.authors_of(self.parts[row.part]))
        right: Spans = [Segment(author, palette.warning if remarkable else palette.dim)] if author else []
        left = [Segment(shorten(row.text, max(8, room - len(author) - 2)), style)]
        gap = max(1, room - Segment.get_line_length([*left, *right]))
        return Strip([*left, Segment(" " * gap), *right]).crop(0, room)


# --------------------------------------------------------------------------- the rows


def display_lines(lines: Iterable[str]) -> list[str]:
    """Return lines as they are shown: without line ends, and with stand-ins for control characters."""
    shown = cut_long_lines(escape_controls("".join(lines))).split("\n")
    if not shown[-1]:
        shown.pop()
    return shown


def _difference(text: TextChange) -> Difference:
    old, new = display_lines(text.old), display_lines(text.new)
    return difference_of_blocks(old, new, text.blocks, open_ends=(_is_open(text.old), _is_open(text.new)))


def _is_open(lines: Sequence[str]) -> bool:
    return bool(lines) and not lines[-1].endswith("\n")


def _renderer(difference: Difference | None, file: ChangedFile, context: DrawContext) -> RowRenderer | None:
    if difference is None:
        return None
    # Half of the width would be empty for a new or deleted file.
    split = context.width >= MIN_SPLIT_WIDTH and bool(file.old.data and file.now.data)
    return (SplitRenderer if split else UnifiedRenderer)(difference, str(file.path), context, numbered=True)


def _rows(
    file: ChangedFile,
    parts: Sequence[ChangePart],
    comments: Sequence[Comment],
    difference: Difference | None,
    other_name: str,
    *,
    split: bool,
) -> Iterator[ReviewRow]:
    waiting = list(comments)
    body: list[ReviewRow] = []
    for index, part in enumerate(parts):
        if index:
            body.append(ReviewRow("blank", index - 1))
        heading = f"Hunk {part.hunk + 1}" if part.kind == "hunk" else _title(file, part)
        body.append(ReviewRow("heading", index, text=heading))
        notes = _notes(file, part)
        body += [ReviewRow("note", index, text=note) for note in notes]
        if difference is not None and part != MODE:
            for hunk in difference.hunks[part.hunk : part.hunk + 1]:
                for pair in (rows_side_by_side if split else single_column)(hunk.rows()):
                    body.append(ReviewRow("line", index, pair, (hunk.old, hunk.new)))
                    found = [comment for comment in waiting if _ends_at(comment, body[-1])]
                    body += [ReviewRow("comment", index, comment=comment) for comment in found]
                    waiting = [comment for comment in waiting if comment not in found]
    for comment in waiting:
        yield ReviewRow("note", text=f"Comment on {lines_label(comment)}")
        yield ReviewRow("comment", comment=comment)
    ends = line_ends("".join(file.text.old), "".join(file.text.new)) if file.text is not None else None
    if ends is not None:
        yield ReviewRow("note", text=f"line endings: {ends[0]} → {ends[1]}")
    if other_name:
        word = "to" if file.kind == "deleted" else "from"
        yield ReviewRow("note", text=f"Renamed {word} {other_name}.")
    if (waiting or ends or other_name) and body:
        yield ReviewRow("blank")
    yield from body


def _ends_at(comment: Comment, row: ReviewRow) -> bool:
    if comment.outdated:
        return False
    if comment.removed:
        return any(one.kind == "removed" and one.old == comment.last for one in row.rows)
    return any(one.kind != "removed" and one.new == comment.last for one in row.rows)


def lines_label(comment: Comment) -> str:
    """Return a label for the lines that a comment is about, such as "lines 3-5"."""
    if comment.first == comment.last:
        return f"line {comment.first}"
    return f"lines {comment.first}-{comment.last}"


def _title(file: ChangedFile, part: ChangePart) -> str:
    if part == MODE:
        return "Executable bit"
    match file.kind:
        case "added":
            return "New file"
        case "deleted":
            return "Deleted file"
        case "unknown":
            return "Changed file"
    return f"Changed {_type(file.now)}"


def _type(version: FileVersion) -> str:
    if stat.S_ISLNK(version.mode):
        return "link"
    return "text file" if version.is_text else "binary file"


def _notes(file: ChangedFile, part: ChangePart) -> list[str]:
    """Return the notes shown below the heading of a part; none if the part is a hunk."""
    if part.kind == "hunk":
        return []
    if part == MODE:
        return ["The file is now executable." if file.now.executable else "The file is no longer executable."]
    notes = []
    old, now = file.old, file.now
    if old.obstacle is not None:
        notes.append(f"The version from the start of the session is unknown: {old.obstacle}.")
    if now.obstacle is not None:
        notes.append(f"The file cannot be shown: {now.obstacle}.")
    if obstacle := file.revert_obstacle():
        notes.append(f"The change cannot be reverted: {obstacle}.")
    if stat.S_ISLNK(old.mode) or stat.S_ISLNK(now.mode):
        notes += [f"{word} {_content_label(one)}" for word, one in (("was", old), ("is", now)) if one.exists]
    elif file.text is None and old.obstacle is None and now.obstacle is None:
        notes.append(" → ".join(_content_label(one) for one in (old, now) if one.exists))
    return notes


def _content_label(version: FileVersion) -> str:
    data = version.data or b""
    if stat.S_ISLNK(version.mode):
        return f"a link to {escape_invisible_line(data.decode(errors='replace'))}"
    return f"{_type(version)}, {pluralize(len(data), 'byte')}"
