"""`acp-tui` in a process forked from one that has imported it: a run costs a third.

Only the start of the interpreter, its end and the imports are left out. Tests of these, of streams and of
job control start the installed program.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerContext, ForkServerProcess

COMMANDS = (
    "compare",
    "config",
    "doctor",
    "exec",
    "export",
    "mcp",
    "permissions",
    "replay",
    "run",
    "sessions",
    "trust",
)
MODULES = [
    *("acp.connection", "acp.schema", "acp_tui.cli.comparison_run", "acp_tui.cli.commands.doctor"),
    *("acp_tui.ui.app", "acp_tui.ui.conversation.conversation_screen"),
    *("acp_tui.ui.entries.messages", "acp_tui.ui.entries.tool_call"),
    *(f"acp_tui.cli.commands.{command}" for command in COMMANDS),
]
"""What the commands import. Under Python 3.11 the server finds only what is installed."""
Streams = tuple[str, str, str]
"""The files that are stdin, stdout and stderr of a run; a terminal is one, too."""


@cache
def _context() -> ForkServerContext:
    assert all(map(find_spec, MODULES))  # the server ignores what it cannot import
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(MODULES)
    return context


class PreloadedProgram:
    """A run of the program, which is used like a `subprocess.Popen`."""

    def __init__(
        self,
        arguments: list[str],
        cwd: Path | None,
        environment: dict[str, str],
        streams: Streams,
        *,
        new_session: bool = False,
    ) -> None:
        """Start the program, if `new_session` as the leader of a session that owns the terminal."""
        args = (arguments, cwd or Path.cwd(), environment, streams, new_session)
        self._process: ForkServerProcess = _context().Process(target=_main, args=args)
        self._process.start()

    @property
    def pid(self) -> int:
        """The process id."""
        assert self._process.pid is not None
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """The exit code; None while the program runs."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """Return the exit code, or None while the program runs."""
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until the program has ended, and return its exit code."""
        self._process.join(timeout)
        code = self._process.exitcode
        assert code is not None, f"still running after {timeout} s"
        return code

    def kill(self) -> None:
        """Send SIGKILL."""
        os.kill(self.pid, signal.SIGKILL)


def _main(
    arguments: list[str], cwd: Path, environment: dict[str, str], streams: Streams, new_session: bool
) -> None:
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    if new_session:
        os.setsid()
    for number, name in enumerate(streams):
        mode = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_APPEND
        # The first terminal that a session's leader opens becomes the session's terminal.
        descriptor = os.open(name, (os.O_RDWR if new_session else mode | os.O_NOCTTY))
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdin = open(0, encoding="utf-8")  # noqa: SIM115  # they stay open until exit
    sys.stdout = open(1, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1)  # noqa: SIM115
    vars(sys).update(__stdin__=sys.stdin, __stdout__=sys.stdout, __stderr__=sys.stderr)  # Textual uses these
    sys.argv = ["acp-tui", *arguments]
    from acp_tui.cli import main

    sys.exit(main())
