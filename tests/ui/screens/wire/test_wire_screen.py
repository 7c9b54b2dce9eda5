"""The wire screen on logs of its own: the list, the filter, the JSON, copying and saving."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from acp_tui.store.wire_log import read_log
from acp_tui.wire.frame_log import FrameLog
from tests.ui.screens.wire.wire_ui import START, open_wire, record, turn, update, write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


async def test_a_row_shows_time_direction_method_kind_and_the_time_to_the_answer(tmp_path: Path) -> None:
    async with open_wire(write(tmp_path / "wire.jsonl", turn())) as ui:
        await ui.sees("session/prompt answer #1")
        rows = ui.listed()
        assert "0:00.000 → session/new #0" in rows[0]
        assert "0:00.250 ← session/new answer #0" in rows[1]
        assert "250 ms" in rows[1]
        assert "! " not in rows[3]
        assert "not JSON Loading weights …" in rows[3]
        assert "session/update agent_message_chunk" in rows[4]
        assert "· noticed info Look at this." in rows[6]
        assert "2.50 s" in rows[7]
        await ui.press("t")
        await ui.until(lambda: " 0:00.250" not in ui.text())


async def test_stderr_is_on_the_clock_of_the_messages(tmp_path: Path) -> None:
    (tmp_path / "stderr.log").write_text("a warning\n")
    async with open_wire(write(tmp_path / "wire.jsonl", turn())) as ui:
        await ui.sees("stderr a warning")
        await ui.filter("type:stderr")
        await ui.sees("1 of 9")


async def test_the_list_follows_at_the_end_and_stays_where_the_user_has_scrolled(tmp_path: Path) -> None:
    async with open_wire(write(tmp_path / "wire.jsonl", turn())) as ui:
        await ui.sees("❯     0:03.500")
        ui.append(update("later", 4.0))
        await ui.sees("❯     0:04.000", '"later"')
        await ui.press("up")
        ui.append(*(update(f"number {number}", 5.0 + number) for number in range(40)))
        await ui.until(lambda: len(ui.screen.listing) == 49)
        assert "0:03.500" in ui.chosen()
        assert "not following" in ui.text()
        await ui.press("end")
        await ui.sees("❯     0:44.000")


async def test_a_message_can_be_written_once_the_agent_has_started(tmp_path: Path) -> None:
    opened: list[str] = []
    agents: list[Callable[[], None]] = []
    log = write(tmp_path / "wire.jsonl", turn())
    async with open_wire(log, new_message=lambda: agents[0] if agents else None) as ui:
        await ui.press("n")
        assert "n new" not in ui.text()
        agents.append(lambda: opened.append("page"))
        ui.append(update("it has started", 4.0))
        await ui.sees("n new")
        await ui.press("n")
        assert opened == ["page"]


async def test_p_goes_from_a_request_to_its_answer_and_back(tmp_path: Path) -> None:
    async with open_wire(write(tmp_path / "wire.jsonl", turn())) as ui:
        await ui.sees("❯     0:03.500")
        await ui.press("p")
        assert "session/prompt #1" in ui.chosen()
        assert any(line.startswith("↔") and "answer #1" in line for line in ui.listed())
        await ui.press("p")
        assert "session/prompt answer #1" in ui.chosen()


async def test_a_filter_narrows_the_list_and_also_new_messages(tmp_path: Path) -> None:
    async with open_wire(write(tmp_path / "wire.jsonl", turn())) as ui:
        await ui.filter("kind:agent_message_chunk Hi")
        await ui.sees("1 of 8")
        ui.append(update("Hi again", 9.0), update("not that", 10.0))
        await ui.sees("2 of 10", '"Hi again"')
        await ui.press("escape")
        await ui.until(lambda: "of 10" not in ui.text())


async def test_a_partner_that_the_filter_hides_is_shown_among_all_messages(tmp_path: Path) -> None:
    async with open_wire(write(tmp_path / "wire.jsonl", turn())) as ui:
        await ui.filter("type:answer")
        await ui.sees("2 of 8")
        await ui.press("p")
        await ui.until(lambda: "of 8" not in ui.text())
        assert "session/prompt #1" in ui.chosen()


async def test_the_filter_completes_what_occurs_and_says_what_is_wrong(tmp_path: Path) -> None:
    async with open_wire(write(tmp_path / "wire.jsonl", turn())) as ui:
        await ui.press("slash", *"method:session/p")
        await ui.sees("❯ method:session/prompt")
        await ui.press("tab", "enter")
        await ui.sees("2 of 8", "method:session/prompt")
        await ui.press("slash", *"kinds:x")
        await ui.sees('There is no filter "kinds:"; did you mean kind:?')
        await ui.press("escape")
        await ui.until(lambda: "There is no filter" not in ui.text())


async def test_letters_typed_into_the_filter_do_nothing_else(tmp_path: Path) -> None:
    async with open_wire(write(tmp_path / "wire.jsonl", turn())) as ui:
        await ui.press("slash", *"czpvq")
        assert ui.screen.query_one("InputLine").value == "czpvq"  # type: ignore[attr-defined]
        assert not ui.screen._parts.has_class("zoomed")


async def test_deviations_are_marked_at_their_field_with_the_sentence(tmp_path: Path) -> None:
    async with open_wire(write(tmp_path / "wire.jsonl", turn())) as ui:
        await ui.sees("❯     0:03.500")
        await ui.press("D")
        await ui.until(lambda: "0:01.600" in ui.chosen())
        assert "✗" in ui.chosen()
        lines = ui.json().split("\n")
        field = next(at for at, line in enumerate(lines) if '"text": 5' in line)
        assert "✗ session/update agent_message_chunk" in lines[field + 1]
        assert "must be a string" in ui.json()
        await ui.press("d")
        await ui.until(lambda: "No message below deviates from the schema." in ui.toasts())


async def test_the_sentence_about_a_field_far_down_is_visible(tmp_path: Path) -> None:
    option = {"optionId": "y", "name": "Yes", "kind": "allow"}
    params = {"sessionId": "s-1", "toolCall": {"toolCallId": "w"}, "options": [option]}
    ask = {"jsonrpc": "2.0", "id": 7, "method": "session/request_permission", "params": params}
    log = [
        record("received", ask),
        record("sent", {"jsonrpc": "2.0", "id": 7, "result": {}}, 20.16),
        update("Hi", 21),
    ]
    async with open_wire(write(tmp_path / "wire.jsonl", log), size=(80, 24)) as ui:
        await ui.press("D", "D")
        await ui.until(lambda: "request_permission #7" in ui.chosen())
        assert "must be one of:\n            allow_once, allow_always" in ui.json()
        assert "20.2 s  ✗ 1 deviation" in ui.text()


async def test_an_answer_without_an_id_is_named_as_such(tmp_path: Path) -> None:
    log = [record("received", {"jsonrpc": "2.0", "id": None, "result": None})]
    async with open_wire(write(tmp_path / "wire.jsonl", log)) as ui:
        await ui.sees("answer to no request")


async def test_enter_goes_to_the_json_where_fields_are_folded_and_copied(tmp_path: Path) -> None:
    async with open_wire(write(tmp_path / "wire.jsonl", turn()), size=(120, 40)) as ui:
        await ui.sees("❯     0:03.500", '"stopReason"')
        await ui.press("enter", "down", "down", "down", "space")
        await ui.sees('"result": { 1 field }')
        await ui.press("space", "down", "y")
        await ui.until(lambda: ui.app.clipboard == "end_turn")
        await ui.press("escape", "c")
        await ui.until(lambda: ui.app.clipboard.startswith("{"))
        assert json.loads(ui.app.clipboard) == {
            "jsonrpc": "2.0",
            "id": 1,
            "result": {"stopReason": "end_turn"},
        }


async def test_a_selection_is_copied_as_ndjson_and_saved_as_a_log(tmp_path: Path) -> None:
    async with open_wire(write(tmp_path / "wire.jsonl", turn())) as ui:
        await ui.sees("❯     0:03.500")
        await ui.press("home", "v", "down", "c")
        await ui.until(lambda: ui.app.clipboard.count("\n") == 1)
        assert [json.loads(line)["id"] for line in ui.app.clipboard.split("\n")] == [0, 0]
        await ui.press("s")
        await ui.sees("Save 2 messages to a file")
        await ui.press("home", *["delete"] * 40, *"part.jsonl", "enter")
        await ui.until(lambda: any("Saved to" in toast for toast in ui.toasts()))
        saved = list(read_log(tmp_path / "part.jsonl"))
        assert [(one.at, one.direction) for one in saved] == [(START, "sent"), (START + 0.25, "received")]
        assert (tmp_path / "part.jsonl").stat().st_mode & 0o777 == 0o600


async def test_saving_does_not_overwrite_a_file(tmp_path: Path) -> None:
    path = write(tmp_path / "wire.jsonl", turn())
    async with open_wire(path) as ui:
        await ui.sees("❯     0:03.500")
        await ui.press("s")
        await ui.sees("Save 8 messages to a file")
        await ui.press("home", *["delete"] * 40, *"wire.jsonl", "enter")
        await ui.until(lambda: any("File exists" in toast for toast in ui.toasts()))
    assert path.read_text() == "".join(turn())


async def test_hostile_text_is_shown_with_stand_ins(tmp_path: Path) -> None:
    odd = "\x1b[31mred\x1b]52;c;x\x07 \u202eevil [bold]x[/]"
    lines = [
        update(odd),
        record("received", odd),
        record("received", {"jsonrpc": "2.0", "method": odd, "params": {odd: odd}}),
    ]
    async with open_wire(write(tmp_path / "wire.jsonl", lines)) as ui:
        for key in ("up", "up", "down", "down", "down"):
            await ui.sees("[bold]x[/]")
            assert not any(sign in ui.text() for sign in ("\x1b", "\x07", "\u202e"))
            await ui.press(key)


async def test_a_truncated_log_starts_again(tmp_path: Path) -> None:
    async with open_wire(write(tmp_path / "wire.jsonl", turn())) as ui:
        await ui.sees("❯     0:03.500")
        write(ui.path, [update("a new beginning", 0.0)])
        await ui.sees("a new beginning")
        await ui.until(lambda: len(ui.screen.listing) == 1)


async def test_a_huge_message_is_shown_from_its_beginning(tmp_path: Path) -> None:
    async with open_wire(write(tmp_path / "wire.jsonl", [*turn(), update("x" * 9_000_000)])) as ui:
        await ui.sees("Only the first", "9 MB")


async def test_without_messages_a_sentence_says_so(tmp_path: Path) -> None:
    async with open_wire(write(tmp_path / "wire.jsonl", [])) as ui:
        await ui.sees("Nothing has been recorded yet.")
        ui.append(*turn())
        await ui.sees("❯     0:03.500")
        await ui.filter("type:damaged")
        await ui.sees("No message matches the filter.")


async def test_the_line_at_which_recording_stopped_is_listed(tmp_path: Path) -> None:
    stopped = "Recording stopped: the log has reached 1 MB (log.max_session_bytes)."
    lines = [*turn(), record("client", {"event": "noticed", "level": "warning", "text": stopped}, 5.0)]
    async with open_wire(write(tmp_path / "wire.jsonl", lines)) as ui:
        await ui.sees("noticed warning Recording stopped")


async def test_a_long_log_that_was_closed_too_early_is_complete_the_next_time(tmp_path: Path) -> None:
    lines = [update(f"{number} {'x' * 40_000}", 2.0 + number) for number in range(400)]
    path = write(tmp_path / "wire.jsonl", [*turn(), *lines])
    with FrameLog(path) as log:
        assert not log.is_complete
    async with open_wire(path) as ui:
        await ui.until(lambda: ui.screen.listing.log.is_complete)
        assert len(ui.screen.listing) == 408
        await ui.press("home")
        assert "session/new #0" in ui.chosen()
