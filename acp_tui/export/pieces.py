"""The parts of an entry, in the order in which the Markdown and HTML exports show them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from acp_tui.entry_display import (
    answered_by,
    call_command,
    call_title,
    file_change,
    format_duration,
    permission_verdict,
    relative_path,
    shows_terminal,
    terminal_command,
)
from acp_tui.session.diff_lines import first_line
from acp_tui.session.state import (
    Compaction,
    Content,
    Diff,
    Elicitation,
    Notice,
    Permission,
    Terminal,
    TerminalRef,
    Thought,
    ToolCall,
    TurnEnd,
)
from acp_tui.session.text import visible, visible_json, visible_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acp_tui.export.metadata import SessionMetadata
    from acp_tui.session.state import Plan, Session


class Piece(NamedTuple):
    """One part of a tool call."""

    sort: Literal["places", "command", "diff", "terminal", "content", "raw"]
    what: Any
    label: str = ""
    first: int = 1  # the line number at which a diff begins; 0 if unknown


class ShortEntry(NamedTuple):
    """An entry of one line, with details that can be unfolded below it."""

    level: Literal["info", "success", "warning", "error"]
    sign: str
    text: str
    detail: str = ""


def header_facts(session: Session, metadata: SessionMetadata) -> list[tuple[str, str]]:
    """Return the labels and values above the conversation."""
    agent = session.agent
    name = metadata.agent or (agent and (agent.title or agent.name)) or ""
    version = f" {agent.version}" if agent is not None and agent.version else ""
    at = next((entry.at for entry in session.entries), None)
    known = [
        ("Agent", visible_line(f"{name}{version}" if name else "")),
        ("Folder", visible_line(working_folder(session, metadata))),
        ("Started", _day(at) if at is not None else ""),
        ("Session", visible_line(metadata.id)),
    ]
    return [(label, text) for label, text in known if text]


def document_title(session: Session, metadata: SessionMetadata) -> str:
    """Return the title of the document."""
    return visible_line(session.title or metadata.title) or "Conversation with an agent"


def working_folder(session: Session, metadata: SessionMetadata) -> str:
    """Return the working folder of the session."""
    return session.cwd or metadata.cwd


def _day(at: float) -> str:
    # UTC, so that the same session gives the same document everywhere
    try:
        return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, ValueError, OSError):
        return ""


# --------------------------------------------------------------------------- tool calls


def call_pieces(call: ToolCall, session: Session, cwd: str) -> Iterator[Piece]:
    """Yield the parts of a tool call. Raw input and output appear only if there is no other content."""
    name = call_title(call, cwd)
    diffs = {item.path for item in call.content if isinstance(item, Diff)}
    places = [
        f"{relative_path(place.path, cwd)}{f':{place.line}' if place.line is not None else ''}"
        for place in call.locations
        if place.path not in diffs and relative_path(place.path, cwd) not in name
    ]
    if places:
        yield Piece("places", places)
    command = call_command(call) if call.kind == "execute" else ""
    terminals = {item.terminal_id for item in call.content if isinstance(item, TerminalRef)}
    if command and visible_line(command) != name and not terminals & session.terminals.keys():
        yield Piece("command", command)
    shown = [piece for item in call.content if (piece := _content_piece(item, call, session, cwd))]
    yield from shown
    if not shown:
        for label, value in (("input", call.raw_input), ("output", call.raw_output)):
            if value not in (None, {}, "") and not (label == "input" and command):
                yield Piece("raw", visible(value) if isinstance(value, str) else visible_json(value), label)


def _content_piece(
    item: Content | Diff | TerminalRef, call: ToolCall, session: Session, cwd: str
) -> Piece | None:
    if isinstance(item, Diff):
        became = file_change(item, call.kind)
        label = f"{relative_path(item.path, cwd)}{f' ({became})' if became else ''}"
        return Piece("diff", item, label, first_line(call, item))
    if isinstance(item, TerminalRef):
        terminal = session.terminals.get(item.terminal_id)
        return None if terminal is None else Piece("terminal", terminal, terminal_title(terminal, cwd))
    if item.kind == "text" and not item.text.strip():
        return None
    return Piece("content", item)


def call_facts(call: ToolCall) -> list[str]:
    """Return the facts beside the title: exit code and duration."""
    took = call.ended_at - call.began if call.ended_at is not None else 0
    ended = [f"exit code {call.exit_code}"] if call.exit_code and not shows_terminal(call) else []
    return [*ended, format_duration(took)] if took > 0.1 else ended


def terminal_title(terminal: Terminal, cwd: str) -> str:
    """Return the command line of a terminal, or its id if the command is unknown."""
    command = visible_line(terminal_command(terminal, cwd))
    return f"$ {command}" if command else f"terminal {visible_line(terminal.terminal_id)}"


def exit_fact(terminal: Terminal) -> str:
    """Say how a command ended."""
    if terminal.signal:
        return f"ended by {visible_line(terminal.signal)}"
    if terminal.exit_code is not None:
        return f"exit code {terminal.exit_code}"
    return "still running" if terminal.ended_at is None else "ended"


def content_facts(content: Content) -> str:
    """Describe a content block in one line."""
    parts = [content.title or content.name or "", content.mime or "", content.description or ""]
    if content.data is not None:
        parts.append(f"{len(content.data.rstrip('=')) * 3 // 4:,} bytes")
    elif content.size is not None:
        parts.append(f"{content.size:,} bytes")
    return visible_line(f"{content.kind}: {', '.join(part for part in parts if part)}".rstrip(": "))


def is_cleared(plan: Plan) -> bool:
    """Return True if the plan is empty or was removed."""
    return plan.removed or not (plan.items or plan.markdown or plan.uri)


def thought_title(thought: Thought) -> str:
    """Return the line that a folded thought shows."""
    if thought.ended_at is None:
        return "thought"
    return f"thought for {format_duration(max(1, round(thought.ended_at - thought.at)))}"


# --------------------------------------------------------------------------- short entries

_ENDS = {
    "cancelled": "stopped",
    "max_tokens": "stopped: token limit reached",
    "max_turn_requests": "stopped: the agent reached its limit of model requests per turn",
    "refusal": "the agent refused; the prompt and its answer are no longer in its context",
}
_NOTICES: dict[str, tuple[Literal["info", "warning", "error"], str]] = {
    "warning": ("warning", "!"),
    "error": ("error", "✘"),
}


def short_entry(entry: Any, session: Session, cwd: str) -> ShortEntry | None:
    """Return an entry that takes one line; None for a turn that ended normally."""
    match entry:
        case Permission():
            return _permission(entry, session, cwd)
        case Elicitation():
            url = visible_line(entry.url or "")
            outcome = entry.outcome or "not answered"
            return ShortEntry("info", "?", f"the agent asks: {visible_line(entry.message)} — {outcome}", url)
        case Notice():
            level, sign = _NOTICES.get(entry.level, ("info", "·"))
            source = {"agent": "the agent: "}.get(entry.source, "")
            return ShortEntry(level, sign, f"{source}{visible_line(entry.text)}", visible(entry.detail or ""))
        case TurnEnd():
            return _turn_end(entry)
        case Compaction():
            level = "error" if entry.status == "failed" else "info"
            detail = "\n".join(filter(None, (entry.error, str(entry.summary))))
            return ShortEntry(
                level, "·", f"the agent compacted its context ({visible_line(entry.status)})", detail
            )
    return ShortEntry("info", "·", f"not recognised: {visible_line(entry.what)}", visible_json(entry.raw))


def _permission(entry: Permission, session: Session, cwd: str) -> ShortEntry:
    sign, words, good = permission_verdict(entry)
    call = session.tool_calls.get(entry.call_id)
    what = call_title(call, cwd) if call is not None else visible_line(entry.call_id)
    by = answered_by(entry)
    level: Any = good if good in ("success", "warning", "error") else "info"
    return ShortEntry(level, sign, visible_line(f"{words}: {what}{f' — {by}' if by else ''}"))


def _turn_end(entry: TurnEnd) -> ShortEntry | None:
    if entry.error is not None:
        text = visible(entry.error.message or "the agent gave no reason").strip()
        code = f" (error {entry.error.code})" if entry.error.code else ""
        return ShortEntry("error", "✘", f"{visible_line(text)}{code}", visible(entry.error.detail or ""))
    if entry.empty:
        return ShortEntry("warning", "!", "no answer")
    if entry.stop_reason in (None, "end_turn"):
        return None
    words = _ENDS.get(entry.stop_reason, f"ended: {visible_line(entry.stop_reason)}")
    return ShortEntry("info" if entry.stop_reason == "cancelled" else "warning", "!", words)
