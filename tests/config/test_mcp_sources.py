"""Reading MCP servers from `config.toml` and from the files of other programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.config import mcp, mcp_sources
from acp_tui.config.mcp import NO_WEBSOCKET, Server
from acp_tui.config.settings import load
from acp_tui.errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

    from tests.config.conftest import WriteConfig


def read(tmp_path: Path, entry: dict[str, Any]) -> Server:
    """Write a server to a JSON file and read it."""
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"x": entry}}))
    [server] = mcp_sources.from_json_file(file)
    return server


def test_stdio_and_remote_servers_are_read_from_config_toml(write_config: WriteConfig, project: Path) -> None:
    file = write_config(
        """
[mcp_servers.files]
command = "npx"
args = ["-y", "server-files", "${HOME}"]
env = { TOKEN = "${TOKEN}" }
enabled = false
agents = ["gemini", "codex"]

[mcp_servers.web]
url = "https://example.org/mcp"
type = "sse"
headers = { Authorization = "Bearer ${KEY}" }
"""
    )
    settings = load(project, environ={})
    assert settings.problems == []
    assert settings.mcp_servers == [
        Server(
            name="files",
            file=file,
            line=2,
            command="npx",
            args=["-y", "server-files", "${HOME}"],
            env={"TOKEN": "${TOKEN}"},
            enabled=False,
            agents=["gemini", "codex"],
        ),
        Server(
            name="web",
            file=file,
            line=9,
            transport="sse",
            url="https://example.org/mcp",
            headers={"Authorization": "Bearer ${KEY}"},
        ),
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("mcp_servers = []", ":1: mcp_servers: expected tables, [mcp_servers.NAME], got []"),
        (
            "mcp_servers.x = 3",
            ":1: mcp_servers.x: expected a table, got 3; no agent gets the server",
        ),
        ("[mcp_servers.x]", ":1: mcp_servers.x: no command; no agent gets the server"),
        (
            '[mcp_servers.x]\ntype = "http"',
            ":1: mcp_servers.x: no URL; no agent gets the server",
        ),
        (
            '[mcp_servers.x]\ncommand = "y"\nurl = "http://y"',
            ":1: mcp_servers.x: it has both a command and a URL; remove one, or set `type`"  # noqa: ISC004 - one text
            "; no agent gets the server",
        ),
        (
            '[mcp_servers.x]\ncommand = "y"\n\nargs = "z"',
            ":4: mcp_servers.x.args: expected a list of strings, got 'z'; no agent gets the server",
        ),
        (
            '[mcp_servers.x]\ntype = "pigeon"\nurl = "http://y"',
            ":2: mcp_servers.x.type: expected stdio, http or sse, got 'pigeon'; no agent gets the server",
        ),
        (
            '[mcp_servers.x]\ncommand = "y"\ncomand = "z"',
            ":3: mcp_servers.x.comand: unknown key; did you mean 'command'?",
        ),
    ],
)
def test_invalid_servers_in_config_toml_are_reported(
    write_config: WriteConfig, project: Path, text: str, problem: str
) -> None:
    file = write_config(text)
    assert [str(found) for found in load(project, environ={}).problems] == [f"{file}{problem}"]


def test_a_settings_file_of_gemini_is_read(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text(
        """// Gemini's settings.json, say
{
  "theme": "dark", /* not ours
  */
  "mcpServers": {
    "local": {
      "command": "./server",
      "args": ["--port", 80],
      "env": {"PORT": 80},
      "cwd": "/x",
      "trust": true,
    },
    "stream": {"httpUrl": "https://example.org/a", "headers": {"X": "y"}, "timeout": 5000},
    "events": {"url": "https://example.org/sse?x=1"},
    "typed": {"url": "https://example.org/b", "transportType": "streamable-http", "disabled": true},
    "odd \\"name\\" // no comment": {"type": "stdio", "command": ["npx", "-y"], "args": ["z"]}
  },
}
"""
    )
    local, stream, events, typed, odd = mcp_sources.from_json_file(file)
    assert (local.transport, local.command, local.args) == ("stdio", "./server", ["--port", "80"])
    assert (local.env, local.cwd, local.extra) == ({"PORT": "80"}, "/x", {"trust": True})
    assert (stream.transport, stream.url) == ("http", "https://example.org/a")
    assert (stream.headers, stream.timeout, stream.extra) == ({"X": "y"}, 5.0, {})
    assert (events.transport, typed.transport) == ("sse", "http")
    assert (events.enabled, typed.enabled) == (True, False)
    assert (odd.name, odd.command, odd.args) == ('odd "name" // no comment', "npx", ["-y", "z"])
    assert [server.line for server in (local, stream, events, typed, odd)] == [6, 13, 14, 15, 16]
    assert {server.file for server in (local, odd)} == {file}
    assert not any(server.problems for server in (local, stream, events, typed, odd))


def test_an_mcp_file_of_vs_code_is_read(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text('{"inputs": [{"id": "key"}], "servers": {"x": {"type": "http", "url": "https://y"}}}')
    [server] = mcp_sources.from_json_file(file)
    assert (server.name, server.transport, server.line) == ("x", "http", 1)


@pytest.mark.parametrize(
    ("entry", "transport"),
    [
        ({"url": "https://x/mcp"}, "http"),
        ({"url": "https://x/sse/"}, "sse"),
        ({"httpUrl": "https://x/sse"}, "http"),
        ({"url": "https://x/sse", "type": "http"}, "http"),
        ({"url": "https://x", "type": "SSE"}, "sse"),
        ({"url": "https://x", "transport": "streamable_http"}, "http"),
        ({"command": "x", "url": "https://x", "type": "http"}, "http"),
        ({"command": "x", "type": "local"}, "stdio"),
    ],
)
def test_the_transport_is_chosen_by_type_or_url(
    tmp_path: Path, entry: dict[str, Any], transport: str
) -> None:
    server = read(tmp_path, entry)
    assert (server.transport, server.problems) == (transport, [])


def test_every_invalid_field_of_a_server_is_reported(tmp_path: Path) -> None:
    server = read(tmp_path, {"command": "x", "args": {}, "env": {"A": None}, "agents": 3, "enabled": "yes"})
    assert server.problems == [
        "args: expected a list of strings, got a table",
        "env: expected a string for 'A'",
        "agents: expected a list of strings, got 3",
        "enabled: expected true or false, got 'yes'",
    ]
    assert read(tmp_path, {}).problems == ["no command"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", r"mcp.json:1: not valid JSON"),
        ('{"mcpServers": {\n"a": }}', r"mcp.json:2: not valid JSON"),
        ("[]", r'mcp.json has no "mcpServers" object'),
        ("{}", r'mcp.json has no "mcpServers" object'),
        ('{"mcpServers": []}', r'mcp.json has no "mcpServers" object'),
        ("9" * 5000, r"mcp.json is not valid JSON: Exceeds the limit"),
        ("[" * 100_000, r"mcp.json is nested too deeply"),
    ],
)
def test_a_file_without_servers_is_a_usage_error(tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(text)
    with pytest.raises(UserError, match=sentence) as caught:
        mcp_sources.from_json_file(file)
    assert caught.value.exit_code == 2


def test_a_file_that_is_missing_or_not_utf8_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"gone\.json cannot be read: No such file"):
        mcp_sources.from_json_file(tmp_path / "gone.json")
    file = tmp_path / "latin.json"
    file.write_bytes(b'{"caf\xe9": 1}')
    with pytest.raises(UserError, match="is not UTF-8 text"):
        mcp_sources.from_json_file(file)


def test_comment_markers_inside_strings_are_kept() -> None:
    text = '{"a": "http://x, }", /* , */ "b": ["/* no */", // yes\n 1,], }'
    assert json.loads(mcp_sources.without_comments(text)) == {"a": "http://x, }", "b": ["/* no */", 1]}


def test_key_lines_leave_out_keys_inside_arrays() -> None:
    text = '{"a": [{"b": 1},\n ["c"], "d"],\n"e": {"f": {},\n"g": "h"}}'
    assert mcp_sources.key_lines(text) == ({("a",): 1, ("e",): 3, ("e", "f"): 3, ("e", "g"): 4}, set())


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        (
            '{"a": {"command": "x"}, "a": {"command": "y"}}',
            ["the file defines it more than once; remove the other definitions"],
        ),
        ('{"a": {"command": "x", "command": "y"}}', ["command: the key occurs more than once"]),
        (
            '{"a": {"command": "x", "env": {"K": "1", "K": "2"}}}',
            ["env.K: the key occurs more than once"],
        ),
        ('{" ": {"command": "x"}}', ["its name is empty"]),
        ('{"a": ["x"]}', ['must be an object such as {"command": …}; it is an array']),
        ('{"a": {"type": "ws", "url": "ws://x"}}', [NO_WEBSOCKET]),
    ],
)
def test_mistakes_in_a_json_file_are_named(tmp_path: Path, text: str, problems: list[str]) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(f'{{"mcpServers": {text}}}')
    [server] = mcp_sources.from_json_file(file)
    assert server.problems == problems


@pytest.mark.parametrize("name", ["acp-tui", "ACP-TUI"])
def test_no_server_has_the_name_of_acp_tuis_own(tmp_path: Path, name: str) -> None:
    server = mcp.parse(name, {"command": "x"}, tmp_path / "config.toml", 1)
    assert server.problems == ["the name acp-tui is reserved for acp-tui's own server"]
