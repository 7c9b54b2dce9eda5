"""Creates the worktree of a conversation from HEAD of the user's repository."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import count
from pathlib import Path

from acp_tui.config.paths import private_directory
from acp_tui.errors import UserError
from acp_tui.session.safe_text import escape_line
from acp_tui.workspace.git.git_commands import GitCommandError, UserGit
from acp_tui.workspace.git.repository import find_repository, find_repository_folder
from acp_tui.workspace.git.worktree import (
    BRANCH_PREFIX,
    Worktree,
    is_own_worktree,
    save_record,
    slug,
    worktrees_of_repository,
)

MAX_NAMES = 3
"""The maximum number of file names in a notice. Others are only counted."""


@dataclass(frozen=True, slots=True)
class CreatedWorktree:
    """A new worktree, and sentences that tell the user about it."""

    worktree: Worktree
    notices: list[str] = field(default_factory=list)


def create_worktree(
    folder: Path, data_dir: Path, *, agent: str, name: str | None = None, trusted: bool = False
) -> CreatedWorktree:
    """Create a worktree of the repository that `folder` is in, on a new branch. Blocks.

    Filters of the user's own configuration, such as Git LFS, always run.

    Args:
        folder: The user's folder. The agent will work in the corresponding folder of the worktree.
        data_dir: The data directory of acp-tui.
        agent: The name of the agent, for the name of the branch.
        name: The branch name that the user chose, if any.
        trusted: Whether hooks, and filters of the repository's own configuration, may run.

    Raises:
        UserError: There is no repository or no commit, the branch exists, or the files cannot be written.
            Also if the repository's own configuration defines filters and `trusted` is False.
    """
    git, top, base, subfolder = require_repository(folder.resolve(), data_dir, trusted=trusted)
    target = git.current_branch()
    branch = _named_branch(git, name, base) if name is not None else _free_branch(git, agent, base)
    path = _check_out(git, branch, worktrees_of_repository(data_dir, top), trusted=trusted)
    worktree = Worktree(path, branch, base, top, subfolder, target, trusted)
    save_record(worktree)
    return CreatedWorktree(worktree, _notices(git))


def restore_worktree(worktree: Worktree) -> Worktree:
    """Create the folder of a worktree again, on the worktree's branch. Blocks. Raises `UserError`.

    If the branch is gone, it is created again from HEAD of the user's checkout. Return the worktree, whose
    base is that commit then.
    """
    if not worktree.repository.is_dir():
        raise UserError(f"The repository of the worktree is gone: {worktree.repository}.")
    git = UserGit(worktree.repository, trusted=worktree.trusted)
    git.prune_worktrees()
    private_directory(worktree.path.parent)
    base = worktree.base
    if not git.has_branch(worktree.branch):
        base = git.commit_id("HEAD")
        git.create_branch(worktree.branch, base)
    try:
        git.add_worktree(worktree.path, worktree.branch)
        if not worktree.trusted:
            _write_files(git, worktree.path, restoring=True)
    except UserError:
        _forget(git, worktree.path)
        raise
    restored = replace(worktree, base=base)
    save_record(restored)
    return restored


# --------------------------------------------------------------------------- the repository


def require_repository(folder: Path, data_dir: Path, *, trusted: bool) -> tuple[UserGit, Path, str, str]:
    """Find the repository of a folder, which must be resolved, and check that a worktree can be created.

    Return the repository's `UserGit`, its top folder, the id of its HEAD commit, and the path of `folder`
    below the top folder. Raises `UserError` as `create_worktree` does.
    """
    git, top, base = _repository_at(folder, data_dir, trusted=trusted)
    subfolder = folder.relative_to(top).as_posix() if folder != top else ""
    if subfolder and not git.has_folder(base, subfolder):
        raise UserError(f"A worktree would not contain {subfolder}/: it is not in the last commit.")
    if not trusted:
        _refuse_filters(git)
    return git, top, base, subfolder


def _repository_at(folder: Path, data_dir: Path, *, trusted: bool) -> tuple[UserGit, Path, str]:
    repository = find_repository(folder)
    if repository is None:
        if found := find_repository_folder(str(folder)):
            raise UserError(f"{found} is a bare repository; a worktree needs one with a checkout.")
        raise UserError(f"{folder} is not in a git repository, which a worktree needs.")
    if is_own_worktree(repository.top, data_dir):
        raise UserError("This folder is already in a worktree of acp-tui; start in your own checkout.")
    git = UserGit(repository.top, trusted=trusted)
    if git.top_folder().resolve() != repository.top.resolve():
        raise UserError("A worktree cannot be created in a repository that sets core.worktree.")
    if git.is_submodule():
        raise UserError(
            f"{repository.top} is a submodule; create a worktree of the repository that contains it."
        )
    base = git.commit_id("HEAD")
    if not base:
        raise UserError("The repository has no commit yet; a worktree needs one to start from.")
    return git, repository.top, base


def _refuse_filters(git: UserGit, *, restoring: bool = False) -> None:
    """Raise `UserError` if the repository's own configuration, as it is in this folder, defines filters."""
    filters = escape_line(", ".join(git.own_filters()))
    if not filters:
        return
    refusal, way_out = (
        ("The worktree was not restored", "run `git worktree add` yourself")
        if restoring
        else ("No worktree was created", "add --trust-folder")
    )
    raise UserError(
        f"{refusal}: the git configuration of this repository defines filters that run programs ({filters})."
        f" If you trust the repository, {way_out}."
    )


# --------------------------------------------------------------------------- creating

# Several agents may be started at the same moment. So it is not enough to find a free name: the branch and
# the folder are created at once, which fails if another process was faster.


def _named_branch(git: UserGit, name: str, base: str) -> str:
    """Create a branch named `name`, and return `name`. Raises `UserError` if the name is invalid or taken."""
    if not git.is_branch_name(name):
        raise UserError(f'"{escape_line(name)}" cannot be the name of a branch.')
    if git.has_branch(name):
        raise UserError(f'The branch "{name}" exists already; choose another --worktree-name.')
    git.create_branch(name, base)
    return name


def _free_branch(git: UserGit, agent: str, base: str) -> str:
    """Create a branch named after the agent and the time, and return the branch name."""
    moment = datetime.now().strftime("%m%d-%H%M")  # noqa: DTZ005 - the user's own time
    for name in _numbered(f"{BRANCH_PREFIX}{slug(agent) or 'agent'}-{moment}"):
        if git.has_branch(name):
            continue
        try:
            git.create_branch(name, base)
        except GitCommandError:
            if not git.has_branch(name):
                raise
        else:
            break
    return name


def _check_out(git: UserGit, branch: str, parent: Path, *, trusted: bool) -> Path:
    """Check a new branch out into a new folder, and return the folder.

    If the checkout fails, delete the branch and the folder, and raise `UserError`.
    """
    path: Path | None = None
    try:
        path = _new_folder(parent, slug(branch.removeprefix(BRANCH_PREFIX)) or "worktree")
        git.add_worktree(path, branch)
        if not trusted:
            _write_files(git, path)
    except (UserError, OSError) as error:
        if path is not None:
            _forget(git, path)
        with suppress(GitCommandError):
            git.delete_branch(branch)
        if isinstance(error, UserError) and not isinstance(error, GitCommandError):
            raise
        reason = error.strerror if isinstance(error, OSError) else str(error).rstrip(".")
        raise UserError(f"The worktree could not be created: {reason}.") from error
    return path


def _write_files(git: UserGit, path: Path, *, restoring: bool = False) -> None:
    """Write the files of a worktree that was created without them.

    Settings can apply to the worktree alone, by a condition on its folder or its branch. So they are checked
    there, before git reads a file.
    """
    inside = UserGit.of_worktree(path, git.folder)
    if inside is None:
        raise GitCommandError("git did not add the worktree to the repository.")
    _refuse_filters(inside, restoring=restoring)
    inside.check_out_files()


def _forget(git: UserGit, path: Path) -> None:
    """Delete a worktree that could not be created."""
    shutil.rmtree(path, ignore_errors=True)
    with suppress(GitCommandError):
        git.prune_worktrees()


def _new_folder(parent: Path, stem: str) -> Path:
    private_directory(parent)
    for name in _numbered(stem):
        with suppress(FileExistsError):
            (parent / name).mkdir()
            break
    return parent / name


def _numbered(stem: str) -> Iterator[str]:
    """Yield `stem`, then `stem-2`, `stem-3` and so on."""
    yield stem
    yield from (f"{stem}-{number}" for number in count(2))


# --------------------------------------------------------------------------- what is not in the worktree


def _notices(git: UserGit) -> list[str]:
    """Return sentences about what is in the user's checkout but not in the new worktree."""
    changed: list[str] = []
    untracked: list[str] = []
    ignored: list[str] = []
    for status, name in git.status(folders=True):
        {b"??": untracked, b"!!": ignored}.get(status, changed).append(escape_line(name))
    parts = [
        _with_names("uncommitted changes", changed),
        _with_names("untracked files", untracked),
        _with_names("ignored files", ignored),
    ]
    found = [part for part in parts if part]
    notices = [f"Not in the worktree: {'; '.join(found)}."] if found else []
    if git.has_submodules():
        notices.append("Submodules are empty in the worktree; `git submodule update --init` fills them.")
    return notices


def _with_names(label: str, names: list[str]) -> str:
    """Return the label, then the first few names in brackets; an empty string if there are no names."""
    if not names:
        return ""
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return f"{label} ({', '.join(names[:MAX_NAMES])}{more})"
