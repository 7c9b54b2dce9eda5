"""`mcp.toml`: servers that acp-tui wrote, and which servers the user turned on or off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from acp_tui.config.mcp import servers_for_agent
from acp_tui.config.paths import mcp_file
from acp_tui.config.settings import load

if TYPE_CHECKING:
    from pathlib import Path

    from tests.config.conftest import WriteConfig


def write_state(text: str) -> Path:
    """Write `mcp.toml`."""
    file = mcp_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def sent_to(project: Path, agent: str) -> list[str]:
    """Return the servers that an agent gets."""
    servers = load(project, environ={}).mcp_servers
    sent, _ = servers_for_agent(servers, agent, http=True, sse=True)
    return [one.server.name for one in sent]


def test_servers_of_both_files_are_used_and_config_toml_wins(
    write_config: WriteConfig, project: Path
) -> None:
    config = write_config('[mcp_servers.a]\ncommand = "sh"\n')
    write_state('[mcp_servers.a]\ncommand = "cat"\n[mcp_servers.b]\ncommand = "cat"\n')
    servers = load(project, environ={}).mcp_servers
    sent, left_out = servers_for_agent(servers, "demo", http=True, sse=True)
    found = [(one.server.name, one.server.command.rpartition("/")[2]) for one in sent]
    assert found == [("b", "cat"), ("a", "sh")]
    assert [one.reason for one in left_out] == [f"replaced by the definition in {config}:1"]


@pytest.mark.parametrize(
    ("definition", "state", "agents"),
    [
        ("", "enabled = false", []),
        ("enabled = false", "enabled = true", ["codex", "gemini"]),
        ("", "disabled_for = ['codex']", ["gemini"]),
        ("enabled = false", "enabled_for = ['codex']", ["codex"]),
        ("agents = ['codex']", "enabled_for = ['gemini']", ["codex", "gemini"]),
        ("agents = ['codex']", "enabled = true", ["codex"]),
    ],
)
def test_what_the_user_switched_wins_over_the_definition(
    write_config: WriteConfig, project: Path, definition: str, state: str, agents: list[str]
) -> None:
    write_config(f'[mcp_servers.a]\ncommand = "sh"\n{definition}\n')
    write_state(f"[mcp_state.a]\n{state}\n")
    assert [agent for agent in ("codex", "gemini") if sent_to(project, agent)] == agents


def test_mistakes_in_mcp_toml_are_reported_with_their_lines(project: Path, home: Path) -> None:
    file = write_state(
        '[mcp_state.a]\nenabled = 3\nelse = 1\n[other]\n[mcp_servers.x]\nurl = "x"\nargs = 1\n'
    )
    problems = [str(problem) for problem in load(project, environ={}).problems]
    assert [problem.partition(": ")[0] for problem in problems] == [f"{file}:{line}" for line in (4, 2, 3, 7)]
