"""The status line at the top: the facts that it may show, how they are laid out, and the widget."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from acp_tui.console import pluralize
from acp_tui.session.usage_text import context_share, format_money, short_count
from acp_tui.ui.drawing.wrap import shorten
from acp_tui.ui.theme.palette import current_palette
from acp_tui.workspace.git.worktree import BRANCH_PREFIX

if TYPE_CHECKING:
    from textual import events
    from textual.timer import Timer


CONTEXT_WARNING = 0.85
"""The default of the setting `context_warning`, as a share of the context window."""
Phase = Literal["connecting", "loading", "idle", "working", "background", "asking", "cancelling", "dead"]
SILENCE_SECONDS = 60.0
"""After this many seconds without a message from the agent, the status line names the last one."""
MAX_REASON_WIDTH = 24
"""The maximum width of the reason for which an agent repeats a request."""
CANCEL_GRACE_SECONDS = 5.0
"""An agent that has not ended a cancelled turn after this many seconds is shown as not responding."""
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
MIN_AGENT_CELLS = 12
"""The agent's title is shortened to this many cells before essential items are dropped."""
ESSENTIAL_RANK = 7
"""Items up to this `rank` are essential: all of them are shortened before any of them is dropped.

They show warnings, the number of tabs with a question, mode, policy, queue, project and branch, and the
context usage once it matters.
"""
MATTERING_SHARE = 0.5
"""The share of the context from which on its usage is essential."""
TICKING_PHASES = frozenset({"connecting", "loading", "working", "cancelling"})
"""Phases whose duration is shown."""


class StatusLine(Widget):
    """Shows `StatusFacts` in one row."""

    DEFAULT_CSS = """
    StatusLine { height: 1; background: $surface; color: $foreground; }
    """
    ALLOW_SELECT = False

    class SettingClicked(Message):
        """The mode, the model or the policy was clicked: let the user choose another one."""

        def __init__(self, setting: str) -> None:
            super().__init__()
            self.setting = setting

    class PhaseClicked(Message):
        """The phase was clicked: scroll to the end of the conversation."""

    class UsageClicked(Message):
        """The context or the cost was clicked: show what the session used."""

    class AskingTabsClicked(Message):
        """The user clicked the count of other tabs with a question: show the tab that has waited longest."""

    _CLICKABLE: ClassVar = ("mode", "policy", "model", "context", "cost", "tabs", "phase")

    def __init__(
        self,
        facts: StatusFacts,
        *,
        clock: Callable[[], float] = time.time,
        id: str | None = None,  # noqa: A002  # as in Textual
    ) -> None:
        super().__init__(id=id)
        self._facts = facts
        self._clock = clock
        self._timer: Timer | None = None
        self._hovered: str | None = None

    @property
    def facts(self) -> StatusFacts:
        """The contents of the status line."""
        return self._facts

    @facts.setter
    def facts(self, facts: StatusFacts) -> None:
        if facts != self._facts:
            self._facts = facts
            self._tick_while_needed()
            self.refresh()

    def on_mount(self) -> None:
        """Start the timer if the duration of the phase is shown."""
        self._tick_while_needed()

    @property
    def ticking(self) -> bool:
        """True while the line is redrawn every second."""
        return self._timer is not None

    def _tick_while_needed(self) -> None:
        """Redraw the line every second, but only while it shows a duration."""
        changes = self._facts.phase in TICKING_PHASES or self._facts.retry_at is not None
        needed = changes and self.is_attached
        if needed and self._timer is None:
            self._timer = self.set_interval(1, self.refresh)
        elif not needed and self._timer is not None:
            self._timer.stop()
            self._timer = None

    def render_line(self, y: int) -> Strip:  # noqa: ARG002  # there is one line only
        base = self.rich_style
        pieces = layout(self._facts, self.size.width, self._clock())
        line = Strip([Segment(piece.text, base + self._style(piece)) for piece in pieces])
        return line.adjust_cell_length(self.size.width, base)

    def _style(self, piece: Piece) -> Style:
        style: Style = getattr(current_palette(), piece.style)
        if piece.part not in self._CLICKABLE:
            return style
        style += Style.from_meta({"part": piece.part})
        return style + Style(underline=True) if piece.part == self._hovered else style

    def on_click(self, event: events.Click) -> None:
        """Post the message of the clicked part."""
        part = event.style.meta.get("part")
        if part in self._CLICKABLE:
            event.stop()
            self.post_message(self._message(part))

    def _message(self, part: str) -> Message:
        """Return the message for a click on a part."""
        match part:
            case "phase":
                return self.PhaseClicked()
            case "tabs":
                return self.AskingTabsClicked()
            case "context" | "cost":
                return self.UsageClicked()
        return self.SettingClicked(part)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Underline the part under the mouse if the part can be clicked."""
        self._hover(event.style.meta.get("part"))

    def on_leave(self) -> None:
        self._hover(None)

    def _hover(self, part: str | None) -> None:
        if part != self._hovered:
            self._hovered = part
            self.refresh()


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
    acts_without_asking: bool = False  # the agent has edited files or run commands, and never asked
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
    retry_at: float | None = None  # when acp-tui connects again by itself
    failed: bool = False  # the last turn ended with an error
    plan_share: float | None = None  # the finished share of the turn's plan; None if nothing is finished
    retrying: str | None = None  # why the agent repeats a request to its model; None if it does not
    heard: str = ""  # describes the agent's last message
    heard_at: float | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the status line in one style."""

    text: str
    style: str = "dim"  # a field of `Palette`
    part: Part | None = None  # identifies the fact, for clicks


def context_piece(facts: StatusFacts) -> Piece:
    """Return how full the context window is, or how many tokens are used if its size is unknown."""
    used = facts.used or 0
    share = context_share(used, facts.size)
    if share is None:
        return Piece(f"ctx {short_count(used)}", "dim", "context")
    text = f"ctx {share:.0%} full" if share >= 1 else f"ctx {share:.0%}"
    if share >= facts.context_warning:
        return Piece(f"! {text}", "warning", "context")
    return Piece(text, "dim", "context")


def phase_piece(facts: StatusFacts, now: float) -> Piece:
    """Return what the agent is doing, and for how long."""
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
        case "dead" if facts.retry_at is not None:
            pause = max(1, math.ceil(facts.retry_at - now))
            text = f"✘ disconnected · tries again in {pause} s · {facts.phase_detail}"
            return Piece(text, "error", "phase")
        case "dead":
            return Piece(f"✘ {facts.phase_detail or 'the agent has ended'}", "error", "phase")
        case "background":
            return Piece("● working in the background", "success", "phase")
    return Piece("○ idle", "dim", "phase")


def _working(facts: StatusFacts, now: float, since: float) -> Piece:
    """Return how long the turn has run.

    If the agent repeats a request to its model, return the reason as well. After a long silence, return
    instead how long the silence is and what the agent last sent, if anything.
    """
    if facts.retrying is not None:
        reason = f": {shorten(facts.retrying, MAX_REASON_WIDTH)}" if facts.retrying else ""
        return Piece(f"● retrying{reason} {format_clock(now - since)}", "warning", "phase")
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
