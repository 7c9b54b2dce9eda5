"""The worktree of a conversation: where it is, and what it was made from."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.config.paths import worktrees_directory

if TYPE_CHECKING:
    from collections.abc import Mapping

BRANCH_PREFIX = "acp-tui/"
"""The prefix of generated branch names."""
META_FIELD = "worktree"
"""The name of the field that holds the worktree in a session's metadata."""


@dataclass(frozen=True, slots=True)
class Worktree:
    """A git worktree on a branch of its own, created for a conversation."""

    path: Path
    branch: str
    base: str  # the id of the commit from which it was created
    repository: Path  # the top folder of the user's checkout
    subfolder: str = ""  # the agent's folder, relative to the top; empty: the top
    target: str = ""  # the user's branch, into which to merge; empty: HEAD was detached
    trusted: bool = False  # the repository's own hooks and filters may run

    @property
    def folder(self) -> Path:
        """The folder in which the agent works. It is in the worktree."""
        return self.path / self.subfolder

    @property
    def project_folder(self) -> Path:
        """The counterpart of `folder` in the user's checkout.

        Rules, trust and history are stored for this counterpart.
        """
        return self.repository / self.subfolder

    def to_dict(self) -> dict[str, str | bool]:
        """Return the value to store as `META_FIELD` in a session's metadata."""
        return {
            "path": str(self.path),
            "branch": self.branch,
            "base": self.base,
            "repository": str(self.repository),
            "subfolder": self.subfolder,
            "target": self.target,
            "trusted": self.trusted,
        }

    @classmethod
    def from_meta(cls, meta: Mapping[str, Any], data_dir: Path) -> Worktree | None:
        """Return the worktree that a session's metadata describes; None if there is none or it is not valid.

        A path outside `data_dir` is ignored: acp-tui deletes worktrees, and must not delete any other folder.
        """
        saved = meta.get(META_FIELD)
        if not isinstance(saved, dict):
            return None
        values = {name: saved.get(name, "") for name in ("path", "branch", "base", "repository")}
        if not all(isinstance(value, str) and value for value in values.values()):
            return None
        subfolder, target = saved.get("subfolder", ""), saved.get("target", "")
        if not (isinstance(subfolder, str) and isinstance(target, str)):
            return None
        path = Path(values["path"])
        if not is_own_worktree(path, data_dir) or ".." in Path(subfolder).parts or subfolder.startswith("/"):
            return None
        trusted = saved.get("trusted") is True
        repository = Path(values["repository"])
        return cls(path, values["branch"], values["base"], repository, subfolder, target, trusted)


def worktrees_of_repository(data_dir: Path, top: Path) -> Path:
    """Return the folder for a repository's worktrees. The folder's name contains a hash of `top`."""
    digest = hashlib.sha256(os.fsencode(top)).hexdigest()[:6]
    return worktrees_directory(data_dir) / f"{slug(top.name) or 'repository'}-{digest}"


def slug(text: str) -> str:
    """Return a text as part of a file or branch name: lower case, with hyphens for unusual characters.

    The result does not begin with a dot. It may be empty.
    """
    return re.sub("[^a-z0-9._]+", "-", text.lower()).strip("-.")[:60]


def is_own_worktree(path: Path, data_dir: Path) -> bool:
    """Return True if a path is at or below a place for acp-tui's worktrees. The path need not exist."""
    own = worktrees_directory(data_dir).resolve()
    depth = len(own.parts) + 2
    return ".." not in path.parts and own in (real := path.resolve()).parents and len(real.parts) >= depth
