"""`python -m acp_tui.demo` on the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

INITIALIZE = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}})


def _run_demo(*arguments: str, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "acp_tui.demo", *arguments],
        env={**os.environ, **env},
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )


def test_requests_before_the_end_of_stdin_are_answered() -> None:
    run = _run_demo(stdin=INITIALIZE + "\n")
    assert run.returncode == 0
    assert run.stderr == ""
    assert json.loads(run.stdout)["result"]["protocolVersion"] == 1


def test_an_unknown_pace_in_the_environment_is_an_error() -> None:
    run = _run_demo(ACP_TUI_DEMO_SPEED="warp")
    assert run.returncode == 2
    assert "ACP_TUI_DEMO_SPEED is 'warp', but must be one of relaxed, quick, instant" in run.stderr


def test_dev_null_as_stdin_is_refused_with_a_message() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "acp_tui.demo"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert run.returncode == 2
    assert run.stderr == "acp_tui.demo: standard input and output must be pipes, not files\n"


def test_a_file_as_stdout_is_refused_with_a_message(tmp_path: Path) -> None:
    with (tmp_path / "out").open("w") as out:
        run = subprocess.run(
            [sys.executable, "-m", "acp_tui.demo"],
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert run.returncode == 2
    assert "must be pipes" in run.stderr
    assert "Traceback" not in run.stderr


def test_help_does_not_load_the_sdk() -> None:
    script = (
        "import runpy, sys\n"
        "sys.argv = ['demo', '--help']\n"
        "try:\n"
        "    runpy.run_module('acp_tui.demo', run_name='__main__')\n"
        "except SystemExit:\n"
        "    sys.exit('acp' in sys.modules)\n"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert run.returncode == 0
    assert "--speed" in run.stdout
