"""Finds the files that a conversation has changed, by comparing them with a baseline.

The baseline is a copy of the project's files from the start of the session. Other files are added when the
agent names them in a tool call or in a request to write a file. The baseline is kept with the recorded
session, so that it is the same after the session was resumed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from acp_tui.console import pluralize
from acp_tui.errors import UserError
from acp_tui.session.events import Event, Noticed
from acp_tui.session.safe_text import escape_line
from acp_tui.session.state import Diff, ToolCall
from acp_tui.store.stored_sessions import BASELINE, removal_reason
from acp_tui.text_format import relative_path
from acp_tui.workspace.baseline.baseline import Baseline
from acp_tui.workspace.baseline.file_change import FileChange, FileState, Limits, NotCopiedError, read_content
from acp_tui.workspace.baseline.turn_history import HistoryLimits, TurnHistory
from acp_tui.workspace.git.git_commands import GitError

if TYPE_CHECKING:
    from acp_tui.processes.reaper import Reaper
    from acp_tui.session.record import Change
    from acp_tui.workspace.baseline.folder_snapshot import WorktreeBase
    from acp_tui.workspace.files.open_folder import Roots


CHANGING = frozenset({"edit", "delete", "move"})
MAX_NAMES = 3
"""The maximum number of files named in a notice. Others are only counted."""
COPY_NOTICE_SECONDS = 3.0
"""Delay before the user is told that the project is being copied."""


@dataclass(frozen=True, slots=True)
class FileVersions:
    """The text of a file when the session began, and now."""

    old: str | None = None  # None: the file did not exist
    new: str | None = None  # None: it no longer exists
    problem: str | None = None
    """Why the texts are unknown, as a sentence; None if they are known."""


@dataclass(frozen=True, slots=True)
class ChangeOrigin:
    """Where a baseline comes from, other than from the files as they are now.

    By default, the conversation is a new one.
    """

    worktree: WorktreeBase | None = None
    """The commit to compare with, in a worktree."""
    copy_of: Path | None = None
    """The directory of the baseline of another session, of which this session is a fork."""
    had_prompts: bool = False
    """Whether the session has prompts of an earlier run, so that its files may have been changed by them."""
    last_heard: float | None = None
    """The time of the agent's last message in the earlier run."""
    last_recorded: float | None = None
    """The time of the last record of the earlier run, which can be the end of a command of the user."""


class BaselineTracker:
    """Keeps copies of the files in the session's folders, and finds out which files have changed.

    The copies are in `directory`, or, if `directory` is None, in a temporary folder. Copies that are in
    `directory` already are used again.
    """

    def __init__(
        self,
        roots: Roots,
        directory: Path | None,
        limits: Limits,
        note: Callable[[Event], None],
        reaper: Reaper,
        history: HistoryLimits | None = None,
        *,
        origin: ChangeOrigin | None = None,
        enabled: bool = True,
        is_worth_keeping: Callable[[], bool] = lambda: True,
    ) -> None:
        """Create a tracker that does nothing before `begin`.

        Args:
            roots: The session's folders.
            directory: Where the copies are kept.
            limits: Which files are copied.
            note: Adds a notice for the user.
            reaper: Ends the processes of git.
            history: How many turns are kept.
            origin: Where the baseline comes from.
            enabled: False if the agent works on files of another machine: then nothing is ever copied.
            is_worth_keeping: Tells whether to keep copies with which nothing has changed.
        """
        self.enabled = enabled
        """Whether there is a baseline at all."""
        self._note = note
        self._roots = roots
        self._origin = origin or ChangeOrigin()
        self._is_worth_keeping = is_worth_keeping
        self._reaper = reaper
        self._scratch: Path | None = None
        if directory is None:
            self._scratch = reaper.create_folder()
            directory = self._scratch / BASELINE
        self._directory = directory
        self._baseline = Baseline(roots, directory, limits, reaper, self._origin.worktree)
        self.state = self._baseline.state
        """What is saved beside the copies."""
        self.turns = TurnHistory(self._baseline, history or HistoryLimits())
        """The states of the files before and after each turn."""
        self._largest = limits.file_size
        self._taking: asyncio.Task[None] | None = None
        self._stage: Literal["", "resuming", "copying", "ready"] = ""
        self._was_resumed = False
        self._is_announced = False
        self._named: set[str] = set()
        self._naming: set[asyncio.Task[None]] = set()

    def begin(self) -> None:
        """Start taking the baseline, unless already started."""
        if self.enabled and self._taking is None:
            loop = asyncio.get_running_loop()
            # The state is written in threads.
            self.state.on_error = lambda error: loop.call_soon_threadsafe(self._not_saved, error)
            self._taking = asyncio.create_task(self._take())

    async def ready(self) -> None:
        """Wait until the files are copied. The user is told once if taking the baseline takes long."""
        if not self.enabled:
            return
        await self._taken()
        await self._all_named()

    async def keep(self, paths: Iterable[str]) -> None:
        """Copy these files, which may be about to change, unless they have been copied already."""
        if not self.enabled:
            return
        await self._taken()
        await self._baseline.copy_before_change(paths)

    def see(self, changes: Sequence[Change], *, history: bool) -> None:
        """Copy the files that the tool calls in `changes` are about to change.

        If a call has already ended, its files are not copied; those without a copy are listed as changed.
        With `history`, the calls ran before the baseline was taken, so their files count as unchanged and
        are copied.
        """
        for change in changes:
            call = change.entry
            if isinstance(call, ToolCall) and self._taking is not None:
                paths = _changed_paths(call) - self._named
                if paths:
                    self._named |= paths
                    task = asyncio.create_task(self._name(paths, too_late=call.done and not history))
                    self._naming.add(task)
                    task.add_done_callback(self._naming.discard)

    async def changes(self) -> list[FileChange]:
        """Return the files known to have changed; an empty list until the baseline has been taken."""
        if self._taking is None or not self._taking.done():
            return []
        await self._all_named()
        return await self._baseline.changes()

    @property
    def is_ready(self) -> bool:
        """Whether the baseline has been taken or resumed."""
        return self._stage == "ready"

    @property
    def complete(self) -> bool:
        """False if a folder could not be copied. Only files that the agent names are then found there."""
        return self.enabled and self._baseline.complete

    async def versions(self, change: FileChange) -> FileVersions:
        """Return the old and the current content of a changed file."""
        try:
            old = None if change.kind == "added" else await self._baseline.original_content(change.path)
            now = await asyncio.to_thread(read_content, bytes(change.path), self._largest)
        except (GitError, NotCopiedError) as reason:
            return FileVersions(problem=f"The file cannot be shown: {reason}.")
        if old is None and change.kind != "added":
            why = change.revert_obstacle or "it was not copied"
            return FileVersions(problem=f"The earlier content of the file is unknown: {why}.")
        try:
            return FileVersions(
                old.decode() if old is not None else None, now.data.decode() if now is not None else None
            )
        except UnicodeDecodeError:
            return FileVersions(problem="Not a text file.")

    async def text_of(self, state: FileState) -> str | None:
        """Return the text of a file in this state; None if there was no file, no readable copy or no text."""
        try:
            content = await self._baseline.content(state)
            return content.decode() if content is not None else None
        except (GitError, UnicodeDecodeError):
            return None

    async def original_states(self, paths: Iterable[Path]) -> dict[Path, FileState]:
        """Return the states of files when the session began."""
        return await self._baseline.states_at(None, paths)

    async def contents(self, blobs: Collection[str]) -> dict[str, bytes]:
        """Return the contents of copies, by their `FileState.blob`. Unreadable copies are left out."""
        return await self._baseline.contents(blobs)

    @property
    def max_file_size(self) -> int:
        """The maximum size in bytes of files to copy and compare."""
        return self._largest

    async def revert(self, path: Path) -> None:
        """Restore one file as it was when the session began. Raises `UserError`."""
        await self._baseline.revert(path)

    async def close(self, *, checkpoint: bool = False) -> None:
        """Stop all work. Keep the copies for when the session is resumed.

        With `checkpoint`, look at the files once more: what changes later was changed while the session was
        closed.
        """
        running = [*self._naming, *([self._taking] if self._taking else [])]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        is_ready = self._stage == "ready"
        await self.turns.close(checkpoint=checkpoint and is_ready and self._scratch is None)
        if self._scratch is not None:
            await self._baseline.delete()
            await asyncio.to_thread(self._reaper.delete_folder, self._scratch)
        elif self._stage == "copying" or (
            is_ready and not (self._was_resumed or self._is_worth_keeping()) and self.turns.is_empty
        ):
            await self._baseline.delete()
        else:
            self._baseline.stop()

    async def _taken(self) -> None:
        self.begin()
        assert self._taking is not None
        done, _ = await asyncio.wait([self._taking], timeout=COPY_NOTICE_SECONDS)
        if not done and not self._is_announced:
            self._is_announced = True  # only once, although several callers can wait
            copying = "Copying the project's files first, so that changes can be reverted …"
            self._note(Noticed("info", copying, source="waiting"))
            await asyncio.shield(self._taking)
            copied = "The project's files have been copied, so that changes can be reverted"
            self._note(Noticed("info", copied, source="waited"))
            return
        await asyncio.shield(self._taking)

    async def _take(self) -> None:
        self._stage = "resuming"
        self._was_resumed = await self._baseline.resume(self._origin.copy_of)
        if not self._was_resumed:
            removed = await asyncio.to_thread(removal_reason, self._directory)
            self._stage = "copying"
            await self._baseline.take_snapshot()
        for sentence in self._baseline.notices:
            self._note(Noticed("warning", sentence))
        try:
            if self._was_resumed:
                await self._resume_history()
            else:
                await self._begin_history(removed)
        except UserError as error:
            self._note(Noticed("warning", str(error)))
        self._stage = "ready"

    async def _resume_history(self) -> None:
        is_fork = self._origin.copy_of is not None
        changed = await self.turns.resume(
            self._origin.last_heard, self._origin.last_recorded, was_closed=not is_fork
        )
        if changed:
            cwd = str(self._roots.cwd)
            names = ", ".join(escape_line(relative_path(str(path), cwd)) for path in changed[:MAX_NAMES])
            more = f" and {len(changed) - MAX_NAMES} more" if len(changed) > MAX_NAMES else ""
            files = pluralize(len(changed), "file")
            self._note(Noticed("info", f"{files} changed while the session was closed: {names}{more}."))

    async def _begin_history(self, removed: str) -> None:
        """Say so if the files may have been changed before the baseline was taken. Raises `UserError`."""
        in_worktree = self._origin.worktree is not None
        if self._origin.had_prompts or (in_worktree and await self._baseline.changes()):
            await self.turns.mark_incomplete()
        if self._origin.had_prompts and not self._baseline.notices:
            why = f", because {removed}" if removed else ""
            begin = "since the worktree was created" if in_worktree else "from now on"
            sentence = f"The copies of the files from the start of this session are gone{why}."
            self._note(Noticed("warning", f"{sentence} Changes are listed {begin}."))

    def _not_saved(self, error: OSError) -> None:
        why = error.strerror or str(error)
        self._note(
            Noticed(
                "warning", f"What the review needs after a restart could not be saved: {escape_line(why)}."
            )
        )

    async def _all_named(self) -> None:
        if self._naming:
            await asyncio.wait(self._naming)  # if this wait is cancelled, the tasks go on

    async def _name(self, paths: set[str], *, too_late: bool) -> None:
        await self._taken()
        await (self._baseline.mark_changed(paths) if too_late else self._baseline.copy_before_change(paths))


def _changed_paths(call: ToolCall) -> set[str]:
    paths = {part.path for part in call.content if isinstance(part, Diff)}
    if call.kind in CHANGING:
        paths |= {place.path for place in call.locations}
    return {path for path in paths if path.startswith("/")}
