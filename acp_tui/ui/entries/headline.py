"""Draws the first line of an entry: a fold marker, an icon, a title, details and a status."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from acp_tui.entry_labels import STATUS_ICONS
from acp_tui.text_format import MIN_SECONDS, format_duration
from acp_tui.ui.drawing.wrap import shorten, shorten_path
from acp_tui.ui.theme.palette import current_palette

if TYPE_CHECKING:
    from acp_tui.ui.drawing.body import DrawContext


FOLDED, OPEN = "▸", "▾"
MIN_TITLE_WIDTH = 10
MAX_STATUS_WIDTH = 12
"""The maximum width, in cells, of a status that is shown by its name because it has no icon."""
NOT_BOLD = Style(bold=False)
"""Removes bold when added to a style. The number of removed lines is drawn like an error, but not bold."""

StyledText = tuple[str, "Style"]


def headline(
    icon: str,
    title: Sequence[StyledText],
    facts: Sequence[StyledText],
    context: DrawContext,
    *,
    foldable: bool,
    status: str,
) -> Strip:
    """Draw the first line of an entry, with the details in `facts` and the status at the right edge.

    The title is shortened to fit. If it would become too short, details are dropped, starting with the first.
    """
    palette = context.palette
    fold = (FOLDED if context.folded else OPEN) if foldable and not context.full else " "
    signs = [Segment(f"{fold} ", palette.dim), Segment(f"{icon} ", palette.icon)]
    end = _end(status, context)
    room = context.width - Segment.get_line_length(signs) - Segment.get_line_length(end)
    kept = [fact for fact in facts if fact[0]]
    while kept and room - _width(kept) < MIN_TITLE_WIDTH:
        kept.pop(0)
    right = [segment for text, style in kept for segment in (Segment("  "), Segment(text, style))]
    room = max(1, room - _width(kept))
    middle = _fit(title, room)
    gap = Segment(" " * (room - Segment.get_line_length(middle)))
    return Strip([*signs, *middle, gap, *right, *end]).crop(0, context.width)


def _end(status: str, context: DrawContext) -> list[Segment]:
    """Return the icon of a status between blank cells. A status without an icon is shown by its name."""
    palette = context.palette
    sign = STATUS_ICONS.get(status) or shorten(status, MAX_STATUS_WIDTH)
    return [Segment("  "), Segment(sign, palette.signs.get(status, palette.dim)), Segment(" ")]


def _width(facts: Sequence[StyledText]) -> int:
    return sum(cell_len(text) + 2 for text, _ in facts)


def _fit(title: Sequence[StyledText], room: int) -> list[Segment]:
    segments: list[Segment] = []
    for text, style in title:
        if not text or room <= 0:
            continue
        text = shorten_title(text, room)
        room -= cell_len(text)
        segments.append(Segment(text, style))
    return segments


def shorten_title(title: str, room: int) -> str:
    """Shorten a title to `room` cells.

    If the title ends with a path, and there is enough room for a part of it, the start of the path is cut,
    otherwise the end of the title.
    """
    if cell_len(title) <= room:
        return title
    words, _, path = title.rpartition(" ")
    left = room - cell_len(words) - 1 if words else room
    if "/" in path and left >= MIN_TITLE_WIDTH:
        return f"{words} {shorten_path(path, left)}" if words else shorten_path(path, left)
    return shorten(title, room)


def line_counts(added: int, removed: int) -> list[StyledText]:
    """Return the counts of added and removed lines as "+N" and "−N", leaving out zeros."""
    palette = current_palette()
    counts = (("+", added, palette.success), ("−", removed, palette.error + NOT_BOLD))
    return [(f"{sign}{count:,}", look) for sign, count, look in counts if count]


def elapsed(at: float, ended_at: float | None, now: Callable[[], float] | None) -> str:
    """Return the time from `at` to `ended_at` (None: until now) as text; empty if it is very short.

    Also empty if both `ended_at` and `now` are None.
    """
    if ended_at is not None:
        return format_duration(ended_at - at) if ended_at - at > MIN_SECONDS else ""
    seconds = int(now() - at) if now is not None else 0
    return format_duration(seconds) if seconds >= 1 else ""
