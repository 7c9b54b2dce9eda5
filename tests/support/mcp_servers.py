"""Starts the MCP servers of `tests/mcp/servers/` and reads what they have recorded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.config.mcp import ResolvedServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acp_tui.config.mcp import Transport

PROGRAMS = Path(__file__).parent.parent / "mcp" / "servers"
STDIO_PROGRAM = PROGRAMS / "stdio_server.py"


def stdio_command(*options: str, name: str = "script") -> list[str]:
    """Return the command of the stdio server; `stdio_server.py --help` lists the options."""
    return [sys.executable, str(STDIO_PROGRAM), "--name", name, *options]


def stdio_server(*options: str, name: str = "script", env: dict[str, str] | None = None) -> ResolvedServer:
    """Return the stdio server with these options, as `acp_tui.mcp` is given it."""
    command, *args = stdio_command(*options, name=name)
    return ResolvedServer(name, "stdio", command=command, args=tuple(args), env=env or {})


@dataclass(slots=True)
class HttpServers:
    """The running `http_server.py`, whose docstring lists the paths."""

    port: int
    tls_port: int
    log: Path
    process: subprocess.Popen[bytes]

    def url(self, path: str = "/mcp") -> str:
        """Return the URL of a path."""
        return f"http://127.0.0.1:{self.port}{path}"

    def tls_url(self, path: str = "/mcp") -> str:
        """Return the URL of a path with TLS and a self-signed certificate."""
        return f"https://localhost:{self.tls_port}{path}"

    def server(
        self, path: str = "/mcp", *, name: str = "http", headers: dict[str, str] | None = None
    ) -> ResolvedServer:
        """Return the server at a path, as `acp_tui.mcp` is given it."""
        transport: Transport = "sse" if path.endswith("/sse") else "http"
        return ResolvedServer(name, transport, url=self.url(path), headers=headers or {})


@contextmanager
def run_http_servers(folder: Path) -> Iterator[HttpServers]:
    """Start `http_server.py` and end it after the tests."""
    log = folder / "http-servers.jsonl"
    environment = os.environ | {"MCP_SERVER_LOG": str(log)}
    command = [sys.executable, "-m", "tests.mcp.servers.http_server"]
    root = PROGRAMS.parent.parent.parent
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, cwd=root, env=environment) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            ports = json.loads(process.stdout.readline())
            yield HttpServers(ports["port"], ports["tls_port"], log, process)
        finally:
            process.stdin.close()


@dataclass(slots=True)
class ServerLog:
    """What the servers of one test have received, in their own words."""

    path: Path
    start: int = 0  # the length of the file when the test began

    def messages(self, method: str | None = None) -> list[dict[str, Any]]:
        """Return the recorded messages, or those of one method."""
        if not self.path.exists():
            return []
        with open(self.path, "rb") as file:
            file.seek(self.start)
            lines = [json.loads(line) for line in file if line.endswith(b"\n")]
        return [line for line in lines if method in (None, line["method"])]

    def methods(self) -> list[str | None]:
        """Return the methods of the recorded messages; an answer of the client has none."""
        return [message["method"] for message in self.messages()]

    def calls(self) -> list[tuple[str, dict[str, Any]]]:
        """Return the name and the arguments of each tool call."""
        found = [message["params"] for message in self.messages("tools/call")]
        return [(params["name"], params.get("arguments") or {}) for params in found]
