"""`acp-tui` in a process forked from one that has imported it: a run costs a third.

Only the start of the interpreter is left out. Tests of streams, signals and endings start the installed
program.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerContext

COMMANDS = ("config", "export", "mcp", "permissions", "replay", "sessions", "trust")
MODULES = [
    *("acp.connection", "acp.schema", "acp_tui.cli.exec.run", "acp_tui.doctor.examination"),
    *(f"acp_tui.cli.commands.{command}" for command in COMMANDS),
]
"""What the commands import. Under Python 3.11 the server finds only what is installed."""
Streams = tuple[str, str, str]
"""The files that are stdin, stdout and stderr of a run; a terminal is one, too."""


@cache
def _context() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(MODULES)
    return context


def run_preloaded(
    arguments: list[str], cwd: Path | None, environment: dict[str, str], streams: Streams
) -> int:
    """Run the program to its end and return the exit code."""
    process = _context().Process(target=_main, args=(arguments, cwd or Path.cwd(), environment, streams))
    process.start()
    process.join()
    code = process.exitcode
    process.close()
    assert code is not None
    return code


def _main(arguments: list[str], cwd: Path, environment: dict[str, str], streams: Streams) -> None:
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    for number, name in enumerate(streams):
        descriptor = os.open(name, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_APPEND | os.O_NOCTTY)
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdin = open(0, encoding="utf-8")  # noqa: SIM115  # they stay open until exit
    sys.stdout = open(1, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1)  # noqa: SIM115
    sys.argv = ["acp-tui", *arguments]
    from acp_tui.cli import main

    sys.exit(main())
