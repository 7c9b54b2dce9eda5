"""`acp-tui sessions`: list, show, path and prune."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.cli import main
from acp_tui.config.paths import paths
from acp_tui.console import cells, format_size, truncate
from acp_tui.store.drafts_and_history import Drafts
from acp_tui.store.session_folder import SessionFolder, create_session_folder, reopen_session_folder
from acp_tui.store.stored_sessions import list_sessions, read_session

if TYPE_CHECKING:
    from pathlib import Path

NOON = datetime(2025, 3, 4, 12, 0, tzinfo=UTC).timestamp()


def frame(method: str, params: Any, number: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def record(
    agent: str = "claude-code", at: float = NOON, prompt: str = "Say hello", **meta: Any
) -> SessionFolder:
    """Record a session with one turn."""
    folder = create_session_folder(
        paths().data, agent=agent, title=agent.title(), cwd="/home/me/shop", command=["x"], clock=lambda: at
    )
    answer = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Hello \x1b[2J!"}}
    blocks = [{"type": "text", "text": prompt}]
    conversation: list[tuple[Any, Any]] = [
        ("sent", frame("initialize", {"protocolVersion": 1}, 0)),
        ("received", {"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": 1}}),
        ("sent", frame("session/new", {"cwd": "/home/me/shop", "mcpServers": []}, 1)),
        ("received", {"jsonrpc": "2.0", "id": 1, "result": {"sessionId": "s"}}),
        ("sent", frame("session/prompt", {"sessionId": "s", "prompt": blocks}, 2)),
        (
            "received",
            {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": answer}},
        ),
        ("received", {"jsonrpc": "2.0", "id": 2, "result": {"stopReason": "end_turn"}}),
    ]
    for step, (direction, message) in enumerate(conversation):
        folder.log.append(at + step, direction, message)
    if meta:
        folder.update_meta(**meta)
    folder.close()
    return folder


def test_the_list_without_sessions_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sessions"]) == 0
    assert capsys.readouterr().out == "No recorded sessions.\n"


def test_the_list_has_one_line_per_session_last_used_first(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    old = record(at=NOON)
    new = record(agent="demo", at=NOON + 86400 * 10, title="Greet\x1b[31m the world")

    assert main(["sessions", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["ID", "AGENT", "PROJECT", "WHEN", "SIZE", "TITLE"]
    assert lines[1].split()[:4] == [new.id, "Demo", "shop", "2025-03-14"]
    assert lines[1].endswith("Greet␛[31m the world")
    assert lines[2].split()[0] == old.id
    assert lines[2].endswith("Say hello")  # without a title: the first prompt


def test_the_list_fits_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    record(prompt="漢字 and a long prompt that will never fit on one line of this narrow terminal\nmore")

    main(["sessions"])
    for line in capsys.readouterr().out.splitlines():
        assert cells(line) <= 80
    assert "…" in line


def test_a_session_from_today_shows_the_time(capsys: pytest.CaptureFixture[str]) -> None:
    now = time.time()
    record(at=now)

    main(["sessions"])
    moment = datetime.fromtimestamp(now, UTC).astimezone()
    assert f"{moment:%H:%M}" in capsys.readouterr().out.splitlines()[1]


def test_damaged_sessions_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    folder = record()
    (folder.path / "meta.json").write_text('{"agent": 3, "updated": 1e300, "cwd": []}')
    (folder.path.parent / "empty").mkdir()

    assert main(["sessions"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert main(["sessions", "show", "empty"]) == 0


def test_show_prints_the_project_of_a_session_in_a_worktree(capsys: pytest.CaptureFixture[str]) -> None:
    worktree = {"repository": "/home/me/code", "subfolder": "shop", "path": "/home/me/shop"}
    assert main(["sessions", "show", record(worktree=worktree).id]) == 0
    facts = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["Project", "/home/me/code/shop"] in facts
    assert ["Worktree", "/home/me/shop"] in facts


def test_show_prints_details_and_conversation(capsys: pytest.CaptureFixture[str]) -> None:
    folder = record(title="Greeting", session_id="abc", stop="end_turn", directories=["/home/me/lib"])

    assert main(["sessions", "show", folder.id]) == 0
    out = capsys.readouterr().out
    facts, _, conversation = out.partition("\n\n")
    for fact in (
        folder.id,
        "Claude-Code",
        "/home/me/shop",
        "/home/me/lib",
        "Greeting",
        "abc",
        str(folder.path),
    ):
        assert fact in facts
    assert conversation.split("\n\n")[:2] == ["> Say hello", "Hello ␛[2J!"]


def test_path_accepts_a_prefix_of_an_id(capsys: pytest.CaptureFixture[str]) -> None:
    folder = record()

    assert main(["sessions", "path", "20250304"]) == 0
    assert capsys.readouterr().out == f"{folder.path}\n"


def test_an_unknown_session_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    record()

    assert main(["sessions", "show", "20250305"]) == 1
    error = capsys.readouterr().err
    assert error.startswith('acp-tui: There is no session "20250305".')
    assert error.endswith("`acp-tui sessions` lists all sessions.\n")
    assert error.count("\n") == 1


def test_prune_removes_the_oldest_sessions(capsys: pytest.CaptureFixture[str]) -> None:
    old, new = record(at=NOON), record(at=NOON + 60)

    assert main(["sessions", "prune", "--keep", "1", "--yes"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(old.id)
    assert "Removed 1 session," in out
    assert [session.id for session in list_sessions(paths().data)] == [new.id]

    assert main(["sessions", "prune", "--max-size", "1 MB"]) == 0
    assert "Nothing to remove" in capsys.readouterr().out


def test_prune_uses_the_limits_of_the_settings(capsys: pytest.CaptureFixture[str]) -> None:
    for at in range(3):
        record(at=NOON + at)
    paths().config.mkdir(parents=True)
    (paths().config / "config.toml").write_text("[log]\nkeep_sessions = 2\n")

    assert main(["sessions", "prune", "--yes"]) == 0
    assert len(list_sessions(paths().data)) == 2


def test_prune_keeps_a_session_in_use(capsys: pytest.CaptureFixture[str]) -> None:
    folder = record()
    held = reopen_session_folder(read_session(folder.path))

    assert main(["sessions", "prune", "--keep", "0", "--yes"]) == 0
    assert "1 session kept" in capsys.readouterr().out
    assert folder.path.exists()
    held.close()


def test_prune_keeps_a_session_with_a_draft_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    drafted, other = record(at=NOON), record(at=NOON + 60)
    Drafts(paths().state).save(drafted.id, "half a thought")

    assert main(["sessions", "prune", "--keep", "0", "--yes"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("1 session kept because of a worktree, a draft, queued prompts or review comments.")
    assert "Removed 1 session," in out
    assert (drafted.path.exists(), other.path.exists()) == (True, False)


def test_prune_without_a_terminal_removes_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = record()
    with open(os.devnull) as nobody:
        monkeypatch.setattr(sys, "stdin", nobody)
        assert main(["sessions", "prune", "--keep", "0"]) == 2
    assert "--yes" in capsys.readouterr().err
    assert folder.path.exists()


@pytest.mark.parametrize(("answer", "stays"), [(b"\n", True), (b"y\n", False)])
def test_prune_asks_on_a_terminal(home: Path, answer: bytes, stays: bool) -> None:
    folder = record()
    terminal, theirs = pty.openpty()
    os.write(terminal, answer)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "acp_tui", "sessions", "prune", "--keep", "0"],
            stdin=theirs,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        os.close(terminal)
        os.close(theirs)

    assert "Remove 1 session permanently?" in done.stdout
    assert folder.path.exists() is stays
    assert done.returncode == (1 if stays else 0)


@pytest.mark.parametrize("words", [["--keep", "many"], ["--max-size", "large"]])
def test_prune_rejects_invalid_limits(words: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["sessions", "prune", *words])
    assert ended.value.code == 2


@pytest.mark.parametrize("words", [["show"], ["path"]])
def test_a_closed_pipe_is_not_an_error(home: Path, words: list[str]) -> None:
    folder = record(prompt="word " * 100_000)
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "acp_tui", "sessions", *words, folder.id],
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writer)

    assert done.returncode == 128 + signal.SIGPIPE
    assert done.stderr == b""


def test_characters_that_the_encoding_lacks_are_replaced(home: Path) -> None:
    folder = record(prompt="漢")
    done = subprocess.run(
        [sys.executable, "-m", "acp_tui", "sessions", "show", folder.id],
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "> ?" in done.stdout


def test_sdk_and_textual_are_not_imported(home: Path) -> None:
    folder = record()
    code = (
        "import json, sys; from acp_tui.cli import main; [main(words) for words in json.loads(sys.argv[1])];"
        "print({'acp', 'textual', 'rich', 'pydantic'} & set(sys.modules), file=sys.stderr)"
    )
    commands = json.dumps([["sessions"], ["sessions", "show", folder.id], ["replay", folder.id, "--text"]])
    done = subprocess.run([sys.executable, "-c", code, commands], capture_output=True, text=True, check=True)
    assert done.stderr == "set()\n"


def test_sizes_and_titles_are_shortened() -> None:
    assert [format_size(count) for count in (0, 999, 1000, 2_500_000, 3e9)] == [
        "0 B",
        "999 B",
        "1 kB",
        "2 MB",
        "3.0 GB",
    ]
    assert truncate("a\n b", 9) == "a b"
    assert truncate("漢字漢字", 5) == "漢字…"


def test_secrets_in_titles_are_masked_in_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    record(prompt="use ghp_16C7e42F292c6912E7710c838347Ae178B4a")

    main(["sessions"])
    assert "ghp_" not in capsys.readouterr().out


def test_search_prints_matching_lines_below_their_sessions(capsys: pytest.CaptureFixture[str]) -> None:
    old, new = record(prompt="Say hello\nto the walrus"), record(prompt="Feed the walrus", at=NOON + 9)
    assert main(["sessions", "search", "walr", "the"]) == 0
    first, hit, second, other = capsys.readouterr().out.splitlines()
    assert first == f"{new.id}  2025-03-04  Feed the walrus"
    assert (hit, other) == ("  Feed the walrus", "  to the walrus")
    assert second.startswith(old.id)

    assert main(["sessions", "search", "--json", "walrus"]) == 0
    best, _ = json.loads(capsys.readouterr().out)["hits"]
    assert (best["session"], best["entry"], best["matches"]) == (new.id, 0, [[9, 15]])

    assert main(["sessions", "search", "unheard"]) == 1
    assert capsys.readouterr().err == "acp-tui: No matches.\n"


def test_the_sessions_of_the_current_folder_can_be_listed_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    record(agent="elsewhere")
    here = record(agent="here", cwd=str(tmp_path), title="Mine")
    monkeypatch.chdir(tmp_path)
    assert main(["sessions", "list", "--here", "--json"]) == 0
    [listed] = json.loads(capsys.readouterr().out)["sessions"]
    assert (listed["id"], listed["title"], listed["folder"]) == (here.id, "Mine", str(tmp_path))
    assert main(["sessions", "list", "--here"]) == 0
    assert "elsewhere" not in capsys.readouterr().out.lower()


@pytest.mark.parametrize("words", [["-hello"], ["--", "-hello"], ["--json", "-x"], ["--help-me"]])
def test_a_search_may_begin_with_a_dash(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    record(prompt="the option -hello, -x or --help-me")
    assert main(["sessions", "search", *words]) == 0
    assert "the option" in capsys.readouterr().out
