"""Prompts, the queue and the end of turns."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from typing import TYPE_CHECKING

import pytest

from acp_tui.session.state import TurnEnd
from acp_tui.ui.conversation.runner import ConversationRunner
from acp_tui.ui.dialogs.help import HelpScreen
from acp_tui.ui.transcript.transcript import Transcript
from acp_tui.ui.widgets.bar import KeyBar
from tests.support.conversation_ui import offers

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.conversation_ui import ConversationUi, Open

WAITS = '[["say", "working on it"], ["wait_for_cancel"]]'


async def working(ui: ConversationUi) -> None:
    """Start a turn that lasts until it is stopped."""
    await ui.send(WAITS)
    await ui.until(lambda: ui.said())


# --------------------------------------------------------------------------- sending


async def test_a_prompt_is_sent_answered_and_can_be_edited_again(open_ui: Open) -> None:
    async with open_ui(wait=False) as ui:
        assert "❯ Message " in ui.text()
        await ui.sees("Message scripted")
        assert ui.status().startswith(" scripted · project")
        await ui.press(*"hello", "enter")
        await ui.sees("┃ hello", "   hello")
        await ui.ready()
        assert ui.prompts() == ui.said() == ["hello"]
        assert ui.prompt.text == ""
        assert "idle" in ui.status()
        await ui.press("alt+up", "alt+up", "e")
        await ui.until(lambda: ui.prompt.text == "hello")


async def test_an_answer_is_shown_on_a_machine_that_stalls(
    open_ui: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = itertools.count(time.monotonic(), 0.005)
    async with open_ui() as ui:
        monkeypatch.setattr("textual._time.get_time", lambda: next(clock))  # between any two looks at it
        await ui.send("hello")
        await ui.sees("   hello")


async def test_prompts_before_the_session_is_ready_are_sent_in_order(open_ui: Open) -> None:
    async with open_ui(options=("of the command line",), wait=False) as ui:
        await ui.press("2", "enter", "3", "enter")
        await ui.until(lambda: ui.said() == ["of the command line", "2", "3"])
        await ui.ready()
        assert ui.strip() == ""
        await ui.press("up", "up", "up")  # all of them are in the history
        assert ui.prompt.text == "of the command line"


async def test_send_now_before_the_conversation_exists_precedes_other_prompts(
    open_ui: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, typed = ConversationRunner.start, asyncio.Event()

    async def start_later(runner: ConversationRunner) -> None:
        await typed.wait()
        await start(runner)

    monkeypatch.setattr(ConversationRunner, "start", start_later)
    async with open_ui(wait=False) as ui:
        await ui.press("alt+s", "1", "enter", "2", "alt+s")
        typed.set()
        await ui.until(lambda: ui.said() == ["2", "1"])


async def test_prompts_are_recalled_and_written_in_several_lines(open_ui: Open) -> None:
    async with open_ui() as ui:
        await ui.send("fix")
        await ui.send("test")
        await ui.until(lambda: ui.said() == ["fix", "test"])
        await ui.press("up")
        assert ui.prompt.text == "test"
        await ui.press("up", "down", "down")
        assert ui.prompt.text == ""
        await ui.press("ctrl+r", "f", "enter")
        await ui.until(lambda: ui.prompt.text == "fix")
        await ui.press("ctrl+j", "2", "alt+enter", "3", "enter")
        await ui.until(lambda: ui.prompts()[-1] == "fix\n2\n3")


async def test_agent_commands_are_offered_and_sent(open_ui: Open) -> None:
    commands = [{"name": "review", "description": "Review it", "input": {"hint": "<number>"}}]
    update = {"sessionUpdate": "available_commands_update", "availableCommands": commands}
    async with open_ui() as ui:
        await ui.send(["update", update])
        await ui.until(lambda: ui.prompt.commands)
        await ui.press("slash", "r")
        await ui.sees("review", "Review it", "<number>")
        await ui.press("tab", *"12", "enter")
        await ui.until(lambda: ui.prompts()[-1] == "/review 12")


# --------------------------------------------------------------------------- the queue


async def test_queued_prompts_are_edited_removed_and_sent(open_ui: Open) -> None:
    async with open_ui() as ui:
        await working(ui)
        for text in ("one", "two", "three"):
            await ui.send(text)
        await ui.until(lambda: ui.queue == ["one", "two", "three"] and "3 queued" in ui.strip())
        await ui.press("up")
        await ui.until(lambda: ui.prompt.text == "three")
        assert ui.queue == ["one", "two"]
        await ui.press("!", "enter")
        await ui.until(lambda: ui.queue == ["one", "two", "three!"])
        await ui.press("tab", "delete")
        await ui.until(lambda: ui.queue == ["one", "two"])
        await ui.press("e")
        await ui.until(lambda: ui.prompt.text == "two" and ui.queue == ["one"])
        await ui.press("ctrl+u", "tab", "s")
        await ui.until(lambda: ui.said()[-1] == "one")
        assert ends(ui)[0].stop_reason == "cancelled"


async def test_send_now_stops_the_turn_and_precedes_the_queue(open_ui: Open) -> None:
    async with open_ui() as ui:
        await working(ui)
        await ui.send("later")
        ui.prompt.load("at once")
        await ui.sees("Alt+S stop and send")
        await ui.press("alt+s")
        await ui.until(lambda: ui.prompts()[1:] == ["at once", "later"])
        assert ends(ui)[0].stop_reason == "cancelled"


async def test_send_now_goes_into_the_turn_of_an_agent_that_can_be_steered(open_ui: Open) -> None:
    async with open_ui("script", offers(steering="injected")) as ui:
        await ui.send(["say", "begun. "], ["wait_for_steering"], ["wait_for_steering"])
        await ui.until(lambda: ui.said())
        await ui.send("queued")
        await ui.send("later")
        ui.prompt.load("at once")
        await ui.sees("Alt+S send now")
        await ui.press("alt+s")
        await ui.until(lambda: ui.said()[-1] == "at once")
        await ui.press("tab", "s")
        await ui.until(lambda: ui.said() == ["begun. ", "at once", "later", "queued"])
        assert [end.stop_reason for end in ends(ui)] == ["end_turn"] * 2
        assert [prompt.text for prompt in ui.session.prompts][1:] == ["queued"]


@pytest.mark.parametrize(
    ("outcome", "notice"),
    [("promptRequired", None), ("failed", "did not take the prompt into the running turn. The prompt")],
)
async def test_a_prompt_that_is_not_taken_into_the_turn_is_sent_after_it(
    open_ui: Open, outcome: str, notice: str | None
) -> None:
    async with open_ui("script", offers(steering=outcome)) as ui:
        await ui.send(["say", "begun. "], ["wait_for_steering"], ["wait_for_file", "go"])
        await ui.until(lambda: ui.said())
        ui.prompt.load("at once")
        await ui.press("alt+s")
        await ui.until(lambda: ui.said() == ["begun. at once"])
        assert ui.queue == ["at once"]
        assert [text for text in ui.notices() if notice and notice in text] == ui.notices()
        (ui.made[0].conversation.cwd / "go").touch()
        await ui.until(lambda: ui.said()[1:] == ["at once"])
        assert ends(ui)[0].stop_reason == "end_turn"


async def test_a_steering_call_that_fails_keeps_the_prompt(open_ui: Open) -> None:
    async with open_ui("script", offers(steering="", refuses=["_session/steering"])) as ui:
        await ui.send(["say", "begun. "], ["wait_for_steering"], ["wait_for_cancel"])
        await ui.until(lambda: ui.said())
        ui.prompt.load("at once")
        await ui.press("alt+s")
        await ui.sees("_session/steering failed: The setting is locked")
        assert ui.queue == ["at once"]


async def test_an_agent_that_does_not_answer_a_steering_call_does_not_hold_up_the_queue(
    open_ui: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acp_tui.controller.prompt_queue.ANSWER_SECONDS", 0.1)
    async with open_ui("script", offers(steering=None)) as ui:
        await ui.send(["say", "begun. "], ["wait_for_steering"], ["wait_for_file", "go"])
        await ui.until(lambda: ui.said())
        ui.prompt.load("at once")
        await ui.press("alt+s")
        await ui.sees("did not take the prompt into the running turn")
        (ui.made[0].conversation.cwd / "go").touch()
        await ui.until(lambda: ui.said()[1:] == ["at once"])


async def test_an_agent_that_dies_before_it_takes_a_prompt_leaves_it_in_the_queue(open_ui: Open) -> None:
    async with open_ui("script", offers(steering="injected")) as ui:
        await ui.send(["say", "begun. "], ["wait_for_file", "go"], ["exit", 3])
        await ui.until(lambda: ui.said())
        ui.prompt.load("at once")
        await ui.press("alt+s")
        (ui.made[0].conversation.cwd / "go").touch()
        await ui.until(lambda: ui.session.phase == "dead")
        assert ui.queue == ["at once"]


async def test_a_stopped_turn_pauses_the_queue_until_enter_in_an_empty_prompt(open_ui: Open) -> None:
    async with open_ui() as ui:
        await working(ui)
        await ui.send("later")
        await ui.press("escape")
        await ui.until(lambda: "paused: press Enter in an empty prompt to continue" in ui.strip())
        assert ui.prompts() == [WAITS]
        await ui.send("something else first")
        await ui.until(lambda: ui.said()[-1] == "something else first")
        await ui.ready()
        assert ui.queue == ["later"]
        await ui.press("enter")
        await ui.until(lambda: ui.said()[-1] == "later")
        assert ui.queue == []


async def test_prompts_queued_after_a_stop_are_sent_without_the_paused_ones(open_ui: Open) -> None:
    async with open_ui() as ui:
        await working(ui)
        await ui.send("held back")
        await ui.press("escape")
        await ui.until(lambda: "paused: press Enter in an empty prompt to continue" in ui.strip())
        await ui.send(["say", "begun"], ["wait_for_file", "go"])
        await ui.until(lambda: ui.said()[-1] == "begun")
        await ui.send("written later")
        assert ui.queue == ["written later", "held back"]
        assert "2 queued, 1 paused" in ui.strip()
        await ui.press("tab", "up", "e")
        assert ui.prompt.text == "written later"
        await ui.press("enter")
        assert ui.queue == ["written later", "held back"]
        (ui.made[0].conversation.cwd / "go").touch()
        await ui.until(lambda: ui.said()[-1] == "written later")
        await ui.ready()
        assert ui.queue == ["held back"]


# --------------------------------------------------------------------------- stopping


async def test_an_agent_that_does_not_stop_can_be_restarted(open_ui: Open) -> None:
    async with open_ui() as ui:
        await ui.send(["say", "deaf"], ["ignore_client"])
        await ui.until(lambda: ui.said())
        await ui.press("escape")
        await ui.until(lambda: "stopping" in ui.status())
        await ui.press("escape")
        await ui.until(lambda: any("F5" in toast for toast in ui.toasts()))
        await ui.press("f5")
        await ui.ready()
        await ui.send("again")
        await ui.until(lambda: ui.said()[-1] == "again")


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_escape_closes_the_innermost_thing_and_then_stops_the_turn(
    open_ui: Open, tmp_path: Path, key: str
) -> None:
    (tmp_path / "project" / "login.py").touch()
    async with open_ui() as ui:
        await working(ui)
        await ui.press("ctrl+f", "w", "o")
        await ui.sees("Search", "2 found")
        await ui.press(key)
        await ui.until(lambda: "Search" not in ui.text())
        assert isinstance(ui.screen.focused, Transcript)
        ui.prompt.focus()
        await ui.press("ctrl+r")
        await ui.sees("search ❯")
        await ui.press(key)
        await ui.until(lambda: "search ❯" not in ui.text())
        await ui.press("@")
        await ui.sees("❯ login.py")
        await ui.press(key)
        await ui.until(lambda: "login.py" not in ui.text())
        await ui.press("f1")
        await ui.until(lambda: isinstance(ui.app.screen, HelpScreen))
        await ui.press(key)
        await ui.until(lambda: ui.app.screen is ui.screen)
        assert not ui.session.cancelling
        assert "working" in ui.status()
        assert "Esc stop" in ui.text()
        await ui.press(key)
        await ui.sees("⊘ stopped")
        await ui.ready()


async def test_the_mouse_and_escape_in_the_transcript(open_ui: Open) -> None:
    async with open_ui() as ui:
        await working(ui)
        row = next(y for y, line in enumerate(ui.lines()) if line.startswith("   working"))
        await ui.pilot.mouse_down(offset=(3, row))
        await ui.pilot.hover(offset=(10, row))
        await ui.pilot.mouse_up(offset=(10, row))
        await ui.pilot.pause()
        await ui.press("ctrl+c")
        assert ui.app.clipboard == "working"
        assert not ui.session.cancelling
        ui.screen.runner.stop_turn()
        await ui.ready()
        ui.prompt.focus()
        await ui.pilot.click(ui.transcript, offset=(6, 1))
        await ui.press("x", "y")
        assert ui.prompt.text == "xy"
        ui.transcript.focus()
        await ui.press("escape")
        assert not isinstance(ui.screen.focused, Transcript)


async def test_ctrl_c_twice_quits_when_idle(open_ui: Open) -> None:
    async with open_ui() as ui:
        await ui.press("ctrl+c")
        assert ui.toasts() == ["Press Ctrl+C again to quit."]
        assert not ui.app._exit
        await ui.press("ctrl+c")
        assert ui.app._exit


# --------------------------------------------------------------------------- other ends


def ends(ui: ConversationUi) -> list[TurnEnd]:
    return [entry for entry in ui.session.entries if isinstance(entry, TurnEnd)]


async def test_a_refused_prompt_is_dimmed_and_can_be_edited_and_sent_again(open_ui: Open) -> None:
    refused, ignored = '[["say", "no"], ["stop", "refusal"]]', '[["stop", "end_turn"]]'
    async with open_ui() as ui:
        await ui.send(refused)
        await ui.sees("The agent refused", "F6 edit and send again")
        assert all(entry.withdrawn for entry in ui.session.entries[-3:])
        await ui.press("f6")
        assert ui.prompt.text == refused
        ui.prompt.load("something better")
        await ui.press("enter")
        await ui.until(lambda: ui.said()[-1] == "something better")
        assert not ui.session.entries[-1].withdrawn
        await ui.send(ignored)
        await ui.sees("The agent returned nothing", "F6 send again")
        await ui.press("f6")
        await ui.until(lambda: ui.prompts()[-2:] == [ignored, ignored])


async def test_the_footer_shows_what_enter_and_escape_do(open_ui: Open) -> None:
    async with open_ui() as ui:
        footer = ui.screen.query_one(KeyBar)

        def says() -> str:
            return footer.render_line(0).text

        await ui.until(lambda: "Enter send" in says())
        assert "Esc" not in says()
        await ui.press("!")
        await ui.until(lambda: "Enter run" in says())
        await ui.press("backspace")
        await ui.until(lambda: "Enter send" in says())
        await ui.press("alt+up")
        await ui.until(lambda: "Esc prompt" in says())
        await working(ui)
        await ui.until(lambda: "Enter queue" in says() and "Esc stop" in says())
        await ui.press("ctrl+b")
        await ui.until(lambda: "Esc back" in says())
        ui.prompt.focus()
        await ui.press("escape")
        await ui.until(lambda: "Enter send" in says())


async def test_toasts_do_not_cover_a_short_conversation(open_ui: Open) -> None:
    async with open_ui(size=(80, 24)) as ui:
        await ui.send("short")
        await ui.until(lambda: ui.said())
        ui.app.notify("a toast about something " * 4, timeout=60)
        await ui.sees("a toast about something")
        toast = next(n for n, line in enumerate(ui.lines()) if "a toast" in line)
        answer = max(n for n, line in enumerate(ui.lines()) if "short" in line)
        assert answer < toast < ui.screen.prompt.region.y


async def test_a_failed_prompt_is_put_back_selected_and_its_error_shown(open_ui: Open) -> None:
    async with open_ui("faulty", "errors") as ui:
        await ui.send("plain")
        ui.prompt.load("written meanwhile")
        await ui.sees("✘ it broke")
        assert ui.prompt.text == "written meanwhile"
        await ui.send("plain")
        await ui.until(lambda: ui.prompt.text == "plain")
        await ui.press("f6")  # sends it again
        await ui.until(lambda: ui.prompts() == ["plain"] * 3 and ui.prompt.text == "plain")
        await ui.press(*"details", "enter")  # replaces the selection
        await ui.until(lambda: ui.prompts()[3:] == ["details"] and ui.prompt.text == "details")
        await ui.press("alt+up", "space")
        await ui.sees('"details": "it broke"')


# --------------------------------------------------------------------------- modes, models, options

SESSION = {
    "modes": {
        "currentModeId": "ask",
        "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}],
    },
    "models": {
        "currentModelId": "small",
        "availableModels": [{"modelId": "small", "name": "Small"}, {"modelId": "big", "name": "Big"}],
    },
}


async def test_the_mode_is_set_by_option_key_and_mouse(open_ui: Open) -> None:
    async with open_ui("script", offers(session=SESSION), options=("--mode", "code")) as ui:
        await ui.until(lambda: "Code ▾" in ui.status())
        await ui.press("shift+tab")
        await ui.until(lambda: "Ask ▾" in ui.status())
        await ui.press("shift+tab")
        await ui.until(lambda: "Code ▾" in ui.status())
        await ui.pilot.click(offset=(ui.status().index("Code ▾"), 0))
        await ui.sees("Mode", "Ask", "Code")
        await ui.press("up", "enter")
        await ui.until(lambda: ui.session.mode == "ask")
        await ui.pilot.click(offset=(ui.status().index("Small ▾"), 0))
        await ui.sees("Big")
        await ui.press("down", "enter")
        await ui.until(lambda: "Big ▾" in ui.status())


async def test_options_are_changed_in_a_dialog_that_stays_open(open_ui: Open) -> None:
    async with open_ui("complete") as ui:
        await ui.press("ctrl+o")
        await ui.sees("Agent options", "Effort", "Low", "[ ] off")
        assert not any("Odd" in line for line in ui.lines()), "its type is unknown"
        await ui.press("down", "right")
        await ui.until(lambda: ui.session.config_options[0].current == "high")
        await ui.press("down", "space")
        await ui.sees("High", "[x] on")
        await ui.press("up", "enter")
        await ui.sees("Low")
        await ui.press("up", "enter")
        await ui.until(lambda: ui.session.config_options[0].current == "low")
        await ui.press("escape")
        await ui.until(lambda: ui.app.screen is ui.screen)


async def test_keys_that_change_an_option_belong_to_the_filter_while_it_has_text(open_ui: Open) -> None:
    modes = [{"value": "ask", "name": "Ask"}, {"value": "full", "name": "Full access"}]
    every = {"id": "all", "name": "Allow all", "type": "boolean", "currentValue": False}
    mode = {"id": "m", "name": "Reasoning", "type": "select", "currentValue": "ask", "options": modes}
    async with open_ui("script", offers(session={"configOptions": [every, mode]})) as ui:
        await ui.press("ctrl+o", *"allow", "space", *"all", "left", "right")
        await ui.sees("allow all", "[ ] off")
        assert not ui.session.config_options[0].current
        await ui.press("enter")
        await ui.sees("[x] on")
        await ui.press(*["backspace"] * 9, "space")
        await ui.sees("[ ] off")


async def test_an_option_that_cannot_be_set_keeps_its_value_and_says_why(open_ui: Open) -> None:
    fast = {"id": "fast", "name": "Fast", "type": "boolean", "currentValue": False}
    agent = offers(session={"configOptions": [fast]}, refuses=["session/set_config_option"])
    async with open_ui("script", agent) as ui:
        await ui.press("ctrl+o", "space")
        await ui.sees("The setting is locked", "[ ] off")


async def test_an_unknown_mode_is_reported_and_the_conversation_goes_on(open_ui: Open) -> None:
    options = ("--mode", "fly", "--set", "colour=red", "--set", "model=big", "hello")
    async with open_ui("script", offers(session=SESSION), options=options) as ui:
        await ui.until(lambda: ui.said() == ["hello"])
        assert any('no mode "fly"' in toast for toast in ui.toasts())
        assert any('no option "colour"' in toast for toast in ui.toasts())
        assert ui.session.model == "big", "the other wishes are fulfilled"


async def test_a_turn_that_ends_with_open_calls_and_no_answer_says_so(open_ui: Open) -> None:
    call = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Read", "status": "in_progress"}
    steps = json.dumps([["update", call]])
    async with open_ui() as ui:
        await ui.send(steps)
        await ui.ready()
        await ui.sees("The agent ended the turn without finishing a tool call, and without an answer.")
        await ui.press("f6")
        await ui.until(lambda: ui.prompts() == [steps, steps])
