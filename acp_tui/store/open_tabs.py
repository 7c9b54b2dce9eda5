"""The tabs of each running acp-tui, saved so that they come back after a restart or a crash.

Each run has a file of its own in the folder `open-tabs/` of the state directory, and a second file that the
run keeps locked. Once a run has ended, the next run of acp-tui in the same working directory can take over
the tabs.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from acp_tui.config.own_files import open_own, read_own_object
from acp_tui.config.paths import private_directory, write_private
from acp_tui.store.locks import try_lock, unlock_and_close

log = logging.getLogger(__name__)

ENDING_SECONDS = 15.0
"""The longest wait for a run that is ending, in seconds. Its agents may end slowly."""
RETRY_SECONDS = 0.05
MAX_FILES = 20
"""How many of the newest files are always kept. Older files are removed if their run has ended."""


@dataclass(frozen=True, slots=True)
class SavedTab:
    """A tab with a recorded session."""

    session: str  # the id of its folder
    agent: str  # the agent's title
    title: str  # as the tab strip shows it
    active: bool = False  # this tab was in front


class OpenTabsFile:
    """The file with the tabs of this run of acp-tui.

    It is created with the first tab and removed with the last.
    """

    def __init__(self, state_dir: Path, folder: str) -> None:
        self.folder = os.path.realpath(folder)
        self._path = _directory(state_dir) / f"{os.urandom(8).hex()}.json"
        self._lock: int | None = None
        self._saved: tuple[SavedTab, ...] = ()
        self._ending = False

    @property
    def saved(self) -> Sequence[SavedTab]:
        """The tabs that were saved last."""
        return self._saved

    def save(self, tabs: Sequence[SavedTab]) -> None:
        """Save the tabs if they have changed. A failure is only logged."""
        tabs = tuple(tabs)
        if tabs == self._saved:
            return
        self._saved = tabs
        self._write()

    def mark_ending(self) -> None:
        """Note that this run is ending, so that the next run in the folder waits for its tabs."""
        if self._saved and not self._ending:
            self._ending = True
            self._write()

    def _write(self) -> None:
        try:
            if self._lock is None:
                self._create()
            if self._saved:
                tabs = [asdict(tab) for tab in self._saved]
                content = {"folder": self.folder, "ending": self._ending, "tabs": tabs}
                write_private(self._path, json.dumps(content))
            else:
                self._path.unlink(missing_ok=True)
        except OSError as error:
            log.warning("The open tabs cannot be saved: %s", error)

    def _create(self) -> None:
        directory = private_directory(self._path.parent)
        new = self._path.with_suffix(".new")
        lock = open_own(new, os.O_RDWR | os.O_CREAT)
        try_lock(lock)  # always succeeds: no other process knows the file
        new.rename(_lock_path(self._path))  # only now, because other runs remove unlocked files without tabs
        self._lock = lock
        paths = [file.with_suffix(".json") for file in directory.glob("*.lock")]
        without_tabs = [path for path in paths if not path.exists()]
        for path in (*_newest_first(directory)[MAX_FILES:], *without_tabs):
            _take(path)

    def close(self) -> None:
        """Release the lock, so that another run can take the tabs over."""
        if self._lock is not None:
            if not self._saved:
                _lock_path(self._path).unlink(missing_ok=True)
            unlock_and_close(self._lock)
            self._lock = None


def take_open_tabs(
    state_dir: Path, folder: Path | str, save: Callable[[Sequence[SavedTab]], None] = lambda _: None
) -> list[SavedTab]:
    """Return the saved tabs of the latest run of acp-tui in a folder, and remove that run's file.

    A run that is ending is waited for; other runs that have not ended yet are skipped. If there is no other
    run, return an empty list. `save` is called with the tabs before the file is removed.
    """
    wanted = os.path.realpath(folder)
    for path in _newest_first(_directory(state_dir)):
        content = read_own_object(path)
        if content.get("folder") != wanted:
            continue
        tabs = list(_tabs(content.get("tabs")))
        deadline = time.monotonic() + (ENDING_SECONDS if content.get("ending") is True else 0.0)
        while not (taken := _take(path, partial(save, tabs))) and time.monotonic() < deadline:
            time.sleep(RETRY_SECONDS)
        if taken:
            return tabs
    return []


def _directory(state_dir: Path) -> Path:
    return state_dir / "open-tabs"


def _lock_path(path: Path) -> Path:
    return path.with_suffix(".lock")


def _newest_first(directory: Path) -> list[Path]:
    times: dict[Path, float] = {}
    for path in directory.glob("*.json"):
        with suppress(OSError):  # another run may have taken it meanwhile
            times[path] = path.stat().st_mtime
    return sorted(times, key=lambda path: times[path], reverse=True)


def _take(path: Path, before: Callable[[], None] = lambda: None) -> bool:
    """Remove the files of a run that has ended, after calling `before`.

    Return False if the run has not ended, or had no tabs.
    """
    try:
        lock = open_own(_lock_path(path), os.O_RDWR | os.O_CREAT)
    except OSError:
        return False
    try:
        if not try_lock(lock):
            return False
        had_tabs = path.exists()
        if had_tabs:
            before()
        path.unlink(missing_ok=True)
        _lock_path(path).unlink(missing_ok=True)
        return had_tabs
    finally:
        unlock_and_close(lock)


def _tabs(values: Any) -> Iterator[SavedTab]:
    for value in values if isinstance(values, list) else ():
        if isinstance(value, dict) and isinstance(session := value.get("session"), str):
            agent, title = (str(value.get(key) or "") for key in ("agent", "title"))
            yield SavedTab(session, agent, title, active=value.get("active") is True)
