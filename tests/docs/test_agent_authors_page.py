"""The agent in docs/agent-authors.md does what the page says."""

from __future__ import annotations

import re
import shlex
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.cli import REPOSITORY, run

if TYPE_CHECKING:
    from pathlib import Path

BLOCKS = re.findall(r"```python\n(.*?)```", (REPOSITORY / "docs" / "agent-authors.md").read_text(), re.DOTALL)
FAILING = ("session-ids-differ", "mcp-stdio", "second-session")


@pytest.fixture
def command(tmp_path: Path) -> str:
    """Return the command of the agent at the top of the page."""
    file = tmp_path / "agent.py"
    file.write_text(BLOCKS[0])
    return shlex.join([sys.executable, str(file)])


def improve(folder: Path) -> None:
    """Change the agent as the page says."""
    file = folder / "agent.py"
    head, rest = file.read_text().split("def new_session")
    tail = rest[rest.index("def prompt") :]
    file.write_text(f"import os, subprocess, uuid\nSERVERS = {{}}\n{head}{BLOCKS[1]}{tail}")


def test_it_answers_and_violates_nothing(command: str, tmp_path: Path) -> None:
    assert run("exec", "--command", command, "hello", cwd=tmp_path).out == "You said: hello\n"
    report = run("doctor", "--command", command, "--prompt", "hello", "--strict", cwd=tmp_path)
    assert report.code == 0


def test_without_a_flush_doctor_says_so(command: str, tmp_path: Path) -> None:
    file = tmp_path / "agent.py"
    file.write_text(file.read_text().replace(", flush=True", ""))
    report = run("doctor", "--command", command, "--timeout", "3", cwd=tmp_path, PYTHONUNBUFFERED="")
    assert "came only after stdin was closed: flush stdout" in " ".join(report.out.split())


def test_the_checks_that_it_fails_pass_after_the_change(command: str, tmp_path: Path) -> None:
    checks = [word for name in FAILING for word in ("--check", name)]
    suite = ["doctor", "--command", command, "--suite", *checks]
    assert "0 pass, 3 fail" in run(*suite, cwd=tmp_path).out
    improve(tmp_path)
    assert "3 pass, 0 fail" in run(*suite, cwd=tmp_path).out
