"""The filters of the review screen, and labels for filters and for authors of changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from acp_tui.console.quantities import pluralize
from acp_tui.review.authorship import CLOSED, YOU, turn_bit, turns_of
from acp_tui.session.state import Choice

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from acp_tui.review.changed_file import ChangedFile, Part

MAX_PROMPT_CHARACTERS = 50


@dataclass(frozen=True, slots=True)
class ReviewFilter:
    """Which changes are shown: all, those of one turn, or those in files with comments."""

    turn: int | None = None
    commented: bool = False

    @property
    def shows_all(self) -> bool:
        """True if nothing is left out."""
        return self.turn is None and not self.commented

    def parts(self, file: ChangedFile, commented: Collection[str]) -> Sequence[Part]:
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
