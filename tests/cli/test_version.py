"""`--version`, `--help`, `--json` of the lists, and unknown commands and options."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from acp_tui import __version__
from acp_tui.cli import COMMANDS
from tests.support.cli import run

if TYPE_CHECKING:
    from pathlib import Path


def test_version_prints_one_line() -> None:
    done = run("--version")
    assert (done.code, done.out) == (0, f"acp-tui {__version__}\n")


def test_without_arguments_help_is_printed_with_exit_code_2() -> None:
    done = run()
    assert done.code == 2
    assert all(f"\n    {command}" in done.out for command in COMMANDS)


def test_an_unknown_option_is_a_usage_error() -> None:
    done = run("exec", "--polcy", "yolo")
    assert done.code == 2
    assert "--polcy" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str) -> None:
    done = run(command, "--help")
    assert done.code == 0
    assert f"usage: acp-tui {command}" in done.out


@pytest.mark.parametrize(
    ("words", "suggestion"),
    [
        (["config", "pth"], "Argument ACTION: invalid choice: 'pth'; did you mean 'path'? See"),
        (
            ["permissions", "explian"],
            "Argument ACTION: invalid choice: 'explian'; did you mean 'explain'? See",
        ),
        (["exec", "demo", "x", "--policy", "yollo"], "invalid choice: 'yollo'; did you mean 'yolo'? See"),
        (["agents", "shwo"], "Argument ACTION: invalid choice: 'shwo'; did you mean 'show'? See"),
        (["trust", "zzz"], "invalid choice: 'zzz' (choose from "),
    ],
)
def test_a_misspelt_choice_suggests_the_nearest_one(words: list[str], suggestion: str) -> None:
    done = run(*words)
    assert done.code == 2
    assert suggestion in done.err


@pytest.mark.parametrize(
    ("word", "meant"), [("session", "sessions"), ("sesions", "sessions"), ("doctr", "doctor")]
)
def test_a_misspelt_command_is_not_taken_for_an_agent(word: str, meant: str) -> None:
    done = run(word, "list")
    assert (done.code, done.err) == (
        2,
        f'acp-tui: Unknown command "{word}"; did you mean `acp-tui {meant}`?\n',
    )


@pytest.mark.parametrize(
    ("word", "suggestion"),
    [
        ("version", 'Unknown command "version"; did you mean `acp-tui --version`?'),
        ("-v", 'Unknown option "-v"; did you mean `acp-tui --version`?'),
        ("list", 'Unknown command "list"; did you mean `acp-tui agents` or `acp-tui sessions`?'),
    ],
)
def test_commands_of_other_programs_suggest_those_of_this_one(word: str, suggestion: str) -> None:
    done = run(word)
    assert (done.code, done.err) == (2, f"acp-tui: {suggestion}\n")


def test_an_agent_may_be_called_almost_like_a_command(home: Path) -> None:
    (home / "config" / "agents").mkdir(parents=True)
    (home / "config" / "agents" / "session.toml").write_text('command = ["cat"]\n')
    assert "Unknown command" not in run("session").err


def test_help_is_a_command_too() -> None:
    assert run("help").out == run("--help").out
    assert "usage: acp-tui exec" in run("help", "exec").out


def test_help_names_the_usual_options_of_a_session() -> None:
    shown = run("--help").out
    assert all(option in shown for option in ("--continue", "--resume ID", "--policy NAME", "--worktree"))


@pytest.mark.parametrize(
    ("words", "key"),
    [
        ("sessions list", "sessions"),
        ("sessions", "sessions"),
        ("agents list", "agents"),
        ("agents", "agents"),
        ("trust list", "folders"),
        ("trust", "folders"),
        ("config show", "settings"),
        ("config", "settings"),
        ("permissions", "rules"),
    ],
)
def test_every_list_can_be_printed_as_json(words: str, key: str) -> None:
    done = run(*words.split(), "--json")
    assert done.code == 0
    assert isinstance(json.loads(done.out)[key], list)
