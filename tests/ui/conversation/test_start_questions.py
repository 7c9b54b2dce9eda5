"""Questions before an agent starts in a folder."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

import pytest

from acp_tui.cli import main
from tests.support.conversation_ui import agent
from tests.support.terminal import MODES_OFF, Terminal

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


def end_of(terminal: Terminal) -> str:
    """Return what was printed after the app had ended."""
    return " ".join(terminal.raw[terminal.raw.rindex(MODES_OFF[-1]) :].decode().split())


def test_using_the_home_directory_as_workspace_must_be_confirmed(user_home: Path) -> None:
    with Terminal("--command", agent("script"), cwd=user_home) as terminal:
        terminal.wait_for("The workspace would be", "your home directory", "Do not start")
        terminal.type("\r")
        assert terminal.ended() == 1
        assert f"Not started: the workspace would be your home directory {user_home}." in end_of(terminal)


def test_the_header_shows_the_home_directory_once_confirmed(user_home: Path) -> None:
    with Terminal("--command", agent("script"), cwd=user_home) as terminal:
        terminal.wait_for("Use it as the workspace")
        terminal.type("\x1b[A\r")
        terminal.wait_for("~", "idle")
        terminal.type("\x11")
        assert terminal.ended() == 0


@pytest.mark.parametrize("command", [["exec"], ["doctor"]])
def test_exec_requires_the_home_directory_to_be_named(
    command: list[str], user_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(user_home)

    assert main([*command, "--command", agent("script"), "hello"]) == 2
    assert "The workspace would be your home directory" in capsys.readouterr().err
    assert main([*command, "--command", agent("script"), "--cwd", str(user_home), "hello"]) == 0


def test_using_the_root_directory_as_workspace_must_be_confirmed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir("/")
    assert main(["exec", "--command", agent("script"), "hello"]) == 2
    assert "The workspace would be /, the whole file system" in capsys.readouterr().err


def test_an_agent_chosen_by_the_project_is_confirmed_once_per_folder(project: Path, helper: Path) -> None:
    with Terminal(cwd=project) as terminal:
        terminal.wait_for("Always start Helper in this folder")
        terminal.type("\x1b[A\r")
        terminal.wait_for("idle")
        terminal.type("\x11")
        assert terminal.ended() == 0
    with Terminal(cwd=project) as again:
        again.wait_for("idle")
        again.type("\x11")
        assert again.ended() == 0
        assert b"Always start Helper" not in again.raw


def test_an_agent_chosen_by_the_project_does_not_start_if_declined(project: Path, helper: Path) -> None:
    with Terminal(cwd=project) as terminal:
        terminal.wait_for("Always start Helper in this folder")
        terminal.type("\r")
        assert terminal.ended() == 1
        assert "Not started: Helper." in end_of(terminal)


def test_a_project_cannot_choose_an_agent_that_would_be_downloaded(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / ".acp-tui.toml").write_text('agent = "gemini"\n')
    runner = tmp_path / "bin" / "npx"
    runner.parent.mkdir()
    runner.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    runner.chmod(0o755)
    monkeypatch.setenv("PATH", f"{runner.parent}{os.pathsep}/usr/bin{os.pathsep}/bin")

    with Terminal(cwd=project) as terminal:
        terminal.wait_for("Demo agent")  # the list of agents
        terminal.type("\x11")
        assert terminal.ended() == 0
    assert not (tmp_path / "ran").exists()
    monkeypatch.chdir(project)
    main(["config", "check"])
    assert "gemini is not installed" in capsys.readouterr().out
