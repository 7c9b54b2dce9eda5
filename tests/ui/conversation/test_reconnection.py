"""A connection to a remote agent that breaks: acp-tui connects again by itself, and sends nothing twice."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

import pytest

from acp_tui.connection import remote_agent
from acp_tui.controller.agent_supervisor import CUT_TURN
from acp_tui.ui.conversation import reconnection
from acp_tui.ui.screens.launcher import LauncherScreen
from tests.support.conversation_ui import offers, open_conversation_ui
from tests.support.remote_server import SCRIPT, remote_server
from tests.ui.tabs.test_several_conversations import open_second

if TYPE_CHECKING:
    from pathlib import Path

RESUMES = [*SCRIPT, offers(capabilities={"sessionCapabilities": {"resume": {}}})]
LOADS = [*SCRIPT, offers(capabilities={"loadSession": True})]
WORK = (["say", "before"], ["wait_for_cancel"])
LONG = 3600.0


@pytest.fixture
def project(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create the folder of the conversations, in which acp-tui connects again after short pauses."""
    monkeypatch.setattr(reconnection, "FIRST_PAUSE_SECONDS", 0.05)
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.mark.parametrize(
    ("agent", "method"), [(RESUMES, "session/resume"), (LOADS, "session/load"), (SCRIPT, "session/new")]
)
async def test_a_server_that_is_restarted_during_a_turn_is_connected_again(
    project: Path, agent: list[str], method: str
) -> None:
    with remote_server(agent) as first:
        async with open_conversation_ui(project, "--command", first.url) as ui:
            await ui.send(*WORK)
            await ui.until(ui.said)
            first.stop()
            await ui.until(lambda: "refused the connection: no server is running" in "".join(ui.notices()))
            with remote_server(agent, port=first.port) as second:
                await ui.until(lambda: any("Connected again after" in notice for notice in ui.notices()))
                assert second.methods() == ["initialize", method]
                assert CUT_TURN in ui.notices()
                assert ui.prompt.text == ""
                await ui.send(["say", "after"])
                await ui.until(lambda: ui.said() == ["before", "after"])
                assert second.methods().count("session/prompt") == 1
            if agent is SCRIPT:
                assert any("can neither resume nor load" in notice for notice in ui.notices())
                assert any("the agent cannot see the conversation above" in it for it in ui.notices())


async def test_the_same_failure_is_shown_once(project: Path) -> None:
    with remote_server(RESUMES) as server:
        async with open_conversation_ui(project, "--command", server.url) as ui:
            server.refuse = HTTPStatus.BAD_GATEWAY
            server.abort()
            await ui.until(lambda: len(server.headers) >= 4)
            assert sum("HTTP status 502" in notice for notice in ui.notices()) <= 1
            server.refuse = None
            await ui.ready()


@pytest.mark.parametrize("status", [HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN])
async def test_a_refusal_ends_the_attempts_until_the_user_connects(project: Path, status: HTTPStatus) -> None:
    with remote_server(RESUMES) as server:
        async with open_conversation_ui(project, "--command", server.url) as ui:
            server.refuse = status
            server.abort()
            await ui.sees("disconnected · F5 connects again")
            await ui.until(lambda: f"HTTP status {status}" in "".join(ui.notices()))
            assert len(server.headers) == 2
            assert ui.screen.runner.reconnection.due_at is None
            server.refuse = None
            await ui.press("f5")
            await ui.ready()


async def test_the_status_line_says_when_and_f5_connects_at_once(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconnection, "FIRST_PAUSE_SECONDS", LONG)
    with remote_server(RESUMES) as server:
        async with open_conversation_ui(project, "--command", server.url) as ui:
            server.abort()
            await ui.sees("✘ disconnected · tries again in 36", " s · F5 now")
            await ui.press("f5")
            await ui.ready()
            assert server.methods() == ["initialize", "session/new", "initialize", "session/resume"]
            assert ui.screen.runner.reconnection.due_at is None


async def test_f5_does_not_wait_for_an_attempt_that_gets_no_answer(project: Path) -> None:
    with remote_server(RESUMES) as first:
        async with open_conversation_ui(project, "--command", first.url) as ui:
            first.stop()
            with remote_server(RESUMES, port=first.port, deaf=True) as deaf:
                await ui.until(lambda: deaf.headers)
                await ui.sees("connecting again")
                deaf.is_deaf = False
                await ui.press("f5")
                await ui.ready()


async def test_pauses_grow_up_to_a_minute(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconnection, "FIRST_PAUSE_SECONDS", 1.0)
    pauses = []
    plan = reconnection.Reconnection._plan

    def plan_and_try(self: reconnection.Reconnection) -> None:
        pauses.append(self._pause)
        plan(self)
        self._try()

    monkeypatch.setattr(reconnection.Reconnection, "_plan", plan_and_try)
    with remote_server(RESUMES) as server:
        async with open_conversation_ui(project, "--command", server.url) as ui:
            server.stop()
            await ui.until(lambda: len(pauses) >= 9)
    assert pauses[:9] == [1, 2, 4, 8, 16, 32, 60, 60, 60]


async def test_a_half_open_connection_is_found_and_replaced(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_agent, "PING_SECONDS", 0.3)
    monkeypatch.setattr(remote_agent, "PONG_SECONDS", 0.3)
    with remote_server(RESUMES) as server:
        async with open_conversation_ui(project, "--command", server.url) as ui:
            await ui.send(*WORK)
            await ui.until(ui.said)
            server.freeze()
            await ui.until(lambda: server.methods().count("session/resume") == 1)
            await ui.ready()
            assert server.methods().count("session/prompt") == 1


async def test_prompts_written_meanwhile_are_sent_once_and_the_draft_stays(project: Path) -> None:
    with remote_server(RESUMES) as server:
        async with open_conversation_ui(project, "--command", server.url) as ui:
            server.refuse = HTTPStatus.BAD_GATEWAY
            server.abort()
            await ui.until(lambda: ui.session.phase == "dead")
            await ui.send(["say", "queued"])
            ui.prompt.load("a draft")
            assert len(ui.queue) == 1
            server.refuse = None
            await ui.until(lambda: ui.said() == ["queued"])
            await ui.ready()
            assert server.methods().count("session/prompt") == 1
            assert (ui.queue, ui.prompt.text) == ([], "a draft")


async def test_the_queue_waits_for_the_user_after_a_cut_turn(project: Path) -> None:
    with remote_server(RESUMES) as server:
        async with open_conversation_ui(project, "--command", server.url) as ui:
            await ui.send(*WORK)
            await ui.until(ui.said)
            await ui.send(["say", "queued"])
            server.abort()
            await ui.until(lambda: "session/resume" in server.methods())
            await ui.ready()
            assert len(ui.queue) == 1
            assert ui.session.queue_paused
            assert server.methods().count("session/prompt") == 1


async def test_a_new_session_does_not_get_the_prompts_of_the_old_one(project: Path) -> None:
    with remote_server(SCRIPT) as server:
        async with open_conversation_ui(project, "--command", server.url) as ui:
            await ui.send(["say", "before"])
            await ui.until(ui.said)
            await ui.ready()
            server.refuse = HTTPStatus.BAD_GATEWAY
            server.abort()
            await ui.until(lambda: ui.session.phase == "dead")
            await ui.send(["say", "queued"])
            server.refuse = None
            await ui.ready()
            assert server.methods().count("session/new") == 2
            assert ui.session.queue_paused
            assert server.methods().count("session/prompt") == 1


async def test_two_tabs_connect_again_each_for_itself(project: Path) -> None:
    with remote_server(RESUMES) as server:
        async with open_conversation_ui(project, "--command", server.url) as ui:
            first = ui.screen
            await open_second(ui)
            await ui.send(["say", "second"])
            await ui.until(ui.said)
            server.abort()
            await ui.until(lambda: server.methods().count("session/resume") == 2)
            await ui.until(lambda: first.session.phase == ui.session.phase == "idle")
            assert ui.said() == ["second"]


async def test_a_closed_tab_does_not_connect_again(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconnection, "FIRST_PAUSE_SECONDS", 0.5)
    with remote_server(RESUMES) as server:
        async with open_conversation_ui(project, "--command", server.url) as ui:
            await ui.until(lambda: server.headers)
            waiting = ui.screen.runner.reconnection
            server.abort()
            await ui.until(lambda: waiting.due_at is not None)
            await ui.press("alt+w")
            await ui.until(lambda: isinstance(ui.app.screen, LauncherScreen))
            assert waiting.due_at is None
            assert waiting._timer is None
        assert len(server.headers) == 1


async def test_closing_a_tab_does_not_wait_for_a_connection(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_agent, "OPEN_SECONDS", LONG)
    with remote_server(deaf=True) as server:
        async with open_conversation_ui(project, "--command", server.url, wait=False) as ui:
            await ui.until(lambda: server.headers)
            conversation = ui.made[0].conversation
            await ui.press("alt+w")
            await ui.until(lambda: isinstance(ui.app.screen, LauncherScreen) and conversation._closed)


@pytest.mark.parametrize("deaf", [False, True])
async def test_quitting_does_not_wait_for_a_connection(
    project: Path, monkeypatch: pytest.MonkeyPatch, *, deaf: bool
) -> None:
    monkeypatch.setattr(remote_agent, "OPEN_SECONDS", LONG)
    monkeypatch.setattr(reconnection, "FIRST_PAUSE_SECONDS", 0.05 if deaf else LONG)
    with remote_server(RESUMES) as first:
        async with open_conversation_ui(project, "--command", first.url) as ui:
            first.stop()
            with remote_server(RESUMES, port=first.port, deaf=True) as server:
                await ui.until(lambda: server.headers if deaf else ui.session.phase == "dead")
                await ui.press("ctrl+q")
                await ui.until(lambda: ui.app._exit)
