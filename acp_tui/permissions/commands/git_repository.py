"""Finds out whether a git command uses a repository other than the workspace's.

A rule for git applies only to the workspace's repository. The configuration of another repository can run
programs, even on `git status`. An agent that may write files can create such a repository in the workspace.
"""

from __future__ import annotations

import posixpath
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from acp_tui.permissions.subject import PathContext

MAX_FOLDERS = 20
"""The maximum number of options such as `-C` to follow. Each costs a few calls to the file system."""
_FOLDER_OPTIONS = ("-C", "--git-dir", "--work-tree")


def other_repository(words: Sequence[str], folder: str, context: PathContext) -> str | None:
    """Return, as a clause, why git can use a repository other than the workspace's; None without a reason."""
    if not words or words[0].rpartition("/")[2].lower() not in {"git", "git.exe"}:
        return None
    folders = list(islice(_folders(words, folder), MAX_FOLDERS + 1))
    if len(folders) > MAX_FOLDERS:
        return "it has too many options that name a folder"
    own = {context.repository_of(context.resolve(root)) for root in (context.cwd, *context.roots)}
    for at in folders:
        found = context.repository_of(context.resolve(at))
        if found is not None and found not in own:
            return f"it runs git in {found}, which is a separate repository"
    return None


def _folders(words: Sequence[str], folder: str) -> Iterator[str]:
    """Yield the folders that git uses: the current one, and those named by its options."""
    yield folder
    for at, text in enumerate(words[1:], 1):
        name, sign, value = text.partition("=")
        if text == "-C" or name in _FOLDER_OPTIONS:
            led = posixpath.join(folder, value if sign else next(iter(words[at + 1 : at + 2]), ""))
            folder = led if name == "-C" else folder
            yield led
