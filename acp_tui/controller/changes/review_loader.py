"""Loads changed files for the review: both versions, the hunks, and the authors of the changes."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from acp_tui.review.authorship import CLOSED as CLOSED_BIT
from acp_tui.review.authorship import YOU, block_authors, turn_bit
from acp_tui.review.changed_file import ABSENT, ChangedFile, FileVersion
from acp_tui.review.text_change import split_lines
from acp_tui.workspace.baseline.file_change import UNKNOWN_STATE
from acp_tui.workspace.baseline.file_content import NotCopiedError, read_content, signature
from acp_tui.workspace.baseline.turn_history import CLOSED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from acp_tui.controller.changes.baseline_tracker import BaselineTracker
    from acp_tui.review.text_change import TextChange
    from acp_tui.workspace.baseline.file_change import FileState
    from acp_tui.workspace.baseline.turn_history import Turn

MAX_SIZE_TO_ATTRIBUTE = 1_000_000
"""If the versions of a file total more bytes than this, its hunks are not attributed individually."""


@dataclass(slots=True)
class _History:
    """The successive states of one file, and who made each state but the first."""

    states: list[FileState]
    authors: list[int] = field(default_factory=list)
    last_author: int = YOU  # who made the changes after the last state

    def add(self, state: FileState, author: int) -> None:
        """Append a state. If the file was in the same state before, changes in between count as undone."""
        for at, known in enumerate(self.states):
            if known.same_content(state):
                del self.states[at + 1 :], self.authors[at:]
                return
        self.states.append(state)
        self.authors.append(author)


class ReviewLoader:
    """Reads and compares files in threads."""

    def __init__(self, baseline: BaselineTracker) -> None:
        self._baseline = baseline

    async def load(
        self, obstacles: Mapping[Path, str | None], accepted: Mapping[Path, FileVersion]
    ) -> list[ChangedFile]:
        """Load the changed files whose paths are the keys of `obstacles`.

        Args:
            obstacles: For each path, why the file cannot be reverted, or None if the file can be reverted.
            accepted: Versions to compare with instead of the baseline.
        """
        originals = await self._baseline.original_states(obstacles)
        await self._baseline.turns.settled()
        turns, cut = self._baseline.turns.periods, self._baseline.turns.dropped
        histories = {path: _history(path, originals[path], turns, cut=cut) for path in obstacles}
        blobs = {state.blob for history in histories.values() for state in history.states if state.blob}
        contents = await self._baseline.contents(blobs)
        return await asyncio.to_thread(
            lambda: [
                self._file(path, history, contents, accepted.get(path), obstacles[path])
                for path, history in histories.items()
            ]
        )

    def _file(
        self,
        path: Path,
        history: _History,
        contents: Mapping[str, bytes],
        accepted: FileVersion | None,
        obstacle: str | None,
    ) -> ChangedFile:
        versions = [_version(state, contents) for state in history.states]
        now = self.read(path)
        authors = [*history.authors, history.last_author]
        same = next((at for at, version in enumerate(versions) if version.same(now)), len(versions))
        del versions[same + 1 :], authors[same:]
        if same == len(versions):
            versions.append(now)
            authors = [*history.authors, history.last_author]
        by_all = 0
        for author in authors:
            by_all |= author
        old = accepted if accepted is not None else versions[0]
        file = ChangedFile.between(path, old, now, authors=by_all, obstacle=obstacle)
        if file.text is None:
            return file
        return replace(file, text=_attributed(file.text, versions, authors, by_all))

    def read(self, path: Path) -> FileVersion:
        """Return a file as it is on disk."""
        try:
            now = read_content(bytes(path), self._baseline.max_file_size)
        except NotCopiedError as error:
            return FileVersion(obstacle=str(error), fingerprint=signature(bytes(path)))
        return FileVersion(now.data, now.mode) if now is not None else ABSENT


def _history(path: Path, original: FileState, turns: Sequence[Turn], *, cut: bool) -> _History:
    history = _History([original], last_author=0 if cut and not turns else YOU)
    for turn in turns:
        first = cut and turn is turns[0]  # dropped turns may have changed the file before
        history.add(turn.before.files.get(path, original), 0 if first else YOU)
        author = CLOSED_BIT if turn.number == CLOSED else turn_bit(turn.number)
        if turn.after is None:
            history.last_author = author
        else:
            history.add(turn.after.files.get(path, original), author)
    return history


def _version(state: FileState, contents: Mapping[str, bytes]) -> FileVersion:
    if not state.existed:
        return ABSENT
    data = contents.get(state.blob or "")
    if data is None:
        obstacle = state.revert_obstacle or UNKNOWN_STATE.revert_obstacle or ""
        return FileVersion(obstacle="the stored copy is damaged" if state.blob else obstacle)
    return FileVersion(data, state.mode)


def _attributed(
    text: TextChange, versions: Sequence[FileVersion], authors: Sequence[int], by_all: int
) -> TextChange:
    """Return the change with the authors of each block.

    If the change has only one author, the versions are too large, or a version is not text, each block gets
    `by_all`, a bit mask of all authors.
    """
    size = sum(len(version.data or b"") for version in versions)
    if by_all.bit_count() <= 1 or size > MAX_SIZE_TO_ATTRIBUTE or not all(one.is_text for one in versions):
        return replace(text, authors=(by_all,) * len(text.blocks))
    lines = [split_lines(version.data or b"") for version in versions]
    return replace(text, authors=block_authors(lines, authors, text.blocks))
