"""Every command in a working directory that was deleted."""

from __future__ import annotations

import shlex
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.support.cli import PROGRAM, environment, script

if TYPE_CHECKING:
    from pathlib import Path

USE_THE_FOLDER = [
    ["exec", "--command", script(), "hello"],
    ["doctor", "--command", script()],
    ["config", "show"],
    ["config", "check"],
    ["agents"],
    ["mcp"],
    ["permissions", "explain", "execute", "make"],
]
OTHERS = [
    ["mcp", "list"],
    ["permissions", "list"],
    ["sessions"],
    ["run", "demo"],
    ["replay", "--text", "nothing.jsonl"],
    ["export", "nothing"],
]


def run_in_deleted_folder(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    folder.mkdir()
    line = f'cd {shlex.quote(str(folder))} && rmdir {shlex.quote(str(folder))} && exec "$@"'
    return subprocess.run(
        ["sh", "-c", line, "sh", PROGRAM, *args],
        capture_output=True,
        text=True,
        env=environment(),
        stdin=subprocess.DEVNULL,
        check=False,
    )


@pytest.mark.parametrize("args", OTHERS, ids=lambda args: " ".join(args)[:20])
def test_a_deleted_working_directory_causes_no_traceback(tmp_path: Path, args: list[str]) -> None:
    done = run_in_deleted_folder(tmp_path / "gone", *args)
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) <= 1


@pytest.mark.parametrize("args", USE_THE_FOLDER, ids=lambda args: " ".join(args)[:20])
def test_commands_that_need_the_working_directory_report_that_it_is_gone(
    tmp_path: Path, args: list[str]
) -> None:
    done = run_in_deleted_folder(tmp_path / "gone", *args)
    assert done.returncode == 1
    assert done.stderr == "acp-tui: The current directory no longer exists. Change to another one.\n"


def test_cwd_replaces_a_deleted_working_directory(tmp_path: Path) -> None:
    command = ["exec", "--command", script(), "--cwd", str(tmp_path), "hello"]
    done = run_in_deleted_folder(tmp_path / "gone", *command)
    assert (done.returncode, done.stdout) == (0, "hello\n")
