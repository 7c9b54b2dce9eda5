"""The pages in which the permission dialog shows the facts of a request that does not fit on the screen."""

from __future__ import annotations


class FactPages:
    """Which page of the facts is shown, and whether all pages have been on the screen.

    The options are below the last page, so it has fewer rows than the others.
    """

    def __init__(self) -> None:
        self._rows = 0
        self._page_rows = 1
        self._last_page_rows = 1
        self._number = 0  # of the page that is shown
        self._was_last = False

    def restart(self) -> None:
        """Begin with the first page: there are new facts."""
        self._number, self._was_last = 0, False

    def fit(self, rows: int, *, page: int, last_page: int) -> None:
        """Divide the facts, which have so many rows, into pages of these heights.

        If the pages change before all of them have been shown, the first page is next.
        """
        sizes = (rows, max(1, page), max(1, last_page))
        if sizes != (self._rows, self._page_rows, self._last_page_rows) and not self._was_last:
            self._number = 0
        self._rows, self._page_rows, self._last_page_rows = sizes
        self._was_last = self.all_seen

    @property
    def all_seen(self) -> bool:
        """Whether the last page has been shown."""
        return self._was_last or self.left == 0

    @property
    def left(self) -> int:
        """The number of pages after the page that is shown."""
        rest = self._rows - self._last_page_rows
        return max(0, -(-rest // self._page_rows) - self._number)

    @property
    def top(self) -> int:
        """The first row of the page that is shown."""
        if self.all_seen:
            return max(0, self._rows - self._last_page_rows) if self._number else 0
        return self._number * self._page_rows

    def advance(self) -> None:
        """Show the next page."""
        self._number += 1
        self._was_last = self.all_seen

    def go_back(self) -> None:
        """Show the page before."""
        self._number = max(0, self._number - 1)
