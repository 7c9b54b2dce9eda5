"""Counts how many requests each saved rule has answered, and records when it last answered one.

Several instances of acp-tui can run at once. Each collects its own matches in memory. From time to time, a
thread locks the file of counts and adds the matches to it. Thus a match costs no disk access, and instances
do not overwrite each other's counts. If a process is killed, its matches since the last write are lost, but
the file stays valid.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from acp_tui.config.own_files import read_own_json
from acp_tui.config.paths import private_directory, write_private
from acp_tui.errors import UserError
from acp_tui.permissions.rules import Rule, is_time
from acp_tui.store.locks import file_lock

log = logging.getLogger(__name__)

VERSION = 1
WRITE_SECONDS = 20.0
"""How long matches are collected before they are written."""
_LOCK_TIMEOUT_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Matches:
    """How many requests a rule has answered, and when it last answered one, in seconds since the epoch."""

    count: int = 0
    last: float = 0.0

    def __add__(self, other: Matches) -> Matches:
        return Matches(self.count + other.count, max(self.last, other.last))


class MatchCounts:
    """Counts the matches of each rule that has an id, by this id."""

    def __init__(self, path: Path, kept_ids: Callable[[], Collection[str]]) -> None:
        """Use a file, which need not exist yet.

        Args:
            path: The file with the saved counts.
            kept_ids: Returns the ids of the rules whose matches are saved, or raises `UserError` if the rules
                cannot be read. The matches of other rules, such as the rules of a session, stay in memory.
        """
        self._path = path
        self._kept_ids = kept_ids
        self._lock = threading.Lock()  # for the attributes, never held during disk access
        self._file_lock = threading.Lock()  # held from reading the file until `_unsaved` is correct again
        self._unsaved: dict[str, Matches] = {}
        self._timer: threading.Timer | None = None

    def add(self, rules: Iterable[Rule], at: float) -> None:
        """Count one more match for each rule that has an id. A thread writes the counts to the file later."""
        with self._lock:
            for rule in rules:
                if rule.id:
                    self._unsaved[rule.id] = self._unsaved.get(rule.id, Matches()) + Matches(1, at)
            if self._unsaved and self._timer is None:
                self._timer = threading.Timer(WRITE_SECONDS, self.write)
                self._timer.daemon = True
                self._timer.start()

    def read(self) -> dict[str, Matches]:
        """Return the matches in the file, if readable, and those that this process has not written yet."""
        with self._file_lock:
            saved: dict[str, Matches] = {}
            with suppress(OSError):
                saved = _matches(self._content())
            with self._lock:
                return _sum(saved, self._unsaved)

    def write(self) -> None:
        """Add the collected matches to the file. If writing fails, log the error and keep the matches."""
        with self._file_lock:
            with self._lock:
                if self._timer is not None:
                    self._timer.cancel()
                    self._timer = None
                unsaved = dict(self._unsaved)
            try:
                written = self._write(unsaved) if unsaved else set()
            except (OSError, UserError) as error:
                log.warning("The matches of rules could not be saved: %s", error)
                return
            with self._lock:
                for name in written:
                    now = self._unsaved.pop(name)
                    if now.count > unsaved[name].count:
                        self._unsaved[name] = Matches(now.count - unsaved[name].count, now.last)

    def _write(self, unsaved: dict[str, Matches]) -> set[str]:
        """Add these matches to the file. Return the ids of the rules whose matches are saved now."""
        private_directory(self._path.parent)
        with file_lock(self._path.with_name(f"{self._path.name}.lock"), timeout=_LOCK_TIMEOUT_SECONDS):
            kept = set(self._kept_ids())
            content = self._content()
            if not kept & unsaved.keys() or _is_newer(content):
                return set()
            total = _sum(_matches(content), unsaved)
            entries = {name: [each.count, each.last] for name, each in total.items() if name in kept}
            write_private(self._path, json.dumps({"version": VERSION, "matches": entries}) + "\n")
        return kept & unsaved.keys()

    def _content(self) -> dict[str, Any]:
        """Return the content of the file; an empty dict if it is missing or damaged. Raises `OSError`."""
        try:
            content = read_own_json(self._path)
        except (FileNotFoundError, ValueError, RecursionError):
            return {}
        return content if isinstance(content, dict) else {}


def _is_newer(content: dict[str, Any]) -> bool:
    version = content.get("version")
    return isinstance(version, int) and version > VERSION


def _matches(content: dict[str, Any]) -> dict[str, Matches]:
    entries = content.get("matches")
    if _is_newer(content) or not isinstance(entries, dict):
        return {}
    return {name: Matches(*entry) for name, entry in entries.items() if _is_valid(entry)}


def _sum(one: dict[str, Matches], other: dict[str, Matches]) -> dict[str, Matches]:
    return {name: one.get(name, Matches()) + other.get(name, Matches()) for name in {**one, **other}}


def _is_valid(entry: Any) -> bool:
    if not (isinstance(entry, list) and len(entry) == 2):
        return False
    count, last = entry
    return type(count) is int and count >= 0 and is_time(last)
