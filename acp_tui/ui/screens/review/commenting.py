"""Writes comments on the lines that are chosen on the review screen."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.review.comments import Comment
from acp_tui.review.text_change import split_lines
from acp_tui.ui.screens.review.file_diff import display_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from acp_tui.controller.changes.review import ConversationReview
    from acp_tui.diffing import Row
    from acp_tui.ui.screens.review.diff_view import DiffView
    from acp_tui.ui.screens.review.file_diff import ReviewRow

SIGNS = {"same": " ", "removed": "-", "added": "+"}


class Commenting:
    """Makes, changes and deletes comments, and updates their line numbers when the files change."""

    def __init__(self, review: ConversationReview, save: Callable[[], None]) -> None:
        self._review = review
        self._save = save
        self._draft: Comment | None = None
        self._replaced: Comment | None = None

    def begin(self, view: DiffView) -> Comment | None:
        """Start to edit the comment at the cursor, or a new comment on the chosen lines or hunk.

        Return the comment; None if there are no lines to comment on.
        """
        row = view.row
        if row is None or view.diff is None:
            return None
        self._replaced = row.comment
        if row.comment is not None:
            self._draft = row.comment
        elif view.range_start is None and row.kind != "line":  # the heading of a hunk
            rows = [view.diff.rows[at] for at in view.diff.rows_of(view.part)]
            self._draft = comment_on(str(view.diff.file.path), rows)
        else:
            self._draft = comment_on(str(view.diff.file.path), view.chosen_rows)
        return self._draft

    def finish(self, text: str | None) -> None:
        """Save the comment. An empty text deletes the comment; None (cancelled) changes nothing."""
        draft, replaced = self._draft, self._replaced
        self._draft = self._replaced = None
        if text is None or draft is None:
            return
        comments = [one for one in self._review.comments if one != replaced]
        if text:
            comments.append(replace(draft, text=text))
        self._review.comments = comments
        self._save()

    def follow_lines(self) -> None:
        """Update the line numbers of comments. Mark a comment as outdated if its lines have changed.

        Comments on files that are not loaded or are completely reviewed stay as they are.
        """
        review = self._review
        lines: dict[str, tuple[Sequence[str], Sequence[str]]] = {}
        for path in {comment.path for comment in review.comments}:
            file = review.model.files.get(Path(path))
            if file is None or (file.done and file.path in review.model.verdicts()):
                continue
            if file.text is not None:
                lines[path] = (display_lines(file.text.old), display_lines(file.text.new))
            else:  # the file no longer differs, or is not a text file
                data = file.now.data if file.now.is_text else None
                lines[path] = (unchanged := display_lines(split_lines(data or b"")), unchanged)
        followed = {
            comment: comment.follow(*lines[comment.path])
            for comment in review.comments
            if comment.path in lines
        }
        review.comments = [followed.get(comment, comment) for comment in review.comments]
        if self._replaced is not None:  # the comment that is being edited
            self._draft = self._replaced = followed.get(self._replaced, self._replaced)


def comment_on(path: str, rows: Sequence[ReviewRow]) -> Comment | None:
    """Return a comment, still without text, on the lines of these rows; None if the rows have no lines."""
    lines = list(_in_unified_order([line for row in rows for line in row.rows]))
    numbers = [line.new for line in lines if line.new is not None]
    numbers = numbers or [line.old for line in lines if line.old is not None]
    if not numbers:
        return None
    excerpt = tuple(f"{SIGNS[line.kind]}{line.text}" for line in lines)
    return Comment(path, numbers[0], numbers[-1], excerpt, "")


def _in_unified_order(lines: Sequence[Row]) -> list[Row]:
    """Return the lines as in a unified diff, with the removed lines of each change before the added ones."""
    found: list[Row] = []
    for _, group in groupby(lines, key=lambda line: id(line.change) if line.change is not None else None):
        found += sorted(group, key=lambda line: line.kind != "removed")
    return found
