"""Searches the sessions in a background thread while the user types. New input interrupts the search."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from acp_tui.errors import UserError
from acp_tui.session_index.database import IndexDamagedError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from acp_tui.session_index.search import SessionHit, SessionSearch

    Request = tuple[str, Collection[str] | None]


class LiveSearch:
    """Runs one search at a time. A new text interrupts the search for the previous text."""

    def __init__(
        self,
        search: SessionSearch,
        on_found: Callable[[list[SessionHit]], None],
        on_failed: Callable[[str], None],
        on_damaged: Callable[[], None],
    ) -> None:
        """Create the search.

        Args:
            search: Reads the index.
            on_found: Called with the matches for the newest text.
            on_failed: Called with a sentence that says why the conversations cannot be searched.
            on_damaged: Called if the index has to be rebuilt.
        """
        self._search = search
        self._on_found = on_found
        self._on_failed = on_failed
        self._on_damaged = on_damaged
        self._wanted: Request | None = None
        self._running: asyncio.Task[None] | None = None
        self._closed = False

    def search(self, text: str, only: Collection[str] | None) -> None:
        """Search for a text in the sessions with the ids `only`; None for all sessions."""
        self._wanted = text, only
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        else:
            self._search.interrupt()

    async def close(self) -> None:
        """End a running search and close the index."""
        self._wanted, self._closed = None, True
        if self._running is not None:
            self._search.interrupt()
            await self._running
        self._search.close()

    async def _run(self) -> None:
        try:
            while (request := self._wanted) is not None:
                self._wanted = None
                await self._find(request)
        finally:
            self._running = None

    async def _find(self, request: Request) -> None:
        try:
            hits = await asyncio.to_thread(self._search.search, *request)
        except InterruptedError:
            return
        except IndexDamagedError:
            if not self._closed:
                self._on_damaged()
        except UserError as error:
            if not self._closed:
                self._on_failed(str(error))
        else:
            if self._wanted is None and not self._closed:
                self._on_found(hits)
