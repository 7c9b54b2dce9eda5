"""Draws the rows of the overview: two lines for each conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.session.text.safe_text import visible_line
from acp_tui.session.usage_text import context_share, format_money, short_count
from acp_tui.ui.drawing.wrap import shorten
from acp_tui.ui.tabs.tab_strip_layout import SIGNS
from acp_tui.ui.widgets.select_list import Row
from acp_tui.ui.widgets.status.status_texts import format_clock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acp_tui.ui.drawing.body import Spans
    from acp_tui.ui.screens.overview.conversation_facts import ConversationFacts
    from acp_tui.ui.tabs.tab import Mark, Tab
    from acp_tui.ui.theme.palette import Palette

MAX_ACTIVITY = 40
STYLES: dict[Mark, str] = {
    "": "dim",
    "starting": "warning",
    "working": "success",
    "asking": "warning",
    "done": "accent",
    "dead": "error",
}
"""The names of the `Palette` fields with which the marks are drawn."""
_WORDS: dict[Mark, str] = {
    "": "idle",
    "starting": "starting",
    "working": "working",
    "asking": "asks you",
    "done": "done",
    "dead": "ended",
}


def overview_row(tab: Tab, number: int, facts: ConversationFacts | None, now: float, palette: Palette) -> Row:
    """Return the row of a tab. `facts` is None for a screen without a conversation."""
    mark = tab.mark
    style = getattr(palette, STYLES[mark])
    lead = [Segment(f"{number:>2} ", palette.dim), Segment(f"{SIGNS.get(mark, '○')} ", style)]
    unread = [Segment(f"  +{tab.unread}", palette.dim)] if tab.unread else []
    tail = [Segment(_since(mark, facts, now), style)]
    return Row(
        lead, [Segment(tab.state.label, palette.strong), *unread], _note(tab, facts, palette), tail, cut=True
    )


def _since(mark: Mark, facts: ConversationFacts | None, now: float) -> str:
    since = facts.status.since if facts is not None else None
    return _WORDS[mark] if since is None else f"{_WORDS[mark]} {format_clock(now - since)}"


def _note(tab: Tab, facts: ConversationFacts | None, palette: Palette) -> Spans:
    """Return what the agent is doing, then less important facts, which are the first to be cut off."""
    activity = tab.state.question or (facts.activity if facts is not None else "")
    words = shorten(visible_line(" ".join(activity.split())), MAX_ACTIVITY)
    text = " · ".join(_parts(tab, facts))
    spans = [Segment(f"{words} · " if text else words, palette.text)] if words else []
    return [*spans, Segment(text, palette.dim)]


def _parts(tab: Tab, facts: ConversationFacts | None) -> Iterator[str]:
    if facts is None:
        if tab.state.session:
            yield tab.state.agent
            yield "starts when you open it"
        return
    status = facts.status
    yield from filter(None, (status.agent, status.project, status.branch))
    if facts.changed_files:
        yield f"{facts.changed_files} file{'' if facts.changed_files == 1 else 's'} changed"
    if status.used is not None:
        share = context_share(status.used, status.size)
        yield f"ctx {short_count(status.used)}" if share is None else f"ctx {share:.0%}"
    if status.cost is not None:
        yield format_money(status.cost, status.currency)
