"""Prompts, turns and how they end, on the screen."""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING

import pytest

from acp_tui.session.state import TurnEnd
from acp_tui.ui.screens.dialogs.help import HelpScreen
from acp_tui.ui.transcript.transcript import Transcript
from acp_tui.ui.widgets.key_bar import KeyBar
from tests.support.desk import offers

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.desk import Desk, Open

WAITS = '[["say", "working on it"], ["wait"]]'


async def working(desk: Desk) -> None:
    """The agent works until it is stopped."""
    await desk.send(WAITS)
    await desk.until(lambda: desk.said())


# --------------------------------------------------------------------------- sending


async def test_a_prompt_is_sent_and_answered(open_desk: Open) -> None:
    async with open_desk() as desk:
        await desk.press(*"hello", "enter")
        await desk.sees("┃ hello", "   hello")
        await desk.ready()
        assert desk.prompts() == desk.said() == ["hello"]
        assert desk.prompt.text == ""
        assert "idle" in desk.status()


async def test_an_answer_is_shown_also_where_the_machine_stands_still_now_and_then(
    open_desk: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = itertools.count(time.monotonic(), 0.005)
    async with open_desk() as desk:
        monkeypatch.setattr("textual._time.get_time", lambda: next(clock))  # between any two looks at it
        await desk.send("hello")
        await desk.sees("   hello")


async def test_ctrl_j_and_alt_enter_make_lines(open_desk: Open) -> None:
    async with open_desk() as desk:
        await desk.press(*"one", "ctrl+j", *"two", "alt+enter", *"three", "enter")
        await desk.until(lambda: desk.prompts() == ["one\ntwo\nthree"])


async def test_the_first_prompt_of_the_command_line_is_sent_when_the_session_is_ready(
    open_desk: Open,
) -> None:
    async with open_desk(options=("hello there",)) as desk:
        await desk.until(lambda: desk.said() == ["hello there"])
        await desk.press("up")  # as any other, it is in the history
        assert desk.prompt.text == "hello there"


async def test_what_is_typed_before_the_session_is_ready_is_sent_then_in_order(open_desk: Open) -> None:
    async with open_desk(options=("first",), wait=False) as desk:
        await desk.press(*"second", "enter", *"third", "enter")
        await desk.until(lambda: desk.said() == ["first", "second", "third"])


async def test_the_placeholder_and_the_status_line_take_the_agents_own_name(open_desk: Open) -> None:
    async with open_desk(wait=False) as desk:
        assert "❯ Message " in desk.text()
        await desk.sees("Message scripted")
        assert desk.status().startswith(" scripted · project")


async def test_earlier_prompts_come_back_with_up_and_are_found_with_ctrl_r(open_desk: Open) -> None:
    async with open_desk() as desk:
        await desk.send("fix the bug")
        await desk.send("write a test")
        await desk.until(lambda: desk.said() == ["fix the bug", "write a test"])
        await desk.press("up")
        assert desk.prompt.text == "write a test"
        await desk.press("up")
        assert desk.prompt.text == "fix the bug"
        await desk.press("down", "down")
        assert desk.prompt.text == ""
        await desk.press("ctrl+r", *"bug", "enter")
        await desk.until(lambda: desk.prompt.text == "fix the bug")


async def test_the_agents_commands_are_offered_and_sent(open_desk: Open) -> None:
    commands = [{"name": "review", "description": "Review it", "input": {"hint": "<number>"}}]
    update = {"sessionUpdate": "available_commands_update", "availableCommands": commands}
    async with open_desk() as desk:
        await desk.send(["update", update])
        await desk.until(lambda: desk.prompt.commands)
        await desk.press("slash", "r")
        await desk.sees("review", "Review it", "<number>")
        await desk.press("tab", *"12", "enter")
        await desk.until(lambda: desk.prompts()[-1] == "/review 12")


# --------------------------------------------------------------------------- the queue


async def test_prompts_queue_while_the_agent_works_and_leave_one_by_one(open_desk: Open) -> None:
    async with open_desk() as desk:
        gate = '[["permission", {"title": "go on?"}]]'
        await desk.send(gate)
        await desk.asked()
        desk.screen.runner.prompts.submit("second")
        desk.screen.runner.prompts.submit("third")
        await desk.until(lambda: desk.queue == ["second", "third"])
        await desk.press("a")
        await desk.until(lambda: desk.prompts() == [gate, "second", "third"])
        await desk.ready()
        assert desk.said()[1:] == ["second", "third"]
        assert desk.strip() == ""


async def test_the_last_queued_prompt_comes_back_with_up_to_be_edited(open_desk: Open) -> None:
    async with open_desk() as desk:
        await working(desk)
        await desk.send("second")
        await desk.send("third")
        await desk.until(lambda: "2 queued" in desk.strip())
        await desk.press("up")
        await desk.until(lambda: desk.prompt.text == "third")
        assert desk.queue == ["second"]
        await desk.press("!", "enter")
        await desk.until(lambda: desk.queue == ["second", "third!"])


async def test_queued_prompts_are_edited_removed_and_sent_now_by_their_keys(open_desk: Open) -> None:
    async with open_desk() as desk:
        await working(desk)
        for text in ("one", "two", "three"):
            await desk.send(text)
        await desk.until(lambda: desk.queue == ["one", "two", "three"])
        await desk.press("tab", "tab", "delete")
        await desk.until(lambda: desk.queue == ["one", "two"])
        await desk.press("e")
        await desk.until(lambda: desk.prompt.text == "two" and desk.queue == ["one"])
        await desk.press("ctrl+u", "tab", "tab", "s")
        await desk.until(lambda: desk.said()[-1] == "one")
        assert ends(desk)[0].stop_reason == "cancelled"


async def test_send_now_stops_the_agent_and_goes_before_the_queue(open_desk: Open) -> None:
    async with open_desk() as desk:
        await working(desk)
        await desk.send("later")
        desk.prompt.load("at once")
        await desk.press("alt+s")
        await desk.until(lambda: desk.prompts()[1:] == ["at once", "later"])
        assert ends(desk)[0].stop_reason == "cancelled"


async def test_after_a_stop_the_queue_waits_until_enter_in_an_empty_prompt(open_desk: Open) -> None:
    async with open_desk() as desk:
        await working(desk)
        await desk.send("later")
        await desk.press("escape")
        await desk.until(lambda: "paused: Enter sends" in desk.strip())
        assert desk.prompts() == [WAITS]
        await desk.send("something else first")
        await desk.until(lambda: desk.said()[-1] == "something else first")
        await desk.ready()
        assert desk.queue == ["later"]
        await desk.press("enter")
        await desk.until(lambda: desk.said()[-1] == "later")
        assert desk.queue == []


# --------------------------------------------------------------------------- stopping


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_the_turn_is_stopped(open_desk: Open, key: str) -> None:
    async with open_desk() as desk:
        await working(desk)
        assert "working" in desk.status()
        assert "Esc stop" in desk.text()
        await desk.press(key)
        await desk.sees("⊘ stopped")
        await desk.ready()


async def test_an_agent_that_does_not_stop_can_be_started_again(open_desk: Open) -> None:
    async with open_desk() as desk:
        await desk.send(["say", "deaf"], ["ignore"])
        await desk.until(lambda: desk.said())
        await desk.press("escape")
        await desk.until(lambda: "stopping" in desk.status())
        await desk.press("escape")
        await desk.until(lambda: any("F5" in toast for toast in desk.toasts()))
        await desk.press("f5")
        await desk.ready()
        await desk.send("again")
        await desk.until(lambda: desk.said()[-1] == "again")


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_the_innermost_thing_is_closed_first(open_desk: Open, tmp_path: Path, key: str) -> None:
    (tmp_path / "project" / "login.py").touch()
    async with open_desk() as desk:
        await working(desk)
        await desk.press("ctrl+f", *"work")
        await desk.sees("Search", "2 found")
        await desk.press(key)
        await desk.until(lambda: "Search" not in desk.text())
        assert isinstance(desk.screen.focused, Transcript)
        desk.prompt.focus()
        await desk.press("ctrl+r")
        await desk.sees("search ❯")
        await desk.press(key)
        await desk.until(lambda: "search ❯" not in desk.text())
        await desk.press("@")
        await desk.sees("❯ login.py")
        await desk.press(key)
        await desk.until(lambda: "login.py" not in desk.text())
        await desk.press("f1")
        await desk.until(lambda: isinstance(desk.app.screen, HelpScreen))
        await desk.press(key)
        await desk.until(lambda: desk.app.screen is desk.screen)
        assert not desk.session.cancelling
        await desk.press(key)
        await desk.until(lambda: not desk.session.working)


async def test_escape_with_nothing_to_close_goes_back_to_the_prompt(open_desk: Open) -> None:
    async with open_desk() as desk:
        desk.transcript.focus()
        await desk.press("escape")
        assert not isinstance(desk.screen.focused, Transcript)


async def test_ctrl_c_copies_what_is_selected_instead(open_desk: Open) -> None:
    async with open_desk() as desk:
        await working(desk)
        row = next(y for y, line in enumerate(desk.lines()) if line.startswith("   working"))
        await desk.pilot.mouse_down(offset=(3, row))
        await desk.pilot.hover(offset=(10, row))
        await desk.pilot.mouse_up(offset=(10, row))
        await desk.pilot.pause()
        await desk.press("ctrl+c")
        assert desk.app.clipboard == "working"
        assert not desk.session.cancelling


async def test_ctrl_c_twice_quits_when_idle_and_says_so(open_desk: Open) -> None:
    async with open_desk() as desk:
        await desk.press("ctrl+c")
        assert desk.toasts() == ["Press Ctrl+C again to quit."]
        assert not desk.app._exit
        await desk.press("ctrl+c")
        assert desk.app._exit


async def test_ctrl_q_quits_whatever_is_open(open_desk: Open) -> None:
    async with open_desk() as desk:
        await desk.send(["permission", {"title": "may I?"}])
        await desk.asked()
        await desk.press("ctrl+q", "ctrl+q")
        assert desk.app._exit


# --------------------------------------------------------------------------- other ends


def ends(desk: Desk) -> list[TurnEnd]:
    return [entry for entry in desk.session.entries if isinstance(entry, TurnEnd)]


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("max_tokens", "token limit"),
        ("max_turn_requests", "limit of model requests"),
        ("exhausted", "ended: exhausted"),
    ],
)
async def test_a_stop_reason_is_told_in_words(open_desk: Open, reason: str, words: str) -> None:
    async with open_desk() as desk:
        await desk.send(["say", "part"], ["stop", reason])
        await desk.sees(words)


async def test_a_refused_prompt_is_dimmed_and_can_be_edited_and_sent_again(open_desk: Open) -> None:
    refused = '[["say", "no"], ["stop", "refusal"]]'
    async with open_desk() as desk:
        await desk.send(refused)
        await desk.sees("The agent refused", "F6 edit and send again")
        assert all(entry.withdrawn for entry in desk.session.entries[-3:])
        await desk.press("f6")
        assert desk.prompt.text == refused
        desk.prompt.load("something better")
        await desk.press("enter")
        await desk.until(lambda: desk.said()[-1] == "something better")
        assert not desk.session.entries[-1].withdrawn


async def test_the_prompt_of_a_turn_can_be_taken_from_the_transcript(open_desk: Open) -> None:
    async with open_desk() as desk:
        await desk.send("an old prompt")
        await desk.until(lambda: desk.said())
        await desk.ready()
        await desk.press("alt+up", "alt+up", "e")
        await desk.until(lambda: desk.prompt.text == "an old prompt")


async def test_the_footer_says_what_enter_does_now(open_desk: Open) -> None:
    async with open_desk() as desk:
        await desk.sees("Enter send")
        await desk.press("!")
        await desk.sees("Enter run")
        await desk.press("backspace")
        await desk.sees("Enter send")
        await desk.send(["wait"])
        await desk.sees("Enter queue")
        await desk.press("escape")
        await desk.sees("Enter send")


async def test_toasts_leave_a_short_conversation_in_sight(open_desk: Open) -> None:
    async with open_desk(size=(80, 24)) as desk:
        await desk.send("short")
        await desk.until(lambda: desk.said())
        desk.app.notify("a toast about something " * 4, timeout=60)
        await desk.sees("a toast about something")
        toast = next(n for n, line in enumerate(desk.lines()) if "a toast" in line)
        answer = max(n for n, line in enumerate(desk.lines()) if "short" in line)
        assert answer < toast < desk.screen.prompt.region.y


async def test_a_failed_prompt_comes_back_and_its_error_is_on_the_screen(open_desk: Open) -> None:
    async with open_desk("faulty", "errors") as desk:
        await desk.send("details")
        await desk.sees("✘ it broke")
        assert desk.prompt.text == "details"
        await desk.press("enter")
        await desk.until(lambda: len(desk.prompts()) == 2)
        await desk.press("alt+up", "space")
        await desk.sees('"details": "it broke"')


async def test_a_failed_prompt_comes_back_selected_so_that_the_next_one_replaces_it(open_desk: Open) -> None:
    async with open_desk("faulty", "errors") as desk:
        await desk.send("details")
        await desk.until(lambda: desk.prompt.text == "details")
        await desk.press(*"next", "enter")
        await desk.until(lambda: desk.prompts() == ["details", "next"])


async def test_a_failed_prompt_does_not_replace_what_was_written_meanwhile(open_desk: Open) -> None:
    async with open_desk("faulty", "errors") as desk:
        await desk.send("plain")
        desk.prompt.load("written meanwhile")
        await desk.sees("✘ it broke")
        assert desk.prompt.text == "written meanwhile"


async def test_f6_sends_a_failed_prompt_again_and_empties_the_editor(open_desk: Open) -> None:
    async with open_desk("faulty", "errors") as desk:
        await desk.send("plain")
        await desk.until(lambda: desk.prompt.text == "plain")
        await desk.press("f6")
        await desk.until(lambda: desk.prompts() == ["plain", "plain"])


async def test_an_empty_answer_offers_to_send_again(open_desk: Open) -> None:
    async with open_desk() as desk:
        await desk.send('[["stop", "end_turn"]]')
        await desk.sees("The agent returned nothing", "F6 send again")
        await desk.press("f6")
        await desk.until(lambda: len(desk.prompts()) == 2)


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


async def test_shift_tab_goes_to_the_next_mode_and_around(open_desk: Open) -> None:
    async with open_desk("script", offers(session=SESSION)) as desk:
        assert "Ask ▾" in desk.status()
        await desk.press("shift+tab")
        await desk.until(lambda: "Code ▾" in desk.status())
        await desk.press("shift+tab")
        await desk.until(lambda: "Ask ▾" in desk.status())


async def test_mode_and_model_have_menus_on_the_status_line(open_desk: Open) -> None:
    async with open_desk("script", offers(session=SESSION)) as desk:
        await desk.pilot.click(offset=(desk.status().index("Ask ▾"), 0))
        await desk.sees("Mode", "Ask", "Code")
        await desk.press("down", "enter")
        await desk.until(lambda: desk.session.mode == "code")
        await desk.pilot.click(offset=(desk.status().index("Small ▾"), 0))
        await desk.sees("Big")
        await desk.press("down", "enter")
        await desk.until(lambda: "Big ▾" in desk.status())


async def test_options_are_chosen_from_a_list(open_desk: Open) -> None:
    async with open_desk("complete") as desk:
        await desk.press("ctrl+o")
        await desk.sees("Effort: Low", "Fast: off")
        await desk.press("escape")
        await desk.until(lambda: desk.app.screen is desk.screen)


async def test_a_mode_the_command_line_names_is_set(open_desk: Open) -> None:
    async with open_desk("script", offers(session=SESSION), options=("--mode", "code")) as desk:
        await desk.until(lambda: "Code ▾" in desk.status())


async def test_a_mode_that_does_not_exist_is_told_and_keeps_nobody_from_working(open_desk: Open) -> None:
    options = ("--mode", "fly", "--set", "colour=red", "--set", "model=big", "hello")
    async with open_desk("script", offers(session=SESSION), options=options) as desk:
        await desk.until(lambda: desk.said() == ["hello"])
        assert any('no mode "fly"' in toast for toast in desk.toasts())
        assert any('no option "colour"' in toast for toast in desk.toasts())
        assert desk.session.model == "big", "the other wishes are fulfilled"


async def test_help_shows_the_keys_and_closes(open_desk: Open) -> None:
    async with open_desk() as desk:
        await desk.press("f1")
        await desk.sees("Prompt", "Ctrl+J")
        await desk.press("escape")
        await desk.until(lambda: desk.app.screen is desk.screen)


async def test_the_footer_says_what_escape_does_now(open_desk: Open) -> None:
    async with open_desk() as desk:
        footer = desk.screen.query_one(KeyBar)

        def says() -> str:
            return footer.render_line(0).text

        await desk.until(lambda: "Enter send" in says())
        assert "Esc" not in says()
        await desk.press("alt+up")
        await desk.until(lambda: "Esc prompt" in says())
        await working(desk)
        await desk.until(lambda: "Esc stop" in says())
        await desk.press("ctrl+b")
        await desk.until(lambda: "Esc back" in says())


async def test_what_is_typed_after_a_click_into_the_conversation_is_text(open_desk: Open) -> None:
    async with open_desk() as desk:
        await desk.send("hello")
        await desk.ready()
        await desk.pilot.click(desk.transcript, offset=(6, 1))
        await desk.press(*"xyz")
        assert desk.prompt.text == "xyz"
