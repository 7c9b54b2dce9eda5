"""The scrollable height of the transcript, and its scrollbar."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar

if TYPE_CHECKING:
    from textual.geometry import Size


class ScrollExtent:
    """Updates the scrollable height of a view.

    Assigning Textual's `virtual_size` instead would lay out the whole screen again in every frame. Painting
    the scrollbar takes longer than painting a page of text, so the scrollbar is painted only if its thumb has
    changed.
    """

    def __init__(self, view: ScrollView) -> None:
        self._view = view
        self._thumb = (0, 0)  # as it was last painted

    def update(self, size: Size, y: int) -> None:
        """Set the size of the content and the row at the top of the viewport."""
        view, scrollbar = self._view, self._view.vertical_scrollbar
        page = view.size.height
        view.set_reactive(ScrollView.virtual_size, size)
        scrollbar.set_reactive(ScrollBar.window_virtual_size, size.height)
        scrollbar.set_reactive(ScrollBar.window_size, page)
        scrollbar.set_reactive(ScrollBar.position, y)
        thumb = thumb_span(size.height, page, y)
        if thumb != self._thumb:
            self._thumb = thumb
            scrollbar.refresh()


def thumb_span(total: int, page: int, y: int) -> tuple[int, int]:
    """Return the start and end of the scrollbar's thumb in eighths of a cell; 0, 0 if everything fits."""
    if page >= total:
        return 0, 0
    length = max(1.0, page * page / total)
    first = int((page - length) * y / (total - page) * 8)
    return first, first + math.ceil(length * 8)
