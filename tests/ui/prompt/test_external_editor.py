"""Editing the prompt in an external editor."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from acp_tui.errors import UserError
from acp_tui.ui.terminal.open_externally import edit, editor_command
from tests.support.waiting import until
from tests.ui.prompt.prompt_app import PromptApp, type_text
from tests.ui.prompt.pty_program import Program


def script(tmp_path: Path, text: str) -> str:
    """Create a shell script that acts as the editor; return its path."""
    path = tmp_path / "editor"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_visual_takes_precedence_and_may_have_options(tmp_path: Path) -> None:
    name = script(tmp_path, "")
    environment = {"VISUAL": f"{name} --wait", "EDITOR": "other", "PATH": "/bin"}
    assert editor_command(environment) == [name, "--wait"]
    assert editor_command({"EDITOR": name, "PATH": "/bin"}) == [name]


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"EDITOR": "no-such-editor"}, '"no-such-editor" not found'),
        ({"EDITOR": "'unclosed"}, "Cannot parse"),
        ({}, "No editor found"),
    ],
)
def test_a_missing_editor_is_named(tmp_path: Path, environment: dict[str, str], words: str) -> None:
    with pytest.raises(UserError, match=words):
        editor_command({**environment, "PATH": str(tmp_path)})


def test_without_a_choice_no_program_is_started_that_asks_for_one(tmp_path: Path) -> None:
    editor = Path(script(tmp_path, ""))
    (tmp_path / "sensible-editor").hardlink_to(editor)
    (tmp_path / "vi").hardlink_to(editor)
    assert editor_command({"PATH": str(tmp_path)}) == ["editor"]


async def test_the_editor_is_named_if_the_user_has_chosen_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path, 'echo written > "$1"')
    monkeypatch.delenv("EDITOR", raising=False)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    app = PromptApp()
    monkeypatch.setattr("acp_tui.ui.prompt.prompt.release_terminal", lambda _: nullcontext())
    async with app.run_test(notifications=True) as pilot:
        await pilot.press("ctrl+g")
        await until(lambda: app.prompt.text == "written")
        await until(lambda: any("Edited with editor" in toast.message for toast in app._notifications))


async def test_the_file_is_private_markdown_and_deleted_afterwards(tmp_path: Path) -> None:
    editor = script(tmp_path, f'cp -p "$1" {tmp_path}/copy; echo "$1" > {tmp_path}/name; echo more >> "$1"')
    assert await edit("some\ntext ü", [editor]) == "some\ntext ü\nmore"
    assert (tmp_path / "copy").read_text(encoding="utf-8") == "some\ntext ü\n"
    assert stat.S_IMODE((tmp_path / "copy").stat().st_mode) == 0o600
    file = Path((tmp_path / "name").read_text().strip())
    assert file.suffix == ".md"
    assert not file.exists()


async def test_a_failing_editor_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="exited with status 3"):
        await edit("text", [script(tmp_path, 'echo lost > "$1"; exit 3')])


async def test_other_tasks_run_while_the_editor_is_open(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    editing = asyncio.create_task(edit("text", [script(tmp_path, f'cat {fifo} > "$1"')]))
    await asyncio.to_thread(fifo.write_text, "from the program")
    assert await editing == "from the program"


async def test_a_missing_editor_is_reported_and_the_text_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "no-such-editor")
    app = PromptApp()
    async with app.run_test() as pilot:
        await type_text(pilot, "text")
        await pilot.press("ctrl+g")
        await app.workers.wait_for_complete()
        assert ['"no-such-editor" not found' in notice.message for notice in app._notifications] == [True]
        assert app.prompt.text == "text"


def test_the_editor_gets_the_terminal_and_its_signals(tmp_path: Path) -> None:
    editor = script(
        tmp_path,
        """trap 'echo INTERRUPTED' INT
        echo "EDITOR HAS $(cat "$1")"
        until read line; do :; done
        echo "$line" >> "$1" """,
    )
    result = tmp_path / "result"
    command = [sys.executable, "-m", "tests.ui.prompt.pty_program", str(result)]
    with Program(command, {"EDITOR": editor, "VISUAL": ""}) as program:
        program.wait_for("Message Demo")
        program.type("draft")
        program.wait_for("draft")
        program.type("\x07")  # Ctrl+G
        program.wait_for("EDITOR HAS draft")
        program.type("\x03")
        program.wait_for("INTERRUPTED")
        program.type("from the editor\n")
        program.wait_for("from the editor", times=2)  # echoed by the terminal, then in the prompt
        program.type("\r")
        assert program.wait_for_exit() == 0
    assert result.read_text() == "draft\nfrom the editor"
