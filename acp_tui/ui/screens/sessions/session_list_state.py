"""What the sessions screen shows: all sessions, narrowed by folder and by what the user typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.ui.screens.sessions.session_rows import FoundLine
from acp_tui.ui.widgets.word_match import word_rank

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from acp_tui.session_index.search import SessionHit
    from acp_tui.session_list.saved_session import SavedSession

    Item = SavedSession | FoundLine

MAX_ROWS = 200
"""The maximum number of sessions listed at once. Drawing more would slow down every key press."""


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
