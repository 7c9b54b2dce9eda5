"""Agents defined by the user, in `config.toml` or in `agents/NAME.toml`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from acp_tui.config.settings import load

if TYPE_CHECKING:
    from pathlib import Path

    from tests.config.conftest import WriteConfig


def test_agents_are_read_from_config_toml_and_from_their_own_files(
    write_config: WriteConfig, project: Path
) -> None:
    config = write_config(
        """
[agents.mine]
command = "my-agent --acp 'two words'"
title = "My agent"
env = { PORT = 80, DEBUG = true, NAME = "x" }
install = "make install"
missing_file = "empty"
mode = "plan"
options = { effort = "high", fast = true }
"""
    )
    file = write_config('command = ["./run", ""]\n', "agents/other.toml")
    settings = load(project, environ={})
    assert settings.problems == []
    mine, other = settings.agents["mine"], settings.agents["other"]
    assert (mine.file, mine.line) == (config, 2)
    assert mine.command == ["my-agent", "--acp", "two words"]
    assert mine.env == {"PORT": "80", "DEBUG": "true", "NAME": "x"}
    assert (mine.title, mine.install, mine.missing_file) == ("My agent", "make install", "empty")
    assert (mine.mode, mine.options) == ("plan", {"effort": "high", "fast": "true"})
    assert (other.file, other.command) == (file, [str(file.parent / "run"), ""])


def test_a_relative_command_path_is_relative_to_its_file(
    write_config: WriteConfig, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(project))
    config = write_config(
        '[agents]\na.command = "bin/x y"\nb.command = "~/x"\nc.command = "/x"\nd.command = "x"\n'
    )
    agents = load(project, environ={}).agents
    commands = {name: (agent.command or [])[0] for name, agent in agents.items()}
    assert commands == {
        "a": str(config.parent / "bin/x"),
        "b": str(project / "x"),
        "c": "/x",
        "d": "x",
    }


def test_config_toml_overrides_an_agent_file_of_the_same_name(
    write_config: WriteConfig, project: Path
) -> None:
    config = write_config('[agents.twice]\ncommand = "one"\n')
    file = write_config('command = "two"\n', "agents/twice.toml")
    settings = load(project, environ={})
    assert settings.agents["twice"].command == ["one"]
    assert [str(problem) for problem in settings.problems] == [
        f"{file}: ignored, because {config}:1 defines twice already"
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("agents = 3", ":1: agents: expected tables, [agents.NAME], got 3"),
        ("agents.x = 3", ":1: agents.x: expected a table, [agents.x], got 3"),
        (
            '[agents.x]\ncomand = "y"',
            ":2: agents.x.comand: unknown key; did you mean 'command'?",
        ),
        ('[agents.x]\ncommand = ""', ":2: agents.x.command: expected a program and its arguments, got ''"),
        ("[agents.x]\ncommand = []", ":2: agents.x.command: expected a program and its arguments, got []"),
        (
            '[agents.x]\ncommand = "it\'s"',
            ":2: agents.x.command: cannot be split into words (no closing quotation)",
        ),
        ('[agents.x]\nenv = "A=1"', ":2: agents.x.env: expected a table of strings"),
        ("[agents.x]\nenv = {A = []}", ":2: agents.x.env: expected a string for 'A'"),
        (
            '[agents.x]\nmissing_file = "no"',
            ':2: agents.x.missing_file: expected "error" or "empty", got \'no\'',
        ),
        (
            '[agents."a b"]\ncommand = "x"',
            ":1: agents.a b: 'a b' is not a valid agent name; use letters, digits and -",
        ),
        (
            '[agents.--help]\ncommand = "x"',
            ":1: agents.--help: '--help' is not a valid agent name; use letters, digits and -",
        ),
    ],
)
def test_an_invalid_agent_is_reported(
    write_config: WriteConfig, project: Path, text: str, problem: str
) -> None:
    file = write_config(text)
    assert [str(found) for found in load(project, environ={}).problems] == [f"{file}{problem}"]


def test_an_invalid_command_does_not_fall_back_to_the_known_agent(
    write_config: WriteConfig, project: Path
) -> None:
    write_config("[agents.gemini]\ncommand = 3\n")
    assert load(project, environ={}).agents == {}


def test_hidden_agent_files_are_ignored(write_config: WriteConfig, project: Path) -> None:
    write_config("command =", "agents/.#mine.toml")
    assert load(project, environ={}).problems == []


def test_a_broken_agent_file_does_not_affect_the_others(write_config: WriteConfig, project: Path) -> None:
    write_config("command = ", "agents/broken.toml")
    write_config('command = "x"', "agents/good.toml")
    settings = load(project, environ={})
    assert list(settings.agents) == ["good"]
    assert "broken.toml:1: not valid TOML" in str(settings.problems[0])
