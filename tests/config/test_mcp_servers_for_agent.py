"""MCP servers for one agent: those sent, in the schema's form, and the reasons for the others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from acp_tui.config.mcp import Server, UnsentServer, servers_for_agent


def server(tmp_path: Path, **fields: Any) -> Server:
    """Return a server, by default a stdio server."""
    return Server(**{"name": "x", "file": tmp_path / "mcp.json", "line": 3, "command": "sh", **fields})


def sent(
    entry: Server, *, agent: str = "demo", http: bool = True, sse: bool = True, **environ: str
) -> dict[str, Any]:
    """Return the server as it is sent to the agent."""
    found, left_out = servers_for_agent(
        [entry], agent, http=http, sse=sse, environ={"PATH": "/bin:/usr/bin", **environ}
    )
    assert left_out == []
    [only] = found
    return only.server.for_agent()


def reason(entry: Server, *, agent: str = "demo", http: bool = True, sse: bool = True, **environ: str) -> str:
    """Return why the server is not sent to the agent."""
    found, left_out = servers_for_agent(
        [entry], agent, http=http, sse=sse, environ={"PATH": "/bin:/usr/bin", **environ}
    )
    assert found == []
    [only] = left_out
    assert only.server is entry
    return only.reason


def program(directory: Path, name: str = "server") -> Path:
    """Create an executable file."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_a_stdio_server_has_all_fields_even_if_empty(tmp_path: Path) -> None:
    found = sent(server(tmp_path))
    assert found == {"name": "x", "command": found["command"], "args": [], "env": []}
    assert Path(found["command"]).is_absolute()
    assert Path(found["command"]).name == "sh"


def test_arguments_and_environment_are_expanded(tmp_path: Path) -> None:
    entry = server(
        tmp_path,
        args=["${A}-${B:-b}", "${EMPTY:-used}", "${A:-no}", "$A", "${env:A}", "${C:-}"],
        env={"K": "${A}", "L": "plain"},
    )
    found = sent(entry, A="1", EMPTY="")
    assert found["args"] == ["1-b", "used", "1", "$A", "1", ""]
    assert found["env"] == [{"name": "K", "value": "1"}, {"name": "L", "value": "plain"}]


def test_a_server_with_an_unset_variable_is_not_sent(tmp_path: Path) -> None:
    assert reason(server(tmp_path, env={"K": "${NOPE}"})) == "the environment variable NOPE is not set"
    assert (
        reason(server(tmp_path, args=["${file:key}"])) == "${file:key} is not a variable acp-tui can expand"
    )


def test_values_of_variables_are_not_expanded_again(tmp_path: Path) -> None:
    assert sent(server(tmp_path, args=["${A}"]), A="${NOPE}")["args"] == ["${NOPE}"]


def test_a_relative_command_is_relative_to_its_file(tmp_path: Path) -> None:
    path = program(tmp_path / "bin")
    assert sent(server(tmp_path, command="./bin/server"))["command"] == f"{tmp_path}/bin/server"
    assert sent(server(tmp_path, command="bin/server"))["command"] == str(path)
    assert sent(server(tmp_path, command="${DIR}/server"), DIR=str(path.parent))["command"] == str(path)


def test_a_tilde_in_a_command_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = program(tmp_path / "home")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert sent(server(tmp_path, command="~/server"))["command"] == str(path)


def test_a_program_name_is_looked_up_on_the_path_of_the_server(tmp_path: Path) -> None:
    path = program(tmp_path / "bin", "only-here")
    entry = server(tmp_path, command="only-here", env={"PATH": f"{path.parent}"})
    assert sent(entry)["command"] == str(path)
    entry.env.clear()
    assert reason(entry) == "the program only-here was not found on PATH"


def test_a_program_in_a_relative_path_directory_becomes_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "bin", "only-here")
    monkeypatch.chdir(tmp_path)
    entry = server(tmp_path, command="only-here", env={"PATH": "bin"})
    assert sent(entry)["command"] == str(tmp_path / "bin/only-here")


def test_a_command_that_cannot_run_is_reported(tmp_path: Path) -> None:
    program(tmp_path).chmod(0o644)
    assert reason(server(tmp_path, command="./server")) == f"the program {tmp_path}/server is not executable"
    assert reason(server(tmp_path, command="./gone")) == f"the program {tmp_path}/gone does not exist"


@pytest.mark.parametrize("transport", ["http", "sse"])
def test_a_remote_server_has_all_fields_even_if_empty(tmp_path: Path, transport: str) -> None:
    entry = server(tmp_path, transport=transport, url="https://${HOST}/mcp")
    assert sent(entry, HOST="example.org") == {
        "type": transport,
        "name": "x",
        "url": "https://example.org/mcp",
        "headers": [],
    }
    entry.headers["Authorization"] = "Bearer ${KEY}"
    assert sent(entry, HOST="h", KEY="k")["headers"] == [{"name": "Authorization", "value": "Bearer k"}]


@pytest.mark.parametrize(("transport", "other"), [("http", "sse"), ("sse", "http")])
def test_a_remote_server_is_sent_directly_only_if_the_agent_supports_its_transport(
    tmp_path: Path, transport: str, other: str
) -> None:
    entry = server(tmp_path, transport=transport, url="https://x", connection="direct")
    refused = {transport: False, other: True}
    assert (
        reason(entry, http=refused["http"], sse=refused["sse"])
        == f"the agent does not support {transport} servers"
    )


def test_an_invalid_url_or_header_is_reported(tmp_path: Path) -> None:
    entry = server(tmp_path, transport="http", url="file:///etc/passwd")
    assert reason(entry) == "its URL does not begin with http:// or https://"
    entry.url = "https://x"
    entry.headers = {"X-Key": "${KEY}"}
    assert reason(entry, KEY="a\r\nEvil: 1") == "its header 'X-Key' contains a control character"


def test_disabled_servers_and_those_of_other_agents_are_not_sent(tmp_path: Path) -> None:
    assert reason(server(tmp_path, enabled=False)) == "it is disabled"
    entry = server(tmp_path, agents=["gemini", "codex"])
    assert reason(entry) == "it is only for gemini, codex"
    assert sent(entry, agent="codex")["name"] == "x"
    assert reason(server(tmp_path, agents=[])) == "its list of agents is empty"


def test_a_server_with_faults_is_not_sent(tmp_path: Path) -> None:
    assert reason(server(tmp_path, faults=[("", "no command"), ("args", "and more")])) == (
        "no command; args: and more"
    )


def test_the_last_of_two_servers_with_the_same_name_is_sent(tmp_path: Path) -> None:
    first = server(tmp_path, args=["first"])
    last = server(tmp_path, args=["last"], line=9)
    found, left_out = servers_for_agent([first, last], "demo", http=False, sse=False)
    assert [entry.server.args for entry in found] == [("last",)]
    assert left_out == [
        UnsentServer(first, f"replaced by the definition in {tmp_path}/mcp.json:9", intended=True)
    ]


def test_other_servers_are_sent_if_one_cannot_be_sent(tmp_path: Path) -> None:
    entries = [server(tmp_path, name=name, args=[f"${{{name}}}"]) for name in ("A", "B")]
    found, left_out = servers_for_agent(
        entries, "demo", http=False, sse=False, environ={"PATH": "/bin", "B": "1"}
    )
    assert [entry.server.name for entry in found] == ["B"]
    assert [left.server.name for left in left_out] == ["A"]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, None),
        ({"connection": "bridge"}, 'its connection is set to "bridge"'),
        ({"cwd": "/tmp"}, "its settings need the bridge"),
        ({"timeout": 5.0}, "its settings need the bridge"),
        ({"exclude_tools": ["x"]}, "its settings need the bridge"),
        ({"exclude_tools": ["x"], "connection": "direct"}, None),
        ({"transport": "http", "url": "http://h"}, "the agent does not support http servers"),
        ({"transport": "sse", "url": "http://h"}, None),
        ({"transport": "sse", "url": "http://signed-in"}, "you are signed in"),
    ],
)
def test_the_bridge_is_used_where_only_it_can_carry_the_server(
    fields: dict[str, Any], expected: str | None, tmp_path: Path
) -> None:
    [found], _ = servers_for_agent(
        [server(tmp_path, **fields)], "demo", http=False, sse=True, is_signed_in=lambda url: "signed" in url
    )
    assert found.bridge_reason == expected
