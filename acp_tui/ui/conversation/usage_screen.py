"""The screen that shows what a session used: context window, tokens, cost and limits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from acp_tui.session.safe_text import escape_line
from acp_tui.session.usage_text import (
    compact_command,
    context_share,
    format_money,
    models_of,
    quota_words,
    short_count,
    tokens_words,
    total_tokens,
)
from acp_tui.ui.dialogs.detail import DetailScreen
from acp_tui.ui.drawing.body import Body, DrawContext, LinesBody
from acp_tui.ui.drawing.text_layout import hanging_lines
from acp_tui.ui.drawing.wrap import shorten
from acp_tui.ui.widgets.body_scroller import BodyScroller

if TYPE_CHECKING:
    from acp_tui.session.state import Session, TurnUsage, UserMessage
    from acp_tui.ui.theme.palette import Spans


LABEL_WIDTH = 10
MAX_BAR_WIDTH = 40
MIN_PROMPT_WIDTH = 12
MAX_PROMPT_CHARACTERS = 300
"""The maximum number of characters read from a prompt. The table shows as many of them as fit."""
NO_USAGE = "The agent has not reported any usage."
REFRESH_SECONDS = 1.0


class UsageScreen(DetailScreen):
    """Shows the usage of a session, updated every second."""

    def __init__(self, session: Session, *, warning: float, now: Callable[[], float]) -> None:
        """`warning` is the used share of the context window, from 0 to 1, at which the screen warns."""
        super().__init__("Usage", self._usage, session=session)
        self._warning = warning
        self._now = now

    def on_mount(self) -> None:
        """Update the numbers every second, because an agent can report new numbers at any time."""
        self.set_interval(REFRESH_SECONDS, self._refresh)

    def _usage(self, context: DrawContext) -> Sequence[Body]:
        return [usage_body(context, warning=self._warning, now=self._now())]

    def _refresh(self) -> None:
        self.query_one(BodyScroller).update()


def usage_body(context: DrawContext, *, warning: float, now: float) -> LinesBody:
    """Draw the usage of a session.

    `warning` is the used share of the context window, from 0 to 1, at which to warn.
    """
    lines = [*_facts(context, warning, now), *_table(context)]
    if not lines:
        lines = hanging_lines([], [Segment(NO_USAGE, context.palette.dim)], context.width, 0)
    return LinesBody(lines, "\n".join(strip.text.rstrip() for strip in lines))


# --------------------------------------------------------------------------- context, totals, limits


def _facts(context: DrawContext, warning: float, now: float) -> Iterator[Strip]:
    session, palette = context.session, context.palette
    if session.usage.used is not None:
        yield from _context(context, warning)
    if tokens := total_tokens(turn.tokens for turn in session.turn_usages):
        yield from _fact("Tokens", [Segment(tokens_words(tokens), palette.text)], context)
    models = models_of(session.turn_usages)
    for model, counts in models.items() if len(models) > 1 else ():
        yield from _fact("", [Segment(f"{model}: {tokens_words(counts)}", palette.dim)], context)
    if (cost := session.usage.cost) is not None:
        money = format_money(cost.amount, escape_line(cost.currency))
        yield from _fact("Cost", [Segment(money, palette.text)], context)
    for number, quota in enumerate(session.quotas.values()):
        style = palette.text if quota.status in (None, "allowed") else palette.warning
        yield from _fact("" if number else "Limits", [Segment(quota_words(quota, now), style)], context)


def _fact(label: str, spans: Spans, context: DrawContext) -> list[Strip]:
    lead = [Segment(label.ljust(LABEL_WIDTH), context.palette.dim)]
    return hanging_lines(lead, spans, context.width, LABEL_WIDTH)


def _context(context: DrawContext, warning: float) -> Iterator[Strip]:
    palette, usage = context.palette, context.session.usage
    used, share = usage.used or 0, context_share(usage.used, usage.size)
    if share is None:
        yield from _fact("Context", [Segment(f"{used:,} tokens", palette.text)], context)
        return
    style = palette.warning if share >= warning else palette.success
    width = max(10, min(MAX_BAR_WIDTH, context.width // 2 - LABEL_WIDTH))
    filled = min(width, max(round(share * width), int(used > 0)))
    spans = [Segment("█" * filled, style), Segment("░" * (width - filled), palette.faint)]
    words = f" {share:.0%}  {used:,} of {usage.size:,} tokens"
    spans.append(Segment(words, palette.warning if share >= warning else palette.text))
    yield from _fact("Context", spans, context)
    if share >= warning and (command := compact_command(context.session)):
        yield from _fact("", [Segment(f"{command} summarises it", palette.dim)], context)


# --------------------------------------------------------------------------- the table


class _Column(NamedTuple):
    """A column of numbers, omitted if it is empty in every row."""

    title: str
    cell: Callable[[TurnUsage], str]


def _tokens(name: str) -> Callable[[TurnUsage], str]:
    return lambda turn: f"{turn.tokens[name]:,}" if turn.tokens.get(name) else ""


def _context_at_end(turn: TurnUsage) -> str:
    share = context_share(turn.used, turn.size)
    if share is not None:
        return f"{share:.0%}"
    return "" if turn.used is None else short_count(turn.used)


def _cost(turn: TurnUsage) -> str:
    return format_money(turn.cost.amount, escape_line(turn.cost.currency)) if turn.cost is not None else ""


COLUMNS = (
    _Column("Input", _tokens("inputTokens")),
    _Column("Output", _tokens("outputTokens")),
    _Column("Cached", _tokens("cachedReadTokens")),
    _Column("Thought", _tokens("thoughtTokens")),
    _Column("Context", _context_at_end),
    _Column("Cost", _cost),
)


def _table(context: DrawContext) -> Iterator[Strip]:
    """Yield the lines of the table: a heading, then a row for each of `turn_usages`, the last one first.

    Columns without values are omitted. Without any values, there is no table.
    """
    turns, palette = context.session.turn_usages[::-1], context.palette
    cells = {column.title: [column.cell(turn) for turn in turns] for column in COLUMNS}
    shown = {title: found for title, found in cells.items() if any(found)}
    if not shown:
        return
    widths = {title: max(len(title), *map(cell_len, found)) for title, found in shown.items()}
    number = max(len("Turn"), len(str(turns[0].turn)))
    room = max(MIN_PROMPT_WIDTH, context.width - number - 2 - sum(width + 2 for width in widths.values()))
    prompts = {message.turn: message for message in context.session.prompts}
    rows = [("Turn", "Prompt", [title.rjust(widths[title]) for title in shown])]
    rows += [
        (
            str(turn.turn),
            _prompt_words(prompts.get(turn.turn)),
            [found[index].rjust(widths[title]) for title, found in shown.items()],
        )
        for index, turn in enumerate(turns)
    ]
    yield Strip([])
    for row, (turn_number, prompt, numbers) in enumerate(rows):
        words = shorten(prompt, room)
        style = palette.text if row else palette.dim
        yield Strip(
            [
                Segment(f"{turn_number.rjust(number)}  ", palette.dim),
                Segment(words + " " * (room - cell_len(words)), style),
                Segment("".join(f"  {text}" for text in numbers), style),
            ]
        )


def _prompt_words(message: UserMessage | None) -> str:
    return "" if message is None else " ".join(message.text[:MAX_PROMPT_CHARACTERS].split())
