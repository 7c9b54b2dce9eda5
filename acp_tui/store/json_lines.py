"""A small file of JSON lines that several processes add to, and that never grows beyond its limit."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from acp_tui.config.paths import private_directory, write_private
from acp_tui.store.locks import locked
from acp_tui.store.wire_log import ends_mid_line

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Record = dict[str, Any]

LOCK_PATIENCE = 0.05
"""Seconds to wait for another process that writes to the same file."""


class JsonLines:
    """Appended to, and condensed when it has grown too large."""

    def __init__(
        self, path: Path, *, limit: int = 1024 * 1024, condense: Callable[[list[Record]], list[Record]]
    ) -> None:
        """`condense` drops the records that others made superfluous."""
        self._path = path
        self._limit = limit
        self._condense = condense

    def read(self) -> list[Record]:
        """The records in order; lines that are none are skipped."""
        try:
            lines = self._path.read_bytes().split(b"\n")
        except OSError:
            return []
        return [record for line in lines if (record := _record(line)) is not None]

    def append(self, record: Record) -> None:
        """Add a record, or raise `OSError`. Called between two keys, so it never waits for long."""
        data = json.dumps(record).encode() + b"\n"
        private_directory(self._path.parent)
        with locked(self._path.with_name(f".{self._path.name}.lock"), patience=LOCK_PATIENCE):
            if self._add(data) > self._limit:
                self._shrink()

    def _add(self, data: bytes) -> int:
        """Returns the size of the file."""
        descriptor = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if ends_mid_line(descriptor):
                data = b"\n" + data
            written = os.write(descriptor, data)
            if written < len(data):
                os.write(descriptor, data[written:])  # says why there was no room
            return os.fstat(descriptor).st_size
        finally:
            os.close(descriptor)

    def _shrink(self) -> None:
        """Down to half the limit, so that this is seldom needed; the last record stays in any case."""
        room = self._limit // 2
        kept: list[str] = []
        for record in reversed(self._condense(self.read())):
            line = json.dumps(record) + "\n"
            room -= len(line)
            if room < 0 and kept:
                break
            kept.append(line)
        write_private(self._path, "".join(reversed(kept)))


def _record(line: bytes) -> Record | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None
