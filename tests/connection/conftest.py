"""Clients of scripted agents, which are closed after each test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import pytest

from tests.support.connection import Client

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


class MakeClient(Protocol):
    """Creates a client for a module in `tests/fake_agents` and its arguments."""

    def __call__(self, module: str, *args: str, **env: str) -> Client: ...


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[MakeClient]:
    """Create clients, and check at the end that no process of their agents is left."""
    made: list[Client] = []

    def make(module: str, *args: str, **env: str) -> Client:
        made.append(Client.of(tmp_path, module, *args, env=env))
        return made[-1]

    yield make
    for one in made:
        connection: Any = getattr(one, "connection", None)
        if connection is not None:
            await connection.close()
            assert len(one.exits) == 1
        assert one.left_behind() == []
