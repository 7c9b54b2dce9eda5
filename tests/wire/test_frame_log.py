"""Reading a wire log as a list of rows: what a row says, pairs, stderr, and logs that grow."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from acp_tui.protocol.client_records import to_record
from acp_tui.session.events import Noticed
from acp_tui.store.session_folder import create_session_folder
from acp_tui.store.stderr_log import KEEP_BYTES
from acp_tui.wire import frame_log
from acp_tui.wire.frame_index import MAX_BATCH
from acp_tui.wire.frame_log import FrameLog
from tests.support.recordings import WIRELOGS
from tests.support.wire_lines import answer, line, read_all, request, rows, update, write_log

OTHER_TOOL = [
    {"t": 0.5, "dir": "c2a", "n": 1, "msg": {"jsonrpc": "2.0", "id": 0, "method": "initialize"}},
    {"t": 0.6, "dir": "stderr", "text": "starting \u001b[31m"},
    {"t": 0.7, "dir": "a2c", "n": 2, "msg": {"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": 1}}},
    {"t": 0.8, "dir": "note", "text": "agent ended"},
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "wire.jsonl"


def log_of(path: Path, *lines: bytes) -> FrameLog:
    return FrameLog(write_log(path, lines))


def test_a_row_says_what_a_list_shows_of_a_message(path: Path) -> None:
    [row] = rows(log_of(path, line(5.5, "received", update("tool_call", session="abc", title="Run"))))
    assert (row.at, row.direction, row.type) == (5.5, "received", "notification")
    assert (row.method, row.kind, row.session) == ("session/update", "tool_call", "abc")
    assert row.size == len(json.dumps(update("tool_call", session="abc", title="Run"), separators=(",", ":")))


def test_an_answer_belongs_to_its_request(path: Path) -> None:
    log = log_of(
        path,
        line(1.0, "sent", request(7, sessionId="s-1")),
        line(1.5, "received", update()),
        line(3.0, "received", answer(7, {"stopReason": "end_turn"})),
    )
    asked, _, answered = rows(log)
    assert (asked.partner, asked.seconds, asked.id) == (2, 2.0, "7")
    assert (answered.partner, answered.seconds, answered.type) == (0, 2.0, "answer")
    assert (answered.method, answered.session) == ("session/prompt", "s-1")


ASK, ASKED = ("sent", request(1)), ("received", request(1))
REPLY, REPLIED = ("sent", answer(1)), ("received", answer(1))
RESTART = ("client", {"event": "agent_started"})
PAIRS: dict[str, tuple[list[tuple[str, Any]], list[int | None]]] = {
    "both sides": ([ASK, ASKED, REPLY, REPLIED], [3, 2, 1, 0]),
    "a text": ([("sent", request("a")), ("received", answer("a"))], [1, 0]),
    "a number as text": ([ASK, ("received", answer("1"))], [1, 0]),
    "a huge number": ([("sent", request(2**80)), ("received", answer(2**80))], [1, 0]),
    "nothing asked": ([REPLIED, REPLY], [None, None]),
    "used twice": ([ASK, ASK, REPLIED, REPLIED], [2, 3, 0, 1]),
    "used again": ([ASK, REPLIED, ASK, REPLIED], [1, 0, 3, 2]),
    "another process": ([ASK, RESTART, ASK, REPLIED], [None, None, 3, 2]),
    "a batch": (
        [("received", [request(1), update(), request(2)]), ("sent", [answer(2), answer(1)])],
        [4, None, 3, 2, 0],
    ),
    "an answer in a batch": ([ASK, ("received", [update(), answer(1)])], [2, None, 0]),
    "no id": ([("sent", request(True)), ("received", answer(None))], [None, None]),
}


@pytest.mark.parametrize(("frames", "partners"), PAIRS.values(), ids=PAIRS)
def test_pairs(path: Path, frames: list[tuple[str, Any]], partners: list[int | None]) -> None:
    log = log_of(path, *(line(at, *frame) for at, frame in enumerate(frames)))
    assert [row.partner for row in rows(log)] == partners


@pytest.mark.parametrize(
    ("frame", "kind"),
    [
        ({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "no"}}, "error"),
        ("plain text", "noise"),
        ([], "other"),
        ({"jsonrpc": "2.0"}, "other"),
        ({"method": 5, "id": {}}, "other"),
        (None, "other"),
    ],
)
def test_what_is_no_request_or_answer_is_a_row_too(path: Path, frame: Any, kind: str) -> None:
    [row] = rows(log_of(path, line(1, "received", frame)))
    assert row.type == kind


BATCH = [update("tool_call", title="Größe"), 7, request(1, text="second"), [request(2)]]


def test_each_message_of_a_batch_is_a_row(path: Path) -> None:
    other = request(0, text="first")
    log = log_of(path, *(line(1.0, "received", frame) for frame in (other, BATCH, other)))
    assert [row.type for row in rows(log)] == [
        "request",
        "notification",
        "other",
        "request",
        "other",
        "request",
    ]
    assert [row.is_in_batch for row in rows(log)] == [False, True, True, True, True, False]
    assert [log.frame(number) for number in range(6)] == [other, *BATCH, other]
    for row in rows(log):
        assert json.loads(log.text(row.number)) == log.frame(row.number)
        assert row.size == len(log.text(row.number).encode())
        assert log.number_of(row.place) == row.number
    assert log.summary(3) == '{"text": "second"}'


def test_a_message_of_a_batch_can_deviate_alone(path: Path) -> None:
    began = {"protocolVersion": 2, "info": {"name": "a", "version": "1"}, "capabilities": {}}
    chunk = update(messageId="m", content={"type": "text", "text": "a"})
    wrong = update(messageId="m", content=5)
    first = [line(0.0, "sent", request(0, "initialize", protocolVersion=2))]
    batch = line(2.0, "received", [chunk, wrong])
    log = log_of(path, *first, line(1.0, "received", answer(0, began)), batch)
    assert [bool(log.deviations(number)) for number in (2, 3)] == [False, True]
    in_version_1 = log_of(path.with_name("one.jsonl"), batch)
    assert all(in_version_1.deviations(number) for number in (0, 1))


def test_a_long_batch_is_one_row(path: Path) -> None:
    [row] = rows(log_of(path, line(1, "received", [0] * (MAX_BATCH + 1))))
    assert (row.type, row.is_in_batch) == ("other", False)


@pytest.mark.parametrize(
    "damaged",
    [
        b"{",
        b'{"t":1,"dir":"sent"}',
        b'{"t":"1","dir":"sent","frame":{}}',
        b'{"t":1,"dir":"up","frame":{}}',
        b'{"t":1e999,"dir":"sent","frame":{}}',
        b'{"t":-1e300,"dir":"sent","frame":{}}',
        b'{"t":1' + b"0" * 400 + b',"dir":"sent","frame":{}}',
        b'{"t":1,"dir":"sent","frame":{}} x',
        b"[" * 100_000,
        b"\xff\xfe",
        b"\0\0\0",
        b"7",
    ],
)
def test_a_damaged_line_is_a_row(path: Path, damaged: bytes) -> None:
    log = log_of(path, line(1, "sent", request(1)), damaged + b"\n", line(2, "received", answer(1)))
    first, row, last = rows(log)
    assert (row.type, row.at, row.direction) == ("damaged", None, "log")
    assert first.partner == last.number
    assert (log.frame(1), log.deviations(1)) == (None, [])
    assert log.summary(1)
    assert log.text(1)


@pytest.mark.parametrize("before", [b"\0\0", b"\xef\xbb\xbf"], ids=["zeros of a power failure", "BOM"])
def test_what_is_before_a_record_does_not_hide_it(path: Path, before: bytes) -> None:
    log = log_of(path, before + line(1, "sent", request(1)))
    assert log.row(0).type == "request"
    assert log.frame(0) == request(1)


def test_the_end_of_the_recording_is_a_row(tmp_path: Path) -> None:
    folder = create_session_folder(tmp_path, agent="a", title="A", cwd="/", command=[], max_bytes=2000)
    folder.on_notice = lambda text: folder.log.append(9.0, "client", to_record(Noticed("warning", text)))
    for at in range(50):
        folder.log.append(float(at), "received", update(text="x" * 100))
    folder.close()
    log = FrameLog(folder.path / "wire.jsonl")
    last = log.row(len(log) - 1)
    assert (last.type, last.method, last.kind) == ("event", "noticed", "warning")
    assert log.summary(last.number).startswith("Recording stopped: the log has reached")


def test_calls_of_bridged_mcp_servers_are_rows(path: Path) -> None:
    called = {
        "event": "mcp_called",
        "server": "files",
        "tool": "read",
        "arguments": {"path": "a"},
        "seconds": 0.5,
    }
    log = log_of(path, line(1, "client", called))
    assert (log.row(0).type, log.row(0).kind) == ("mcp", "files/read")
    assert '"path": "a"' in log.summary(0)


def test_messages_that_the_user_wrote_are_marked(path: Path) -> None:
    mark = {"event": "written_by_hand", "method": "x", "request_id": 1}
    log = log_of(
        path, line(1, "client", mark), line(1, "sent", request(1, "x")), line(1, "sent", request(2, "x"))
    )
    assert [row.is_by_hand for row in rows(log)] == [False, True, False]


def test_recordings_of_other_tools_are_read(path: Path) -> None:
    log = log_of(path, *(json.dumps(each).encode() + b"\n" for each in OTHER_TOOL))
    assert [row.type for row in rows(log)] == ["request", "stderr", "answer", "note"]
    assert log.row(2).seconds == pytest.approx(0.2)
    assert log.frame(0) == OTHER_TOOL[0]["msg"]
    assert json.loads(log.text(2)) == OTHER_TOOL[2]["msg"]
    assert log.summary(1) == "starting ␛[31m"
    assert log.started == 0.5


@pytest.mark.parametrize("recording", WIRELOGS, ids=lambda path: path.stem)
def test_recordings_of_real_agents_have_no_damaged_rows(recording: Path) -> None:
    log = FrameLog(recording)
    for row in rows(log):
        assert row.type not in ("damaged", "other")
        assert log.number_of(row.place) == row.number
        assert log.summary(row.number).isprintable()
        if row.direction in ("sent", "received"):
            assert json.loads(log.text(row.number)) == log.frame(row.number)


def test_texts_of_a_row_are_safe_to_display(path: Path) -> None:
    hostile = "\x1b]52;c;x\x07\u202e\n"
    frame = {"jsonrpc": "2.0", "id": hostile, "method": hostile, "params": update(hostile, hostile)["params"]}
    log = log_of(path, line(1, "received", frame), line(2, "received", hostile))
    row = log.row(0)
    shown = [row.method, row.kind, row.session, row.id, log.summary(0), log.summary(1)]
    assert all(text.isprintable() for text in shown)
    assert all(value.isprintable() for values in log.values().values() for value in values)


# --------------------------------------------------------------------------- long lines


def test_of_a_long_line_the_beginning_and_the_end_are_enough(path: Path) -> None:
    long = "x" * 3_000_000
    log = log_of(
        path,
        line(1, "sent", request(1, sessionId="s-1", prompt=[{"type": "text", "text": long}])),
        line(2, "received", update("agent_message_chunk", content={"type": "text", "text": long})),
        line(3, "received", {"jsonrpc": "2.0", "result": {"text": long}, "id": 1}),
        line(4, "received", long),
    )
    asked, said, answered, noise = rows(log)
    assert (asked.type, asked.session, asked.partner) == ("request", "s-1", 2)
    assert (said.type, said.kind, said.size) == ("notification", "agent_message_chunk", 3_000_157)
    assert (answered.type, answered.method) == ("answer", "session/prompt")
    assert noise.type == "noise"
    assert log.summary(1) == '{"content": {"type": "text", "text": "…"}}'
    assert len(log.text(1, 1000)) < 1000
    assert log.frame(1)["params"]["update"]["content"]["text"] == long


def test_of_a_shortened_message_the_whole_size_is_shown(path: Path) -> None:
    frame = {"jsonrpc": "2.0", "id": 1, "result": {"text": "abc"}, "_shortened": 5_000_000}
    log = log_of(path, line(1, "sent", request(1, "session/new")), line(2, "received", frame))
    assert (log.row(1).size, log.row(1).partner) == (5_000_000, 0)
    assert log.deviations(1) == []


# --------------------------------------------------------------------------- stderr


def test_lines_of_stderr_are_on_the_same_clock(tmp_path: Path) -> None:
    now = 1_800_000_000.0
    folder = create_session_folder(tmp_path, agent="a", title="A", cwd="/", command=[], clock=lambda: now)
    for words in ("before", "between", "after"):
        folder.stderr_sink(f"{words}\n")
        folder.log.append(now + 0.5, "received", update())
        now += 1.0
    folder.close()
    log = FrameLog(folder.path / "wire.jsonl")
    assert [row.type for row in rows(log)] == ["stderr", "notification"] * 3
    assert [log.summary(number) for number in (0, 2, 4)] == ["before", "between", "after"]
    assert log.row(2).at == 1_800_000_001.0
    assert [log.number_of(row.place) for row in rows(log)] == list(range(6))


def test_a_late_line_of_stderr_is_reported_as_a_change(tmp_path: Path) -> None:
    now = 10.0
    folder = create_session_folder(tmp_path, agent="a", title="A", cwd="/", command=[], clock=lambda: now)
    for at in range(4):
        folder.log.append(at * 5.0 + 1, "received", update())
    log = FrameLog(folder.path / "wire.jsonl")
    assert log.update().first_changed is None
    folder.stderr_sink("late\n")
    assert log.update() == (0, 2, False)
    assert [row.type for row in read_all(log)].index("stderr") == 2
    folder.log.append(100.0, "received", update())
    assert log.update().first_changed == 5
    folder.close()


def test_lines_of_stderr_without_times_come_first(path: Path) -> None:
    write_log(
        path.with_name("stderr.log"), [b"old\n2026-11-24T01:52:44.500000Z \xe2\x94\x82 new\nnew, too\nend"]
    )
    log = log_of(path, line(1.0, "sent", request(1)))
    assert [log.summary(number) for number in (0, 2, 3, 4)] == ["old", "new", "new, too", "end"]
    assert [(row.type, row.at is None) for row in rows(log)] == [
        ("stderr", True),
        ("request", False),
        *[("stderr", False)] * 3,
    ]


def test_times_of_stderr_that_go_back_keep_the_order_of_the_lines(path: Path) -> None:
    said = "1970-01-01T00:00:03.000000Z │ first\n1970-01-01T00:00:01.000000Z │ second\n"
    path.with_name("stderr.log").write_text(said)
    log = log_of(path, line(2.0, "received", update()), line(4.0, "received", update()))
    assert [log.summary(number) for number in (1, 2)] == ["first", "second"]
    assert [log.number_of(row.place) for row in rows(log)] == [0, 1, 2, 3]


def test_stderr_is_read_again_when_its_middle_is_dropped(tmp_path: Path) -> None:
    folder = create_session_folder(tmp_path, agent="a", title="A", cwd="/", command=[])
    log = FrameLog(folder.path / "wire.jsonl")
    for _ in range(30):
        folder.stderr_sink(("x" * 200 + "\n") * (KEEP_BYTES // 1000))
        log.update()
    folder.close()
    log.update()
    assert [row.type for row in rows(log)] == ["stderr"] * len(log)
    fresh = FrameLog(folder.path / "wire.jsonl")
    assert [log.summary(row.number) for row in rows(log)] == [
        fresh.summary(row.number) for row in rows(fresh)
    ]


# --------------------------------------------------------------------------- growing logs


def test_a_long_log_starts_with_its_last_rows(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frame_log, "MAX_WHOLE_BYTES", 1000)
    monkeypatch.setattr(frame_log, "TAIL_ROWS", 10)
    monkeypatch.setattr(frame_log, "BLOCK_BYTES", 500)
    log = log_of(path, *(line(at, "received", update(text=at)) for at in range(200)))
    assert not log.is_complete
    assert 10 <= len(log) < 30
    assert log.started == 0.0
    top, last = log.row(0), log.row(len(log) - 1)
    changed = log.update(5000)
    for _ in range(20):
        if changed.prepended:
            break
        changed = log.update(5000)
    assert len(log) == 200
    assert changed.prepended == 200 - (last.number + 1)
    assert log.row(changed.prepended).place == top.place
    assert log.frame(199)["params"]["update"]["text"] == 199


def test_rows_come_as_the_log_grows(path: Path) -> None:
    log = log_of(path, line(1, "sent", request(1)))
    assert log.update() == (0, None, False)
    with path.open("ab") as file:
        file.write(line(2, "received", update())[:50])
    log.update()
    assert [log.frame(row.number) for row in rows(log)] == [request(1)]
    write_log(
        path, [line(1, "sent", request(1)), line(2, "received", update()), line(3, "received", answer(1))]
    )
    assert log.update().first_changed == 1
    assert [row.partner for row in rows(log)] == [2, None, 0]


def test_a_last_line_without_an_end_is_a_row_if_it_is_whole(path: Path) -> None:
    log = log_of(path, line(1, "sent", request(1)), line(2, "received", answer(1)).rstrip(b"\n"))
    assert [row.partner for row in rows(log)] == [1, 0]
    with path.open("ab") as file:
        file.write(b" \n" + line(3, "received", update()))
    assert log.update().first_changed == 1
    assert [(row.type, row.partner) for row in rows(log)] == [
        ("request", 1),
        ("answer", 0),
        ("notification", None),
    ]


def test_a_last_line_that_turns_out_to_be_damaged_answers_nothing(path: Path) -> None:
    log = log_of(path, line(1, "sent", request(1)), line(2, "received", answer(1)).rstrip(b"\n"))
    with path.open("ab") as file:
        file.write(b"{\n")
    log.update()
    assert [(row.type, row.partner) for row in rows(log)] == [("request", None), ("damaged", None)]


@pytest.mark.parametrize("content", [b"", line(1, "sent", request(9)), b"x" * 5000 + b"\n"])
def test_a_truncated_or_rewritten_log_begins_again(path: Path, content: bytes) -> None:
    log = log_of(path, *(line(at, "received", update()) for at in range(20)))
    path.write_bytes(content)
    assert log.update().restarted
    assert read_all(log) == rows(FrameLog(path))


def test_a_replaced_log_begins_again(path: Path) -> None:
    log = log_of(path, line(1, "sent", request(1)))
    other = write_log(path.with_name("other"), [line(1, "sent", request(2)), line(2, "received", answer(2))])
    other.replace(path)
    assert log.update().restarted
    assert [row.id for row in rows(log)] == ["2", "2"]


def test_a_deleted_log_stays_readable(path: Path) -> None:
    log = log_of(path, line(1, "sent", request(1)))
    path.unlink()
    assert log.update() == (0, None, False)
    assert log.frame(0) == request(1)


def test_a_log_that_is_forgotten_leaves_no_open_file(path: Path) -> None:
    log = log_of(path, line(1, "sent", request(1)))
    descriptor = log._descriptor
    del log
    with pytest.raises(OSError):
        os.fstat(descriptor)


def test_a_log_that_is_no_file_is_an_error(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "missing", "."):
        with pytest.raises(OSError):
            FrameLog(tmp_path / name)


# --------------------------------------------------------------------------- deviations


def test_deviations_name_the_field_and_its_place(path: Path) -> None:
    wrong = update(
        "tool_call", toolCallId="c", title="t", content=[{"type": "diff", "path": "/a"}], status="run"
    )
    log = log_of(
        path, line(1, "received", wrong), line(2, "received", update(content={"type": "text", "text": ""}))
    )
    found = {violation.place: violation.sentence for violation in log.deviations(0)}
    assert found["params", "update", "status"].startswith(
        "session/update tool_call: update.status must be one of"
    )
    assert ("params", "update", "content", 0, "newText") in found
    assert log.deviations(1) == []


def test_deviations_of_what_acp_tui_sends_are_found(path: Path) -> None:
    log = log_of(
        path,
        line(1, "sent", request(1, "session/new", cwd=5)),
        line(2, "received", request(1, "fs/read_text_file", path="/a", sessionId="s")),
        line(3, "sent", answer(1, {"contents": ""})),
    )
    assert [fault.place for fault in log.deviations(0)] == [("params", "mcpServers"), ("params", "cwd")]
    assert [fault.place for fault in log.deviations(2)] == [("result", "content"), ("result", "contents")]


def test_messages_are_checked_against_the_schema_of_their_version(path: Path) -> None:
    log = log_of(
        path,
        line(1, "sent", request(1, "initialize", protocolVersion=3, info={})),
        line(2, "received", answer(1, {"protocolVersion": 3, "info": 5})),
        line(3, "received", update("anything")),
        line(4, "sent", request(2, "initialize", protocolVersion=1)),
        line(5, "received", answer(2, {"protocolVersion": 1, "agentInfo": 5})),
        line(6, "received", update("anything")),
        line(7, "received", {"jsonrpc": "2.0", "result": {"protocolVersion": 2}, "id": 9}),
    )
    assert [bool(log.deviations(number)) for number in range(7)] == [False] * 3 + [False, True, True, False]
