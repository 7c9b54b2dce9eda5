"""Joins chunks of text into lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.ui.markdown.section import SECTION_SIZE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class LineReader:
    """Joins chunks of text into lines. Long lines are cut at the same places, whatever the chunks are."""

    def __init__(self, partial: list[str] | None = None) -> None:
        self._partial = partial or []
        self._size = sum(map(len, self._partial))

    @property
    def partial(self) -> str:
        """What `read` has not returned yet of the last line."""
        return "".join(self._partial)

    def copy(self) -> LineReader:
        """Return a reader in the same state."""
        return LineReader(list(self._partial))

    def read(self, text: str, cut_position: Callable[[str], int]) -> Iterator[tuple[str, bool]]:
        """Read more text. Yield pairs: a line or a part of a long line, and True if the line ends there.

        `cut_position` returns the length of the first part of a long line. The result can depend on earlier
        parts, so `cut_position` is called only after the caller has processed the earlier parts.
        """
        for number, line in enumerate(text.split("\n")):
            if number:
                yield self._take(), True
            if line:
                self._partial.append(line)
                self._size += len(line)
            if self._size >= SECTION_SIZE:
                rest = self._take()
                start = 0
                while len(rest) - start >= SECTION_SIZE:
                    end = start + cut_position(rest[start : start + SECTION_SIZE])
                    yield rest[start:end], False
                    start = end
                self._partial, self._size = [rest[start:]], len(rest) - start

    def _take(self) -> str:
        line = self.partial
        self._partial, self._size = [], 0
        return line
