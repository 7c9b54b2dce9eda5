"""The log of the agent's standard error: limited in size, redacted, and safe to print."""

from __future__ import annotations

import codecs
import os
from typing import TYPE_CHECKING

from acp_tui.session.text.safe_text import visible
from acp_tui.store.secret_patterns import open_secret

if TYPE_CHECKING:
    from collections.abc import Callable

KEEP_BYTES = 512 * 1024
"""A log that is too large keeps this many bytes at its beginning, and at least as many at its end."""

_MAX_LINE_CHARACTERS = 64 * 1024


class StderrLog:
    """Appends text to an open file. Drops the middle of the file when the file is too large. Never raises."""

    def __init__(
        self,
        descriptor: int,
        *,
        redact: Callable[[str, str], str] | None = None,
        on_error: Callable[[OSError], None],
        keep_bytes: int = KEEP_BYTES,
    ) -> None:
        """Append to an open file. `redact` gets two texts, and returns the second one without secrets.

        The first text is the beginning of a secret that may continue in the second; often it is empty.
        """
        self._descriptor = descriptor
        self._redact = redact
        self._context = ""  # the beginning of a secret that may continue in what follows
        self._on_error = on_error
        self._keep_bytes = keep_bytes
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._open_line = ""
        self._size = os.fstat(descriptor).st_size

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
        data = visible(self._redact(self._context, text) if self._redact else text).encode()
        self._context = open_secret(self._context + text)
        try:
            self._size += os.write(self._descriptor, data)
            if self._size > 4 * self._keep_bytes:
                self._drop_middle()
        except OSError as error:
            self._on_error(error)

    def _drop_middle(self) -> None:
        end = os.pread(self._descriptor, self._keep_bytes, self._size - self._keep_bytes)
        dropped = self._size - 2 * self._keep_bytes
        os.ftruncate(self._descriptor, self._keep_bytes)
        mark = f"\n… {dropped} bytes omitted …\n".encode()
        self._size = self._keep_bytes + os.write(self._descriptor, mark + end)
