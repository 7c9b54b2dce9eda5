"""The replay screen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.controller import player as player_module
from acp_tui.controller.player import INSTANT, Player
from acp_tui.session.state import Permission, UserMessage
from acp_tui.ui.app import AcpTui
from acp_tui.ui.conversation import replay as replay_screen
from acp_tui.ui.conversation.replay import PlayerBar, ReplayScreen
from acp_tui.ui.transcript.transcript import Transcript
from acp_tui.ui.widgets.input_line import FindLine
from acp_tui.ui.widgets.status_line import StatusLine
from tests.support.looks import look
from tests.support.recordings import WIRELOGS, records
from tests.support.waiting import until

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from acp_tui.session.record import Change

EDIT = next(path for path in WIRELOGS if path.stem == "claude-code-edit")


def replay(speed: float = INSTANT) -> tuple[AcpTui, Player]:
    player = Player(records(EDIT), title="Recorded session", speed=speed)
    return AcpTui(lambda: ReplayScreen(player)), player


def page(app: AcpTui) -> str:
    view = app.screen.query_one(Transcript)
    return "\n".join(view.render_line(y).text.rstrip() for y in range(view.size.height))


def line(app: AcpTui, kind: type[PlayerBar | StatusLine]) -> str:
    return app.screen.query_one(kind).render_line(0).text


async def test_a_replay_starts_at_once_and_shows_the_whole_session() -> None:
    app, player = replay()
    async with app.run_test(size=(100, 40)):
        await until(lambda: player.ended and "I wrote the file." in page(app))
        assert "Claude Agent · project" in line(app, StatusLine)
        assert "○ idle" in line(app, StatusLine)
        assert line(app, PlayerBar).startswith("■")
        assert f"prompt {player.prompts} of {player.prompts}" in line(app, PlayerBar)
        assert any(isinstance(entry, Permission) for entry in player.session.entries)
        assert len(app.screen_stack) == 1  # the recorded request opens no dialog


async def test_a_fast_forward_is_drawn_once_at_its_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frames: list[int] = []
    take = Transcript.show_changes

    def taken(view: Transcript, changes: list[Change]) -> None:
        frames.append(player.played)
        take(view, changes)

    monkeypatch.setattr(player_module, "BATCH", 1)
    monkeypatch.setattr(replay_screen, "FAST_FORWARD_SLICE", 0)
    monkeypatch.setattr(Transcript, "show_changes", taken)
    app, player = replay()
    async with app.run_test(size=(100, 40)):
        await until(lambda: player.ended and "I wrote the file." in page(app))
    assert set(frames) == {player.total}


async def test_a_paused_fast_forward_is_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    advance = Player.advance

    def stop_at_the_first_entry(player: Player, seconds: float) -> list[Change]:
        return [] if player.session.entries else advance(player, seconds)

    monkeypatch.setattr(player_module, "BATCH", 1)
    monkeypatch.setattr(replay_screen, "FAST_FORWARD_SLICE", 0)
    monkeypatch.setattr(Player, "advance", stop_at_the_first_entry)
    app, player = replay()
    async with app.run_test(size=(100, 40)) as pilot:
        await until(lambda: bool(player.session.entries))
        await pilot.press("space")
        await until(lambda: "┃" in page(app))


async def test_space_pauses_and_continues_and_plus_and_minus_change_the_speed() -> None:
    app, player = replay(speed=1.0)
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("space")
        assert line(app, PlayerBar).startswith("‖")
        played = player.elapsed
        await pilot.pause(0.1)
        assert player.elapsed == played
        await pilot.press("plus", "plus")
        assert player.speed == 4
        assert "×4" in line(app, PlayerBar)
        await pilot.press("minus", "minus", "minus")
        assert "×0.5" in line(app, PlayerBar)
        await pilot.press("space")
        await until(lambda: player.elapsed > played)


async def test_steps_go_to_the_next_change_and_pause() -> None:
    app, player = replay(speed=1.0)
    async with app.run_test(size=(100, 30)) as pilot:
        while not any(isinstance(entry, UserMessage) for entry in player.session.entries):
            before = player.played
            await pilot.press("right")
            assert player.played > before
        await until(lambda: "mock:edit" in page(app))
        assert line(app, PlayerBar).startswith("‖")


async def test_end_jumps_to_the_end_and_home_restarts() -> None:
    app, player = replay(speed=0.25)
    async with app.run_test(size=(100, 40)) as pilot:
        await pilot.press("end")
        await until(lambda: player.ended and "I wrote the file." in page(app))
        await pilot.press("home")
        assert not player.ended
        await until(lambda: "I wrote the file." not in page(app))
        assert line(app, PlayerBar).startswith("▶")


async def test_space_at_the_end_plays_again() -> None:
    app, player = replay()
    async with app.run_test(size=(100, 40)) as pilot:
        await until(lambda: player.ended)
        before = player.session
        await pilot.press("space")
        await until(lambda: player.ended and "I wrote the file." in page(app))
        assert player.session is not before


async def test_player_keys_type_text_in_the_search_line() -> None:
    app, player = replay()
    async with app.run_test(size=(100, 40)) as pilot:
        await until(lambda: player.ended)
        await pilot.press("ctrl+f", *"I w", "home", "right", "enter")
        await pilot.pause()
        assert player.ended
        find = app.screen.query_one(FindLine)
        assert find.query_one("#hits").render_line(0).text.strip() == "1 of 1"
        await pilot.press("escape")
        await pilot.pause()
        assert not find.shown
        assert isinstance(app.screen.focused, Transcript)


async def test_transcript_keys_work_in_a_replay() -> None:
    app, _ = replay()
    async with app.run_test(size=(100, 40)) as pilot:
        await until(lambda: "I wrote the file." in page(app))
        await pilot.press("alt+up", "y")
        await until(lambda: app.clipboard.strip() == "I wrote the file.")
        await pilot.press("x", "i")  # there is nothing to type into
        await pilot.pause()
        assert isinstance(app.screen, ReplayScreen)


async def test_transcript_keys_work_after_a_letter_without_an_action() -> None:
    app, _ = replay()
    async with app.run_test(size=(100, 40)) as pilot:
        await until(lambda: "I wrote the file." in page(app))
        await pilot.press("w")
        await pilot.pause()
        await pilot.press("y")
        await until(lambda: app.clipboard.strip() == "I wrote the file.")


@pytest.mark.parametrize("keys", [["escape"], ["q"], ["ctrl+q"], ["ctrl+c", "ctrl+c"]], ids=" ".join)
async def test_the_usual_keys_quit(keys: list[str]) -> None:
    app, _ = replay(speed=1.0)
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press(*keys)
        await until(lambda: app._exit)


async def test_unreadable_lines_are_reported() -> None:
    player = Player(records(EDIT), speed=INSTANT)
    app = AcpTui(lambda: ReplayScreen(player, problems=["line 3 cannot be read: [left out]."]))
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await pilot.pause()
        assert [note.message for note in app._notifications] == ["line 3 cannot be read: [left out]."]


@look
def test_a_paused_replay(theme: str, size: tuple[int, int], snap_compare: Any) -> None:
    slowly = [replace(record, at=record.at * 1000) for record in records(EDIT)]
    player = Player(slowly, title="Recorded session")
    app = AcpTui(lambda: ReplayScreen(player), theme=theme)

    async def act(pilot: Pilot[Any]) -> None:
        await until(lambda: isinstance(app.screen, ReplayScreen) and app.focused is not None)
        await pilot.press("space")
        assert isinstance(app.screen, ReplayScreen)
        while player.played < 20:
            app.screen.action_step()
        app.screen.frames.flush()

    assert snap_compare(app, terminal_size=size, run_before=act)
