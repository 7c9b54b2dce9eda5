"""The agent's process: start, streams, exit, and shutdown together with its child processes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Self

from acp_tui.connection.errors import AgentExit, CannotStart
from acp_tui.processes.piped_process import (
    EXIT_GRACE_SECONDS,
    ExecError,
    PipedProcess,
    StartError,
    signal_name,
)
from acp_tui.session.safe_text import escape_line

if TYPE_CHECKING:
    from acp_tui.config.agent_catalogue import Launch


class AgentProcess(PipedProcess):
    """One running agent process, created by `spawn`. A watcher process ends it if acp-tui dies."""

    _reason: str | None = None
    _closing = False

    @classmethod
    async def spawn(
        cls, launch: Launch, cwd: str, *, on_stderr: Callable[[bytes], None] | None = None
    ) -> Self:
        """Start the agent in `cwd` and return once its program is running. Raises `CannotStart`.

        `on_stderr` is called with the bytes that the agent writes to stderr, block by block and unmodified.
        """
        env = {**os.environ, **launch.env}
        program = _find_program(launch, cwd, env)
        try:
            return await cls.start(program, launch.command, cwd=cwd, env=env, on_stderr=on_stderr)
        except StartError as error:
            hint = _install_hint(launch) if isinstance(error, ExecError) else ""
            raise _cannot_start(launch, f"{error}.{hint}") from error

    @property
    def exit(self) -> AgentExit | None:
        """The exit of the process; None while it runs."""
        if not self.ended:
            return None
        lost = "was ended because its watcher process was killed" if self.watcher_lost else None
        reason = self._reason or lost
        expected = self._closing and reason is None
        code = self.returncode
        signal = signal_name(-code) if code is not None and code < 0 else None
        return AgentExit(
            None if signal else code, signal, self.stderr_tail(), expected, self.outlived_stdin, reason
        )

    async def wait(self) -> AgentExit:
        """Wait until the process has exited, and up to `LAST_OUTPUT_SECONDS` for the rest of its stderr."""
        await self.wait_for_end()
        ended = self.exit
        assert ended is not None
        return ended

    async def close(
        self, *, reason: str | None = None, grace_seconds: float = EXIT_GRACE_SECONDS
    ) -> AgentExit:
        """End the agent and the processes it started: close stdin, then SIGTERM, then SIGKILL.

        SIGTERM follows when the agent has exited, at the latest after `grace_seconds`. SIGKILL follows after
        `KILL_GRACE_SECONDS` of `processes.watcher`. `processes.watcher` also says which processes are ended.

        `AgentExit.reason` stores `reason`: the fault that made acp-tui end the agent, if any.
        """
        if not self.ended and not self._closing:
            self._closing = True
            self._reason = reason
        await self.end(grace_seconds=grace_seconds)
        return await self.wait()


def _find_program(launch: Launch, cwd: str, env: dict[str, str]) -> str:
    """Return the path of the program. Raises `CannotStart` if it or `cwd` is missing or unusable."""
    name = launch.command[0]
    if not Path(cwd).is_dir():
        raise _cannot_start(launch, f"the directory {escape_line(cwd)} does not exist.")
    if os.sep not in name:
        if found := shutil.which(name, path=env.get("PATH", os.defpath)):
            return str(Path(found).absolute())
        raise _cannot_start(launch, f"{name} was not found in PATH.{_install_hint(launch)}")
    path = Path(cwd, os.path.expanduser(name))  # noqa: PTH111 - leaves an unknown `~user` as it is
    if path.is_dir():
        raise _cannot_start(launch, f"{path} is a directory.")
    if not path.exists():
        raise _cannot_start(launch, f"{path} does not exist.{_install_hint(launch)}")
    if not os.access(path, os.X_OK):
        raise _cannot_start(launch, f"{path} is not executable (try chmod +x).")
    return str(path)


def _cannot_start(launch: Launch, reason: str) -> CannotStart:
    return CannotStart(f"{launch.title} cannot be started: {reason}")


def _install_hint(launch: Launch) -> str:
    return f" Install it with: {launch.install_hint}" if launch.install_hint else ""
