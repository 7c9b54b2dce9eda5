"""A small file of JSON lines. Several processes append to the file, and its size is limited."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from acp_tui.config.own_files import MAX_BYTES, open_own, read_own
from acp_tui.config.paths import write_private
from acp_tui.store.locks import change_lock
from acp_tui.store.wire_log import ends_mid_line

Record = dict[str, Any]

LOCK_TIMEOUT_SECONDS = 0.05
"""Seconds to wait for another process that writes to the same file. Meanwhile, the user interface freezes."""


class JsonLinesFile:
    """A file of JSON objects, which is condensed when it exceeds its limit."""

    def __init__(
        self, path: Path, *, limit: int = 1024 * 1024, condense: Callable[[list[Record]], list[Record]]
    ) -> None:
        """Use a file, which need not exist.

        Args:
            path: The file.
            limit: The size in bytes above which the file is condensed.
            condense: Called with the records; returns those that later records do not make obsolete.
        """
        self._path = path
        self._limit = limit
        self._condense = condense

    def read(self) -> list[Record]:
        """Return the records in order; none if the file is unreadable. Skip lines that are not objects."""
        try:
            return self._records()
        except OSError:
            return []

    def _records(self) -> list[Record]:
        lines = read_own(self._path).split(b"\n")
        return [record for line in lines if (record := _record(line)) is not None]

    def append(self, record: Record) -> None:
        """Append a record. Raises `OSError`, including when another process holds the lock for too long."""
        data = json.dumps(record).encode() + b"\n"
        with change_lock(self._path, timeout=LOCK_TIMEOUT_SECONDS):
            if self._append(data) > self._limit:
                self._shrink()

    def _append(self, data: bytes) -> int:
        """Append bytes and return the new size of the file."""
        descriptor = open_own(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT, MAX_BYTES)
        try:
            if ends_mid_line(descriptor):
                data = b"\n" + data
            written = os.write(descriptor, data)
            if written < len(data):
                os.write(descriptor, data[written:])  # raises the error that stopped the first write
            return os.fstat(descriptor).st_size
        finally:
            os.close(descriptor)

    def _shrink(self) -> None:
        """Condense the file to at most half its limit, so that condensing is rarely necessary.

        The last of the condensed records is kept, whatever its size.
        """
        room = self._limit // 2
        kept: list[str] = []
        for record in reversed(self._condense(self._records())):
            line = json.dumps(record) + "\n"
            room -= len(line)
            if room < 0 and kept:
                break
            kept.append(line)
        write_private(self._path, "".join(reversed(kept)))


def latest_of_each(records: list[Record], key: str, content: str) -> list[Record]:
    """Return the last record with each text under `key`, without those that are empty under `content`.

    The latest record comes last.
    """
    latest: dict[str, Record] = {}
    for record in records:
        if isinstance(name := record.get(key), str):
            latest.pop(name, None)
            if record.get(content):
                latest[name] = record
    return list(latest.values())


def _record(line: bytes) -> Record | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None
