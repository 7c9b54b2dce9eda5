"""The MCP server that comes with the demo agent, on the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from acp_tui.cli import main
from tests.support.cli import run

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def _listed(capsys: pytest.CaptureFixture[str], *options: str) -> list[str]:
    assert main(["mcp", "list", "--json", *options]) == 0
    return [server["name"] for server in json.loads(capsys.readouterr().out)["servers"]]


def test_demo_server_can_be_called_and_is_listed_for_the_demo_agent_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["mcp", "call", "demo", "count_words", '{"text": "one two"}']) == 0
    assert json.loads(capsys.readouterr().out) == {"words": 2, "characters": 7}
    assert _listed(capsys) == []
    assert _listed(capsys, "--agent", "demo") == ["demo"]
    assert _listed(capsys, "--agent", "claude-code") == []


def test_demo_agent_is_given_its_server_unless_it_is_disabled(tmp_path: Path) -> None:
    prompt = ("exec", "demo", "--policy", "yolo", '/mcp call count_words {"text": "one two"}')
    assert "The tool answered" in run(*prompt, cwd=tmp_path).out
    assert run("mcp", "disable", "demo", cwd=tmp_path).code == 0
    assert "Your client sent no MCP servers." in run(*prompt, cwd=tmp_path).out
