"""The menu of files, while a mention such as `@src/app` is being written."""

from __future__ import annotations

import asyncio
from time import perf_counter
from typing import TYPE_CHECKING

from acp_tui.session.attachment import format_mention, partial_mention
from acp_tui.session.invisible import reveal_line
from acp_tui.ui.prompt.attachments import IMAGE_SUFFIXES, Attachments
from acp_tui.ui.prompt.completion_list import CompletionItem
from acp_tui.ui.prompt.file_search import FileSearch, locate_match
from acp_tui.ui.prompt.menu import Completion, Menu

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.session.attachment import PartialMention
    from acp_tui.ui.prompt.file_search import FileIndex

SLICE_SECONDS = 0.004
"""Seconds of searching, then it is the keyboard's turn."""
FIRST_RESULTS_SECONDS = 0.05
"""Seconds after which what has been found is shown, though there may be better."""
RETRY_SECONDS = 0.05
"""… until a look at what was listed meanwhile."""


class FileMenu(Menu):
    """Searches beside everything else: what is typed appears at once, however many files there are."""

    TITLE = "files"

    def __init__(self, attachments: Attachments) -> None:
        super().__init__()
        self.display = False  # also before it is mounted, which it is when it is first needed
        self.look: Callable[[], FileIndex] | None = None
        """Gives what is known of the files; None: nothing is, and the menu stays closed."""
        self.images_refused = ""
        """Why images cannot be attached."""
        self._attachments = attachments
        self._begun: PartialMention | None = None
        self._row = 0
        self._search: FileSearch | None = None
        self._dismissed = False

    @property
    def is_open(self) -> bool:
        """Is it shown, or about to be?"""
        return self.display or (
            self._begun is not None and self._search is not None and not self._search.done
        )

    def follow(self, row: int, before: str, *, typed: bool) -> None:
        """The line up to the cursor has changed, or (not `typed`) only the cursor has moved."""
        begun = partial_mention(before) if self.look is not None and self.is_mounted else None
        if begun is None:
            self.leave()
            self._dismissed = False
            return
        if self._begun is None and not typed:
            return  # passing by
        if self._begun is not None and (row, begun.start) != (self._row, self._begun.start):
            self._dismissed = False
        same = self._begun is not None and self._begun.name == begun.name and self._row == row
        self._begun, self._row = begun, row
        if not self._dismissed and not same:
            self._start(begun.name)

    def _start(self, name: str) -> None:
        assert self.look is not None
        self._search = FileSearch(self.look(), name, self._search)
        # No coroutine yet: another key may come before it is begun. (Textual's types forget that form.)
        self.run_worker(self._work, exclusive=True, group="files")  # type: ignore[arg-type]

    async def _work(self) -> None:
        """Search, and again while the list of the files grows."""
        while (search := self._search) is not None:
            start = began = perf_counter()
            shown = False
            while search.step():
                if perf_counter() - began > SLICE_SECONDS:
                    await asyncio.sleep(0)
                    began = perf_counter()
                if not shown and search.hits and began - start > FIRST_RESULTS_SECONDS:
                    self._show(search)
                    shown = True
            self._show(search)
            if search.files.complete and search.size == len(search.files.paths):
                return
            await asyncio.sleep(RETRY_SECONDS)
            self._search = FileSearch(search.files, search.wanted)

    def _show(self, search: FileSearch) -> None:
        paths = search.files.paths
        if search.hits:
            self.show([self._choice(paths[place], search.wanted) for place in search.hits])
        else:
            self.close()
            self.screen.refresh_bindings()  # nor is it about to be open

    def _choice(self, path: str, wanted: str) -> CompletionItem:
        off = self.images_refused if self._is_refused(path) else ""
        shown = reveal_line(path)
        matched = locate_match(path, wanted).places if shown == path else frozenset[int]()
        return CompletionItem(shown, description=off, matched=matched, off=bool(off), is_path=True)

    def _is_refused(self, path: str) -> bool:
        return bool(self.images_refused) and path.lower().endswith(IMAGE_SUFFIXES)

    @property
    def _selected(self) -> str | None:
        """The path at the mark, when the search has come so far."""
        search = self._search
        if self._begun is None or search is None:
            return None
        if not search.done:  # the key was quicker
            search.finish()
            self._show(search)
        return search.files.paths[search.hits[self.choices.current]] if search.hits else None

    @property
    def is_complete(self) -> bool:
        """Is nothing left to be completed?"""
        selected, begun = self._selected, self._begun
        if selected is None or begun is None:
            return True
        if self.choices.current == 0 and begun.name and self._attachments.exists(begun.name):
            return True  # others may stand above it, because they were changed
        return selected.removesuffix("/") == begun.name.removesuffix("/")

    def completion(self, *, taking: bool) -> Completion | None:
        """The mention, and a space behind it; a folder that is not taken goes on."""
        path, begun = self._selected, self._begun
        if path is None or begun is None:
            return None
        if self._is_refused(path):
            self.notify(self.images_refused, severity="warning", markup=False)
            return None
        start = (self._row, begun.start)
        if path.endswith("/") and not taking:
            return Completion(start, format_mention(path, begun.lines).removesuffix('"'))
        return Completion(start, f"{self._attachments.pick(path, begun.lines)} ")

    def dismiss(self) -> None:
        """The user does not want it for this mention."""
        self._dismissed = True
        self._stop()

    def leave(self) -> None:
        """No mention is being written."""
        if self._begun is not None:
            self._begun = None
            self._stop()

    def _stop(self) -> None:
        self._search = None
        self.workers.cancel_group(self, "files")
        self.close()
        self.screen.refresh_bindings()
