"""The log of an agent's stderr: lines with the time at which they arrived, redacted and limited in size.

    2026-11-24T01:52:44.123456Z │ listening on port 8080

Lines that acp-tui recorded before it noted times have none.
"""

from __future__ import annotations

import codecs
import math
import os
import re
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from acp_tui.config.own_files import open_own
from acp_tui.session.safe_text import escape_controls
from acp_tui.store.secret_patterns import open_secret
from acp_tui.store.wire_log import ends_mid_line

KEEP_BYTES = 512 * 1024
"""A log that is too large keeps this many bytes at its beginning, and at least as many at its end."""

_MAX_LINE_CHARACTERS = 64 * 1024
_SEPARATOR = " │ "
_STAMP = re.compile(rf"(\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{{6}}Z){_SEPARATOR}")
MAX_READ_BYTES = 16 * 1024 * 1024
_CHECKED_BYTES = 64
"""How many bytes at the end of what was read are compared when the file has grown."""


class StderrLog:
    """Appends lines to an open file, each with its time. Drops the middle of a file that is too large.

    Never raises.
    """

    def __init__(
        self,
        descriptor: int,
        *,
        redact: Callable[[str, str], str] | None = None,
        on_error: Callable[[OSError], None],
        clock: Callable[[], float] = time.time,
        keep_bytes: int = KEEP_BYTES,
    ) -> None:
        """Append to an open file. `redact` gets two texts, and returns the second one without secrets.

        The first text is the beginning of a secret that may continue in the second; often it is empty.
        """
        self._descriptor = descriptor
        self._redact = redact
        self._context = ""  # the beginning of a secret that may continue in what follows
        self._on_error = on_error
        self._clock = clock
        self._keep_bytes = keep_bytes
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._open_line = ""
        self._size = os.fstat(descriptor).st_size
        self._in_line = ends_mid_line(descriptor)

    def write(self, data: bytes | str) -> None:
        """Log data. An incomplete line or private key is held back until the rest arrives.

        Otherwise, redaction would see half a secret. More than `_MAX_LINE_CHARACTERS` are not held back.
        """
        text = self._open_line + (self._decoder.decode(data) if isinstance(data, bytes) else data)
        end = text.rfind("\n") + 1
        key = text.rfind("-----BEGIN")
        if key >= 0 and "-----END" not in text[key:]:
            end = min(end, key)  # a private key has several lines
        if len(text) - end > _MAX_LINE_CHARACTERS:
            end = len(text)
        self._open_line = text[end:]
        self._write(text[:end])

    def close(self) -> None:
        """Write what was held back: an incomplete line or private key. The caller closes the file."""
        text, self._open_line = self._open_line + self._decoder.decode(b"", final=True), ""
        self._write(text)
        self._descriptor = -1
        self._on_error = lambda _: None

    def _write(self, text: str) -> None:
        if not text:
            return
        data = self._stamped(self._redact(self._context, text) if self._redact else text)
        self._context = open_secret(self._context + text)
        try:
            self._size += os.write(self._descriptor, data)
            if self._size > 4 * self._keep_bytes:
                self._drop_middle()
        except OSError as error:
            self._on_error(error)

    def _stamped(self, text: str) -> bytes:
        """Return the text, safe to display, with the time at the beginning of each line."""
        moment = datetime.fromtimestamp(self._clock(), UTC)
        stamp = f"{moment:%Y-%m-%dT%H:%M:%S.%fZ}{_SEPARATOR}"
        lines = escape_controls(text).splitlines(keepends=True)
        stamped = "".join(
            line if number == 0 and self._in_line else stamp + line for number, line in enumerate(lines)
        )
        self._in_line = not stamped.endswith("\n")
        return stamped.encode()

    def _drop_middle(self) -> None:
        end = os.pread(self._descriptor, self._keep_bytes, self._size - self._keep_bytes)
        dropped = self._size - 2 * self._keep_bytes
        os.ftruncate(self._descriptor, self._keep_bytes)
        mark = f"\n… {dropped} bytes omitted …\n".encode()
        self._size = self._keep_bytes + os.write(self._descriptor, mark + end)


class StderrLines:
    """The lines of a log that another process may be writing. Without a file, there are none."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.texts: list[str] = []
        """The lines without their times, which are safe to display only if acp-tui wrote the file."""
        self.times: list[float] = []
        """The time of each line in seconds since the epoch, which never goes back.

        Of lines before the first time, it is `-inf`.
        """
        self._size = 0  # of the file, at the last update
        self._ended = 0  # the number of lines with a line end
        self._ended_bytes = 0
        self._last_bytes = b""

    def __len__(self) -> int:
        return len(self.texts)

    def update(self) -> int | None:
        """Read what was appended. Return the first line that is new or different; None if there is none.

        All is read again if the middle of the file was dropped. A file that cannot be read is ignored.
        """
        try:
            if self._path.stat().st_size == self._size:
                return None
            with open(open_own(self._path, os.O_RDONLY), "rb") as file:
                start = max(self._ended_bytes - _CHECKED_BYTES, 0)
                file.seek(start)
                if file.read(self._ended_bytes - start) != self._last_bytes:
                    self._ended = self._ended_bytes = file.seek(0)
                    self._last_bytes = b""
                data = file.read(MAX_READ_BYTES)
        except OSError:
            return None
        first = self._ended
        del self.texts[first:], self.times[first:]
        *ended, rest = data.split(b"\n")
        for line in ended:
            self._add(line)
        self._ended = len(self.texts)
        self._size = self._ended_bytes + len(data)
        self._ended_bytes += len(data) - len(rest)
        self._last_bytes = (self._last_bytes + data[: len(data) - len(rest)])[-_CHECKED_BYTES:]
        if rest:
            self._add(rest)
        return first

    def _add(self, line: bytes) -> None:
        text = line.decode(errors="replace")
        at = self.times[-1] if self.times else -math.inf
        if stamp := _STAMP.match(text):
            text = text[stamp.end() :]
            with suppress(ValueError):
                at = max(datetime.fromisoformat(stamp[1]).timestamp(), at)
        self.texts.append(text)
        self.times.append(at)
