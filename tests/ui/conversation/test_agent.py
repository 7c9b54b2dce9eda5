"""The agent's process as seen on the screen: start, failures, restart and sign-in."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from acp_tui.connection.errors import NotSupported
from acp_tui.controller import agent_supervisor
from acp_tui.errors import UserError
from acp_tui.session.state import TurnEnd
from acp_tui.ui.conversation.runner import ConversationRunner
from acp_tui.ui.conversation.session_screen import SessionScreen
from acp_tui.ui.widgets import status_line
from acp_tui.ui.widgets.status_line import layout
from tests.support.conversation_ui import ConversationUi, agent, app_of, offers, open_conversation_ui

if TYPE_CHECKING:
    from acp_tui.cli.conversation_setup import ConversationSetup
    from acp_tui.ui.widgets.status_line import Piece, StatusFacts
    from tests.support.conversation_ui import Open

LOADS = offers(capabilities={"loadSession": True})


def folder_of(one: ConversationUi) -> str:
    """Return acp-tui's id of the session."""
    folder = one.made[0].conversation.folder.id
    assert folder is not None
    return folder


# --------------------------------------------------------------------------- the start


async def test_a_missing_program_is_named_and_can_be_started_again(tmp_path: Path) -> None:
    program = tmp_path / "agent"
    async with open_conversation_ui(tmp_path, "--command", str(program), wait=False) as one:
        await one.until(lambda: one.session.phase == "dead")
        await one.sees(str(program), "F5")
        program.write_text("#!/bin/sh\nexit 5\n")
        program.chmod(0o755)
        await one.press("f5")
        await one.sees("exited with code 5")


async def test_an_unknown_agent_name_ends_the_app_with_an_error(tmp_path: Path) -> None:
    async with open_conversation_ui(tmp_path, "no-such-agent", wait=False) as one:
        await one.until(lambda: one.app._exit)
    assert isinstance(one.app.failure, UserError)
    assert "no-such-agent" in str(one.app.failure)


async def test_quitting_while_the_conversation_is_created_closes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[ConversationSetup] = []
    go_on = threading.Event()
    close = ConversationRunner.close

    def slowly(setup: ConversationSetup) -> None:
        made.append(setup)
        go_on.wait()

    async def closing(runner: ConversationRunner, *, close_session: bool) -> None:
        go_on.set()
        await close(runner, close_session=close_session)

    monkeypatch.setattr(ConversationRunner, "close", closing)
    app = app_of("--cwd", str(tmp_path), "--command", agent("script"), made=slowly)
    async with app.run_test() as pilot:
        await ConversationUi(app, pilot).until(lambda: made)
    with pytest.raises(NotSupported, match="The conversation is closed"):
        await made[0].conversation.start()


async def test_an_agent_that_exits_at_start_shows_its_exit_code(open_ui: Open) -> None:
    async with open_ui("faulty", "dies_before_initialize", wait=False) as one:
        await one.until(lambda: one.session.phase == "dead")
        await one.sees("exited with code 3", "Traceback: the last words", "F5 restarts it")


async def test_an_unsupported_protocol_version_is_reported_on_the_screen(open_ui: Open) -> None:
    async with open_ui("faulty", "wrong_version", "2", wait=False) as one:
        await one.until(lambda: "F5 tries again" in one.status() or one.session.phase == "dead")
        sentence = "speaks version 2 of the Agent Client Protocol; acp-tui supports version 1"
        await one.until(lambda: any(sentence in text for text in one.notices()))
        await one.sees("speaks version 2 of the Agent")


async def test_a_start_that_hangs_shows_what_is_being_waited_for_and_f5_starts_again(
    open_ui: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_supervisor, "SLOW_STEP_SECONDS", 0.01)
    async with open_ui("faulty", "never_answers", wait=False) as one:
        await one.sees("Waiting for", "to start …")
        assert "starting" in one.status()
        assert one.session.process is not None
        first = one.session.process.pid
        await one.press("f5")
        await one.until(lambda: one.session.process is not None and one.session.process.pid != first)
        assert "starting" in one.status()
        assert not any("not ready" in toast for toast in one.toasts())


async def test_the_status_line_counts_the_seconds_of_a_start_that_hangs(
    open_ui: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = time.time()
    monkeypatch.setattr(SessionScreen, "now", lambda _: moment)
    async with open_ui("faulty", "never_answers", wait=False) as one:
        await one.sees("starting")
        moment += 12
        await one.sees("starting 0:12")


async def test_a_slow_start_shows_how_long_it_has_taken(
    open_ui: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_supervisor, "SLOW_STEP_SECONDS", 0)
    async with open_ui("script") as one:
        await one.sees("took 0 s to start", "took 0 s to open a session")
        assert not any("Waiting" in text for text in one.notices())


# --------------------------------------------------------------------------- death


async def test_a_prompt_is_put_back_if_the_agent_exits_during_the_turn(open_ui: Open) -> None:
    async with open_ui("faulty", "dies_mid_turn") as one:
        await one.send("hello")
        await one.until(lambda: one.session.phase == "dead")
        await one.sees("exited with code 7", "Traceback: the last words", "F5 restarts it")
        assert one.prompt.text == "hello"


async def test_a_restarted_agent_that_can_load_shows_its_history_once_and_its_queue_paused(
    open_ui: Open,
) -> None:
    async with open_ui("script", LOADS) as one:
        await one.send("first")
        await one.until(lambda: one.said() == ["first"])
        await one.ready()
        await one.send(["permission", {"title": "go on?"}], ["exit", 1])
        await one.asked()
        one.screen.runner.prompts.submit("later")
        await one.press("a")
        await one.until(lambda: one.session.phase == "dead")
        await one.press("f5")
        await one.ready()
        assert [text for text in one.prompts() if text == "first"] == ["first"]
        assert one.queue == ["later"]
        assert "paused" in one.strip()
        one.prompt.load("")
        await one.press("enter")
        await one.until(lambda: one.said()[-1] == "later")


async def test_a_restarted_agent_that_cannot_load_starts_a_new_session_and_says_so(open_ui: Open) -> None:
    async with open_ui() as one:
        await one.send("first")
        await one.until(lambda: one.said() == ["first"])
        await one.send(["exit", 1])
        await one.until(lambda: one.session.phase == "dead")
        await one.press("f5")
        await one.ready()
        await one.sees("the agent cannot see the conversation above")


# --------------------------------------------------------------------------- silence


async def test_the_status_line_reports_a_minute_of_silence(
    open_ui: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead = 0.0
    monkeypatch.setattr(SessionScreen, "now", lambda _: time.time() + ahead)
    async with open_ui() as one:
        await one.send(["say", "thinking"], ["wait_for_cancel"])
        await one.until(lambda: one.said())
        ahead = 75.0
        await one.until(lambda: re.search(r"last heard: .* 1:\d\d ago", one.status()))


# --------------------------------------------------------------------------- going on another day


async def test_a_session_is_resumed_with_its_history_its_draft_and_a_paused_queue(open_ui: Open) -> None:
    async with open_ui("script", LOADS) as one:
        await one.send("an early word")
        await one.until(lambda: one.said() == ["an early word"])
        await one.ready()
        await one.send(["say", "busy"], ["wait_for_cancel"])
        await one.until(lambda: "busy" in one.said())
        await one.send("later")
        await one.until(lambda: one.queue == ["later"])
        await one.paste("half a thou")
        known = folder_of(one)
    async with open_ui("script", LOADS, options=("--resume", known)) as again:
        await again.sees("┃ an early word")
        assert again.prompts().count("an early word") == 1
        assert again.prompt.text == "half a thou"
        assert again.queue == ["later"]
        again.prompt.load("")
        await again.sees("paused: press Enter in an empty prompt to continue")
        await again.press("enter")
        await again.until(lambda: again.said()[-1:] == ["later"])


async def test_a_session_in_use_elsewhere_is_not_opened(open_ui: Open, tmp_path: Path) -> None:
    async with open_ui("script", LOADS) as one:
        async with open_conversation_ui(
            tmp_path, "--command", agent("script", LOADS), "--resume", folder_of(one), wait=False
        ) as second:
            await second.until(lambda: second.app._exit)
        assert isinstance(second.app.failure, UserError)
        assert "another acp-tui" in str(second.app.failure)


async def test_quitting_answers_a_pending_request_with_cancelled(open_ui: Open) -> None:
    async with open_ui() as one:
        await one.send(["permission", {"title": "may I?"}])
        await one.asked()
        log = one.made[0].conversation.log_path
        await one.press("ctrl+q")
    assert log is not None
    assert '"outcome":{"outcome":"cancelled"}' in Path(log).read_text(encoding="utf-8").replace(" ", "")


# --------------------------------------------------------------------------- signing in


async def test_a_sign_in_can_be_put_off_cancelled_and_repeated(open_ui: Open) -> None:
    async with open_ui("faulty", "demands_authentication", wait=False) as one:
        await one.sees("Choose a sign-in method", "Log in", "In a terminal", "Elsewhere")
        await one.press("escape")
        await one.until(lambda: "not signed in · F5 to sign in" in one.status())
        await one.press("f5")
        await one.sees("Choose a sign-in method")
        await one.press("down", "down", "enter")
        await one.until(lambda: "signing in · Esc cancels" in one.status())
        assert one.toasts() == []  # which would outlive the sign-in
        await one.press("escape")
        await one.sees("cancelled")
        await one.press("f5")
        await one.sees("Choose a sign-in method", "Elsewhere")
        await one.press("enter")
        await one.ready()
        assert "Signed in: Log in" in one.notices()


async def test_a_sign_in_by_environment_variables_only_names_them(open_ui: Open) -> None:
    method = {"id": "key", "name": "API key", "type": "env_var", "vars": [{"name": "SOME_KEY"}]}
    async with open_ui("signs_in", json.dumps([method]), wait=False) as one:
        await one.sees("API key", "SOME_KEY")
        await one.press("enter")
        await one.until(lambda: any("set SOME_KEY" in toast for toast in one.toasts()))
        await one.sees("F5 to sign in")


# --------------------------------------------------------------------------- names


async def test_messages_use_the_name_that_a_command_agent_reports(open_ui: Open) -> None:
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


async def test_a_prompt_sent_while_the_agent_is_dead_follows_the_restart_and_the_restored_mode(
    open_ui: Open,
) -> None:
    with_modes = offers(capabilities={"loadSession": True}, session={"modes": TWO_MODES})
    async with open_ui("script", with_modes) as one:
        one.screen.runner.set_mode("plan")
        await one.until(lambda: "Plan" in one.status())
        assert one.session.process is not None
        assert one.session.process.pid is not None
        os.kill(one.session.process.pid, signal.SIGKILL)
        await one.until(lambda: one.session.phase == "dead")
        await one.send(["report_params", "session/set_mode"])
        assert len(one.queue) == 1
        await one.press("f5")
        await one.until(lambda: one.said())
        assert json.loads(one.said()[0])["modeId"] == "plan"
        await one.sees("Restored Mode: Plan")
        assert "Plan" in one.status()


# --------------------------------------------------------------------------- coming back


async def test_a_session_being_resumed_is_never_shown_as_ended(
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


async def test_an_agent_that_ignores_a_cancel_is_shown_as_not_responding_and_restarted_without_an_error(
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
        await one.press("f5")
        await one.until(lambda: one.session.process is not None and one.session.phase == "idle")
        (end,) = [entry for entry in one.session.entries if isinstance(entry, TurnEnd)]
        assert (end.stop_reason, end.error) == ("cancelled", None)
        assert (one.toasts(), one.prompt.text) == ([], "")
