"""Rules, reviews, rewinds and reasons with real agents in a real terminal.

The examples of the SDKs are missing here because they have no tools to edit a file with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.real.conftest import launcher
from tests.real.test_on_screen import open_terminal, quit_app
from tests.real.test_real_agents import WITH_TOOLS
from tests.support.terminal import Terminal
from tests.support.trust_steps import (
    BY_RULE,
    accept_revert_and_comment,
    always_allow_edits_in_src,
    restore_files,
    revoke_the_only_rule,
    rewind_by_two_prompts,
    wait_for_edit_question,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

OLD = "one two three\n"


def new(file: Path) -> str:
    """Return the content after the agent has edited the file."""
    return OLD.replace("two", f"2{file.stem}")


def make_files(folder: Path, names: str) -> list[Path]:
    folder.mkdir(exist_ok=True)
    files = [folder / f"{name}.txt" for name in names]
    for file in files:
        file.write_text(OLD)
    return files


def ask_for_edit(terminal: Terminal, file: Path) -> None:
    terminal.type(f"mock:edit {file} two 2{file.stem}\r")


def sees_edited(terminal: Terminal, file: Path) -> None:
    """Wait until the turn that edited the file has ended."""
    terminal.sees(f"I replaced two with 2{file.stem}.", "idle")
    assert file.read_text() == new(file)


def edit_all(terminal: Terminal, files: Sequence[Path]) -> None:
    """Have the agent edit each file in a turn of its own, without questions."""
    for file in files:
        ask_for_edit(terminal, file)
        sees_edited(terminal, file)


@pytest.mark.parametrize("name", WITH_TOOLS)
def test_an_always_for_a_folder_is_remembered_until_it_is_revoked(name: str, project: Path) -> None:
    first, second, third, fourth = make_files(project / "src", "abcd")
    with open_terminal(name, project) as terminal:
        terminal.sees("idle")
        ask_for_edit(terminal, first)
        always_allow_edits_in_src(terminal)
        sees_edited(terminal, first)
        ask_for_edit(terminal, second)
        terminal.sees(BY_RULE)
        sees_edited(terminal, second)
        quit_app(terminal)
    with open_terminal(name, project) as terminal:
        terminal.sees("idle")
        ask_for_edit(terminal, third)
        terminal.sees(BY_RULE)
        sees_edited(terminal, third)
        revoke_the_only_rule(terminal)
        ask_for_edit(terminal, fourth)
        wait_for_edit_question(terminal)
        terminal.type("r")
        terminal.sees("rejected", "idle")
        assert fourth.read_text() == OLD
        quit_app(terminal)


@pytest.mark.parametrize("name", WITH_TOOLS)
def test_three_files_are_accepted_reverted_and_commented(name: str, project: Path) -> None:
    files = make_files(project, "abc")
    with Terminal("--command", launcher(name), "--policy", "accept-edits", cwd=project) as terminal:
        terminal.sees("idle")
        edit_all(terminal, files)
        accept_revert_and_comment(terminal, files, "Say more: mock:think")
        terminal.sees("Say more", "After thinking", "idle")
        assert [file.read_text() for file in files] == [new(files[0]), OLD, new(files[2])]
        quit_app(terminal)


@pytest.mark.parametrize("name", WITH_TOOLS)
def test_rewinding_restores_files_or_continues_in_a_new_session(name: str, project: Path) -> None:
    files = make_files(project, "ab")
    with Terminal("--command", launcher(name), "--policy", "accept-edits", cwd=project) as terminal:
        terminal.sees("idle")
        terminal.type("mock:think\r")
        terminal.sees("After thinking", "idle")
        edit_all(terminal, files)
        rewind_by_two_prompts(terminal, "files")
        restore_files(terminal, "a.txt", "b.txt")
        terminal.sees("Restored 2 files to before prompt 2.")
        assert [file.read_text() for file in files] == [OLD, OLD]
        rewind_by_two_prompts(terminal, "conversation")
        terminal.sees("This is a new session", "[earlier conversation]", "idle")
        terminal.type(" mock:think\r")
        terminal.sees("After thinking", "idle")
        quit_app(terminal)


@pytest.mark.parametrize("name", WITH_TOOLS)
def test_the_agent_gets_the_reason_of_a_rejection(name: str, project: Path) -> None:
    with open_terminal(name, project) as terminal:
        terminal.sees("idle")
        ask_for_edit(terminal, project / "notes.txt")
        wait_for_edit_question(terminal)
        terminal.type("t")
        terminal.sees("Tell the agent why:", "reject with this reason")
        terminal.type("think first: mock:think\r")  # the model does what the reason says
        terminal.sees("After thinking", "idle")
        assert (project / "notes.txt").read_text() == OLD
        quit_app(terminal)
