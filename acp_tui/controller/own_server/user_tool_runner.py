"""Runs the user's own tools. Each is a command that receives its arguments as JSON on stdin."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import shutil
from typing import TYPE_CHECKING, Any

from acp_tui.controller.own_server.prepared_call import InvalidCallError, PreparedCall
from acp_tui.controller.own_server.tool_result import ToolResult, failure
from acp_tui.processes.piped_process import PipedProcess, StartError, signal_name

if TYPE_CHECKING:
    from pathlib import Path

    from acp_tui.config.user_tools import UserTool

MAX_OUTPUT_BYTES = 200_000
"""The maximum number of bytes of stdout that the agent gets."""
STDERR_LINES = 50


class UserToolRunner:
    """The user's own tools: checks the arguments of calls and runs the commands."""

    def __init__(self, tools: dict[str, UserTool], cwd: Path) -> None:
        self.tools = tools
        self._cwd = str(cwd)

    def prepare(self, name: str, arguments: dict[str, Any]) -> PreparedCall | None:
        """Check the arguments of a call; return None if there is no such tool. Raises `InvalidCallError`."""
        tool = self.tools.get(name)
        if tool is None:
            return None
        from acp_tui.mcp.schema_validation import SchemaValidator

        if fault := SchemaValidator(tool.schema).fault(arguments):
            raise InvalidCallError(f"The arguments do not match the schema: {fault.sentence}.")

        async def run(_call_id: str) -> ToolResult:
            return await self._run(tool, arguments)

        return PreparedCall(run, facts=(("command", shlex.join(tool.command)),))

    async def _run(self, tool: UserTool, arguments: dict[str, Any]) -> ToolResult:
        program = shutil.which(tool.command[0])
        if program is None:
            return failure(f"The program {tool.command[0]} of this tool was not found.")
        try:
            process = await PipedProcess.start(
                os.path.abspath(program),  # noqa: PTH100 - keeps links
                tool.command,
                cwd=self._cwd,
                env=os.environ,
            )
        except StartError as error:
            return failure(f"The tool could not be started: {error}.")
        try:
            async with asyncio.timeout(tool.timeout):
                process.write(json.dumps(arguments).encode() + b"\n")
                process.close_stdin()
                output, is_cut = await _read(process)
                await process.wait_for_end()
        except TimeoutError:
            return failure(f"The tool did not end within {tool.timeout:g} s and was stopped.")
        finally:
            await process.end(grace_seconds=0)
        text = output.decode("utf-8", "replace")
        if is_cut:
            text += f"\n… the output is longer than {MAX_OUTPUT_BYTES:,} bytes"
        if process.returncode == 0:
            return ToolResult(text or "The tool ended without output.")
        return failure("\n".join(filter(None, (text, *process.stderr_tail(STDERR_LINES), _ending(process)))))


async def _read(process: PipedProcess) -> tuple[bytes, bool]:
    """Read all of stdout. Return the first `MAX_OUTPUT_BYTES` bytes, and whether there were more."""
    kept = b""
    is_cut = False
    while block := await process.read():
        room = MAX_OUTPUT_BYTES - len(kept)
        is_cut = is_cut or len(block) > room
        kept += block[:room]
    return kept, is_cut


def _ending(process: PipedProcess) -> str:
    code = process.returncode
    if code is None:
        return "The tool was stopped."
    return (
        f"The tool ended with exit code {code}."
        if code > 0
        else f"The tool was killed by {signal_name(-code)}."
    )
