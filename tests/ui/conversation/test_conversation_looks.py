"""Pictures of the conversation screen. Themes and sizes change while one conversation stays open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pytest_textual_snapshot import SVGImageExtension  # type: ignore[import-untyped]

from acp_tui import web_browser
from acp_tui.session.state import ToolCall
from acp_tui.ui.conversation.session_screen import SessionScreen
from acp_tui.ui.conversation.sign_in_dialogs import SignInProgress
from acp_tui.ui.dialogs import dialog
from acp_tui.ui.dialogs.choose import ChooseScreen
from tests.fake_agents.signs_in import ADDRESS
from tests.support.conversation_ui import ConversationUi, agent, app_of, mark_processes, offers
from tests.support.looks import LARGE, SMALL

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence
    from pathlib import Path

    Act = Callable[[ConversationUi], Awaitable[None]]
    Look = tuple[str, tuple[int, int]]
    Shoot = Callable[..., Awaitable[list[str]]]

OFFERS: dict[str, Any] = {
    "session": {
        "modes": {
            "currentModeId": "ask",
            "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "c", "name": "Code"}],
        },
        "models": {"currentModelId": "s", "availableModels": [{"modelId": "s", "name": "Sonnet"}]},
    }
}
ANSWER = """I found the cause in **login.py**: an assignment where a comparison was meant.

```python
if user is None:
    return False
```

| File | Lines |
|---|---|
| login.py | 1 |
"""
OLD = "def login(user):\n    if user = None:\n        return\n"
NEW = "def login(user):\n    if user is None:\n        return False\n"
LOOK = {
    "sessionUpdate": "tool_call",
    "toolCallId": "read",
    "title": "Read login.py",
    "kind": "read",
    "status": "completed",
}
EDIT = {
    "sessionUpdate": "tool_call",
    "toolCallId": "edit",
    "title": "Edit login.py",
    "kind": "edit",
    "status": "completed",
    "locations": [{"path": "login.py", "line": 1}],
    "content": [{"type": "diff", "path": "login.py", "oldText": OLD, "newText": NEW}],
}
RUN = {
    "sessionUpdate": "tool_call",
    "toolCallId": "run",
    "title": "pytest -q",
    "kind": "execute",
    "status": "in_progress",
}
PLAN = {
    "sessionUpdate": "plan",
    "entries": [
        {"content": "Find the cause", "status": "completed", "priority": "high"},
        {"content": "Repair it", "status": "in_progress", "priority": "high"},
    ],
}
QUESTION = {"title": "Fetch the manual", "kind": "fetch", "rawInput": {"page": 7}}
WORDS = ["say", "Working on it."]
TURNS: dict[str, list[list[Any]]] = {
    "fix the login bug": [["update", PLAN], ["update", LOOK], ["update", EDIT], ["say", ANSWER]],
    "run the tests": [["update", LOOK], ["update", EDIT], ["update", RUN], ["wait_for_cancel"]],
    "look it up": [WORDS, ["permission", QUESTION]],
    "go on": [WORDS, ["wait_for_cancel"]],
    "delete everything": [["say", "I would rather not."], ["stop", "refusal"]],
    "count": [["say", "\n\n".join(f"line {number}" for number in range(60))]],
    "and on": [["say", "one more line"]],
    "break": [WORDS, ["stderr", "Traceback:", "MemoryError: the last words"], ["exit", 7]],
}

SCRIPT = agent("script", offers(**OFFERS, turns=TURNS))
TWO_LOOKS = (("dark", SMALL), ("light", LARGE))
EVERY_LOOK = (*TWO_LOOKS, ("ansi", SMALL))
BOTH_SIZES = (("dark", SMALL), ("dark", LARGE))


@pytest.fixture
def shoot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, snapshot: Any) -> Iterator[Shoot]:
    """Take a picture in each look, and return the names of those that have changed. Times are fixed."""
    left_behind = mark_processes(monkeypatch)
    monkeypatch.setattr(dialog, "PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(SessionScreen, "now", lambda screen: (screen.session.turn_started or 0.0) + 12)
    project = tmp_path / "my-project"
    project.mkdir()
    snapshot = snapshot.use_extension(SVGImageExtension)

    async def taken(
        act: Act,
        looks: Sequence[Look] = TWO_LOOKS,
        command: str = SCRIPT,
        *,
        again: Act | None = None,
        toasts: bool = False,
    ) -> list[str]:
        app = app_of("--cwd", str(project), "--theme", looks[0][0], "--command", command)
        changed = []
        async with app.run_test(size=SMALL, notifications=toasts) as pilot:
            ui = ConversationUi(app, pilot)
            await act(ui)
            for theme, size in looks:
                if theme != app.theme_name:
                    app.use_theme(theme)
                    if again is not None:
                        await again(ui)
                await pilot.resize_terminal(*size)
                await _still(ui)
                name = f"{theme}-{size[0]}x{size[1]}"
                picture = app.export_screenshot()
                if snapshot(name=name) != picture:
                    changed.append(name)
                    (tmp_path / f"{name}.svg").write_text(picture, encoding="utf-8")
        return changed

    yield taken
    assert left_behind() == []


async def _still(ui: ConversationUi) -> None:
    """Wait until everything is drawn, and fix all times."""
    ui.screen.frames.flush()
    for entry in ui.session.entries:
        entry.at = ui.session.turn_started or 0.0
        if getattr(entry, "ended_at", None) is not None:
            entry.ended_at = entry.at + 0.8  # type: ignore[attr-defined]  # just asked for
    ui.transcript.apply_theme()
    for _ in range(3):
        await ui.pilot.pause()


async def turn(ui: ConversationUi, prompt: str = "fix the login bug") -> None:
    """Run a whole turn."""
    await ui.ready()
    await ui.send(prompt)
    await ui.until(lambda: ui.session.turn and ui.session.phase == "idle")
    await ui.until(lambda: prompt in ui.prompts())


async def test_idle(shoot: Shoot) -> None:
    async def act(ui: ConversationUi) -> None:
        await ui.ready()
        await ui.sees("Message scripted")

    assert await shoot(act, EVERY_LOOK) == []


async def test_at_work(shoot: Shoot) -> None:
    async def act(ui: ConversationUi) -> None:
        await ui.ready()
        await ui.send("run the tests")
        await ui.sees("pytest -q")

    assert await shoot(act, EVERY_LOOK) == []


async def test_after_a_turn(shoot: Shoot) -> None:
    assert await shoot(turn, EVERY_LOOK) == []


async def test_the_cursor_on_a_call(shoot: Shoot) -> None:
    async def act(ui: ConversationUi) -> None:
        await turn(ui)
        ui.transcript.focus()
        calls = [entry.id for entry in ui.session.entries if isinstance(entry, ToolCall)]
        ui.transcript.cursor = calls[-1]
        await ui.sees("Space fold")

    assert await shoot(act) == []


async def test_the_search(shoot: Shoot) -> None:
    async def act(ui: ConversationUi) -> None:
        await turn(ui)
        await ui.press("ctrl+f")
        await ui.paste("login")
        await ui.press("enter")
        await ui.sees("1 of")

    assert await shoot(act) == []


async def test_scrolled_up_during_a_turn(shoot: Shoot) -> None:
    async def act(ui: ConversationUi) -> None:
        await turn(ui, "count")
        await ui.press("pageup")
        ui.screen.runner.prompts.submit("and on")
        await ui.until(lambda: len(ui.said()) == 2 and ui.session.phase == "idle")
        await ui.sees("new")

    assert await shoot(act) == []


async def test_a_paused_queue(shoot: Shoot) -> None:
    async def act(ui: ConversationUi) -> None:
        await ui.ready()
        await ui.send("go on")
        await ui.until(lambda: ui.said())
        for text in ("then write a test for it", "and tell me what you changed"):
            await ui.send(text)
        await ui.press("escape")
        await ui.until(lambda: "paused" in ui.strip())
        ui.prompt.load("a thought\nof two lines")
        await ui.sees("of two lines")

    assert await shoot(act) == []


async def test_a_refusal(shoot: Shoot) -> None:
    async def act(ui: ConversationUi) -> None:
        await turn(ui)
        await ui.send("delete everything")
        await ui.sees("The agent refused")

    assert await shoot(act) == []


async def test_a_dead_agent(shoot: Shoot) -> None:
    async def act(ui: ConversationUi) -> None:
        await ui.ready()
        await ui.send("break")
        await ui.until(lambda: ui.session.phase == "dead")
        await ui.sees("the last words")

    assert await shoot(act) == []


async def test_user_commands(shoot: Shoot) -> None:
    async def act(ui: ConversationUi) -> None:
        await ui.ready()
        await ui.send("!echo waiting; exec sleep 1000")
        await ui.until(lambda: any(line.strip() == "waiting" for line in ui.lines()))
        await ui.send("!printf '\\033[32mok\\033[m\\ndone\\n'")
        await ui.sees("Ctrl+L attach output")
        await ui.press("ctrl+l")
        await ui.sees("[output of printf", "Esc stop")

    assert await shoot(act) == []


async def test_toasts(shoot: Shoot) -> None:
    async def act(ui: ConversationUi) -> None:
        await turn(ui)
        for severity, words in (
            ("information", "Exported to /home/ada/.local/share/acp-tui/exports/fix.html"),
            ("warning", "config.toml:3: polciy: unknown key; did you mean 'policy'?"),
            ("error", "The agent could not be started."),
        ):
            ui.app.notify(words, severity=severity, timeout=1000)  # type: ignore[arg-type]
        await ui.sees("could not be started")

    assert await shoot(act, toasts=True) == []


async def test_a_question(shoot: Shoot) -> None:
    async def act(ui: ConversationUi) -> None:
        await turn(ui)
        await ui.send("look it up")
        await ui.asked()

    assert await shoot(act, EVERY_LOOK) == []


async def test_signing_in(shoot: Shoot) -> None:
    async def act(ui: ConversationUi) -> None:
        await ui.until(lambda: isinstance(ui.app.screen, ChooseScreen))

    assert await shoot(act, BOTH_SIZES, agent("faulty", "demands_authentication")) == []


async def test_an_agent_signs_in(shoot: Shoot, monkeypatch: pytest.MonkeyPatch) -> None:
    async def act(ui: ConversationUi) -> None:
        await ui.until(lambda: isinstance(ui.app.screen, ChooseScreen))
        await ui.press("enter")
        await ui.sees(ADDRESS)

    monkeypatch.setattr(SignInProgress, "clock", lambda _: 12.0)
    methods = '[{"id": "late", "name": "Log in with a browser"}]'
    assert await shoot(act, BOTH_SIZES, agent("signs_in", methods)) == []


async def test_a_page_to_open(shoot: Shoot, monkeypatch: pytest.MonkeyPatch) -> None:
    address = "https://xn--pple-43d.com/device?user_code=AB12-CD34&return=https%3A%2F%2Fexample.com%2Fdone"
    page = {"mode": "url", "message": "Connect your account", "url": address, "elicitationId": "1"}
    monkeypatch.setattr(web_browser, "has_browser", lambda: True)

    async def act(ui: ConversationUi) -> None:
        await ui.ready()
        await ui.send(["ask", "elicitation/create", page])
        await ui.sees("Connect your account", "Esc close")

    assert await shoot(act, BOTH_SIZES) == []


async def test_exporting(shoot: Shoot) -> None:
    async def act(ui: ConversationUi) -> None:
        await turn(ui)
        ui.screen.action_export()
        await ui.until(lambda: isinstance(ui.app.screen, ChooseScreen))

    async def again(ui: ConversationUi) -> None:
        """Open the dialog again: it is drawn in the theme in which it was opened."""
        await ui.press("escape")
        ui.screen.action_export()
        await ui.until(lambda: isinstance(ui.app.screen, ChooseScreen))

    assert await shoot(act, again=again) == []


async def test_writing_a_prompt_while_the_agent_asks(shoot: Shoot) -> None:
    async def act(ui: ConversationUi) -> None:
        await ui.ready()
        await ui.send("look it up")
        await ui.asked()
        await ui.press("tab")
        ui.prompt.load("and then the tests")
        await ui.sees("Tab answer", "and then the tests")

    assert await shoot(act) == []
