"""Draws the agent's plan: a line with its progress, and its steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style

from acp_tui.entry_labels import CHECKBOXES
from acp_tui.ui.drawing.body import Body, DrawContext, LinesBody
from acp_tui.ui.drawing.text_layout import INDENT, hanging_lines, limit_lines, wrapped_lines
from acp_tui.ui.drawing.wrap import shorten

if TYPE_CHECKING:
    from textual.strip import Strip

    from acp_tui.session.state import Plan, PlanItem

_CHECKBOXES = {"pending": "☐", "in_progress": "◐", "completed": "☑"}
_PRIORITIES = {"high": "↑", "low": "↓"}


def body(entry: Plan, context: DrawContext) -> Body:
    """Draw a plan; only its first line if another plan has taken its place."""
    superseded = _is_superseded(entry, context)
    lines = _header(entry, context, superseded=superseded)
    if not (context.folded or superseded or entry.removed):
        lines += steps(entry, context)
    return LinesBody(lines, _source(entry))


def _is_superseded(entry: Plan, context: DrawContext) -> bool:
    """Return True if the current plan is a newer version of this plan, or belongs to a later turn."""
    newest = context.session.plan
    if newest is None or newest.id <= entry.id:
        return False
    return newest.plan_id == entry.plan_id or newest.turn > entry.turn


def _header(entry: Plan, context: DrawContext, *, superseded: bool) -> list[Strip]:
    palette = context.palette
    folded = context.folded or superseded or entry.removed
    spans = [Segment("plan", palette.strong if not folded else palette.dim)]
    if entry.items:
        done = sum(item.status == "completed" for item in entry.items)
        spans.append(Segment(f" {done}/{len(entry.items)}", palette.dim))
    if entry.removed:
        spans.append(Segment(" · withdrawn by the agent", palette.dim))
    elif superseded:
        newest = context.session.plan
        is_same = newest is not None and newest.plan_id == entry.plan_id
        spans.append(Segment(f" · {'continued' if is_same else 'replaced'} below", palette.dim))
    elif folded and (current := next((i for i in entry.items if i.status == "in_progress"), None)):
        room = context.width - INDENT - Segment.get_line_length(spans)
        spans.append(Segment(shorten(f" · {_one_line(current.content)}", room), palette.dim))
    return hanging_lines([Segment("▸ " if folded else "▾ ", palette.faint)], spans, context.width)


def steps(entry: Plan, context: DrawContext) -> list[Strip]:
    """Draw the steps of the plan, then its text and link, if any."""
    palette, width = context.palette, context.width
    lines: list[Strip] = []
    for item in entry.items:
        lines += _step(item, context)
    if entry.markdown:
        lines += wrapped_lines(entry.markdown, palette.text, width)
    if entry.uri:
        link = palette.link + Style(link=entry.uri) + Style.from_meta({"link": entry.uri})
        lines += hanging_lines([Segment("  ")], [Segment(entry.uri, link)], width)
    return limit_lines(lines, context)


def _step(item: PlanItem, context: DrawContext) -> list[Strip]:
    palette = context.palette
    box = _CHECKBOXES.get(item.status, "☐")
    style = {"in_progress": palette.strong, "completed": palette.dim}.get(item.status, palette.text)
    first = [Segment(f"  {box} ", palette.signs.get(item.status, palette.dim))]
    spans = [Segment(_one_line(item.content), style)]
    if item.status not in _CHECKBOXES:
        spans.append(Segment(f" ({item.status})", palette.dim))
    if item.priority in _PRIORITIES and item.status != "completed":
        colour = palette.warning if item.priority == "high" else palette.faint
        spans.append(Segment(f" {_PRIORITIES[item.priority]}", colour))
    return hanging_lines(first, spans, context.width, indent=4)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _source(entry: Plan) -> str:
    lines = [f"{CHECKBOXES.get(item.status, '[ ]')} {item.content}" for item in entry.items]
    return "\n".join([*lines, *filter(None, (entry.markdown, entry.uri))])
