"""Restores files as they were before an earlier prompt."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from acp_tui.console import pluralize
from acp_tui.session.events import Noticed

if TYPE_CHECKING:
    from acp_tui.controller.baseline_tracker import BaselineTracker
    from acp_tui.controller.recorder import Recorder
    from acp_tui.workspace.baseline.restore import ReplacedFile
    from acp_tui.workspace.baseline.turn_history import RewindResult, RewindStep, Turn, TurnChange


Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
_running: set[asyncio.Task[Any]] = set()  # asyncio itself keeps only weak references
MAX_CHARACTERS_TO_COUNT = 1_000_000
"""The changed lines of files larger than this are not counted."""


def run_to_end(
    work: Callable[Arguments, Coroutine[Any, Any, Result]],
) -> Callable[Arguments, Coroutine[Any, Any, Result]]:
    """Make a coroutine function run to its end even if its caller is cancelled.

    Otherwise files could be replaced without a record, and could not be restored.
    """

    @wraps(work)
    async def run(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        task = asyncio.create_task(work(*args, **kwargs))
        _running.add(task)
        task.add_done_callback(_running.discard)
        return await asyncio.shield(task)

    return run


@dataclass(frozen=True, slots=True)
class RewindPoint:
    """A point in time to which the files can be restored: before a prompt was sent."""

    number: int  # of the prompt in the session, from 1
    prompt: str
    at: float  # when it was sent, in seconds since the epoch
    files: int  # changed by its turn
    added: int  # lines
    removed: int


@dataclass(frozen=True, slots=True)
class FileTexts:
    """The text of a file now, and the text that a rewind would restore."""

    now: str | None = None  # None: there is no file
    then: str | None = None
    counts: tuple[int, int] | None = None  # the lines that the rewind adds and removes
    problem: str | None = None
    """Why the texts cannot be shown, as a sentence; None if they can."""


class Rewind:
    """Copies the changed files before and after each turn, and restores them."""

    def __init__(self, recorder: Recorder, baseline: BaselineTracker) -> None:
        self._recorder = recorder
        self._baseline = baseline
        self._turns = baseline.turns
        self._points: dict[int, RewindPoint] = {}  # of turns that have ended, by number
        self.replaced_earlier: Sequence[ReplacedFile] = ()
        """If a rewind of an earlier session led to this session: the files that the rewind replaced."""

    async def begin_turn(self, *, checkpoint: bool = True) -> None:
        """Copy the files that have changed so far, before a prompt is sent.

        Without `checkpoint`, nobody has changed files since the last turn.
        """
        number = len(self._recorder.session.prompts) + 1
        self._points.pop(number, None)
        await self._turns.begin_turn(number, checkpoint=checkpoint)

    def end_turn(self) -> None:
        """Copy the files that the turn has changed."""
        self._turns.end_turn()

    @property
    def available(self) -> bool:
        """Whether there is at least one point in time to which the files can be restored."""
        return bool(self._turns.turns)

    @property
    def incomplete(self) -> bool:
        """Whether `points` lacks the first prompts, because of the limits in the settings."""
        return self._turns.dropped

    @property
    def can_undo(self) -> bool:
        """Whether the last rewind can be undone."""
        return self._turns.can_undo or bool(self.replaced_earlier)

    async def points(self) -> list[RewindPoint]:
        """Return the points in time to which the files can be restored, the latest first."""
        turns = self._turns.turns
        for turn in turns:
            if turn.number not in self._points:
                self._points[turn.number] = await self._point(turn)
        return [self._points[turn.number] for turn in reversed(turns)]

    async def _point(self, turn: Turn) -> RewindPoint:
        prompts = self._recorder.session.prompts
        changes = await self._turns.changes_of(turn)
        counts = [await self._line_counts(change) for change in changes]
        return RewindPoint(
            turn.number,
            prompts[turn.number - 1].text if turn.number <= len(prompts) else "",
            prompts[turn.number - 1].at if turn.number <= len(prompts) else 0.0,
            len(changes),
            sum(added for added, _ in counts),
            sum(removed for _, removed in counts),
        )

    async def plan(self, number: int) -> list[RewindStep]:
        """Return what `restore_files` would do to each file. Raises `UserError`."""
        return await self._turns.plan_rewind(number)

    async def texts(self, step: RewindStep) -> FileTexts:
        """Return what `restore_files` would change in a file."""
        from acp_tui.diffing import compare_texts

        states = (step.now, step.then)
        if obstacle := next((state.revert_obstacle for state in states if state.revert_obstacle), None):
            return FileTexts(problem=f"The file cannot be shown: {obstacle}.")
        now, then = [await self._baseline.text_of(state) for state in states]
        if any(state.existed and text is None for state, text in zip(states, (now, then), strict=True)):
            return FileTexts(problem="Not a text file.")
        if max(len(now or ""), len(then or "")) > MAX_CHARACTERS_TO_COUNT:
            return FileTexts(now, then)
        difference = await asyncio.to_thread(compare_texts, now, then)
        return FileTexts(now, then, (difference.added, difference.removed))

    @run_to_end
    async def restore_files(
        self, number: int, *, overwrite: Collection[Path] = (), keep: Collection[Path] = ()
    ) -> RewindResult:
        """Restore the files as they were before prompt `number`, and add a notice. Raises `UserError`.

        `overwrite` and `keep` are explained at `TurnHistory.rewind`.
        """
        result = await self._turns.rewind(number, overwrite=overwrite, keep=keep)
        self._report(f"Restored {{files}} to before prompt {number}", result)
        return result

    @run_to_end
    async def undo(self) -> RewindResult:
        """Undo the last rewind, and add a notice to the session. Raises `UserError`."""
        if self._turns.can_undo or not self.replaced_earlier:
            result = await self._turns.undo_rewind()
        else:
            result = await self._turns.put_back(self.replaced_earlier, self._baseline.max_file_size)
            self.replaced_earlier = ()
        self._report("The last rewind was undone: {files}", result)
        return result

    async def replaced_files(self) -> list[ReplacedFile]:
        """Return the files that the last rewind replaced, so that a new session can undo that rewind.

        The new session gets them as `replaced_earlier`. Raises `UserError`.
        """
        return await self._turns.replaced_files()

    def _report(self, what: str, result: RewindResult) -> None:
        """Add a notice: the sentence `what`, in which "{files}" stands for the number of files."""
        files = pluralize(len(result.restored), "file")
        self._recorder.note(Noticed("info", f"{what.format(files=files)}."))
        for _, reason in result.failed:
            self._recorder.note(Noticed("warning", reason))

    async def _line_counts(self, change: TurnChange) -> tuple[int, int]:
        from acp_tui.diffing import compare_texts

        old, new = [await self._baseline.text_of(state) for state in (change.before, change.after)]
        if (old is None and new is None) or max(len(old or ""), len(new or "")) > MAX_CHARACTERS_TO_COUNT:
            return 0, 0
        difference = await asyncio.to_thread(compare_texts, old, new)
        return difference.added, difference.removed
