"""The entry kinds for notices, messages by hand, ends of turns, and protocol messages of unknown kinds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal

from acp_tui.entry_kinds.blocks import Aside, Block
from acp_tui.entry_kinds.plain_text import LEVEL_SIGNS, indented, raw_lines
from acp_tui.session.safe_text import escape_controls, escape_line, visible_excerpt, visible_json

if TYPE_CHECKING:
    from acp_tui.entry_kinds.kind import TextContext
    from acp_tui.session.state import HandMessage, Notice, Session, TurnEnd, Unrecognised

PRINTED_SOURCES = frozenset({"client", "agent", "protocol"})
"""The sources of the notices that `acp-tui exec` prints.

Other notices repeat a decision that `exec` has already printed, or say that acp-tui waits for something.
"""
MAX_WARNING_DETAIL = 4_000
"""The maximum number of characters of an unknown message in the `warnings` of `acp-tui exec`."""
SIGNS: dict[str, tuple[Literal["info", "warning", "error"], str]] = {
    "warning": ("warning", "!"),
    "error": ("error", "✘"),
}
STOP_REASONS = {
    "cancelled": "stopped",
    "max_tokens": "stopped: token limit reached",
    "max_turn_requests": "stopped: the agent reached its limit of model requests per turn",
    "refusal": "the agent refused; its context no longer contains the prompt or the answer",
}


# --------------------------------------------------------------------------- notices


def notice_starts_folded(notice: Notice) -> bool:
    """Return True unless the notice is an error that acp-tui reports, such as an exit of the agent."""
    return not (is_error(notice) and notice.source == "client")


def is_error(notice: Notice) -> bool:
    return notice.level == "error"


def notice_lines(notice: Notice, _context: TextContext) -> Iterator[str]:
    yield f"{LEVEL_SIGNS.get(notice.level, '-')} {notice.text}"
    yield from indented((notice.detail or "").splitlines())


def notice_search_text(notice: Notice, _session: Session) -> Iterable[str]:
    return [notice.text, notice.detail or ""]


def notice_blocks(notice: Notice, _context: TextContext) -> Iterable[Block]:
    level, sign = SIGNS.get(notice.level, ("info", "·"))
    source = "the agent: " if notice.source == "agent" else ""
    return [Aside(level, sign, f"{source}{escape_line(notice.text)}", escape_controls(notice.detail or ""))]


def notice_progress(notice: Notice) -> str:
    """Return the notice with its details; empty unless `PRINTED_SOURCES` contains the source."""
    if notice.source not in PRINTED_SOURCES:
        return ""
    return notice.text if notice.detail is None else f"{notice.text}: {notice.detail}"


def notice_warning(notice: Notice) -> tuple[str, str] | None:
    """Return the text and details of a notice about a fault in what the agent sent; None for others."""
    return (notice.text, notice.detail or "") if notice.source == "protocol" else None


# --------------------------------------------------------------------------- messages by hand


def hand_message_title(message: HandMessage) -> str:
    """Return what the user sent, and what became of it."""
    return f"{message.text} · {end}" if (end := hand_message_end(message)) else message.text


def hand_message_end(message: HandMessage) -> str:
    """Return how a request was answered, in a few words; empty for a notification."""
    if message.request_id is None:
        return ""
    took = f"{message.ended_at - message.at:.2f} s" if message.ended_at is not None else ""
    if message.error is not None:
        code = f" {message.error.code}" if message.error.code else ""
        return f"error{code} after {took}: {escape_line(message.error.message) or 'without a message'}"
    return {
        "sent": "no answer yet",
        "answered": f"answered after {took}",
        "cancelled": "cancelled, no answer yet",
        "unanswered": "never answered",
    }.get(message.status, "")


def hand_message_parts(message: HandMessage) -> list[tuple[str, Any]]:
    """Return the params of a message, and the result or error of its answer, with their names."""
    parts = [("params", message.raw_params)] if message.raw_params is not None else []
    if message.error is not None:
        parts.append(("error", message.error.raw))
    elif message.status == "answered":
        parts.append(("result", message.raw_result))
    return parts


def hand_message_json(message: HandMessage) -> str:
    """Return the faults in a message, its params and its answer as text."""
    faults = [f"does not follow the schema: {fault}" for fault in message.faults]
    parts = [f"{name}: {visible_json(raw)}" for name, raw in hand_message_parts(message)]
    return "\n".join([*faults, *parts])


def hand_message_lines(message: HandMessage, _context: TextContext) -> Iterator[str]:
    yield f"- {hand_message_title(message)}"
    yield from indented(hand_message_json(message).splitlines())


def hand_message_search_text(message: HandMessage, _session: Session) -> Iterable[str]:
    return [hand_message_title(message), hand_message_json(message)]


def hand_message_blocks(message: HandMessage, _context: TextContext) -> Iterable[Block]:
    level: Literal["info", "error"] = "error" if message.error is not None else "info"
    return [Aside(level, "→", escape_line(hand_message_title(message)), hand_message_json(message))]


# --------------------------------------------------------------------------- ends of turns


def turn_end_starts_folded(end: TurnEnd) -> bool:
    """Return True, unless the turn has an error that was not sent by the agent, such as the agent's exit.

    If the agent exited, its last lines on stderr are then shown at once.
    """
    return end.error is None or end.error.raw is not None


def has_failed(end: TurnEnd) -> bool:
    return end.error is not None


def turn_end_height(end: TurnEnd, _width: int) -> int:
    return 0 if end.stop_reason == "end_turn" and not end.empty and not end.unfinished else 1


def unfinished_text(end: TurnEnd) -> str:
    """Return what is said of a turn that ended with unfinished calls and without an answer to them."""
    calls = "a tool call" if end.unfinished == 1 else f"{end.unfinished} tool calls"
    return f"the agent ended the turn without finishing {calls}, and without an answer"


def turn_end_lines(end: TurnEnd, _context: TextContext) -> Iterable[str]:
    empty = ": no answer" if end.empty else f": {unfinished_text(end)}" if end.unfinished else ""
    if end.error is None:
        return [f"-- {end.stop_reason}{empty} --"]
    code = f" ({end.error.code})" if end.error.code else ""  # acp-tui's own errors have no code
    first = f"!! The turn failed: {end.error.message}{code}{empty}"
    return [first, *indented((end.error.detail or "").splitlines())]


def turn_end_search_text(end: TurnEnd, _session: Session) -> Iterable[str]:
    return [end.error.message, end.error.detail or ""] if end.error is not None else []


def turn_end_blocks(end: TurnEnd, _context: TextContext) -> Iterable[Block]:
    """Return a line about the end of a turn; none if the turn ended normally."""
    if end.error is not None:
        text = escape_controls(end.error.message or "the agent gave no reason").strip()
        code = f" (error {end.error.code})" if end.error.code else ""
        return [Aside("error", "✘", f"{escape_line(text)}{code}", escape_controls(end.error.detail or ""))]
    if end.empty:
        return [Aside("warning", "!", "no answer")]
    if end.unfinished:
        return [Aside("warning", "!", unfinished_text(end))]
    if end.stop_reason in (None, "end_turn"):
        return []
    words = STOP_REASONS.get(end.stop_reason, f"ended: {escape_line(end.stop_reason)}")
    return [Aside("info" if end.stop_reason == "cancelled" else "warning", "!", words)]


def turn_end_progress(end: TurnEnd) -> str:
    """Return why the agent stopped early; an empty string if the turn ended normally or failed.

    If the turn failed, `acp-tui exec` reports the error in its result.
    """
    if end.unfinished:
        return unfinished_text(end)
    return f"stopped: {end.stop_reason}" if end.stop_reason not in (None, "end_turn") else ""


# --------------------------------------------------------------------------- unknown messages


def unrecognised_title(entry: Unrecognised) -> str:
    """Return the name of a message of an unknown kind, and how often it came in a row."""
    return entry.what if entry.count == 1 else f"{entry.what} ({entry.count} times)"


def unrecognised_json(entry: Unrecognised) -> str:
    """Return the messages of an entry as JSON, one after the other."""
    return "\n".join(visible_json(raw) for raw in (entry.raw, *entry.repeats))


def unrecognised_lines(entry: Unrecognised, _context: TextContext) -> Iterator[str]:
    yield f"- Not recognised: {unrecognised_title(entry)}"
    for raw in (entry.raw, *entry.repeats):
        yield from indented(raw_lines(raw))


def unrecognised_search_text(entry: Unrecognised, _session: Session) -> Iterable[str]:
    return [entry.what, unrecognised_json(entry)]


def unrecognised_blocks(entry: Unrecognised, _context: TextContext) -> Iterable[Block]:
    title = f"not recognised: {escape_line(unrecognised_title(entry))}"
    return [Aside("info", "·", title, unrecognised_json(entry))]


def unrecognised_warning(entry: Unrecognised) -> tuple[str, str]:
    """Return the name of messages of an unknown kind, and the first of them as JSON."""
    return f"not recognised: {unrecognised_title(entry)}", visible_excerpt(entry.raw, MAX_WARNING_DETAIL)
