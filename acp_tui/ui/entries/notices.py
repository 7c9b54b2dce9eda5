"""Notices, messages by hand, the end of a turn, and updates that are not recognised."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.entry_kinds.notices import (
    hand_message_end,
    hand_message_json,
    hand_message_parts,
    unfinished_text,
    unrecognised_json,
    unrecognised_title,
)
from acp_tui.session.safe_text import visible_json
from acp_tui.ui import keys
from acp_tui.ui.drawing.body import Body, DrawContext, LinesBody
from acp_tui.ui.drawing.text_layout import (
    LazyCopyBody,
    hanging_lines,
    hard_wrapped_lines,
    json_body,
    limit_lines,
    short_hanging_lines,
    wrapped_lines,
)

if TYPE_CHECKING:
    from textual.strip import Strip

    from acp_tui.session.state import HandMessage, Notice, RpcError, TurnEnd, Unrecognised


_SIGNS = {"info": "·", "warning": "!", "error": "✘"}
_SOURCES = {"agent": "the agent: "}


def notice_body(entry: Notice, context: DrawContext) -> Body:
    """Draw a notice. It can come from acp-tui, the agent, a rule or a policy."""
    palette, width = context.palette, context.width
    sign = _SIGNS.get(entry.level, "·")
    style = {"warning": palette.warning, "error": palette.error}.get(entry.level, palette.dim)
    spans = [Segment(_SOURCES.get(entry.source, ""), palette.faint)]
    spans.append(Segment(" ".join(entry.text.split("\n")), style))
    text = entry.text
    if entry.detail and context.folded:
        spans.append(Segment(" ▸", palette.faint))
    lines = short_hanging_lines([Segment(f"{sign} ", style)], spans, context)
    if entry.detail:
        text = f"{text}\n{entry.detail}"
        if not context.folded:
            lines += limit_lines(hard_wrapped_lines(entry.detail, palette.dim, width), context)
    return LinesBody(lines, text)


def hand_message_body(entry: HandMessage, context: DrawContext) -> Body:
    """Draw a message that the user wrote, with its params and the agent's answer unless it is folded."""
    palette = context.palette
    spans = [Segment(entry.text, palette.text)]
    if end := hand_message_end(entry):
        style = palette.error if entry.error is not None else palette.dim
        spans += [Segment(" · ", palette.faint), Segment(end, style)]
    if entry.faults:
        spans += [Segment(" · ", palette.faint), Segment("does not follow the schema", palette.warning)]
    spans.append(Segment(" ▸" if context.folded else " ▾", palette.faint))
    lines = short_hanging_lines([Segment("→ ", palette.accent)], spans, context)
    if context.folded:
        return LazyCopyBody(lines, lambda: hand_message_json(entry))
    for fault in entry.faults:
        lines += wrapped_lines(f"! {fault}", palette.warning, context.width)
    for name, raw in hand_message_parts(entry):
        body = json_body(raw, context, label=name)
        lines += [body.line(number) for number in range(body.height)]
    return LazyCopyBody(lines, lambda: hand_message_json(entry))


_STOP_REASONS = {
    "cancelled": ("⊘", "stopped"),
    "max_tokens": ("!", 'stopped: token limit reached. Send "continue" to continue'),
    "max_turn_requests": ("!", "stopped: the agent reached its limit of model requests per turn"),
}
_REFUSAL = "The agent refused. Its context no longer contains your prompt or the answer."
_EMPTY = "The agent returned nothing. Send the prompt again?"
MAX_MESSAGE_LINES = 12
"""The maximum number of lines of an error message after its first line."""


def turn_end_body(entry: TurnEnd, context: DrawContext) -> Body:
    """Draw the end of a turn."""
    if entry.error is not None:
        return _failed(entry.error, context)
    key = keys.KEYS["turn.again"].key_names(context.keymap)
    if entry.stop_reason == "refusal":
        return _offer("✘", _REFUSAL, key, "edit and send again", context)
    if entry.empty:
        return _offer("!", _EMPTY, key, "send again", context)
    if entry.unfinished:
        words = unfinished_text(entry)
        return _offer("!", f"{words[0].upper()}{words[1:]}.", key, "send again", context)
    if entry.stop_reason in (None, "end_turn"):
        return LinesBody([], "")
    sign, words = _STOP_REASONS.get(entry.stop_reason, ("!", f"ended: {entry.stop_reason}"))
    style = context.palette.warning if sign == "!" else context.palette.dim
    lines = hanging_lines([Segment(f"{sign} ", style)], [Segment(words, style)], context.width)
    return LinesBody(lines, words)


def _offer(sign: str, words: str, key: str, action: str, context: DrawContext) -> Body:
    """Draw how the turn ended (`words`), and what `key` does with the prompt (`action`)."""
    palette = context.palette
    lines = hanging_lines(
        [Segment(f"{sign} ", palette.warning)], [Segment(words, palette.warning)], context.width
    )
    spans = [Segment(key, palette.key), Segment(f" {action}", palette.dim)]
    return LinesBody([*lines, *hanging_lines([Segment("  ")], spans, context.width)], words)


def _failed(error: RpcError, context: DrawContext) -> Body:
    """Draw the error message, and below it the details of the error if the entry is unfolded."""
    palette, width = context.palette, context.width
    first, *rest = (error.message or "the agent gave no reason").strip().split("\n")
    lines = short_hanging_lines([Segment("✘ ", palette.error)], [Segment(first, palette.error)], context)
    detail = "\n".join(rest).strip("\n")
    if detail:
        lines += limit_lines(wrapped_lines(detail, palette.text, width), context, MAX_MESSAGE_LINES)
    if error.raw is None and not error.detail:
        pass  # an error of acp-tui itself has no details
    elif context.folded:
        lines += _details_line("▸", error, context)
    else:
        lines += _details(error, context)
    return LinesBody(lines, "\n".join(filter(None, (error.message, error.detail))))


def _details_line(sign: str, error: RpcError, context: DrawContext) -> list[Strip]:
    """Draw the line above the details of an error. `sign` is ▸ if the details are folded, otherwise ▾."""
    palette = context.palette
    if error.raw is None:
        text = "last lines of the agent's stderr"
    else:
        code = f"error {error.code}" if error.code else "error without a code"
        text = f"{'sign-in required · ' if error.auth_required else ''}{code}: details"
    return hanging_lines([Segment(f"{sign} ", palette.faint)], [Segment(text, palette.dim)], context.width)


def _details(error: RpcError, context: DrawContext) -> list[Strip]:
    palette, width = context.palette, context.width
    lines = _details_line("▾", error, context)
    if error.detail:
        lines += wrapped_lines(error.detail, palette.text, width)
    if error.raw is not None:
        lines += hard_wrapped_lines(visible_json(error.raw), palette.dim, width)
    return limit_lines(lines, context)


def unrecognised_body(entry: Unrecognised, context: DrawContext) -> Body:
    """Draw the name of the message, and its JSON unless the entry is folded."""
    palette, width = context.palette, context.width
    spans = [Segment("not recognised: ", palette.dim), Segment(unrecognised_title(entry), palette.text)]
    lines = hanging_lines([Segment("▸ " if context.folded else "▾ ", palette.faint)], spans, width)
    if not context.folded:
        lines += limit_lines(hard_wrapped_lines(unrecognised_json(entry), palette.dim, width), context)
    return LazyCopyBody(lines, lambda: unrecognised_json(entry))
