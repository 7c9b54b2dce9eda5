"""Comments on changed lines. All comments are sent to the agent together."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

MAX_EXCERPT_LINES = 40
"""The maximum number of lines of an excerpt. The middle of a longer one is omitted."""

_BACKTICKS = re.compile("`+")


@dataclass(frozen=True, slots=True)
class Comment:
    path: str
    first: int  # line numbers: of the new text, or of the old one if the lines are removed
    last: int
    excerpt: tuple[str, ...]  # the lines with their sign in the diff: "+", "-" or a space
    text: str
    outdated: bool = False  # the lines were changed after the comment was written

    @property
    def removed(self) -> bool:
        """True if the comment is on removed lines only."""
        return all(line.startswith("-") for line in self.excerpt)

    def follow(self, old: Sequence[str], new: Sequence[str]) -> Comment:
        """Return the comment with its current line numbers, or marked as outdated.

        `old` and `new` are the lines of the accepted and of the current version, without line endings.
        """
        wanted = [line[1:] for line in self.excerpt if self.removed or not line.startswith("-")]
        places = _places(wanted, old if self.removed else new)
        back = self.removed and len(_places(wanted, new)) >= len(places)
        if not places or back:
            return replace(self, outdated=True)
        first = min(places, key=lambda at: abs(at + 1 - self.first)) + 1
        return replace(self, first=first, last=first + len(wanted) - 1, outdated=False)


def _places(wanted: Sequence[str], lines: Sequence[str]) -> list[int]:
    """Return the indexes in `lines` at which the wanted lines occur as an uninterrupted sequence."""
    if not wanted:
        return []
    count = len(wanted)
    return [
        at
        for at in range(len(lines) - count + 1)
        if lines[at] == wanted[0] and list(lines[at : at + count]) == list(wanted)
    ]


def comments_to_json(comments: Iterable[Comment]) -> list[dict[str, Any]]:
    """Convert comments to values that can be saved as JSON."""
    return [asdict(comment) for comment in comments]


def comments_from_json(values: object) -> list[Comment]:
    """Convert saved JSON values to comments. Values that cannot be read are skipped."""
    found = []
    for value in values if isinstance(values, list) else ():
        match value:
            case {
                "path": str(path),
                "first": int(first),
                "last": int(last),
                "excerpt": [*excerpt],
                "text": str(text),
            } if all(isinstance(line, str) for line in excerpt):
                found.append(Comment(path, first, last, tuple(excerpt), text))
    return found


def prompt_of(comments: Sequence[Comment], name_of: Callable[[str], str]) -> str:
    """Return the prompt that sends comments to the agent. `name_of` returns a path for display."""
    parts = ["Please address these review comments on the current changes."]
    for comment in sorted(comments, key=lambda one: (one.path, one.first)):
        parts += [_heading(comment, name_of(comment.path)), _fenced(comment.excerpt), comment.text]
    return "\n\n".join(parts)


def _heading(comment: Comment, name: str) -> str:
    lines = f"line {comment.first}"
    if comment.last > comment.first:
        lines = f"lines {comment.first}-{comment.last}"
    removed = " (removed)" if comment.removed else ""
    outdated = " (these lines have changed since)" if comment.outdated else ""
    return f"{name}, {lines}{removed}{outdated}:"


def _fenced(excerpt: Sequence[str]) -> str:
    lines = list(excerpt)
    if len(lines) > MAX_EXCERPT_LINES:
        half = MAX_EXCERPT_LINES // 2
        lines[half:-half] = [f" … {len(lines) - 2 * half} more lines"]
    longest = max((len(run) for line in lines for run in _BACKTICKS.findall(line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}diff", *lines, fence])
