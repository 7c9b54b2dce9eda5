"""Finds the tabs of an earlier run, for `--continue` and the setting `restore_tabs`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from acp_tui.config.paths import paths
from acp_tui.store.open_tabs import take_open_tabs
from acp_tui.store.session_title import UnsentWork, session_title
from acp_tui.store.stored_sessions import read_session, sessions_directory
from acp_tui.workspace.git.worktrees.worktree import BRANCH_PREFIX

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from acp_tui.store.open_tabs import OpenTabsFile, SavedTab


def earlier_tabs(folder: Path, following: OpenTabsFile) -> list[SavedTab]:
    """Take the tabs that the latest run in a folder left open, each with the title of its session.

    Tabs in which nothing was done, tabs whose worktree was merged or discarded, and tabs that cannot be
    reopened are left out. The tabs are saved as
    those of the `following` run at once, so that none is lost if that run is killed while it starts.
    """
    return reopenable(take_open_tabs(paths().state, folder, following.save))


def reopenable(saved: Sequence[SavedTab]) -> list[SavedTab]:
    """Return the tabs that `--continue` would open, each with the title of its session."""
    unsent = UnsentWork(paths().state)
    titled = [replace(tab, title=_title(tab, unsent)) for tab in saved]
    return [tab for tab in titled if tab.title]


def active_index(tabs: list[SavedTab]) -> int:
    """Return the index of the tab that the user saw last; 0 if that tab is not in `tabs`."""
    return next((index for index, tab in enumerate(tabs) if tab.active), 0)


def _title(tab: SavedTab, unsent: UnsentWork) -> str:
    """Return the title of a tab; an empty string if the tab should not be reopened."""
    path = sessions_directory(paths().data) / tab.session
    if not path.is_dir():
        return ""
    session = read_session(path)
    if session.is_worktree_finished or (session.in_use() and not session.is_closing()):
        return ""
    return session_title(session, unsent).strip().removeprefix(BRANCH_PREFIX)
