"""Demo agents for tests: what they send is checked against the schema when the test is over.

Starting one costs half a second, so most tests share a process (each has sessions of its own).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pytest
import pytest_asyncio

from acp_tui.demo.sample import make_project
from tests.support.demo_client import Driver
from tests.support.schema import violations

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


class Start(Protocol):
    """How a test starts an agent of its own."""

    async def __call__(self, root: Path, *arguments: str, env: dict[str, str] | None = None) -> Driver:
        """Run it for this folder."""


def _check(driver: Driver) -> None:
    if not driver.odd:
        assert driver.stderr == ""
        assert driver.noise == []
        assert violations(driver.frames, driver.asked) == []


@pytest_asyncio.fixture(loop_scope="session")
async def start() -> AsyncIterator[Start]:
    """Starts agents, and ends them after the test."""
    drivers: list[Driver] = []

    async def begin(root: Path, *arguments: str, env: dict[str, str] | None = None) -> Driver:
        drivers.append(await Driver.start(root, *arguments, env=env))
        return drivers[-1]

    yield begin
    for driver in drivers:
        await driver.stop()
        _check(driver)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Driver]:
    """The agent that tests share."""
    home = tmp_path_factory.mktemp("demo")
    driver = await Driver.start(home, "--store", str(home / "store"))
    yield driver
    await driver.stop()


@pytest_asyncio.fixture(loop_scope="session")
async def demo(shared: Driver, folder: Path) -> AsyncIterator[Driver]:
    """A demo agent, for a folder that is not the sample project unless the test says otherwise."""
    shared.forget(folder)
    yield shared
    await shared.call("session/list")  # what it still had to say has come when this is answered
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
    """A copy of the sample project; it is made below the home of this test."""
    return make_project()
