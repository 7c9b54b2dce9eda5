"""Unchanged tracked files, whose contents need not be copied into the snapshot.

The user's index names the contents of the tracked files, and the objects of the user's repository hold the
contents. These objects are hard-linked into acp-tui's private repository, where the user's `git gc` cannot
delete them. No git command runs in the user's repository: the index is copied, and the settings are only
read.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.workspace.files.open_folder import Descriptor
from acp_tui.workspace.git.git_commands import GIT_DIRECTORY, GitError, GitWorkTree, PrivateGit

if TYPE_CHECKING:
    from acp_tui.workspace.git.repository import Repository

_FORBIDDEN = frozenset({b"", b".", b"..", GIT_DIRECTORY})
"""Parts of a path that git never writes into an index. An absolute path begins with an empty part."""
_REGULAR = frozenset({b"100644", b"100755", b"120000"})
_CONVERTING = ("filter", "working-tree-encoding")
"""Attributes by which git may convert a file without changing its size."""
_ATTRIBUTES_FILE = b".gitattributes"
_SYSTEM_FOLDERS = ("/etc", "/usr/local/etc", "/opt/homebrew/etc")
_MAX_ALTERNATES = 20
_MAX_SETTINGS_FILES = 50
_MAX_FILE_BYTES = 1_000_000
"""The maximum size of an attribute file or a list of alternates: the repository may be malicious."""


@dataclass(slots=True)
class TrackedFiles:
    """The tracked files: those that are unchanged on disk, so that git has their content, and the others."""

    modes: dict[bytes, int] = field(default_factory=dict)  # permission bits and type, by name
    others: set[bytes] = field(default_factory=set)  # tracked files that have to be copied


def adopt_tracked_files(
    git: PrivateGit, repository: Repository, tree: GitWorkTree, attributes: Iterable[bytes]
) -> TrackedFiles:
    """Fill the index of `tree` with those entries of the user's index that are identical to the file on disk.

    `attributes` must include the names of all untracked `.gitattributes` files in the tree.

    Files that git converts (line ends, filters, encodings), files that have changed, and files whose content
    the repository does not have are left out. The result lists these files, too. Blocks. Raises `GitError`
    or `OSError` if the user's index cannot be used at all.
    """
    _copy_index(repository.git_dir / "index", tree.index)
    blobs = dict(_entries(git, tree))
    sizes = _share_objects(git, repository.common_dir / "objects", list(blobs.values()))
    left_out = set(git.changed_names(tree))
    attributes = {*attributes, *(name for name in blobs if name.rpartition(b"/")[2] == _ATTRIBUTES_FILE)}
    left_out |= converted_files(git, repository, tree, list(blobs), attributes)
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
    """Copy an index with its modification time: git rereads each file that is not older than the index."""
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
    """Yield the name and blob of each usable index entry below the folder of `tree`.

    Conflicts, submodules, and files that the user told git to treat as unchanged or absent are not usable.
    Raises `GitError` if `is_inside` is False for a name, because git itself never adds such a name.
    """
    for record in git.flagged_entries(tree):
        fields, _, name = record.partition(b"\t")
        flag, mode, blob, stage = fields.split(b" ")
        if not is_inside(name):
            raise GitError("a name in its index leads out of the folder")
        if flag == b"H" and stage == b"0" and mode in _REGULAR:
            yield name, blob


def is_inside(name: bytes) -> bool:
    """Return True if a name from an index is a path below the work tree, and not in a `.git`."""
    return not _FORBIDDEN & {*name.split(b"/")}


def _remove_others(git: PrivateGit, tree: GitWorkTree, wanted: TrackedFiles) -> set[bytes]:
    """Remove all index entries but `wanted`, also outside `tree.folder`. Return the removed names."""
    everywhere = GitWorkTree(tree.top, tree.top, tree.index)
    names = set(git.tracked(everywhere))
    if others := names - wanted.modes.keys():
        lines = b"".join(b"0 %b\t%b\0" % (b"0" * 40, name) for name in others)
        git.update_index(everywhere, lines)
    return others


# ---- objects


def _share_objects(git: PrivateGit, objects: Path, blobs: Sequence[bytes]) -> dict[bytes, int]:
    """Hard-link the user's objects into the private repository. Return the sizes of the blobs found."""
    stores = list(_object_stores(objects))
    own = git.directory / "objects"
    (own / "pack").mkdir(exist_ok=True)
    for store in stores:
        for index in (store / "pack").glob("pack-*.idx"):
            pack = index.with_suffix(".pack")
            if _is_regular(index) and _is_regular(pack):
                for path in (pack, index):  # in this order: an index needs its pack
                    _link(path, own / "pack" / path.name)
    sizes = git.blob_sizes(blobs)
    missing = {blob for blob in blobs if blob not in sizes}
    for blob in missing:
        name = os.fsdecode(blob)
        for store in stores:
            if _is_regular(loose := store / name[:2] / name[2:]):
                (own / name[:2]).mkdir(exist_ok=True)
                _link(loose, own / name[:2] / name[2:])
                break
    return sizes | git.blob_sizes(list(missing)) if missing else sizes


def _is_regular(path: Path) -> bool:
    """Return True for a regular file: not a link, and not a pipe, on which git would wait."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def _link(source: Path, target: Path) -> None:
    """Make `target` a hard link to `source`, unless `target` exists.

    Raises `OSError` if they are on different filesystems.
    """
    if not target.exists():
        os.link(source, target, follow_symlinks=False)


def _object_stores(objects: Path) -> Iterator[Path]:
    """Yield the folder `objects` of a repository, and the object folders of its alternates, recursively."""
    waiting, seen = [objects], set[Path]()
    while waiting and len(seen) < _MAX_ALTERNATES:
        store = waiting.pop(0)
        if store in seen:
            continue
        seen.add(store)
        yield store
        lines = (_read(store / "info" / "alternates") or b"").splitlines()
        waiting += [store / os.fsdecode(line) for line in lines if line and not line.startswith(b"#")]


# ---- attributes


def converted_files(
    git: PrivateGit,
    repository: Repository,
    tree: GitWorkTree,
    names: Sequence[bytes],
    attributes: Iterable[bytes],
) -> set[bytes]:
    """Return the names of the files that a filter or an encoding can convert."""
    global_files = _global_attribute_files(git, repository)
    own = repository.common_dir / "info" / "attributes"
    in_tree = [tree.top / os.fsdecode(name) for name in attributes]
    if not any(_mentions_conversion(file) for file in (own, *global_files, *in_tree)):
        return set()
    shared = [_read(file) for file in (*global_files, own)]
    if None in shared:
        raise GitError("an attribute file is too large")
    # Not `git` itself: the attributes in its own directory would override those in the work tree.
    reader = git.nested("attributes.git")
    reader.create()
    (reader.directory / "info" / "attributes").write_bytes(b"\n".join(filter(None, shared)))
    answers = reader.attributes(tree, _CONVERTING, names)
    return {
        name
        for name, value in zip(answers[::3], answers[2::3], strict=False)
        if value not in (b"unspecified", b"unset")
    }


def _mentions_conversion(file: Path) -> bool:
    text = _read(file)
    return text is None or any(attribute.encode() in text for attribute in _CONVERTING)


def _global_attribute_files(git: PrivateGit, repository: Repository) -> list[Path]:
    """Return the attribute files of the system and the user, including those that git's settings name."""
    home = Path(os.path.expanduser("~"))  # noqa: PTH111  # Path.home() raises if there is none
    xdg = os.environ.get("XDG_CONFIG_HOME")
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
        for key, value in git.settings_of(file):
            path = file.parent / os.path.expanduser(os.fsdecode(value))  # noqa: PTH111  # likewise
            if key == b"core.attributesfile":
                found.append(path)
            elif key.startswith((b"include.", b"includeif.")) and key.endswith(b".path"):
                waiting.append(path)  # conditions of `includeif` are ignored
    return found


def _read(path: Path) -> bytes | None:
    """Return the content of a regular file; None if the file is too large.

    Return b"" if there is no such file, or if the file cannot be read.
    """
    try:
        if not path.is_file():
            return b""
        with open(path, "rb") as file:
            content = file.read(_MAX_FILE_BYTES + 1)
    except OSError:
        return b""
    return content if len(content) <= _MAX_FILE_BYTES else None
