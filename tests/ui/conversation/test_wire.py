"""The wire screen of a conversation, a replay and a subagent: F12, and between entries and messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.controller.player import INSTANT, Player
from acp_tui.session.state import AgentMessage, Subagent, ToolCall
from acp_tui.ui.app import AcpTui
from acp_tui.ui.conversation.replay import ReplayScreen
from acp_tui.ui.conversation.subagent_screen import SubagentScreen
from acp_tui.ui.screens.wire.wire_screen import WireScreen
from tests.support.conversation_ui import agent, offers, open_conversation_ui
from tests.support.recordings import WIRELOGS, records
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    from acp_tui.session.state import Entry
    from tests.support.conversation_ui import ConversationUi, Open

LOADS = offers(capabilities={"loadSession": True})


def wire(ui: ConversationUi) -> WireScreen:
    screen = ui.app.screen
    assert isinstance(screen, WireScreen)
    return screen


async def open_messages(ui: ConversationUi, key: str = "f12") -> WireScreen:
    """Press a key and wait for the messages."""
    await ui.press(key)
    await ui.until(lambda: isinstance(ui.app.screen, WireScreen) and len(wire(ui).listing))
    return wire(ui)


def methods(screen: WireScreen) -> list[str]:
    listing = screen.listing
    rows = [listing.row(index) for index in range(len(listing))]
    return [" ".join(filter(None, (row.method, row.kind))) for row in rows]


async def messages_of(ui: ConversationUi, entry: Entry) -> WireScreen:
    """Put the cursor on an entry and show its messages."""
    await ui.until(lambda: ui.transcript.entry(entry.id) is not None)
    ui.transcript.focus()
    ui.transcript.cursor = entry.id
    return await open_messages(ui, "W")


async def test_f12_shows_the_messages_as_they_come_and_closes_again(open_ui: Open) -> None:
    async with open_ui() as ui:
        screen = await open_messages(ui)
        assert {"initialize", "session/new"} <= set(methods(screen))
        before = len(screen.listing)
        ui.screen.runner.prompts.submit("while it is open")
        await ui.until(lambda: len(screen.listing) > before)
        await ui.sees("session/prompt answer")
        await ui.press("f12")
        await ui.until(lambda: ui.app.screen is ui.screen)
        assert ui.prompt.has_focus_within


async def test_the_transcript_below_is_drawn_when_the_messages_are_closed(open_ui: Open) -> None:
    async with open_ui() as ui:
        await open_messages(ui)
        ui.screen.runner.prompts.submit("while it is open")
        await ui.until(lambda: ui.said() == ["while it is open"])
        assert not any(ui.transcript.entry(entry.id) for entry in ui.session.entries)
        await ui.press("f12")
        await ui.until(lambda: all(ui.transcript.entry(entry.id) for entry in ui.session.entries))
        assert ui.text().count("while it is open") == 2


async def test_an_entry_leads_to_the_messages_that_made_it_and_enter_leads_back(open_ui: Open) -> None:
    async with open_ui() as ui:
        call = {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Look"}
        done = {"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed"}
        await ui.send(["say", "a"], ["update", call], ["say", "b"], ["update", done])
        await ui.ready()
        entry = next(entry for entry in ui.session.entries if isinstance(entry, ToolCall))
        screen = await messages_of(ui, entry)
        assert methods(screen) == ["session/update tool_call", "session/update tool_call_update"]
        assert "of tool call" in ui.text().lower()
        await ui.press("a")
        await ui.until(lambda: len(screen.listing) > 2)
        assert screen.frames.row is not None
        assert screen.frames.row.kind == "tool_call_update"
        await ui.press("enter")
        await ui.until(lambda: ui.app.screen is ui.screen)
        await ui.until(lambda: ui.transcript.cursor == entry.id)


async def test_messages_of_a_batch_are_paired_and_belong_to_their_entries(tmp_path: Path) -> None:
    version_2 = ("--command", agent("version_2", "speaks"), "--protocol", "2", "--policy", "yolo")
    async with open_conversation_ui(tmp_path, *version_2) as ui:
        await ui.send("batch")
        await ui.until(lambda: ui.session.stop_reason == "end_turn")
        entry = next(entry for entry in ui.session.entries if getattr(entry, "text", "") == "in a batch")
        screen = await messages_of(ui, entry)
        await ui.sees("agent_message_chunk in a batch")
        assert len(screen.listing) == 1
        await ui.press("a", "up", "p")
        await ui.until(lambda: screen.frames.row is not None and screen.frames.row.type == "answer")
        assert screen.frames.row is not None
        assert (screen.frames.row.id, screen.frames.row.is_in_batch) == ('"two"', True)


async def test_the_messages_of_an_entry_that_grows_are_listed_as_they_come(
    open_ui: Open, tmp_path: Path
) -> None:
    async with open_ui() as ui:
        await ui.send(["say", "one"], ["wait_for_file", str(tmp_path / "go on")], ["say", "two"])
        await ui.until(lambda: ui.said() == ["one"])
        entry = next(entry for entry in ui.session.entries if isinstance(entry, AgentMessage))
        screen = await messages_of(ui, entry)
        assert len(screen.listing) == 1
        (tmp_path / "go on").touch()
        await ui.until(lambda: len(screen.listing) == 2)
        assert methods(screen) == ["session/update agent_message_chunk"] * 2


async def test_a_message_that_made_no_entry_says_so(open_ui: Open) -> None:
    async with open_ui() as ui:
        await open_messages(ui)
        await ui.press("home", "enter")
        await ui.until(lambda: "This message made no entry of the transcript." in ui.toasts())


async def test_without_a_log_a_sentence_says_so(open_ui: Open) -> None:
    async with open_ui(options=("--no-log",)) as ui:
        await ui.send("hello")
        await ui.until(lambda: ui.said() == ["hello"])
        await ui.press("f12")
        await ui.until(lambda: any("not recorded" in toast for toast in ui.toasts()))


async def test_f12_works_with_a_dead_agent_and_after_a_restart_in_place(open_ui: Open) -> None:
    async with open_ui("script", LOADS) as ui:
        await ui.send("first")
        await ui.until(lambda: ui.said() == ["first"])
        await ui.ready()
        await ui.send(["exit", 1])
        await ui.until(lambda: ui.session.phase == "dead")
        screen = await open_messages(ui)
        await ui.until(lambda: "agent_exited" in methods(screen))
        await ui.press("f12")
        await ui.until(lambda: ui.app.screen is ui.screen)
        await ui.press("f5")
        await ui.ready()
        screen = await open_messages(ui)
        await ui.until(lambda: methods(screen).count("initialize") == 4)
        answers = [screen.listing.row(index) for index in range(len(screen.listing))]
        assert all(row.partner is not None for row in answers if row.type == "answer")


async def test_entries_of_a_resumed_session_lead_to_their_messages(open_ui: Open) -> None:
    async with open_ui("script", LOADS) as ui:
        await ui.send("an early word")
        await ui.until(lambda: ui.said() == ["an early word"])
        await ui.ready()
        (made,) = ui.made
        session = made.conversation.folder.id
        assert session is not None
    async with open_ui("script", LOADS, options=("--resume", session)) as ui:
        await ui.until(lambda: ui.said() == ["an early word"])
        entry = next(entry for entry in ui.session.entries if isinstance(entry, AgentMessage))
        screen = await messages_of(ui, entry)
        assert methods(screen) == ["session/update agent_message_chunk"]
        await ui.press("enter")
        await ui.until(lambda: ui.transcript.cursor == entry.id)


async def test_f12_on_a_subagent_shows_its_messages_and_enter_leads_to_its_entries(open_ui: Open) -> None:
    async with open_ui("has_subagents") as ui:
        await ui.send("go")
        await ui.asked()
        await ui.press("a")
        await ui.sees("Still looking.")
        subagent = next(entry for entry in ui.session.entries if isinstance(entry, Subagent))
        ui.transcript.focus()
        ui.transcript.cursor = subagent.id
        await ui.press("enter")
        await ui.until(lambda: isinstance(ui.app.screen, SubagentScreen))
        screen = await open_messages(ui)
        await ui.sees("of subagent Look around")
        every = len(screen.listing.log)
        assert 0 < len(screen.listing) < every
        await ui.press("end", "enter")
        await ui.until(lambda: isinstance(ui.app.screen, SubagentScreen))
        await ui.until(lambda: ui.app.screen.query_one("Transcript").cursor is not None)  # type: ignore[attr-defined]
        await ui.press("escape")
        await ui.until(lambda: ui.app.screen is ui.screen)
        screen = await open_messages(ui)
        kinds = methods(screen)
        inner = next(at for at, one in enumerate(kinds) if "I am looking." in screen.listing.summary(at))
        screen.frames.move_to(inner)
        await ui.press("enter")
        await ui.until(lambda: isinstance(ui.app.screen, SubagentScreen))


async def test_f12_shows_the_recording_of_a_replay() -> None:
    path = next(path for path in WIRELOGS if path.stem == "claude-code-edit")
    player = Player(records(path), title="Recorded session", speed=INSTANT)
    app = AcpTui(lambda: ReplayScreen(player, wire_log=path))
    async with app.run_test(size=(100, 40)) as pilot:
        await until(lambda: player.ended)
        await pilot.press("f12")
        await until(lambda: isinstance(app.screen, WireScreen))
        screen = app.screen
        assert isinstance(screen, WireScreen)
        await until(lambda: "session/request_permission" in methods(screen))
        screen.frames.move_to(methods(screen).index("session/request_permission"))
        await pilot.press("enter")
        await until(lambda: isinstance(app.screen, ReplayScreen))
        replay = app.screen
        assert isinstance(replay, ReplayScreen)
        await until(lambda: replay.transcript.cursor is not None)


async def test_the_overview_shows_the_messages_of_a_tab_in_the_background(open_ui: Open) -> None:
    async with open_ui() as ui:
        await ui.press("alt+o")
        await ui.sees("Overview")
        screen = await open_messages(ui)
        assert "session/new" in methods(screen)
        await ui.press("escape")
        await ui.sees("Overview")
