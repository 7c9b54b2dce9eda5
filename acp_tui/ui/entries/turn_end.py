"""The end of a turn. A turn that ended normally takes no lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.session.text import visible_json
from acp_tui.ui import keys
from acp_tui.ui.drawing.body import LinesBody
from acp_tui.ui.drawing.text_layout import (
    hanging_lines,
    hard_wrapped_lines,
    limit_lines,
    short_hanging_lines,
    wrapped_lines,
)

if TYPE_CHECKING:
    from textual.strip import Strip

    from acp_tui.session.state import RpcError, TurnEnd
    from acp_tui.ui.drawing.body import Body, DrawContext

_REASONS = {
    "cancelled": ("⊘", "stopped"),
    "max_tokens": ("!", 'stopped: token limit reached. Send "continue" to continue'),
    "max_turn_requests": ("!", "stopped: the agent reached its limit of model requests per turn"),
}
_REFUSAL = "The agent refused. Your prompt and what followed are not in its context."
_EMPTY = "The agent returned nothing. Send the prompt again?"


def body(entry: TurnEnd, context: DrawContext) -> Body:
    """The end of a turn."""
    if entry.error is not None:
        return _failed(entry.error, context)
    again = keys.KEYS["turn.again"].key_names(context.keymap)
    if entry.stop_reason == "refusal":
        return _offer("✘", _REFUSAL, [(again, "edit and send again")], context)
    if entry.empty:
        return _offer("!", _EMPTY, [(again, "send again")], context)
    if entry.stop_reason in (None, "end_turn"):
        return LinesBody([], "")
    sign, words = _REASONS.get(entry.stop_reason, ("!", f"ended: {entry.stop_reason}"))
    look = context.palette.warning if sign == "!" else context.palette.dim
    return LinesBody(hanging_lines([Segment(f"{sign} ", look)], [Segment(words, look)], context.width), words)


def _offer(sign: str, words: str, keys: list[tuple[str, str]], context: DrawContext) -> Body:
    """The reason, and the keys that act on it."""
    palette = context.palette
    lines = hanging_lines(
        [Segment(f"{sign} ", palette.warning)], [Segment(words, palette.warning)], context.width
    )
    spans: list[Segment] = []
    for key, does in keys:
        spans += [Segment(key, palette.key), Segment(f" {does}   ", palette.dim)]
    return LinesBody([*lines, *hanging_lines([Segment("  ")], spans, context.width)], words)


def _failed(error: RpcError, context: DrawContext) -> Body:
    """The error message; the code and the raw error are shown when unfolded."""
    palette, width = context.palette, context.width
    what, *rest = (error.message or "the agent gave no reason").strip().split("\n")
    lines = short_hanging_lines([Segment("✘ ", palette.error)], [Segment(what, palette.error)], context)
    detail = "\n".join(rest).strip("\n")
    if detail:
        lines += limit_lines(wrapped_lines(detail, palette.text, width), context, 12)
    if error.raw is None and not error.detail:
        pass  # an error of acp-tui itself has no details
    elif context.folded:
        lines += hanging_lines([Segment("▸ ", palette.faint)], [Segment(_code(error), palette.dim)], width)
    else:
        lines += _everything(error, context)
    return LinesBody(lines, "\n".join(filter(None, (error.message, error.detail))))


def _code(error: RpcError) -> str:
    if error.raw is None:
        return "its last lines on stderr"
    signed_out = "sign-in required · " if error.auth_required else ""
    return f"{signed_out}{f'error {error.code}' if error.code else 'error without a code'}: details"


def _everything(error: RpcError, context: DrawContext) -> list[Strip]:
    palette, width = context.palette, context.width
    lines = hanging_lines([Segment("▾ ", palette.faint)], [Segment(_code(error), palette.dim)], width)
    if error.detail:
        lines += wrapped_lines(error.detail, palette.text, width)
    if error.raw is not None:
        lines += hard_wrapped_lines(visible_json(error.raw), palette.dim, width)
    return limit_lines(lines, context)
