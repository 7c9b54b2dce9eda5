"""`exec --worktree`: the agent works in a git worktree, and a resumed session goes back to it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from acp_tui.cli.project_trust import ProjectTrust
from acp_tui.config.mcp_sources import read_project_servers
from acp_tui.config.paths import paths
from acp_tui.store.folder_trust import FolderTrust, ServerConsent
from acp_tui.store.stored_sessions import list_sessions
from tests.support.cli import answers, execute, execute_json, script, steps
from tests.workspace.projects import fill, repository


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return repository(tmp_path / "shop", {"src/a.txt": "a\n"})


def test_a_session_stays_in_its_worktree(project: Path) -> None:
    asked = steps(["report_params", "session/new"])
    fill(project, {"later.txt": ""})
    agent = script(capabilities={"loadSession": True})
    first = execute(asked, "--worktree-name", "topic", command=agent, cwd=project / "src")
    worktree = json.loads(first.out)["cwd"]
    assert worktree.startswith(str(paths().data / "worktrees"))
    assert worktree.endswith("/topic/src")
    assert first.err.splitlines()[:2] == [
        f"acp-tui: The agent works in a worktree on the branch topic: {worktree.removesuffix('/src')}",
        "acp-tui: Not in the worktree: untracked files (later.txt).",
    ]
    [stored] = list_sessions(paths().data)
    assert (stored.text("cwd"), stored.project_folder) == (worktree, str(project / "src"))
    asked = steps(["report_params", "session/load"])
    again = execute(asked, "--resume", stored.id, command=agent, cwd=project)
    assert again.code == 0, again.err
    assert json.loads(again.out)["cwd"] == worktree


def test_files_of_the_worktree_are_edited_like_those_of_a_project(project: Path) -> None:
    worktree = execute(steps(["report_params", "session/new"]), "--worktree-name", "topic", cwd=project)
    folder = json.loads(worktree.out)["cwd"]
    write = ["ask", "fs/write_text_file", {"path": f"{folder}/new.txt", "content": "x"}]
    edit = steps(["ask", "fs/write_text_file", {"path": f"{project}/new.txt", "content": "x"}], write)
    run = execute_json(edit, "--policy", "accept-edits", cwd=Path(folder))
    assert ["code" in answer for answer in answers(run)] == [True, False]
    assert not (project / "new.txt").exists()


def test_a_worktree_that_cannot_be_made_is_explained_in_one_sentence(tmp_path: Path) -> None:
    run = execute(steps(), "--worktree", cwd=tmp_path)
    assert run.err == f"acp-tui: {tmp_path} is not in a git repository, which a worktree needs.\n"
    assert run.code == 1


def test_answers_about_the_checkout_are_valid_in_the_worktree(project: Path, tmp_path: Path) -> None:
    servers = {"mcpServers": {"one": {"command": "/bin/sh"}}}
    worktree = fill(tmp_path / "worktree", {".mcp.json": json.dumps(servers)})
    store = FolderTrust(paths().state)
    store.trust(project, trusted=True)
    [server] = read_project_servers(worktree).servers
    store.decide_server(project, "one", ServerConsent(server.digest(), allowed=True))
    trust = ProjectTrust(worktree, None, [], trusted_as=project)
    assert [*trust.questions()] == []
    assert [server.name for server in trust.servers] == ["one"]
    fill(worktree, {".mcp.json": json.dumps({"mcpServers": {"one": {"command": "/bin/ls"}}})})
    [question] = ProjectTrust(worktree, None, [], trusted_as=project).questions()
    assert question.title == 'Use the MCP server "one"?'
