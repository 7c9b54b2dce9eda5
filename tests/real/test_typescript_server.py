"""Agents that the server of the official TypeScript SDK serves. It checks each message that it gets.

Each test runs over WebSocket and over HTTP/1.1, in version 1 and in version 2.
"""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.protocol.translator import fold
from acp_tui.session.state import AgentMessage, Unrecognised, UserMessage
from acp_tui.store.wire_log import read_log
from tests.real.test_on_screen import quit_app
from tests.support.cli import Run, environment, run, running
from tests.support.terminal import Terminal
from tests.support.typescript_sdk import NPM, TypeScriptServer, typescript_server
from tests.support.version_2 import violations

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from acp_tui.session.record import Record
    from acp_tui.session.state import Session

pytestmark = pytest.mark.skipif(NPM is None, reason="npm is not installed")

SCRIPT = Path(__file__).with_name("served_by_typescript.mjs")
TOKEN = "token-of-the-test-5b1d"
HTTP_1 = "The connection uses HTTP/1.1: the server does not offer HTTP/2."
CLOSED = ("closed the connection.", "was disconnected: the stream of the session ended.")
"""What is said of a connection that the server closes. Over HTTP, either stream may end first."""
PERMISSION = "session/request_permission"
CTRL_S = "\x13"


@pytest.fixture(params=["websocket", "http"])
def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[TypeScriptServer]:
    """Run a server with one of the transports, and set the token for it."""
    monkeypatch.setenv("ACP_TUI_TOKEN", TOKEN)
    with typescript_server(SCRIPT, request.param, env=environment(TOKEN=TOKEN)) as running_server:
        yield running_server


@pytest.fixture(params=["1", "2"])
def version(request: pytest.FixtureRequest) -> str:
    """Return the version of the protocol to ask for."""
    asked: str = request.param
    return asked


def execute(server: TypeScriptServer, version: str, prompt: str, *args: str, cwd: Path, **env: str) -> Run:
    """Run a turn, which may fail."""
    options = ("--protocol", version, "--output", "json")
    return run("exec", server.url, prompt, *options, *args, cwd=cwd, **env)


def turn(
    server: TypeScriptServer, version: str, prompt: str, *args: str, cwd: Path, **env: str
) -> tuple[dict[str, Any], Session]:
    """Run a turn. Return its result and the session read from its log, in which each side understood all."""
    done = execute(server, version, prompt, *args, cwd=cwd, **env)
    assert done.code == 0, done.err
    return done.result, read_session(Path(done.result["log"]), version)


def read_session(log: Path, version: str) -> Session:
    """Return the session of a log, after a check of all messages."""
    records = list(read_log(log))
    session = fold(records)
    assert session.dialect == f"v{version}"
    assert not any(isinstance(entry, Unrecognised) for entry in session.entries)
    assert refusals(records) == []
    if version == "2":
        assert violations(records, "sent") + violations(records, "received") == []
    return session


def refusals(records: Sequence[Record]) -> list[Any]:
    """Return the errors with which either side has answered."""
    frames = [record.frame for record in records if record.direction != "client"]
    return [frame["error"] for frame in frames if isinstance(frame, dict) and "error" in frame]


def said(session: Session) -> list[str]:
    """Return the messages of the agent."""
    return [entry.text for entry in session.entries if isinstance(entry, AgentMessage)]


# --------------------------------------------------------------------------- turns


def test_text_is_streamed(server: TypeScriptServer, version: str, project: Path) -> None:
    result, session = turn(server, version, "hello there", cwd=project)
    assert result["text"] == "You said: hello there"
    assert result["stopReason"] == "end_turn"
    assert result["agent"]["name"] == "typescript-server"
    assert said(session) == ["You said: hello there"]
    assert [entry.text for entry in session.entries if isinstance(entry, UserMessage)] == ["hello there"]
    [initialize] = server.messages("initialize")
    assert initialize["protocolVersion"] == int(version)


@pytest.mark.parametrize(
    ("args", "outcome", "by", "option"),
    [
        (("--allow", "execute:make test"), "allowed", "rule", "yes"),
        (("--policy", "yolo"), "allowed", "policy", "yes"),
        ((), "rejected", "policy", "no"),
    ],
)
def test_a_permission_request_is_answered(
    server: TypeScriptServer,
    version: str,
    args: Sequence[str],
    outcome: str,
    by: str,
    option: str,
    project: Path,
) -> None:
    result, _ = turn(server, version, "run make test", *args, cwd=project)
    [decision] = result["permissions"]
    assert decision["asked"] == "run `make test`"
    assert (decision["outcome"], decision["by"]) == (outcome, by)
    assert [answer["outcome"]["optionId"] for answer in server.answers(PERMISSION)] == [option]
    [call] = result["toolCalls"]
    assert (call["kind"], call["status"]) == ("execute", "completed")


def test_options_of_both_kinds_are_set(server: TypeScriptServer, version: str, project: Path) -> None:
    result, session = turn(
        server, version, "settings", "--set", "pace=fast", "--set", "loud=true", cwd=project
    )
    assert json.loads(result["text"].removeprefix("You said: settings")) == {"pace": "fast", "loud": True}
    assert {option.id: option.current for option in session.config_options} == {"pace": "fast", "loud": True}


def test_a_session_gets_the_mcp_servers_that_have_an_address(
    server: TypeScriptServer, version: str, project: Path, tmp_path: Path
) -> None:
    file = tmp_path / "servers.json"
    entry = {"type": "http", "url": "https://mcp.example/", "headers": {"X-Key": "value"}}
    file.write_text(json.dumps({"mcpServers": {"docs": entry}}))
    turn(server, version, "hello", "--mcp-config", str(file), cwd=project)
    [new] = server.messages("session/new")
    headers = [{"name": "X-Key", "value": "value"}]
    assert new["mcpServers"] == [{"type": "http", "name": "docs", "url": entry["url"], "headers": headers}]


def test_a_turn_is_cancelled(server: TypeScriptServer, version: str, project: Path) -> None:
    words = ("exec", server.url, "wait", "--output", "ndjson", "--protocol", version)
    with running(*words, cwd=project) as (process, _):
        assert process.stdout is not None
        for line in process.stdout:
            if json.loads(line).get("speaker") == "agent":
                break
        process.send_signal(signal.SIGINT)
        *_, last = process.stdout
        assert process.wait() == 130
    assert json.loads(last)["stopReason"] == "cancelled"
    assert server.messages("session/cancel")


def test_a_turn_that_fails_is_an_error(server: TypeScriptServer, version: str, project: Path) -> None:
    done = execute(server, version, "fail", cwd=project)
    assert done.code == 1
    assert done.result["error"]["code"] == -32603
    assert "the agent failed" in json.dumps(done.result["error"])


def test_a_form_is_answered_on_the_screen(
    server: TypeScriptServer, version: str, project: Path, home: Path
) -> None:
    with Terminal("--command", server.url, "--protocol", version, cwd=project) as screen:
        screen.sees("idle")
        screen.type("choose\r")
        screen.sees("Which colour?", "blue", "Ctrl+N decline")
        screen.type(CTRL_S)
        screen.sees("Send this to", "send")
        screen.type("\r")
        screen.sees("the agent asks:", "answered", "idle")
        quit_app(screen)
    assert [answer["action"] for answer in server.answers("elicitation/create")] == ["accept"]
    (log,) = (home / "data" / "sessions").glob("*/wire.jsonl")
    read_session(log, version)


def test_a_permission_request_is_withdrawn_when_its_turn_is_cancelled(
    server: TypeScriptServer, version: str, project: Path
) -> None:
    with Terminal("--command", server.url, "--protocol", version, cwd=project) as screen:
        screen.sees("idle")
        screen.type("run make test\r")
        screen.sees("make test", "Enter answer")
        screen.type("\x1b")
        screen.sees("idle")
        quit_app(screen)
    assert [answer["outcome"]["outcome"] for answer in server.answers(PERMISSION)] == ["cancelled"]


# --------------------------------------------------------------------------- sessions


def test_a_session_is_resumed(server: TypeScriptServer, version: str, project: Path) -> None:
    first, _ = turn(server, version, "first", "--set", "pace=fast", cwd=project)
    second, session = turn(server, version, "second", "--resume", first["sessionId"], cwd=project)
    assert second["sessionId"] == first["sessionId"]
    assert second["text"] == "You said: second"
    assert said(session) == ["You said: first", "You said: second"]
    [resume] = server.messages("session/resume")
    assert resume["sessionId"] == first["sessionId"]
    assert "replayFrom" not in resume


def test_a_session_that_is_not_recorded_here_is_loaded(
    server: TypeScriptServer, version: str, project: Path, tmp_path: Path
) -> None:
    first, _ = turn(server, version, "first", cwd=project)
    elsewhere = {"ACP_TUI_HOME": str(tmp_path / "elsewhere")}
    second, session = turn(
        server, version, "second", "--resume", first["sessionId"], cwd=project, **elsewhere
    )
    assert second["sessionId"] == first["sessionId"]
    assert second["text"] == "You said: second"
    assert said(session) == ["You said: first", "You said: second"]
    prompts = [entry.text for entry in session.entries if isinstance(entry, UserMessage)]
    assert prompts == ["first", "second"]
    assert len(server.messages("session/load" if version == "1" else "session/resume")) == 1


def test_doctor_finds_no_violations(server: TypeScriptServer, version: str, project: Path) -> None:
    done = run("doctor", server.url, "--protocol", version, "--prompt", "hello", "--json", cwd=project)
    assert done.code == 0, done.out + done.err


# --------------------------------------------------------------------------- the transports


def test_a_server_that_closes_the_connection_ends_the_run(
    server: TypeScriptServer, version: str, project: Path
) -> None:
    done = execute(server, version, "leave", cwd=project)
    assert done.code == 1
    assert "The connection was lost while the agent was working." in done.err
    assert done.result["error"]["message"].removeprefix("typescript-server ") in CLOSED


def test_the_screen_connects_again_and_resumes_the_session(
    server: TypeScriptServer, version: str, project: Path
) -> None:
    with Terminal("--command", server.url, "--protocol", version, cwd=project) as screen:
        screen.sees("idle")
        screen.type("leave\r")
        screen.sees("Connected again after", "idle")
        screen.type("hello again\r")
        screen.sees("You said: hello again", "idle")
        quit_app(screen)
    assert len(server.messages("initialize")) == 2
    assert len(server.messages("session/resume")) == 1
    assert [prompt["prompt"][0]["text"] for prompt in server.messages("session/prompt")] == [
        "leave",
        "hello again",
    ]


@pytest.mark.parametrize("server", ["http"], indirect=True)
def test_a_message_that_is_too_large_for_http_is_refused_and_the_connection_stays(
    server: TypeScriptServer, version: str, project: Path
) -> None:
    done = execute(server, version, "-", cwd=project, stdin="x" * 17_000_000)
    assert done.code == 1
    reason = "the server answered with HTTP status 413: Request body exceeds 16777216 bytes"
    assert reason in done.result["error"]["message"]
    assert [one["status"] for one in server.requests("DELETE")] == [202]


@pytest.mark.parametrize("server", ["http"], indirect=True)
def test_http_requests_name_the_connection_and_the_session(
    server: TypeScriptServer, version: str, project: Path
) -> None:
    result, _ = turn(server, version, "run make test", "--policy", "yolo", cwd=project)
    [initialize], [deletion] = server.requests("initialize"), server.requests("DELETE")
    later = server.lines[server.lines.index(initialize) + 1 :]
    requests = [line for line in later if "request" in line]
    assert {one["headers"]["acp-connection-id"] for one in requests} == {initialize["connection"]}
    assert {one["status"] for one in requests} == {200, 202}
    named = [one for one in requests if one["headers"].get("acp-session-id") == result["sessionId"]]
    assert [one["request"] for one in named] == ["GET", "POST", "POST"]  # the stream, the prompt, the answer
    assert requests[-1] == deletion


@pytest.mark.parametrize("server", ["http"], indirect=True)
def test_a_line_says_that_the_connection_uses_http_1(
    server: TypeScriptServer, version: str, project: Path
) -> None:
    done = execute(server, version, "hello", cwd=project)
    assert [warning["text"] for warning in done.result["warnings"]] == [HTTP_1]
    assert HTTP_1 in done.err


@pytest.mark.parametrize("server", ["websocket"], indirect=True)
def test_one_websocket_is_opened_and_closed(server: TypeScriptServer, version: str, project: Path) -> None:
    result, _ = turn(server, version, "hello", cwd=project)
    [opened], [closed] = server.requests("upgrade"), server.requests("closed")
    assert [line for line in server.lines if "request" in line] == [opened, closed]
    assert result["warnings"] == []


@pytest.mark.parametrize(("transport", "begins"), [("http", "POST"), ("websocket", "upgrade")])
def test_the_settings_choose_between_the_transports_of_a_server(
    version: str, transport: str, begins: str, project: Path, home: Path
) -> None:
    settings = home / "config" / "agents" / "far.toml"
    settings.parent.mkdir(parents=True)
    with typescript_server(SCRIPT, "websocket", "http", env=environment(TOKEN=TOKEN)) as server:
        token_command = f'token_command = ["echo", "{TOKEN}"]'
        settings.write_text(f'url = "{server.url}"\ntransport = "{transport}"\n{token_command}\n')
        done = run("exec", "far", "hello", "--protocol", version, cwd=project)
        assert done.out.strip() == "You said: hello"
        assert server.requests(begins)
        requests = {line["request"] for line in server.lines if "request" in line}
        assert ("POST" in requests, "upgrade" in requests) == (transport == "http", transport == "websocket")


# --------------------------------------------------------------------------- the token


def test_the_token_of_a_file_is_sent_with_each_request(
    server: TypeScriptServer, version: str, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ACP_TUI_TOKEN")
    file = tmp_path / "token.txt"
    file.write_text(f"{TOKEN}\n")
    turn(server, version, "hello", "--token-file", str(file), cwd=project)
    assert server.requests("DELETE" if server.url.startswith("http") else "closed")
    sent = {line["headers"].get("authorization") for line in server.lines if "headers" in line}
    assert sent == {f"Bearer {TOKEN}"}


def test_a_wrong_token_is_refused(server: TypeScriptServer, version: str, project: Path) -> None:
    done = execute(server, version, "hello", cwd=project, ACP_TUI_TOKEN="another-token")
    assert done.code == 1
    assert "401" in done.err
    assert {line["status"] for line in server.requests("GET")} == {401}
    assert not any("message" in line for line in server.lines)
    assert "another-token" not in done.out + done.err
