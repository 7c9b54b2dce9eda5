"""Copies the files before and after each turn, and restores them as they were before a turn."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from acp_tui.errors import UserError
from acp_tui.workspace.baseline.file_change import UNKNOWN_STATE, FileContent, FileState, signature
from acp_tui.workspace.baseline.restore import UNDO_CONDITION, ReplacedFile, put_back
from acp_tui.workspace.baseline.saved_state import (
    DAMAGE,
    Checkpoint,
    checkpoint_from_json,
    checkpoint_to_json,
)

if TYPE_CHECKING:
    from acp_tui.workspace.baseline.baseline import Baseline

_Difference = tuple[Path, FileState, FileState]
StepKind = Literal["restore", "create", "delete", "mode"]
REWIND, CLOSED = 0, -1
"""The numbers of periods that are not turns: a rewind, and the time while the session was closed.

A period `REWIND` of no length marks how the files were while the session was open.
"""
CLOSE_SECONDS = 3.0
"""The longest wait for the checkpoints when the session is closed."""
_TURN, _HISTORY = "turn-", "history"  # names in `SavedState`


@dataclass(frozen=True, slots=True)
class HistoryLimits:
    """The maximum number of turns to keep, and the maximum total size of the copied files, in bytes.

    The last turn is kept whatever its size.
    """

    turns: int = 100
    size: int = 200_000_000


@dataclass(slots=True)
class Turn:
    """A period in which the agent changed files, or `REWIND` or `CLOSED`.

    Changes between these periods are the user's.
    """

    number: int  # the number of the prompt in the session, from 1; or one of the constants
    before: Checkpoint
    after: Checkpoint | None = None  # None while the turn runs
    place: int = 0
    """The position among all periods of the session, for its saved file."""


@dataclass(frozen=True, slots=True)
class TurnChange:
    """One file that differs between the start and the end of a turn."""

    path: Path
    before: FileState
    after: FileState


@dataclass(frozen=True, slots=True)
class RewindStep:
    """What a rewind does to one file."""

    path: Path
    kind: StepKind
    obstacle: str | None = None
    """Why the file cannot be restored: a clause to follow a colon; None if it can be."""
    edited_between_turns: bool = False
    """Whether the file was edited while no turn ran. Restoring the file loses these edits."""
    changed_by_agent: bool = True
    """Whether a turn has changed the file."""
    now: FileState = UNKNOWN_STATE
    then: FileState = UNKNOWN_STATE


@dataclass(slots=True)
class RewindResult:
    restored: list[Path] = field(default_factory=list)
    failed: list[tuple[Path, str]] = field(default_factory=list)


class TurnHistory:
    """Checkpoints before and after each turn of a conversation. Beyond the limits, old turns are dropped."""

    def __init__(self, baseline: Baseline, limits: HistoryLimits) -> None:
        self._baseline = baseline
        self._limits = limits
        self._turns: list[Turn] = []
        self._dropped = False
        self._ending: asyncio.Task[None] | None = None
        self._marking: asyncio.Task[None] | None = None
        self._marks = 0
        self._undo: tuple[Checkpoint, list[Path], Checkpoint] | None = None
        self._places = count()
        self._lock = asyncio.Lock()  # no turn begins while files are restored

    @property
    def turns(self) -> list[Turn]:
        """The turns that a rewind can go back to, oldest first."""
        return [turn for turn in self._turns if turn.number > 0]

    @property
    def periods(self) -> list[Turn]:
        """The turns and the periods in which the session was closed, oldest first."""
        return [turn for turn in self._turns if turn.number != REWIND]

    @property
    def can_undo(self) -> bool:
        """Whether the last rewind can be undone."""
        return self._undo is not None

    @property
    def dropped(self) -> bool:
        """Whether older turns were dropped because a limit was exceeded."""
        return self._dropped

    async def begin_turn(self, number: int, *, checkpoint: bool = True) -> None:
        """Take a checkpoint before a turn's prompt is sent. On failure, `turns` does not list the turn.

        Without `checkpoint`, the turn begins with the latest checkpoint: nobody has changed files since.
        """
        async with self._lock:
            await self.settled()
            # If there is a turn with this number already, its prompt was not sent.
            for turn in [turn for turn in self._turns if turn.number == number]:
                await self._remove(turn)
            try:
                before = await self._baseline.checkpoint() if checkpoint else self._baseline.latest
            except UserError:
                return
            await self._add(Turn(number, before))
            await self._apply_limits()

    def end_turn(self) -> None:
        """Start to take the checkpoint after a turn. Return at once; `settled` waits for the checkpoint."""
        if self._turns and self._turns[-1].after is None:
            self._ending = asyncio.create_task(self._end(self._turns[-1]))

    async def settled(self) -> None:
        """Wait until the checkpoint after the last turn has been taken."""
        if self._ending is not None:
            await asyncio.shield(self._ending)

    def mark_open(self) -> None:
        """Start to record how the files are now. Return at once.

        After a crash, what changed before does not count as changed while the session was closed.
        """
        self._marks += 1
        self._marking = asyncio.create_task(self._mark_open(self._marks, self._marking))

    async def _mark_open(self, number: int, earlier: asyncio.Task[None] | None) -> None:
        if earlier is not None:
            await asyncio.wait([earlier])
        await self.settled()
        if number < self._marks:
            return  # a later call records the files
        last = self._turns[-1] if self._turns else None
        with suppress(UserError):
            now = await self._baseline.checkpoint()
            if self._turns and (self._turns[-1] is not last or self._turns[-1].after is None):
                return  # a turn has begun
            if last is not None and last.number == REWIND and last.before is last.after:
                last.before = last.after = now
                await self._save(last)
            else:
                await self._add(Turn(REWIND, now, now))

    async def close(self, *, checkpoint: bool = False) -> None:
        """Stop. With `checkpoint`, what changes from now on counts as changed while the session was closed.

        Without it, or if the checkpoint takes too long, what changed since the last turn counts as such.
        """
        with suppress(UserError, TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self.settled()
                if self._marking is not None and not checkpoint:
                    await asyncio.wait([self._marking])
                if checkpoint:
                    now = await self._baseline.checkpoint()
                    if self._turns and self._turns[-1].after is None:
                        self._turns[-1].after = now
                        await self._save(self._turns[-1])
                    await self._add(Turn(CLOSED, now))
        for task in (self._marking, self._ending):
            if task is not None:
                task.cancel()
                await asyncio.wait([task])

    async def _end(self, turn: Turn) -> None:
        try:
            turn.after = await self._baseline.checkpoint()
        except UserError:
            await self._remove(turn)
        else:
            await self._save(turn)

    # ---- saving

    async def resume(
        self, last_heard: float | None = None, last_recorded: float | None = None, *, was_closed: bool = True
    ) -> list[Path]:
        """Continue a saved history. Return what changed while the session was closed. Raises `UserError`.

        If acp-tui was killed during a turn, files that were changed until `last_heard`, the time of the
        agent's last message, count as changed in the turn. Files that were changed later, until
        `last_recorded`, the time of the last record, count as changed by the user. If not `was_closed`, the
        history is that of another session, which may be open: what changed since its last turn counts as
        changed by the user.
        """
        async with self._lock:
            await asyncio.to_thread(self._load)
            now = await self._baseline.checkpoint()
            last = self._turns[-1] if self._turns else None
            if last is not None and last.number == CLOSED and last.after is None and not was_closed:
                await self._remove(last)
                return []
            if last is not None and last.after is None and last.number != CLOSED:
                last.after = _until(last_heard, last.before, now)
                await self._save(last)
            if not was_closed:
                return []
            if last is None or last.after is not None:
                before = last.after if last is not None and last.after is not None else Checkpoint({}, {})
                last = await self._add(
                    Turn(CLOSED, _until(last_recorded, before, now, undated_is_later=True))
                )
            last.after = now
            changed = [path for path, *_ in await self._differences(last.before, now)]
            await (self._save(last) if changed else self._remove(last))
            return changed

    async def mark_incomplete(self) -> None:
        """Record that files were changed before the first turn that is known, and it is unknown by whom."""
        self._dropped = True
        await self._save_history()

    @property
    def is_empty(self) -> bool:
        """Whether no file has changed in any turn, so that nothing is lost with the history."""
        return not any(turn.before.files or (turn.after and turn.after.files) for turn in self._turns)

    def _load(self) -> None:
        state = self._baseline.state
        for name in state.names(_TURN):
            value = state.read(name)
            with suppress(*DAMAGE):
                before, after = checkpoint_from_json(value["before"]), value["after"]
                self._turns.append(
                    Turn(
                        int(value["number"]),
                        before,
                        checkpoint_from_json(after) if after is not None else None,
                        int(name.removeprefix(_TURN)),
                    )
                )
        if self._turns:
            self._places = count(self._turns[-1].place + 1)
        # Only the last period can be unfinished.
        self._turns = [turn for turn in self._turns[:-1] if turn.after is not None] + self._turns[-1:]
        with suppress(*DAMAGE):
            history = state.read(_HISTORY)
            self._dropped = bool(history["dropped"])
            if undo := history["undo"]:
                before, paths, after = undo
                self._undo = (
                    checkpoint_from_json(before),
                    [Path(path) for path in paths],
                    checkpoint_from_json(after),
                )
            latest = self._turns[-1].after or self._turns[-1].before if self._turns else Checkpoint({}, {})
            sizes = {str(blob): int(size) for blob, size in history["sizes"].items()}
            self._baseline.resume_checkpoints(latest, sizes)

    async def _add(self, turn: Turn) -> Turn:
        turn.place = next(self._places)
        self._turns.append(turn)
        await self._save(turn)
        return turn

    async def _save(self, turn: Turn) -> None:
        if turn in self._turns:
            value = {
                "number": turn.number,
                "before": checkpoint_to_json(turn.before),
                "after": checkpoint_to_json(turn.after) if turn.after is not None else None,
            }
            await self._save_history()
            await asyncio.to_thread(self._baseline.state.write, f"{_TURN}{turn.place:08}", value)

    async def _save_history(self) -> None:
        undo = None
        if self._undo is not None:
            before, paths, after = self._undo
            undo = [checkpoint_to_json(before), [str(path) for path in paths], checkpoint_to_json(after)]
        value = {"dropped": self._dropped, "undo": undo, "sizes": self._baseline.copy_sizes}
        await asyncio.to_thread(self._baseline.state.write, _HISTORY, value)

    async def _remove(self, turn: Turn) -> None:
        self._turns = [other for other in self._turns if other is not turn]
        await asyncio.to_thread(self._baseline.state.remove, f"{_TURN}{turn.place:08}")

    async def changes_of(self, turn: Turn) -> list[TurnChange]:
        """Return the changes that a turn made to files; for a running turn, the changes so far."""
        await self.settled()
        after = turn.after or await self._baseline.checkpoint()
        return [TurnChange(*found) for found in await self._differences(turn.before, after)]

    async def _edited_between_turns(self, since: int, now: Checkpoint) -> set[Path]:
        """Return the files that changed while no turn ran, from the beginning of turn `since` until `now`."""
        turns = self._since(since)
        starts = [*(turn.before for turn in turns[1:]), now]
        edited: set[Path] = set()
        for turn, start in zip(turns, starts, strict=True):
            if turn.after is not None:
                edited |= {path for path, *_ in await self._differences(turn.after, start)}
                if turn.number == CLOSED:
                    edited |= {path for path, *_ in await self._differences(turn.before, turn.after)}
        return edited

    async def _changed_by_agent(self, since: int) -> set[Path]:
        """Return the files that turn `since` and later turns have changed."""
        found: set[Path] = set()
        for turn in self._since(since):
            if turn.number > 0 and turn.after is not None:
                found |= {path for path, *_ in await self._differences(turn.before, turn.after)}
        return found

    def _since(self, number: int) -> list[Turn]:
        first = next((at for at, turn in enumerate(self._turns) if turn.number == number), None)
        return [] if first is None else self._turns[first:]

    async def _differences(self, old: Checkpoint, new: Checkpoint) -> list[_Difference]:
        paths = [path for path in _paths(old, new) if not _untouched(path, old, new)]
        before = await self._baseline.states_at(old, paths)
        after = await self._baseline.states_at(new, paths)
        return [
            (path, before[path], after[path]) for path in paths if not before[path].same_content(after[path])
        ]

    # ---- going back

    async def plan_rewind(self, number: int) -> list[RewindStep]:
        """Return what a rewind to the time before a turn would do to each file. Raises `UserError`."""
        turns = self._since(number)
        if not turns:
            raise UserError(f"There are no copies of the files from before prompt {number}.")
        await self._check_idle()
        now = await self._baseline.checkpoint()
        edited = await self._edited_between_turns(number, now)
        by_agent = await self._changed_by_agent(number)
        return [
            RewindStep(
                path,
                _kind(current, then),
                _obstacle(current, then),
                edited_between_turns=path in edited,
                changed_by_agent=path in by_agent,
                now=current,
                then=then,
            )
            for path, current, then in await self._differences(now, turns[0].before)
        ]

    async def rewind(
        self, number: int, *, overwrite: Collection[Path] = (), keep: Collection[Path] = ()
    ) -> RewindResult:
        """Restore the files as they were before a turn.

        Files in `keep`, and files that cannot be restored (see `RewindStep.obstacle`), are left as they are.
        If a file was edited between turns and is neither in `overwrite` nor in `keep`, nothing is done and
        `UserError` is raised.
        """
        async with self._lock:
            plan = await self.plan_rewind(number)
            steps = [step for step in plan if step.obstacle is None and step.path not in keep]
            if edits := [step for step in steps if step.edited_between_turns and step.path not in overwrite]:
                were = f" and {len(edits) - 1} more were" if len(edits) > 1 else " was"
                raise UserError(f"Nothing was restored, because {edits[0].path}{were} edited between turns.")
            now = await self._baseline.checkpoint()
            before = self._since(number)[0].before
            result, after = await self._restore(now, before, [step.path for step in steps])
            self._undo = (now, result.restored, after)
            await self._save_history()
            return result

    async def undo_rewind(self) -> RewindResult:
        """Restore the files as they were before the last rewind. Raises `UserError`."""
        async with self._lock:
            if self._undo is None:
                raise UserError("There is no rewind to undo.")
            await self._check_idle()
            before, paths, after = self._undo
            now = await self._baseline.checkpoint()
            changed = {path for path, *_ in await self._differences(after, now)}
            if conflicts := sorted(changed & set(paths)):
                raise UserError(
                    f"The rewind cannot be undone: {conflicts[0]} has changed since. {UNDO_CONDITION}"
                )
            result, after = await self._restore(now, before, paths)
            failed = [path for path, _ in result.failed]
            self._undo = (before, failed, after) if failed else None
            await self._save_history()
            return result

    async def replaced_files(self) -> list[ReplacedFile]:
        """Return the files that the last rewind replaced.

        Raises `UserError` if they are too large or cannot be read.
        """
        if self._undo is None:
            return []
        before, paths, after = self._undo
        sides = [await self._contents_at(checkpoint, paths) for checkpoint in (before, after)]
        files = [ReplacedFile(path, *(side[path] for side in sides)) for path in paths]
        if sum(file.size for file in files) > self._limits.size:
            raise UserError("The rewind can only be undone in the earlier session: the files are too large.")
        return files

    async def _contents_at(
        self, checkpoint: Checkpoint, paths: Sequence[Path]
    ) -> dict[Path, FileContent | None]:
        states = await self._baseline.states_at(checkpoint, paths)
        blobs = {state.blob for state in states.values() if state.blob is not None}
        contents = await self._baseline.contents(blobs)
        if len(contents) < len(blobs):
            raise UserError(
                "The rewind cannot be undone in the new session: the copies of the files cannot be read."
            )
        return {
            path: FileContent(contents[state.blob], state.mode) if state.blob is not None else None
            for path, state in states.items()
        }

    async def put_back(self, files: Sequence[ReplacedFile], max_size: int) -> RewindResult:
        """Undo a rewind made in an earlier session (see `replaced_files.put_back`). Raises `UserError`."""
        async with self._lock:
            await self._check_idle()
            now = await self._baseline.checkpoint()
            restored = await asyncio.to_thread(put_back, files, max_size)
            await self._add(Turn(REWIND, now, await self._baseline.checkpoint()))
            return RewindResult(restored)

    async def _check_idle(self) -> None:
        """Raise `UserError` if a turn is running, because the agent may be editing the same files."""
        await self.settled()
        if self._turns and self._turns[-1].after is None:
            raise UserError("Files cannot be restored while the agent is working: stop it first.")

    async def _restore(
        self, now: Checkpoint, target: Checkpoint, paths: Collection[Path]
    ) -> tuple[RewindResult, Checkpoint]:
        """Restore files as they were at `target`, except files that changed after the checkpoint `now`.

        Return the result, and a checkpoint taken after restoring.
        """
        result = RewindResult()
        states = await self._baseline.states_at(target, paths)
        # New files are removed first: folders may have been in their place.
        for path in sorted(paths, key=lambda each: states[each].existed):
            if await asyncio.to_thread(_differs_from, now, path):
                result.failed.append((path, f"{path} was not restored: it has changed in the meantime."))
                continue
            try:
                await self._baseline.restore(path, target)
            except UserError as error:
                result.failed.append((path, str(error)))
            else:
                result.restored.append(path)
        after = await self._baseline.checkpoint()
        await self._add(Turn(REWIND, now, after))
        return result, after

    async def _apply_limits(self) -> None:
        while self._turns and (
            len(self.turns) > self._limits.turns
            or (len(self._turns) > 1 and self._baseline.checkpoint_size > self._limits.size)
        ):
            await self._remove(self._turns[0])
            self._dropped = True
            await self._baseline.keep_only(self._checkpoints())
            await self._save_history()

    def _checkpoints(self) -> list[Checkpoint]:
        undo = [self._undo[0], self._undo[2]] if self._undo is not None else []
        return undo + [
            checkpoint for turn in self._turns for checkpoint in (turn.before, turn.after) if checkpoint
        ]


def _paths(*checkpoints: Checkpoint) -> list[Path]:
    return sorted({path for checkpoint in checkpoints for path in checkpoint.files})


def _untouched(path: Path, old: Checkpoint, new: Checkpoint) -> bool:
    """Return True if both checkpoints list the file, and it was not changed between them."""
    return path in old.files and path in new.files and old.signatures[path] == new.signatures[path]


def _until(
    moment: float | None, before: Checkpoint, now: Checkpoint, *, undated_is_later: bool = False
) -> Checkpoint:
    """Return the state at a moment between two checkpoints, as far as the times of the files tell.

    The times of deleted files, and of those that are as in the baseline again, are unknown. With
    `undated_is_later`, they count as changed after the moment, otherwise before it.
    """

    def is_later(path: Path) -> bool:
        seen = now.signatures.get(path)
        if moment is None or seen is None:
            return moment is None or undated_is_later
        return seen[-1] > moment * 1e9

    later = {path for path in _paths(before, now) if is_later(path)}
    files = {path: state for path, state in now.files.items() if path not in later}
    files |= {path: before.files[path] for path in later if path in before.files}
    signatures = {**before.signatures, **now.signatures}
    signatures |= {path: before.signatures[path] for path in later if path in before.files}
    return Checkpoint(files, {path: signatures[path] for path in files})


def _differs_from(checkpoint: Checkpoint, path: Path) -> bool:
    """Return True if a checkpoint contains the state of a path, and the file has changed since then."""
    state = checkpoint.files.get(path)
    if state is None:
        return False
    if state.existed:
        return signature(bytes(path)) != checkpoint.signatures[path]
    return path.is_symlink() or path.is_file()


def _obstacle(now: FileState, then: FileState) -> str | None:
    """Return why a file cannot be restored, or why restoring the file could not be undone; None otherwise."""
    if now.revert_obstacle is not None and then.revert_obstacle is None:
        why = f"its current content could not be copied: {now.revert_obstacle}"
        return f"restoring it could not be undone, because {why}"
    return then.revert_obstacle


def _kind(now: FileState, then: FileState) -> StepKind:
    if not then.existed:
        return "delete"
    if not now.existed:
        return "create"
    return "mode" if now.blob == then.blob and now.blob is not None else "restore"
