"""Questions on the screen: each way to answer, several at once, taken back, remembered."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.config.paths import paths
from acp_tui.session.state import Permission
from acp_tui.ui.widgets.select_list import SelectList

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.desk import Desk, Open

CALL = {
    "toolCallId": "call",
    "title": "Run the tests",
    "kind": "execute",
    "rawInput": {"command": "pytest -q"},
}


def asks(*, times: int = 1, **call: Any) -> list[list[Any]]:
    """Steps that ask for a command."""
    return [["permission", {**CALL, **call}] for _ in range(times)]


def answers(desk: Desk) -> list[Any]:
    """What the agent was answered."""
    decoder, text, found = json.JSONDecoder(), "".join(desk.said()), []
    while text:
        value, end = decoder.raw_decode(text)
        found.append(value.get("outcome", value))
        text = text[end:]
    return found


async def answered(desk: Desk) -> Any:
    await desk.until(lambda: desk.said() and desk.dialog is None)
    return answers(desk)[-1]


@pytest.mark.parametrize(
    ("keys", "option"),
    [
        (["a"], "allow_once"),
        (["A"], "allow_once"),
        (["r"], "reject_once"),
        (["R"], "reject_once"),
        (["2"], "allow_once"),
        (["4"], "reject_once"),
        (["enter"], "allow_once"),
        (["down", "down", "enter"], "reject_once"),
        (["up", "enter"], "reject_once"),
    ],
)
async def test_a_key_answers(open_desk: Open, keys: list[str], option: str) -> None:
    async with open_desk() as desk:
        await desk.send(*asks())
        await desk.asked()
        assert "waiting for your answer" in desk.status()
        await desk.press(*keys)
        assert await answered(desk) == {"outcome": "selected", "optionId": option}


async def test_a_click_answers(open_desk: Open) -> None:
    async with open_desk() as desk:
        await desk.send(*asks())
        dialog = await desk.asked()
        options = dialog.query_one(SelectList)
        await desk.pilot.click(options, offset=(6, 0))
        assert await answered(desk) == {"outcome": "selected", "optionId": "allow_once"}


async def test_the_whole_command_is_shown_and_the_raw_input_on_a_key(open_desk: Open) -> None:
    async with open_desk() as desk:
        await desk.send(*asks())
        await desk.asked()
        await desk.sees("Run the tests", "pytest -q", "directory")
        await desk.press("i")
        await desk.sees('"command": "pytest -q"')
        await desk.press("a")


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_the_turn_is_stopped_and_the_agent_hears_cancelled(open_desk: Open, key: str) -> None:
    async with open_desk() as desk:
        await desk.send(*asks(), ["wait"])
        await desk.asked()
        await desk.press(key)
        assert await answered(desk) == {"outcome": "cancelled"}
        await desk.ready()
        assert desk.session.stop_reason == "cancelled"


async def test_several_at_once_are_asked_one_after_the_other(open_desk: Open) -> None:
    async with open_desk("asks_at_once", "3") as desk:
        await desk.send("go")
        await desk.asked()
        await desk.sees("1 of 3")
        await desk.press("a")
        await desk.sees("2 of 3")
        await desk.asked()
        await desk.press("r")
        await desk.sees("3 of 3")
        await desk.asked()
        await desk.press("a")
        await desk.ready()
        assert desk.said() == ['{"ask-1": "yes"}{"ask-2": "no"}{"ask-3": "yes"}']


async def test_a_question_that_the_agent_takes_back_goes_away(open_desk: Open) -> None:
    async with open_desk("asks_at_once", "1", "withdraw") as desk:
        await desk.send("go")
        await desk.until(lambda: any(isinstance(entry, Permission) for entry in desk.session.entries))
        await desk.ready()
        assert desk.dialog is None
        assert desk.app.screen is desk.screen
        assert "waiting for your answer" not in desk.status()


async def test_a_question_outside_of_any_turn_waits_for_an_answer_too(open_desk: Open) -> None:
    params = {"toolCall": CALL, "options": [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]}
    async with open_desk() as desk:
        await desk.send(["request", "session/request_permission", params, "one"])
        await desk.asked()
        await desk.ready()
        assert "waiting for your answer" in desk.status()
        await desk.press("a")
        await desk.until(lambda: "idle" in desk.status())


@pytest.mark.parametrize("covered", [False, True])
async def test_a_question_goes_away_when_the_agent_dies(
    open_desk: Open, tmp_path: Path, covered: bool
) -> None:
    params = {"toolCall": CALL, "options": [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]}
    async with open_desk() as desk:
        await desk.send(
            ["request", "session/request_permission", params, "one"],
            ["await_file", str(tmp_path / "go")],
            ["complain", "last words"],
            ["exit", 3],
        )
        await desk.asked()
        if covered:
            await desk.press("f1")
        (tmp_path / "go").touch()
        await desk.until(lambda: desk.session.phase == "dead")
        await desk.until(lambda: desk.app.screen is desk.screen)
        await desk.sees("The agent exited with code 3", "last words", "F5 restarts it")
        assert "Allowed" not in desk.text()


async def test_cancelling_while_others_wait_answers_all_of_them(open_desk: Open) -> None:
    async with open_desk("asks_at_once", "3") as desk:
        await desk.send("go")
        await desk.asked()
        await desk.press("escape")
        await desk.ready()
        assert desk.dialog is None
        assert desk.said() == ['{"ask-1": "cancelled"}{"ask-2": "cancelled"}{"ask-3": "cancelled"}']


async def test_always_is_remembered_and_the_next_time_the_rule_answers(open_desk: Open) -> None:
    async with open_desk() as desk:
        await desk.send(*asks(times=2))
        await desk.asked()
        await desk.sees("Always allow")
        await desk.press("A")
        await desk.ready()
        assert [answer["optionId"] for answer in answers(desk)] == ["allow_once", "allow_once"]
        records = [entry for entry in desk.session.entries if isinstance(entry, Permission)]
        assert [record.by for record in records] == ["you", "rule"]
        assert "rule" in desk.text()
    remembered = json.loads((paths().state / "permissions.json").read_text(encoding="utf-8"))
    assert "pytest" in json.dumps(remembered)
    async with open_desk() as desk:
        await desk.send(*asks())
        await desk.until(lambda: desk.said())
        assert answers(desk) == [{"outcome": "selected", "optionId": "allow_once"}]


async def test_a_write_outside_the_folder_is_guarded(open_desk: Open, tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    step = ["ask", "fs/write_text_file", {"path": str(outside), "content": "new\n"}]
    async with open_desk() as desk:
        await desk.send(step)
        await desk.asked()
        await desk.sees("outside.txt", "new")
        await desk.press("r")
        await desk.until(lambda: "not allowed" in "".join(desk.said()))
        assert not outside.exists()
        await desk.ready()
        await desk.send(step)
        await desk.asked()
        await desk.press("a")
        await desk.until(outside.exists)


async def test_a_command_of_the_agent_is_guarded(open_desk: Open) -> None:
    async with open_desk() as desk:
        await desk.send(
            ["ask", "terminal/create", {"command": "echo", "args": ["guarded"]}], ["wait_for_output"]
        )
        await desk.asked()
        await desk.sees("echo guarded", "directory")
        await desk.press("a")
        await desk.sees("guarded")
        await desk.ready()


async def test_typing_when_a_question_appears_does_not_answer_it(
    open_desk: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    from acp_tui.ui.permission import typing_guard

    monkeypatch.setattr(typing_guard, "PAUSE_SECONDS", 3600.0)
    async with open_desk() as desk:
        await desk.send(*asks())
        await desk.until(lambda: desk.dialog)
        await desk.press("a", "r", "enter", "1")
        assert desk.dialog is not None
        assert desk.said() == []
        monkeypatch.setattr(typing_guard, "PAUSE_SECONDS", 0.0)
        await desk.press("a")
        assert await answered(desk) == {"outcome": "selected", "optionId": "allow_once"}


async def test_help_over_a_question_leaves_it_there(open_desk: Open) -> None:
    async with open_desk() as desk:
        await desk.send(*asks())
        await desk.asked()
        await desk.press("f1")
        await desk.sees("Allow once")
        await desk.press("escape")
        await desk.asked()
        await desk.press("a")
        assert await answered(desk) == {"outcome": "selected", "optionId": "allow_once"}


async def test_a_question_without_content_shows_the_calls_in_progress_also_those_announced_later(
    open_desk: Open,
) -> None:
    """As OpenHands asks: under an id of no call, before it announces the call it means."""
    options = [{"optionId": "accept", "name": "Yes, proceed", "kind": "allow_once"}]
    confirm = {"toolCallId": "confirmation-1", "title": "Confirm Agent Actions", "kind": "other"}
    call = {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "terminal", "kind": "execute"}
    command = {"rawInput": {"command": "rm notes.txt"}, "status": "in_progress"}
    later = {**call, "toolCallId": "c2", "title": "Edit", "kind": "edit", "rawInput": {"old_str": "alpha"}}
    async with open_desk() as desk:
        await desk.send(
            ["update", {**call, **command}],
            ["request", "session/request_permission", {"toolCall": confirm, "options": options}, "one"],
            ["update", later],
            ["wait"],
        )
        await desk.asked()
        await desk.sees("Confirm Agent Actions", "In progress", "rm notes.txt", "old_str", "alpha")
        await desk.press("i")
        await desk.sees("raw input of terminal", '"command": "rm notes.txt"')
        await desk.press("escape", "escape")
        await desk.ready()
