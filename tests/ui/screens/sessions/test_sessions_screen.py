"""The sessions screen: filter, search, opening, deleting and exporting."""

from __future__ import annotations

import json
import shlex
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.cli.commands import run
from acp_tui.config.paths import paths
from acp_tui.session_list.search import SessionSearch
from acp_tui.store.stored_sessions import list_sessions
from acp_tui.ui.conversation.conversation_screen import ConversationScreen
from acp_tui.ui.screens.sessions.sessions_screen import SessionsScreen
from acp_tui.ui.widgets.select_list import SelectList
from acp_tui.workspace.git.worktree import WorktreeLock
from acp_tui.workspace.git.worktree_creation import create_worktree
from tests.support.conversation_ui import ConversationUi, agent, offers, open_conversation_ui
from tests.support.stored_sessions import record_session
from tests.support.waiting import until
from tests.workspace.projects import fill, git, repository

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from acp_tui.workspace.git.worktree import Worktree

NOON = 1_741_089_600.0  # on 4 March 2025
LONG_ANSWER = "\n".join(f"- item {number}" for number in range(200)) + "\n- the needle\n" + "- more\n" * 200
AGENT = agent("script", offers(capabilities={"sessionCapabilities": {"resume": {}}}))


@asynccontextmanager
async def open_sessions(folder: Path) -> AsyncIterator[ConversationUi]:
    args = run.default_arguments()
    args.cwd = str(folder)
    app = run.sessions_app(args)
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        yield ConversationUi(app, pilot)


def record(folder: Path) -> None:
    """Record two sessions in a folder, and one in another folder."""
    data = paths().data
    parser = ("Fix the parser", "It keeps one token of look-ahead.")
    record_session(data, [parser], at=NOON, cwd=str(folder), agent="claude-code", title="Fix the parser")
    record_session(data, [("Why is it slow?", "Ask the parser.")], at=NOON - 9, cwd=str(folder))
    record_session(data, [("Elsewhere", "A parser, too.")], at=NOON - 99, cwd="/elsewhere")


def indexed_prompts() -> list[str]:
    """Return the first prompts of the sessions in the index."""
    with closing(SessionSearch(paths().cache)) as search:
        return [facts.first_prompt for facts in search.facts().values()]


async def test_typing_filters_sessions_and_finds_lines(tmp_path: Path) -> None:
    record(tmp_path)
    async with open_sessions(tmp_path) as ui:
        await ui.sees("Fix the parser", "Claude-Code", "Why is it slow?", "2025-03-04")
        assert "Elsewhere" not in ui.text()
        await ui.paste("pars")
        await ui.sees("In the conversations", "Ask the parser.", "1 of 2 · 2 matching lines")
        await ui.press("f3")
        await ui.sees("A parser, too.", "all folders", "1 of 3 · 3 matching lines")
        await ui.press("escape")
        await ui.paste("no such word")
        await ui.sees('No matches for "no such word".')


async def test_f12_shows_the_messages_of_the_selected_session(tmp_path: Path) -> None:
    record(tmp_path)
    async with open_sessions(tmp_path) as ui:
        await ui.sees("Fix the parser")
        await ui.press("f12")
        await ui.sees("Messages  Fix the parser", "session/prompt answer")
        await ui.press("f12")
        await ui.sees("Why is it slow?")


@pytest.mark.parametrize(
    ("title", "answer"),
    [("Title", "漢字" * 20 + " needle"), ("会話" * 4, "word " * 12 + "needle")],
    ids=["line", "title"],
)
async def test_a_match_in_a_row_with_wide_characters_is_visible(
    tmp_path: Path, title: str, answer: str
) -> None:
    record_session(paths().data, [("Prompt", answer)], cwd=str(tmp_path), title=title)
    async with open_sessions(tmp_path) as ui:
        await ui.paste("needle")
        await ui.sees("In the conversations")
        assert any("needle" in line and title in line for line in ui.lines())


async def test_a_very_narrow_screen_shows_what_was_found(tmp_path: Path) -> None:
    record_session(paths().data, [("Prompt", "word " * 12 + "needle")], cwd=str(tmp_path))
    async with open_sessions(tmp_path) as ui:
        await ui.paste("needle")
        await ui.sees("In the conversations")
        await ui.pilot.resize_terminal(36, 20)
        await ui.until(lambda: ui.app.size.width == 36)
        await ui.sees("In the conversations")


async def test_a_session_is_deleted_after_a_question_and_open_ones_are_not(tmp_path: Path) -> None:
    record(tmp_path)
    used = record_session(paths().data, [("In use", "ok")], at=NOON - 1, cwd=str(tmp_path), is_open=True)
    async with open_sessions(tmp_path) as ui:
        await ui.sees("● In use")
        await ui.until(lambda: "Fix the parser" in indexed_prompts())
        await ui.press("down", "delete")
        await ui.until(lambda: "This session is open. Close it first." in ui.toasts())
        await ui.press("up", "delete")
        await ui.sees("Delete this session?")
        await ui.press("enter")
        await ui.until(lambda: isinstance(ui.app.screen, SessionsScreen))
        assert len(list_sessions(paths().data)) == 4
        await ui.press("delete", "down", "enter")
        await ui.until(lambda: "Fix the parser" not in ui.text())
        assert len(list_sessions(paths().data)) == 3
        await ui.until(lambda: "Fix the parser" not in indexed_prompts())
    used.close()


async def test_the_worktree_of_a_deleted_session_is_deleted_after_a_question(tmp_path: Path) -> None:
    project = tmp_path / "project"
    repository(project, {"a.txt": "a"})
    worktree = create_worktree(project, paths().data, agent="demo").worktree
    (worktree.path / "new.txt").write_text("unsaved work")
    record_session(
        paths().data, [("In a worktree", "ok")], cwd=str(worktree.folder), worktree=worktree.to_dict()
    )
    async with open_sessions(project) as ui:
        await ui.sees("In a worktree")
        await ui.press("delete", "down", "enter")
        await ui.sees("Also delete the session's git worktree", "This would be lost: 1 untracked file.")
        assert worktree.path.exists()
        await ui.press("down", "enter")
        await ui.until(lambda: not worktree.path.exists())


def lost_worktree(project: Path, branch: str = "topic") -> Worktree:
    """Create a worktree that no session names, with one changed, one new and one committed file."""
    repository(project, {"a.txt": "a\n", ".gitignore": "*.log\n"})
    worktree = create_worktree(project, paths().data, agent="demo", name=branch).worktree
    fill(worktree.path, {"committed.txt": "c\n"})
    git(worktree.path, "add", "committed.txt")
    git(worktree.path, "commit", "--quiet", "--message=Add a file")
    fill(worktree.path, {"a.txt": "b\n", "new.txt": "n\n", "ignored.log": "i\n"})
    return worktree


async def test_a_session_with_a_worktree_shows_the_number_of_its_changed_files(tmp_path: Path) -> None:
    worktree = lost_worktree(tmp_path / "shop")
    saved = worktree.to_dict()
    record_session(paths().data, [("In a worktree", "ok")], cwd=str(worktree.folder), worktree=saved)
    async with open_sessions(tmp_path / "shop") as ui:
        await ui.sees("worktree topic · 3 changed files")
        (row,) = [line for line in ui.lines() if "In a worktree" in line and "Demo" in line]
        assert row.split()[-1] == "3"
        fill(worktree.path, {"another.txt": "n\n"})
        await ui.press("f5")
        await ui.sees("worktree topic · 4 changed files")


async def test_a_worktree_without_a_session_is_listed_from_its_record_in_any_folder(tmp_path: Path) -> None:
    worktree = lost_worktree(tmp_path / "shop")
    saved = worktree.to_dict()
    record_session(paths().data, [("Of the session", "ok")], cwd=str(worktree.folder), worktree=saved)
    (tmp_path / "elsewhere").mkdir()
    async with open_sessions(tmp_path / "elsewhere") as ui:
        await ui.sees("Of the session", "3 changed files")
        await ui.press("delete", "down", "enter")
        await ui.sees("Also delete the session's git worktree")
        await ui.press("enter")
        await ui.sees("◇ topic", "worktree without a session · 3 changed files", "all folders")


async def test_a_worktree_from_before_there_were_records_is_listed_in_its_repository(tmp_path: Path) -> None:
    worktree = lost_worktree(tmp_path / "shop")
    (record,) = worktree.path.parent.glob(".*.json")
    record.unlink()
    async with open_sessions(tmp_path / "shop") as ui:
        await ui.sees("◇ topic", "3 changed files")
    saved = json.loads(record.read_text())
    assert saved == {**worktree.to_dict(), "trusted": False}


async def test_a_new_session_is_opened_in_a_worktree_without_a_session(tmp_path: Path) -> None:
    worktree = lost_worktree(tmp_path / "shop")
    async with open_sessions(tmp_path / "shop") as ui:
        await ui.sees("◇ topic", "new session")
        await ui.press("enter")
        await ui.sees("Start an agent in the worktree topic")
        await ui.paste("demo")
        await ui.press("enter")
        await ui.sees("shop (worktree)", "topic", "idle")
        (stored,) = list_sessions(paths().data)
        assert stored.meta["worktree"] == worktree.to_dict()
        assert stored.text("cwd") == str(worktree.path)


async def test_a_worktree_without_a_session_is_merged_after_a_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Test")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "test@example.org")
    project = tmp_path / "shop"
    worktree = lost_worktree(project)
    async with open_sessions(project) as ui:
        await ui.sees("◇ topic", "F8 merge")
        await ui.press("f8")
        await ui.sees("What should happen to the worktree?", "Keep the worktree", "Enter choose")
        assert "conversation" not in ui.text()
        await ui.press("down", "enter")
        await ui.sees("Merge into main", "Commits 2 files")
        await ui.paste("Finish the topic")
        await ui.press("enter")
        await ui.sees("No recorded sessions.")
        await ui.until(lambda: any("Merged 2 commits into main." in toast for toast in ui.toasts()))
    assert (project / "new.txt").read_text() == "n\n"
    assert not worktree.path.parent.exists()


async def test_a_worktree_without_a_session_is_discarded_after_a_question(tmp_path: Path) -> None:
    worktree = lost_worktree(tmp_path / "shop")
    async with open_sessions(tmp_path / "shop") as ui:
        await ui.sees("◇ topic", "Del discard")
        await ui.press("delete")
        await ui.sees("Discard the worktree?", "new.txt", "Enter choose")
        await ui.press("enter")
        await ui.until(lambda: isinstance(ui.app.screen, SessionsScreen))
        await ui.press("delete")
        await ui.sees("Discard the worktree?", "Enter choose")
        await ui.press("down", "enter")
        await ui.sees("No recorded sessions.")
    assert not worktree.path.parent.exists()
    assert git(tmp_path / "shop", "branch").split() == ["*", "main"]


async def test_a_worktree_in_which_a_conversation_works_is_not_discarded(tmp_path: Path) -> None:
    worktree = lost_worktree(tmp_path / "shop")
    lock = WorktreeLock(worktree.path)
    async with open_sessions(tmp_path / "shop") as ui:
        await ui.sees("◇ topic")
        await ui.press("delete")
        await ui.until(lambda: any("A conversation works in this worktree." in one for one in ui.toasts()))
    lock.release()
    assert worktree.path.exists()


async def test_a_session_is_renamed_exported_and_not_forked_by_an_agent_that_does_not_offer_it(
    tmp_path: Path,
) -> None:
    record(tmp_path)
    async with open_sessions(tmp_path) as ui:
        await ui.sees("Fix the parser", "Why is it slow?")
        await ui.press("f7")
        assert "F7" not in ui.text()
        assert isinstance(ui.app.screen, SessionsScreen)
        await ui.press("f9", "enter")
        await ui.until(lambda: any("Exported to" in toast for toast in ui.toasts()))
        (exported,) = (paths().data / "exports").iterdir()
        assert "look-ahead" in exported.read_text()
        await ui.press("f2")
        await ui.sees("Name of the session")
        await ui.paste("Tokens")
        await ui.press("enter")
        await ui.until(lambda: "Tokens" in ui.text() and "Fix the parser" not in ui.text())
        newest = list_sessions(paths().data)[0]
        assert (newest.text("name"), newest.text("title")) == ("Tokens", "Fix the parser")
        assert newest.updated == NOON


async def test_a_session_opens_at_the_matching_line(tmp_path: Path) -> None:
    record_session(
        paths().data, [("Count", LONG_ANSWER)], cwd=str(tmp_path), command=shlex.split(AGENT), session_id="s"
    )
    async with open_sessions(tmp_path) as ui:
        await ui.paste("needle")
        await ui.sees("- the needle")
        await ui.press("tab", "enter")
        await ui.until(lambda: isinstance(ui.app.screen, ConversationScreen))
        await ui.ready()
        await ui.sees("the needle", "1 of 1", "item 199")


async def test_the_screen_opens_over_a_conversation_and_goes_to_a_place_in_it(tmp_path: Path) -> None:
    async with open_conversation_ui(tmp_path, "--command", AGENT) as ui:
        await ui.send(["say", LONG_ANSWER])
        await ui.until(lambda: ui.said() and ui.session.phase == "idle")
        await ui.press("f4")
        await ui.sees("Sessions", "● [[")
        await ui.paste("needle")
        await ui.sees("- the needle")
        await ui.press("end", "tab", "enter")
        await ui.until(lambda: isinstance(ui.app.screen, ConversationScreen))
        await ui.sees("the needle", "item 199")
        await ui.press("f4", "escape")
        await ui.until(lambda: isinstance(ui.app.screen, ConversationScreen))


async def test_a_fork_continues_in_a_copy_with_the_log_of_the_session(tmp_path: Path) -> None:
    command = agent("script", offers(capabilities={"sessionCapabilities": {"fork": {}}}))
    async with open_conversation_ui(tmp_path, "--command", command) as ui:
        await ui.send("the original prompt")
        await ui.until(lambda: ui.said() and ui.session.phase == "idle")
    async with open_sessions(tmp_path) as ui:
        await ui.sees("the original prompt", "F7 fork")
        await ui.press("f7")
        await ui.until(lambda: isinstance(ui.app.screen, ConversationScreen))
        await ui.ready()
        await ui.sees("the original prompt", "continues in a fork")
        tab = ui.app.tabs.current
        assert tab is not None
        assert tab.state.label == "Fork of the original prompt"
    fork, original = list_sessions(paths().data)
    assert [fork.text("session_id"), original.text("session_id")] == ["session-1-fork", "session-1"]
    assert [fork.text("name"), original.text("name")] == ["Fork of the original prompt", None]


# --------------------------------------------------------------------------- what agents list

PAGES = [
    [{"sessionId": "old", "cwd": "/elsewhere", "title": "An old one", "updatedAt": "2025-01-02T03:04:05Z"}],
    [{"sessionId": "s-1", "cwd": "/x", "title": "Known"}, {"title": "without an id"}, "nonsense"],
]


def requests(method: str) -> list[Any]:
    """Return the parameters of these requests in all recorded sessions."""
    records = (record.frame for session in list_sessions(paths().data) for record in session.records())
    return [
        frame.get("params") for frame in records if isinstance(frame, dict) and frame.get("method") == method
    ]


async def test_the_agents_own_sessions_are_listed_and_deleted(tmp_path: Path) -> None:
    offered: dict[str, Any] = {"sessionCapabilities": {"list": {}, "delete": {}}}
    command = agent("script", offers(capabilities=offered, session_pages=PAGES))
    async with open_conversation_ui(tmp_path, "--command", command) as ui:
        name = ui.made[0].conversation.launch.name
        record_session(paths().data, [("Known to us", "ok")], cwd=str(tmp_path), agent=name)
        await ui.send("hello")
        await ui.until(lambda: ui.said() and ui.session.phase == "idle")
        await ui.press("f4")
        await ui.sees("Known to us")
        await ui.press("f3")
        await ui.sees("○ An old one", "elsewhere", "2025-01-02")
        assert ui.text().count("Known") == 2  # its row and its details
        assert "F3 this folder" in ui.text()
        await ui.press(*"old", "delete")
        await ui.sees("Delete this session?", "is asked to delete its own copy.")
        await ui.press("down", "enter")
        await ui.sees('No matches for "old".')
        assert requests("session/list") == [{}, {"cursor": "page 1"}]
        assert requests("session/delete") == [{"sessionId": "old"}]


async def test_an_agent_that_lists_by_folder_is_asked_for_the_folder(tmp_path: Path) -> None:
    offered: dict[str, Any] = {"loadSession": True, "sessionCapabilities": {"list": {}}}
    pages = [[{"sessionId": "known", "cwd": str(tmp_path), "title": "Repair the login"}]]
    command = agent("script", offers(capabilities=offered, session_pages=pages, lists_by_folder=True))
    async with open_conversation_ui(tmp_path, "--command", command) as ui:
        await ui.ready()
        await ui.press("f4")
        await ui.sees("○ Repair the login")
        await ui.press(*"repair", "enter")
        await ui.until(lambda: len(ui.made) == 2)
        await ui.until(lambda: [tab.state.label for tab in ui.app.tabs][1] == "Repair the login")


@pytest.mark.parametrize("here", [True, False], ids=["lists one of this folder", "lists none"])
async def test_all_folders_are_listed_only_if_the_agents_list_has_none_of_this_folder(
    here: bool, tmp_path: Path
) -> None:
    record_session(paths().data, [("Elsewhere", "ok")], cwd="/elsewhere")
    session = {"sessionId": "known", "cwd": str(tmp_path) if here else "/x", "title": "Repair the login"}
    offered: dict[str, Any] = {"sessionCapabilities": {"list": {}}}
    gate = tmp_path / "answer"
    command = agent("script", offers(capabilities=offered, session_pages=[[session]], lists_after=str(gate)))
    async with open_conversation_ui(tmp_path, "--command", command) as ui:
        screen = await opened_with_recorded_sessions(ui)
        assert "Elsewhere" not in ui.text()
        assert "all folders" not in ui.lines()[0]
        assert "No recorded sessions" not in ui.text()
        assert screen._state.this_folder
        gate.touch()
        await ui.sees("○ Repair the login")
        assert ("all folders" in ui.lines()[0]) is ("Elsewhere" in ui.text()) is not here


async def opened_with_recorded_sessions(ui: ConversationUi) -> SessionsScreen:
    """Open the sessions screen, and return it once the recorded sessions are known and an agent is asked."""
    await ui.press("f4")
    await ui.sees("Asking ")
    screen = ui.app.screen
    assert isinstance(screen, SessionsScreen)
    await ui.until(lambda: screen._state._all != [])
    return screen


async def test_an_agent_that_does_not_offer_it_is_not_asked(tmp_path: Path) -> None:
    async with open_conversation_ui(tmp_path, "--command", AGENT) as ui:
        name = ui.made[0].conversation.launch.name
        record_session(paths().data, [("Known to us", "ok")], cwd=str(tmp_path), agent=name)
        await ui.press("f4")
        await ui.sees("Known to us")
        await ui.press("delete")
        await ui.sees("may still have a copy of its own.")
        await ui.press("down", "enter")
        await ui.sees("No recorded sessions.")
        assert requests("session/list") == requests("session/delete") == []


async def test_another_agent_is_started_to_be_asked(tmp_path: Path, home: Path) -> None:
    command = shlex.split(
        agent("script", offers(capabilities={"sessionCapabilities": {"list": {}}}, session_pages=PAGES))
    )
    (home / "config").mkdir(parents=True)
    (home / "config" / "config.toml").write_text(f"[agents.mine]\ncommand = {json.dumps(command)}\n")
    async with open_sessions(tmp_path) as ui:
        await ui.sees("No recorded sessions.")
        await ui.press("f6")
        await ui.sees("Start an agent and list its sessions")
        await ui.press(*"mine", "enter")
        await ui.sees("An old one")


def test_looks(tmp_path: Path, snap_compare: Callable[..., bool]) -> None:
    async def wait(pilot: object) -> None:
        await until(lambda: app.screen.query_one(SelectList).virtual_size.height == 2)
        ui = ConversationUi(app, pilot)  # type: ignore[arg-type]
        await ui.press(*"pars")
        await ui.sees("In the conversations")

    folder = Path("/srv/shop")
    record(folder)
    args = run.default_arguments()
    args.cwd, args.theme = str(folder), "dark"
    app = run.sessions_app(args)
    assert snap_compare(app, terminal_size=(80, 24), run_before=wait)


async def test_from_a_worktree_the_sessions_of_the_whole_project_are_listed(tmp_path: Path) -> None:
    project = repository(tmp_path / "shop", {"a.txt": "a\n"})
    record_session(paths().data, [("In the checkout", "ok")], cwd=str(project))
    async with open_conversation_ui(project, "--command", agent("script"), "--worktree") as ui:
        await ui.press("f4")
        await ui.sees("Sessions", "In the checkout")
        assert str(project) in ui.lines()[0]
