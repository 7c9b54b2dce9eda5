"""Panes beside a real conversation: what they do to files, commands and options."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from acp_tui.session.state import Terminal
from acp_tui.ui.panes.files import FilesPane
from acp_tui.ui.panes.terminals import TerminalsPane
from acp_tui.ui.screens.choose import ChooseScreen
from acp_tui.ui.screens.detail import DetailScreen
from acp_tui.ui.screens.output import OutputScreen
from acp_tui.ui.widgets.page import Page
from tests.support.desk import offers
from tests.ui.panes.stage import panes

if TYPE_CHECKING:
    from tests.support.desk import Desk, Open

OPTIONS = offers(
    session={
        "configOptions": [
            {
                "id": "think",
                "name": "Think longer",
                "type": "select",
                "currentValue": "no",
                "options": [{"value": "no", "name": "Never"}, {"value": "yes", "name": "Always"}],
            }
        ]
    }
)
READ = "import sys; print('ready'); sys.stdout.flush(); print('got', open(sys.argv[1]).read()); input()"


def call(path: Path, status: str) -> list[object]:
    """An edit of the agent's own."""
    update = {"sessionUpdate": "tool_call", "toolCallId": "edit", "title": "Edit", "kind": "edit"}
    return ["update", {**update, "status": status, "locations": [{"path": str(path), "line": 3}]}]


@pytest.fixture
def no_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No program but Python is found."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


@pytest.mark.usefixtures("no_git")
async def test_without_git_what_the_agent_announces_is_listed(open_desk: Open, tmp_path: Path) -> None:
    path = tmp_path / "project" / "file.txt"
    diff = {"type": "diff", "path": str(path), "oldText": "one", "newText": "two"}
    edit = {"sessionUpdate": "tool_call", "toolCallId": "e", "title": "Edit", "kind": "edit"}
    async with open_desk() as one:
        await one.press("f8", "2")
        await one.send(["disk", str(tmp_path / "project" / "unannounced"), "x"])
        await one.sees("No files announced yet.")
        await one.sees("announces are listed: git is not installed.")
        announced = {**edit, "status": "completed", "content": [diff]}
        await one.send(["disk", str(path), "two"], ["update", announced])
        await one.sees("M file.txt", "+1 −1")


@pytest.fixture
def file(open_desk: Open, tmp_path: Path) -> Path:
    """It is there before the session begins."""
    path = tmp_path / "project" / "file.txt"
    path.write_text("one\ntwo\n")
    return path


async def change(one: Desk, path: Path) -> None:
    """A turn changes the file, and it is chosen in its pane."""
    await one.press("f8", "2")
    await one.send(["disk", str(path), "one\n2\n3\n"], call(path, "completed"))
    await one.sees("M file.txt", "+2 −1")
    await one.press("f8")
    await one.until(lambda: panes(one.app).current.chosen == str(path))


async def test_a_file_that_has_changed_is_listed_and_its_difference_shown(
    open_desk: Open, file: Path
) -> None:
    async with open_desk(size=(120, 30)) as one:
        await change(one, file)
        await one.press("v")
        await one.until(lambda: isinstance(one.app.screen, DetailScreen))
        await one.sees("file.txt: since the session began", "two", "2")


async def test_a_file_goes_back_only_when_that_is_confirmed(open_desk: Open, file: Path) -> None:
    async with open_desk(size=(120, 30)) as one:
        await change(one, file)
        await one.press("r")
        await one.until(lambda: isinstance(one.app.screen, ChooseScreen))
        await one.press("enter")
        await one.until(lambda: not isinstance(one.app.screen, ChooseScreen))
        assert file.read_text() == "one\n2\n3\n"
        await one.press("r")
        await one.until(lambda: isinstance(one.app.screen, ChooseScreen))
        await one.press("down", "enter")
        await one.until(lambda: file.read_text() == "one\ntwo\n")
        await one.sees("Nothing so far.")
        assert "file.txt restored." in one.toasts()


async def test_a_file_that_is_new_is_deleted_and_the_question_says_so(open_desk: Open) -> None:
    async with open_desk(size=(120, 30)) as one:
        await one.press("f8", "2")
        path = one.made[0].conversation.cwd / "new.txt"
        await one.send(["disk", str(path), "one\n"], call(path, "completed"))
        await one.sees("A new.txt")
        await one.press("f8")
        await one.until(lambda: panes(one.app).current.chosen == str(path))
        await one.press("r")
        await one.sees("Revert new.txt?", "Delete it: it did not exist")
        await one.press("down", "enter")
        await one.until(lambda: not path.exists())
        await one.until(lambda: "new.txt deleted." in one.toasts())


async def test_a_file_that_cannot_go_back_says_why(open_desk: Open, file: Path) -> None:
    async with open_desk(size=(120, 30)) as one:
        await change(one, file)
        await one.press("r")
        await one.until(lambda: isinstance(one.app.screen, ChooseScreen))
        file.unlink()
        file.mkdir()
        (file / "inside").touch()
        await one.press("down", "enter")
        await one.until(lambda: any("cannot be reverted" in toast for toast in one.toasts()))


async def test_enter_opens_the_file_at_the_line_in_the_editor(
    open_desk: Open, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, int | None]] = []
    async with open_desk(size=(120, 30)) as one:
        await change(one, file)
        monkeypatch.setattr(one.screen, "_edit", asked.append)  # a pilot has no terminal to hand over
        await one.press("enter")
        await one.until(lambda: asked == [(str(file), 3)])


async def test_output_is_followed_and_the_command_ended(open_desk: Open, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    async with open_desk(options=("--policy", "yolo"), size=(120, 30)) as one:
        create = {"command": sys.executable, "args": ["-c", READ, str(gate)]}
        wait = ["ask", "terminal/wait_for_exit", {"terminalId": "$terminal"}]
        await one.send(["ask", "terminal/create", create], wait)
        await one.until(lambda: one.session.terminals)
        [terminal] = one.session.terminals.values()
        await one.press("f8", "3")
        await one.sees("Running")
        await one.press("enter")
        await one.until(lambda: isinstance(one.app.screen, OutputScreen))
        page = one.app.screen.query_one(Page)
        await one.until(lambda: "ready" in page.copy_text())
        await asyncio.to_thread(gate.write_text, "a word\n")
        await one.until(lambda: "got a word" in page.copy_text())
        await one.press("escape", "k")
        await one.until(lambda: terminal.ended_at is not None)
        await one.sees("Ended")
        assert terminal.signal is not None


async def test_a_command_of_the_users_own_is_ended_from_its_pane(open_desk: Open) -> None:
    async with open_desk(size=(120, 30)) as one:
        one.prompt.load("!sleep 1000")
        await one.press("enter")
        await one.until(lambda: one.session.terminals)
        [terminal] = one.session.terminals.values()
        await one.press("f8", "3")
        await one.sees("Running", "yours", "k stop")
        await one.press("k")
        await one.until(lambda: terminal.ended_at is not None)
        await one.sees("Ended")
        assert terminal.signal == "SIGTERM"
        assert one.toasts() == []


async def test_a_command_of_the_agents_own_cannot_be_ended_from_here(open_desk: Open) -> None:
    async with open_desk(size=(120, 30)) as one:
        meta = {"terminal_info": {"terminal_id": "theirs", "cwd": "/"}}
        update = {"sessionUpdate": "tool_call", "toolCallId": "run", "title": "Run it", "kind": "execute"}
        await one.send(["update", {**update, "status": "in_progress", "_meta": meta}], ["wait"])
        await one.until(lambda: any(isinstance(entry, Terminal) for entry in one.session.entries))
        await one.press("f8", "3")
        pane = panes(one.app).pane(TerminalsPane)
        await one.until(lambda: pane.chosen == "theirs")
        assert pane.check_action("open", ())
        assert not pane.check_action("kill", ())


async def test_an_option_is_set_from_the_session_pane(open_desk: Open) -> None:
    async with open_desk("script", OPTIONS, size=(120, 60)) as one:
        await one.press("f8", "4")
        await one.sees("Think longer  Never", "MCP servers")
        await one.until(lambda: "wire.jsonl" in one.text().replace(" ", "").replace("\n", ""))
        await one.press("enter")
        await one.until(lambda: isinstance(one.app.screen, ChooseScreen))
        await one.press("down", "enter")
        log = one.made[0].conversation.log_path
        assert log is not None
        await one.until(lambda: "session/set_config_option" in Path(log).read_text())


async def test_the_disk_is_looked_at_only_while_files_are_seen(open_desk: Open) -> None:
    async with open_desk(size=(120, 30)) as one:
        await one.press("ctrl+b")
        path = one.made[0].conversation.cwd / "file.txt"
        await one.send(["disk", str(path), "x"], call(path, "completed"))
        await one.ready()
        assert panes(one.app).pane(FilesPane)._changes is None
        await one.press("f8", "2")
        await one.sees("A file.txt")


@pytest.mark.parametrize("name", ["plan", "files", "terminals", "session"])
async def test_the_settings_open_one_beside_a_conversation(
    open_desk: Open, tmp_path: Path, name: str
) -> None:
    (tmp_path / "project" / ".acp-tui.toml").write_text(f'panes = "{name}"\n')
    async with open_desk(size=(120, 30)) as one:
        await one.until(lambda: panes(one.app).current.TITLE.lower() == name)
        await one.press(*"hello")
        assert one.prompt.text == "hello"
        await one.press("ctrl+b")
        assert one.screen.panes is None


async def test_they_open_none_over_it(open_desk: Open, tmp_path: Path) -> None:
    (tmp_path / "project" / ".acp-tui.toml").write_text('panes = "files"\n')
    async with open_desk(size=(99, 30)) as one:
        assert one.screen.panes is None


async def test_what_is_new_below_is_not_told_over_the_panes(open_desk: Open) -> None:
    async with open_desk(size=(80, 24)) as one:
        await one.send(["repeat", 40, "line\n\n"])
        await one.ready()
        await one.press("pageup")
        one.screen.runner.submit("and more")
        await one.sees("↓ 4 new")
        await one.press("ctrl+b")
        await one.sees("Plan", "Files")
        assert "new ·" not in one.text()
        await one.press("escape")
        await one.sees("↓ 4 new")
        await one.pilot.resize_terminal(120, 30)
        await one.press("ctrl+b")
        await one.sees("Plan", "Files", "new ·")
        await one.press("z")
        await one.until(lambda: "new ·" not in one.text())
