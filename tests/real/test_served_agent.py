"""`acp-tui serve` with a client that uses the official TypeScript SDK."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.agent_server import served
from tests.support.cli import environment
from tests.support.typescript_sdk import NPM, run_script

SCRIPT = Path(__file__).with_name("served_agent_client.mjs")


@pytest.mark.skipif(NPM is None, reason="npm is not installed")
@pytest.mark.parametrize("version", ["1", "2"])
def test_a_turn_over_the_transport_of_the_sdk(version: str, project: Path) -> None:
    with served("demo", cwd=project) as server:
        env = environment(TOKEN=server.token)
        found = json.loads(run_script(SCRIPT, server.url, version, str(project), "help", env=env))
        server.wait_for("[1] disconnected")
        server.wait_for_end_of_agents()
    assert found["version"] == int(version)
    assert found["refused"] == -32602
    assert any("flood" in json.dumps(update) for update in found["updates"])
