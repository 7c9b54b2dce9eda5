"""Cuts growing text that is not Markdown into sections."""

from __future__ import annotations

from acp_tui.ui.markdown.line_reader import LineReader
from acp_tui.ui.markdown.section import SECTION_SIZE, Section

LINES_PER_SECTION = 100


class PlainScanner:
    """Splits text into sections, like `MarkdownScanner`. The text may arrive in chunks of any size."""

    def __init__(self) -> None:
        self.finished: list[Section] = []
        """Sections that are final. The caller takes them and clears the list."""
        self._reader = LineReader()
        self._open = Section("plain", [])

    def feed(self, text: str) -> None:
        for line, ended in self._reader.read(text, len):
            section = self._open
            section.lines.append(line)
            section.size += len(line) + 1
            if not ended or len(section.lines) >= LINES_PER_SECTION or section.size >= SECTION_SIZE:
                section.separator = None if ended else ""
                self.finished.append(section)
                self._open = Section("plain", [], serial=section.serial + 1)
                self._open.continues = "" if ended else "paragraph"

    def tail(self, pending: str = "") -> list[Section]:
        """Return the section that is not final yet, if any. `pending` is appended to the section's text."""
        section, last = self._open, self._reader.partial + pending
        lines = [*section.lines, *([last] if last else [])]
        if not lines:
            return []
        size = section.size + len(last)
        return [Section("plain", lines, size=size, serial=section.serial, continues=section.continues)]
