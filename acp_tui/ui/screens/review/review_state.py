"""What the review screen shows: the files and parts that pass the filter, and the texts around them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.console import pluralize
from acp_tui.review.authorship import CLOSED, YOU, turn_bit, turns_of
from acp_tui.review.changed_file import ChangedFile, ChangePart, find_renames
from acp_tui.session.safe_text import escape_invisible_line
from acp_tui.session.state import Choice
from acp_tui.ui.entries.headline import line_counts
from acp_tui.ui.screens.review.file_list import ListedFile
from acp_tui.ui.theme.palette import Spans, current_palette

if TYPE_CHECKING:
    from acp_tui.controller.review import ConversationReview
    from acp_tui.review.comments import Comment


MAX_PROMPT_CHARACTERS = 50


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

    def shown_parts(self, file: ChangedFile) -> Sequence[ChangePart]:
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
        return escape_invisible_line(self._review.name(other)) if other is not None else ""

    def message(self, undo_key: str, *, compared: bool) -> str:
        """Return the text shown instead of a diff. `compared`: whether the files on disk have been read."""
        if not self._review.has_baseline:
            return "The agent's files are on another machine, so their changes cannot be reviewed here."
        if self.path is not None and (verdict := self._review.model.verdicts().get(self.path)):
            word = "Accepted" if verdict == "accept" else "Reverted"
            return f"{word}. {undo_key} undoes the last decision."
        if self.path is not None or not compared:
            return "Comparing with the files on disk …"
        if not self.filter.shows_all:
            return "Nothing left here. Choose another filter to see other changes."
        return "Nothing has changed since the session began."

    def head(self, prompts: Sequence[str]) -> tuple[Spans, Spans]:
        """Return the left and right part of the top line: the filter, and the progress."""
        palette = current_palette()
        review, model = self._review, self._review.model
        left: Spans = [Segment("Changes", palette.strong)]
        if not self.filter.shows_all:
            left.append(Segment(f" · {escape_invisible_line(self.filter.name(prompts))}", palette.accent))
        right: Spans = []
        if review.comments:
            right.append(Segment(f"  {pluralize(len(review.comments), 'comment')}", palette.accent))
        total = model.reviewed + model.left
        right.append(Segment(f"  {model.reviewed:,} of {total:,} reviewed", palette.dim))
        return left, right

    def title(self, part: int) -> tuple[Spans, Spans]:
        """Return the left and right part of the line above the diff. `part` is the current part's index."""
        palette = current_palette()
        if self.path is None:
            return [], []
        left: Spans = [Segment(escape_invisible_line(self._review.name(self.path)), palette.strong)]
        right: Spans = []
        file = self.file
        if file is not None and file.text is not None:
            for text, style in line_counts(file.text.added, file.text.removed):
                right += [Segment(" "), Segment(text, style)]
        parts = self.shown_parts(file) if file is not None else ()
        if len(parts) > 1:
            right.append(Segment(f"  hunk {part + 1} of {len(parts)}", palette.dim))
        return left, right


@dataclass(frozen=True, slots=True)
class ReviewFilter:
    """Which changes are shown: all, those of one turn, or those in files with comments."""

    turn: int | None = None
    commented: bool = False

    @property
    def shows_all(self) -> bool:
        """True if nothing is left out."""
        return self.turn is None and not self.commented

    def parts(self, file: ChangedFile, commented: Collection[str]) -> Sequence[ChangePart]:
        """Return the parts of a file that pass the filter. `commented` are the paths with comments."""
        if self.commented:
            return file.parts if str(file.path) in commented else ()
        if self.turn is None:
            return file.parts
        bit = turn_bit(self.turn)
        return [part for part in file.parts if file.authors_of(part) & bit]

    def name(self, prompts: Sequence[str]) -> str:
        """Return the filter's label. For a single turn, the label quotes the prompt, one of `prompts`."""
        if self.commented:
            return "Files with comments"
        if self.turn is None:
            return "All changes"
        latest = " (last turn)" if self.turn == len(prompts) else ""
        return f'Prompt {self.turn}: "{_short_prompt(prompts, self.turn)}"{latest}'

    @property
    def value(self) -> str:
        """The value that identifies the filter in the list of filters."""
        return "comments" if self.commented else f"turn {self.turn}" if self.turn is not None else "all"


def filter_choices(
    files: Iterable[ChangedFile], prompts: Sequence[str], commented: Collection[str]
) -> dict[str, tuple[ReviewFilter, Choice]]:
    """Return the filters to offer, each with its row in the dialog, by `ReviewFilter.value`.

    Among the filters for single turns, the filter for the latest turn comes first.
    """
    files = [file for file in files if not file.done]
    turns = sorted({turn for file in files for turn in turns_of(_all_authors(file))}, reverse=True)
    found = [ReviewFilter(), *(ReviewFilter(turn) for turn in turns)]
    if commented:
        found.append(ReviewFilter(commented=True))
    choices = {}
    for each in found:
        parts = [count for file in files if (count := len(each.parts(file, commented)))]
        note = f"{pluralize(sum(parts), 'change')} in {pluralize(len(parts), 'file')}"
        choices[each.value] = (each, Choice(each.value, each.name(prompts), note))
    return choices


def _all_authors(file: ChangedFile) -> int:
    found = 0
    for part in file.parts:
        found |= file.authors_of(part)
    return found


def _short_prompt(prompts: Sequence[str], turn: int) -> str:
    text = " ".join(prompts[turn - 1].split()) if turn <= len(prompts) else ""
    return text if len(text) <= MAX_PROMPT_CHARACTERS else f"{text[: MAX_PROMPT_CHARACTERS - 1]}…"


def author_label(authors: int, *, name_turns: bool) -> tuple[str, bool]:
    """Return a label (possibly empty) that says who changed a part, and whether to highlight the label.

    `authors` is a set of bits, explained in `acp_tui.review.authorship`.
    """
    turns = list(turns_of(authors))
    also = "also " if turns else ""
    if authors & YOU and authors & CLOSED:
        return f"{also}edited by you, and while the session was closed", True
    if authors & CLOSED:
        return f"{also}changed while the session was closed", True
    if authors & YOU:
        return f"{also}edited by you", True
    if not turns or not name_turns:
        return "", False
    return f"prompt{'s' if len(turns) > 1 else ''} {', '.join(map(str, turns))}", False
