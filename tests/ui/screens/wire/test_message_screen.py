"""The page on which the user writes a message to the agent."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from acp_tui.app_context import SentMessages
from acp_tui.session.state import Agent, HandMessage, Mode, RpcError, Session
from acp_tui.ui.dialogs.choose import ChooseScreen
from acp_tui.ui.screens.wire.message_screen import MessageDraft, MessageScreen, ParamsEditor
from tests.support.conversation_ui import offers
from tests.support.looks import Show, entries_app, look, two_looks

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from textual.pilot import Pilot
    from textual.screen import Screen

    from tests.support.conversation_ui import ConversationUi, Open

SESSIONS = [{"sessionId": "one", "cwd": "/project", "title": "First"}]
LISTS = offers(
    capabilities={"sessionCapabilities": {"list": {}}},
    session_pages=[SESSIONS],
    silent=["_x/silent"],
    answers={"session/close": {}},
)


async def open_page(ui: ConversationUi) -> None:
    """Open the page from the palette."""
    await ui.press("ctrl+p", *"send a message", "enter")
    await ui.until(lambda: isinstance(ui.app.screen, ChooseScreen))


async def choose(ui: ConversationUi, method: str) -> None:
    """Choose a method in the list that is open."""
    await ui.press(*method, "enter")
    await ui.until(lambda: isinstance(ui.app.screen, MessageScreen))


def editor(ui: ConversationUi) -> ParamsEditor:
    return ui.app.screen.query_one(ParamsEditor)


def by_hand(ui: ConversationUi) -> list[HandMessage]:
    return [entry for entry in ui.session.entries if isinstance(entry, HandMessage)]


async def test_the_methods_that_the_agent_offers_come_first(open_ui: Open) -> None:
    async with open_ui("script", LISTS) as ui:
        await open_page(ui)
        lines = ui.text()
        assert lines.index("session/list") < lines.index("Other methods of the protocol")
        assert lines.index("Other methods of the protocol") < lines.index("auth/status")


async def test_the_answer_is_shown_beside_the_message_and_in_the_transcript(open_ui: Open) -> None:
    async with open_ui("script", LISTS) as ui:
        await open_page(ui)
        await choose(ui, "session/list")
        await ui.press("ctrl+s")
        await ui.sees("answer to session/list  answered after", '"title": "First"')
        await ui.press("escape")
        await ui.sees("You sent session/list · answered after")


async def test_a_skeleton_has_the_id_of_the_session(open_ui: Open) -> None:
    async with open_ui("script", LISTS) as ui:
        await open_page(ui)
        await choose(ui, "session/prompt")
        await ui.press(*"hi", "ctrl+s")
        await ui.until(lambda: ui.said() == ["hi"])
        assert ui.prompts() == ["hi"]
        await ui.until(lambda: ui.session.phase == "idle")


async def test_a_faulty_message_is_sent_after_a_second_press_and_marked(open_ui: Open) -> None:
    async with open_ui("script", LISTS) as ui:
        await open_page(ui)
        await choose(ui, "session/close")
        editor(ui).text = '{\n  "session": 1\n}'
        await ui.sees(
            "line 1: session/close: sessionId is missing", "line 2: session/close: session is not in"
        )
        await ui.press("ctrl+s")
        await ui.sees("Ctrl+S again sends it anyway", "Ctrl+S send anyway")
        assert by_hand(ui) == []
        await ui.press("ctrl+s")
        await ui.sees("answer to session/close  answered after")
        await ui.press("escape")
        await ui.sees("does not follow the schema")


async def test_what_is_not_json_cannot_be_sent(open_ui: Open) -> None:
    async with open_ui("script", LISTS) as ui:
        await open_page(ui)
        await choose(ui, "session/list")
        editor(ui).text = '{\n"cwd": }'
        await ui.press("ctrl+s", "ctrl+s")
        await ui.sees("line 2: not JSON", "Not sent: the params are not JSON.")
        assert by_hand(ui) == []


async def test_an_unanswered_request_of_ones_own_can_be_cancelled(open_ui: Open) -> None:
    async with open_ui("script", LISTS) as ui:
        await open_page(ui)
        await choose(ui, "_x/silent")
        await ui.press("ctrl+s")
        await ui.sees("no answer yet", "Ctrl+G cancel request")
        await ui.press("ctrl+g")
        await ui.sees("answer to _x/silent  error -32800 after")


async def test_a_notification_is_not_answered(open_ui: Open) -> None:
    async with open_ui("script", LISTS) as ui:
        await open_page(ui)
        await choose(ui, "_x/note")
        await ui.press("ctrl+n", "ctrl+s")
        await ui.sees("Notifications are not answered.")
        assert [(entry.method, entry.request_id) for entry in by_hand(ui)] == [("_x/note", None)]


async def test_messages_of_earlier_runs_can_be_sent_again_with_the_id_of_this_session(
    open_ui: Open, home: Path
) -> None:
    frame = {
        "method": "_x/y",
        "id": 0,
        "params": {"sessionId": "earlier", "token": "sk-ant-api03-" + "a" * 40},
    }
    SentMessages().add(frame, "earlier")
    assert "sk-ant" not in (home / "state" / "messages_by_hand.jsonl").read_text()
    async with open_ui("script", LISTS) as ui:
        await open_page(ui)
        await ui.press(*"session/list", "enter", "ctrl+r")
        await ui.sees("Earlier messages", "_x/y")
        await ui.press("enter")
        await ui.sees('"sessionId": "session-1"', "a secret was replaced")


async def test_the_page_opens_again_with_what_was_on_it(open_ui: Open) -> None:
    async with open_ui("script", LISTS) as ui:
        await open_page(ui)
        await choose(ui, "session/list")
        editor(ui).text = '{"cwd": "/somewhere"}'
        await ui.press("escape")
        await ui.press("ctrl+p", *"send a message", "enter")
        await ui.sees('{"cwd": "/somewhere"}')


# --------------------------------------------------------------------------- pictures


def page(text: str, *, error: bool = False) -> Callable[[], Screen[object]]:
    """Return a function that makes the page; a message that is sent is answered at once."""
    session = Session(
        session_id="session-1",
        agent=Agent(capabilities={"loadSession": True, "sessionCapabilities": {"list": {}}}),
        modes=[Mode("ask", "Ask"), Mode("code", "Code")],
        mode="ask",
    )

    def send(method: str, params: Any, *, is_request: bool, faults: Any) -> None:
        entry = HandMessage(
            id=0,
            at=10,
            text=f"You sent {method}",
            method=method,
            request_id=3,
            raw_params=params,
            ended_at=10.25,
        )
        if error:
            raw = {"code": -32602, "message": "Invalid params", "data": {"field": "prompt"}}
            entry.status, entry.error = "failed", RpcError(-32602, "Invalid params", raw=raw)
        else:
            entry.status, entry.raw_result = "answered", {"stopReason": 3, "usage": {"totalTokens": 12}}
        session.entries.append(entry)

    def make() -> Screen[object]:
        conversation = SimpleNamespace(session=session, cwd="/project", launch=SimpleNamespace(title="Agent"))
        draft = MessageDraft("session/prompt", True, text)
        history = SimpleNamespace(add=lambda *_: None, entries=list)
        return cast(
            "Screen[object]", MessageScreen(cast("Any", conversation), cast("Any", history), send, draft)
        )

    return make


GOOD = '{\n  "sessionId": "session-1",\n  "prompt": [\n    {"type": "text", "text": "hello"}\n  ]\n}'
FAULTY = GOOD.replace('"text": "hello"', '"txt": "hello"').replace('"session-1"', "1")


@look
def test_an_answer(snap_compare: Callable[..., bool], theme: str, size: tuple[int, int]) -> None:
    async def run(pilot: Pilot[Any]) -> None:
        await pilot.press("ctrl+s")
        await pilot.pause(0.2)

    assert snap_compare(Show(theme, screen=page(GOOD)), terminal_size=size, run_before=run)


@two_looks
def test_faults_and_an_error(snap_compare: Callable[..., bool], theme: str, size: tuple[int, int]) -> None:
    async def run(pilot: Pilot[Any]) -> None:
        await pilot.press("ctrl+s", "ctrl+s")
        await pilot.pause(0.2)
        await pilot.press("ctrl+s")
        await pilot.pause()

    assert snap_compare(Show(theme, screen=page(FAULTY, error=True)), terminal_size=size, run_before=run)


@two_looks
def test_messages_by_hand_in_the_transcript(
    snap_compare: Callable[..., bool], theme: str, size: tuple[int, int]
) -> None:
    sent = HandMessage(
        id=0,
        at=1,
        text="You sent session/list",
        method="session/list",
        request_id=1,
        raw_params={"cwd": "/project"},
    )
    sent.status, sent.raw_result, sent.ended_at = "answered", {"sessions": SESSIONS}, 1.5
    wrong = HandMessage(id=1, at=1, text="You sent session/prompt", method="session/prompt", request_id=2)
    wrong.status, wrong.ended_at, wrong.faults = "failed", 1.1, ["session/prompt: sessionId is missing"]
    wrong.error = RpcError(-32602, "Invalid params", raw={"code": -32602, "message": "Invalid params"})
    note = HandMessage(id=2, at=1, text="You sent the notification _x/y", method="_x/y", raw_params={})
    entries = [(sent, True), (sent, False), (wrong, True), (wrong, False), (note, True)]
    assert snap_compare(entries_app(theme, entries), terminal_size=size)
