"""Permission requests on the screen: answering, several at once, withdrawn, remembered."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.config.paths import paths
from acp_tui.session.state import Permission
from acp_tui.ui.widgets.select_list import SelectList
from tests.support.conversation_ui import offers

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.conversation_ui import ConversationUi, Open

CALL = {
    "toolCallId": "call",
    "title": "Run the tests",
    "kind": "execute",
    "rawInput": {"command": "pytest -q"},
}


def asks(*, times: int = 1, **call: Any) -> list[list[Any]]:
    """Return steps of the agent that ask to run a command."""
    return [["permission", {**CALL, **call}] for _ in range(times)]


def answers(ui: ConversationUi) -> list[Any]:
    """Return the answers that the agent received."""
    decoder, text, found = json.JSONDecoder(), "".join(ui.said()), []
    while text.startswith("{"):
        value, end = decoder.raw_decode(text)
        found.append(value.get("outcome", value))
        text = text[end:]
    return found


async def answered(ui: ConversationUi) -> Any:
    await ui.until(lambda: ui.said() and ui.dialog is None)
    return answers(ui)[-1]


@pytest.mark.parametrize(
    ("keys", "option"),
    [
        (["a"], "allow_once"),
        (["A", "enter"], "allow_once"),
        (["r"], "reject_once"),
        (["R", "enter"], "reject_once"),
        (["2", "enter"], "allow_once"),
        (["4", "enter"], "reject_once"),
        (["enter"], "allow_once"),
        (["down", "down", "enter"], "reject_once"),
        (["up", "enter", "enter"], "reject_once"),
    ],
)
async def test_a_key_answers_the_request(open_ui: Open, keys: list[str], option: str) -> None:
    async with open_ui() as ui:
        await ui.send(*asks())
        await ui.asked()
        assert "waiting for your answer" in ui.status()
        await ui.press(*keys)
        assert await answered(ui) == {"outcome": "selected", "optionId": option}


async def test_a_click_answers_the_request(open_ui: Open) -> None:
    async with open_ui() as ui:
        await ui.send(*asks())
        dialog = await ui.asked()
        options = dialog.query_one(SelectList)
        await ui.pilot.click(options, offset=(6, 0))
        assert await answered(ui) == {"outcome": "selected", "optionId": "allow_once"}


async def test_the_whole_command_is_shown_and_the_raw_input_on_a_key(open_ui: Open) -> None:
    async with open_ui() as ui:
        await ui.send(*asks())
        await ui.asked()
        await ui.sees("Run the tests", "pytest -q", "directory")
        await ui.press("i")
        await ui.sees('"command": "pytest -q"')
        await ui.press("a")


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_escape_stops_the_turn_and_answers_cancelled(open_ui: Open, key: str) -> None:
    async with open_ui() as ui:
        await ui.send(*asks(), ["wait_for_cancel"])
        await ui.asked()
        await ui.press(key)
        assert await answered(ui) == {"outcome": "cancelled"}
        await ui.ready()
        assert ui.session.stop_reason == "cancelled"


async def test_simultaneous_requests_are_shown_one_at_a_time(open_ui: Open) -> None:
    async with open_ui("asks_at_once", "3") as ui:
        await ui.send("go")
        await ui.asked()
        await ui.sees("1 of 3")
        await ui.press("a")
        await ui.sees("2 of 3")
        await ui.asked()
        await ui.press("r")
        await ui.sees("3 of 3")
        await ui.asked()
        await ui.press("a")
        await ui.ready()
        assert ui.said() == ['{"ask-1": "yes"}{"ask-2": "no"}{"ask-3": "yes"}']


async def test_a_request_withdrawn_by_the_agent_closes_its_dialog(open_ui: Open) -> None:
    async with open_ui("asks_at_once", "1", "withdraw") as ui:
        await ui.send("go")
        await ui.until(lambda: any(isinstance(entry, Permission) for entry in ui.session.entries))
        await ui.ready()
        assert ui.dialog is None
        assert ui.app.screen is ui.screen
        assert "waiting for your answer" not in ui.status()


async def test_a_request_withdrawn_while_the_user_writes_removes_its_line(
    open_ui: Open, tmp_path: Path
) -> None:
    params = {"toolCall": CALL, "options": [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]}
    async with open_ui() as ui:
        await ui.send(
            ["request", "session/request_permission", params, "one"],
            ["wait_for_file", str(tmp_path / "go")],
            ["withdraw", "one"],
        )
        await ui.asked()
        await ui.press("tab", "x")
        await ui.sees("Tab answer")
        (tmp_path / "go").touch()
        await ui.until(lambda: "Tab answer" not in ui.text())
        assert ui.dialog is None
        assert ui.prompt.text == "x"
        await ui.ready()


SUBAGENT = {"sessionId": "sub-7", "options": [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]}


async def test_a_request_of_a_subagents_session_is_asked_and_named(open_ui: Open) -> None:
    own_call = {"sessionUpdate": "tool_call", "toolCallId": "call", "title": "Read", "kind": "read"}
    async with open_ui() as ui:
        await ui.send(
            ["update", own_call], ["ask", "session/request_permission", {**SUBAGENT, "toolCall": CALL}]
        )
        await ui.asked()
        await ui.sees("(session sub-7)", "asks to run a command", "pytest -q")
        await ui.press("a")
        assert await answered(ui) == {"outcome": "selected", "optionId": "yes"}
        await ui.sees("Run the tests (session sub-7)")
        assert ui.session.tool_calls["call"].title == "Read"


async def test_stopping_the_turn_answers_the_request_of_a_subagents_session(open_ui: Open) -> None:
    async with open_ui() as ui:
        await ui.send(
            ["ask", "session/request_permission", {**SUBAGENT, "toolCall": CALL}], ["wait_for_cancel"]
        )
        await ui.asked()
        await ui.press("escape")
        assert await answered(ui) == {"outcome": "cancelled"}
        await ui.ready()


async def test_a_request_while_a_session_is_loaded_is_answered(open_ui: Open) -> None:
    loading = offers(capabilities={"loadSession": True}, loading=asks())
    async with open_ui("script", loading) as ui:
        await ui.send("hello")
        await ui.until(lambda: ui.said() == ["hello"])
        await ui.ready()
        known = ui.made[0].conversation.folder.id
    assert known is not None
    async with open_ui("script", loading, options=("--resume", known), wait=False) as again:
        await again.asked()
        await again.sees("pytest -q")
        await again.press("a")
        await again.ready()
        assert again.dialog is None
        outcomes = [(one.outcome, one.by) for one in again.session.entries if isinstance(one, Permission)]
        assert outcomes == [("selected", "you")]


async def test_a_request_outside_of_a_turn_is_answered_too(open_ui: Open) -> None:
    params = {"toolCall": CALL, "options": [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]}
    async with open_ui() as ui:
        await ui.send(["request", "session/request_permission", params, "one"])
        await ui.asked()
        await ui.ready()
        assert "waiting for your answer" in ui.status()
        await ui.press("a")
        await ui.until(lambda: "idle" in ui.status())


@pytest.mark.parametrize("covered", [False, True])
async def test_a_dialog_closes_if_the_agent_dies(open_ui: Open, tmp_path: Path, covered: bool) -> None:
    params = {"toolCall": CALL, "options": [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]}
    async with open_ui() as ui:
        await ui.send(
            ["request", "session/request_permission", params, "one"],
            ["wait_for_file", str(tmp_path / "go")],
            ["stderr", "last words"],
            ["exit", 3],
        )
        await ui.asked()
        if covered:
            await ui.press("f1")
        (tmp_path / "go").touch()
        await ui.until(lambda: ui.session.phase == "dead")
        await ui.until(lambda: ui.app.screen is ui.screen)
        await ui.sees("The agent exited with code 3", "last words", "F5 restarts it")
        assert "Allowed" not in ui.text()


async def test_stopping_the_turn_answers_all_pending_requests(open_ui: Open) -> None:
    async with open_ui("asks_at_once", "3") as ui:
        await ui.send("go")
        await ui.asked()
        await ui.press("escape")
        await ui.ready()
        assert ui.dialog is None
        assert ui.said() == ['{"ask-1": "cancelled"}{"ask-2": "cancelled"}{"ask-3": "cancelled"}']


async def test_an_always_answer_becomes_a_rule_that_answers_next_time(open_ui: Open) -> None:
    async with open_ui() as ui:
        await ui.send(*asks(times=2))
        await ui.asked()
        await ui.sees("Always allow")
        await ui.press("A")
        await ui.sees("[`pytest -q` exactly] in this project", "will be allowed without asking")
        await ui.press("enter")
        await ui.ready()
        assert [answer["optionId"] for answer in answers(ui)] == ["allow_once", "allow_once"]
        records = [entry for entry in ui.session.entries if isinstance(entry, Permission)]
        assert [record.by for record in records] == ["you", "rule"]
        assert "rule" in ui.text()
    remembered = json.loads((paths().state / "permissions.json").read_text(encoding="utf-8"))
    assert "pytest" in json.dumps(remembered)
    async with open_ui() as ui:
        await ui.send(*asks())
        await ui.until(lambda: ui.said())
        assert answers(ui) == [{"outcome": "selected", "optionId": "allow_once"}]


async def reject_with_reason(ui: ConversationUi) -> str:
    """Reject the request while a prompt is queued. Return what is sent ahead of that prompt."""
    await ui.asked()
    ui.screen.runner.prompts.submit("later")
    await ui.press("t")
    await ui.press(*"use uv", "enter")
    reason = "I rejected your request (run `pytest -q`): use uv"
    await ui.until(lambda: ui.prompts()[1:] == [reason, "later"])
    return reason


async def test_the_reason_of_a_rejection_is_the_next_prompt(open_ui: Open) -> None:
    async with open_ui() as ui:
        await ui.send(*asks())
        await reject_with_reason(ui)
        await ui.ready()
        assert answers(ui)[0] == {"outcome": "selected", "optionId": "reject_once"}
        await ui.sees('you: "use uv"')


async def test_the_reason_of_a_rejection_goes_into_the_turn_of_an_agent_that_can_be_steered(
    open_ui: Open,
) -> None:
    async with open_ui("script", offers(steering="injected")) as ui:
        await ui.send(*asks(), ["wait_for_steering"])
        reason = await reject_with_reason(ui)
        assert reason in ui.said()[0]
        assert [prompt.text for prompt in ui.session.prompts][1:] == ["later"]
        await ui.sees('you: "use uv"')


async def test_tab_moves_between_the_question_and_the_prompt(open_ui: Open) -> None:
    async with open_ui() as ui:
        await ui.send(*asks())
        await ui.asked()
        await ui.press("tab")
        await ui.sees("asks: run `pytest -q`", "Tab answer", "waiting for your answer")
        assert ui.dialog is None
        await ui.press(*"via", "tab")
        await ui.asked()
        assert ui.said() == []
        assert ui.prompt.text == "via"
        await ui.press("a")
        assert await answered(ui) == {"outcome": "selected", "optionId": "allow_once"}
        assert "Tab answer" not in ui.text()


async def test_a_prompt_written_during_a_question_is_queued_and_the_question_comes_back(
    open_ui: Open,
) -> None:
    async with open_ui() as ui:
        await ui.send(*asks())
        await ui.asked()
        await ui.press("tab", *"next", "enter")
        await ui.asked()
        assert ui.queue == ["next"]
        await ui.press("a")
        await ui.until(lambda: ui.prompts()[1:] == ["next"])
        await ui.ready()


async def test_a_question_that_waits_for_the_prompt_is_answered_once_if_the_turn_is_stopped(
    open_ui: Open,
) -> None:
    async with open_ui("asks_at_once", "3") as ui:
        await ui.send("go")
        await ui.asked()
        await ui.press("tab")
        await ui.sees("1 of 3", "Tab answer")
        await ui.press("escape")
        await ui.ready()
        assert ui.dialog is None
        assert ui.said() == ['{"ask-1": "cancelled"}{"ask-2": "cancelled"}{"ask-3": "cancelled"}']
        assert "Tab answer" not in ui.text()


async def test_a_key_on_an_answer_by_a_rule_opens_the_rule_and_revokes_it(open_ui: Open) -> None:
    async with open_ui() as ui:
        await ui.send(*asks(times=2))
        await ui.asked()
        await ui.press("A", "enter")
        await ui.ready()
        await ui.sees("allowed by rule: `pytest -q` exactly · this project · scripted")
        await ui.press("alt+up")
        by_rule = next(e.id for e in ui.session.entries if isinstance(e, Permission) and e.by == "rule")
        while ui.transcript.cursor != by_rule:
            await ui.press("alt+up")
        await ui.press("o")
        await ui.sees("Permission rules", "pytest -q")
        await ui.press("delete", "escape")
        await ui.send(*asks())
        await ui.asked()
        await ui.press("r")


async def test_writing_a_file_outside_the_workspace_asks_the_user(open_ui: Open, tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    step = ["ask", "fs/write_text_file", {"path": str(outside), "content": "new\n"}]
    async with open_ui() as ui:
        await ui.send(step)
        await ui.asked()
        await ui.sees("outside.txt", "new")
        await ui.press("r")
        await ui.until(lambda: "not allowed" in "".join(ui.said()))
        assert not outside.exists()
        await ui.ready()
        await ui.send(step)
        await ui.asked()
        await ui.press("a")
        await ui.until(outside.exists)


async def test_a_terminal_command_of_the_agent_asks_the_user(open_ui: Open) -> None:
    async with open_ui() as ui:
        await ui.send(
            ["ask", "terminal/create", {"command": "echo", "args": ["guarded"]}], ["wait_for_output"]
        )
        await ui.asked()
        await ui.sees("echo guarded", "directory")
        await ui.press("a")
        await ui.sees("guarded")
        await ui.ready()


async def test_typing_while_a_dialog_opens_does_not_answer_it(
    open_ui: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    from acp_tui.ui.screens.dialogs import typing_guard

    monkeypatch.setattr(typing_guard, "PAUSE_SECONDS", 3600.0)
    async with open_ui() as ui:
        await ui.send(*asks())
        await ui.until(lambda: ui.dialog)
        await ui.press("a", "r", "enter", "1")
        assert ui.dialog is not None
        assert ui.said() == []
        monkeypatch.setattr(typing_guard, "PAUSE_SECONDS", 0.0)
        await ui.press("a")
        assert await answered(ui) == {"outcome": "selected", "optionId": "allow_once"}


async def test_closing_the_help_returns_to_the_dialog(open_ui: Open) -> None:
    async with open_ui() as ui:
        await ui.send(*asks())
        await ui.asked()
        await ui.press("f1")
        await ui.sees("Allow once")
        await ui.press("escape")
        await ui.asked()
        await ui.press("a")
        assert await answered(ui) == {"outcome": "selected", "optionId": "allow_once"}


async def test_a_request_without_content_shows_the_calls_in_progress(
    open_ui: Open,
) -> None:
    """OpenHands asks under an unknown call id, before it announces the call."""
    options = [{"optionId": "accept", "name": "Yes, proceed", "kind": "allow_once"}]
    confirm = {"toolCallId": "confirmation-1", "title": "Confirm Agent Actions", "kind": "other"}
    call = {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "terminal", "kind": "execute"}
    command = {"rawInput": {"command": "rm notes.txt"}, "status": "in_progress"}
    later = {**call, "toolCallId": "c2", "title": "Edit", "kind": "edit", "rawInput": {"old_str": "alpha"}}
    async with open_ui() as ui:
        await ui.send(
            ["update", {**call, **command}],
            ["request", "session/request_permission", {"toolCall": confirm, "options": options}, "one"],
            ["update", later],
            ["wait_for_cancel"],
        )
        await ui.asked()
        await ui.sees("Confirm Agent Actions", "In progress", "rm notes.txt", "old_str", "alpha")
        await ui.press("i")
        await ui.sees("raw input of terminal", '"command": "rm notes.txt"')
        await ui.press("escape", "escape")
        await ui.ready()
