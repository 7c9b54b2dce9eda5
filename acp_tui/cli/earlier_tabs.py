"""Finds the tabs of an earlier run, for `--continue` and the setting `restore_tabs`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.config.paths import paths
from acp_tui.store.open_tabs import take_open_tabs
from acp_tui.store.stored_sessions import read_session, sessions_directory

if TYPE_CHECKING:
    from pathlib import Path

    from acp_tui.store.open_tabs import SavedTab


def earlier_tabs(folder: Path) -> list[SavedTab]:
    """Take the tabs that the latest run in a folder left open. Leave out tabs that cannot be reopened."""
    sessions = sessions_directory(paths().data)
    return [tab for tab in take_open_tabs(paths().state, folder) if _can_open(sessions / tab.session)]


def active_index(tabs: list[SavedTab]) -> int:
    """Return the index of the tab that the user saw last; 0 if that tab is not in `tabs`."""
    return next((index for index, tab in enumerate(tabs) if tab.active), 0)


def _can_open(path: Path) -> bool:
    return path.is_dir() and not read_session(path).in_use()
