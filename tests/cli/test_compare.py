"""`compare --output json`: the same prompt to several agents, each in a worktree of its own."""

from __future__ import annotations

import json
import os
import signal
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.config.paths import paths
from acp_tui.store.stored_sessions import list_sessions
from tests.support.cli import run as run_command
from tests.support.cli import running, steps
from tests.support.conversation_ui import own_agent
from tests.support.leftovers import processes_with
from tests.support.waiting import wait_until
from tests.workspace.projects import git, repository

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.cli import Run

USAGE = {
    "sessionUpdate": "usage_update",
    "used": 1200,
    "size": 32000,
    "cost": {"amount": 0.5, "currency": "USD"},
}
CALL = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Look", "status": "completed"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return repository(tmp_path / "shop", {"src/a.txt": "a\n"})


def define(home: Path, name: str, *turn: list[Any], **offers: Any) -> None:
    """Define an agent that carries out these steps when it gets the prompt "go"."""
    own_agent(home, "", "script", json.dumps({"turns": {"go": turn}, **offers}), name=name)


def compare(*words: str, cwd: Path) -> Run:
    return run_command("compare", *words, "--output", "json", cwd=cwd)


def rows(run: Run) -> dict[str, dict[str, Any]]:
    """Return the rows of the agents by name."""
    return {row["name"]: row for row in run.result["agents"]}


def worktrees(project: Path) -> int:
    """Return the number of worktrees besides the user's checkout."""
    return git(project, "worktree", "list").count("\n") - 1


def test_each_agent_works_in_a_worktree_and_has_a_row(project: Path, home: Path) -> None:
    define(home, "ada", ["update", CALL], ["update", USAGE], ["write_file", "new.txt", "x"], ["say", "done"])
    define(home, "bob", ["permission", {"title": "Run it", "kind": "execute"}])
    run = compare("ada", "bob", "go", "--check", "echo checked; test -f new.txt", cwd=project / "src")
    assert run.code == 0, run.err
    ada, bob = rows(run).values()
    assert (ada["name"], ada["text"], ada["stopReason"]) == ("ada", "done", "end_turn")
    assert (ada["usage"]["used"], ada["usage"]["cost"]["amount"], len(ada["toolCalls"])) == (1200, 0.5, 1)
    assert [os.path.relpath(file["path"], ada["cwd"]) for file in ada["changedFiles"]] == ["new.txt"]
    assert (ada["check"]["exitCode"], ada["check"]["output"]) == (0, "checked")
    assert (bob["check"]["exitCode"], bob["questions"], bob["usage"]["cost"]) == (1, 1, None)
    assert ada["cwd"] == f"{ada['worktree']['path']}/src" != bob["cwd"]
    assert (ada["worktree"]["kept"], bob["worktree"]["kept"]) == (True, False)
    assert not (project / "src" / "new.txt").exists()
    assert worktrees(project) == 1
    assert f"ada: kept the worktree {ada['worktree']['path']}; resume with `acp-tui --resume " in run.err


@pytest.mark.parametrize(("keep", "kept"), [("all", {"ada", "bob"}), ("bob", {"bob"}), ("none", set())])
def test_keep_says_which_worktrees_stay(project: Path, home: Path, keep: str, kept: set[str]) -> None:
    for name in ("ada", "bob"):
        define(home, name, ["write_file", f"{name}.txt", "x"])
    run = compare("ada", "bob", "go", "--keep", keep, cwd=project)
    assert {name for name, row in rows(run).items() if row["worktree"]["kept"]} == kept
    assert worktrees(project) == len(kept)
    branches = git(project, "branch", "--format=%(refname:short)").split()
    assert {name.split("/")[1].split("-")[0] for name in branches if "/" in name} == kept
    finished = {
        session.text("agent") for session in list_sessions(paths().data) if session.is_worktree_finished
    }
    assert finished == {"ada", "bob"} - kept


def test_the_same_agent_can_compete_with_itself(project: Path, home: Path) -> None:
    models = {
        "currentModelId": "small",
        "availableModels": [{"modelId": m, "name": m} for m in ("small", "big")],
    }
    define(home, "ada", ["report_params", "session/set_model"], session={"models": models})
    settings = ("--set", "ada-2:model=big")
    run = compare("ada", "ada", "--command", "true", "go", *settings, cwd=project)
    assert [*rows(run)] == ["ada-1", "ada-2", "true"]
    assert rows(run)["ada-1"]["text"] == "null"
    assert json.loads(rows(run)["ada-2"]["text"])["modelId"] == "big"
    assert run.code == 1
    assert "true exited with code 0" in rows(run)["true"]["error"]["message"]
    assert worktrees(project) == 0


def test_all_words_after_two_dashes_are_the_prompt(project: Path, home: Path) -> None:
    define(home, "ada")
    run = run_command("compare", "ada", "ada", "--output", "json", "--", "fix", "--the", "test", cwd=project)
    assert [row["text"] for row in rows(run).values()] == ["fix --the test"] * 2


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["demo", "hello"], "Name at least two agents, and the prompt last"),
        (["demo", "demmo", "hello"], 'Unknown agent "demmo"; did you mean demo?'),
        (["demo", "demo", "fix", "the", "test"], "Quote the prompt if it has several words."),
        (["--command", "a", "--command", "b", "fix", "it"], "Quote the prompt if it has several words."),
        (["--command", "a", "--command", "b"], "Name at least two agents, and the prompt last"),
        (["--command", "a"] * 3, "Name at least two agents, and the prompt last"),
        (["demo", "demo", " "], "The prompt is empty."),
        (["demo", "demo", "go", "--keep", "demo-3"], "--keep takes one of these: demo-1, demo-2, all, none."),
    ],
)
def test_what_cannot_be_compared_is_refused_in_one_sentence(
    project: Path, words: list[str], sentence: str
) -> None:
    run = compare(*words, cwd=project)
    assert (run.code, run.out) == (2, "")
    assert sentence in run.err
    assert run.err.count("\n") == 1
    assert worktrees(project) == 0


def test_a_folder_without_a_repository_is_refused(tmp_path: Path) -> None:
    run = compare("demo", "demo", "go", cwd=tmp_path)
    assert run.err == f"acp-tui: {tmp_path} is not in a git repository, which a worktree needs.\n"
    assert run.code == 1


def test_without_a_terminal_the_screen_is_refused(project: Path) -> None:
    run = run_command("compare", "demo", "demo", "go", cwd=project)
    assert (run.code, run.out) == (2, "")
    assert "`acp-tui compare --output json` works without a terminal" in run.err


def test_options_for_runs_without_a_screen_are_refused_on_it(project: Path) -> None:
    run = run_command("compare", "demo", "demo", "go", "--keep", "all", cwd=project)
    assert run.err == "acp-tui: --keep needs --output json.\n"


def test_an_agent_that_dies_does_not_disturb_the_others(project: Path, home: Path) -> None:
    define(home, "ada", ["say", "done"])
    define(home, "bob", ["write_file", "half.txt", ""], ["exit", 7])
    run = compare("ada", "bob", "go", "--check", "true", cwd=project)
    assert run.code == 1
    assert rows(run)["ada"]["check"]["exitCode"] == 0
    assert "exited with code 7" in rows(run)["bob"]["error"]["message"]
    assert rows(run)["bob"]["check"] is None
    assert worktrees(project) == 1  # what the agent had written is kept


def test_a_slow_turn_and_a_slow_check_are_ended(project: Path, home: Path) -> None:
    define(home, "ada", ["wait_for_cancel"])
    define(home, "bob", ["say", "done"])
    # Long enough for a turn on a loaded machine.
    run = compare("ada", "bob", "go", "--check", "sleep 1000", "--timeout", "15", cwd=project)
    assert run.code == 1
    assert rows(run)["ada"]["error"]["message"].startswith("Timed out after 15 s.")
    assert rows(run)["bob"]["check"]["signal"] == "SIGTERM"
    assert "error" not in rows(run)["bob"]
    assert worktrees(project) == 0


def wait_for_writers(fifo: Path, count: int) -> None:
    """Wait until so many agents have written a character."""
    with open(
        fifo, "r+b", buffering=0
    ) as pipe:  # open for writing, too: there is no end of file between them
        while count:
            count -= len(pipe.read(count))


def test_ctrl_c_stops_all_agents_and_removes_unchanged_worktrees(project: Path, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    os.mkfifo(ready)
    prompt = steps(["write_file", str(ready), "x"], ["wait_for_cancel"])
    agent = ("--command", "python3 -m tests.fake_agents.script")
    words = ("compare", *agent, *agent, prompt, "--output", "json")
    with running(*words, cwd=project) as (process, _):
        wait_for_writers(ready, 2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert process.returncode == 130
    assert [row["stopReason"] for row in json.loads(out)["agents"]] == ["cancelled", "cancelled"]
    assert "Asked tests.fake_agents.script-2 to stop; it has 5 s." in err.decode()
    assert worktrees(project) == 0


def test_an_agent_that_needs_a_sign_in_says_so(project: Path, home: Path) -> None:
    own_agent(home, "", "signs_in", '[{"id": "ok", "name": "Account"}]', name="closed")
    define(home, "ada", ["say", "done"])
    run = compare("ada", "closed", "go", cwd=project)
    assert run.code == 1
    assert rows(run)["ada"]["text"] == "done"
    assert "--sign-in" in rows(run)["closed"]["error"]["message"]
    assert worktrees(project) == 0


def test_worktrees_of_a_killed_run_belong_to_its_sessions(project: Path, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    os.mkfifo(ready)
    prompt = steps(["write_file", "new.txt", "x"], ["write_file", str(ready), "x"], ["wait_for_cancel"])
    agent = ("--command", "python3 -m tests.fake_agents.script")
    with running("compare", *agent, *agent, prompt, "--output", "json", cwd=project) as (process, mark):
        wait_for_writers(ready, 2)
        process.kill()
        process.wait()
        wait_until(lambda: not processes_with(mark))
    assert [session.has_worktree for session in list_sessions(paths().data)] == [True, True]
