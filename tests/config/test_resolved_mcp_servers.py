"""MCP servers that are ready to be started: expanded, absolute, with their options."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.config import mcp, mcp_sources
from acp_tui.config.mcp import ResolvedServer, Server, SignInSettings, resolve_server
from acp_tui.config.settings import load

if TYPE_CHECKING:
    from pathlib import Path

    from tests.config.conftest import WriteConfig


def server(tmp_path: Path, **fields: Any) -> Server:
    """Return a server, by default a stdio server."""
    return Server(**{"name": "x", "file": tmp_path / "mcp.json", "line": 3, "command": "sh", **fields})


def test_options_of_config_toml_reach_the_resolved_server(write_config: WriteConfig, project: Path) -> None:
    write_config(
        """
[mcp_servers.files]
command = "sh"
cwd = "work"
timeout = 90
include_tools = ["read"]
exclude_tools = ["write"]

[mcp_servers.web]
url = "https://example.org/mcp"
sign_in = { client_id = "me", client_secret = "${SECRET}", grant = "client_credentials" }
"""
    )
    settings = load(project, environ={})
    assert settings.problems == []
    files, web = (resolve_server(one, {"PATH": "/bin", "SECRET": "s"}) for one in settings.mcp_servers)
    assert (files.cwd, files.timeout) == (settings.mcp_servers[0].file.parent / "work", 90.0)
    assert [files.allows_tool(name) for name in ("read", "write", "other")] == [True, False, False]
    assert web.sign_in == SignInSettings("me", "s", grant="client_credentials")
    assert (files.connection, web.connection) == ("bridge", "bridge")


def test_a_resolved_server_survives_json(tmp_path: Path) -> None:
    options = {"timeout": 1.5, "include_tools": ["a"], "sign_in": SignInSettings(scope="all")}
    resolved = resolve_server(server(tmp_path, cwd="sub", env={"A": "1"}, **options))
    assert ResolvedServer.from_json(json.loads(json.dumps(resolved.to_json()))) == resolved


def test_keys_of_gemini_are_understood(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    entry = {"command": "sh", "timeout": 1500, "includeTools": ["a", "b(x)"], "excludeTools": ["a"]}
    file.write_text(json.dumps({"mcpServers": {"x": entry}}))
    [found] = mcp_sources.from_json_file(file)
    resolved = resolve_server(found)
    assert (resolved.timeout, resolved.include_tools, resolved.exclude_tools) == (1.5, ("a", "b"), ("a",))
    assert [resolved.allows_tool(name) for name in ("a", "b")] == [False, True]


@pytest.mark.parametrize(
    ("oauth", "expected"),
    [
        ({"enabled": True, "clientId": "me", "scopes": ["a", "b"]}, SignInSettings("me", scope="a b")),
        ({"clientId": "me", "callbackPort": 8080}, SignInSettings("me", redirect_port=8080)),
        ({"enabled": False}, None),
    ],
)
def test_oauth_of_other_programs_is_a_sign_in(
    tmp_path: Path, oauth: dict[str, Any], expected: SignInSettings | None
) -> None:
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({"mcpServers": {"x": {"url": "https://x.org", "oauth": oauth}}}))
    [found] = mcp_sources.from_json_file(file)
    assert (found.sign_in, found.problems, found.extra) == (expected, [], {})


def test_a_file_among_the_arguments_becomes_absolute(tmp_path: Path) -> None:
    (tmp_path / "serve").mkdir()
    (tmp_path / "serve" / "main.py").touch()
    args = ["serve/main.py", "./serve/main.py", "serve", ".", "gone.py", "--x=serve/main.py"]
    file = f"{tmp_path}/serve/main.py"
    assert resolve_server(server(tmp_path, args=args)).args == (file, file, *args[2:])
    assert resolve_server(server(tmp_path, args=args, cwd="serve")).args == tuple(args)


@pytest.mark.parametrize(
    "entry", [{"url": "wss://x/mcp"}, {"url": "https://x", "type": "websocket"}, {"url": "x", "type": "ws"}]
)
def test_websocket_is_refused_in_words(tmp_path: Path, entry: dict[str, str]) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"x": entry}}))
    [found] = mcp_sources.from_json_file(file)
    with pytest.raises(
        mcp.CannotSendError, match="MCP has no WebSocket transport; use an http or sse address"
    ):
        resolve_server(found)


@pytest.mark.parametrize(
    ("options", "connection"),
    [
        ({}, "direct"),
        ({"timeout": 5.0}, "bridge"),
        ({"exclude_tools": ["x"]}, "bridge"),
        ({"timeout": 5.0, "connection": "direct"}, "direct"),
        ({"connection": "bridge"}, "bridge"),
    ],
)
def test_what_an_agent_cannot_be_told_needs_the_bridge(
    tmp_path: Path, options: dict[str, Any], connection: str
) -> None:
    assert resolve_server(server(tmp_path, **options)).connection == connection
