"""Checkpoints: copies of the files that differed from the baseline at one moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from acp_tui.workspace.baseline.file_change import FileState
from acp_tui.workspace.baseline.file_content import NotCopiedError, read_content, signature
from acp_tui.workspace.git.git_commands import blob_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path

    from acp_tui.workspace.git.git_commands import BlobWriter, PrivateGit


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The states of the files that differed from the baseline at one moment. Other files were unchanged."""

    files: Mapping[Path, FileState]
    signatures: Mapping[Path, tuple[int, ...] | None]  # of the files at that moment


class CheckpointCopies:
    """Stores the contents of checkpoints, and deletes contents that no checkpoint needs. All calls block."""

    def __init__(self, git: PrivateGit, max_file_size: int) -> None:
        self._git = git
        self._max_file_size = max_file_size
        self._last = Checkpoint({}, {})
        self._sizes: dict[str, int] = {}  # of the contents that only checkpoints need, by blob

    @property
    def size(self) -> int:
        """The size, in bytes, of all contents that only checkpoints need."""
        return sum(self._sizes.values())

    @property
    def last(self) -> Checkpoint:
        """The latest checkpoint; at first, one without files."""
        return self._last

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes of the contents that only checkpoints need, by blob."""
        return dict(self._sizes)

    def resume(self, last: Checkpoint, sizes: Mapping[str, int]) -> None:
        """Continue with the copies of an earlier acp-tui."""
        self._last, self._sizes = last, dict(sizes)

    def copy(self, paths: Iterable[Path]) -> Checkpoint:
        """Copy these files and return their checkpoint. Raises `GitError`.

        Files that are unchanged since the last call are not copied again.
        """
        signatures = {path: signature(bytes(path)) for path in paths}
        files = {
            path: self._last.files[path]
            for path, now in signatures.items()
            if path in self._last.files and self._last.signatures[path] == now
        }
        if changed := signatures.keys() - files.keys():
            added: dict[str, int] = {}
            with self._git.storing(removable=True) as store:
                files |= {path: self._copy(path, store, added) for path in changed}
            self._sizes |= added  # only now, because git may have failed to store the contents
        self._last = Checkpoint(files, signatures)
        return self._last

    def _copy(self, path: Path, store: BlobWriter, added: dict[str, int]) -> FileState:
        try:
            content = read_content(bytes(path), self._max_file_size)
        except NotCopiedError as error:
            return FileState(existed=True, revert_obstacle=str(error))
        if content is None:
            return FileState(existed=False)
        blob = blob_name(content.data)
        if blob not in self._sizes and blob not in added and not self._git.loose_file(blob).exists():
            store.add(content.data)
            added[blob] = len(content.data)
        return FileState(existed=True, blob=blob, mode=content.mode)

    def keep_only(self, checkpoints: Iterable[Checkpoint], others: Collection[str | None]) -> None:
        """Delete the contents that neither `checkpoints` nor the latest checkpoint need.

        `others` are the names of further contents to keep.
        """
        needed = {*others}
        for checkpoint in (*checkpoints, self._last):
            needed.update(state.blob for state in checkpoint.files.values())
        for blob in self._sizes.keys() - needed:
            self._git.loose_file(blob).unlink(missing_ok=True)
            del self._sizes[blob]
