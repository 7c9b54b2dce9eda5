"""Session folders: naming, lookup, locking and file modes."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from acp_tui.errors import UserError
from acp_tui.store.session_folder import SessionFolder, create_session_folder, reopen_session_folder
from acp_tui.store.stored_sessions import find_session, list_sessions, read_session, sessions_directory
from tests.support.stored_sessions import stderr_text

if TYPE_CHECKING:
    from pathlib import Path

NOON = 1795176000.0  # 2026-11-20 12:00:00 UTC


def create(data_dir: Path, agent: str = "claude-code", at: float = NOON) -> SessionFolder:
    return create_session_folder(
        data_dir, agent=agent, title="Claude Code", cwd="/project", command=["claude"], clock=lambda: at
    )


def test_an_id_has_the_time_and_the_agent_name(tmp_path: Path) -> None:
    assert create(tmp_path).id[:-4] == "20261120-120000-claude-code-"
    assert create(tmp_path, agent="./My Agent (β)/").id[:-4] == "20261120-120000-my-agent-"
    assert create(tmp_path, agent="β").id[:-4] == "20261120-120000-agent-"


def test_ids_of_sessions_created_at_once_are_unique(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        folders = list(pool.map(lambda _: create(tmp_path), range(100)))

    assert len({folder.id for folder in folders}) == 100
    for folder in folders:
        folder.close()


def test_all_files_of_a_session_are_private(tmp_path: Path) -> None:
    folder = create(tmp_path / "data")
    folder.log.append(1, "sent", {})
    folder.stderr_sink("x\n")

    for path in [tmp_path / "data", *(tmp_path / "data").rglob("*")]:
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path


def test_metadata_is_read_back(tmp_path: Path) -> None:
    folder = create(tmp_path)
    folder.update_meta(session_id="abc", title="A title")
    session = find_session(tmp_path, folder.id)

    assert session.meta == folder.meta
    assert session.meta["format"] == 1
    assert (session.meta["agent"], session.meta["session_id"]) == ("claude-code", "abc")
    assert session.text("title") == "A title"
    assert session.updated == NOON


def test_secrets_on_the_command_line_are_masked_in_the_metadata(tmp_path: Path) -> None:
    folder = create_session_folder(
        tmp_path, agent="x", title="X", cwd="/", command=["agent", "--api-key", "hunter2", "--token=abc"]
    )

    written = (folder.path / "meta.json").read_text()
    assert "hunter2" not in written
    assert json.loads(written)["command"][:2] == ["agent", "--api-key"]


def test_sessions_are_listed_last_used_first(tmp_path: Path) -> None:
    first = create(tmp_path, at=NOON)
    second = create(tmp_path, at=NOON + 1)
    times = iter([NOON - 5, NOON - 5, NOON + 9])
    third = create_session_folder(
        tmp_path, agent="x", title="X", cwd="/", command=[], clock=lambda: next(times)
    )
    third.update_meta(stop="end_turn")

    assert [session.id for session in list_sessions(tmp_path)] == [third.id, second.id, first.id]


def test_damaged_session_folders_are_listed(tmp_path: Path) -> None:
    sessions = sessions_directory(tmp_path)
    good = create(tmp_path)
    for name, meta in {
        "broken": b"{",
        "list": b"[]",
        "deep": b"[" * 100_000,
        "odd": b'{"updated": "x"}',
    }.items():
        (sessions / name).mkdir()
        (sessions / name / "meta.json").write_bytes(meta)
    (sessions / "empty").mkdir()
    (sessions / "a file").touch()
    (sessions / "elsewhere").symlink_to(tmp_path)

    found = {session.id: session for session in list_sessions(tmp_path)}
    assert set(found) == {good.id, "broken", "list", "deep", "odd", "empty"}
    assert found["broken"].meta == {}
    assert list(found["empty"].records()) == []
    assert found["odd"].updated > 0


def test_a_missing_directory_has_no_sessions(tmp_path: Path) -> None:
    assert list_sessions(tmp_path / "nowhere") == []


def test_a_session_is_found_by_id_prefix_or_path(tmp_path: Path) -> None:
    one = create(tmp_path, at=NOON)
    two = create(tmp_path, at=NOON + 3600)

    assert find_session(tmp_path, two.id).path == two.path
    assert find_session(tmp_path, "20261120-13").path == two.path
    assert find_session(tmp_path, str(one.path)).path == one.path
    with pytest.raises(UserError, match="several sessions"):
        find_session(tmp_path, "2026")
    for unusable in ("~nobody-here", "x" * 300):
        with pytest.raises(UserError, match="There is no session"):
            find_session(tmp_path, unusable)


def test_an_unknown_id_suggests_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="none has been recorded"):
        find_session(tmp_path, "x")
    folder = create(tmp_path)
    with pytest.raises(UserError, match=f"Did you mean {folder.id}"):
        find_session(tmp_path, folder.id.replace("claude", "claud"))
    with pytest.raises(UserError, match="no session"):
        find_session(tmp_path, "")


HOLD_LOCK = """
import pathlib, sys
from acp_tui.store.session_folder import reopen_session_folder
from acp_tui.store.stored_sessions import read_session
folder = reopen_session_folder(read_session(pathlib.Path(sys.argv[1])))
print("open", flush=True)
sys.stdin.read()
"""


def test_a_session_open_in_another_process_cannot_be_reopened(tmp_path: Path) -> None:
    folder = create(tmp_path)
    folder.close()
    session = read_session(folder.path)
    with subprocess.Popen(
        [sys.executable, "-c", HOLD_LOCK, str(folder.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"open\n"
        with pytest.raises(UserError, match="open in another acp-tui"):
            reopen_session_folder(session)
        holder.kill()  # a dead process holds no lock
    reopen_session_folder(session).close()


def test_a_reopened_session_appends_to_its_log(tmp_path: Path) -> None:
    folder = create(tmp_path)
    folder.log.append(1, "sent", "a")
    folder.close()
    reopened = reopen_session_folder(find_session(tmp_path, folder.id), clock=lambda: NOON + 5)
    reopened.log.append(2, "sent", "b")
    reopened.update_meta(stop="cancelled")
    reopened.close()

    session = find_session(tmp_path, folder.id)
    assert [record.frame for record in session.records()] == ["a", "b"]
    assert session.meta == folder.meta | {"stop": "cancelled", "updated": NOON + 5}


def test_a_session_of_a_newer_version_cannot_be_reopened(tmp_path: Path) -> None:
    folder = create(tmp_path)
    folder.update_meta(format=2)
    folder.close()

    with pytest.raises(UserError, match="newer acp-tui"):
        reopen_session_folder(find_session(tmp_path, folder.id))


def test_an_error_says_why_no_folder_can_be_created(tmp_path: Path) -> None:
    (tmp_path / "sessions").touch()

    with pytest.raises(UserError, match=r"cannot be recorded: .*sessions"):
        create(tmp_path)


def test_stderr_is_shortened_in_the_middle_and_redacted(tmp_path: Path) -> None:
    folder = create(tmp_path)
    folder.stderr_sink(b"first line, password=hun")
    folder.stderr_sink(b"ter2\nhalf a character \xc3")
    folder.stderr_sink(b"\xa9\n")
    for number in range(300):
        folder.stderr_sink(f"line {number} {'x' * 10_000}\n")
    folder.stderr_sink("last words")
    folder.close()

    text = stderr_text(folder.path)
    assert text.startswith("first line, password=[redacted]\nhalf a character é\nline 0 x")
    assert "bytes omitted" in text
    assert text.endswith("last words")
    assert len(text) < 2_200_000
