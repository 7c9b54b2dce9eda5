"""Runs the built-in agent as a process, with the client of the demo agent's tests."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from acp_tui.wire.schema_check import schema_violations
from tests.support.demo_client import DemoClient

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from pathlib import Path

    from tests.support.demo_client import Frame
    from tests.support.fake_model import FakeModel


class LocalAgentClient(DemoClient):
    """A client of the built-in agent, with the folder `root` as the workspace."""

    async def open(self, **params: Any) -> str:
        """Initialize with fewer capabilities than the demo's client, and create a session."""
        return await self.open_session(**{"capabilities": CAPABILITIES, **params})

    def statuses(self) -> list[str]:
        """Return the final status of each tool call, in order."""
        return [call["status"] for call in self.calls()]

    def notices(self) -> list[str]:
        """Return the notices as texts."""
        notices = self.updates("notice")
        return [" ".join(filter(None, (each["title"], each.get("description")))) for each in notices]


CAPABILITIES: Frame = {"elicitation": {"form": {}}, "session": {"notices": {}, "compaction": {}}}
"""Of a client that has neither files nor terminals: the agent reads, writes and runs by itself."""


@asynccontextmanager
async def local_agent(
    root: Path,
    model: FakeModel | str,
    *arguments: str,
    data: Path | None = None,
    env: Mapping[str, str] | None = None,
    command: Sequence[str] = (),
) -> AsyncIterator[LocalAgentClient]:
    """Run the agent with a model server, and check at the end that its frames follow the protocol.

    Args:
        model: A running server, or a base URL.
        arguments: Further ones of the profile.
        data: The folder of the sessions; by default one beside the workspace.
        command: The whole command line instead, without the interpreter.
    """
    command = list(command) or [
        "-m",
        "acp_tui.local_agent",
        "--data-dir",
        str(data or root.parent / "data"),
        *("--base-url", model if isinstance(model, str) else model.url),
        *(() if "--model" in arguments else ("--model", "fake-model")),
    ]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *command,
        *arguments,
        env={**os.environ, **(env or {})},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        limit=64 * 1024 * 1024,
    )
    client = LocalAgentClient(process, root)
    try:
        yield client
    finally:
        await client.stop()
    assert client.invalid_lines == []
    methods: dict[Any, str] = dict(client.sent_methods)
    found = [violation for frame in client.frames for violation in schema_violations(frame, methods)]
    assert [each for each in found if not each.check.startswith("error")] == []
