"""Runs the commands that the user types into the prompt, such as `!ls`.

The agent cannot read the commands' terminals. The agent sees a command and its output only if the user
attaches the output to a prompt. If the agent is restarted, the commands keep running.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.errors import Refusal, UserError
from acp_tui.session.events import TerminalCreated
from acp_tui.workspace.terminals.terminals import Terminals, user_shell

if TYPE_CHECKING:
    from pathlib import Path

    from acp_tui.controller.recorder import Recorder

PREFIX = "user"


class UserCommands:
    """Runs command lines, each in its own terminal, and records their output."""

    def __init__(self, cwd: Path, recorder: Recorder) -> None:
        self._cwd = str(cwd)
        self._note = recorder.note
        self._terminals = Terminals(
            cwd,
            on_output=recorder.terminal_output,
            on_exit=recorder.terminal_exited,
            taken=recorder.session.terminals,
            prefix=PREFIX,
        )

    async def run(self, line: str) -> str:
        """Start a command line and return the id of its terminal."""
        try:
            terminal = await self._terminals.create(user_shell(self._cwd), ["-c", line], output_byte_limit=0)
        except Refusal as refusal:
            raise UserError(f"The command cannot be run: {refusal.message}.") from None
        self._note(TerminalCreated(terminal, "user", line, self._cwd))
        return terminal

    async def kill(self, terminal_id: str) -> None:
        """End the process group of a command. Do nothing if the group has ended or the id is unknown."""
        try:
            await self._terminals.kill(terminal_id)
        except Refusal:
            return

    async def close(self) -> None:
        await self._terminals.close()
