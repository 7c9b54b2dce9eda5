"""Questions before an agent starts in a folder."""

from __future__ import annotations

import json
import os
import shlex
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.cli import main
from acp_tui.config.paths import paths
from acp_tui.store.folder_trust import FolderTrust
from tests.support.conversation_ui import agent
from tests.support.terminal import DOWN, MODES_OFF, PreloadedTerminal, Terminal

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def user_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's home directory."""
    directory = tmp_path / "user"
    directory.mkdir()
    monkeypatch.setenv("HOME", str(directory))
    return directory


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder whose settings choose the agent `helper`."""
    directory = tmp_path / "project"
    directory.mkdir()
    (directory / ".acp-tui.toml").write_text('agent = "helper"\n')
    return directory


@pytest.fixture
def helper(home: Path) -> Path:
    """An installed agent called `helper`, defined by the user."""
    config = home / "config" / "config.toml"
    config.parent.mkdir(parents=True)
    words = ", ".join(f'"{word}"' for word in shlex.split(agent("script")))
    config.write_text(f'[agents.helper]\ntitle = "Helper"\ncommand = [{words}]\n')
    return config


def define(project: Path, **servers: dict[str, Any]) -> None:
    """Replace the project's files by a `.mcp.json`."""
    (project / ".acp-tui.toml").unlink(missing_ok=True)
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))


def sent_servers(home: Path, key: str = "name") -> list[list[Any]]:
    """Return one value of each server that each recorded session was opened with."""
    logs = sorted((home / "data" / "sessions").glob("*/wire.jsonl"))
    frames = [json.loads(line).get("frame", {}) for log in logs for line in log.read_text().splitlines()]
    opened = [frame["params"] for frame in frames if frame.get("method") == "session/new"]
    return [[server[key] for server in params["mcpServers"]] for params in opened]


def end_of(terminal: Terminal) -> str:
    """Return what was printed after the app had ended."""
    return " ".join(terminal.raw[terminal.raw.rindex(MODES_OFF[-1]) :].decode().split())


def test_using_the_home_directory_as_workspace_must_be_confirmed(user_home: Path) -> None:
    with PreloadedTerminal("--command", agent("script"), cwd=user_home) as terminal:
        terminal.sees("The workspace would be", "your home directory", "Do not start", "Enter choose")
        terminal.type("\r")
        assert terminal.ended() == 1
        assert f"Not started: the workspace would be your home directory {user_home}." in end_of(terminal)


def test_the_header_shows_the_home_directory_once_confirmed(user_home: Path) -> None:
    with PreloadedTerminal("--command", agent("script"), cwd=user_home) as terminal:
        terminal.sees("Use it as the workspace", "Enter choose")
        terminal.type("\x1b[A\r")
        terminal.wait_for("~", "idle")
        assert terminal.quit() == 0


@pytest.mark.parametrize("command", [["exec"], ["doctor"]])
def test_exec_requires_the_home_directory_to_be_named(
    command: list[str], user_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(user_home)

    assert main([*command, "--command", agent("script"), "hello"]) == 2
    assert "The workspace would be your home directory" in capsys.readouterr().err
    assert main([*command, "--command", agent("script"), "--cwd", str(user_home), "hello"]) == 0


def test_a_folder_that_contains_the_home_directory_is_confirmed_too(
    user_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(user_home.parent)
    assert main(["exec", "--command", agent("script"), "hello"]) == 2
    assert f"would be {user_home.parent}, which contains your home directory" in capsys.readouterr().err


def test_using_the_root_directory_as_workspace_must_be_confirmed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir("/")
    assert main(["exec", "--command", agent("script"), "hello"]) == 2
    assert "The workspace would be /, the whole file system" in capsys.readouterr().err


def test_an_agent_chosen_by_the_project_is_confirmed_once_per_folder(project: Path, helper: Path) -> None:
    with PreloadedTerminal(cwd=project) as terminal:
        terminal.sees("Trust this folder?", "Helper", "Enter choose")
        terminal.type(f"{DOWN}\r")
        terminal.wait_for("idle")
        assert terminal.quit() == 0
    with PreloadedTerminal(cwd=project) as again:
        again.wait_for("idle")
        assert again.quit() == 0
        assert b"Trust this folder" not in again.raw


def test_an_agent_chosen_by_the_project_does_not_start_if_declined(project: Path, helper: Path) -> None:
    with PreloadedTerminal(cwd=project) as terminal:
        terminal.sees("Trust this folder?", "Helper", "Enter choose")
        terminal.type("\r")
        assert terminal.ended() == 1
        assert "Not started: Helper." in end_of(terminal)


def test_another_agent_in_a_trusted_folder_is_confirmed_again(project: Path, helper: Path) -> None:
    store = FolderTrust(paths().state)
    store.trust(project, trusted=True)
    store.allow_agent(project, "other")
    with PreloadedTerminal(cwd=project) as terminal:
        terminal.sees("Start Helper?", "Always start Helper in this folder", "Enter choose")
        terminal.type(f"{DOWN}\r")
        terminal.wait_for("idle")
        assert terminal.quit() == 0
    assert store.folder(project).agent == "helper"


def test_a_folder_that_is_never_trusted_does_not_choose_the_agent(project: Path, helper: Path) -> None:
    FolderTrust(paths().state).trust(project, trusted=False)
    with PreloadedTerminal(cwd=project) as terminal:
        terminal.wait_for("Demo agent")  # the list of agents
        assert terminal.quit() == 0


def test_servers_of_the_project_are_agreed_to_one_by_one_and_remembered(project: Path, home: Path) -> None:
    first, second, third = ({"command": "/bin/sh", "args": ["-c", name]} for name in ("one", "two", "three"))
    define(project, first=first, second=second, third=third)
    with PreloadedTerminal("--command", agent("script"), cwd=project) as terminal:
        terminal.sees("Trust this folder?", "first, second", "Enter choose")
        terminal.type(f"{DOWN}\r")
        terminal.sees('the MCP server "first"?', "-c one", "1 of 3", "Enter choose")
        terminal.type(f"{DOWN}\r")
        terminal.sees('the MCP server "second"?', "2 of 3", "Enter choose")
        terminal.type("\r")
        terminal.sees('the MCP server "third"?', "3 of 3", "Enter choose")
        define(project, first=first, second=second, third=first)  # while the question is open
        terminal.type(f"{DOWN}\r")
        terminal.wait_for("idle")
        assert terminal.quit() == 0
    assert sent_servers(home) == [["first", "third"]]
    assert sent_servers(home, "args") == [[["-c", "one"], ["-c", "three"]]]  # what was shown
    with PreloadedTerminal("--command", agent("script"), cwd=project) as again:
        again.sees('the MCP server "second"?', "Enter choose")
        again.type(f"{DOWN}{DOWN}\r")
        again.sees('"third"?', "-c one", "Its definition has changed since you answered.", "Enter choose")
        again.type("\r")
        again.wait_for("because of your approval for this folder: the MCP server first.", "idle")
        assert again.quit() == 0
    assert sent_servers(home)[1:] == [["first"]]


def test_nothing_of_a_folder_is_used_that_is_not_trusted(project: Path, home: Path) -> None:
    define(project, tool={"command": "/bin/sh"})
    with PreloadedTerminal("--command", agent("script"), cwd=project) as terminal:
        terminal.sees("Trust this folder?", "Enter choose")
        terminal.type("\x1b")
        terminal.wait_for("idle")
        assert terminal.quit() == 0
    assert sent_servers(home) == [[]]


def test_a_project_cannot_choose_an_agent_that_would_be_downloaded(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / ".acp-tui.toml").write_text('agent = "gemini"\n')
    runner = tmp_path / "bin" / "npx"
    runner.parent.mkdir()
    runner.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    runner.chmod(0o755)
    monkeypatch.setenv("PATH", f"{runner.parent}{os.pathsep}/usr/bin{os.pathsep}/bin")

    with PreloadedTerminal(cwd=project) as terminal:
        terminal.wait_for("Demo agent")  # the list of agents
        assert terminal.quit() == 0
    assert not (tmp_path / "ran").exists()
    monkeypatch.chdir(project)
    main(["config", "check"])
    assert "gemini is not installed" in capsys.readouterr().out
