"""Unchanged tracked files of the user's repository, whose contents need not be copied.

The user's index names the content of each tracked file, and git's objects hold it. The objects are shared by
hard links, so that no `git gc` of the user can delete them. No git command runs in the user's repository:
its index is copied, and its settings are only read.
"""

from __future__ import annotations

import os
import shutil
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.workspace.files.descriptors import Descriptor
from acp_tui.workspace.git.private_git import GitError, GitWorkTree, PrivateGit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from acp_tui.workspace.git.repository import Repository

_REGULAR = frozenset({b"100644", b"100755", b"120000"})
_CONVERTING = ("filter", "working-tree-encoding")
"""Attributes that can change a content without changing its size."""
_SYSTEM_FOLDERS = ("/etc", "/usr/local/etc", "/opt/homebrew/etc")
_MAX_ALTERNATES = 20
_MAX_SETTINGS_FILES = 50


@dataclass(slots=True)
class TrackedFiles:
    """The files whose contents the repository has."""

    modes: dict[bytes, int] = field(default_factory=dict)  # permission bits and type, by name
    others: set[bytes] = field(default_factory=set)  # tracked files that have to be copied


def adopt_tracked_files(
    git: PrivateGit, repository: Repository, tree: GitWorkTree, attributes: Iterable[bytes]
) -> TrackedFiles:
    """Make the index of `tree` from the user's, with those entries that are byte for byte as on disk.

    `attributes` are the names of all `.gitattributes` in the tree.

    Files that git converts (line ends, filters, encodings), that have changed, or whose content the
    repository does not have are left out. Blocks. Raises `GitError` and `OSError`, if nothing can be used.
    """
    _copy_index(repository.git_dir / "index", tree.index)
    blobs = dict(_entries(git, tree))
    sizes = _share_objects(git, repository.common_dir / "objects", list(blobs.values()))
    left_out = set(git.records("diff-files", "--name-only", tree=tree))
    left_out |= _converted(git, repository, tree, list(blobs), attributes)
    found = TrackedFiles()
    folder = Descriptor(os.open(tree.top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
    with folder, folder.borrow() as top:
        for name, blob in blobs.items():
            size = sizes.get(blob)
            if size is None or name in left_out:
                continue
            try:
                status = os.lstat(name, dir_fd=top)
            except OSError:
                continue
            if status.st_size == size:  # else its line ends were converted
                found.modes[name] = status.st_mode
    found.others = _remove_others(git, tree, found)
    return found


def _copy_index(source: Path, target: Path) -> None:
    """Copy the index with its time, which tells git what may have changed since without a trace."""
    with (
        open(os.open(source, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as old,
        open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as new,
    ):
        status = os.fstat(old.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise GitError("its index is not a regular file")
        shutil.copyfileobj(old, new)
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))


def _entries(git: PrivateGit, tree: GitWorkTree) -> Iterator[tuple[bytes, bytes]]:
    """Yield name and blob of the usable entries below the folder.

    Left out are conflicts, submodules, and files that git was told to consider unchanged or absent.
    """
    for record in git.records("ls-files", "-v", "--stage", "--full-name", tree=tree):
        fields, _, name = record.partition(b"\t")
        flag, mode, blob, stage = fields.split(b" ")
        if flag == b"H" and stage == b"0" and mode in _REGULAR:
            yield name, blob


def _remove_others(git: PrivateGit, tree: GitWorkTree, wanted: TrackedFiles) -> set[bytes]:
    """Remove all other entries from the index, also those outside the folder, and return them."""
    everywhere = GitWorkTree(tree.top, tree.top, tree.index)
    names = set(git.records("ls-files", "--cached", "--full-name", tree=everywhere))
    if others := names - wanted.modes.keys():
        lines = b"".join(b"0 %b\t%b\0" % (b"0" * 40, name) for name in others)
        git.run("update-index", "-z", "--index-info", tree=everywhere, stdin=lines)
    return others


# ---- objects


def _share_objects(git: PrivateGit, objects: Path, blobs: Sequence[bytes]) -> dict[bytes, int]:
    """Link the objects of the repository, and return the sizes of those blobs that are there."""
    stores = list(_object_stores(objects))
    own = git.directory / "objects"
    (own / "pack").mkdir(exist_ok=True)
    for store in stores:
        packs = [path for path in (store / "pack").glob("pack-*") if path.suffix in (".pack", ".idx")]
        for path in sorted(packs, key=lambda path: path.suffix != ".pack"):  # an index needs its pack
            _link(path, own / "pack" / path.name)
    sizes = git.blob_sizes(blobs)
    missing = {blob for blob in blobs if blob not in sizes}
    for blob in missing:
        name = os.fsdecode(blob)
        for store in stores:
            if (loose := store / name[:2] / name[2:]).is_file():
                (own / name[:2]).mkdir(exist_ok=True)
                _link(loose, own / name[:2] / name[2:])
                break
    return sizes | git.blob_sizes(list(missing)) if missing else sizes


def _link(source: Path, target: Path) -> None:
    """Share a file of the repository. Raises `OSError` if it is on another disk."""
    if not target.exists():
        os.link(source, target, follow_symlinks=False)


def _object_stores(objects: Path) -> Iterator[Path]:
    """Yield the folder of objects, and those of other repositories that it refers to."""
    waiting, seen = [objects], set[Path]()
    while waiting and len(seen) < _MAX_ALTERNATES:
        store = waiting.pop(0)
        if store in seen:
            continue
        seen.add(store)
        yield store
        alternates = store / "info" / "alternates"
        if alternates.is_file():
            lines = alternates.read_bytes().splitlines()
            waiting += [store / os.fsdecode(line) for line in lines if line and not line.startswith(b"#")]


# ---- attributes


def _converted(
    git: PrivateGit,
    repository: Repository,
    tree: GitWorkTree,
    names: Sequence[bytes],
    attributes: Iterable[bytes],
) -> set[bytes]:
    """Return the files that a filter or an encoding may convert."""
    global_files = _global_attribute_files(git, repository)
    own = repository.common_dir / "info" / "attributes"
    in_tree = [tree.top / os.fsdecode(name) for name in attributes]
    if not any(_mentions_conversion(file) for file in (own, *global_files, *in_tree)):
        return set()
    reader = PrivateGit(git.directory / "attributes.git")
    reader.create()
    shared = b"\n".join(_read(file) for file in (*global_files, own))
    (reader.directory / "info" / "attributes").write_bytes(shared)
    words = ["check-attr", "-z", "--stdin", *_CONVERTING]
    answers = reader.run(*words, tree=tree, stdin=b"\0".join(names)).split(b"\0")
    return {
        name
        for name, value in zip(answers[::3], answers[2::3], strict=False)
        if value not in (b"unspecified", b"unset")
    }


def _mentions_conversion(file: Path) -> bool:
    text = _read(file)
    return any(attribute.encode() in text for attribute in _CONVERTING)


def _global_attribute_files(git: PrivateGit, repository: Repository) -> list[Path]:
    """Return the attribute files of the system and the user, from the settings that git would read."""
    home, xdg = Path.home(), os.environ.get("XDG_CONFIG_HOME")
    user = (Path(xdg) if xdg else home / ".config") / "git"
    waiting = [*(Path(folder) / "gitconfig" for folder in _SYSTEM_FOLDERS), user / "config"]
    waiting += [home / ".gitconfig", repository.common_dir / "config", repository.git_dir / "config.worktree"]
    found = [*(Path(folder) / "gitattributes" for folder in _SYSTEM_FOLDERS), user / "attributes"]
    seen: set[Path] = set()
    while waiting and len(seen) < _MAX_SETTINGS_FILES:
        file = waiting.pop(0)
        if file in seen or not file.is_file():
            continue
        seen.add(file)
        for setting in git.run("config", "--null", "--list", "--file", str(file)).split(b"\0"):
            key, _, value = setting.partition(b"\n")
            path = file.parent / Path(os.fsdecode(value)).expanduser()
            if key == b"core.attributesfile":
                found.append(path)
            elif key.startswith((b"include.", b"includeif.")) and key.endswith(b".path"):
                waiting.append(path)  # whatever its condition
    return found


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes() if file.is_file() else b""
    except OSError:
        return b""
