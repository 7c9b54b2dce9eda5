"""Text that grows chunk by chunk.

The result does not depend on how the text was split into chunks.
"""

from __future__ import annotations

from acp_tui.session.safe_text import UNSAFE, escape_controls

CHUNKS_PER_PART = 256
"""The number of chunks that are joined into one string, to save memory."""


class GrowingText:
    """Text that grows by appending. `append` does not copy the whole text. Chunks are made safe to display.

    A CR or half of a surrogate pair at the end of a chunk is held back until the next chunk, because its
    meaning depends on what follows.
    """

    __slots__ = ("_carry", "_large", "_parts", "length")

    def __init__(self, text: str = "") -> None:
        self._parts: list[str] = []
        self._large = 0  # the number of parts made of many chunks, at the beginning of `_parts`
        self._carry = ""
        self.length = 0
        """The length without a held-back character. `since(length)` returns what is appended later."""
        if text:
            self.append(text)

    def append(self, chunk: str) -> None:
        if self._carry or UNSAFE.search(chunk):
            chunk = self._carry + chunk
            last = chunk[-1:]
            self._carry = last if last == "\r" or "\ud800" <= last <= "\udbff" else ""
            if self._carry:
                chunk = chunk[:-1]
            chunk = escape_controls(chunk)
        if chunk:
            self._parts.append(chunk)
            self.length += len(chunk)
            if len(self._parts) - self._large >= CHUNKS_PER_PART:
                self._parts[self._large :] = ["".join(self._parts[self._large :])]
                self._large += 1

    def since(self, position: int) -> str:
        """Return the text from a position on, except a character that is held back.

        The cost depends only on the length of the result.
        """
        if position <= 0:
            return self._joined()
        missing = self.length - position
        found: list[str] = []
        for part in reversed(self._parts):
            if missing <= 0:
                break
            found.append(part if len(part) <= missing else part[-missing:])
            missing -= len(part)
        return "".join(reversed(found))

    @property
    def pending(self) -> str:
        """The held-back character at the end of the text, made safe to display; empty if there is none."""
        return escape_controls(self._carry) if self._carry else ""

    def _joined(self) -> str:
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
            self._large = 1
        return self._parts[0] if self._parts else ""

    def __str__(self) -> str:
        return self._joined() + self.pending

    def __bool__(self) -> bool:
        return bool(self._parts or self._carry)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GrowingText) and str(self) == str(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"GrowingText({str(self)!r})"
