"""`--version`, `--help` and unknown options."""

from __future__ import annotations

import pytest

from acp_tui import __version__
from acp_tui.cli import COMMANDS
from tests.support.cli import run


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
