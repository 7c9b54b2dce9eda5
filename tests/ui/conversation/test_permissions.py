"""Permission requests on the screen: answering, several at once, withdrawn, remembered."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from textual.events import MouseScrollUp

from acp_tui.config.paths import paths
from acp_tui.session.state import Permission
from acp_tui.ui.dialogs.dialog import PAUSE_SECONDS
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


YES_ONLY = {"toolCall": CALL, "options": [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]}


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


KEYS = [
    (["a"], "allow_once"),
    (["A", "enter"], "allow_once"),
    (["r"], "reject_once"),
    (["R", "enter"], "reject_once"),  # the rule could apply to later commands as well
    (["up", "enter", "enter"], "reject_once"),
]


async def test_keys_answer_requests(open_ui: Open) -> None:
    requests = [
        request
        for number in range(len(KEYS))
        for request in asks(toolCallId=f"call-{number}", rawInput={"command": f"pytest -n{number}"})
    ]
    async with open_ui() as ui:
        await ui.send(*requests)
        for number, (keys, _) in enumerate(KEYS):
            await ui.asked()
            await ui.sees(f"pytest -n{number}")
            assert "waiting for your answer" in ui.status()
            await ui.press(*keys)
        await ui.ready()
        assert answers(ui) == [{"outcome": "selected", "optionId": option} for _, option in KEYS]


async def test_escape_and_ctrl_c_stop_the_turn_and_answer_cancelled(open_ui: Open) -> None:
    async with open_ui() as ui:
        for keys in (["escape"], ["ctrl+c", "ctrl+c"]):
            await ui.send(*asks(), ["wait_for_cancel"])
            await ui.asked()
            await ui.press(*keys)
            assert await answered(ui) == {"outcome": "cancelled"}
            await ui.ready()
            assert ui.session.stop_reason == "cancelled"


async def test_the_conversation_behind_the_dialog_is_selected_copied_and_scrolled(open_ui: Open) -> None:
    async with open_ui() as ui:
        lines = [["say", f"line {number}\n\n"] for number in range(40)]
        await ui.send(*lines, *asks())
        dialog = await ui.asked()
        await ui.sees("line 30")
        row = next(y for y, line in enumerate(ui.lines()) if "line 30" in line)
        column = ui.lines()[row].index("line 30")
        await ui.pilot.mouse_down(dialog, offset=(column, row))
        await ui.pilot.hover(dialog, offset=(column + 6, row))
        await ui.pilot.mouse_up(dialog, offset=(column + 6, row))
        await ui.press("ctrl+c")
        assert ui.app.clipboard == "line 30"
        assert ui.dialog is dialog
        assert ui.session.working
        position = ui.transcript.scroll_offset.y
        wheel = MouseScrollUp(dialog, column, row, 0, 0, 0, False, False, False, column, row)
        ui.app.post_message(wheel)
        await ui.until(lambda: ui.transcript.scroll_offset.y < position)
        await ui.press("a")
        await ui.ready()
        assert ui.prompt.has_focus_within


async def test_ctrl_c_in_the_prompt_stops_the_turn_only_if_it_is_pressed_twice_during_a_question(
    open_ui: Open,
) -> None:
    async with open_ui() as ui:
        await ui.send(*asks(), ["wait_for_cancel"])
        await ui.asked()
        await ui.press("tab", "ctrl+c")
        assert any("again to stop" in toast for toast in ui.toasts())
        assert not ui.session.cancelling
        await ui.press("ctrl+c")
        await ui.ready()
        assert ui.session.stop_reason == "cancelled"


async def test_a_question_that_takes_the_place_of_a_withdrawn_one_ignores_keys_longer(
    open_ui: Open, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    other: dict[str, Any] = {
        **YES_ONLY,
        "toolCall": {**CALL, "toolCallId": "other", "rawInput": {"command": "rm notes"}},
    }
    async with open_ui() as ui:
        await ui.send(
            ["request", "session/request_permission", YES_ONLY, "one"],
            ["wait_for_file", str(go)],
            ["request", "session/request_permission", other, "two"],
            ["withdraw", "one"],
            ["answer_to", "two"],
        )
        first = await ui.asked()
        go.touch()
        await ui.until(lambda: ui.dialog not in (None, first))
        await ui.sees("rm notes")
        assert ui.dialog is not None
        assert ui.dialog._opens_at > ui.dialog._last_key_at + PAUSE_SECONDS
        await ui.asked()
        await ui.press("a")
        await ui.ready()


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


async def test_no_dialog_stays_of_a_request_that_is_withdrawn_at_once(open_ui: Open) -> None:
    async with open_ui("asks_at_once", "1", "withdraw") as ui:
        await ui.send("go")
        await ui.until(lambda: any(isinstance(entry, Permission) for entry in ui.session.entries))
        await ui.ready()
        assert ui.dialog is None
        assert ui.app.screen is ui.screen
        assert "waiting for your answer" not in ui.status()


async def test_a_request_withdrawn_by_the_agent_closes_its_dialog_or_its_line(
    open_ui: Open, tmp_path: Path
) -> None:
    async with open_ui() as ui:
        for asked_in, keys in (("dialog", []), ("line", ["tab", "x"])):
            go = tmp_path / asked_in
            await ui.send(
                ["request", "session/request_permission", YES_ONLY, asked_in],
                ["wait_for_file", str(go)],
                ["withdraw", asked_in],
            )
            await ui.asked()
            await ui.press(*keys)
            await ui.sees("Tab answer" if keys else "Yes")
            go.touch()
            await ui.ready()
            await ui.until(lambda: ui.app.screen is ui.screen and "Tab answer" not in ui.text())
            assert "waiting for your answer" not in ui.status()
        assert ui.prompt.text == "x"


SUBAGENT = {"sessionId": "sub-7", **YES_ONLY}


async def test_a_request_of_a_subagents_session_is_asked_and_named_and_ends_with_the_turn(
    open_ui: Open,
) -> None:
    own_call = {"sessionUpdate": "tool_call", "toolCallId": "call", "title": "Read", "kind": "read"}
    async with open_ui() as ui:
        await ui.send(["update", own_call], ["ask", "session/request_permission", SUBAGENT])
        await ui.asked()
        await ui.sees("(session sub-7)", "asks to run a command", "pytest -q")
        await ui.sees("session      sub-7  not announced by the agent")
        await ui.press("a")
        assert await answered(ui) == {"outcome": "selected", "optionId": "yes"}
        await ui.sees("run `pytest -q` (session sub-7)")
        assert ui.session.tool_calls["call"].title == "Read"
        await ui.ready()
        await ui.send(["ask", "session/request_permission", SUBAGENT], ["wait_for_cancel"])
        await ui.asked()
        await ui.press("escape")
        await ui.ready()
        assert answers(ui)[-1] == {"outcome": "cancelled"}
        assert sum('in the session "sub-7"' in notice for notice in ui.notices()) == 2  # one per turn


async def test_a_text_of_a_request_is_drawn_in_the_conversation_as_in_the_dialog(open_ui: Open) -> None:
    text = {"type": "content", "content": {"type": "text", "text": "This **runs** all tests."}}
    async with open_ui() as ui:
        await ui.send(*asks(content=[text]))
        await ui.asked()
        await ui.sees("This runs all tests.")
        await ui.press("a")
        await ui.ready()
        await ui.sees("allowed: run `pytest -q`", "This runs all tests.")


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
    async with open_ui() as ui:
        await ui.send(["request", "session/request_permission", YES_ONLY, "one"])
        await ui.asked()
        await ui.ready()
        assert "waiting for your answer" in ui.status()
        await ui.press("a")
        await ui.until(lambda: "idle" in ui.status())


async def test_a_dialog_closes_if_the_agent_dies_also_under_the_help(open_ui: Open, tmp_path: Path) -> None:
    async with open_ui() as ui:
        for keys in ([], ["f1"]):
            go = tmp_path / f"go-{len(keys)}"
            await ui.send(
                ["request", "session/request_permission", YES_ONLY, "one"],
                ["wait_for_file", str(go)],
                ["stderr", "last words"],
                ["exit", 3],
            )
            await ui.asked()
            await ui.press(*keys)
            go.touch()
            await ui.until(lambda: ui.session.phase == "dead" and ui.app.screen is ui.screen)
            await ui.sees("The agent exited with code 3", "last words", "F5 restarts it")
            assert "Allowed" not in ui.text()
            await ui.press("f5")
            await ui.ready()


@pytest.mark.parametrize("keys", [["escape"], ["tab", "escape"]])
async def test_stopping_the_turn_answers_all_pending_requests_once(open_ui: Open, keys: list[str]) -> None:
    async with open_ui("asks_at_once", "3") as ui:
        await ui.send("go")
        await ui.asked()
        for key in keys:
            await ui.sees("1 of 3")
            await ui.press(key)
        await ui.ready()
        assert ui.dialog is None
        assert "Tab answer" not in ui.text()
        assert ui.said() == ['{"ask-1": "cancelled"}{"ask-2": "cancelled"}{"ask-3": "cancelled"}']


async def test_an_always_answer_becomes_a_rule_that_answers_until_it_is_revoked(open_ui: Open) -> None:
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
        await ui.sees("allowed by rule: `pytest -q` exactly · this project · scripted")
    remembered = json.loads((paths().state / "permissions.json").read_text(encoding="utf-8"))
    assert "pytest" in json.dumps(remembered)
    async with open_ui() as ui:
        await ui.send(*asks())
        await ui.until(lambda: ui.said())
        assert answers(ui) == [{"outcome": "selected", "optionId": "allow_once"}]
        await revoke_rule(ui)
        await ui.send(*asks())
        await ui.asked()
        await ui.press("r")


async def test_always_answers_all_requests_that_wait(open_ui: Open) -> None:
    call = {"toolCall": CALL, "options": [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]}
    names = ["one", "two", "three", "four"]
    requests = [["request", "session/request_permission", call, name] for name in names]
    async with open_ui() as ui:
        await ui.send(*requests, *(["answer_to", name] for name in names))
        await ui.asked()
        await ui.sees("1 of 4")
        await ui.press("A", "enter")
        await ui.ready()
        assert [answer["optionId"] for answer in answers(ui)] == ["yes"] * 4
        records = [entry for entry in ui.session.entries if isinstance(entry, Permission)]
        assert [record.by for record in records] == ["you", "rule", "rule", "rule"]


def changing(*before: list[Any]) -> list[list[Any]]:
    """Return steps that ask about one command, and then change the call to another."""
    changed = {"sessionUpdate": "tool_call_update", "toolCallId": "call", "rawInput": {"command": "rm notes"}}
    ask = ["request", "session/request_permission", YES_ONLY, "one"]
    return [ask, *before, ["update", changed], ["answer_to", "one"]]


async def test_a_call_that_changes_while_it_is_asked_about_is_asked_about_again(
    open_ui: Open, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    async with open_ui() as ui:
        await ui.send(*changing(["wait_for_file", str(go)]))
        await ui.asked()
        await ui.sees("pytest -q")
        go.touch()
        await ui.sees("the agent has changed this call", "rm notes")
        assert answers(ui) == []
        await ui.asked()
        await ui.press("a")
        await ui.ready()
        await ui.sees("allowed: run `rm notes`")


async def test_the_record_names_what_was_decided_and_not_what_the_call_became(open_ui: Open) -> None:
    async with open_ui() as ui:
        await ui.send(*changing(["answer_to", "one"])[:-1])
        await ui.asked()
        await ui.press("a")
        await ui.ready()
        await ui.sees("allowed: run `pytest -q`")
        await ui.sees("rm notes")


async def revoke_rule(ui: ConversationUi) -> None:
    """Open the rule from the entry of the answer that it gave, and revoke it."""
    by_rule = next(e.id for e in ui.session.entries if isinstance(e, Permission) and e.by == "rule")
    await ui.press("alt+up")
    while ui.transcript.cursor != by_rule:
        await ui.press("alt+up")
    await ui.press("o")
    await ui.sees("Permission rules", "pytest -q")
    await ui.press("delete", "escape")


async def reject_with_reason(ui: ConversationUi) -> str:
    """Reject the request while a prompt is queued. Return what is sent ahead of that prompt."""
    await ui.asked()
    ui.screen.runner.prompts.submit("later")
    await ui.press("t")
    await ui.paste("use uv")
    await ui.press("enter")
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


@pytest.mark.parametrize("more", [{"steering": "injected"}, {}], ids=["can be steered", "cannot"])
async def test_the_reason_is_sent_again_if_the_rejection_ends_the_turn(
    open_ui: Open, more: dict[str, Any]
) -> None:
    """Codex accepts a message into the turn, and ends the turn without reading it."""
    async with open_ui("script", offers(**more)) as ui:
        await ui.send(*asks(), ["stop", "cancelled"])
        reason = "I rejected your request (run `pytest -q`): use uv"
        await ui.asked()
        ui.screen.runner.prompts.submit("later")
        await ui.press("t")
        await ui.paste("use uv")
        await ui.press("enter")
        await ui.until(lambda: ui.said()[-2:] == [reason, "later"])
        assert any("ended the turn without reading" in notice for notice in ui.notices()) == bool(more)


async def test_a_reason_is_not_sent_again_after_the_user_has_stopped_the_turn(open_ui: Open) -> None:
    async with open_ui("script", offers(steering="injected")) as ui:
        await ui.send(*asks(), ["wait_for_cancel"])
        await ui.asked()
        await ui.press("t")
        await ui.paste("use uv")
        await ui.press("enter")
        await ui.until(lambda: len(ui.prompts()) == 2)
        await ui.screen.runner.conversation.cancel()  # type: ignore[union-attr]
        await ui.ready()
        assert len(ui.prompts()) == 2


async def test_tab_moves_to_the_prompt_whose_text_is_queued_until_the_question_is_answered(
    open_ui: Open,
) -> None:
    async with open_ui() as ui:
        await ui.send(*asks())
        await ui.asked()
        await ui.press("tab")
        await ui.sees("asks: run `pytest -q`", "Tab answer", "waiting for your answer")
        assert ui.dialog is None
        await ui.press(*"via", "tab")
        await ui.asked()
        assert (ui.said(), ui.prompt.text) == ([], "via")
        await ui.press("tab", "enter")
        await ui.asked()
        assert ui.queue == ["via"]
        await ui.press("a")
        await ui.until(lambda: ui.prompts()[1:] == ["via"])
        await ui.ready()
        assert answers(ui) == [{"outcome": "selected", "optionId": "allow_once"}]
        assert "Tab answer" not in ui.text()


async def test_the_queue_does_not_promise_tab_while_tab_answers_a_question(open_ui: Open) -> None:
    async with open_ui() as ui:
        await ui.send(*asks(), ["wait_for_cancel"])
        await ui.asked()
        for text in ("one", "two"):
            await ui.press("tab", *text, "enter")
            await ui.asked()
        await ui.press("tab")
        await ui.sees("Tab answer", "2 queued")
        assert "Tab to edit one" not in ui.text()
        await ui.press("tab")
        await ui.asked()
        await ui.press("a")
        await ui.sees("2 queued: Tab to edit one")


async def test_writing_a_file_outside_the_workspace_and_a_terminal_command_ask_the_user(
    open_ui: Open, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.txt"
    write = ["ask", "fs/write_text_file", {"path": str(outside), "content": "new\n"}]
    run = ["ask", "terminal/create", {"command": "echo", "args": ["guarded"]}]
    async with open_ui() as ui:
        await ui.send(write, write, run, ["wait_for_output"])
        await ui.asked()
        await ui.sees("outside.txt", "new")
        await ui.press("r")
        await ui.until(lambda: "not allowed" in "".join(ui.said()))
        assert not outside.exists()
        await ui.asked()
        await ui.press("a")
        await ui.until(outside.exists)
        await ui.asked()
        await ui.sees("echo guarded", "directory")
        await ui.press("a")
        await ui.ready()
        await ui.sees("guarded")


async def test_closing_the_help_returns_to_the_whole_command(open_ui: Open) -> None:
    async with open_ui() as ui:
        await ui.send(*asks())
        await ui.asked()
        await ui.sees("Run the tests", "pytest -q", "directory")
        await ui.press("f1")
        await ui.sees("Allow once")
        await ui.press("escape")
        await ui.asked()
        await ui.press("i")
        await ui.sees('"command": "pytest -q"')
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
