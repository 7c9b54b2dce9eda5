"""Signing in to an agent: each kind of method, what the agent says, and what is repeated afterwards."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest
from textual.screen import Screen

from acp_tui import web_browser
from tests.fake_agents.signs_in import ADDRESS

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from tests.support.conversation_ui import ConversationUi, Open

LIST = "Choose a sign-in method"


def opened(
    open_ui: Open, *methods: Any, more: tuple[str, ...] = ()
) -> AbstractAsyncContextManager[ConversationUi]:
    """Open a conversation with an agent that has these methods, given by id or as objects."""
    listed = [{"id": one, "name": f"By {one}"} if isinstance(one, str) else one for one in methods]
    return open_ui("signs_in", json.dumps(listed), *more, wait=False)


def sent(ui: ConversationUi, method: str) -> list[dict[str, Any]]:
    """Return the params of the frames with this method that were sent."""
    conversation = ui.screen.runner.conversation
    assert conversation is not None
    assert conversation.folder.path is not None
    records = map(json.loads, (conversation.folder.path / "wire.jsonl").read_text().splitlines())
    frames = [record["frame"] for record in records if record["dir"] == "sent"]
    return [frame["params"] for frame in frames if frame.get("method") == method]


async def test_methods_that_do_not_sign_in_say_why_and_all_are_offered_again(open_ui: Open) -> None:
    async with opened(open_ui, "fails", "empty", "login") as ui:
        await ui.sees(LIST, "scripted: Authentication required", "By fails")
        await ui.press("enter")
        await ui.sees(LIST, "No network")
        await ui.press("down", "enter")
        await ui.sees(LIST, 'You signed in with "By empty", but', "still requires")
        assert len(sent(ui, "session/new")) == 2
        await ui.press("down", "down", "enter")
        await ui.ready()
        assert len(sent(ui, "session/new")) == 3


async def test_an_unknown_kind_of_method_is_explained_and_never_sent(open_ui: Open) -> None:
    face = {"id": "face", "name": "Your face", "type": "_face", "description": "Look into the camera"}
    async with opened(open_ui, face) as ui:
        await ui.sees("Your face", "Look into the camera", "unknown type _face")
        await ui.press("enter")
        await ui.until(lambda: any("unknown type _face" in toast for toast in ui.toasts()))
        assert sent(ui, "authenticate") == []


async def test_a_refused_prompt_waits_in_the_queue_and_is_sent_once_after_the_sign_in(open_ui: Open) -> None:
    async with opened(open_ui, "empty", "login", more=("--open",)) as ui:
        await ui.ready()
        await ui.send("hello")
        await ui.sees(LIST, "Authentication required")
        assert ui.queue == ["hello"]
        await ui.press("enter")
        await ui.sees(LIST, "still requires")
        assert (ui.queue, len(sent(ui, "session/prompt"))) == (["hello"], 2)
        await ui.press("down", "enter")
        await ui.until(lambda: ui.said() == ["Answer to hello"])
        assert (ui.queue, len(sent(ui, "session/prompt"))) == ([], 3)
        assert not ui.session.queue_paused
        assert ui.prompt.text == ""


async def test_a_setting_is_changed_after_the_sign_in_and_asked_for_again_after_signing_out(
    open_ui: Open,
) -> None:
    async with opened(open_ui, "login", more=("--open",)) as ui:
        await ui.ready()
        ui.screen.runner.set_mode("b")
        await ui.sees(LIST)
        await ui.press("enter")
        await ui.until(lambda: ui.session.mode == "b")
        assert len(sent(ui, "session/set_mode")) == 2
        commands = {command.title: command for command in ui.screen.commands()}
        commands["Sign out"].run()
        await ui.until(lambda: "Signed out" in ui.notices())
        await ui.send("hello")
        await ui.sees(LIST)
        await ui.press("escape")
        await ui.until(lambda: ui.app.screen is ui.screen)
        assert ui.queue == ["hello"]
        commands["Sign in"].run()
        await ui.sees(LIST)
        await ui.press("enter")
        await ui.until(lambda: ui.said() == ["Answer to hello"])


async def test_what_the_agent_says_is_shown_and_its_address_opened_after_consent(
    open_ui: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages: list[str] = []

    def open_page(url: str) -> bool:
        pages.append(url)
        return True

    monkeypatch.setattr(web_browser, "has_browser", lambda: True)
    monkeypatch.setattr(web_browser, "open_page", open_page)
    async with opened(open_ui, "late") as ui:
        await ui.sees(LIST)
        await ui.press("enter")
        await ui.sees("Signing in to", "Contacting the account server", ADDRESS, "open or copy the address")
        await ui.press("enter")
        await ui.until(lambda: "login.example.com" in ui.text() and "keys work once" not in ui.text())
        assert pages == []
        await ui.press("down", "enter")
        await ui.sees("Contacting the account server")
        assert pages == [ADDRESS]
        await ui.press("escape")  # answered too late, with success
        await ui.ready()
        assert "Signed in: By late" in ui.notices()
        assert len(sent(ui, "$/cancel_request")) == 1


async def test_what_is_refused_during_a_sign_in_waits_for_it(open_ui: Open) -> None:
    async with opened(open_ui, "asks", more=("--open",)) as ui:
        await ui.ready()
        ui.screen.runner.set_mode("b")
        await ui.sees(LIST)
        await ui.press("enter")
        await ui.until(lambda: "Enter the code" in ui.text() and "keys work once" not in ui.text())
        ui.screen.runner.prompts.submit("hello")
        await ui.until(lambda: ui.queue == ["hello"] and not ui.session.working)
        await ui.press("7", "enter")
        await ui.until(lambda: "Send this to" in ui.text() and "keys work once" not in ui.text())
        await ui.press("enter")
        await ui.until(lambda: ui.session.mode == "b" and ui.said() == ["Answer to hello"])
        assert len(sent(ui, "authenticate")) == 1
        assert ui.app.screen is ui.screen


async def test_the_progress_of_a_conversation_in_the_background_is_closed_when_it_is_shown_again(
    open_ui: Open,
) -> None:
    async with opened(open_ui, "late") as ui:
        await ui.sees(LIST)
        await ui.press("enter")
        await ui.sees("Signing in to", ADDRESS)
        screen, mode = ui.screen, ui.app.current_mode
        ui.app.add_mode("other", lambda: Screen())
        await ui.app.switch_mode("other")
        screen.runner.sign_in.cancel()
        await ui.until(lambda: not screen.runner.sign_in.waiting)
        await ui.app.switch_mode(mode)
        await ui.until(lambda: ui.app.screen is screen)


@pytest.fixture
def suggested(tmp_path: Path) -> tuple[dict[str, Any], Path]:
    """A method with a suggested command that signs in, and the file that it creates."""
    file = tmp_path / "signed-in"
    command = {
        "command": sys.executable,
        "args": ["-c", f"import os; open({str(file)!r}, 'w').write(os.environ['WHO'])"],
        "env": {"WHO": "me"},
        "label": "Log in with a program",
    }
    return {"id": "login", "name": "Log in", "_meta": {"terminal-auth": command}}, file


async def test_a_request_refused_during_the_question_about_a_command_asks_nothing_else(
    open_ui: Open, suggested: tuple[dict[str, Any], Path]
) -> None:
    async with opened(open_ui, suggested[0], "login", more=("--open",)) as ui:
        await ui.ready()
        ui.screen.runner.set_mode("b")
        await ui.sees(LIST)
        await ui.press("enter")
        await ui.until(lambda: "WHO=me" in ui.text() and "keys work once" not in ui.text())
        ui.screen.runner.prompts.submit("hello")
        await ui.until(lambda: ui.queue == ["hello"] and not ui.session.working)
        assert LIST not in ui.text()
        await ui.press("escape")
        await ui.until(lambda: ui.app.screen is ui.screen)


async def test_a_suggested_command_is_shown_whole_and_asked_about(
    open_ui: Open, suggested: tuple[dict[str, Any], Path]
) -> None:
    method, file = suggested
    async with opened(open_ui, method) as ui:
        await ui.sees("Log in", "suggests running")
        await ui.press("enter")
        await ui.until(lambda: "WHO=me" in ui.text() and "keys work once" not in ui.text())
        assert sys.executable in ui.text()
        await ui.press("enter")  # the first answer: do not run it
        await ui.until(lambda: "not signed in" in ui.status())
        assert not file.exists()
        assert sent(ui, "authenticate") == []
        await ui.press("f5")
        await ui.sees(LIST)
        await ui.press("enter")
        await ui.until(lambda: "WHO=me" in ui.text() and "keys work once" not in ui.text())
        await ui.press("down", "down", "enter")  # the last one: `authenticate`
        await ui.ready()
        assert len(sent(ui, "authenticate")) == 1
