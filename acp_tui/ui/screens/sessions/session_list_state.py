"""What the sessions screen shows: all sessions, narrowed by folder and by what the user typed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment

from acp_tui.console import format_moment
from acp_tui.errors import UserError
from acp_tui.session_list.search_index import IndexDamagedError
from acp_tui.text_format import display_path
from acp_tui.ui.theme.palette import Spans, current_palette
from acp_tui.ui.widgets.select_list import MARKER_WIDTH, RIGHT_MARGIN, SelectRow, word_rank

if TYPE_CHECKING:
    from acp_tui.session_list.saved_sessions import SavedSession
    from acp_tui.session_list.search import Hit, SessionHit, SessionSearch


WIDE_COLUMNS = 100
"""The width of the terminal at which the columns "agent" and "folder" become wider."""
OPEN_SIGN = "●"
AGENT_ONLY_SIGN = "○"
WORKTREE_SIGN = "◇"
_FOUND_TITLE_WIDTH = 20
_AGE_WIDTH = 10
_LIST_MARGINS = 2  # cells beside the list
MAX_ROWS = 200
"""The maximum number of sessions listed at once. Drawing more would slow down every key press."""


class FoundLine(NamedTuple):
    """A line that matches the search, and the session that contains the line."""

    session: SavedSession
    found: SessionHit


if TYPE_CHECKING:
    Item = SavedSession | FoundLine


class SessionListState:
    """The sessions, the filter, and the matching lines that the full-text search found."""

    def __init__(self, folder: str) -> None:
        """`folder` is the current folder, without symbolic links."""
        self._folder = folder
        self._all: list[SavedSession] = []
        self._listed: list[SavedSession] = []  # `_all`, without sessions of other folders if `this_folder`
        self._hits: list[SessionHit] = []
        self.this_folder = True
        """Whether sessions of other folders are left out."""
        self.folder_chosen = False
        """Whether `this_folder` was chosen, by the user or because all sessions are known."""
        self.query = ""
        """The text that the user typed to filter the sessions."""
        self.sessions: list[SavedSession] = []
        """The sessions to list, best match first."""
        self.lines: list[FoundLine] = []
        """The matching lines to list below the sessions."""
        self.count = 0
        """The number of sessions before the query filters them."""

    def load(self, sessions: Sequence[SavedSession], *, complete: bool) -> None:
        """Replace the sessions.

        The first time that they are `complete`, list those of all folders if the current folder has none and
        the user has not chosen yet.
        """
        self._all = list(sessions)
        if complete and not self.folder_chosen:
            self.folder_chosen = True
            self.this_folder = any(session.is_in(self._folder) for session in self._all)
        self._choose_folder()

    def toggle_folder(self) -> None:
        """List the sessions of all folders, or only the sessions of the current folder."""
        self.this_folder = not self.this_folder
        self.folder_chosen = True
        self._hits = []
        self._choose_folder()

    def filter(self, query: str) -> None:
        """Narrow the list to what the user typed.

        The matching lines stay until `show_hits` replaces them. An empty query removes them at once.
        """
        self.query = query
        if not query:
            self._hits = []
        self._narrow()

    def show_hits(self, hits: Sequence[SessionHit]) -> None:
        """Replace the listed matching lines."""
        self._hits = list(hits) if self.query else []
        self._find_sessions_of_hits()

    @property
    def searched(self) -> Collection[str] | None:
        """The ids of the sessions to search in; None for all."""
        return {session.id for session in self._listed} if self.this_folder else None

    @property
    def items(self) -> list[Item]:
        """Everything that is listed, in order."""
        return [*self.sessions, *self.lines]

    def _choose_folder(self) -> None:
        # `is_in` resolves symbolic links, which would be too slow at every key press.
        self._listed = [one for one in self._all if not self.this_folder or one.is_in(self._folder)]
        self._narrow()

    def _narrow(self) -> None:
        listed = self._listed
        self.count = len(listed)
        self._find_sessions_of_hits()
        if self.query:
            ranked = ((word_rank(self.query, one.title, one.agent_title, one.folder), one) for one in listed)
            matching = [(rank, one) for rank, one in ranked if rank is not None]
            listed = [one for _, one in sorted(matching, key=lambda pair: pair[0])]
        self.sessions = listed[:MAX_ROWS]

    def _find_sessions_of_hits(self) -> None:
        by_id = {session.id: session for session in self._listed if session.id}
        self.lines = [FoundLine(by_id[hit.folder], hit) for hit in self._hits if hit.folder in by_id]


class SessionRows:
    """Draws the rows of the sessions screen, for a width."""

    def __init__(self, width: int, *, with_folder: bool) -> None:
        """`with_folder` adds the column "folder", for a list with sessions of several folders."""
        self._width = width
        self._with_folder = with_folder
        self._agent_width = 16 if width >= WIDE_COLUMNS else 12
        self._folder_width = 30 if width >= WIDE_COLUMNS else 14
        self._now = datetime.now(UTC)

    def heading(self) -> tuple[Spans, Spans]:
        """Return the names of the columns, for the left and the right end of the line."""
        palette = current_palette()
        text = self._columns("agent", "folder", "used", "turns", "files") + " " * RIGHT_MARGIN
        left = " " * (MARKER_WIDTH + 2) + "title"
        return [Segment(left, palette.faint)], [Segment(text, palette.faint)]

    def session(self, session: SavedSession, above: Sequence[Spans]) -> SelectRow:
        """Return the row of a session."""
        palette = current_palette()
        sign = OPEN_SIGN if session.in_use else AGENT_ONLY_SIGN if session.only_at_agent else " "
        sign = WORKTREE_SIGN if session.only_worktree else sign
        columns = self._columns(
            session.agent_title,
            self._folder(session.folder),
            self._age(session),
            "" if session.turns is None else f"{session.turns:,}",
            "" if session.changed_files is None else f"{session.changed_files:,}",
        )
        return SelectRow(
            [Segment(f"{sign} ", palette.success if session.in_use else palette.dim)],
            [Segment(session.title or "(no title)", palette.text if session.title else palette.dim)],
            tail=[Segment(columns, palette.dim)],
            above=above,
            cut=True,
        )

    def found_line(self, one: FoundLine, above: Sequence[Spans]) -> SelectRow:
        """Return the row of a matching line."""
        title = _fit(one.session.title, _FOUND_TITLE_WIDTH)
        tail = f" {title} {self._age(one.session):>{_AGE_WIDTH}}"
        lead = "  "
        around = _LIST_MARGINS + MARKER_WIDTH + RIGHT_MARGIN + len(lead) + 1  # a space precedes the tail
        width = self._width - around - cell_len(tail)
        return SelectRow(
            [Segment(lead)],
            marked_spans(one.found.hit, width),
            tail=[Segment(tail, current_palette().dim)],
            above=above,
            cut=True,
        )

    def _columns(self, agent: str, folder: str, age: str, turns: str, files: str) -> str:
        cells = [_fit(agent, self._agent_width)]
        if self._with_folder:
            cells.append(_fit(folder, self._folder_width))
        return " ".join([*cells, f"{age:>{_AGE_WIDTH}}", f"{turns:>5}", f"{files:>5}"])

    def _folder(self, folder: str) -> str:
        path = display_path(folder)
        return path if cell_len(path) <= self._folder_width else Path(folder).name

    def _age(self, session: SavedSession) -> str:
        return format_moment(session.updated, self._now)


def marked_spans(hit: Hit, width: int) -> Spans:
    """Return a line with its matches highlighted. Its beginning is cut if the first match would not fit.

    `width` is the number of cells in which the line will be shown.
    """
    palette = current_palette()
    spans: Spans = []
    at = 0
    if hit.spans and cell_len(hit.line[: hit.spans[0][1]]) >= width:  # the last cell may become an ellipsis
        first = hit.spans[0][0]
        at = next(at for at in range(first + 1) if cell_len(hit.line[at:first]) <= max(0, width // 4))
        spans += [Segment("…", palette.dim)] if at else []
    for start, end in hit.spans:
        spans += [Segment(hit.line[at:start], palette.text), Segment(hit.line[start:end], palette.match)]
        at = end
    return [*spans, Segment(hit.line[at:], palette.text)]


def _fit(text: str, width: int) -> str:
    """Return text shortened or padded to a width."""
    return set_cell_size(text, width - 1) + "…" if cell_len(text) > width else set_cell_size(text, width)


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
        self._wanted: tuple[str, Collection[str] | None] | None = None
        self._running: asyncio.Task[None] | None = None
        self._closed = False

    def search(self, text: str, only: Collection[str] | None) -> None:
        """Search for text in the sessions with the ids `only`; None for all sessions."""
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

    async def _find(self, request: tuple[str, Collection[str] | None]) -> None:
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
