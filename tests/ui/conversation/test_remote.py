"""A conversation with an agent on another machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.conversation_ui import open_conversation_ui
from tests.support.remote_server import SCRIPT, TOKEN, remote_server

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path, home: Path) -> Path:
    """Create the folder of the conversations."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


async def test_the_agent_gets_the_folder_there_and_neither_files_nor_terminals(project: Path) -> None:
    with remote_server(SCRIPT) as server:
        how = ("--command", server.url, "--folder", "/srv/project")
        async with open_conversation_ui(project, *how) as ui:
            initialize, new = server.received
            assert not {"fs", "terminal"} & initialize["params"]["clientCapabilities"].keys()
            assert new["params"]["cwd"] == "/srv/project"
            request = {"path": str(project / "x"), "content": "written"}
            await ui.send(["ask", "fs/write_text_file", request])
            await ui.until(lambda: "-32601" in "".join(ui.said()))
            assert not (project / "x").exists()


async def test_directories_of_this_machine_are_ignored_with_a_warning(project: Path, tmp_path: Path) -> None:
    with remote_server(SCRIPT) as server:
        how = ("--command", server.url, "--add-dir", str(tmp_path))
        async with open_conversation_ui(project, *how) as ui:
            assert "additionalDirectories" not in server.received[1]["params"]
            assert any("additional directories are ignored" in notice for notice in ui.notices())


async def test_the_files_and_commands_of_this_machine_are_served_if_the_settings_say_so(
    project: Path, home: Path
) -> None:
    with remote_server(SCRIPT) as server:
        settings = home / "config" / "agents" / "far.toml"
        settings.parent.mkdir(parents=True)
        settings.write_text(f'url = "{server.url}"\nserve_workspace = true\n')
        async with open_conversation_ui(project, "far", "--policy", "accept-edits") as ui:
            initialize, new = server.received
            assert {"fs", "terminal"} <= initialize["params"]["clientCapabilities"].keys()
            assert new["params"]["cwd"] == str(project)
            write = {"path": str(project / "x"), "content": "written"}
            run = {"command": "echo here"}
            await ui.send(["ask", "fs/write_text_file", write], ["ask", "terminal/create", run])
            await ui.asked()
            assert "echo here" in ui.text()
            assert [change.path for change in await ui.made[0].conversation.changes()] == [project / "x"]


@pytest.mark.parametrize(
    ("pane", "texts"),
    [
        ("files", ("No files reported yet.", "on another machine.")),
        ("session", ("its folder", "/srv/project", "address", "on another machine.")),
    ],
)
async def test_the_panes_say_that_the_files_are_elsewhere(
    project: Path, pane: str, texts: tuple[str, ...]
) -> None:
    with remote_server(SCRIPT) as server:
        how = ("--command", server.url, "--folder", "/srv/project")
        async with open_conversation_ui(project, *how, size=(120, 40)) as ui:
            (project / "new.txt").write_text("not of the agent")
            await ui.send(["say", "done"])
            await ui.until(ui.said)
            ui.screen.panes.open(focus=True, first=pane)
            await ui.sees(*texts)
            assert await ui.made[0].conversation.changes() == []
            assert not ui.made[0].conversation.finds_all_changes


async def test_edits_in_the_folder_there_are_inside_and_others_are_not(project: Path) -> None:
    with remote_server(SCRIPT) as server:
        how = ("--command", server.url, "--folder", "/srv/project", "--policy", "accept-edits")
        async with open_conversation_ui(project, *how) as ui:
            inside, outside = (
                {
                    "kind": "edit",
                    "toolCallId": name,
                    "title": name,
                    "locations": [{"path": f"{folder}/{name}"}],
                }
                for name, folder in (("a.txt", "/srv/project"), ("b.txt", project))
            )
            await ui.send(["permission", inside], ["permission", outside])
            await ui.asked()
            assert "b.txt" in ui.text()
            await ui.until(lambda: "allow_once" in "".join(ui.said()))


async def test_the_token_is_nowhere_on_disk_or_on_the_screen(
    project: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACP_TUI_TOKEN", TOKEN)
    with remote_server(SCRIPT, token=TOKEN) as server:
        async with open_conversation_ui(project, "--command", server.url) as ui:
            await ui.send(["say", "hello"])
            await ui.until(ui.said)
            assert TOKEN not in ui.text()
    files = [path for path in home.rglob("*") if path.is_file()]
    assert any(path.name == "wire.jsonl" for path in files)
    assert not [path for path in files if TOKEN.encode() in path.read_bytes()]
