"""The status line: its layout, its clock and its clicks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len

from acp_tui.session.usage_text import format_money
from acp_tui.ui.widgets.status_line import StatusFacts, StatusLine, format_clock, layout
from tests.support.looks import Show

if TYPE_CHECKING:
    from acp_tui.ui.widgets.status_line import Phase

FACTS = StatusFacts(
    agent="Claude Code",
    project="my-project",
    branch="main",
    mode="Ask",
    model="Sonnet",
    used=54_000,
    size=200_000,
    cost=0.05,
    phase="working",
    since=100.0,
)


def line_text(facts: StatusFacts, width: int = 200, now: float = 112.0) -> str:
    return "".join(piece.text for piece in layout(facts, width, now))


def test_a_wide_line_shows_everything() -> None:
    line = line_text(FACTS, 110)
    assert line.startswith(" Claude Code · my-project · main   ")
    assert line.endswith("   mode: Ask ▾  Sonnet ▾  ctx 27%  $0.05  ● working 0:12 ")


@pytest.mark.parametrize("policy", ["ask", "accept-edits", "yolo"])
def test_the_policy_is_shown_beside_the_mode(policy: str) -> None:
    line = " ".join(line_text(replace(FACTS, policy=policy)).split())
    mark = "! " if policy == "yolo" else ""
    assert f"mode: Ask ▾ · {mark}policy: {policy} ▾" in line


@pytest.mark.parametrize("phase", ["idle", "working", "asking", "dead"])
@pytest.mark.parametrize("width", range(24, 120, 7))
def test_the_yolo_policy_is_always_shown(width: int, phase: Phase) -> None:
    facts = replace(FACTS, policy="yolo", phase=phase, agent="A Long Agent Name")
    assert "yolo" in line_text(facts, width)
    assert cell_len(line_text(facts, width)) == width


def test_less_important_facts_are_dropped_first() -> None:
    dropped: list[str] = []
    for width in range(110, 30, -1):
        line = line_text(FACTS, width)
        parts = ("$0.05", "Sonnet", "main", "ctx", "my-project", "Ask")
        dropped += [part for part in parts if part not in line and part not in dropped]
        assert "Claude Code" in line
        assert "● working 0:12" in line
    assert dropped == ["$0.05", "Sonnet", "ctx", "main", "my-project", "Ask"]


def test_the_queue_and_tabs_that_ask_are_counted() -> None:
    assert "ctx 27%  $0.05  2 queued  ● working" in line_text(replace(FACTS, queued=2))
    paused = layout(replace(FACTS, queued=3, queue_paused=True), 200, 0)
    assert next((piece.text, piece.style) for piece in paused if piece.part == "queue") == (
        "3 queued, paused",
        "warning",
    )
    assert "  ? 1 tab needs you  ● working" in line_text(replace(FACTS, tabs_asking=1))
    assert "  ? 2 tabs need you  ● working" in line_text(replace(FACTS, tabs_asking=2))


def test_in_a_narrow_line_essential_facts_are_shortened_before_one_is_dropped() -> None:
    facts = replace(FACTS, policy="accept-edits", phase="asking")
    asking = "  ? waiting for your answer "
    assert line_text(facts, 100).endswith(f" mode: Ask ▾ · policy: accept-edits ▾{asking}")
    assert line_text(facts, 80).endswith(" Ask ▾ · policy: accept-edits ▾  ? your answer ")
    facts = replace(facts, tabs_asking=2, queued=2)
    assert line_text(facts, 100).endswith(" accept-edits ▾  2 queued  ? 2 tabs  ? your answer ")
    assert line_text(facts, 80).endswith(" accept-edits ▾  2 queued  ? 2 tabs  ? your answer ")
    assert line_text(facts, 46) == " Claude Code          ? 2 tabs  ? your answer "


def test_project_and_branch_are_kept_at_80_columns_until_the_context_matters() -> None:
    facts = replace(FACTS, policy="ask", used=0)
    assert line_text(facts, 80).startswith(" Claude Code · my-project · main ")
    assert "ctx 75%" in line_text(replace(facts, used=150_000), 80)
    branch = "acp-tui/claude-1123-1900"
    assert " · claude-1123-1900 " in line_text(replace(facts, branch=branch, phase="idle"), 80)


def test_a_long_title_is_shortened_before_essential_facts_are_dropped() -> None:
    title = "The Exceptionally Thorough Coding Agent of the Company, Limited"
    mode, model = "Ask before everything that is dangerous", "The model with the longest name of all of them"
    facts = replace(FACTS, agent=title, mode=mode, model=model, policy="yolo", project="project " * 9)
    line = line_text(facts, 80)
    assert all(part in line for part in ("The Ex", "policy: yolo", "● working 0:12"))
    line = line_text(facts, 64)
    assert all(part in line for part in ("The Ex", "policy: yolo", "● working 0:12"))
    assert line_text(replace(FACTS, agent=title), 200).startswith(f" {title} · my-project · main ")


@pytest.mark.parametrize("width", [8, 10, 20, 33, 50, 64, 80, 200])
@pytest.mark.parametrize("agent", ["A", "Claude Code", "漢字" * 20])
def test_the_line_has_exactly_its_width(width: int, agent: str) -> None:
    assert cell_len(line_text(replace(FACTS, agent=agent), width)) == width


def test_the_yolo_policy_is_dropped_last() -> None:
    line = line_text(replace(FACTS, policy="yolo"), 54)
    assert "yolo" in line
    assert "Ask" not in line
    assert (
        next(piece.style for piece in layout(replace(FACTS, policy="yolo"), 54, 0) if "yolo" in piece.text)
        == "loud"
    )


def test_an_agent_that_acts_without_asking_is_marked() -> None:
    assert "! acts without asking" in line_text(replace(FACTS, acts_without_asking=True))


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        (replace(FACTS, phase="idle"), "○ idle"),
        (replace(FACTS, phase="connecting", since=110.0), "◐ connecting "),
        (replace(FACTS, phase="connecting", phase_detail="starting npx"), "◐ starting npx 0:12"),
        (replace(FACTS, phase="loading"), "◐ loading 0:12"),
        (replace(FACTS, phase="asking"), "? waiting for your answer"),
        (replace(FACTS, phase="cancelling"), "⊘ stopping 0:12"),
        (replace(FACTS, phase="dead", phase_detail="ended with code 3"), "✘ ended with code 3"),
        (replace(FACTS, phase="dead"), "✘ the agent has ended"),
        (replace(FACTS, since=None), "● working 0:00"),
    ],
)
def test_every_phase_has_a_text(facts: StatusFacts, text: str) -> None:
    assert f"  {text}" in line_text(facts)


def test_after_a_silent_minute_the_last_message_is_shown() -> None:
    facts = replace(FACTS, heard="tool call", heard_at=140.0)
    assert "● working 1:39" in line_text(facts, now=199.0)
    assert "● last heard: tool call · 1:12 ago" in line_text(facts, now=212.0)


def test_the_reason_of_a_repeated_request_is_shown() -> None:
    assert "● retrying: ConnectError 0:12" in line_text(replace(FACTS, retrying="ConnectError"))
    assert "● retrying 0:12" in line_text(replace(FACTS, retrying=""))


def test_a_cost_of_nothing_is_not_shown() -> None:
    assert "$" not in line_text(replace(FACTS, cost=0.0))
    assert "$0.25" in line_text(replace(FACTS, cost=0.25))


def test_messages_before_the_turn_do_not_count() -> None:
    facts = replace(FACTS, heard="tool call", heard_at=20.0)
    assert "● working 0:59" in line_text(facts, now=159.0)
    assert "● nothing heard for 1:00" in line_text(facts, now=160.0)


def test_a_nearly_full_context_stands_out() -> None:
    def style(used: int, size: int | None) -> tuple[str, str]:
        pieces = layout(replace(FACTS, used=used, size=size), 200, 0)
        return next((piece.text, piece.style) for piece in pieces if piece.part == "context")

    assert style(169_000, 200_000) == ("ctx 84%", "dim")
    assert style(170_000, 200_000) == ("! ctx 85%", "warning")
    assert style(210_000, 200_000) == ("! ctx 105% full", "warning")
    assert style(12_345, None) == ("ctx 12k", "dim")
    assert style(0, 0) == ("ctx 0", "dim")


def test_durations_and_amounts_are_formatted() -> None:
    assert [format_clock(seconds) for seconds in (-1, 0, 59.9, 60, 3599, 3723)] == [
        *("0:00", "0:00", "0:59", "1:00", "59:59", "1:02:03")
    ]
    amounts = [(0, "USD"), (0.004, "USD"), (1.5, "eur"), (2, "CHF"), (0.001, "CHF"), (3, "")]
    assert [format_money(*amount) for amount in amounts] == [
        *("$0.00", "<$0.01", "€1.50", "2.00 CHF", "<0.01 CHF", "3.00")
    ]


class ClickRecorder(Show):
    """Shows a status line and records its messages."""

    def __init__(self, facts: StatusFacts) -> None:
        super().__init__("dark", widgets=self._make)
        self.facts = facts
        self.clicked: list[str] = []
        self.now = 112.0

    def _make(self) -> list[StatusLine]:
        return [StatusLine(self.facts, clock=lambda: self.now)]

    def on_status_line_setting_clicked(self, event: StatusLine.SettingClicked) -> None:
        self.clicked.append(event.setting)

    def on_status_line_phase_clicked(self) -> None:
        self.clicked.append("phase")

    def on_status_line_usage_clicked(self) -> None:
        self.clicked.append("usage")

    def on_status_line_asking_tabs_clicked(self) -> None:
        self.clicked.append("tabs")


async def test_what_opens_something_can_be_clicked() -> None:
    app = ClickRecorder(replace(FACTS, tabs_asking=1))
    async with app.run_test(size=(130, 5)) as pilot:
        line = line_text(app.facts, 130)
        for text in ("Claude", "Ask", "ctx", "Sonnet", "1 tab", "working"):
            await pilot.click(StatusLine, offset=(line.index(text), 0))
        await pilot.pause()
    assert app.clicked == ["mode", "usage", "model", "tabs", "phase"]


async def test_the_line_ticks_only_in_phases_with_a_duration() -> None:
    app = ClickRecorder(replace(FACTS, phase="idle"))
    async with app.run_test(size=(110, 5)):
        line = app.query_one(StatusLine)
        ticking = [line.ticking]
        for facts in (FACTS, replace(FACTS, phase="asking"), replace(FACTS, phase="loading"), FACTS):
            line.facts = facts
            ticking.append(line.ticking)
        assert ticking == [False, True, False, True, True]
        assert "working 0:12" in line.render_line(0).text
        app.now = 113.0
        assert "working 0:13" in line.render_line(0).text
