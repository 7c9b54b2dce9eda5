"""`acp-tui mcp bridge` as a process: how it is started, and what is left when it ends."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.controller.mcp.app_socket import AppSocket
from acp_tui.mcp.bridge.bridge import NO_APP
from tests.support.mcp_servers import stdio_command, stdio_server
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from acp_tui.processes.reaper import Reaper
    from tests.support.mcp_servers import ServerLog

COMMAND = [sys.executable, "-m", "acp_tui", "mcp", "bridge", "script"]
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
PIPE = subprocess.PIPE


@asynccontextmanager
async def started(*options: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Start a bridge and connect to the server through it."""
    process = await asyncio.create_subprocess_exec(*COMMAND, *options, stdin=PIPE, stdout=PIPE, stderr=PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
    process.stdin.write(json.dumps(message).encode() + b"\n")
    answer = json.loads(await process.stdout.readline())
    assert answer["result"]["serverInfo"]["name"] == "script"
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate(b"")


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture
def mcp_config(tmp_path: Path) -> str:
    command, *args = stdio_command()
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"script": {"command": command, "args": args}}}))
    return str(file)


async def test_without_an_app_the_settings_are_used_and_stderr_says_so(
    mcp_config: str, server_log: ServerLog
) -> None:
    async with started("--mcp-config", mcp_config) as process:
        _, said = await process.communicate(b"")  # closes stdin
    assert process.returncode == 0
    assert said.decode() == f"acp-tui mcp bridge script: {NO_APP}\n"
    assert server_log.methods()[-1] == "end"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
async def test_the_server_ends_with_the_bridge(
    number: signal.Signals, mcp_config: str, server_log: ServerLog
) -> None:
    async with started("--mcp-config", mcp_config) as process:
        pid = server_log.messages("start")[0]["pid"]
        process.send_signal(number)
        await process.wait()
        await until(lambda: not is_running(pid))


async def test_the_bridge_ends_when_the_session_does(
    server_log: ServerLog, tmp_path: Path, reaper: Reaper
) -> None:
    async def server(_params: dict[str, Any]) -> dict[str, Any]:
        return {"server": stdio_server().to_json(), "roots": [str(tmp_path)], "environ": {}, "forms": False}

    app = AppSocket({"server": server}, reaper)
    path = await app.open()
    async with started("--socket", str(path), "--session", app.session_key) as process:
        await app.close()
        await process.wait()
        assert process.returncode == 0
        await until(lambda: "end" in server_log.methods())


async def test_an_unknown_session_is_refused_in_one_sentence(reaper: Reaper) -> None:
    app = AppSocket({}, reaper)
    path = await app.open()
    process = await asyncio.create_subprocess_exec(
        *COMMAND, "--socket", str(path), "--session", "other", stdin=PIPE, stdout=PIPE, stderr=PIPE
    )
    out, said = await process.communicate(b"")
    await app.close()
    assert (process.returncode, out) == (1, b"")
    assert b"script is not available: " in said
