"""The table of a comparison, the agents' tabs behind it, and how the work of one agent is kept."""

from __future__ import annotations

import argparse
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.cli.commands import compare
from acp_tui.ui.dialogs.detail import OutputScreen
from acp_tui.ui.screens.review.review_screen import ReviewScreen
from acp_tui.ui.tabs.comparison import ComparisonScreen
from tests.support.conversation_ui import ConversationUi, agent, mark_processes, own_agent
from tests.workspace.projects import git, repository

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path
    from typing import Protocol

    class OpenComparison(Protocol):
        """Opens a comparison of agents, each defined by its steps for the prompt "go"."""

        def __call__(
            self, *options: str, **agents: list[list[Any]]
        ) -> AbstractAsyncContextManager[ConversationUi]: ...


ASK = {"title": "Run it", "kind": "execute", "rawInput": {"command": "make"}}
USAGE = {
    "sessionUpdate": "usage_update",
    "used": 1200,
    "size": 32000,
    "cost": {"amount": 0.5, "currency": "USD"},
}
USER = {
    **{f"GIT_{role}_NAME": "Ada" for role in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{role}_EMAIL": "ada@example.org" for role in ("AUTHOR", "COMMITTER")},
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return repository(tmp_path / "shop", {"a.txt": "a\n"})


@pytest.fixture
def open_comparison(project: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenComparison]:
    left_behind = mark_processes(monkeypatch)
    for name, value in USER.items():
        monkeypatch.setenv(name, value)

    @asynccontextmanager
    async def opened(*options: str, **agents: list[list[Any]]) -> AsyncIterator[ConversationUi]:
        for name, turn in agents.items():
            own_agent(home, "", "script", json.dumps({"turns": {"go": turn}}), name=name)
        parser = argparse.ArgumentParser()
        compare.configure(parser)
        args = parser.parse_args([*agents, "go", "--cwd", str(project), *options])
        args.command_line = []
        app = compare.app_for(args)
        async with app.run_test(size=(100, 30), notifications=True) as pilot:
            yield ConversationUi(app, pilot)

    yield opened
    assert left_behind() == []


def cells(ui: ConversationUi, name: str) -> list[str]:
    """Return the words in the row of the agent `name`."""
    lines = [line.replace("❯", " ").split() for line in ui.lines()]
    return next((words for words in lines if words[:1] == [name]), [])


async def is_shown(ui: ConversationUi, name: str, *words: str) -> None:
    """Wait until the row of the agent `name` contains these words."""
    await ui.until(lambda: {*words} <= {*cells(ui, name)})


def worktrees(project: Path) -> int:
    return git(project, "worktree", "list").count("\n") - 1


async def test_the_table_shows_the_work_of_all_agents(open_comparison: OpenComparison) -> None:
    ada: list[list[Any]] = [["update", USAGE], ["write_file", "one.txt", "x"], ["say", "finished"]]
    async with open_comparison("--check", "echo seen; test -f one.txt", ada=ada, bob=[]) as ui:
        await ui.sees("ada: go", "bob: go", "all have ended")
        assert isinstance(ui.app.screen, ComparisonScreen)
        await is_shown(ui, "ada", "done")
        await ui.until(lambda: cells(ui, "ada")[-1] == "0" and cells(ui, "bob")[-1] == "1")
        assert cells(ui, "ada")[1:] == ["done", "0:00", "1k", "$0.50", "0", "0", "1", "0"]
        assert cells(ui, "bob")[1:] == ["done", "0:00", "–", "–", "0", "0", "0", "1"]
        await ui.sees("answer    finished", "exit code 0", "seen")


async def test_enter_goes_to_the_question_or_the_check(open_comparison: OpenComparison) -> None:
    async with open_comparison("--check", "echo =$((40 + 2))=", ada=[["permission", ASK]], bob=[]) as ui:
        await is_shown(ui, "ada", "asks", "you")
        assert ui.toasts() == []
        await ui.press("enter")
        await ui.asked()
        await ui.press("a")
        await ui.sees("=42=", "idle")
        await ui.press("alt+1")
        await is_shown(ui, "ada", "done")
        await ui.press("c")
        await ui.until(lambda: isinstance(ui.app.screen, OutputScreen))
        await ui.sees("echo =$((40 + 2))=", "=42=")
        await ui.press("escape", "down", "f2")
        await ui.until(lambda: isinstance(ui.app.screen, ReviewScreen))


async def test_one_is_merged_and_the_rest_discarded(open_comparison: OpenComparison, project: Path) -> None:
    async with open_comparison(
        ada=[["write_file", "one.txt", "x"]], bob=[["write_file", "two.txt", "x"]], eve=[]
    ) as ui:
        await ui.sees("all have ended")
        await ui.press("y")
        await ui.sees("Keep ada and discard the rest?", "bob: 1 file", "two.txt", "eve: nothing has changed")
        await ui.sees("Enter choose")
        await ui.press("down", "enter")
        await ui.sees("What should happen to the worktree?", "one.txt", "Enter choose")
        await ui.press("down", "enter")
        await ui.sees("Commits 1 file: one.txt")
        await ui.press("enter")
        await is_shown(ui, "ada", "merged")
        for other in ("bob", "eve"):
            await is_shown(ui, other, "discarded")
        assert len(ui.app.tabs) == 1
    assert (project / "one.txt").exists()
    assert not (project / "two.txt").exists()
    assert worktrees(project) == 0


async def test_the_kept_conversation_stays_open(open_comparison: OpenComparison, project: Path) -> None:
    turn = [["write_file", "one.txt", "x"]]
    async with open_comparison(ada=turn, bob=turn) as ui:
        await ui.sees("all have ended")
        await ui.press("down", "y")
        await ui.sees("Keep bob and discard the rest?", "Enter choose")
        await ui.press("down", "enter")
        await ui.sees("❯ Keep the worktree", "Enter choose")
        await ui.press("enter")
        await is_shown(ui, "bob", "kept")
        await is_shown(ui, "ada", "discarded")
        await ui.press("enter")
        await ui.until(lambda: ui.screen.is_in_front and ui.session.phase == "idle")
    assert worktrees(project) == 1


async def test_going_back_discards_nothing(open_comparison: OpenComparison, project: Path) -> None:
    turn = [["write_file", "one.txt", "x"]]
    async with open_comparison(ada=turn, bob=turn) as ui:
        await ui.sees("all have ended")
        await ui.press("y")
        await ui.sees("Keep ada and discard the rest?", "Enter choose")
        await ui.press("enter")
        await ui.until(lambda: "discard the rest" not in ui.text())
        await ui.press("y")
        await ui.sees("Keep ada and discard the rest?", "Enter choose")
        await ui.press("down", "enter")
        await ui.sees("What should happen to the worktree?", "Enter choose")
        await ui.press("escape")
        await ui.until(lambda: "What should happen" not in ui.text())
        assert len(ui.app.tabs) == 3
    assert worktrees(project) == 2


async def test_agents_that_work_are_stopped_first(open_comparison: OpenComparison) -> None:
    async with open_comparison("--check", "true", ada=[["wait_for_cancel"]], bob=[["wait_for_cancel"]]) as ui:
        await ui.sees("2 of 2 working")
        await is_shown(ui, "ada", "working")
        await is_shown(ui, "bob", "working")
        await ui.press("s")
        await is_shown(ui, "ada", "cancelled")
        await ui.press("y")
        await ui.sees("1 agent is still working.")
        await ui.press("down", "enter")
        await ui.sees("Keep ada and discard the rest?", "Enter choose")
        await ui.press("escape")
        await is_shown(ui, "bob", "cancelled", "–")


async def test_ctrl_c_stops_all_and_then_quits(open_comparison: OpenComparison, project: Path) -> None:
    async with open_comparison(ada=[["wait_for_cancel"]], bob=[["wait_for_cancel"]]) as ui:
        await is_shown(ui, "ada", "working")
        await is_shown(ui, "bob", "working")
        await ui.press("ctrl+c")
        await ui.sees("all have ended")
        await ui.press("ctrl+c")
        await ui.until(lambda: ui.app._exit)
    assert worktrees(project) == 0


async def test_an_agent_that_cannot_be_started_has_a_row(
    open_comparison: OpenComparison, project: Path
) -> None:
    async with open_comparison("--command", "/nowhere/missing", ada=[], bob=[["exit", 7]]) as ui:
        await is_shown(ui, "ada", "done")
        await is_shown(ui, "missing", "ended")
        await is_shown(ui, "bob", "ended")
        await ui.press("down")
        await ui.sees("error     The agent exited with code 7")
        await ui.press("down")
        await ui.sees("error", "/nowhere/missing")
        await ui.press("ctrl+q")
        await ui.until(lambda: ui.app._exit)
    assert worktrees(project) == 0


async def test_a_worktree_that_cannot_be_created_is_explained_in_the_row(
    open_comparison: OpenComparison, home: Path
) -> None:
    (home / "data").mkdir(parents=True)
    (home / "data" / "worktrees").write_text("not a folder")
    async with open_comparison(ada=[], bob=[]) as ui:
        await is_shown(ui, "ada", "not", "started")
        await is_shown(ui, "bob", "not", "started")
        await ui.sees("failed    The worktree could not be created")
        await ui.press("enter", "y", "c", "s", "f2")
        await is_shown(ui, "ada", "not", "started")


async def test_the_folder_is_trusted_once_for_all_agents(
    open_comparison: OpenComparison, project: Path
) -> None:
    (project / ".mcp.json").write_text('{"mcpServers": {"one": {"command": "/bin/cat"}}}')
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--message=servers")
    async with open_comparison(ada=[["say", "hello"]], bob=[], eve=[]) as ui:
        await is_shown(ui, "ada", "asks", "you")
        await ui.sees("asks      Trust this folder?")
        await is_shown(ui, "bob", "starting")
        await ui.press("enter")
        for question in ("Trust this folder?", 'Use the MCP server "one"?'):
            await ui.sees(question, "Enter choose")
            await ui.press("down", "enter")
        await ui.sees("hello", "idle")
        await ui.press("alt+1")
        await ui.sees("all have ended")
        await is_shown(ui, "eve", "done")


async def test_text_of_an_agent_is_data(open_comparison: OpenComparison) -> None:
    cost = {"amount": 1, "currency": "\x1b[2J[b]long[/b]"}
    update = {"sessionUpdate": "usage_update", "used": 10**30, "size": 1, "cost": cost}
    title = "[red]\x1b]0;x\x07 run\u202e it"
    turn: list[list[Any]] = [
        ["update", update],
        ["say", "a\x1b[31m[b]b[/b]\r\n" * 9],
        ["permission", ASK | {"title": title}],
    ]
    async with open_comparison(ada=turn, bob=[]) as ui:
        await is_shown(ui, "ada", "asks", "you")
        await ui.sees("[b]b[/b]", "asks", "[red]")
        assert not set("\x1b\x07\u202e") & set(ui.text())


async def test_an_agent_that_needs_a_sign_in_is_marked(open_comparison: OpenComparison) -> None:
    program = agent("signs_in", '[{"id": "ok", "name": "Account"}]')
    async with open_comparison("--command", program, ada=[]) as ui:
        await is_shown(ui, "tests.fake_agents.signs_in", "sign", "in")
        await is_shown(ui, "ada", "done")
        await ui.press("down", "enter")
        await ui.sees("Account")


async def test_the_work_of_all_agents_is_discarded(open_comparison: OpenComparison, project: Path) -> None:
    turn: list[list[Any]] = [["write_file", "one.txt", "x"]]
    async with open_comparison(ada=turn, bob=turn) as ui:
        await ui.sees("all have ended")
        await ui.press("D")
        await ui.sees("Discard the work of all agents?", "ada: 1 file", "bob: 1 file", "Enter choose")
        await ui.press("down", "enter")
        await is_shown(ui, "ada", "discarded")
        await is_shown(ui, "bob", "discarded")
    assert worktrees(project) == 0


async def test_each_turn_is_checked_anew(open_comparison: OpenComparison) -> None:
    check = "test -f two.txt || exec sleep 1000"
    async with open_comparison("--check", check, ada=[["write_file", "one.txt", "x"]], bob=[]) as ui:
        await is_shown(ui, "ada", "checking", "1")
        await ui.press("enter")
        await ui.until(lambda: ui.session.phase == "idle")
        await ui.send(["write_file", "two.txt", "x"])
        await ui.press("alt+1")
        await ui.until(lambda: cells(ui, "ada")[-2:] == ["2", "0"])
        await ui.press("down", "s")
        await is_shown(ui, "bob", "killed")


async def test_nothing_is_discarded_if_the_merge_fails(
    open_comparison: OpenComparison, project: Path
) -> None:
    turn: list[list[Any]] = [["write_file", "a.txt", "by the agent\n"]]
    async with open_comparison(ada=turn, bob=turn) as ui:
        await ui.sees("all have ended")
        (project / "a.txt").write_text("by the user\n")
        git(project, "commit", "--quiet", "--all", "--message=second")
        await ui.press("y")
        await ui.sees("Keep ada and discard the rest?", "Enter choose")
        await ui.press("down", "enter")
        await ui.sees("Merge into main as one commit", "Enter choose")
        await ui.press("down", "enter")
        await ui.sees("Makes one commit of 1 file")
        await ui.press("enter")
        await ui.sees("Nothing was merged", "Enter choose")
        await ui.press("escape")
        await ui.until(lambda: "What should happen" not in ui.text())
        assert len(ui.app.tabs) == 3
    assert worktrees(project) == 2
    assert (project / "a.txt").read_text() == "by the user\n"
