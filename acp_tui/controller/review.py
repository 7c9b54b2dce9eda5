"""The review of what a conversation changed: the files as they are on disk, decisions and comments."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.controller.rewind import run_to_end
from acp_tui.errors import UserError
from acp_tui.review.authorship import CLOSED as CLOSED_BIT
from acp_tui.review.authorship import YOU, block_authors, turn_bit
from acp_tui.review.changed_file import ABSENT, ChangedFile, ChangePart, FileVersion
from acp_tui.review.comments import Comment, prompt_of
from acp_tui.review.decisions import Review, ReviewDecision, Write
from acp_tui.review.saved_review import ContentNames, SavedReview
from acp_tui.review.text_change import TextChange, split_lines
from acp_tui.session.safe_text import escape_line
from acp_tui.text_format import relative_path
from acp_tui.workspace.baseline.file_change import (
    UNKNOWN_STATE,
    FileChange,
    FileContent,
    FileState,
    NotCopiedError,
    read_content,
    signature,
)
from acp_tui.workspace.baseline.restore import ChangedMeanwhileError, HeldFile, replace_if_unchanged
from acp_tui.workspace.baseline.turn_history import CLOSED, Turn
from acp_tui.workspace.files.atomic_write import UnwritableError
from acp_tui.workspace.files.open_folder import describe

if TYPE_CHECKING:
    from acp_tui.controller.baseline_tracker import BaselineTracker


MAX_SIZE_TO_ATTRIBUTE = 1_000_000
"""If the versions of a file total more bytes than this, its hunks are not attributed individually."""
_SAVED = "review"  # the name in `SavedState`
MAX_HELD_FILES = 50
"""How many replaced files a revert of many files keeps open."""
_UNDO_CONDITION = "Put it back as the revert left it, then undo again."
BATCH_FILES = 8
"""The number of files that are loaded together."""
MAX_SIZE_LOADED_AHEAD = 64_000_000
"""After this many bytes of contents, further files are loaded only when needed."""


class ConversationReview:
    """Lists the changed files, and accepts and reverts parts of them. Outlives the review screen."""

    def __init__(self, baseline: BaselineTracker, cwd: Path) -> None:
        self.model = Review()
        self.listed: dict[Path, FileChange] = {}
        """The files that differ from the baseline, whether loaded or not."""
        self.comments: list[Comment] = []
        self._baseline = baseline
        self._cwd = str(cwd)
        self._loader = ReviewLoader(baseline)
        self._stamps: dict[Path, tuple[int, ...] | None] = {}  # of the files when they were loaded
        self._decision_lock = asyncio.Lock()
        self._disk_lock = asyncio.Lock()  # reading and writing take turns
        self._accepted: dict[Path, FileVersion] = {}  # what files with a decision are compared with
        self._names = ContentNames()
        self._restored = False
        self._restore_lock = threading.Lock()

    @property
    def has_baseline(self) -> bool:
        """False if the agent's files are on another machine, so that nothing can be listed."""
        return self._baseline.enabled

    @property
    def finds_all(self) -> bool:
        """True if all changed files are listed; False if only those that the agent names."""
        return self._baseline.complete

    def name(self, path: Path | str) -> str:
        """Return the path relative to the session's folder, safe to display."""
        return escape_line(relative_path(str(path), self._cwd))

    # ----------------------------------------------------------------- saving

    def _restore(self) -> None:
        """Read the decisions of an earlier acp-tui, once the baseline is ready. Blocks."""
        with self._restore_lock:
            if self._restored or not self._baseline.is_ready:
                return
            self._restored = True
            state = self._baseline.state
            saved = SavedReview.from_json(state.read(_SAVED), state.content)
            self._accepted = saved.accepted
            self.model.restore(saved.decisions, saved.round_began)
            self._stamps = {
                path: stamp for path, stamp in saved.signatures.items() if path in self.model.files
            } | self._stamps

    async def _save(self) -> None:
        """Save the decisions, so that they are still made after a crash. An error is reported, not raised."""
        if not self._baseline.is_ready:
            return
        decided = {file.path for decision in self.model.decisions for file in decision.before}
        files = self.model.files
        decided |= self._accepted.keys()
        self._accepted |= {path: files[path].old for path in decided if path in files}
        done = {path for path in decided if path in files and files[path].done}
        saved = SavedReview(
            self.model.decisions,
            dict(self._accepted),
            {path: self._stamps.get(path) for path in done},
            self.model.round_began,
        )
        await asyncio.to_thread(self._write_saved, saved)

    async def _save_written(self) -> None:
        """Save the decisions after files were written, which are not changed while the session is closed."""
        await self._save()
        if self._baseline.is_ready:
            self._baseline.turns.mark_open()

    def _write_saved(self, saved: SavedReview) -> None:
        value, contents = saved.to_json(self._names)
        state = self._baseline.state
        if state.keep_contents(contents) and state.write(_SAVED, value):
            state.drop_contents(contents)
        self._names.forget_others(contents)

    # ----------------------------------------------------------------- the disk

    async def refresh(self, updated: Callable[[], None], first: Path | None = None) -> None:
        """Find the changed files, and load those that are new or outdated. Raises `UserError`.

        Stops loading after `MAX_SIZE_LOADED_AHEAD` bytes.

        Args:
            updated: Called after the files were listed, and whenever some were loaded.
            first: The file to load before the others; None for the first in the list.
        """
        changes = {change.path: change for change in await self._baseline.changes()}
        await asyncio.to_thread(self._restore)
        self.listed = changes
        commented = {Path(comment.path) for comment in self.comments}
        self.model.forget(self.model.files.keys() - changes.keys() - commented)
        paths = {*changes, *self.model.files, *commented}  # files without changes can have a decision
        stale = await asyncio.to_thread(self._stale, sorted(paths, key=str))
        updated()
        if stale:
            await self._load([stale.pop(stale.index(first) if first in stale else 0)])
            updated()
        size = sum(len(file.now.data or b"") for file in self.model.files.values())
        while stale and size < MAX_SIZE_LOADED_AHEAD:
            batch = stale[:BATCH_FILES]
            del stale[:BATCH_FILES]
            size += sum(len(file.now.data or b"") for file in await self._load(batch))
            updated()

    async def load(self, path: Path) -> None:
        """Load one file, unless its loaded content is still current."""
        if self._is_stale(path):
            await self._load([path])

    def _stale(self, paths: Iterable[Path]) -> list[Path]:
        return [path for path in paths if self._is_stale(path)]

    def _is_stale(self, path: Path) -> bool:
        return self._stamps.get(path) != signature(bytes(path)) or path not in self.model.files

    async def _load(self, paths: list[Path]) -> list[ChangedFile]:
        async with self._disk_lock:
            return await self._load_locked(paths)

    async def _load_locked(self, paths: list[Path]) -> list[ChangedFile]:
        known = self.model.files
        stamps = {path: signature(bytes(path)) for path in paths}
        obstacles = {
            path: self.listed[path].revert_obstacle if path in self.listed else None for path in paths
        }
        await asyncio.to_thread(self._restore)
        accepted = self._accepted | {path: file.old for path, file in known.items()}
        files = await self._loader.load(obstacles, accepted)
        for file in files:
            self.model.update(file)
        self._stamps |= stamps
        return files

    # ----------------------------------------------------------------- decisions

    async def accept(self, shown: ChangedFile, parts: Sequence[ChangePart] | None = None) -> None:
        """Accept parts of a file as it was shown, by default the whole file. Raises `UserError`."""
        async with self._decision_lock:
            self.model.record(self.model.accept(shown.path, self._current(shown, parts)))
            await self._save()

    @run_to_end
    async def revert(self, shown: ChangedFile, parts: Sequence[ChangePart] | None = None) -> None:
        """Revert parts of a file on disk, by default the whole file. Raises `UserError`.

        If other parts of the file have changed since it was shown, hunks are reverted at their current lines.
        """
        async with self._decision_lock, self._disk_lock:
            self._check_revertable(shown)
            decision = self.model.revert(shown.path, self._current(shown, parts))
            try:
                held = await self._write(decision.writes)
            except ChangedMeanwhileError:
                await self._load_locked([shown.path])
                decision = self.model.revert(shown.path, self._current(shown, parts))
                try:
                    held = await self._write(decision.writes)
                except ChangedMeanwhileError:
                    raise self._changed(shown.path) from None
            self.model.record(decision)
            await self._save_written()
            await self._release(held)

    async def accept_file(self, path: Path) -> None:
        """Accept a file as it is on disk. Raises `UserError`."""
        await self.load(path)
        await self.accept(self.model.files[path])

    @run_to_end
    async def revert_to_start(self, path: Path) -> None:
        """Restore a file as it was when the session began, even if changes to it were accepted.

        If the file is now too large to be copied, the change cannot be undone. Raises `UserError`.
        """
        async with self._decision_lock, self._disk_lock:
            await self._load_locked([path])
            shown = self.model.files[path]
            [file] = await self._loader.load({path: shown.obstacle}, {})
            if file.now.obstacle is not None and (file.obstacle or file.old.obstacle) is None:
                await self._baseline.revert(path)
                return
            self._check_revertable(file)
            restored = replace(file, now=file.old, text=None)
            decision = ReviewDecision("revert", (shown,), (restored,), max(1, len(shown.parts)))
            try:
                held = await self._write(decision.writes)
            except ChangedMeanwhileError:
                raise self._changed(path) from None
            self.model.record(decision)
            await self._save_written()
            await self._release(held)

    def accepted(self) -> set[Path]:
        """Return the accepted files that have not changed on disk since. Blocks: call it in a thread."""
        self._restore()
        return {
            path
            for path, verb in self.model.verdicts().items()
            if verb == "accept" and not self._is_stale(path)
        }

    def _current(self, shown: ChangedFile, parts: Sequence[ChangePart] | None) -> Sequence[ChangePart] | None:
        """Find the given parts in the current version of a file. Raises `UserError` if a part has changed."""
        file = self.model.files.get(shown.path)
        if file is not None and (file.old, file.now) == (shown.old, shown.now):
            return parts
        if file is None or file.text is None or shown.text is None or parts is None:
            raise self._changed(shown.path)
        current = [found for part in parts if (found := file.find(shown, part)) is not None]
        if len(current) < len(parts):
            raise self._changed(shown.path)
        return current

    def _changed(self, path: Path) -> UserError:
        return UserError(f"{self.name(path)} has changed since it was shown; look at it again.")

    @run_to_end
    async def revert_all(self, shown: Iterable[tuple[ChangedFile, Sequence[ChangePart] | None]]) -> int:
        """Revert the given parts of several files on disk, as one decision. None stands for a whole file.

        Returns the number of reverted files. If some cannot be reverted, reverts the others, then raises
        `UserError`.
        """
        chosen = list(shown)
        problems: list[str] = []
        reverted: dict[Path, Sequence[ChangePart] | None] = {}
        held: dict[Path, HeldFile] = {}
        async with self._decision_lock, self._disk_lock:
            # New files are removed first: folders may have been in their place.
            for file, parts in sorted(chosen, key=lambda each: each[0].old.exists):
                if file.done:
                    continue
                try:
                    self._check_revertable(file)
                    current = self._current(file, parts)
                    held |= await self._write(self.model.revert(file.path, current).writes)
                    reverted[file.path] = current
                    if len(held) >= MAX_HELD_FILES:
                        full, held = held, {}
                        await self._release(full)
                except ChangedMeanwhileError:
                    problems.append(str(self._changed(file.path)))
                except UserError as error:
                    problems.append(str(error))
            if reverted:
                in_order = {file.path: reverted[file.path] for file, _ in chosen if file.path in reverted}
                self.model.record(self.model.revert_all(in_order))
                await self._save_written()
            try:
                await self._release(held)
            except UserError as error:
                problems.append(str(error))
        if problems:
            others = (
                f"{len(problems) - 1} more {'files were' if len(problems) > 2 else 'file was'} not reverted"
            )
            more = f" ({others})" if len(problems) > 1 else ""
            raise UserError(f"{problems[0]}{more}")
        return len(reverted)

    @run_to_end
    async def undo(self) -> ReviewDecision | None:
        """Undo the last decision and return it; None if there is none. Raises `UserError`."""
        await asyncio.to_thread(self._restore)
        async with self._decision_lock, self._disk_lock:
            if not self.model.decisions:
                return None
            writes = []
            for write in self.model.decisions[-1].undo_writes:
                now = await asyncio.to_thread(self._loader.read, write.path)
                if now not in (write.expected, write.wanted):
                    raise UserError(
                        f"The revert of {self.name(write.path)} cannot be undone: the file has changed since."
                        f" {_UNDO_CONDITION}"
                    )
                writes += [write] if now == write.expected else []
            try:
                held = await self._write(writes)
            except ChangedMeanwhileError:
                raise UserError(
                    f"The revert cannot be undone: a file has changed since. {_UNDO_CONDITION}"
                ) from None
            finally:
                # If a write failed, the files written before it must be loaded again. A decision of an
                # earlier acp-tui does not know who changed which hunk.
                for file in self.model.decisions[-1].before:
                    self._stamps.pop(file.path, None)
            decision = self.model.undo()
            await self._save_written()
            await self._release(held)
            return decision

    def _check_revertable(self, file: ChangedFile) -> None:
        if obstacle := file.revert_obstacle():
            raise UserError(f"{self.name(file.path)} cannot be reverted: {obstacle}.")

    async def _write(self, writes: Iterable[Write]) -> dict[Path, HeldFile]:
        """Replace files on disk. Raises `ChangedMeanwhileError` and `UserError`.

        Return the replaced files, for `_release`.
        """
        held: dict[Path, HeldFile] = {}
        try:
            for write in writes:
                with self._named_errors(write.path):
                    held[write.path] = await asyncio.to_thread(
                        replace_if_unchanged,
                        write.path,
                        _content(write.wanted),
                        _content(write.expected),
                        self._baseline.max_file_size,
                    )
                self._stamps[write.path] = signature(bytes(write.path))
        except BaseException:
            for file in held.values():
                file.close()
            raise
        return held

    async def _release(self, held: Mapping[Path, HeldFile]) -> None:
        """Release replaced files, once the decision is recorded. Raises `UserError` for those saved
        meanwhile."""
        saved: list[Path] = []
        for path, file in held.items():
            try:
                with self._named_errors(path):
                    await asyncio.to_thread(file.release)
            except ChangedMeanwhileError:
                self._stamps.pop(path, None)
                saved.append(path)
        if saved:
            names = ", ".join(map(self.name, saved))
            raise UserError(f"{names}: saved by another program at the same moment; that version was kept.")

    @contextmanager
    def _named_errors(self, path: Path) -> Iterator[None]:
        try:
            yield
        except UnwritableError as error:
            raise UserError(f"{self.name(path)} cannot be reverted: {error}.") from None
        except OSError as error:
            raise UserError(f"{self.name(path)} cannot be reverted: {describe(error)}.") from None

    # ----------------------------------------------------------------- comments

    def take_comments(self) -> str:
        """Return a prompt with all comments, remove the comments, and restart the count of reviewed parts."""
        prompt = prompt_of(self.comments, self.name)
        self.comments = []
        self.model.begin_round()
        return prompt


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


def _content(version: FileVersion) -> FileContent | None:
    return FileContent(version.data, version.mode) if version.data is not None else None
