"""Terminal output as it was written, shortened in the middle."""

from __future__ import annotations

import re
from collections import deque

from acp_tui.session.safe_text import escape_controls

MAX_KEPT_PER_END = 256 * 1024
"""The maximum number of characters to keep at each end of a terminal's output."""


class TerminalText:
    """Raw terminal output. If it is long, only its beginning and its end are kept.

    The text is input for the terminal emulator and not safe to display.
    """

    __slots__ = ("_head", "_head_length", "_head_room", "_skipped", "_tail", "_tail_length", "total")

    def __init__(self) -> None:
        self._head: list[str] = []
        self._head_length = 0
        self._head_room = MAX_KEPT_PER_END
        self._tail: deque[str] = deque()
        self._tail_length = 0
        self._skipped = 0
        self.total = 0
        """The number of characters written, including those that were not kept."""

    def append(self, text: str) -> None:
        self.total += len(text)
        if self._head_room > 0:
            piece = text[: self._head_room]
            text = text[self._head_room :]
            self._head.append(piece)
            self._head_length += len(piece)
            self._head_room -= len(piece)
        if not text:
            return
        self._tail.append(text)
        self._tail_length += len(text)
        while self._tail_length - len(self._tail[0]) >= MAX_KEPT_PER_END:
            gone = len(self._tail.popleft())
            self._tail_length -= gone
            self._skipped += gone

    def skip(self, count: int) -> None:
        """Record that `count` characters at this point of the output are missing."""
        self.total += count
        self._head_room = 0  # later text must not be appended to the head
        self._skipped += count + self._tail_length
        self._tail.clear()
        self._tail_length = 0

    @property
    def head(self) -> str:
        """The kept beginning of the output."""
        if len(self._head) > 1:
            self._head = ["".join(self._head)]
        return self._head[0] if self._head else ""

    @property
    def tail(self) -> str:
        """The kept end of the output; empty if `head` contains the whole output."""
        text = "".join(self._tail)
        return text[-MAX_KEPT_PER_END:] if len(text) > MAX_KEPT_PER_END else text

    def since(self, position: int) -> tuple[str, int, str]:
        """Return the output after `position` as head text, number of omitted characters, and tail text.

        For a position near the end, the cost depends only on the length of the result.
        """
        head_end = self._head_length
        before = self.head[position:] if position < head_end else ""
        missing = self.total - max(position, head_end)  # after `position`, in the skipped part or the tail
        if missing > self._tail_length:
            return before, missing - self._tail_length, "".join(self._tail)
        found: list[str] = []
        for part in reversed(self._tail):
            if missing <= 0:
                break
            found.append(part[-missing:])
            missing -= len(part)
        return before, 0, "".join(reversed(found))

    @property
    def skipped(self) -> int:
        """The number of characters omitted between head and tail."""
        return self._skipped + max(0, self._tail_length - MAX_KEPT_PER_END)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TerminalText) and (self.head, self.skipped, self.tail) == (
            other.head,
            other.skipped,
            other.tail,
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"TerminalText({self.head!r}, skipped={self.skipped}, {self.tail!r})"


# Select Graphic Rendition: ESC [ parameters m. Parameters consist of digits, `;` and, in newer programs, `:`.
SGR = re.compile("\x1b\\[([0-9;:]*)m")


def keep_colours(text: str) -> str:
    """Make dangerous characters in the text visible as `visible` does, but keep the SGR escapes."""
    pieces: list[str] = []
    end = 0
    for escape in SGR.finditer(text):
        pieces += (escape_controls(text[end : escape.start()]), escape[0])
        end = escape.end()
    pieces.append(escape_controls(text[end:]))
    return "".join(pieces)


def strip_colours(text: str) -> str:
    """Remove the SGR escapes of the text, and make its other control characters visible."""
    return escape_controls(SGR.sub("", text))
