"""Quitting, and closing tabs, while the user has to decide what happens to git worktrees."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from acp_tui.workspace.git.worktree import WorktreeLock
from tests.support.conversation_ui import agent, open_conversation_ui
from tests.ui.tabs.test_several_conversations import open_second
from tests.workspace.projects import git, repository

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.conversation_ui import ConversationUi

QUESTION = "What should happen to the worktree?"
FIRST, SECOND = "first.txt", "second.txt"


@asynccontextmanager
async def two_changed_worktrees(project: Path) -> AsyncIterator[ConversationUi]:
    """Open two tabs whose agents each wrote a file in a worktree. The first tab is in front."""
    async with open_conversation_ui(project, "--command", agent("script"), "--worktree") as ui:
        await write(ui, FIRST)
        await open_second(ui)
        await write(ui, SECOND)
        await ui.press("alt+1")
        yield ui


async def write(ui: ConversationUi, name: str) -> None:
    await ui.send(["write_file", name, "text"], ["say", "written"])
    await ui.until(lambda: ui.said() == ["written"] and ui.session.phase == "idle")


async def asked(ui: ConversationUi, name: str) -> None:
    """Wait until the question about the worktree with a file accepts keys."""
    await ui.sees(QUESTION, name, "Enter choose")


async def discard(ui: ConversationUi) -> None:
    await ui.press("up", "enter")
    await ui.sees("Discard the worktree?", "Enter choose")
    await ui.press("down", "enter")


async def test_a_decision_counts_only_once_all_tabs_were_decided_about(tmp_path: Path) -> None:
    project = repository(tmp_path / "shop", {"a.txt": "a\n"})
    async with two_changed_worktrees(project) as ui:
        await ui.press("ctrl+q")
        await asked(ui, FIRST)
        await discard(ui)
        await asked(ui, SECOND)
        await ui.press("escape")
        await ui.until(lambda: QUESTION not in ui.text())
        await ui.press("ctrl+q")
        await asked(ui, FIRST)  # staying in one tab withdrew what was decided in the other
        await discard(ui)
        await asked(ui, SECOND)
        ui.app.shut_down(15)  # as the terminal does when its window is closed
        await ui.until(lambda: ui.app._exit)
    assert git(project, "worktree", "list").count("\n") == 3


async def test_a_question_is_asked_once_and_shown_again(tmp_path: Path) -> None:
    project = repository(tmp_path / "shop", {"a.txt": "a\n"})
    async with two_changed_worktrees(project) as ui:
        for key in ("ctrl+q", "alt+w"):
            await ui.press(key)
            await asked(ui, FIRST)
            await ui.press(key)
            await asked(ui, FIRST)
            await ui.press("escape")
            await ui.until(lambda: QUESTION not in ui.text())
            assert len(ui.app.tabs) == 2
        await ui.press("alt+o")
        await ui.sees("Overview", "2 open")
        await ui.press("down", "delete")
        await asked(ui, SECOND)


async def test_quitting_again_shows_the_tab_that_is_asking_or_asks_anew_if_it_was_closed(
    tmp_path: Path,
) -> None:
    project = repository(tmp_path / "shop", {"a.txt": "a\n"})
    async with two_changed_worktrees(project) as ui:
        await ui.press("ctrl+q")
        await asked(ui, FIRST)
        await ui.press("alt+2", "ctrl+q")
        await asked(ui, FIRST)
        first = next(iter(ui.app.tabs))
        await ui.app.tabs.remove(first)
        await ui.press("ctrl+q")
        await asked(ui, SECOND)
        await discard(ui)
        await ui.until(lambda: ui.app._exit)
    assert git(project, "worktree", "list").count("\n") == 2


async def test_the_finish_command_says_that_another_conversation_works_in_the_worktree(
    tmp_path: Path,
) -> None:
    project = repository(tmp_path / "shop", {"a.txt": "a\n"})
    async with open_conversation_ui(project, "--command", agent("script"), "--worktree") as ui:
        await write(ui, FIRST)
        worktree = ui.made[0].conversation.options.worktree
        assert worktree is not None
        lock = WorktreeLock(worktree.path)  # as another acp-tui process does
        await ui.press("ctrl+p")
        await ui.paste("Finish worktree")
        await ui.press("enter")
        await ui.until(lambda: any("Another conversation works in" in toast for toast in ui.toasts()))
        lock.release()
