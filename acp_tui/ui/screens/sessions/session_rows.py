"""The rows of the sessions screen: sessions in columns, and matching lines from conversations."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment

from acp_tui.console.moments import format_moment
from acp_tui.entry_labels import display_path
from acp_tui.ui.widgets.select_list import MARKER_WIDTH, RIGHT_MARGIN, Row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acp_tui.session_index.query import Hit
    from acp_tui.session_index.search import SessionHit
    from acp_tui.session_list.saved_session import SavedSession
    from acp_tui.ui.drawing.body import Spans
    from acp_tui.ui.theme.palette import Palette

WIDE_COLUMNS = 100
"""The width of the terminal at which the columns "agent" and "folder" become wider."""
OPEN_SIGN = "●"
AGENT_ONLY_SIGN = "○"
WORKTREE_SIGN = "◇"
_FOUND_TITLE_WIDTH = 20
_AGE_WIDTH = 10
_LIST_MARGINS = 2  # cells beside the list


class FoundLine(NamedTuple):
    """A line that matches the search, and the session that contains the line."""

    session: SavedSession
    found: SessionHit


class SessionRows:
    """Draws the rows of the sessions screen, for a width and a palette."""

    def __init__(self, palette: Palette, width: int, *, with_folder: bool) -> None:
        """`with_folder` adds the column "folder", for a list with sessions of several folders."""
        self._palette = palette
        self._width = width
        self._with_folder = with_folder
        self._agent_width = 16 if width >= WIDE_COLUMNS else 12
        self._folder_width = 30 if width >= WIDE_COLUMNS else 14
        self._now = datetime.now(UTC)

    def heading(self) -> tuple[Spans, Spans]:
        """Return the names of the columns, for the left and the right end of the line."""
        text = self._columns("agent", "folder", "used", "turns", "files") + " " * RIGHT_MARGIN
        left = " " * (MARKER_WIDTH + 2) + "title"
        return [Segment(left, self._palette.faint)], [Segment(text, self._palette.faint)]

    def session(self, session: SavedSession, above: Sequence[Spans]) -> Row:
        """Return the row of a session."""
        palette = self._palette
        sign = OPEN_SIGN if session.in_use else AGENT_ONLY_SIGN if session.only_at_agent else " "
        sign = WORKTREE_SIGN if session.only_worktree else sign
        columns = self._columns(
            session.agent_title,
            self._folder(session.folder),
            self._age(session),
            "" if session.turns is None else f"{session.turns:,}",
            "" if session.changed_files is None else f"{session.changed_files:,}",
        )
        return Row(
            [Segment(f"{sign} ", palette.success if session.in_use else palette.dim)],
            [Segment(session.title or "(no title)", palette.text if session.title else palette.dim)],
            tail=[Segment(columns, palette.dim)],
            above=above,
            cut=True,
        )

    def found_line(self, one: FoundLine, above: Sequence[Spans]) -> Row:
        """Return the row of a matching line."""
        title = _fit(one.session.title, _FOUND_TITLE_WIDTH)
        tail = f" {title} {self._age(one.session):>{_AGE_WIDTH}}"
        lead = "  "
        around = _LIST_MARGINS + MARKER_WIDTH + RIGHT_MARGIN + len(lead) + 1  # a space precedes the tail
        width = self._width - around - cell_len(tail)
        return Row(
            [Segment(lead)],
            marked_spans(one.found.hit, self._palette, width),
            tail=[Segment(tail, self._palette.dim)],
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


def marked_spans(hit: Hit, palette: Palette, width: int) -> Spans:
    """Return a line with its matches highlighted. Its beginning is cut if the first match would not fit.

    `width` is the number of cells in which the line will be shown.
    """
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
    """Return a text shortened or padded to a width."""
    return set_cell_size(text, width - 1) + "…" if cell_len(text) > width else set_cell_size(text, width)
