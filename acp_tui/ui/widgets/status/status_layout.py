"""The contents of the status line, and a layout that leaves out what does not fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from rich.cells import cell_len

from acp_tui.session.usage_text import context_share, format_money, short_count
from acp_tui.ui.drawing.wrap import shorten

SILENCE_SECONDS = 60.0
"""After this many seconds without a message, the status line says what the agent sent last."""
CANCEL_GRACE_SECONDS = 5.0
"""Seconds that an agent has to end its turn after the user has cancelled it."""
MIN_AGENT_CELLS = 12
"""The agent's title is shortened to this many cells before essential items are dropped."""
CONTEXT_WARNING = 0.85
"""The share of the context window from which the usage is marked, until the settings have been read."""
ESSENTIAL_RANK = 5
"""Items up to this `rank` are essential: warnings, tabs that ask, context usage, mode, policy and queue.

All of them are shortened before the first one is dropped.
"""

Phase = Literal["connecting", "loading", "idle", "working", "background", "asking", "cancelling", "dead"]
Part = Literal[
    "agent",
    "project",
    "branch",
    "mark",
    "mode",
    "policy",
    "model",
    "context",
    "cost",
    "queue",
    "tabs",
    "phase",
]


@dataclass(frozen=True, slots=True)
class StatusFacts:
    """Everything the status line may show. Texts are safe to display."""

    agent: str  # the agent's title
    title: str = ""  # the session's title, for the title of the window
    project: str = ""  # the name of the working directory
    branch: str = ""
    mode: str = ""  # the name of the agent's mode
    model: str = ""
    policy: str = ""  # the permission policy; empty if unknown, or in a replay
    acts_without_asking: bool = False  # the agent edits or runs commands without having asked
    used: int | None = None  # tokens in the context
    size: int | None = None
    context_warning: float = CONTEXT_WARNING  # the share of `size` from which the usage is marked
    queued: int = 0  # prompts in the queue
    queue_paused: bool = False
    tabs_asking: int = 0  # other tabs in which an agent waits for an answer
    cost: float | None = None
    currency: str = "USD"
    phase: Phase = "idle"
    phase_detail: str = ""  # the current step, why the agent ended, or advice if a cancel takes long
    since: float | None = None  # when the phase started
    failed: bool = False  # the last turn ended with an error
    plan_share: float | None = None  # the finished share of the turn's plan; None if nothing is finished
    heard: str = ""  # describes the agent's last message
    heard_at: float | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the status line in one style."""

    text: str
    style: str = "dim"  # a field of `Palette`
    part: Part | None = None  # identifies the fact, for clicks


@dataclass(frozen=True, slots=True)
class _Item:
    """A part of the status line that is shown or dropped as a whole."""

    piece: Piece
    rank: int  # items with the highest rank are dropped first; 0 is never dropped
    left: bool = False
    short: str = ""  # the text to show before an essential item is dropped


# The mark shows on terminals without colours, too.
YOLO = _Item(Piece(" ! policy: yolo ▾ ", "loud", "policy"), 2)
SHORT_YOLO = _Item(Piece(" ! yolo ", "loud", "policy"), 0)


def layout(facts: StatusFacts, width: int, now: float) -> list[Piece]:
    """Lay out the line in exactly `width` cells: agent and folder at the left, the rest at the right."""
    items = [*_left(facts, width), *_right(facts, now)]
    room = width - 2  # a blank cell at both ends
    while (over := _cells(items) - room) > 0 and any(item.rank for item in items):
        least = max(items, key=lambda item: item.rank)
        agent = cell_len(items[0].piece.text)
        if least.rank <= ESSENTIAL_RANK and agent - over >= MIN_AGENT_CELLS:
            items[0] = _agent(facts, agent - over)
        elif least.rank <= ESSENTIAL_RANK and any(item.short for item in items):
            _shorten_first(items)
        elif least is YOLO:
            items[items.index(YOLO)] = SHORT_YOLO
        else:
            items.remove(least)
    if _cells(items) > room:
        items = _shorten(items, room)
    left = _join([item.piece for item in items if item.left], " · ")
    right = _join([item.piece for item in items if not item.left], "  ")
    gap = width - 2 - sum(cell_len(piece.text) for piece in (*left, *right))
    line = [Piece(" "), *left, Piece(" " * max(0, gap)), *right, Piece(" ")]
    return [piece for piece in line if piece.text]


def _shorten_first(items: list[_Item]) -> None:
    """Use the short text of the first item that has one."""
    index, item = next((index, item) for index, item in enumerate(items) if item.short)
    items[index] = replace(item, piece=replace(item.piece, text=item.short), short="")


def _agent(facts: StatusFacts, width: int) -> _Item:
    return _Item(Piece(shorten(facts.agent, width), "strong", "agent"), 0, left=True)


def _left(facts: StatusFacts, width: int) -> list[_Item]:
    items = [_agent(facts, max(MIN_AGENT_CELLS, width // 3))]  # some titles are very long
    if facts.project:
        items.append(_Item(Piece(shorten(facts.project, 30), "text", "project"), 6, left=True))
    if facts.branch:
        items.append(_Item(Piece(shorten(facts.branch, 30), "dim", "branch"), 7, left=True))
    return items


def _right(facts: StatusFacts, now: float) -> list[_Item]:
    items: list[_Item] = []
    if facts.acts_without_asking and facts.policy != "yolo":
        items.append(_Item(Piece("! acts without asking", "warning", "mark"), 2))
    if facts.mode:
        mode = f"{shorten(facts.mode, 20)} ▾"
        items.append(_Item(Piece(f"mode: {mode}", "accent", "mode"), 4, short=mode))
    if facts.policy == "yolo":
        items.append(YOLO)
    elif facts.policy:
        items.append(_Item(Piece(f"policy: {facts.policy} ▾", "accent", "policy"), 4))
    if facts.model:
        items.append(_Item(Piece(f"{shorten(facts.model, 24)} ▾", "dim", "model"), 8))
    if facts.used is not None:
        items.append(_Item(_context(facts), 3))
    if facts.cost is not None:
        items.append(_Item(Piece(format_money(facts.cost, facts.currency), "dim", "cost"), 9))
    if facts.queued:
        text = f"{facts.queued} queued{', paused' if facts.queue_paused else ''}"
        items.append(_Item(Piece(text, "warning" if facts.queue_paused else "text", "queue"), 5))
    if facts.tabs_asking:
        text = "1 tab asks" if facts.tabs_asking == 1 else f"{facts.tabs_asking} tabs ask"
        items.append(_Item(Piece(f"? {text}", "warning", "tabs"), 2))
    return [*items, _Item(_phase(facts, now), 0, short="? your answer" if facts.phase == "asking" else "")]


def _context(facts: StatusFacts) -> Piece:
    used = facts.used or 0
    share = context_share(used, facts.size)
    if share is None:
        return Piece(f"ctx {short_count(used)}", "dim", "context")
    text = f"ctx {share:.0%} full" if share >= 1 else f"ctx {share:.0%}"
    if share >= facts.context_warning:
        return Piece(f"! {text}", "warning", "context")
    return Piece(text, "dim", "context")


def _phase(facts: StatusFacts, now: float) -> Piece:
    since = facts.since if facts.since is not None else now
    elapsed = format_clock(now - since)
    match facts.phase:
        case "connecting" | "loading":
            text = facts.phase_detail or ("connecting" if facts.phase == "connecting" else "loading")
            waited = f" {elapsed}" if now - since >= 3 else ""
            return Piece(f"◐ {text}{waited}", "warning", "phase")
        case "working":
            return _working(facts, now, since)
        case "asking":
            return Piece("? waiting for your answer", "warning", "phase")
        case "cancelling":
            stuck = facts.phase_detail and now - since >= CANCEL_GRACE_SECONDS
            return Piece(f"⊘ {facts.phase_detail if stuck else f'stopping {elapsed}'}", "warning", "phase")
        case "dead":
            return Piece(f"✘ {facts.phase_detail or 'the agent has ended'}", "error", "phase")
        case "background":
            return Piece("● working in the background", "success", "phase")
    return Piece("○ idle", "dim", "phase")


def _working(facts: StatusFacts, now: float, since: float) -> Piece:
    """Return how long the turn has run; after a silence, the agent's last message and how long ago it was."""
    heard_at = max(facts.heard_at if facts.heard_at is not None else since, since)
    if now - heard_at < SILENCE_SECONDS:
        return Piece(f"● working {format_clock(now - since)}", "success", "phase")
    silence = format_clock(now - heard_at)
    if facts.heard and facts.heard_at is not None and facts.heard_at >= since:
        return Piece(f"● last heard: {facts.heard} · {silence} ago", "warning", "phase")
    return Piece(f"● nothing heard for {silence}", "warning", "phase")


def format_clock(seconds: float) -> str:
    """Format seconds as `0:12`, `3:05` or `1:02:03`."""
    minutes, rest = divmod(max(0, int(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _cells(items: list[_Item]) -> int:
    """Return the width of the items with their separators."""
    left = [item for item in items if item.left]
    right = [item for item in items if not item.left]
    together = {"mode", "policy"} <= {item.piece.part for item in right}
    between = 3 * (len(left) - 1) + 2 * (len(right) - 1) + together + 2
    return between + sum(cell_len(item.piece.text) for item in items)


def _shorten(items: list[_Item], room: int) -> list[_Item]:
    """Shorten the agent's title and the phase to fit into `room` cells.

    The yolo item between them is dropped if too little room is left for the title.
    """
    agent, phase = items[0].piece, items[-1].piece
    mark = items[1:-1] if room >= MIN_AGENT_CELLS + _cells(items[1:-1]) else []
    room -= sum(2 + cell_len(item.piece.text) for item in mark)
    text = shorten(phase.text, max(2, room - min(cell_len(agent.text), 12) - 2))
    title = shorten(agent.text, max(0, room - cell_len(text) - 2))
    return [
        _Item(Piece(title, agent.style, agent.part), 0, left=True),
        *mark,
        _Item(Piece(text, phase.style, phase.part), 0),
    ]


def _join(pieces: list[Piece], between: str) -> list[Piece]:
    joined: list[Piece] = []
    for piece in pieces:
        together = joined and (joined[-1].part, piece.part) == ("mode", "policy")
        joined += [Piece(" · " if together else between, "faint"), piece] if joined else [piece]
    return joined
