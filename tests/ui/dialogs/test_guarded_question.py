"""The dialog with questions before an agent starts."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.guarded_question import GuardedQuestion, StartAnswer
from acp_tui.ui.dialogs.guarded_question import GuardedQuestionScreen
from acp_tui.ui.widgets.body_scroller import BodyScroller
from tests.support.looks import Show, look, two_looks

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from textual.pilot import Pilot

ANSWERS = (StartAnswer("Not in this session"), StartAnswer("Use it", grants=True), StartAnswer("Never"))
TRUST = GuardedQuestion(
    title="Trust this folder?",
    text="Files in this folder choose programs to run on your computer. The files are ignored until you "
    "trust the folder. Each MCP server is shown to you before it is used.",
    facts=(
        ("folder", "/home/ada/projects/shop"),
        ("agent", "Claude Code  (.acp-tui.toml)"),
        ("command", "claude-agent-acp"),
        ("MCP servers", "github, docs  (.mcp.json)"),
    ),
    answers=(
        StartAnswer("Do not start"),
        StartAnswer("Trust this folder", grants=True),
        StartAnswer("Never trust this folder"),
    ),
)
SERVER = GuardedQuestion(
    title='Use the MCP server "github"?',
    text="The agent would start this program, with your full permissions.",
    facts=(
        ("defined in", "/home/ada/projects/shop/.mcp.json:2"),
        ("command", "npx -y @example/server-github --repo ada/shop"),
        ("program", "/usr/bin/npx"),
        ("environment", "GITHUB_TOKEN=${GITHUB_TOKEN}"),
        ("", "NODE_OPTIONS=--require ./hook.js"),
        ("not used", "timeout"),
    ),
    warnings=(
        "Its definition has changed since you answered.",
        "It gets the value of GITHUB_TOKEN from your environment.",
    ),
    answers=(*ANSWERS, StartAnswer("Use neither this server nor the other 2")),
    position=(1, 3),
)
LONG = GuardedQuestion("Use it?", "Text", ANSWERS, facts=(("command", "sh -c " + "x" * 3_000),))
MORE_THAN_A_PAGE = replace(LONG, facts=(("command", "sh -c " + "x" * 1_500),))


class Clock:
    """A clock set by the test."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def asking(
    question: GuardedQuestion[StartAnswer], theme: str = "dark", *, clock: Clock | None = None
) -> Show:
    clock = clock or Clock()
    app = Show(theme, screen=lambda: GuardedQuestionScreen(question, clock=clock))  # type: ignore[arg-type, return-value]
    app.clock = clock  # type: ignore[attr-defined]
    return app


async def _pause_in_typing(pilot: Pilot[None]) -> None:
    pilot.app.clock.now += 1  # type: ignore[attr-defined]
    pilot.app.screen.update_hints()  # type: ignore[attr-defined]
    await pilot.pause()


@asynccontextmanager
async def showing(question: GuardedQuestion[StartAnswer]) -> AsyncIterator[tuple[Show, Pilot[None]]]:
    app = asking(question)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await _pause_in_typing(pilot)
        yield app, pilot


@look
def test_trust_of_a_folder(theme: str, size: tuple[int, int], snap_compare: Any) -> None:
    assert snap_compare(asking(TRUST, theme), terminal_size=size, run_before=_pause_in_typing)


@look
def test_consent_to_a_server(theme: str, size: tuple[int, int], snap_compare: Any) -> None:
    assert snap_compare(asking(SERVER, theme), terminal_size=size, run_before=_pause_in_typing)


@two_looks
def test_more_than_fits(theme: str, size: tuple[int, int], snap_compare: Any) -> None:
    async def act(pilot: Pilot[None]) -> None:
        await _pause_in_typing(pilot)
        await pilot.press("down", "enter")
        await _pause_in_typing(pilot)

    assert snap_compare(asking(LONG, theme), terminal_size=size, run_before=act)


@pytest.mark.parametrize(
    ("keys", "answer"),
    [(["enter"], 0), (["down", "enter"], 1), (["up", "enter"], 3), (["escape"], None), (["ctrl+c"], None)],
)
async def test_an_answer_is_chosen(keys: list[str], answer: int | None) -> None:
    async with showing(SERVER) as (app, pilot):
        await pilot.press(*keys)
    assert app.answers == [answer]


async def test_typing_answers_nothing() -> None:
    app = asking(SERVER)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("down", "enter", "a", "enter")
        assert app.answers == []


async def test_a_refusal_needs_no_reading() -> None:
    async with showing(LONG) as (app, pilot):
        await pilot.press("down", "down", "enter")
    assert app.answers == [2]


async def read_to_the_end(app: Show, pilot: Pilot[None]) -> None:
    page = app.screen.query_one(BodyScroller)
    while page.scroll_offset.y < page.max_scroll_y:
        await pilot.press("pagedown")
        await pilot.pause()


async def test_something_is_allowed_only_after_all_of_the_text_was_shown_in_this_size() -> None:
    async with showing(MORE_THAN_A_PAGE) as (app, pilot):
        await pilot.press("down", "enter", "enter")
        assert app.answers == []
        await read_to_the_end(app, pilot)
        await pilot.resize_terminal(60, 24)
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
        assert app.answers == []
        await read_to_the_end(app, pilot)
        await pilot.press("enter")
    assert app.answers == [1]
