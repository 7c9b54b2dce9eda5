"""Syntax colours for the lines of a diff, computed in chunks when a line is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from acp_tui.ui.theme.palette import Palette

CHUNK_LINES = 32
"""The number of lines that are coloured at a time."""
LEAD_LINES = 24
"""How many lines above a chunk are lexed, too, in case a string or comment in the chunk begins there."""
MAX_LINE_LENGTH = 2_000
"""Lines with more characters, such as minified code, are not coloured."""
MAX_CACHED_CHUNKS = 128
"""How many coloured chunks are cached. They are reused when a diff is redrawn after a hunk was accepted."""

_cache: dict[tuple[str, str, int], tuple[Palette, list[list[Segment]]]] = {}


def _highlight(code: str, path: str, palette: Palette) -> list[list[Segment]]:
    """Return the coloured lines of `code` (cached). `path` determines the language."""
    from acp_tui.ui.theme.syntax import highlight, language_of  # loads Pygments

    key = (code, path, id(palette))
    cached = _cache.get(key)
    if cached is None or cached[0] is not palette:
        if len(_cache) >= MAX_CACHED_CHUNKS:
            _cache.clear()
        cached = _cache[key] = (palette, highlight(code, language_of(path), palette))
    return cached[1]


class SyntaxColours:
    """The coloured lines of one side of a diff."""

    def __init__(self, lines: Callable[[], Mapping[int, str]], path: str, palette: Palette) -> None:
        self._lines = lines
        self._path = path
        self._palette = palette
        self._chunks: dict[int, dict[int, list[Segment]]] = {}

    def spans(self, number: int, text: str) -> list[Segment]:
        """Return line `number` with colours.

        Return `text` without colours if the line's text is not `text`, if `text` is too long, or if the
        palette has no syntax colours.
        """
        if not self._palette.syntax or len(text) > MAX_LINE_LENGTH:
            return [Segment(text)]
        chunk = (number - 1) // CHUNK_LINES
        if chunk not in self._chunks:
            self._chunks[chunk] = self._colour(chunk * CHUNK_LINES + 1)
        spans = self._chunks[chunk].get(number)
        # The line numbers in a patch may be wrong: make sure that the row's own text is shown.
        if spans is None or "".join(span.text for span in spans) != text:
            return [Segment(text)]
        return spans

    def _colour(self, first: int) -> dict[int, list[Segment]]:
        lines = self._lines()
        numbers = range(max(1, first - LEAD_LINES), first + CHUNK_LINES)
        texts = [lines.get(number, "") for number in numbers]
        code = "\n".join(text if len(text) <= MAX_LINE_LENGTH else "" for text in texts)
        coloured = _highlight(f"{code}\n", self._path, self._palette)
        return {number: spans for number, spans in zip(numbers, coloured, strict=True) if number >= first}
