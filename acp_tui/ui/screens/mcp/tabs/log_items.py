"""The items of the "log" tab: the log of a server."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from rich.segment import Segment

from acp_tui.entry_labels import format_time
from acp_tui.session.text.safe_text import visible_excerpt, visible_line
from acp_tui.ui.drawing.wrap import make_strip, wrap
from acp_tui.ui.panes.item_builders import RIGHT_MARGIN
from acp_tui.ui.panes.pane_list import PaneItem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.style import Style
    from textual.strip import Strip

    from acp_tui.ui.theme.palette import Palette

MAX_RECORDS = 200
"""The maximum number of records shown, counted from the newest."""
MAX_CHARACTERS = 1000
MAX_ARGUMENTS = 200
_KIND_TEXTS = {"ended": "connection ended", "connected": "connected", "changed": "its lists changed"}


def log_items(records: Sequence[Mapping[str, Any]], palette: Palette) -> list[PaneItem]:
    """Return the items for the newest `MAX_RECORDS` records, the newest first."""
    return [_item(record, palette) for record in reversed(records[-MAX_RECORDS:])]


def _item(record: Mapping[str, Any], palette: Palette) -> PaneItem:
    at, kind = record.get("at"), visible_line(str(record.get("kind", "")))
    when = format_time(at, time.time()) if isinstance(at, int | float) else ""
    style = _style(record, palette)

    def draw(width: int) -> list[Strip]:
        lead = [Segment(f"{when:<6}", palette.dim), Segment(f"{kind:<10}", palette.dim)]
        lines = wrap([Segment(_text(record), style)], max(8, width - 16 - RIGHT_MARGIN))
        follow = [Segment(" " * 16)]
        return [make_strip(line, follow if number else lead) for number, line in enumerate(lines)]

    return PaneItem(draw, height=None)


def _text(record: Mapping[str, Any]) -> str:
    """Return the text to show for a record: the record's own text, or a text made from the other values."""
    text = record.get("line", record.get("sentence"))
    if isinstance(text, str):
        return visible_line(text)[:MAX_CHARACTERS]
    if record.get("kind") == "call":
        arguments = visible_excerpt(record.get("arguments") or {}, MAX_ARGUMENTS)
        outcome = record.get("failure") or visible_excerpt(record.get("result"), MAX_CHARACTERS)
        return visible_line(f"{record.get('tool')} {arguments} → {outcome}")
    values = {key: value for key, value in record.items() if key not in ("at", "kind", "source")}
    if not values:
        return _KIND_TEXTS.get(str(record.get("kind")), "")
    return visible_excerpt(values, MAX_CHARACTERS)


def _style(record: Mapping[str, Any], palette: Palette) -> Style:
    if record.get("kind") == "failed" or record.get("level") in ("error", "critical", "alert", "emergency"):
        return palette.error
    return palette.warning if record.get("kind") == "stdout" else palette.text
