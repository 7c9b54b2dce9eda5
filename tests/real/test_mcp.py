"""MCP servers with real agents: a call in the conversation, in acp-tui's records and in the server's log."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.protocol.translator import fold
from acp_tui.store.wire_log import read_log
from tests.real.conftest import RIG
from tests.real.test_on_screen import quit_app
from tests.real.test_real_agents import WITH_TOOLS
from tests.support.cli import run
from tests.support.mcp_servers import ServerLog, stdio_command
from tests.support.terminal import Terminal

if TYPE_CHECKING:
    from tests.support.mcp_servers import HttpServers

AGENT = Path(__file__).with_name("mcp_agent.py")
HELLO, WORLD = {"text": "hello"}, {"text": "world"}
ASKS = {"claude-code": True, "opencode": False, "kimi-code": True}
"""Whether the agent asks before it calls a tool of an MCP server."""


def command(name: str) -> str:
    return shlex.join([sys.executable, str(AGENT), str(RIG), name])


def prompt(*calls: tuple[str, dict[str, Any]]) -> str:
    """Return a prompt for which the model calls these tools one after the other."""
    return f"mock:tool {json.dumps(calls)}"


def execute(name: str, words: str, *options: str, project: Path) -> dict[str, Any]:
    args = ("exec", "--command", command(name), words, "--output", "json", "--policy", "yolo", *options)
    done = run(*args, cwd=project)
    assert done.code == 0, done.err
    return done.result


@pytest.fixture
def http_log(http_servers: HttpServers) -> ServerLog:
    """Return the log of the servers over HTTP from now on."""
    log = http_servers.log
    return ServerLog(log, start=log.stat().st_size if log.exists() else 0)


def config(folder: Path, connection: str, http_servers: HttpServers, server_log: ServerLog) -> str:
    """Write the definitions of the server `script` over stdio and of `web` over HTTP."""
    program, *args = stdio_command()
    env = {"MCP_SERVER_LOG": str(server_log.path)}
    script = {"command": program, "args": args, "env": env, "connection": connection}
    web = {"url": http_servers.url(), "connection": connection}
    file = folder / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"script": script, "web": web}}))
    return str(file)


@pytest.mark.parametrize("connection", ["direct", "bridge"])
@pytest.mark.parametrize("name", WITH_TOOLS)
def test_a_call_is_the_same_everywhere(
    name: str,
    connection: str,
    project: Path,
    tmp_path: Path,
    http_servers: HttpServers,
    server_log: ServerLog,
    http_log: ServerLog,
) -> None:
    file = config(tmp_path, connection, http_servers, server_log)
    words = prompt(("script/echo", HELLO), ("web/echo", WORLD))
    result = execute(name, words, "--mcp-config", file, project=project)
    assert result["text"] == "All tools have answered.\n"
    assert server_log.calls() == [("echo", HELLO)]
    assert http_log.calls() == [("echo", WORLD)]
    shown = run("replay", "--text", str(Path(result["log"]).parent)).out
    for title, answer in (("script › echo", "hello"), ("web › echo", "world")):
        _, entry = shown.split(f"* {title} (completed")
        assert answer in entry.split("\n\n")[0]
    recorded = fold(read_log(Path(result["log"]))).mcp_calls
    sources = [decision["by"] for decision in result["permissions"]]
    if connection == "direct":
        assert recorded == []
        assert sources == ["policy", "policy"] * ASKS[name]
        return
    # What the agent has asked about with all arguments is not asked about again at the bridge.
    at_bridge = {"claude-code": ["policy", "covered"], "opencode": ["policy"], "kimi-code": ["policy"] * 2}
    assert sources == at_bridge[name] * 2
    assert [(call.server, call.tool, call.raw_arguments) for call in recorded] == [
        ("script", "echo", HELLO),
        ("web", "echo", WORLD),
    ]
    assert [call.raw_result["content"][0]["text"] for call in recorded] == ["hello", "world"]
    (entry,) = map(json.loads, run("mcp", "log", "script", "--json").out.splitlines())
    assert (entry["source"], entry["tool"], entry["arguments"]) == ("bridge", "echo", HELLO)
    assert entry["result"] == recorded[0].raw_result


def test_the_bridge_stops_a_rejected_call(
    project: Path, tmp_path: Path, http_servers: HttpServers, server_log: ServerLog
) -> None:
    """OpenCode does not ask about tools of MCP servers, so only the bridge can stop it."""
    file = config(tmp_path, "bridge", http_servers, server_log)
    words = prompt(("script/delete", {"path": "notes.txt"}), ("script/echo", HELLO))
    rule = ("--reject", "mcp:script/delete")
    result = execute("opencode", words, "--mcp-config", file, *rule, project=project)
    assert [call["status"] for call in result["toolCalls"]] == ["failed", "completed"]
    assert server_log.calls() == [("echo", HELLO)]
    first, second = fold(read_log(Path(result["log"]))).mcp_calls
    assert first.error is not None
    assert "rejected by rule" in first.error
    assert (first.raw_arguments, second.error) == ({"path": "notes.txt"}, None)


def test_the_calls_are_listed_on_the_screen(
    project: Path, tmp_path: Path, http_servers: HttpServers, server_log: ServerLog
) -> None:
    """Kimi names no arguments when it asks, so the user is asked once at the bridge, with them."""
    file = config(tmp_path, "bridge", http_servers, server_log)
    with Terminal("--command", command("kimi-code"), "--mcp-config", file, cwd=project) as terminal:
        terminal.sees("idle")
        terminal.type(f"{prompt(('script/echo', HELLO))}\r")
        terminal.sees("asks to use a tool of an MCP server", "acp-tui's bridge", "Enter answer")
        assert server_log.calls() == []
        terminal.type("a")
        terminal.sees("script › echo", "All tools have answered.", "idle")
        assert server_log.calls() == [("echo", HELLO)]
        terminal.type("\x0e")  # Ctrl+N
        terminal.sees("1 call through the bridge")
        terminal.type("4")
        terminal.sees("✔ echo")
        terminal.type("\r")
        terminal.sees('arguments  {"text": "hello"}')
        quit_app(terminal)


def test_the_agent_uses_acp_tuis_own_server(project: Path, home: Path) -> None:
    (home / "config").mkdir(parents=True)
    (home / "config" / "config.toml").write_text("[own_server]\nenabled = true\n")
    result = execute("claude-code", prompt(("acp-tui/notify", {"message": "It is done."})), project=project)
    assert [decision["by"] for decision in result["permissions"]] == ["policy", "covered"]
    shown = run("replay", "--text", str(Path(result["log"]).parent)).out
    assert "* acp-tui › notify: It is done. (completed" in shown
    assert "The message was added to the conversation." in shown
