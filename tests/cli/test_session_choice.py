"""The session that `--continue` reopens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from acp_tui.cli import main
from acp_tui.cli.recordings import latest_session
from acp_tui.config.paths import paths
from acp_tui.errors import UserError
from acp_tui.protocol.client_records import to_record
from acp_tui.session.events import Queued
from acp_tui.store.drafts_and_history import Drafts
from acp_tui.store.session_folder import SessionFolder, create_session_folder
from acp_tui.store.stored_sessions import read_session
from tests.cli.test_sessions_command import record
from tests.support.cli import execute_json, run, script
from tests.support.conversation_ui import app_of
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path


def without_prompt(folder: Path) -> SessionFolder:
    """Record a session that has no prompt yet, and leave it open."""
    return create_session_folder(paths().data, agent="x", title="X", cwd=str(folder), command=["x"])


def test_the_latest_session_of_the_folder_is_chosen(tmp_path: Path) -> None:
    old = record(agent="one", at=1000.0, cwd=str(tmp_path))
    new = record(agent="two", at=2000.0, cwd=str(tmp_path))
    record(agent="one", at=3000.0)
    assert latest_session(tmp_path, None, None) == new.id
    assert latest_session(tmp_path, "one", None) == old.id
    with pytest.raises(UserError, match="No session of three with a prompt has been recorded in"):
        latest_session(tmp_path, "three", None)


def test_a_session_open_elsewhere_is_passed_over(tmp_path: Path) -> None:
    session = record(cwd=str(tmp_path))
    other = without_prompt(tmp_path)
    Drafts(paths().state).save(other.id, "half a thought")
    assert latest_session(tmp_path, None, None) == session.id
    with pytest.raises(UserError, match=f"{other.id} is open in another acp-tui"):
        latest_session(tmp_path, "x", None)
    other.close()


def test_a_session_without_a_prompt_is_chosen_only_for_its_draft_or_queue(tmp_path: Path) -> None:
    session = without_prompt(tmp_path)
    session.close()
    with pytest.raises(UserError, match="No session with a prompt has been recorded in"):
        latest_session(tmp_path, None, None)
    Drafts(paths().state).save(session.id, "half a thought")
    assert latest_session(tmp_path, None, None) == session.id
    queued = without_prompt(tmp_path)
    queued.log.append(1.0, "client", to_record(Queued("queued-1", "hello")))
    queued.update_meta()
    queued.close()
    assert latest_session(tmp_path, None, None) == queued.id
    assert not read_session(queued.path).in_use()


def test_exec_continues_the_latest_session_of_a_command(tmp_path: Path) -> None:
    command = script(capabilities={"sessionCapabilities": {"resume": {}}})
    first = execute_json("hello", command=command, cwd=tmp_path)
    execute_json("hello", command=script(), cwd=tmp_path)
    done = run("exec", "--command", command, "--continue", "again", "--output", "json", cwd=tmp_path)
    assert done.result["log"] == first["log"]


def test_only_one_option_chooses_the_session(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["--continue", "--resume", "x"])
    assert "--resume: not allowed with argument --continue" in capsys.readouterr().err


def test_no_agent_can_be_named_with_pick() -> None:
    with pytest.raises(UserError, match="--pick lists the sessions of all agents"):
        app_of("demo", "--pick")


async def test_pick_lists_only_the_sessions_of_the_folder(tmp_path: Path) -> None:
    record(cwd=str(tmp_path), title="Mine", session_id="s")
    record(title="Elsewhere", session_id="t")
    app = app_of("--pick", "--cwd", str(tmp_path))

    def shown() -> str:
        return "\n".join(strip.text for strip in app.screen._compositor.render_strips())

    async with app.run_test() as pilot:
        await until(lambda: "Mine" in shown(), between=pilot.pause)
        assert "Elsewhere" not in shown()
        assert "Agents" not in shown()
