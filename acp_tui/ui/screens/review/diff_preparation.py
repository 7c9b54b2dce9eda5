"""Lays out the diffs of the review screen: the chosen file's and, ahead of time, the next file's.

The changes themselves are computed in `acp_tui/review/text_change.py`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from acp_tui.ui.screens.review.file_diff import FileDiff
from acp_tui.ui.screens.review.selection import author_label

if TYPE_CHECKING:
    from pathlib import Path

    from acp_tui.review.changed_file import ChangedFile
    from acp_tui.review.comments import Comment
    from acp_tui.ui.drawing.body import DrawContext
    from acp_tui.ui.screens.review.review_state import ReviewState

MAX_LINES_TO_PREPARE = 2_000
"""The maximum number of changed lines in a diff that is prepared. A larger one takes more than 10 ms."""


class DiffPreparation:
    """Makes the diffs of files. The next file's diff is prepared in advance, and used if still correct."""

    def __init__(self, state: ReviewState) -> None:
        self._state = state
        self._prepared: tuple[tuple[object, ...], FileDiff] | None = None

    def inputs(self, file: ChangedFile | None, width: int) -> tuple[object, ...]:
        """Return the values that the diff of a file depends on, except the palette."""
        parts = self._state.shown_parts(file) if file is not None else ()
        name_turns = self._state.turn_count > 1
        return file, tuple(parts), tuple(self.comments(file)), width, self._state.other_name(file), name_turns

    def comments(self, file: ChangedFile | None) -> list[Comment]:
        """Return the comments on a file."""
        return self._state.comments_on(file.path) if file is not None else []

    def diff(self, file: ChangedFile, drawing: DrawContext) -> FileDiff:
        """Return the diff of a file: the prepared diff if it is still correct, else a new diff."""
        inputs = self.inputs(file, drawing.width)
        if self._prepared is not None and self._prepared[0] == inputs:
            return self._prepared[1]
        name_authors = partial(author_label, name_turns=self._state.turn_count > 1)
        parts = self._state.shown_parts(file)
        return FileDiff(file, parts, self.comments(file), drawing, name_authors, self._state.other_name(file))

    def prepare_next(self, path: Path, drawing: DrawContext, height: int) -> None:
        """Prepare the diff of the file after `path`, and draw as many rows of the diff as fit into `height`.

        Showing that file is then as fast as moving to another hunk.
        """
        paths = self._state.open_paths()
        at = paths.index(path) + 1 if path in paths else len(paths)
        file = self._state.loaded(paths[at]) if at < len(paths) else None
        if file is None or file.text is None or file.text.added + file.text.removed > MAX_LINES_TO_PREPARE:
            return
        diff = self.diff(file, drawing)
        for index in range(min(height, len(diff.rows))):
            diff.strips(index, current=False)
        self._prepared = self.inputs(file, drawing.width), diff

    def forget(self) -> None:
        """Drop the prepared diff. Must be called when the palette changes: `inputs` lacks the palette."""
        self._prepared = None
