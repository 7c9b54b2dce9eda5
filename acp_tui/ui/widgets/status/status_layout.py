"""The layout of the status line. Items that do not fit are shortened or omitted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rich.cells import cell_len

from acp_tui.console.quantities import pluralize
from acp_tui.session.usage_text import context_share, format_money
from acp_tui.ui.drawing.wrap import shorten
from acp_tui.ui.widgets.status.status_texts import Piece, context_piece, phase_piece
from acp_tui.workspace.git.worktrees.worktree import BRANCH_PREFIX

if TYPE_CHECKING:
    from acp_tui.ui.widgets.status.status_facts import StatusFacts

MIN_AGENT_CELLS = 12
"""The agent's title is shortened to this many cells before essential items are dropped."""
ESSENTIAL_RANK = 7
"""Items up to this `rank` are essential: all of them are shortened before any of them is dropped.

They show warnings, the number of tabs with a question, mode, policy, queue, project and branch, and the
context usage once it matters.
"""
MATTERING_SHARE = 0.5
"""The share of the context from which on its usage is essential."""


@dataclass(frozen=True, slots=True)
class _Item:
    """A part of the status line. Each part is shown or dropped as a whole."""

    piece: Piece
    rank: int  # items with the highest rank are dropped first; 0 is never dropped
    left: bool = False
    short: str = ""  # a shorter text, used before any essential item is dropped


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
    """Shorten the first item that has a short text."""
    index, item = next((index, item) for index, item in enumerate(items) if item.short)
    items[index] = replace(item, piece=replace(item.piece, text=item.short), short="")


def _agent(facts: StatusFacts, width: int) -> _Item:
    return _Item(Piece(shorten(facts.agent, width), "strong", "agent"), 0, left=True)


def _left(facts: StatusFacts, width: int) -> list[_Item]:
    items = [_agent(facts, max(MIN_AGENT_CELLS, width // 3))]  # some titles are very long
    if facts.project:
        items.append(_Item(Piece(shorten(facts.project, 30), "text", "project"), 6, left=True))
    if facts.branch:
        short = facts.branch.removeprefix(BRANCH_PREFIX)
        short = short if short != facts.branch else ""
        items.append(_Item(Piece(shorten(facts.branch, 30), "dim", "branch"), 7, left=True, short=short))
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
        share = context_share(facts.used, facts.size)
        matters = share is not None and share >= MATTERING_SHARE
        items.append(_Item(context_piece(facts), 3 if matters else 8))
    if facts.cost:
        items.append(_Item(Piece(format_money(facts.cost, facts.currency), "dim", "cost"), 9))
    if facts.queued:
        text = f"{facts.queued} queued{', paused' if facts.queue_paused else ''}"
        items.append(_Item(Piece(text, "warning" if facts.queue_paused else "text", "queue"), 5))
    if facts.tabs_asking:
        text = "1 tab needs you" if facts.tabs_asking == 1 else f"{facts.tabs_asking} tabs need you"
        short = f"? {pluralize(facts.tabs_asking, 'tab')}"
        items.append(_Item(Piece(f"? {text}", "warning", "tabs"), 2, short=short))
    return [
        *items,
        _Item(phase_piece(facts, now), 0, short="? your answer" if facts.phase == "asking" else ""),
    ]


def _cells(items: list[_Item]) -> int:
    """Return the width of the items with their separators."""
    left = [item for item in items if item.left]
    right = [item for item in items if not item.left]
    together = {"mode", "policy"} <= {item.piece.part for item in right}
    between = 3 * (len(left) - 1) + 2 * (len(right) - 1) + together + 2
    return between + sum(cell_len(item.piece.text) for item in items)


def _shorten(items: list[_Item], room: int) -> list[_Item]:
    """Shorten the agent's title and the phase to fit into `room` cells.

    An item for the policy `yolo` between title and phase is dropped if the title would get too little room.
    """
    agent, phase = items[0].piece, items[-1].piece
    mark = items[1:-1] if room >= MIN_AGENT_CELLS + _cells(items[1:-1]) else []
    room -= sum(2 + cell_len(item.piece.text) for item in mark)
    text = shorten(phase.text, max(2, room - min(cell_len(agent.text), MIN_AGENT_CELLS) - 2))
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
