"""What the review screen shows: the files and parts that pass the filter, and the texts around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.console.quantities import pluralize
from acp_tui.review.authorship import turns_of
from acp_tui.review.renames import find_renames
from acp_tui.session.text.invisible import reveal_line
from acp_tui.ui.entries.tool_call.headline import line_counts
from acp_tui.ui.screens.review.file_list import ListedFile
from acp_tui.ui.screens.review.selection import ReviewFilter

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from acp_tui.controller.changes.review import ConversationReview
    from acp_tui.review.changed_file import ChangedFile, Part
    from acp_tui.review.comments import Comment
    from acp_tui.ui.drawing.body import Spans
    from acp_tui.ui.theme.palette import Palette


class ReviewState:
    """The chosen file and the filter of the review screen, and what the screen shows for them."""

    def __init__(self, review: ConversationReview, path: Path | None) -> None:
        self._review = review
        self.path = path
        """The path of the chosen file; None if there is none."""
        self.filter = ReviewFilter()

    @property
    def commented(self) -> set[str]:
        """The paths of the files with comments."""
        return {comment.path for comment in self._review.comments}

    @property
    def file(self) -> ChangedFile | None:
        """The chosen file; None if there is none, or if it has not been loaded."""
        return self.loaded(self.path) if self.path is not None else None

    def loaded(self, path: Path) -> ChangedFile | None:
        """Return the changed file at a path; None if the file has not been loaded."""
        return self._review.model.files.get(path)

    def comments_on(self, path: Path) -> list[Comment]:
        """Return the comments on a file."""
        return [comment for comment in self._review.comments if comment.path == str(path)]

    @property
    def turn_count(self) -> int:
        """The number of turns whose changes are in the review."""
        return len({turn for file in self._review.model.files.values() for turn in turns_of(file.authors)})

    def shown_parts(self, file: ChangedFile) -> Sequence[Part]:
        """Return the parts of a file that pass the filter."""
        return self.filter.parts(file, self.commented)

    def open_paths(self) -> list[Path]:
        """Return the sorted paths of the files that pass the filter and are still to be reviewed."""
        files = self._review.model.files
        return [
            path
            for path in sorted({*self._review.listed, *files}, key=str)
            if (self.shown_parts(files[path]) if path in files else self.filter.shows_all)
        ]

    def listed_files(self) -> list[ListedFile]:
        """Return the files still to review, then the reviewed files, then other files with comments."""
        review, model = self._review, self._review.model
        verdicts = model.verdicts() if self.filter.turn is None else {}
        commented = {path for path in model.files if str(path) in self.commented}
        if self.filter.commented:
            verdicts = {path: verdict for path, verdict in verdicts.items() if path in commented}
        open_paths = self.open_paths()
        unchanged = commented - verdicts.keys() - {*open_paths} if self.filter.turn is None else ()
        listed = []
        for path in [*open_paths, *sorted(verdicts), *sorted(unchanged)]:
            file = model.files.get(path)
            counts = (file.text.added, file.text.removed) if file is not None and file.text else None
            kind = file.kind if file is not None and not file.done else None
            if file is None:
                kind = review.listed[path].kind
            count = sum(comment.path == str(path) for comment in review.comments)
            listed.append(ListedFile(path, review.name(path), kind, counts, count, verdicts.get(path)))
        return listed

    def other_name(self, file: ChangedFile | None) -> str:
        """Return the other name of a renamed file; empty if `find_renames` finds none.

        The review lists a renamed file twice: as deleted under its old name, and as added under its new one.
        """
        if file is None or file.kind not in ("added", "deleted"):
            return ""
        other = find_renames(self._review.model.files.values()).get(file.path)
        return reveal_line(self._review.name(other)) if other is not None else ""

    def message(self, undo_key: str, *, compared: bool) -> str:
        """Return the text shown instead of a diff. `compared`: whether the files on disk have been read."""
        if self.path is not None and (verdict := self._review.model.verdicts().get(self.path)):
            word = "Accepted" if verdict == "accept" else "Reverted"
            return f"{word}. {undo_key} undoes the last decision."
        if self.path is not None or not compared:
            return "Comparing with the files on disk …"
        if not self.filter.shows_all:
            return "Nothing left here. Choose another filter to see other changes."
        return "Nothing has changed since the session began."

    def head(self, prompts: Sequence[str], palette: Palette) -> tuple[Spans, Spans]:
        """Return the left and right part of the top line: the filter, and the progress."""
        review, model = self._review, self._review.model
        left: Spans = [Segment("Changes", palette.strong)]
        if not self.filter.shows_all:
            left.append(Segment(f" · {reveal_line(self.filter.name(prompts))}", palette.accent))
        right: Spans = []
        if review.comments:
            right.append(Segment(f"  {pluralize(len(review.comments), 'comment')}", palette.accent))
        total = model.reviewed + model.left
        right.append(Segment(f"  {model.reviewed:,} of {total:,} reviewed", palette.dim))
        return left, right

    def title(self, part: int, palette: Palette) -> tuple[Spans, Spans]:
        """Return the left and right part of the line above the diff. `part` is the current part's index."""
        if self.path is None:
            return [], []
        left: Spans = [Segment(reveal_line(self._review.name(self.path)), palette.strong)]
        right: Spans = []
        file = self.file
        if file is not None and file.text is not None:
            for text, style in line_counts(file.text.added, file.text.removed, palette):
                right += [Segment(" "), Segment(text, style)]
        parts = self.shown_parts(file) if file is not None else ()
        if len(parts) > 1:
            right.append(Segment(f"  hunk {part + 1} of {len(parts)}", palette.dim))
        return left, right
