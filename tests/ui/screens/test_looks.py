"""Pictures of dialogs, lists and details."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from textual.events import Paste

from acp_tui.session.growing_text import GrowingText
from acp_tui.session.safe_text import visible_json
from acp_tui.session.state import (
    Choice,
    ConfigOption,
    Cost,
    Quota,
    Session,
    SlashCommand,
    TurnUsage,
    Usage,
    UserMessage,
)
from acp_tui.ui.conversation.usage_screen import UsageScreen
from acp_tui.ui.dialogs.choose import ChooseScreen
from acp_tui.ui.dialogs.confirm import ConfirmScreen
from acp_tui.ui.dialogs.detail import DetailScreen, FileViewScreen
from acp_tui.ui.permission.dialog import PermissionScreen
from acp_tui.ui.screens.options import OptionChanges, OptionsScreen
from acp_tui.ui.widgets.body_scroller import BodyScroller
from acp_tui.ui.widgets.select_list import SelectList
from acp_tui.ui.widgets.status_line import StatusFacts, StatusLine
from tests.support.looks import LARGE, SMALL, Show, look, two_looks
from tests.support.waiting import until
from tests.ui.screens import questions

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.pilot import Pilot

    from acp_tui.controller.user_questions import Question


class Clock:
    """A clock set by the test."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def permission_app(theme: str, question: Question, *, armed: bool = True) -> Show:
    """Return an app with the permission dialog, whose keys work."""
    clock = Clock()

    def screen() -> PermissionScreen:
        return PermissionScreen(
            question,
            agent="Claude Code",
            position=(2, 3),
            cwd=questions.CWD,
            clock=clock,
        )

    app = Show(theme, screen=screen)  # type: ignore[arg-type]  # of whatever result
    app.clock = clock  # type: ignore[attr-defined]
    app.armed = armed  # type: ignore[attr-defined]
    return app


async def _quiet(pilot: Pilot[None]) -> None:
    """Let enough time pass that keys work."""
    pilot.app.clock.now += 1  # type: ignore[attr-defined]
    pilot.app.screen.update_hints()  # type: ignore[attr-defined]
    await pilot.pause()


ASKED: dict[str, Callable[[], Question]] = {
    "command": lambda: questions.with_rules(questions.command()),
    "dangerous": questions.dangerous,
    "edit": questions.edit,
    "many-options": questions.many_options,
    "unclear": questions.unclear,
    "guarded-write": questions.guarded_write,
    "guarded-command": questions.guarded_command,
    "own-tool": questions.own_tool,
}


@look
@pytest.mark.parametrize("asked", ["command", "edit"])
def test_permission_in_every_look(asked: str, theme: str, size: tuple[int, int], snap_compare: Any) -> None:
    app = permission_app(theme, ASKED[asked]())
    assert snap_compare(app, terminal_size=size, run_before=_quiet)


@two_looks
@pytest.mark.parametrize("asked", ["dangerous", "many-options"])
def test_permission(asked: str, theme: str, size: tuple[int, int], snap_compare: Any) -> None:
    app = permission_app(theme, ASKED[asked]())
    assert snap_compare(app, terminal_size=size, run_before=_quiet)


@pytest.mark.parametrize("asked", ["unclear", "guarded-write", "guarded-command", "own-tool"])
def test_other_permissions(asked: str, snap_compare: Any) -> None:
    assert snap_compare(permission_app("dark", ASKED[asked]()), terminal_size=SMALL, run_before=_quiet)


@pytest.mark.parametrize(
    ("theme", "size"),
    [("dark", (60, 20)), ("light", SMALL), ("dark", LARGE)],
    ids=["dark-60x20", "light-80x24", "dark-120x40"],
)
@pytest.mark.parametrize("page", ["first", "last"])
def test_facts_in_pages(page: str, theme: str, size: tuple[int, int], snap_compare: Any) -> None:
    async def act(pilot: Pilot[None]) -> None:
        await _quiet(pilot)
        while page == "last" and pilot.app.screen.query_one("#more").display:
            await pilot.press("enter")
            await _quiet(pilot)

    app = permission_app(theme, questions.large())
    assert snap_compare(app, terminal_size=size, run_before=act)


RULES: dict[str, Callable[[], Question]] = {
    "command": lambda: questions.with_rules(questions.command()),
    "composite": questions.composite,
    "edit": lambda: questions.with_rules(questions.edit_in_folder()),
}


@two_looks
def test_parts_of_a_command(theme: str, size: tuple[int, int], snap_compare: Any) -> None:
    app = permission_app(theme, questions.composite())
    assert snap_compare(app, terminal_size=size, run_before=_quiet)


@pytest.mark.parametrize(
    ("asked", "theme", "size"),
    [
        ("composite", "dark", SMALL),
        ("composite", "light", LARGE),
        ("composite", "ansi", SMALL),
        ("command", "dark", SMALL),
        ("edit", "dark", SMALL),
    ],
    ids=[
        "composite-dark-80x24",
        "composite-light-120x40",
        "composite-ansi-80x24",
        "command-dark-80x24",
        "edit-dark-80x24",
    ],
)
def test_always_in_words(asked: str, theme: str, size: tuple[int, int], snap_compare: Any) -> None:
    async def act(pilot: Pilot[None]) -> None:
        await _quiet(pilot)
        await pilot.press("A", "down", "right")
        await _quiet(pilot)

    app = permission_app(theme, RULES[asked]())
    assert snap_compare(app, terminal_size=size, run_before=act)


@two_looks
def test_reject_with_a_reason(theme: str, size: tuple[int, int], snap_compare: Any) -> None:
    async def act(pilot: Pilot[None]) -> None:
        await _quiet(pilot)
        await pilot.press("t")
        assert pilot.app.focused is not None
        pilot.app.focused.post_message(Paste("use uv run pytest"))
        await _quiet(pilot)

    app = permission_app(theme, ASKED["command"]())
    assert snap_compare(app, terminal_size=size, run_before=act)


def test_permission_while_typing(snap_compare: Any) -> None:
    assert snap_compare(permission_app("dark", ASKED["command"]()), terminal_size=(80, 24))


def test_permission_in_full_size_with_raw_input(snap_compare: Any) -> None:
    async def act(pilot: Pilot[None]) -> None:
        await _quiet(pilot)
        await pilot.press("v")
        await _quiet(pilot)
        await pilot.press("i")
        await _quiet(pilot)

    assert snap_compare(permission_app("dark", questions.edit()), terminal_size=(80, 24), run_before=act)


MODELS = [
    Choice("default", "Default", "What your plan recommends"),
    Choice("opus", "Opus", "For hard problems; uses your limits up several times as fast as the others do"),
    Choice("sonnet", "Sonnet", "For daily work", group="Anthropic"),
    Choice("haiku", "Haiku", group="Anthropic"),
    *(Choice(f"local/{number}", f"Local model {number}", group="local") for number in range(30)),
]


@look
def test_choose(theme: str, size: tuple[int, int], snap_compare: Any) -> None:
    app = Show(
        theme,
        screen=lambda: ChooseScreen("Model", MODELS, current="sonnet"),  # type: ignore[arg-type, return-value]
    )
    assert snap_compare(app, terminal_size=size)


def test_choose_filtered(snap_compare: Any) -> None:
    app = Show(
        "dark",
        screen=lambda: ChooseScreen("Model", MODELS, current="sonnet"),  # type: ignore[arg-type, return-value]
    )
    assert snap_compare(app, terminal_size=SMALL, press=["l", "1"])


@two_looks
def test_confirm(theme: str, size: tuple[int, int], snap_compare: Any) -> None:
    question = (
        "/home/ada/notes.txt is outside the workspace: attach it all the same?"
        " The agent gets all of its text, and what is in it may go to a server of the agent's maker."
    )
    app = Show(
        theme,
        screen=lambda: ConfirmScreen(  # type: ignore[arg-type, return-value]
            question, yes="Yes, attach it", no="No, do not send the prompt"
        ),
    )
    assert snap_compare(app, terminal_size=size, press=["down"])


@look
def test_detail(theme: str, size: tuple[int, int], snap_compare: Any) -> None:
    text = visible_json(
        [{"sessionUpdate": "weather", "number": number, "wide": "漢字 " * 30} for number in range(9)]
    )
    app = Show(theme, screen=lambda: DetailScreen("session update 'weather'", text))  # type: ignore[arg-type, return-value]
    assert snap_compare(app, terminal_size=size, press=["pagedown"])


def used_session() -> Session:
    """A session whose agent has reported everything that it can."""
    session = Session(usage=Usage(182_000, 200_000, Cost(1.42, "USD")), commands=[SlashCommand("compact")])
    prompts = ("Find out why the login fails for users without a name", "Fix it", "漢字 in a prompt")
    for turn, prompt in enumerate(prompts, 1):
        message = UserMessage(id=turn, at=0, turn=turn, parts=[GrowingText(prompt)])
        session.entries.append(message)
        tokens = {"inputTokens": 12_345 * turn, "outputTokens": 1_200, "cachedReadTokens": 90_000 * turn}
        cost = Cost(0.4 * turn, "USD")
        models = {f"model-{turn % 2}": tokens}
        session.turn_usages.append(
            TurnUsage(turn, 0, tokens, models, used=60_000 * turn, size=200_000, cost=cost)
        )
    session.quotas = {
        "5-hour limit": Quota("5-hour limit", "allowed_warning", 0.91, 2_500.0),
        "weekly limit": Quota("weekly limit", "allowed", 0.3, 300_000.0),
    }
    return session


@look
def test_usage(theme: str, size: tuple[int, int], snap_compare: Any) -> None:
    app = Show(
        theme,
        screen=lambda: UsageScreen(used_session(), warning=0.85, now=lambda: 100.0),  # type: ignore[arg-type, return-value]
    )
    assert snap_compare(app, terminal_size=size)


def session_with_options() -> Session:
    """A session whose agent offers options of all categories."""

    def select(key: str, name: str, category: str | None, *choices: Choice) -> ConfigOption:
        current, about = (
            choices[0].value,
            f"What {name} is for, in a sentence that is a bit longer than the row",
        )
        return ConfigOption(key, name, "select", current, about, category, [*choices])

    plain = (Choice("a", "Default", "The one that is recommended"), Choice("b", "Other"))
    models = [Choice(f"m{number}", f"Model {number}", "Good", f"Maker {number // 2}") for number in range(4)]
    return Session(
        config_options=[
            select("mode", "Mode", "mode", *plain),
            select("model", "Model", "model", *models),
            select("effort", "Effort", "thought_level", *plain),
            ConfigOption("fast", "Fast mode", "boolean", True, "Faster", "model_config"),
            ConfigOption("ultra", "漢字 with a long name, longer than the column", "boolean", False),
            select("allow_all", "Allow all", "permissions", *plain),
            ConfigOption("odd", "Odd", "colour", "red"),
        ]
    )


def options_app(theme: str, session: Session) -> Show:
    """Return an app with the options dialog, in which the first change of an option fails."""
    changes = OptionChanges(lambda *_: asyncio.sleep(0), lambda: None)
    changes.wanted["effort"] = "b"
    changes.failures["mode"] = "session/set_config_option failed: this mode needs another plan."
    return Show(
        theme,
        screen=lambda: OptionsScreen(  # type: ignore[arg-type, return-value]
            session, changes, change=lambda *_: None, choose=lambda *_: None
        ),
    )


@look
def test_options(theme: str, size: tuple[int, int], snap_compare: Any) -> None:
    assert snap_compare(options_app(theme, session_with_options()), terminal_size=size)


async def test_the_options_dialog_shows_what_the_agent_changes_meanwhile() -> None:
    session = session_with_options()
    app = options_app("dark", session)
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("down", "down")
        session.config_options = session.config_options[2:]
        session.config_options[0].current = "b"
        app.screen.refresh_options()  # type: ignore[attr-defined]
        rows = app.screen.query_one(SelectList)
        assert rows.selected == 0, "the option that was selected is still selected"
        await pilot.press("a", "l", "l", "o", "w")
        await until(lambda: rows.virtual_size.height == 1)


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
    heard="tool call",
    heard_at=110.0,
)
LINES = [
    FACTS,
    replace(FACTS, phase="idle", used=170_000),
    replace(FACTS, phase="connecting", phase_detail="starting npx", mode="", model="", used=None, cost=None),
    replace(FACTS, since=0.0, heard_at=40.0),
    replace(FACTS, phase="asking", policy="yolo"),
    replace(FACTS, phase="cancelling", acts_without_asking=True),
    replace(FACTS, phase="dead", phase_detail="the agent ended with code 3"),
    replace(FACTS, agent="An Agent With A Very Long Name Indeed", project="漢字の計画"),
]


@pytest.mark.parametrize(
    ("width", "theme"), [(60, "dark"), (80, "dark"), (80, "ansi"), (120, "dark"), (120, "light")]
)
def test_status_line(width: int, theme: str, snap_compare: Any) -> None:
    def widgets() -> list[StatusLine]:
        return [StatusLine(facts, clock=lambda: 112.0) for facts in LINES]

    assert snap_compare(Show(theme, widgets=widgets), terminal_size=(width, 10))


@look
def test_a_file_from_a_line_on(theme: str, size: tuple[int, int], snap_compare: Any) -> None:
    code = [
        f"def function_{number}(value: int) -> str:\n    return f'{{value}}'\n\n\n" for number in range(40)
    ]
    text = "".join(code).replace("function_21(", "function_21(" + "very_" * 20)

    def screen() -> FileViewScreen:
        return FileViewScreen("src/app.py:85", "src/app.py", text, line=85)

    async def scrolled(pilot: Pilot[None]) -> None:
        await until(lambda: pilot.app.screen.query_one(BodyScroller).scroll_y > 0, between=pilot.pause)
        await pilot.pause()

    app = Show(theme, screen=screen)  # type: ignore[arg-type]  # of whatever result
    assert snap_compare(app, terminal_size=size, run_before=scrolled)
