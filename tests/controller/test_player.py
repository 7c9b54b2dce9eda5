"""The player of recorded sessions."""

from __future__ import annotations

import pytest

from acp_tui.controller.player import BATCH, INSTANT, LONGEST_PAUSE, Player
from acp_tui.protocol.translator import fold
from acp_tui.session.record import Record
from tests.support.recordings import WIRELOGS, records

HELLO = {
    "jsonrpc": "2.0",
    "method": "session/update",
    "params": {
        "sessionId": "s",
        "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "hello"}},
    },
}


def at(*times: float) -> list[Record]:
    return [Record(time, "received", HELLO) for time in times]


@pytest.mark.parametrize("path", WIRELOGS[::7], ids=lambda path: path.stem)
def test_playing_a_recording_gives_the_recorded_session(path: object) -> None:
    recorded = records(path)  # type: ignore[arg-type]
    player = Player(recorded)
    while not player.ended:
        player.advance(0.1)
    assert player.session == fold(recorded)
    assert player.elapsed == pytest.approx(player.length)


def test_records_are_played_at_their_recorded_times() -> None:
    player = Player(at(100, 100.5, 101))
    assert player.played == 0
    player.advance(0)
    assert (player.played, player.recorded_time) == (1, 100)
    player.advance(0.4)
    assert player.played == 1
    assert player.recorded_time == pytest.approx(100.4)
    changes = player.advance(0.1)
    assert player.played == 2
    assert [change.kind for change in changes] == ["updated"]
    player.advance(10)
    assert player.ended
    assert player.elapsed == player.length == 1.0


def test_twice_the_speed_takes_half_the_time() -> None:
    player = Player(at(0, 1), speed=2)
    player.advance(0.49)
    assert player.played == 1
    player.advance(0.01)
    assert player.ended


def test_long_pauses_are_shortened_and_reported() -> None:
    player = Player(at(0, 60, 61))
    player.advance(0.5)
    assert player.shortened_pause == 60
    player.advance(LONGEST_PAUSE - 0.5)
    assert player.played == 2
    assert not player.shortened_pause
    assert player.length == LONGEST_PAUSE + 1
    assert player.skipped_seconds == 60 - LONGEST_PAUSE


def test_a_clock_that_was_set_back_adds_no_time() -> None:
    player = Player(at(100, 50, 51))
    player.advance(1)
    assert player.ended
    assert player.skipped_seconds == 0


def test_instant_speed_plays_a_batch_at_a_time() -> None:
    player = Player(at(*range(BATCH + 1)), speed=INSTANT)
    player.advance(0.03)
    assert player.played == BATCH
    player.advance(0.03)
    assert player.ended


def test_play_instantly_plays_to_the_end_until_rewound() -> None:
    player = Player(at(0, 1, 2))
    player.play_instantly()
    player.advance(0.01)
    assert player.ended
    player.rewind()
    player.advance(0.01)
    assert player.played == 1


def test_step_goes_to_the_next_change() -> None:
    nothing = Record(0.5, "sent", {"jsonrpc": "2.0", "method": "_unknown/to-everybody"})
    player = Player([*at(0), nothing, *at(1)])
    assert player.step()
    assert player.played == 1
    assert player.step()
    assert player.ended
    assert player.elapsed == 1
    assert player.step() == []


def test_rewind_starts_with_a_new_session() -> None:
    player = Player(at(0, 1))
    player.advance(1)
    before = player.session
    player.rewind()
    assert (player.played, player.elapsed) == (0, 0.0)
    assert player.session is not before
    assert player.session.entries == []


def test_the_speed_has_limits() -> None:
    player = Player([], speed=3)
    player.change_speed(1)
    assert player.speed == 4
    player.change_speed(-1)
    assert player.speed == 2
    for _ in range(20):
        player.change_speed(1)
    assert player.speed == INSTANT
    for _ in range(20):
        player.change_speed(-1)
    assert player.speed == 0.25


def test_an_empty_recording_has_ended() -> None:
    player = Player([])
    assert player.advance(1) == []
    assert player.ended
    assert (player.length, player.recorded_time) == (0.0, 0.0)


def test_prompts_are_counted() -> None:
    prompt = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "session/prompt",
        "params": {"sessionId": "s", "prompt": []},
    }
    player = Player([Record(1, "sent", prompt), *at(2, 3), Record(4, "sent", prompt)])
    assert (player.prompts_played, player.prompts) == (0, 2)
    player.advance(0)
    assert player.prompts_played == 1
    player.play_instantly()
    player.advance(0)
    assert player.prompts_played == 2
