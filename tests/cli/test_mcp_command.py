"""`acp-tui mcp list`: each server with file and line, recipients, and masked secrets."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from acp_tui.cli import main

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def config(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write three servers to `config.toml`."""
    (home / "config").mkdir(parents=True)
    file = home / "config" / "config.toml"
    file.write_text(
        """[mcp_servers.files]
command = "sh"
args = ["-c", "${GREETING}"]

[mcp_servers.web]
url = "https://example.org/mcp"
agents = ["gemini", "codex"]

[mcp_servers.off]
command = "sh"
enabled = false
"""
    )
    monkeypatch.setenv("GREETING", "hello")
    monkeypatch.chdir(tmp_path)
    return file


def test_each_server_is_listed_with_file_line_and_recipients(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mcp", "list"]) == 0
    out = re.sub(r"(digest +)[0-9a-f]{12}", r"\g<1>3fa9c1d2e8b0", capsys.readouterr().out)
    assert out == (
        f"files  {config}:1\n"
        "     2  command  sh -c '${GREETING}'\n"
        "        digest   3fa9c1d2e8b0\n"
        "        sent     to every agent\n"
        f"web  {config}:5\n"
        "     6  http    https://example.org/mcp\n"
        "        digest  3fa9c1d2e8b0\n"
        "        sent    to gemini, codex, through the bridge if the agent lacks http\n"
        f"off  {config}:9\n"
        "    10  command   sh\n"
        "        digest    3fa9c1d2e8b0\n"
        "        left out  it is disabled\n"
    )


def test_agent_option_lists_only_the_servers_of_that_agent(
    config: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GREETING")
    assert main(["mcp", "list", "--agent", "demo"]) == 0
    out = capsys.readouterr().out
    assert "left out  the environment variable GREETING is not set\n" in out
    assert "left out  it is only for gemini, codex\n" in out
    assert main(["mcp", "--agent", "codex"]) == 0
    assert "sent    to codex, through the bridge if the agent lacks http\n" in capsys.readouterr().out


def test_an_unknown_agent_is_a_usage_error(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "list", "--agent", "gemin"]) == 2
    assert capsys.readouterr().err == 'acp-tui: Unknown agent "gemin"; did you mean gemini?\n'


def test_servers_of_mcp_config_files_are_listed_and_replace_those_of_the_same_name(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mcp.json"
    file.write_text('{"mcpServers": {\n"files": {"command": "sh", "cwd": "/", "trust": true, "else": 1}}}')
    assert main(["mcp", "list", "--mcp-config", str(file)]) == 0
    out = capsys.readouterr().out
    assert f"left out replaced by the definition in {file}:2 web" in " ".join(out.split())
    _, _, last = out.rpartition(f"files  {file}:2\n")
    assert re.sub("digest.*", "digest", last) == (
        "     2  command  sh\n"
        "     2  folder   /\n"
        "     2  trust    true in the file, but acp-tui ignores this setting\n"
        "     2  unused   else: unknown to acp-tui\n"
        "        digest\n"
        "        sent     to every agent, through the bridge because its settings need\n"
        "                 the bridge\n"
    )


def test_secrets_are_masked_and_references_are_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEY", "value-of-key")
    local = {
        "command": "sh",
        "args": ["--api-key", "hush-1-hush-hush", "--port", "80"],
        "env": {"API_KEY": "hush-2", "TOKEN": "${KEY:-hush-3}", "OTHER_TOKEN": "${KEY}", "PORT": "80"},
    }
    remote = {
        "url": "https://user:hush-4@example.org/mcp?api_key=hush5hush5hush5",
        "headers": {"Authorization": "Bearer hush-6", "X-Api-Key": "${KEY}", "Cookie": "Bearer ${KEY}"},
    }
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"local": local, "remote": remote}}))
    assert main(["mcp", "list", "--mcp-config", str(file)]) == 0
    out = capsys.readouterr().out
    assert "hush" not in out
    assert "value-of-key" not in out
    for shown in (
        "--port 80",
        "API_KEY=[redacted]",
        "env      TOKEN=[redacted]",
        "OTHER_TOKEN=${KEY}",
        "PORT=80",
        "Authorization: [redacted]",
        "X-Api-Key: ${KEY}",
        "Cookie: Bearer ${KEY}",
    ):
        assert shown in out


def test_without_servers_the_settings_file_is_named(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["mcp", "list"]) == 0
    assert " ".join(capsys.readouterr().out.split()) == (
        f"No MCP servers: none in {home}/config/config.toml or this folder, and no --mcp-config was given. "
        "`acp-tui mcp add` adds a server, and `acp-tui mcp import` copies servers from other programs."
    )


def test_without_servers_no_word_is_broken_at_the_edge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ACP_TUI_HOME", "/nowhere")
    assert main(["mcp"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert sum("--mcp-config" in line for line in lines) == 1


def test_the_list_as_json_has_the_line_of_each_value(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mcp", "list", "--json"]) == 0
    files, web, off = json.loads(capsys.readouterr().out)["servers"]
    assert (files["command"], files["args"], files["line"]) == ("sh", ["-c", "${GREETING}"], 1)
    assert (files["lines"], files["file"]) == ({"command": 2, "args": 3}, str(config))
    assert [(one["sent_to"], one["left_out"]) for one in (files, web, off)] == [
        ("all", None),
        (["gemini", "codex"], None),
        ([], "it is disabled"),
    ]


def test_an_agent_that_reads_the_file_by_itself_is_named(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".mcp.json").write_text('{"mcpServers": {"mine": {"command": "sh"}}}')
    assert main(["mcp", "list"]) == 0
    out = capsys.readouterr().out
    assert (
        "left out  you have not trusted this folder\n        loaded    Claude Code reads .mcp.json by" in out
    )
    assert main(["mcp", "list", "--agent", "claude-code"]) == 0
    assert "left out  Claude Code reads .mcp.json by itself\n" in capsys.readouterr().out
    assert main(["mcp", "list", "--agent", "codex"]) == 0
    assert "Claude Code" not in capsys.readouterr().out


def test_a_file_that_cannot_be_read_is_a_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mcp", "list", "--mcp-config", str(tmp_path / "gone.json")]) == 2
    assert "gone.json cannot be read: No such file or directory" in capsys.readouterr().err


def test_the_agents_that_are_given_the_own_server_are_listed(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config.write_text('[own_server]\nenabled = true\nagents = ["gemini"]\n')
    assert main(["mcp", "list"]) == 0
    assert capsys.readouterr().out.endswith(f"acp-tui's own tools are given to gemini ({config}:2).\n")
    assert main(["mcp", "list", "--agent", "gemini", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["own_server"] == {
        "agents": ["gemini"],
        "origin": f"{config}:2",
    }
    assert main(["mcp", "list", "--agent", "codex", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["own_server"] is None
