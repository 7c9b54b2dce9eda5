"""Copies the files before and after each turn, and restores them as they were before a turn."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from acp_tui.errors import UserError
from acp_tui.workspace.baseline.file_change import FileState
from acp_tui.workspace.baseline.file_content import FileContent, signature
from acp_tui.workspace.baseline.replaced_files import ReplacedFile, put_back

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from acp_tui.workspace.baseline.baseline import Baseline
    from acp_tui.workspace.baseline.checkpoint import Checkpoint

_Difference = tuple[Path, FileState, FileState]
StepKind = Literal["restore", "create", "delete", "mode"]


@dataclass(frozen=True, slots=True)
class HistoryLimits:
    """The maximum number of turns to keep, and the maximum total size of the copied files, in bytes.

    The last turn is kept whatever its size.
    """

    turns: int = 100
    size: int = 200_000_000


@dataclass(slots=True)
class Turn:
    """A period in which the agent (or a rewind) changed files. Changes between turns are the user's."""

    number: int  # the number of the prompt in the session, from 1; 0 for a rewind
    before: Checkpoint
    after: Checkpoint | None = None  # None while the turn runs


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
    """Whether the file was also edited while no turn ran. Restoring the file loses these edits."""


@dataclass(slots=True)
class RewindResult:
    """What a rewind did."""

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
        self._undo: tuple[Checkpoint, list[Path], Checkpoint] | None = None
        self._lock = asyncio.Lock()  # no turn begins while files are restored

    @property
    def turns(self) -> list[Turn]:
        """The turns that a rewind can go back to, oldest first."""
        return [turn for turn in self._turns if turn.number]

    @property
    def can_undo(self) -> bool:
        """Whether the last rewind can be undone."""
        return self._undo is not None

    @property
    def dropped(self) -> bool:
        """Whether older turns were dropped because a limit was exceeded."""
        return self._dropped

    async def begin_turn(self, number: int) -> None:
        """Take a checkpoint before a turn's prompt is sent. On failure, `turns` does not list the turn."""
        async with self._lock:
            await self.settled()
            # If there is a turn with this number already, its prompt was not sent.
            self._turns = [turn for turn in self._turns if turn.number != number]
            try:
                self._turns.append(Turn(number, await self._baseline.checkpoint()))
            except UserError:
                return
            await self._apply_limits()

    def end_turn(self) -> None:
        """Start to take the checkpoint after a turn. Return at once; `settled` waits for the checkpoint."""
        if self._turns and self._turns[-1].after is None:
            self._ending = asyncio.create_task(self._end(self._turns[-1]))

    async def settled(self) -> None:
        """Wait until the checkpoint after the last turn has been taken."""
        if self._ending is not None:
            await asyncio.shield(self._ending)

    async def close(self) -> None:
        """Cancel the checkpoint that is being taken after a turn, if any."""
        if self._ending is not None:
            self._ending.cancel()
            await asyncio.wait([self._ending])

    async def _end(self, turn: Turn) -> None:
        try:
            turn.after = await self._baseline.checkpoint()
        except UserError:
            self._turns.remove(turn)

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
        return edited

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
        return [
            RewindStep(path, _kind(current, then), _obstacle(current, then), path in edited)
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
                raise UserError(f"The rewind cannot be undone: {conflicts[0]} has changed since.")
            result, after = await self._restore(now, before, paths)
            failed = [path for path, _ in result.failed]
            self._undo = (before, failed, after) if failed else None
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
            raise UserError("The rewind cannot be undone in the new session: the files are too large.")
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
            self._turns.append(Turn(0, now, await self._baseline.checkpoint()))
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
        self._turns.append(Turn(0, now, after))
        return result, after

    async def _apply_limits(self) -> None:
        while self._turns and (
            len(self.turns) > self._limits.turns
            or (len(self._turns) > 1 and self._baseline.checkpoint_size > self._limits.size)
        ):
            self._turns.pop(0)
            self._dropped = True
            await self._baseline.keep_only(self._checkpoints())

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
