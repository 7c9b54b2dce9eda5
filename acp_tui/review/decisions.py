"""The decisions of a review, in order: what was accepted or reverted. The last decision can be undone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from acp_tui.review.changed_file import WHOLE, ChangedFile, ChangePart, FileVersion

Verb = Literal["accept", "revert"]


@dataclass(frozen=True, slots=True)
class Write:
    """A file to replace on disk with `wanted`, unless it is no longer the `expected` version."""

    path: Path
    expected: FileVersion
    wanted: FileVersion


@dataclass(frozen=True, slots=True)
class ReviewDecision:
    """Parts that were accepted or reverted together, in one or more files."""

    verb: Verb
    before: tuple[ChangedFile, ...]
    after: tuple[ChangedFile, ...]
    parts: int  # how many parts were decided
    first_part: int = 0  # the index of the first of them in the first file

    @property
    def writes(self) -> list[Write]:
        """The writes that carry out the decision."""
        return [
            Write(before.path, before.now, after.now)
            for before, after in zip(self.before, self.after, strict=True)
            if before.now != after.now
        ]

    @property
    def undo_writes(self) -> list[Write]:
        """The writes that undo the decision.

        Files to remove come first: one of them can be in the place of a folder that another file needs.
        """
        writes = [Write(write.path, write.wanted, write.expected) for write in self.writes]
        return sorted(writes, key=lambda write: write.wanted.exists)


@dataclass
class Review:
    """The changed files, and the decisions made so far."""

    files: dict[Path, ChangedFile] = field(default_factory=dict)
    decisions: list[ReviewDecision] = field(default_factory=list)
    _round_began: int = 0  # the number of decisions when the comments were last sent

    # ---- progress

    @property
    def reviewed(self) -> int:
        """The number of parts that were accepted or reverted since the comments were last sent."""
        return sum(decision.parts for decision in self.decisions[self._round_began :])

    @property
    def left(self) -> int:
        """The number of parts that are left to review."""
        return sum(len(file.parts) for file in self.files.values())

    @property
    def round_began(self) -> int:
        """The number of decisions when the comments were last sent."""
        return self._round_began

    def restore(self, decisions: Sequence[ReviewDecision], round_began: int) -> None:
        """Continue with decisions that were saved. Files that are completely reviewed are known at once."""
        self.decisions = [*decisions, *self.decisions]
        self._round_began = round_began
        last = {file.path: file for decision in decisions for file in decision.after}
        for path, file in last.items():
            if file.done:
                self.files.setdefault(path, file)

    def begin_round(self) -> None:
        """Restart the count of reviewed parts. Called when the comments are sent to the agent."""
        self._round_began = len(self.decisions)

    def verdicts(self) -> dict[Path, Verb]:
        """Return the last decision, `accept` or `revert`, on each file that is completely reviewed."""
        verbs = {file.path: decision.verb for decision in self.decisions for file in decision.before}
        return {path: verb for path, verb in verbs.items() if path in self.files and self.files[path].done}

    # ---- deciding

    def accept(self, path: Path, parts: Sequence[ChangePart] | None = None) -> ReviewDecision:
        """Return the decision to accept parts of a file (None: all parts). `record` applies the decision."""
        return self._decide("accept", {path: parts})

    def revert(self, path: Path, parts: Sequence[ChangePart] | None = None) -> ReviewDecision:
        """Return the decision to revert parts of a file (None: all parts). `record` applies the decision."""
        return self._decide("revert", {path: parts})

    def revert_all(self, chosen: Mapping[Path, Sequence[ChangePart] | None]) -> ReviewDecision:
        """Return one decision to revert the chosen parts of several files; None stands for a whole file."""
        return self._decide("revert", chosen)

    def _decide(self, verb: Verb, chosen: Mapping[Path, Sequence[ChangePart] | None]) -> ReviewDecision:
        before = tuple(self.files[path] for path in chosen)
        after = tuple(_decided(self.files[path], verb, parts) for path, parts in chosen.items())
        count = sum(len(file.parts) for file in before) - sum(len(file.parts) for file in after)
        parts = next(iter(chosen.values()), None)
        first = min(map(before[0].parts.index, parts)) if parts else 0
        return ReviewDecision(verb, before, after, count, first)

    def record(self, decision: ReviewDecision) -> None:
        """Apply a decision. The caller must have written the decision's changes to disk."""
        self.decisions.append(decision)
        self.files.update({file.path: file for file in decision.after})

    def undo(self) -> ReviewDecision | None:
        """Remove and return the last decision; None if there is none.

        The caller must have undone the decision's changes on disk.
        """
        if not self.decisions:
            return None
        decision = self.decisions.pop()
        self._round_began = min(self._round_began, len(self.decisions))
        for before, after in zip(decision.before, decision.after, strict=True):
            current = self.files.get(before.path, after)
            self.files[before.path] = before if current == after else _rebase(before, current, decision.verb)
        return decision

    # ---- the disk

    def update(self, file: ChangedFile) -> None:
        """Set the current version of a file. Parts that were accepted before stay accepted."""
        known = self.files.get(file.path)
        if known is not None and known.now == file.now and known.obstacle == file.obstacle:
            if known.old == file.old:
                self.files[file.path] = file  # with its authors, which can have been unknown
            return
        if known is not None and known.old != file.old:
            file = ChangedFile.between(
                file.path, known.old, file.now, authors=file.authors, obstacle=file.obstacle
            )
        self.files[file.path] = file

    def forget(self, paths: Iterable[Path]) -> None:
        """Remove these files from the review, except those with a decision that can be undone."""
        decided = {file.path for decision in self.decisions for file in decision.before}
        for path in list(paths):
            if path not in decided:
                self.files.pop(path, None)


def _decided(file: ChangedFile, verb: Verb, parts: Sequence[ChangePart] | None) -> ChangedFile:
    for part in sorted(
        [WHOLE] if parts is None else parts, key=lambda one: one.hunk, reverse=True
    ):  # last hunk first, so that the numbers of the other hunks stay the same
        file = file.accept(part) if verb == "accept" else file.revert(part)
    return file


def _rebase(before: ChangedFile, current: ChangedFile, verb: Verb) -> ChangedFile:
    """Return a file with a decision undone, keeping what has changed in the file since."""
    old, now = (before.old, current.now) if verb == "accept" else (current.old, before.now)
    return ChangedFile.between(before.path, old, now, authors=current.authors, obstacle=current.obstacle)
