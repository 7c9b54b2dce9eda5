"""What the status line says: the facts, and which of them find room."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len

from acp_tui.ui.drawing.wrap import shorten

SILENCE_SECONDS = 60.0
"""Seconds after which it is said what an agent was last heard with."""
CANCEL_GRACE_SECONDS = 5.0
"""Seconds after a cancel in which an agent may end its turn."""
MIN_AGENT_CELLS = 12
"""Cells that are left of an agent's title before anything that is needed goes."""
ESSENTIAL_RANK = 4
"""The rank of what is needed while one works: a mark, the context, the mode."""
NEARLY_FULL = 0.8
"""Of the context: from here on it stands out."""

Phase = Literal["connecting", "loading", "idle", "working", "asking", "cancelling", "dead"]
Part = Literal["agent", "project", "branch", "mark", "mode", "policy", "model", "context", "cost", "phase"]


@dataclass(frozen=True, slots=True)
class StatusFacts:
    """Everything the status line may say. Texts are safe to display."""

    agent: str  # its title
    project: str = ""  # the folder's name
    branch: str = ""
    mode: str = ""  # the agent's mode, by its name
    model: str = ""
    policy: str = ""  # what we allow without asking; `yolo` is loud; empty: unknown, or a replay
    acts_unasked: bool = False  # it edits or runs without ever having asked
    used: int | None = None  # tokens in the context
    size: int | None = None
    cost: float | None = None
    currency: str = "USD"
    phase: Phase = "idle"
    awaited: str = ""  # connecting, loading: what for; dead: why; cancelling: what to do when it takes long
    since: float | None = None  # when the phase began
    heard: str = ""  # the last word of the agent
    heard_at: float | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the line."""

    text: str
    style: str = "dim"  # a field of the palette
    part: Part | None = None  # what it tells, for clicks


@dataclass(frozen=True, slots=True)
class _Item:
    """One fact: shown whole or not at all, the least important goes first."""

    piece: Piece
    rank: int  # the higher, the earlier it goes
    left: bool = False


def layout(facts: StatusFacts, width: int, now: float) -> list[Piece]:
    """The line in exactly so many cells: who and where at the left, the rest at the right."""
    items = [*_left(facts, width), *_right(facts, now)]
    room = width - 2  # a blank cell at both ends
    while (over := _cells(items) - room) > 0 and any(item.rank for item in items):
        least = max(items, key=lambda item: item.rank)
        agent = cell_len(items[0].piece.text)
        if least.rank <= ESSENTIAL_RANK and agent - over >= MIN_AGENT_CELLS:
            items[0] = _agent(facts, agent - over)
        else:
            items.remove(least)
    if _cells(items) > room:
        items = _shorten(items, room)
    left = _join([item.piece for item in items if item.left], " · ")
    right = _join([item.piece for item in items if not item.left], "  ")
    gap = width - 2 - sum(cell_len(piece.text) for piece in (*left, *right))
    line = [Piece(" "), *left, Piece(" " * max(0, gap)), *right, Piece(" ")]
    return [piece for piece in line if piece.text]


def _agent(facts: StatusFacts, width: int) -> _Item:
    return _Item(Piece(shorten(facts.agent, width), "strong", "agent"), 0, left=True)


def _left(facts: StatusFacts, width: int) -> list[_Item]:
    items = [_agent(facts, max(MIN_AGENT_CELLS, width // 3))]  # some tell their life in their title
    if facts.project:
        items.append(_Item(Piece(shorten(facts.project, 30), "text", "project"), 5, left=True))
    if facts.branch:
        items.append(_Item(Piece(shorten(facts.branch, 30), "dim", "branch"), 6, left=True))
    return items


def _right(facts: StatusFacts, now: float) -> list[_Item]:
    items: list[_Item] = []
    if facts.acts_unasked and facts.policy != "yolo":
        items.append(_Item(Piece("! acts without asking", "warning", "mark"), 2))
    if facts.mode:
        items.append(_Item(Piece(f"mode: {shorten(facts.mode, 20)} ▾", "accent", "mode"), 4))
    if facts.policy == "yolo":
        items.append(_Item(Piece(" policy: yolo ▾ ", "loud", "policy"), 2))
    elif facts.policy:
        items.append(_Item(Piece(f"policy: {facts.policy} ▾", "accent", "policy"), 4))
    if facts.model:
        items.append(_Item(Piece(f"{shorten(facts.model, 24)} ▾", "dim", "model"), 7))
    if facts.used is not None:
        items.append(_Item(_context(facts.used, facts.size), 3))
    if facts.cost is not None:
        items.append(_Item(Piece(money(facts.cost, facts.currency), "dim", "cost"), 8))
    return [*items, _Item(_phase(facts, now), 0)]


def _context(used: int, size: int | None) -> Piece:
    if not size:
        return Piece(f"ctx {_short_count(used)}", "dim", "context")
    share = used / size
    text = f"ctx {share:.0%}"
    return Piece(
        f"{text} full" if share >= 1 else text, "warning" if share >= NEARLY_FULL else "dim", "context"
    )


def _phase(facts: StatusFacts, now: float) -> Piece:
    since = facts.since if facts.since is not None else now
    gone = duration(now - since)
    match facts.phase:
        case "connecting" | "loading":
            text = facts.awaited or ("connecting" if facts.phase == "connecting" else "loading")
            waited = f" {gone}" if now - since >= 3 else ""
            return Piece(f"◐ {text}{waited}", "warning", "phase")
        case "working":
            return _working(facts, now, since)
        case "asking":
            return Piece("? waits for your answer", "warning", "phase")
        case "cancelling":
            stuck = facts.awaited and now - since >= CANCEL_GRACE_SECONDS
            return Piece(f"⊘ {facts.awaited if stuck else f'stopping {gone}'}", "warning", "phase")
        case "dead":
            return Piece(f"✘ {facts.awaited or 'the agent has ended'}", "error", "phase")
    return Piece("○ idle", "dim", "phase")


def _working(facts: StatusFacts, now: float, since: float) -> Piece:
    """After a while without a word, what was last heard is more interesting than how long it has worked."""
    heard_at = max(facts.heard_at if facts.heard_at is not None else since, since)
    if now - heard_at < SILENCE_SECONDS:
        return Piece(f"● working {duration(now - since)}", "success", "phase")
    silence = duration(now - heard_at)
    if facts.heard and facts.heard_at is not None and facts.heard_at >= since:
        return Piece(f"● last heard: {facts.heard} · {silence} ago", "warning", "phase")
    return Piece(f"● nothing heard for {silence}", "warning", "phase")


def duration(seconds: float) -> str:
    """`0:12`, `3:05`, `1:02:03`."""
    minutes, rest = divmod(max(0, int(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def money(amount: float, currency: str) -> str:
    """`$0.05`; a currency without a sign follows the amount."""
    sign = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥"}.get(currency.upper())
    figure = "<0.01" if 0 < amount < 0.01 else f"{amount:.2f}"
    if sign is None:
        return f"{figure} {currency}".strip()
    return f"<{sign}0.01" if figure.startswith("<") else f"{sign}{figure}"


def _short_count(count: int) -> str:
    if count < 1000:
        return str(count)
    return f"{count / 1000:.0f}k" if count < 1_000_000 else f"{count / 1_000_000:.1f}M"


def _cells(items: list[_Item]) -> int:
    """What they take, with what stands between them."""
    left = [item for item in items if item.left]
    right = [item for item in items if not item.left]
    together = {"mode", "policy"} <= {item.piece.part for item in right}
    between = 3 * (len(left) - 1) + 2 * (len(right) - 1) + together + 2
    return between + sum(cell_len(item.piece.text) for item in items)


def _shorten(items: list[_Item], room: int) -> list[_Item]:
    """Only the agent and the phase are left, and even they are too long."""
    agent, phase = items[0].piece, items[-1].piece
    text = shorten(phase.text, max(2, room - min(cell_len(agent.text), 12) - 2))
    title = shorten(agent.text, max(0, room - cell_len(text) - 2))
    return [
        _Item(Piece(title, agent.style, agent.part), 0, left=True),
        _Item(Piece(text, phase.style, phase.part), 0),
    ]


def _join(pieces: list[Piece], between: str) -> list[Piece]:
    joined: list[Piece] = []
    for piece in pieces:
        together = joined and (joined[-1].part, piece.part) == ("mode", "policy")
        joined += [Piece(" · " if together else between, "faint"), piece] if joined else [piece]
    return joined
