"""Demo agents for tests. After each test the frames they sent are checked against the schema.

Starting an agent takes half a second, so most tests share a process and open their own sessions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pytest
import pytest_asyncio

from acp_tui.demo.sample_project import make_project
from tests.support.demo_client import DemoClient
from tests.support.schema import violations

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


class StartDemo(Protocol):
    """Starts an agent for one test."""

    async def __call__(self, root: Path, *arguments: str, env: dict[str, str] | None = None) -> DemoClient:
        """Start an agent for a folder."""


def _check(client: DemoClient) -> None:
    if not client.sends_invalid:
        assert client.stderr == ""
        assert client.invalid_lines == []
        assert violations(client.frames, client.sent_methods) == []


@pytest_asyncio.fixture(loop_scope="session")
async def start() -> AsyncIterator[StartDemo]:
    """Return a function that starts agents; they are stopped after the test."""
    clients: list[DemoClient] = []

    async def start_client(root: Path, *arguments: str, env: dict[str, str] | None = None) -> DemoClient:
        clients.append(await DemoClient.start(root, *arguments, env=env))
        return clients[-1]

    yield start_client
    for client in clients:
        await client.stop()
        _check(client)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[DemoClient]:
    """The agent that most tests share."""
    home = tmp_path_factory.mktemp("demo")
    client = await DemoClient.start(home, "--store", str(home / "store"))
    yield client
    await client.stop()


@pytest_asyncio.fixture(loop_scope="session")
async def demo(shared: DemoClient, folder: Path) -> AsyncIterator[DemoClient]:
    """The shared agent, for a folder that is not the sample project unless the test changes `root`."""
    shared.reset(folder)
    yield shared
    await shared.call("session/list")  # when this is answered, all earlier frames have arrived
    _check(shared)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that is not the sample project."""
    folder = tmp_path / "somewhere"
    folder.mkdir()
    (folder / "README.md").write_text("# Somewhere\n\nSecond paragraph.\n")
    return folder


@pytest.fixture
def sample(home: Path) -> Path:
    """A copy of the sample project, in the test's home folder."""
    return make_project()
