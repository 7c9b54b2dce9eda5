"""`acp-tui wire`: prints the messages of sessions and recordings, also while they are written."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from acp_tui.cli import main
from acp_tui.config.paths import paths
from acp_tui.store.session_folder import SessionFolder, create_session_folder
from acp_tui.wire import frame_log
from tests.support.cli import PROGRAM, environment
from tests.support.terminal import PreloadedTerminal
from tests.support.waiting import wait_until
from tests.support.wire_lines import answer, line, request, update, write_log

if TYPE_CHECKING:
    from collections.abc import Iterator

AT = 1_800_000_000.0


@pytest.fixture
def folder() -> Iterator[SessionFolder]:
    recorded = create_session_folder(
        paths().data, agent="demo", title="Demo", cwd="/p", command=["demo"], clock=lambda: AT + 0.25
    )
    recorded.stderr_sink("warming up\n")
    recorded.log.append(AT, "sent", request(0, "session/new", cwd="/p"))
    recorded.log.append(AT + 0.5, "received", answer(0, {"sessionId": "abc-123456789"}))
    recorded.log.append(AT + 0.75, "received", update(session="abc-123456789", text="\x1b[31m é"))
    yield recorded
    recorded.close()


LINES = """\
    0.000 out    request      session/new                        #0               69 B          {"cwd": "/p"}
    0.250 stderr stderr                                                           10 B          warming up
    0.500 in     answer       session/new                        #0     0.500 s   63 B …3456789 {"sessionId": "abc-123456789"}
    0.750 in     notification session/update agent_message_chunk                 154 B …3456789 {"text": "\\u001b[31m é"}
"""  # noqa: E501


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["wire", *words]) == 0
    return capsys.readouterr().out


def test_a_line_is_printed_for_each_message(
    folder: SessionFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    for log in (folder.id, str(folder.path), str(folder.path / "wire.jsonl")):
        assert printed(capsys, log) == LINES


def test_a_filter_chooses_messages(folder: SessionFolder, capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, folder.id, "--filter", "method:session/new") == "".join(
        LINES.splitlines(True)[::2]
    )


@pytest.mark.parametrize("words", [["--filter", "metod:x"], ["--text", "--json"]])
def test_wrong_usage_has_exit_code_2(words: list[str], folder: SessionFolder) -> None:
    done = subprocess.run(
        [PROGRAM, "wire", folder.id, *words], env=environment(), capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


def test_json_can_be_read_as_a_recording(folder: SessionFolder, capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, folder.id, "--json")
    assert [json.loads(each)["dir"] for each in text.splitlines()] == [
        "sent",
        "stderr",
        "received",
        "received",
    ]
    copy = write_log(folder.path / "copy.jsonl", [text.encode()])
    assert printed(capsys, str(copy)) == LINES
    assert printed(capsys, str(copy), "--json") == text


def test_damaged_lines_and_messages_over_several_lines_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [
        b'{"t": 1, "dir": "a2c", "msg": {"method":\r"x"}}\n',
        b"\x1b[2J damaged\n",
        line(2, "received", "a\nb"),
    ]
    log = str(write_log(tmp_path / "log.jsonl", lines))
    as_json = printed(capsys, log, "--json")
    assert [json.loads(each) for each in as_json.splitlines()] == [
        {"t": 1.0, "dir": "received", "frame": {"method": "x"}},
        {"t": None, "dir": "damaged", "text": "\x1b[2J damaged"},
        {"t": 2.0, "dir": "received", "frame": "a\nb"},
    ]
    text = printed(capsys, log)
    assert text.count("\n") == 3
    assert "\x1b" not in text + as_json


def test_a_long_log_is_printed_from_its_beginning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frame_log, "MAX_WHOLE_BYTES", 500)
    monkeypatch.setattr(frame_log, "STEP_BYTES", 500)
    log = write_log(tmp_path / "log.jsonl", (line(at, "received", update(n=at)) for at in range(100)))
    text = printed(capsys, str(log))
    assert [f'{{"n": {at}}}' in each for at, each in enumerate(text.splitlines())] == [True] * 100


def test_on_a_terminal_the_screen_is_opened(folder: SessionFolder, tmp_path: Path) -> None:
    with PreloadedTerminal("wire", folder.id, "--filter", "type:answer,stderr", cwd=tmp_path) as terminal:
        terminal.wait_for("session/new answer #0")
        assert terminal.quit() == 0


def test_following_goes_on_until_it_is_stopped(folder: SessionFolder, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with out.open("wb") as file:
        process = subprocess.Popen([PROGRAM, "wire", folder.id, "--follow"], env=environment(), stdout=file)
    try:
        wait_until(lambda: out.read_text() == LINES)
        folder.stderr_sink("late\n")
        wait_until(lambda: out.read_text().count("\n") == 5)
        folder.log.append(AT + 9, "received", update("plan"))
        wait_until(lambda: out.read_text().count("\n") == 6)
        assert out.read_text().startswith(LINES)
        assert "late" in out.read_text().splitlines()[4]
        write_log(folder.path / "wire.jsonl", [line(AT, "sent", request(5, "again"))])
        wait_until(lambda: "again" in out.read_text())
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130


def test_following_ends_when_the_reader_is_gone(folder: SessionFolder) -> None:
    process = subprocess.Popen([PROGRAM, "wire", folder.id, "-f"], env=environment(), stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    wait_until(
        lambda: process.poll() is not None, between=lambda: folder.log.append(AT, "received", update())
    )
    assert process.returncode == 141
