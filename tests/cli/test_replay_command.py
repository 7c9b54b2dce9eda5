"""`acp-tui replay`: finding, reading and printing recordings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.cli import main
from acp_tui.config.paths import paths
from acp_tui.store.session_folder import SessionFolder, create_session_folder

if TYPE_CHECKING:
    from pathlib import Path

PROMPT = {"sessionId": "s", "prompt": [{"type": "text", "text": "Say hello"}]}
ANSWER = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Hello!"}}
THOUGHT = {"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "They greet."}}


def update(**fields: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": fields}}


FRAMES: list[tuple[Any, Any]] = [
    ("sent", {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}),
    ("received", {"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": 1}}),
    ("sent", {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/p", "mcpServers": []}}),
    ("received", {"jsonrpc": "2.0", "id": 1, "result": {"sessionId": "s"}}),
    ("sent", {"jsonrpc": "2.0", "id": 2, "method": "session/prompt", "params": PROMPT}),
    (
        "received",
        update(**THOUGHT),
    ),
    (
        "received",
        update(**ANSWER),
    ),
    ("received", {"jsonrpc": "2.0", "id": 2, "result": {"stopReason": "end_turn"}}),
]
TEXT = "> Say hello\n\n. thought, 1 line\n\nHello!\n\n-- end_turn --\n\n"


@pytest.fixture
def folder() -> SessionFolder:
    recorded = create_session_folder(paths().data, agent="demo", title="Demo", cwd="/p", command=["demo"])
    for at, (direction, frame) in enumerate(FRAMES):
        recorded.log.append(at, direction, frame)
    recorded.close()
    return recorded


def test_a_session_is_found_by_id_folder_or_file(
    folder: SessionFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    for log in (folder.id, folder.id[:-3], str(folder.path), str(folder.path / "wire.jsonl")):
        assert main(["replay", log, "--text"]) == 0
        assert capsys.readouterr().out == TEXT


def test_thoughts_are_shown_on_request(folder: SessionFolder, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", folder.id, "--text", "--thoughts"]) == 0
    assert ". They greet.\n" in capsys.readouterr().out


def test_recordings_of_other_tools_are_supported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = {"sent": "c2a", "received": "a2c"}
    lines = [{"t": 0.5, "dir": names[direction], "n": 1, "msg": frame} for direction, frame in FRAMES]
    lines.insert(3, {"t": 0.5, "dir": "stderr", "text": "noise"})
    file = tmp_path / "other.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))

    assert main(["replay", str(file), "--text"]) == 0
    assert capsys.readouterr().out == TEXT


@pytest.mark.parametrize("foreign", [True, False])
def test_unreadable_lines_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], foreign: bool
) -> None:
    good = {"t": 1, "dir": "a2c", "msg": "x"} if foreign else {"t": 1, "dir": "received", "frame": "x"}
    file = tmp_path / "log.jsonl"
    file.write_text(f"{json.dumps(good)}\nbroken\nagain\n" + '{"torn')

    assert main(["replay", str(file), "--text"]) == 0
    assert f"Line 2 (and 1 more) of {file} could not be read" in capsys.readouterr().err


def test_an_empty_recording_is_an_empty_conversation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "wire.jsonl").touch()

    assert main(["replay", str(tmp_path), "--text"]) == 0
    assert capsys.readouterr().out == ""


def test_a_missing_recording_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for log, sentence in (
        (str(tmp_path), "contains no recorded session"),
        (str(tmp_path / "missing.jsonl"), "does not exist"),
        ("missing", 'no session "missing"'),
    ):
        assert main(["replay", log, "--text"]) == 1
        error = capsys.readouterr().err
        assert sentence in error
        assert error.count("\n") == 1


def test_without_a_terminal_the_text_option_is_suggested(
    folder: SessionFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", folder.id]) == 2
    assert capsys.readouterr().err.endswith("`acp-tui replay --text` works without a terminal.\n")


@pytest.mark.parametrize("speed", ["fast", "-1", "nan"])
def test_a_speed_is_a_number_or_max(speed: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["replay", "any", f"--speed={speed}"])
    assert ended.value.code == 2
    assert f"--speed: expected a number or max, got {speed!r}" in capsys.readouterr().err


@pytest.mark.parametrize("how", [[], ["--text"]])
def test_a_file_that_is_not_a_recording_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, how: list[str]
) -> None:
    monkeypatch.setattr("acp_tui.cli.commands.replay.require_terminal", lambda _: None)
    other = tmp_path / "notes.txt"
    other.write_text("one\ntwo\n", encoding="utf-8")
    assert main(["replay", str(other), *how]) == 1
    assert capsys.readouterr().err == f"acp-tui: {other} is not a session recording.\n"
