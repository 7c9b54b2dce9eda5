"""What the agent writes to its standard error, kept in a file that stays small and is safe to print."""

from __future__ import annotations

import codecs
import os
from typing import TYPE_CHECKING

from acp_tui.session.text import visible

if TYPE_CHECKING:
    from collections.abc import Callable

KEEP_BYTES = 512 * 1024
"""Bytes kept of the beginning, and at least as many of the end."""

_LONGEST_LINE = 64 * 1024


class StderrLog:
    """Appends text; between a beginning and an end it forgets. It never raises."""

    def __init__(
        self,
        descriptor: int,
        *,
        redact: Callable[[str], str] | None = None,
        trouble: Callable[[OSError], None],
        kept: int = KEEP_BYTES,
    ) -> None:
        self._descriptor = descriptor
        self._redact = redact
        self._trouble = trouble
        self._kept = kept
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._open_line = ""
        self._size = os.fstat(descriptor).st_size

    def write(self, data: bytes | str) -> None:
        """Keep it. Whole lines are written at once, so that a secret is not cut in two unseen."""
        text = self._open_line + (self._decoder.decode(data) if isinstance(data, bytes) else data)
        end = text.rfind("\n") + 1
        key = text.rfind("-----BEGIN")
        if key >= 0 and "-----END" not in text[key:]:
            end = min(end, key)  # a key is one secret, however many lines it has
        if len(text) - end > _LONGEST_LINE:
            end = len(text)
        self._open_line = text[end:]
        self._keep(text[:end])

    def close(self) -> None:
        """Write what has no line end yet. The file itself is the caller's."""
        text, self._open_line = self._open_line + self._decoder.decode(b"", final=True), ""
        self._keep(text)
        self._descriptor = -1
        self._trouble = lambda _: None

    def _keep(self, text: str) -> None:
        if not text:
            return
        data = visible(self._redact(text) if self._redact else text).encode()
        try:
            self._size += os.write(self._descriptor, data)
            if self._size > 4 * self._kept:
                self._forget_the_middle()
        except OSError as error:
            self._trouble(error)

    def _forget_the_middle(self) -> None:
        end = os.pread(self._descriptor, self._kept, self._size - self._kept)
        left_out = self._size - 2 * self._kept
        os.ftruncate(self._descriptor, self._kept)
        mark = f"\n… {left_out} bytes omitted …\n".encode()
        self._size = self._kept + os.write(self._descriptor, mark + end)
