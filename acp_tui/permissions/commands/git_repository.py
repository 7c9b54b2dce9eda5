"""In which repository a git command works: a rule for git speaks of the workspace's own, and of no other.

A folder below the workspace may be a repository whose settings run a program at `git status`; an agent that
may write files can make one.
"""

from __future__ import annotations

import posixpath
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from acp_tui.permissions.subject import PathContext

MAX_FOLDERS = 20
"""Options such as `-C` that are followed: each is a few calls to the file system."""
_FOLDER_OPTIONS = ("-C", "--git-dir", "--work-tree")


def other_repository(words: Sequence[str], folder: str, context: PathContext) -> str | None:
    """Why a git command is not about the workspace's repository; None when it is, or is no git command."""
    if not words or words[0].rpartition("/")[2].lower() not in {"git", "git.exe"}:
        return None
    folders = list(islice(_folders(words, folder), MAX_FOLDERS + 1))
    if len(folders) > MAX_FOLDERS:
        return "it changes its folder too often"
    own = {context.repository_of(context.resolve(root)) for root in (context.cwd, *context.roots)}
    for at in folders:
        found = context.repository_of(context.resolve(at))
        if found is not None and found not in own:
            return f"it runs git in {found}, which is a repository of its own"
    return None


def _folders(words: Sequence[str], folder: str) -> Iterator[str]:
    """Where it runs, and where its options lead."""
    yield folder
    for at, text in enumerate(words[1:], 1):
        name, sign, value = text.partition("=")
        if text == "-C" or name in _FOLDER_OPTIONS:
            led = posixpath.join(folder, value if sign else next(iter(words[at + 1 : at + 2]), ""))
            folder = led if name == "-C" else folder
            yield led
