"""The agent's process behind the screen: how it starts, fails, dies, comes back, and wants a sign-in."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from acp_tui.connection.errors import NotSupported
from acp_tui.controller import wait_notice
from acp_tui.errors import UserError
from acp_tui.session.state import TurnEnd
from acp_tui.ui.conversation.runner import ConversationRunner
from acp_tui.ui.screens.session.session_screen import SessionScreen
from acp_tui.ui.widgets import status_line
from acp_tui.ui.widgets.status_layout import Piece, StatusFacts, layout
from tests.support.conversation_ui import ConversationUi, agent, app_of, offers, open_conversation_ui

if TYPE_CHECKING:
    from acp_tui.cli.conversation_setup import ConversationSetup
    from tests.support.conversation_ui import Open

LOADS = offers(capabilities={"loadSession": True})


def folder_of(one: ConversationUi) -> str:
    """Our id of the session."""
    folder = one.made[0].conversation.folder.id
    assert folder is not None
    return folder


# --------------------------------------------------------------------------- the start


async def test_a_program_that_is_not_there_is_named_and_can_be_tried_again(tmp_path: Path) -> None:
    program = tmp_path / "agent"
    async with open_conversation_ui(tmp_path, "--command", str(program), wait=False) as one:
        await one.until(lambda: one.session.phase == "dead")
        await one.sees(str(program), "F5")
        program.write_text("#!/bin/sh\nexit 5\n")
        program.chmod(0o755)
        await one.press("f5")
        await one.sees("exited with code 5")


async def test_a_name_that_nobody_knows_ends_the_app_with_a_sentence(tmp_path: Path) -> None:
    async with open_conversation_ui(tmp_path, "no-such-agent", wait=False) as one:
        await one.until(lambda: one.app._exit)
    assert isinstance(one.app.failure, UserError)
    assert "no-such-agent" in str(one.app.failure)


async def test_the_end_while_the_conversation_is_being_made_ends_that_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[ConversationSetup] = []
    go_on = threading.Event()
    close = ConversationRunner.close

    def slowly(setup: ConversationSetup) -> None:
        made.append(setup)
        go_on.wait()

    async def closing(runner: ConversationRunner) -> None:
        go_on.set()
        await close(runner)

    monkeypatch.setattr(ConversationRunner, "close", closing)
    app = app_of("--cwd", str(tmp_path), "--command", agent("script"), made=slowly)
    async with app.run_test() as pilot:
        await ConversationUi(app, pilot).until(lambda: made)
    with pytest.raises(NotSupported, match="The conversation is closed"):
        await made[0].conversation.start()


async def test_an_agent_that_dies_at_once_shows_why(open_ui: Open) -> None:
    async with open_ui("faulty", "dies_before_initialize", wait=False) as one:
        await one.until(lambda: one.session.phase == "dead")
        await one.sees("exited with code 3", "Traceback: the last words", "F5 restarts it")


async def test_an_agent_of_another_version_is_named_and_stays_on_the_screen(open_ui: Open) -> None:
    async with open_ui("faulty", "wrong_version", "2", wait=False) as one:
        await one.until(lambda: "F5 tries again" in one.status() or one.session.phase == "dead")
        await one.sees("version")
        assert any("version" in text for text in one.notices())


async def test_a_slow_start_says_what_is_waited_for(open_ui: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wait_notice, "WAIT_NOTICE_SECONDS", 0.01)
    async with open_ui("faulty", "never_answers", wait=False) as one:
        await one.sees("Waiting for", "to start …")
        assert "starting" in one.status()


async def test_a_slow_start_is_told_by_how_long_it_took(
    open_ui: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wait_notice, "WAIT_NOTICE_SECONDS", 0)
    async with open_ui("script") as one:
        await one.sees("took 0 s to start", "took 0 s to open a session")
        assert not any("Waiting" in text for text in one.notices())


async def test_f5_gives_up_a_start_that_hangs_and_begins_another(open_ui: Open) -> None:
    async with open_ui("faulty", "never_answers", wait=False) as one:
        await one.until(lambda: one.session.process is not None)
        assert one.session.process is not None
        first = one.session.process.pid
        await one.press("f5")
        await one.until(lambda: one.session.process is not None and one.session.process.pid != first)
        assert "starting" in one.status()
        assert not any("not ready" in toast for toast in one.toasts())


# --------------------------------------------------------------------------- death


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        ("dies_mid_turn", "exited with code 7"),
        ("killed_mid_turn", "SIGKILL"),
        ("exits_zero_mid_turn", "exited with code 0"),
    ],
)
async def test_an_agent_that_dies_in_a_turn_says_why_and_the_prompt_comes_back(
    open_ui: Open, behaviour: str, words: str
) -> None:
    async with open_ui("faulty", behaviour) as one:
        await one.send("hello")
        await one.until(lambda: one.session.phase == "dead")
        await one.sees(words, "F5 restarts it")
        assert one.prompt.text == "hello"


async def test_the_last_words_of_a_dead_agent_are_on_the_screen(open_ui: Open) -> None:
    async with open_ui("faulty", "dies_mid_turn") as one:
        await one.send("hello")
        await one.sees("Traceback: the last words")


async def test_what_is_typed_while_the_agent_is_dead_goes_when_it_is_back(open_ui: Open) -> None:
    async with open_ui() as one:
        assert one.session.process is not None
        assert one.session.process.pid is not None
        os.kill(one.session.process.pid, signal.SIGKILL)
        await one.until(lambda: one.session.phase == "dead")
        await one.send("are you there?")
        assert one.queue == ["are you there?"]
        await one.press("f5")
        await one.until(lambda: one.said() == ["are you there?"])


async def test_an_agent_that_can_load_goes_on_and_shows_its_history_once(open_ui: Open) -> None:
    async with open_ui("script", LOADS) as one:
        await one.send("first")
        await one.until(lambda: one.said() == ["first"])
        await one.ready()
        await one.send(["say", "last"], ["exit", 1])
        await one.until(lambda: one.session.phase == "dead")
        await one.press("f5")
        await one.ready()
        assert [text for text in one.prompts() if text == "first"] == ["first"]
        one.prompt.load("back")
        await one.press("enter")
        await one.until(lambda: one.said()[-1] == "back")


async def test_an_agent_that_cannot_load_begins_anew_and_the_screen_says_so(open_ui: Open) -> None:
    async with open_ui() as one:
        await one.send("first")
        await one.until(lambda: one.said() == ["first"])
        await one.send(["exit", 1])
        await one.until(lambda: one.session.phase == "dead")
        await one.press("f5")
        await one.ready()
        await one.sees("the agent cannot see the conversation above")


async def test_a_queue_waits_after_the_agent_died(open_ui: Open) -> None:
    async with open_ui("script", LOADS) as one:
        await one.send('[["permission", {"title": "go on?"}], ["exit", 1]]')
        await one.asked()
        one.screen.runner.prompts.submit("later")
        await one.press("a")
        await one.until(lambda: one.session.phase == "dead")
        await one.press("f5")
        await one.ready()
        assert one.queue == ["later"]
        assert "paused" in one.strip()


# --------------------------------------------------------------------------- silence


async def test_after_a_minute_without_a_word_the_status_line_says_so(
    open_ui: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead = 0.0
    monkeypatch.setattr(SessionScreen, "now", lambda _: time.time() + ahead)
    async with open_ui() as one:
        await one.send(["say", "thinking"], ["wait_for_cancel"])
        await one.until(lambda: one.said())
        ahead = 75.0
        assert "last heard: " in one.status()
        assert "1:15 ago" in one.status() or "1:16 ago" in one.status()


# --------------------------------------------------------------------------- going on another day


async def test_a_session_is_resumed_with_its_history_and_draft(open_ui: Open) -> None:
    async with open_ui("script", LOADS) as one:
        await one.send("an early word")
        await one.until(lambda: one.said() == ["an early word"])
        await one.ready()
        await one.press(*"half a thou")
        known = folder_of(one)
    async with open_ui("script", LOADS, options=("--resume", known)) as again:
        await again.sees("┃ an early word")
        assert again.prompts() == ["an early word"]
        assert again.prompt.text == "half a thou"


async def test_what_waited_in_the_queue_is_there_again_and_waits_for_a_word(open_ui: Open) -> None:
    async with open_ui("script", LOADS) as one:
        await one.send(["say", "busy"], ["wait_for_cancel"])
        await one.until(lambda: one.said())
        await one.send("later")
        await one.until(lambda: one.queue == ["later"])
        known = folder_of(one)
    async with open_ui("script", LOADS, options=("--resume", known)) as again:
        assert again.queue == ["later"]
        assert "paused: Enter sends" in again.strip()
        again.prompt.load("")
        await again.press("enter")
        await again.until(lambda: again.said()[-1:] == ["later"])


async def test_a_session_that_another_one_holds_is_not_opened_twice(open_ui: Open, tmp_path: Path) -> None:
    async with open_ui("script", LOADS) as one:
        async with open_conversation_ui(
            tmp_path, "--command", agent("script", LOADS), "--resume", folder_of(one), wait=False
        ) as second:
            await second.until(lambda: second.app._exit)
        assert isinstance(second.app.failure, UserError)
        assert "another acp-tui" in str(second.app.failure)


async def test_leaving_ends_the_agent_also_in_a_turn_and_tells_it(open_ui: Open) -> None:
    async with open_ui() as one:
        await one.send(["permission", {"title": "may I?"}])
        await one.asked()
        log = one.made[0].conversation.log_path
        await one.press("ctrl+q")
    assert log is not None
    assert '"outcome":{"outcome":"cancelled"}' in Path(log).read_text(encoding="utf-8").replace(" ", "")


# --------------------------------------------------------------------------- signing in


async def test_signing_in_by_a_method_of_the_agents_own_opens_the_session(open_ui: Open) -> None:
    async with open_ui("faulty", "demands_authentication", wait=False) as one:
        await one.sees("Choose a sign-in method", "Log in", "In a terminal", "Elsewhere")
        await one.press("enter")
        await one.ready()
        assert "Signed in: Log in" in one.notices()


async def test_a_sign_in_that_waits_elsewhere_can_be_given_up_and_asked_for_again(open_ui: Open) -> None:
    async with open_ui("faulty", "demands_authentication", wait=False) as one:
        await one.sees("Choose a sign-in method")
        await one.press("down", "down", "enter")
        await one.until(lambda: "signing in · Esc cancels" in one.status())
        assert one.toasts() == []  # which would outlive the sign-in
        await one.press("escape")
        await one.sees("cancelled")
        await one.press("f5")
        await one.sees("Choose a sign-in method", "Elsewhere")


async def test_leaving_the_list_leaves_a_way_back(open_ui: Open) -> None:
    async with open_ui("faulty", "demands_authentication", wait=False) as one:
        await one.sees("Choose a sign-in method")
        await one.press("escape")
        await one.until(lambda: "sign in first · F5 asks again" in one.status())
        await one.press("f5")
        await one.sees("Choose a sign-in method")


async def test_variables_are_only_shown(open_ui: Open) -> None:
    method = {"id": "key", "name": "API key", "type": "env_var", "vars": [{"name": "SOME_KEY"}]}
    async with open_ui("signs_in", json.dumps([method]), wait=False) as one:
        await one.sees("API key", "SOME_KEY")
        await one.press("enter")
        await one.until(lambda: any("Set SOME_KEY" in toast for toast in one.toasts()))
        await one.sees("F5 asks again")


# --------------------------------------------------------------------------- names


async def test_sentences_call_an_agent_of_a_command_by_its_own_name(open_ui: Open) -> None:
    async with open_ui() as one:  # `python -m tests.fake_agents.script`, which calls itself "scripted"
        one.screen.runner.set_option("model", "none")
        await one.until(lambda: one.toasts())
        assert all("script " not in toast for toast in one.toasts())
        assert any("scripted" in toast for toast in one.toasts())


# --------------------------------------------------------------------------- settings

TWO_MODES = {
    "currentModeId": "build",
    "availableModes": [{"id": "build", "name": "Build"}, {"id": "plan", "name": "Plan"}],
}


async def test_a_queued_prompt_waits_until_the_mode_is_set_again(open_ui: Open) -> None:
    with_modes = offers(capabilities={"loadSession": True}, session={"modes": TWO_MODES})
    async with open_ui("script", with_modes) as one:
        one.screen.runner.set_mode("plan")
        await one.until(lambda: "Plan" in one.status())
        assert one.session.process is not None
        assert one.session.process.pid is not None
        os.kill(one.session.process.pid, signal.SIGKILL)
        await one.until(lambda: one.session.phase == "dead")
        await one.send(["report_params", "session/set_mode"])
        await one.press("f5")
        await one.until(lambda: one.said())
        assert json.loads(one.said()[0])["modeId"] == "plan"
        await one.sees("Restored Mode: Plan")
        assert "Plan" in one.status()


# --------------------------------------------------------------------------- coming back


async def test_a_resumed_session_is_starting_and_never_shown_as_ended(
    open_ui: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []
    async with open_ui("script", LOADS) as one:
        await one.send("first")
        await one.until(lambda: one.said() == ["first"])
        known = folder_of(one)

    def drawn(facts: StatusFacts, width: int, now: float) -> list[Piece]:
        shown.append(facts.phase)
        return layout(facts, width, now)

    monkeypatch.setattr(status_line, "layout", drawn)
    async with open_ui("script", LOADS, options=("--resume", known)) as again:
        assert again.prompts() == ["first"]
        process = again.session.process
        await again.press("f5")
        await again.until(lambda: again.session.process is not process and shown[-1] == "idle")
    assert "connecting" in shown
    assert "dead" not in shown


async def test_a_session_that_the_agent_forgot_is_said_once_and_f5_starts_a_new_one(open_ui: Open) -> None:
    refuses = offers(capabilities={"loadSession": True}, refuses=["session/load"])
    async with open_ui("script", refuses) as one:
        await one.send("first")
        await one.until(lambda: one.said() == ["first"])
        known = folder_of(one)
    async with open_ui("script", refuses, options=("--resume", known), wait=False) as again:
        await again.until(lambda: "session not resumed · F5 starts a new one" in again.status())
        assert again.toasts() == []
        assert again.text().count("Not in this mood") == 1
        await again.press("f5")
        await again.ready()
        await again.sees("the agent cannot see the conversation above")
        assert again.text().count("Not in this mood") == 1


async def test_an_agent_that_ignores_a_cancel_is_named_with_the_key_that_restarts_it(
    open_ui: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead = 0.0
    monkeypatch.setattr(SessionScreen, "now", lambda _: time.time() + ahead)
    async with open_ui("script", LOADS) as one:
        await one.send(["say", "busy"], ["ignore_client"])
        await one.until(lambda: one.said())
        await one.press("escape")
        await one.until(lambda: "stopping" in one.status())
        ahead = 6.0
        assert "not responding · F5 restarts the agent" in one.status()


async def test_the_restart_of_an_agent_that_does_not_react_reports_no_error(open_ui: Open) -> None:
    async with open_ui("script", LOADS) as one:
        await one.send(["say", "busy"], ["ignore_client"])
        await one.until(lambda: one.said())
        await one.press("escape")
        await one.until(lambda: one.session.cancelling)
        await one.press("f5")
        await one.until(lambda: one.session.process is not None and one.session.phase == "idle")
        (end,) = [entry for entry in one.session.entries if isinstance(entry, TurnEnd)]
        assert (end.stop_reason, end.error) == ("cancelled", None)
        assert (one.toasts(), one.prompt.text) == ([], "")
