"""Creates the worktree of a conversation from HEAD of the user's repository."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.config.paths import private_directory, worktrees_directory
from acp_tui.errors import UserError
from acp_tui.session.text import visible_line
from acp_tui.workspace.git.git_directories import find_repository_folder
from acp_tui.workspace.git.repository import find_repository
from acp_tui.workspace.git.worktrees.user_git import GitCommandError, UserGit
from acp_tui.workspace.git.worktrees.worktree import Worktree, is_own_worktree

if TYPE_CHECKING:
    from collections.abc import Sequence

BRANCH_PREFIX = "acp-tui/"
"""The prefix of branches whose name the user did not choose."""
MAX_NAMES = 3
"""The maximum number of files that a notice names."""


@dataclass(frozen=True, slots=True)
class CreatedWorktree:
    """A new worktree, and what the user should know about it, as sentences."""

    worktree: Worktree
    notices: list[str] = field(default_factory=list)


def create_worktree(
    folder: Path, data_dir: Path, *, agent: str, name: str | None = None, trusted: bool = False
) -> CreatedWorktree:
    """Create a worktree of the repository that `folder` is in, on a new branch. Blocks.

    Hooks are not run, and neither are the filters of the repository's own configuration: nobody has looked
    at this repository yet. Filters of the user's own configuration, such as Git LFS, do run.

    Args:
        folder: The user's folder; the agent will work in the same one of the worktree.
        data_dir: The data directory of acp-tui.
        agent: The name of the agent, for the name of the branch.
        name: The name of the branch, if the user chose it.
        trusted: Whether the repository's own hooks and filters may run.

    Raises:
        UserError: There is no repository or no commit, the branch exists, or the files cannot be written.
    """
    folder = folder.resolve()
    git, top, base = _repository_at(folder, data_dir, trusted=trusted)
    subfolder = folder.relative_to(top).as_posix() if folder != top else ""
    if subfolder and git.guarded("cat-file", "-t", f"{base}:{subfolder}", ok=(0, 128)) != b"tree\n":
        raise UserError(f"A worktree would not contain {subfolder}/: it is not in the last commit.")
    if (filters := git.own_filters) and not trusted:
        raise UserError(
            f"No worktree was made: the configuration of this repository names programs that convert files "
            f"({visible_line(', '.join(filters))}). If you trust it, add --trust-folder."
        )
    branch = _checked_name(git, name) if name is not None else _free_name(git, agent)
    worktree = Worktree(_free_path(data_dir, top, branch), branch, base, top, subfolder, _current_branch(git))
    _add(git, worktree)
    return CreatedWorktree(worktree, [*_notices(git)])


def restore_worktree(worktree: Worktree) -> None:
    """Create the folder of a worktree again, on its branch; from HEAD if the branch is gone. Blocks.

    Raises `UserError`.
    """
    if not worktree.repository.is_dir():
        raise UserError(f"The repository of the worktree is gone: {worktree.repository}.")
    git = UserGit(worktree.repository, trusted=worktree.trusted)
    if (filters := git.own_filters) and not worktree.trusted:
        names = visible_line(", ".join(filters))
        raise UserError(f"The worktree was not made again: the repository has filters ({names}).")
    git.guarded("worktree", "prune")
    private_directory(worktree.path.parent)
    exists = git.succeeds("show-ref", "--verify", "--quiet", f"refs/heads/{worktree.branch}")
    words = (
        [str(worktree.path), worktree.branch]
        if exists
        else ["-b", worktree.branch, str(worktree.path), "HEAD"]
    )
    git.guarded("worktree", "add", "--quiet", *words)


# --------------------------------------------------------------------------- the repository


def _repository_at(folder: Path, data_dir: Path, *, trusted: bool) -> tuple[UserGit, Path, str]:
    """Return git in the repository of a folder, the top of its checkout, and the id of its HEAD commit."""
    repository = find_repository(folder)
    if repository is None:
        if found := find_repository_folder(str(folder)):
            raise UserError(f"{found} is a bare repository, from which acp-tui makes no worktrees.")
        raise UserError(f"{folder} is not in a git repository, which --worktree needs.")
    if is_own_worktree(repository.top, data_dir):
        raise UserError("This folder is in a worktree of acp-tui already; start without --worktree.")
    git = UserGit(repository.top, trusted=trusted)
    if Path(git.line("rev-parse", "--show-toplevel")).resolve() != repository.top.resolve():
        raise UserError("The files of this repository are elsewhere (core.worktree), so it gets no worktree.")
    if git.line("rev-parse", "--show-superproject-working-tree"):
        raise UserError(f"{repository.top} is a submodule; use --worktree in the repository around it.")
    try:
        base = git.line("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    except GitCommandError:
        raise UserError("The repository has no commit yet, and a worktree is made from one.") from None
    return git, repository.top, base


def _current_branch(git: UserGit) -> str:
    """Return the name of the branch that is checked out; an empty string if HEAD is detached."""
    name = os.fsdecode(git.guarded("symbolic-ref", "--quiet", "HEAD", ok=(0, 1))).strip()
    return name.removeprefix("refs/heads/")


# --------------------------------------------------------------------------- names


def _checked_name(git: UserGit, name: str) -> str:
    """Return the name of a branch as git reads it. Raises `UserError` if it is invalid or taken."""
    if not git.succeeds("check-ref-format", f"refs/heads/{name}") or name.startswith("-"):
        raise UserError(f'"{visible_line(name)}" cannot be the name of a branch.')
    if _has_branch(git, name):
        raise UserError(f'The branch "{name}" exists already; choose another --worktree-name.')
    return name


def _free_name(git: UserGit, agent: str) -> str:
    moment = datetime.now().strftime("%m%d-%H%M")  # noqa: DTZ005 - the user's own time
    stem = f"{BRANCH_PREFIX}{_slug(agent) or 'agent'}-{moment}"
    number = 1
    while _has_branch(git, name := stem if number == 1 else f"{stem}-{number}"):
        number += 1
    return name


def _has_branch(git: UserGit, name: str) -> bool:
    return git.succeeds("show-ref", "--verify", "--quiet", f"refs/heads/{name}")


def _free_path(data_dir: Path, top: Path, branch: str) -> Path:
    """Return a path for the worktree that does not exist: below a folder for the repository."""
    digest = hashlib.sha256(os.fsencode(top)).hexdigest()[:6]
    folder = worktrees_directory(data_dir) / f"{_slug(top.name) or 'repository'}-{digest}"
    stem = _slug(branch.removeprefix(BRANCH_PREFIX)) or "worktree"
    number = 1
    while (path := folder / (stem if number == 1 else f"{stem}-{number}")).exists():
        number += 1
    return path


def _slug(text: str) -> str:
    return re.sub("[^a-z0-9._]+", "-", text.lower()).strip("-.")[:60]


# --------------------------------------------------------------------------- creating


def _add(git: UserGit, worktree: Worktree) -> None:
    """Create the worktree and its branch. If that fails, remove what was made of it."""
    try:
        private_directory(worktree.path.parent)
        git.guarded(
            *("worktree", "add", "--quiet", "--no-track"),
            *("-b", worktree.branch, str(worktree.path), worktree.base),
        )
    except (GitCommandError, OSError) as error:
        shutil.rmtree(worktree.path, ignore_errors=True)
        git.succeeds("worktree", "prune")
        git.succeeds("branch", "--delete", "--force", worktree.branch)
        reason = error.strerror if isinstance(error, OSError) else str(error).rstrip(".")
        raise UserError(f"The worktree could not be made: {reason}.") from error


def _notices(git: UserGit) -> list[str]:
    """Return what is in the user's checkout but not in the new worktree."""
    changed: list[str] = []
    untracked: list[str] = []
    ignored: list[str] = []
    words = [
        "status",
        "--porcelain",
        "-z",
        "--no-renames",
        "--untracked-files=normal",
        "--ignored",
    ]
    for record in git.guarded(*words).split(b"\0"):
        status, name = record[:2], visible_line(os.fsdecode(record[3:]))
        if status:
            {b"??": untracked, b"!!": ignored}.get(status, changed).append(name)
    parts = [
        _named("uncommitted changes", changed),
        _named("untracked files", untracked),
        _named("ignored files", ignored),
    ]
    found = [part for part in parts if part]
    notices = [f"Not in the worktree: {'; '.join(found)}."] if found else []
    if git.succeeds("cat-file", "-e", "HEAD:.gitmodules"):
        notices.append("Submodules are empty in the worktree; `git submodule update --init` fills them.")
    return notices


def _named(what: str, names: Sequence[str]) -> str:
    if not names:
        return ""
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return f"{what} ({', '.join(names[:MAX_NAMES])}{more})"
