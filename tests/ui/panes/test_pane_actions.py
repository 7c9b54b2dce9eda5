"""Actions of the panes on files, commands and options, with a real agent process."""

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
from acp_tui.ui.screens.dialogs.choose import ChooseScreen
from acp_tui.ui.screens.dialogs.detail import DetailScreen
from acp_tui.ui.screens.dialogs.output import OutputScreen
from acp_tui.ui.widgets.body_scroller import BodyScroller
from tests.support.desk import offers
from tests.ui.panes.sample_screen import panes_of

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


def edit_call(path: Path, status: str) -> list[object]:
    """Return a step of the scripted agent that announces an edit."""
    update = {"sessionUpdate": "tool_call", "toolCallId": "edit", "title": "Edit", "kind": "edit"}
    return ["update", {**update, "status": status, "locations": [{"path": str(path), "line": 3}]}]


@pytest.fixture
def no_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave only Python on the PATH."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


@pytest.mark.usefixtures("no_git")
async def test_without_git_announced_files_are_listed(open_desk: Open, tmp_path: Path) -> None:
    path = tmp_path / "project" / "file.txt"
    diff = {"type": "diff", "path": str(path), "oldText": "one", "newText": "two"}
    edit = {"sessionUpdate": "tool_call", "toolCallId": "e", "title": "Edit", "kind": "edit"}
    async with open_desk() as desk:
        await desk.press("f8", "2")
        await desk.send(["disk", str(tmp_path / "project" / "unannounced"), "x"])
        await desk.sees("No files announced yet.")
        await desk.sees("announces are listed: git is not installed.")
        announced = {**edit, "status": "completed", "content": [diff]}
        await desk.send(["disk", str(path), "two"], ["update", announced])
        await desk.sees("M file.txt", "+1 −1")


@pytest.fixture
def file(open_desk: Open, tmp_path: Path) -> Path:
    """A file that exists before the session starts."""
    path = tmp_path / "project" / "file.txt"
    path.write_text("one\ntwo\n")
    return path


async def change_file(desk: Desk, path: Path) -> None:
    """Have a turn change the file, and choose it in the files pane."""
    await desk.press("f8", "2")
    await desk.send(["disk", str(path), "one\n2\n3\n"], edit_call(path, "completed"))
    await desk.sees("M file.txt", "+2 −1")
    await desk.press("f8")
    await desk.until(lambda: panes_of(desk.app).current.chosen == str(path))


async def test_a_changed_file_is_listed_with_its_diff(open_desk: Open, file: Path) -> None:
    async with open_desk(size=(120, 30)) as desk:
        await change_file(desk, file)
        await desk.press("v")
        await desk.until(lambda: isinstance(desk.app.screen, DetailScreen))
        await desk.sees("file.txt: since the session began", "two", "2")


async def test_revert_restores_a_file_after_confirmation(open_desk: Open, file: Path) -> None:
    async with open_desk(size=(120, 30)) as desk:
        await change_file(desk, file)
        await desk.press("r")
        await desk.until(lambda: isinstance(desk.app.screen, ChooseScreen))
        await desk.press("enter")
        await desk.until(lambda: not isinstance(desk.app.screen, ChooseScreen))
        assert file.read_text() == "one\n2\n3\n"
        await desk.press("r")
        await desk.until(lambda: isinstance(desk.app.screen, ChooseScreen))
        await desk.press("down", "enter")
        await desk.until(lambda: file.read_text() == "one\ntwo\n")
        await desk.sees("No changes yet.")
        assert "file.txt restored." in desk.toasts()


async def test_revert_deletes_a_new_file(open_desk: Open) -> None:
    async with open_desk(size=(120, 30)) as desk:
        await desk.press("f8", "2")
        path = desk.made[0].conversation.cwd / "new.txt"
        await desk.send(["disk", str(path), "one\n"], edit_call(path, "completed"))
        await desk.sees("A new.txt")
        await desk.press("f8")
        await desk.until(lambda: panes_of(desk.app).current.chosen == str(path))
        await desk.press("r")
        await desk.sees("Revert new.txt?", "Delete it: it did not exist")
        await desk.press("down", "enter")
        await desk.until(lambda: not path.exists())
        await desk.until(lambda: "new.txt deleted." in desk.toasts())


async def test_a_failed_revert_is_reported(open_desk: Open, file: Path) -> None:
    async with open_desk(size=(120, 30)) as desk:
        await change_file(desk, file)
        await desk.press("r")
        await desk.until(lambda: isinstance(desk.app.screen, ChooseScreen))
        file.unlink()
        file.mkdir()
        (file / "inside").touch()
        await desk.press("down", "enter")
        await desk.until(lambda: any("cannot be reverted" in toast for toast in desk.toasts()))


async def test_enter_opens_the_file_in_the_editor(
    open_desk: Open, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[tuple[str, int | None]] = []
    async with open_desk(size=(120, 30)) as desk:
        await change_file(desk, file)
        # A test has no terminal to release.
        monkeypatch.setattr(desk.screen._pane_actions, "_edit_file", lambda *place: opened.append(place))
        await desk.press("enter")
        await desk.until(lambda: opened == [(str(file), 3)])


async def test_terminal_output_is_followed_and_kill_ends_the_command(open_desk: Open, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    async with open_desk(options=("--policy", "yolo"), size=(120, 30)) as desk:
        create = {"command": sys.executable, "args": ["-c", READ, str(gate)]}
        wait = ["ask", "terminal/wait_for_exit", {"terminalId": "$terminal"}]
        await desk.send(["ask", "terminal/create", create], wait)
        await desk.until(lambda: desk.session.terminals)
        [terminal] = desk.session.terminals.values()
        await desk.press("f8", "3")
        await desk.sees("Running")
        await desk.press("enter")
        await desk.until(lambda: isinstance(desk.app.screen, OutputScreen))
        page = desk.app.screen.query_one(BodyScroller)
        await desk.until(lambda: "ready" in page.copy_text())
        await asyncio.to_thread(gate.write_text, "a word\n")
        await desk.until(lambda: "got a word" in page.copy_text())
        await desk.press("escape", "k")
        await desk.until(lambda: terminal.ended_at is not None)
        await desk.sees("Ended")
        assert terminal.signal is not None


async def test_kill_ends_a_command_of_the_user(open_desk: Open) -> None:
    async with open_desk(size=(120, 30)) as desk:
        desk.prompt.load("!sleep 1000")
        await desk.press("enter")
        await desk.until(lambda: desk.session.terminals)
        [terminal] = desk.session.terminals.values()
        await desk.press("f8", "3")
        await desk.sees("Running", "yours", "k stop")
        await desk.press("k")
        await desk.until(lambda: terminal.ended_at is not None)
        await desk.sees("Ended")
        assert terminal.signal == "SIGTERM"
        assert desk.toasts() == []


async def test_commands_run_by_the_agent_cannot_be_killed(open_desk: Open) -> None:
    async with open_desk(size=(120, 30)) as desk:
        meta = {"terminal_info": {"terminal_id": "theirs", "cwd": "/"}}
        update = {"sessionUpdate": "tool_call", "toolCallId": "run", "title": "Run it", "kind": "execute"}
        await desk.send(["update", {**update, "status": "in_progress", "_meta": meta}], ["wait"])
        await desk.until(lambda: any(isinstance(entry, Terminal) for entry in desk.session.entries))
        await desk.press("f8", "3")
        pane = panes_of(desk.app).pane(TerminalsPane)
        await desk.until(lambda: pane.chosen == "theirs")
        assert pane.check_action("open", ())
        assert not pane.check_action("kill", ())


async def test_enter_sets_an_option(open_desk: Open) -> None:
    async with open_desk("script", OPTIONS, size=(120, 60)) as desk:
        await desk.press("f8", "4")
        await desk.sees("Think longer  Never", "MCP servers")
        await desk.until(lambda: "wire.jsonl" in desk.text().replace(" ", "").replace("\n", ""))
        await desk.press("enter")
        await desk.until(lambda: isinstance(desk.app.screen, ChooseScreen))
        await desk.press("down", "enter")
        log = desk.made[0].conversation.log_path
        assert log is not None
        await desk.until(lambda: "session/set_config_option" in Path(log).read_text())


async def test_files_are_compared_only_while_the_pane_is_visible(open_desk: Open) -> None:
    async with open_desk(size=(120, 30)) as desk:
        await desk.press("ctrl+b")
        path = desk.made[0].conversation.cwd / "file.txt"
        await desk.send(["disk", str(path), "x"], edit_call(path, "completed"))
        await desk.ready()
        assert panes_of(desk.app).pane(FilesPane)._changes is None
        await desk.press("f8", "2")
        await desk.sees("A file.txt")


@pytest.mark.parametrize("name", ["plan", "files", "terminals", "session"])
async def test_the_panes_setting_opens_a_pane_without_focus(
    open_desk: Open, tmp_path: Path, name: str
) -> None:
    (tmp_path / "project" / ".acp-tui.toml").write_text(f'panes = "{name}"\n')
    async with open_desk(size=(120, 30)) as desk:
        await desk.until(lambda: panes_of(desk.app).current.TITLE.lower() == name)
        await desk.press(*"hello")
        assert desk.prompt.text == "hello"
        await desk.press("ctrl+b")
        assert desk.screen.panes.visible is None


async def test_the_panes_setting_is_ignored_on_a_narrow_screen(open_desk: Open, tmp_path: Path) -> None:
    (tmp_path / "project" / ".acp-tui.toml").write_text('panes = "files"\n')
    async with open_desk(size=(99, 30)) as desk:
        assert desk.screen.panes.visible is None


async def test_the_new_below_mark_is_hidden_by_panes(open_desk: Open) -> None:
    async with open_desk(size=(80, 24)) as desk:
        await desk.send(["repeat", 40, "line\n\n"])
        await desk.ready()
        await desk.press("pageup")
        desk.screen.runner.prompts.submit("and more")
        await desk.sees("↓ 4 new")
        await desk.press("ctrl+b")
        await desk.sees("Plan", "Files")
        assert "new ·" not in desk.text()
        await desk.press("escape")
        await desk.sees("↓ 4 new")
        await desk.pilot.resize_terminal(120, 30)
        await desk.press("ctrl+b")
        await desk.sees("Plan", "Files", "new ·")
        await desk.press("z")
        await desk.until(lambda: "new ·" not in desk.text())
