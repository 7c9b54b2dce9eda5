"""Pictures of the whole screen, in both themes and both sizes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.ui.screens import quiet
from acp_tui.ui.screens.session import SessionScreen
from tests.ui.desk import Desk, agent, app_of, marked, offers
from tests.ui.looks import look

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

    from textual.pilot import Pilot

    Act = Callable[[Desk], Awaitable[None]]
    Shoot = Callable[[tuple[str, tuple[int, int]], Act], bool]

SESSION = {
    "modes": {
        "currentModeId": "ask",
        "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "c", "name": "Code"}],
    },
    "models": {"currentModelId": "s", "availableModels": [{"modelId": "s", "name": "Sonnet"}]},
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
CALL = {
    "sessionUpdate": "tool_call",
    "toolCallId": "edit",
    "title": "Edit login.py",
    "kind": "edit",
    "status": "completed",
    "content": [
        {
            "type": "diff",
            "path": "login.py",
            "oldText": "def login(user):\n    if user = None:\n        return\n",
            "newText": "def login(user):\n    if user is None:\n        return False\n",
        }
    ],
}
PLAN = {
    "sessionUpdate": "plan",
    "entries": [
        {"content": "Find the cause", "status": "completed", "priority": "high"},
        {"content": "Repair it", "status": "in_progress", "priority": "high"},
    ],
}
TURN: list[list[Any]] = [["update", PLAN], ["update", CALL], ["say", ANSWER]]


@pytest.fixture
def shoot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, snap_compare: Any) -> Iterator[Shoot]:
    """Takes a picture after something was done; no clock is in it."""
    left_behind = marked(monkeypatch)
    monkeypatch.setattr(quiet, "PAUSE", 0.0)
    monkeypatch.setattr(SessionScreen, "now", lambda screen: (screen.session.turn_started or 0.0) + 12)
    project = tmp_path / "my-project"
    project.mkdir()

    def taken(how: tuple[str, tuple[int, int]], act: Act) -> bool:
        theme, size = how
        app = app_of(
            "--cwd", str(project), "--theme", theme, "--command", agent("script", offers(session=SESSION))
        )

        async def before(pilot: Pilot[int]) -> None:
            desk = Desk(app, pilot)
            await desk.ready()
            await act(desk)
            desk.screen.frames.flush()
            for entry in desk.session.entries:  # how long it took is another thing each time
                entry.at = 0.0
                if hasattr(entry, "ended_at"):
                    entry.ended_at = 0.0
            desk.transcript.use_palette(app.palette)
            await pilot.pause()
            await pilot.pause()

        same: bool = snap_compare(app, terminal_size=size, run_before=before)
        return same

    yield taken
    assert left_behind() == []


async def turn(desk: Desk) -> None:
    """A whole turn."""
    await desk.send("fix the login bug")
    await desk.until(lambda: desk.said())
    await desk.ready()
    await desk.send(*TURN)
    await desk.sees("login.py │")
    await desk.ready()


@look
def test_idle(shoot: Shoot, theme: str, size: tuple[int, int]) -> None:
    async def act(desk: Desk) -> None:
        await desk.sees("Message scripted")

    assert shoot((theme, size), act)


@look
def test_after_a_turn(shoot: Shoot, theme: str, size: tuple[int, int]) -> None:
    assert shoot((theme, size), turn)


@look
def test_a_question(shoot: Shoot, theme: str, size: tuple[int, int]) -> None:
    async def act(desk: Desk) -> None:
        await turn(desk)
        await desk.send(
            ["permission", {"title": "Fetch the manual", "kind": "fetch", "rawInput": {"page": 7}}]
        )
        await desk.asked()

    assert shoot((theme, size), act)


@look
def test_a_dead_agent(shoot: Shoot, theme: str, size: tuple[int, int]) -> None:
    async def act(desk: Desk) -> None:
        await desk.send(
            ["say", "I am about to"], ["complain", "Traceback:", "MemoryError: the last words"], ["exit", 7]
        )
        await desk.until(lambda: desk.session.phase == "dead")
        await desk.sees("the last words")

    assert shoot((theme, size), act)


@look
def test_a_queue_that_waits(shoot: Shoot, theme: str, size: tuple[int, int]) -> None:
    async def act(desk: Desk) -> None:
        await desk.send(["say", "Working on it."], ["wait"])
        await desk.until(lambda: desk.said())
        for text in ("then write a test for it", "and tell me what you changed"):
            await desk.send(text)
        await desk.press("escape")
        await desk.until(lambda: "paused" in desk.strip())
        desk.prompt.load("a thought\nof two lines")
        await desk.sees("of two lines")

    assert shoot((theme, size), act)


@look
def test_the_search(shoot: Shoot, theme: str, size: tuple[int, int]) -> None:
    async def act(desk: Desk) -> None:
        await turn(desk)
        await desk.press("ctrl+f", *"login", "enter")
        await desk.sees("1 of")

    assert shoot((theme, size), act)


@look
def test_scrolled_up_while_more_comes(shoot: Shoot, theme: str, size: tuple[int, int]) -> None:
    async def act(desk: Desk) -> None:
        await desk.send(["say", "\n\n".join(f"line {number}" for number in range(60))])
        await desk.until(lambda: desk.said() and desk.session.phase == "idle")
        await desk.press("pageup")
        desk.screen.engine.submit(json.dumps([["say", "one more line"]]))
        await desk.until(lambda: len(desk.said()) == 2 and desk.session.phase == "idle")
        await desk.sees("new")

    assert shoot((theme, size), act)
