"""Saves what is known about a baseline beside its copies, so that a resumed session has the same baseline.

The files are in a folder of the private git directory. The copies are stored before a file names them, so the
state is usable after a crash at any moment. Values that cannot be read count as missing.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from acp_tui.config.own_files import open_own, read_own, read_own_json
from acp_tui.config.paths import private_directory, write_private
from acp_tui.workspace.baseline.file_change import FileState, NotCopiedError, read_content, signature
from acp_tui.workspace.git.git_commands import BlobWriter, PrivateGit, blob_name

FOLDER = "acp-tui"
"""The name of the folder in the private git directory."""
DAMAGE = (KeyError, TypeError, ValueError, AttributeError, IndexError)
"""What reading a damaged value can raise."""


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


class SavedState:
    """JSON files in a folder. Errors while writing are reported once to `on_error`, and not raised."""

    def __init__(self, directory: Path) -> None:
        self._folder = directory / FOLDER
        self._failed = False
        self.on_error: Callable[[OSError], object] = lambda _: None

    def read(self, name: str) -> Any:
        """Return the value saved under a name; None if there is none or it is damaged."""
        with suppress(OSError, ValueError, RecursionError):
            return read_own_json(self._folder / f"{name}.json")
        return None

    def write(self, name: str, value: object) -> bool:
        """Save a value, replacing the earlier one. Return False if it could not be written."""
        try:
            write_private(self._folder / f"{name}.json", json.dumps(value))
        except OSError as error:
            self._report(error)
            return False
        return True

    def append(self, name: str, values: Iterable[object]) -> None:
        """Add values to a list, which `read_list` returns."""
        data = b"".join(json.dumps(value).encode() + b"\n" for value in values)
        try:
            private_directory(self._folder)
            path = self._folder / f"{name}.jsonl"
            with open(open_own(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT), "ab") as file:
                file.write(data)
        except OSError as error:
            self._report(error)

    def read_list(self, name: str) -> list[Any]:
        """Return the values of a list. Torn lines are skipped."""
        found = []
        with suppress(OSError):
            for line in read_own(self._folder / f"{name}.jsonl").splitlines():
                with suppress(ValueError, RecursionError):
                    found.append(json.loads(line))
        return found

    def names(self, prefix: str) -> list[str]:
        """Return the names with a prefix under which values are saved, sorted."""
        with suppress(OSError):
            return sorted(path.stem for path in self._folder.glob(f"{prefix}*.json"))
        return []

    def remove(self, name: str) -> None:
        with suppress(OSError):
            (self._folder / f"{name}.json").unlink(missing_ok=True)

    # ---- contents

    def keep_contents(self, contents: Mapping[str, bytes]) -> bool:
        """Save contents by name. Return False if one could not be written.

        A name must identify the content: content whose name is known is not written again.
        """
        folder = self._folder / "contents"
        try:
            private_directory(folder)
            known = {path.name for path in folder.iterdir()}
            for name in contents.keys() - known:
                temporary = folder / f".{name}"
                descriptor = open_own(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
                with open(descriptor, "wb") as file:
                    file.write(contents[name])
                temporary.replace(folder / name)
        except OSError as error:
            self._report(error)
            return False
        return True

    def drop_contents(self, wanted: Collection[str]) -> None:
        """Delete the saved contents whose names are not in `wanted`."""
        with suppress(OSError):
            for path in (self._folder / "contents").iterdir():
                if path.name not in wanted:
                    path.unlink(missing_ok=True)

    def content(self, name: str) -> bytes | None:
        """Return saved content; None if it is missing."""
        with suppress(OSError, ValueError):
            return read_own(self._folder / "contents" / Path(name).name)
        return None

    def _report(self, error: OSError) -> None:
        if not self._failed:
            self._failed = True
            self.on_error(error)


def copy_baseline(source: Path, target: Path) -> None:
    """Copy the saved baseline of a session for a fork of the session. Raises `OSError`. Blocks.

    The source may be in use: its files are replaced as a whole, and its objects do not change.
    """
    shutil.rmtree(target, ignore_errors=True)
    private_directory(target)
    unfinished = target / f"{FOLDER}.copy"
    # First what names the objects, then the objects: those that are named exist at that moment.
    shutil.copytree(source / FOLDER, unfinished, ignore=shutil.ignore_patterns(".*"))
    for path in source.iterdir():
        if path.is_dir() and path.name not in (FOLDER, unfinished.name):
            shutil.copytree(path, target / path.name, copy_function=_link, symlinks=True)
        elif path.is_file() and path.suffix != ".lock":
            shutil.copy2(path, target / path.name)  # not a link: git replaces an index, but edits other files
    unfinished.rename(target / FOLDER)  # without this folder, the copy does not count


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except FileNotFoundError:
        return  # a copy that only an old checkpoint needed was deleted meanwhile
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)


# ---- values as JSON


def state_to_json(state: FileState) -> list[Any]:
    """Convert the state of a file to a value that can be saved."""
    return [state.existed, state.blob, state.mode, state.revert_obstacle]


def state_from_json(value: Any) -> FileState:
    """Convert a saved value to the state of a file. Raises one of `DAMAGE`."""
    existed, blob, mode, obstacle = value
    return FileState(bool(existed), blob, int(mode), obstacle)


def signature_from_json(value: Any) -> tuple[int, ...] | None:
    """Convert a saved value to a file's signature. Raises one of `DAMAGE`."""
    return tuple(int(number) for number in value) if value is not None else None


def checkpoint_to_json(checkpoint: Checkpoint) -> dict[str, Any]:
    """Convert a checkpoint to a value that can be saved."""
    return {
        str(path): [*state_to_json(state), checkpoint.signatures.get(path)]
        for path, state in checkpoint.files.items()
    }


def checkpoint_from_json(value: Any) -> Checkpoint:
    """Convert a saved value to a checkpoint. Raises one of `DAMAGE`."""
    return Checkpoint(
        {Path(path): state_from_json(fields[:4]) for path, fields in value.items()},
        {Path(path): signature_from_json(fields[4]) for path, fields in value.items()},
    )
