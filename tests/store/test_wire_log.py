"""The wire log: exact frames, damaged files, crashes, full disks and its size limit."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_tui.controller.recorder import Recorder
from acp_tui.session.record import Record
from acp_tui.store.session_folder import (
    NullFolder,
    SessionFolder,
    create_session_folder,
    reopen_session_folder,
)
from acp_tui.store.stored_sessions import list_sessions, read_session
from acp_tui.store.wire_log import NullLog, read_log
from tests.support.stored_sessions import stderr_text
from tests.support.talk import properties

if TYPE_CHECKING:
    from pathlib import Path

CHUNK = (
    '{"jsonrpc":"2.0", "method":"session/update","params":{"sessionId":"s","update":'
    '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"h\\u00e9llo \\ud83d / \\/"}}}}'
)

directions = st.sampled_from(["sent", "received", "client"])
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@pytest.fixture
def folder(tmp_path: Path) -> SessionFolder:
    return create_session_folder(tmp_path, agent="demo", title="Demo", cwd="/p", command=["demo"])


def wire(folder: SessionFolder) -> Path:
    return folder.path / "wire.jsonl"


def records(folder: SessionFolder) -> list[Record]:
    return list(read_log(wire(folder)))


def test_a_frame_is_written_exactly_as_received(folder: SessionFolder) -> None:
    folder.log.append(1.5, "received", json.loads(CHUNK), CHUNK)

    assert wire(folder).read_text() == f'{{"t":1.5,"dir":"received","frame":{CHUNK}}}\n'
    assert records(folder) == [Record(1.5, "received", json.loads(CHUNK))]


def test_client_records_and_lines_that_are_not_json_are_written(
    folder: SessionFolder,
) -> None:
    folder.log.append(1, "client", {"event": "noticed", "text": "é\ud83d"})
    folder.log.append(2, "received", 'Warning: "odd"\r', 'Warning: "odd"\r')

    assert records(folder) == [
        Record(1, "client", {"event": "noticed", "text": "é\ud83d"}),
        Record(2, "received", 'Warning: "odd"\r'),
    ]


@pytest.mark.parametrize("line", ['{"a":\n1}', '  {"a":1}\n', '{"a":1}\r\n'])
def test_a_frame_with_line_breaks_is_written_as_one_line(folder: SessionFolder, line: str) -> None:
    folder.log.append(1, "received", {"a": 1}, line)

    assert wire(folder).read_bytes().count(b"\n") == 1
    assert records(folder) == [Record(1, "received", {"a": 1})]


def test_an_unescaped_surrogate_is_escaped(folder: SessionFolder) -> None:
    folder.log.append(1, "received", {"a": "\udce9"}, '{"a":"\udce9"}')

    assert records(folder) == [Record(1, "received", {"a": "\udce9"})]


@properties
@given(
    frames=st.lists(
        st.tuples(st.floats(0, 2e9), st.sampled_from(["sent", "received", "client"]), json_values)
    ),
    spaced=st.booleans(),
)
def test_any_record_is_read_back_as_written(
    tmp_path_factory: pytest.TempPathFactory, frames: list[tuple[float, Any, Any]], spaced: bool
) -> None:
    directory = tmp_path_factory.mktemp("data")
    folder = create_session_folder(directory, agent="a", title="A", cwd="/", command=[])
    for at, direction, frame in frames:
        folder.log.append(at, direction, frame, json.dumps(frame) if spaced else None)
    folder.close()

    assert records(folder) == [Record(*each) for each in frames]


def test_a_cut_last_line_is_ignored(folder: SessionFolder, tmp_path: Path) -> None:
    folder.log.append(1, "sent", {"first": 1})
    first_size = wire(folder).stat().st_size
    folder.log.append(2, "received", {"second": "é"})
    data = wire(folder).read_bytes()
    damaged: list[int] = []

    for end in range(first_size, len(data) - 1):
        cut = tmp_path / "cut.jsonl"
        cut.write_bytes(data[:end])
        assert [record.at for record in read_log(cut, damaged.append)] == [1]
    assert damaged == []


def test_reopening_after_a_cut_line_starts_a_new_line(folder: SessionFolder) -> None:
    folder.log.append(1, "sent", {"first": 1})
    folder.close()
    with wire(folder).open("ab") as file:
        file.write(b'{"t":2,"dir":"rec')

    reopened = reopen_session_folder(read_session(folder.path))
    reopened.log.append(3, "sent", {"third": 3})
    damaged: list[int] = []

    assert [record.at for record in read_log(wire(folder), damaged.append)] == [1, 3]
    assert damaged == [2]


def test_damaged_lines_are_skipped_and_reported_by_number(tmp_path: Path) -> None:
    log = tmp_path / "wire.jsonl"
    good = b'{"t":1,"dir":"sent","frame":null}\n'
    bad = [
        b"nonsense\n",
        b'{"t":1,"dir":"sideways","frame":1}\n',
        b'{"dir":"sent","frame":1}\n',
        b'{"t":"1","dir":"sent","frame":1}\n',
        b'{"t":1,"dir":"sent"}\n',
        b"[1]\n",
        b"\xff\xfe\n",
        b"[" * 100_000 + b"\n",
    ]
    log.write_bytes(good + b"".join(bad) + b"\n" + b"\0\0\0" + good)
    damaged: list[int] = []

    assert len(list(read_log(log, damaged.append))) == 2
    assert damaged == list(range(2, 2 + len(bad)))


def test_an_empty_log_has_no_records(tmp_path: Path) -> None:
    (tmp_path / "wire.jsonl").touch()

    assert list(read_log(tmp_path / "wire.jsonl")) == []


def test_a_frame_of_20_mb_is_written(folder: SessionFolder) -> None:
    frame = {"text": "x" * 20_000_000}
    folder.log.append(1, "received", frame, json.dumps(frame))

    assert records(folder) == [Record(1, "received", frame)]


APPEND_AND_DIE = """
import os, pathlib, signal, sys
from acp_tui.store.session_folder import create_session_folder
folder = create_session_folder(pathlib.Path(sys.argv[1]), agent="a", title="A", cwd="/", command=[])
for number in range(1000):
    folder.log.append(number, "received", {"n": number})
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_all_records_survive_sigkill(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", APPEND_AND_DIE, str(tmp_path)], check=False)

    (session,) = list_sessions(tmp_path)
    assert [record.frame["n"] for record in session.records()] == list(range(1000))


DISK_FULL = """
import json, pathlib, resource, sys
from acp_tui.store.session_folder import create_session_folder

folder = create_session_folder(pathlib.Path(sys.argv[1]), agent="a", title="A", cwd="/", command=[])
notices = []
folder.on_notice = notices.append
frame = {"text": "x" * 1000}
folder.log.append(0, "received", frame)
_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, hard))
for number in range(1, 10):
    folder.log.append(number, "received", frame)
folder.update_meta(title="x" * 10_000)
stopped = list(notices)
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
folder.log.append(10, "received", frame)
folder.on_notice = lambda sentence: (notices.append(sentence), folder.log.append(10.5, "client", sentence))
folder.log.append(11, "received", frame)
json.dump([stopped, notices], sys.stdout)
"""


def test_a_full_disk_is_reported_once_and_recording_resumes_later(tmp_path: Path) -> None:
    process = subprocess.run(
        [sys.executable, "-c", DISK_FULL, str(tmp_path)], check=True, capture_output=True, text=True
    )
    stopped, notices = json.loads(process.stdout)

    assert len(stopped) == 1
    assert "Recording paused" in stopped[0]
    assert len(notices) == 2
    assert "Recording resumed" in notices[1]
    (session,) = list_sessions(tmp_path)
    assert [record.at for record in session.records()] == [0, 1, 10, 10.5, 11]


def test_a_failure_to_save_metadata_is_reported_once(folder: SessionFolder) -> None:
    notices: list[str] = []
    folder.on_notice = notices.append
    (folder.path / "meta.json").unlink()
    (folder.path / "meta.json").mkdir()
    folder.update_meta(title="a")
    folder.update_meta(title="b")

    assert len(notices) == 1
    assert "Session metadata could not be saved" in notices[0]


def test_a_failure_to_save_metadata_before_anyone_listens_is_reported_later(folder: SessionFolder) -> None:
    (folder.path / "meta.json").unlink()
    (folder.path / "meta.json").mkdir()
    folder.update_meta(title="a")
    notices: list[str] = []
    folder.on_notice = notices.append
    folder.update_meta(title="b")

    assert len(notices) == 1
    assert "Session metadata could not be saved" in notices[0]


def test_a_closed_folder_ignores_writes(folder: SessionFolder) -> None:
    notices: list[str] = []
    folder.on_notice = notices.append
    folder.close()
    folder.log.append(1, "sent", {})
    folder.stderr_sink("late\n")
    folder.close()

    assert records(folder) == []
    assert notices == []


def test_recording_stops_at_the_size_limit_with_a_notice(tmp_path: Path) -> None:
    folder = create_session_folder(
        tmp_path, agent="a", title="A", cwd="/", command=[], clock=lambda: 1.0, max_bytes=100_000
    )
    recording = Recorder(folder, clock=lambda: 1.0)

    for number in range(5):
        recording.observe(Record(1.0, "received", {"number": number, "text": "x" * 30_000}))

    logged = list(read_log(folder.path / "wire.jsonl"))
    assert [record.frame.get("number") for record in logged[:-1]] == [0, 1, 2]
    assert logged[-1].direction == "client"
    assert "Recording stopped" in json.dumps(logged[-1].frame)
    assert sum("Recording stopped" in str(entry) for entry in recording.session.entries) == 1


def test_a_null_folder_keeps_only_metadata_in_memory() -> None:
    folder = NullFolder()
    folder.log.append(1, "sent", {})
    folder.stderr_sink(b"x")
    folder.update_meta(title="kept in memory")
    folder.close()

    assert isinstance(folder.log, NullLog)
    assert folder.meta == {"title": "kept in memory"}


HOSTILE = 'x \x7f \x9b31m \x9d0;t\x9c \u202egnihton\u2066 \u2028 \ufeff \U000e0041 "é 🙂"'


def test_a_printed_log_holds_no_control_characters(folder: SessionFolder) -> None:
    frame = {"text": HOSTILE, HOSTILE: 1}
    folder.log.append(1, "received", frame, json.dumps(frame, ensure_ascii=False))
    folder.log.append(2, "sent", frame)
    folder.log.append(3, "received", frame, json.dumps(frame, indent=1).replace("\n", "\r"))
    folder.log.append(4, "received", f"no JSON {HOSTILE}", f"no JSON {HOSTILE}")

    text = wire(folder).read_text()
    assert [char for char in text if char in "\r\x7f\x9b\x9d\x9c\u202e\u2066\u2028\ufeff\U000e0041"] == []
    assert "é 🙂" in text  # harmless characters stay readable
    assert [record.frame for record in records(folder)] == [frame, frame, frame, f"no JSON {HOSTILE}"]


def test_control_characters_of_stderr_are_replaced(folder: SessionFolder) -> None:
    folder.stderr_sink(b"\x1b]52;c;cHduZWQ=\x07 \xc2\x9b31m \xff\nplain\n")
    folder.close()

    assert stderr_text(folder.path) == "␛]52;c;cHduZWQ=␇ ‹9b›31m \ufffd\nplain"
