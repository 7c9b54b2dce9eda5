"""Actions of the panes on files, commands and options, with a real agent process."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from acp_tui.session.state import Terminal
from acp_tui.ui.dialogs.choose import ChooseScreen
from acp_tui.ui.dialogs.detail import DetailScreen, OutputScreen
from acp_tui.ui.panes.files import FilesPane
from acp_tui.ui.panes.panes import TerminalsPane
from acp_tui.ui.widgets.body_scroller import BodyScroller
from tests.support.conversation_ui import offers
from tests.ui.panes.sample_screen import panes_of

if TYPE_CHECKING:
    from tests.support.conversation_ui import ConversationUi, Open

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
async def test_without_git_announced_files_are_listed(open_ui: Open, tmp_path: Path) -> None:
    path = tmp_path / "project" / "file.txt"
    diff = {"type": "diff", "path": str(path), "oldText": "one", "newText": "two"}
    edit = {"sessionUpdate": "tool_call", "toolCallId": "e", "title": "Edit", "kind": "edit"}
    async with open_ui() as ui:
        await ui.press("f8", "2")
        await ui.send(["write_file", str(tmp_path / "project" / "unannounced"), "x"])
        await ui.sees("No files reported yet.")
        assert any("reports are listed: git is not installed." in notice for notice in ui.notices())
        announced = {**edit, "status": "completed", "content": [diff]}
        await ui.send(["write_file", str(path), "two"], ["update", announced])
        await ui.sees("M file.txt", "+1 −1")


@pytest.fixture
def file(open_ui: Open, tmp_path: Path) -> Path:
    """A file that exists before the session starts."""
    path = tmp_path / "project" / "file.txt"
    path.write_text("one\ntwo\n")
    return path


async def change_file(ui: ConversationUi, path: Path) -> None:
    """Have a turn change the file, and choose it in the files pane."""
    await ui.press("f8", "2")
    await ui.send(["write_file", str(path), "one\n2\n3\n"], edit_call(path, "completed"))
    await ui.sees("M file.txt", "+2 −1")
    await ui.press("f8")
    await ui.until(lambda: panes_of(ui.app).current.chosen == str(path))


async def test_a_changed_file_opens_as_a_diff_and_in_the_editor(
    open_ui: Open, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[tuple[str, int | None]] = []
    async with open_ui(size=(120, 30)) as ui:
        await change_file(ui, file)
        await ui.press("v")
        await ui.until(lambda: isinstance(ui.app.screen, DetailScreen))
        await ui.sees("file.txt: since the session began", "two", "2")
        await ui.press("escape")
        # A test has no terminal to release.
        monkeypatch.setattr(ui.screen.entry_actions, "edit_file", lambda *place: opened.append(place))
        await ui.press("enter")
        await ui.until(lambda: opened == [(str(file), 3)])


async def test_a_revert_is_confirmed_then_undone_and_its_failure_reported(open_ui: Open, file: Path) -> None:
    async with open_ui(size=(120, 30)) as ui:
        await change_file(ui, file)
        await ui.press("r")
        await ui.until(lambda: isinstance(ui.app.screen, ChooseScreen))
        await ui.press("enter")
        await ui.until(lambda: not isinstance(ui.app.screen, ChooseScreen))
        assert file.read_text() == "one\n2\n3\n"
        await ui.press("u")
        await ui.sees("You can undo this with Z in the pane.")
        await ui.press("down", "enter")
        await ui.until(lambda: file.read_text() == "one\ntwo\n")
        await ui.sees("No changes yet.")
        assert "file.txt restored." in ui.toasts()
        await ui.press("Z")
        await ui.sees("M file.txt")
        assert file.read_text() == "one\n2\n3\n"
        assert "Revert undone: file.txt." in ui.toasts()
        await fail_to_revert(ui, file)


async def fail_to_revert(ui: ConversationUi, file: Path) -> None:
    """Revert the chosen file, which becomes a folder before the answer."""
    await ui.press("r")
    await ui.until(lambda: isinstance(ui.app.screen, ChooseScreen))
    file.unlink()
    file.mkdir()
    (file / "inside").touch()
    await ui.press("down", "enter")
    await ui.until(lambda: any("cannot be reverted" in toast for toast in ui.toasts()))


async def test_an_accepted_file_is_marked_until_it_changes_again(open_ui: Open, file: Path) -> None:
    async with open_ui(size=(120, 30)) as ui:
        await change_file(ui, file)
        await ui.press("y")
        await ui.sees("✓ file.txt")
        await ui.press("f2")
        await ui.sees("1 of 1 reviewed")
        await ui.press("Z", "escape")
        await ui.sees("M file.txt")
        await ui.press("y")
        await ui.sees("✓ file.txt")
        file.write_text("other\n")
        await ui.press("R")
        await ui.sees("M file.txt")


async def test_a_new_file_is_found_once_the_pane_is_visible_and_deleted_by_a_revert(open_ui: Open) -> None:
    async with open_ui(size=(120, 30)) as ui:
        await ui.press("ctrl+b")
        path = ui.made[0].conversation.cwd / "new.txt"
        await ui.send(["write_file", str(path), "one\n"], edit_call(path, "completed"))
        await ui.ready()
        assert panes_of(ui.app).pane(FilesPane)._changes is None
        await ui.press("f8", "2")
        await ui.sees("A new.txt")
        await ui.until(lambda: panes_of(ui.app).current.chosen == str(path))
        await ui.press("r")
        await ui.sees("Revert new.txt?", "Delete the file, which did not exist")
        await ui.press("down", "enter")
        await ui.until(lambda: not path.exists())
        await ui.until(lambda: "new.txt deleted." in ui.toasts())


async def test_terminal_output_is_followed_and_kill_ends_the_command(open_ui: Open, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    async with open_ui(options=("--policy", "yolo"), size=(120, 30)) as ui:
        create = {"command": sys.executable, "args": ["-c", READ, str(gate)]}
        wait = ["ask", "terminal/wait_for_exit", {"terminalId": "$terminal"}]
        await ui.send(["ask", "terminal/create", create], wait)
        await ui.until(lambda: ui.session.terminals)
        [terminal] = ui.session.terminals.values()
        await ui.press("f8", "3")
        await ui.sees("Running")
        await ui.press("enter")
        await ui.until(lambda: isinstance(ui.app.screen, OutputScreen))
        page = ui.app.screen.query_one(BodyScroller)
        await ui.until(lambda: "ready" in page.copy_text())
        await asyncio.to_thread(gate.write_text, "a word\n")
        await ui.until(lambda: "got a word" in page.copy_text())
        await ui.press("escape", "k")
        await ui.until(lambda: terminal.ended_at is not None)
        await ui.sees("Ended")
        assert terminal.signal is not None


async def test_kill_ends_a_command_of_the_user(open_ui: Open) -> None:
    async with open_ui(size=(120, 30)) as ui:
        ui.prompt.load("!sleep 1000")
        await ui.press("enter")
        await ui.until(lambda: ui.session.terminals)
        [terminal] = ui.session.terminals.values()
        await ui.press("f8", "3")
        await ui.sees("Running", "yours", "k stop")
        await ui.press("k")
        await ui.until(lambda: terminal.ended_at is not None)
        await ui.sees("Ended")
        assert terminal.signal == "SIGTERM"
        assert ui.toasts() == []


async def test_commands_run_by_the_agent_cannot_be_killed(open_ui: Open) -> None:
    async with open_ui(size=(120, 30)) as ui:
        meta = {"terminal_info": {"terminal_id": "theirs", "cwd": "/"}}
        update = {"sessionUpdate": "tool_call", "toolCallId": "run", "title": "Run it", "kind": "execute"}
        await ui.send(["update", {**update, "status": "in_progress", "_meta": meta}], ["wait_for_cancel"])
        await ui.until(lambda: any(isinstance(entry, Terminal) for entry in ui.session.entries))
        await ui.press("f8", "3")
        pane = panes_of(ui.app).pane(TerminalsPane)
        await ui.until(lambda: pane.chosen == "theirs")
        assert pane.check_action("open", ())
        assert not pane.check_action("kill", ())


async def test_enter_sets_an_option(open_ui: Open) -> None:
    async with open_ui("script", OPTIONS, size=(120, 60)) as ui:
        await ui.press("f8", "4")
        await ui.sees("Think longer  Never", "MCP servers")
        await ui.until(lambda: "wire.jsonl" in ui.text().replace(" ", "").replace("\n", ""))
        await ui.press("enter")
        await ui.until(lambda: isinstance(ui.app.screen, ChooseScreen))
        await ui.press("down", "enter")
        log = ui.made[0].conversation.log_path
        assert log is not None
        await ui.until(lambda: "session/set_config_option" in Path(log).read_text())


@pytest.mark.parametrize("name", ["plan", "session"])
async def test_the_panes_setting_opens_a_pane_without_focus(open_ui: Open, tmp_path: Path, name: str) -> None:
    (tmp_path / "project" / ".acp-tui.toml").write_text(f'panes = "{name}"\n')
    async with open_ui(size=(120, 30)) as ui:
        await ui.until(lambda: panes_of(ui.app).current.TITLE.lower() == name)
        await ui.press("h")
        assert ui.prompt.text == "h"
        await ui.press("ctrl+b")
        assert ui.screen.panes.visible is None


async def test_the_panes_setting_is_ignored_on_a_narrow_screen(open_ui: Open, tmp_path: Path) -> None:
    (tmp_path / "project" / ".acp-tui.toml").write_text('panes = "files"\n')
    async with open_ui(size=(99, 30)) as ui:
        assert ui.screen.panes.visible is None


async def test_the_new_below_mark_is_hidden_by_panes(open_ui: Open) -> None:
    async with open_ui(size=(80, 24)) as ui:
        await ui.send(["repeat", 40, "line\n\n"])
        await ui.ready()
        await ui.press("pageup")
        ui.screen.runner.prompts.submit("and more")
        await ui.sees("↓ 4 new")
        await ui.press("ctrl+b")
        await ui.sees("Plan", "Files")
        assert "new ·" not in ui.text()
        await ui.press("escape")
        await ui.sees("↓ 4 new")
        await ui.pilot.resize_terminal(120, 30)
        await ui.press("ctrl+b")
        await ui.sees("Plan", "Files", "new ·")
        await ui.press("z")
        await ui.until(lambda: "new ·" not in ui.text())
