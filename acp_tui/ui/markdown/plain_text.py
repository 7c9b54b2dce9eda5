"""Text that means what it says: cut into sections of some lines, so that a long one is drawn in pieces."""

from __future__ import annotations

from acp_tui.ui.markdown.sections import MAX_LINE_LENGTH, Section

LINES_PER_SECTION = 100


class PlainScanner:
    """Takes text in any pieces and gives sections, as the scanner of Markdown does."""

    def __init__(self) -> None:
        self.done: list[Section] = []
        """Sections that are final; whoever takes them clears the list."""
        self._lines: list[str] = []
        self._size = 0
        self._partial = ""
        self._serial = 0

    def feed(self, text: str) -> None:
        """Take in more text."""
        first, *others = text.split("\n")
        self._add(first)
        for other in others:
            self._end_line()
            self._add(other)

    def tail(self, pending: str = "") -> list[Section]:
        """The section that is not final yet."""
        last = self._partial + pending
        lines = [*self._lines, *([last] if last else [])]
        return [Section("plain", lines, size=self._size + len(last), serial=self._serial)] if lines else []

    def _add(self, text: str) -> None:
        self._partial += text
        while len(self._partial) >= MAX_LINE_LENGTH:
            rest = self._partial[MAX_LINE_LENGTH:]
            self._partial = self._partial[:MAX_LINE_LENGTH]
            self._end_line()
            self._partial = rest

    def _end_line(self) -> None:
        self._lines.append(self._partial)
        self._size += len(self._partial) + 1
        self._partial = ""
        if len(self._lines) >= LINES_PER_SECTION or self._size >= MAX_LINE_LENGTH:
            self.done.append(Section("plain", self._lines, size=self._size, serial=self._serial))
            self._lines, self._size = [], 0
            self._serial += 1
