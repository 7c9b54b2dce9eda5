"""Compares the review with the disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from textual.screen import Screen

    from acp_tui.controller.changes.review import ConversationReview


class Refresher:
    """Runs one comparison at a time. Requests during a comparison cause one more."""

    def __init__(
        self,
        screen: Screen[None],
        review: ConversationReview,
        loaded: Callable[[], None],
        failed: Callable[[UserError], None],
    ) -> None:
        """`loaded` is called whenever files were listed or loaded."""
        self._screen = screen
        self._review = review
        self._loaded = loaded
        self._failed = failed
        self._running = False
        self._requested = False
        self.compared = False
        """True once a comparison has ended."""

    def request(self, first: Path | None = None) -> None:
        """Compare soon; `first` is the file to load before the others."""
        self._requested = True
        if not self._running and self._screen.is_attached:
            self._running = True
            self._screen.run_worker(self._run(first), group="refresh")

    async def _run(self, first: Path | None) -> None:
        try:
            while self._requested:
                self._requested = False
                await self._review.refresh(self._loaded, first)
        except UserError as error:
            self._failed(error)
        finally:
            self._running = False
            self.compared = True
            self._loaded()
