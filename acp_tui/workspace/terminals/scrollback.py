"""The lines that have scrolled off a terminal's screen.

These lines never change. If there are too many, only the beginning and the end of their text are kept.
"""

from __future__ import annotations

from collections import deque
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from acp_tui.workspace.terminals.sgr import Style

Part = tuple[str, "Style"]
"""A piece of text in one style. It may contain newlines."""

PAGE_CHARACTERS = 8192


class _Page:
    """A few thousand characters. The numbers of characters and newlines allow readers to skip a page."""

    __slots__ = ("characters", "newlines", "parts")

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.characters = 0
        self.newlines = 0

    def compact(self) -> None:
        """Join neighbouring parts of equal style: a part per line takes far more memory than the text."""
        self.parts = [
            ("".join(text for text, _ in parts), style)
            for style, parts in groupby(self.parts, key=itemgetter(1))
        ]


class _Pages:
    """Consecutive pages, with their total numbers of characters and newlines."""

    def __init__(self) -> None:
        self.pages: deque[_Page] = deque()
        self.characters = 0
        self.newlines = 0

    def add(self, text: str, style: Style) -> None:
        if len(text) > PAGE_CHARACTERS:
            for start in range(0, len(text), PAGE_CHARACTERS):
                self.add(text[start : start + PAGE_CHARACTERS], style)
            return
        page = self.pages[-1] if self.pages else None
        if page is None or page.characters >= PAGE_CHARACTERS:
            if page is not None:
                page.compact()
            page = _Page()
            self.pages.append(page)
        page.parts.append((text, style))
        page.characters += len(text)
        self.characters += len(text)
        if newlines := text.count("\n"):
            page.newlines += newlines
            self.newlines += newlines

    def shrink(self, characters: int) -> None:
        """Drop pages from the front as long as at least `characters` characters remain."""
        while self.pages and self.characters - self.pages[0].characters >= characters:
            page = self.pages.popleft()
            self.characters -= page.characters
            self.newlines -= page.newlines

    def parts(self) -> Iterator[Part]:
        for page in self.pages:
            yield from page.parts


class Scrollback:
    """Append-only text. Of a long text, the first `head` and about the last `tail` characters are kept."""

    def __init__(self, head: int, tail: int) -> None:
        self._head_size = head
        self._tail_size = tail
        self._head = _Pages()
        self._tail = _Pages()
        self.characters = 0
        """Number of characters ever appended."""
        self.newlines = 0
        """Number of complete lines ever appended."""
        self.open = False
        """Whether the last line has no newline yet."""

    def append(self, text: str, style: Style) -> None:
        """Append text, which must not be empty."""
        self.characters += len(text)
        self.newlines += text.count("\n")
        self.open = text[-1] != "\n"
        if room := self._head_size - self._head.characters:
            self._head.add(text[:room], style)
            text = text[room:]
        if text and self._tail_size:
            self._tail.add(text[-self._tail_size :], style)
            self._tail.shrink(self._tail_size)

    @property
    def dropped(self) -> int:
        """Number of characters dropped between head and tail."""
        return self.characters - self._head.characters - min(self._tail.characters, self._tail_size)

    def all(self) -> Iterator[Part]:
        """Yield the whole text. Must be called only if nothing was dropped."""
        yield from self._head.parts()
        yield from self._tail.parts()

    def head(self) -> Iterator[Part]:
        """Yield the first `head` characters."""
        return self._head.parts()

    def tail(self) -> Iterator[Part]:
        """Yield the end of the output: as many characters as the constructor's argument `tail` says."""
        hidden = self._tail.characters - self._tail_size
        for text, style in self._tail.parts():
            if hidden >= len(text):
                hidden -= len(text)
            elif hidden > 0:
                yield text[hidden:], style
                hidden = 0
            else:
                yield text, style

    def since(self, line: int) -> tuple[int, Iterator[Part]]:
        """Return all text from the start of the page in which `line` begins.

        The first value is the number of the line in which this text starts. If text was dropped, at most the
        last `tail` characters are returned.
        """
        pages = [*self._tail.pages] if self.dropped else [*self._head.pages, *self._tail.pages]
        number = self.newlines - sum(page.newlines for page in pages)
        if self.dropped:
            shown = sum(text.count("\n") for text, _ in self.tail())
            first = self.newlines - shown
            if line <= first or not pages or line <= number + pages[0].newlines:
                return first, self.tail()
        while pages and number + pages[0].newlines < line:
            number += pages.pop(0).newlines
        return number, _parts(pages)


def _parts(pages: Iterable[_Page]) -> Iterator[Part]:
    for page in pages:
        yield from page.parts
