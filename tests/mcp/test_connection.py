"""Connecting to servers over each transport, what they ask of the client, and why connecting fails."""

from __future__ import annotations

import asyncio
import json
import os
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from mcp import MCPError
from mcp_types import TextContent

from acp_tui.config.mcp import ResolvedServer
from acp_tui.mcp.callbacks import ElicitationRequest, ServerHandlers, ServerLogMessage
from acp_tui.mcp.connection import McpConnection, connect
from acp_tui.mcp.diagnosis import explain
from acp_tui.mcp.failures import FailureCause, ServerFailure
from acp_tui.schema_form.values import FormAnswer
from tests.support.leftovers import MARK, processes_with
from tests.support.mcp_servers import run_http_servers, stdio_server
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.mcp_servers import HttpServers

MODERN = "2026-07-28"
BOTH_GENERATIONS = pytest.mark.parametrize("version", ["2025-06-18", MODERN])


async def failure_of(server: ResolvedServer, timeout: float | None = 30) -> ServerFailure:
    """Return why connecting to a server fails."""
    with pytest.raises(ServerFailure) as raised:
        async with connect(server, timeout=timeout):
            pass
    return raised.value


async def call(connection: McpConnection, name: str, **arguments: Any) -> Any:
    """Call a tool that answers with JSON."""
    result = await connection.client.call_tool(name, arguments)
    block = result.content[0]
    assert isinstance(block, TextContent)
    return json.loads(block.text)


# --------------------------------------------------------------------------- transports


@pytest.mark.parametrize("version", ["2024-11-05", "2025-06-18", "2025-11-25", MODERN])
async def test_stdio_servers_of_every_protocol_revision(version: str) -> None:
    async with connect(stdio_server("--protocol", version)) as connection:
        tools = await connection.client.list_tools()
        assert connection.protocol_version == version
        assert connection.server_info is not None
        assert connection.server_info.name == "script"
        assert connection.instructions == "Use these tools in tests."
    assert "echo" in [tool.name for tool in tools.tools]


@pytest.mark.parametrize("path", ["/mcp", "/sse", "/moved"])
async def test_servers_over_http_and_sse(http_servers: HttpServers, path: str) -> None:
    async with connect(http_servers.server(path)) as connection:
        tools = await connection.client.list_tools()
    assert tools.tools


async def test_headers_are_sent(http_servers: HttpServers) -> None:
    async with connect(http_servers.server("/key/mcp", headers={"X-Key": "open sesame"})) as connection:
        tools = await connection.client.list_tools()
    assert tools.tools


async def test_a_server_starts_in_its_folder_with_the_whole_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INHERITED", "1")
    plain = stdio_server(env={"OWN": "2"})
    server = ResolvedServer("here", "stdio", plain.command, plain.args, plain.env, cwd=tmp_path)
    async with connect(server) as connection:
        found = await call(connection, "environment", names=["INHERITED", "OWN"])
    assert found == {"cwd": str(tmp_path), "env": {"INHERITED": "1", "OWN": "2"}}


async def test_a_server_ends_with_its_connection(tmp_path: Path) -> None:
    async with connect(stdio_server(env={MARK: str(tmp_path)})):
        assert processes_with(str(tmp_path))
    assert not processes_with(str(tmp_path))


# --------------------------------------------------------------------------- requests and notifications


@BOTH_GENERATIONS
async def test_changed_lists_are_reported(version: str) -> None:
    changed: set[str] = set()
    handlers = ServerHandlers(on_list_changed=changed.add)
    async with connect(stdio_server("--protocol", version), handlers=handlers) as connection:
        await connection.client.call_tool("change")
        await until(lambda: changed == {"tools", "prompts", "resources"}, describe=lambda: str(changed))


@BOTH_GENERATIONS
async def test_elicitations_are_passed_on(version: str) -> None:
    requests: list[ElicitationRequest] = []

    async def answer(request: ElicitationRequest) -> FormAnswer:
        requests.append(request)
        return FormAnswer("accept", {"name": "Ada"})

    handlers = ServerHandlers(on_elicitation=answer)
    async with connect(stdio_server("--protocol", version), handlers=handlers) as connection:
        result = await call(connection, "ask")
    assert result["content"] == {"name": "Ada"}
    assert requests[0].server == "script"
    assert requests[0].schema["required"] == ["name"]


@BOTH_GENERATIONS
async def test_roots_are_the_given_folders(version: str, tmp_path: Path) -> None:
    async with connect(stdio_server("--protocol", version), roots=[tmp_path]) as connection:
        result = await call(connection, "roots")
    assert [root["uri"] for root in result["roots"]] == [tmp_path.as_uri()]


@BOTH_GENERATIONS
async def test_sampling_is_declined_with_the_reason(version: str) -> None:
    async with connect(stdio_server("--protocol", version)) as connection:
        with pytest.raises(MCPError) as raised:
            await connection.client.call_tool("sample")
        failure = await connection.failure(raised.value, "call sample")
    assert "acp-tui declines sampling" in failure.sentence


@BOTH_GENERATIONS
async def test_log_messages_are_passed_on(version: str) -> None:
    messages: list[ServerLogMessage] = []
    handlers = ServerHandlers(on_log=messages.append)
    async with connect(stdio_server("--protocol", version), handlers=handlers) as connection:
        await connection.client.call_tool("log", {"text": "note", "level": "warning"})
        await until(lambda: messages)
    assert (messages[0].level, messages[0].data) == ("warning", "note")


async def test_lines_on_stderr_and_noise_on_stdout_are_passed_on() -> None:
    stderr: list[str] = []
    noise: list[str] = []
    handlers = ServerHandlers(on_stderr=stderr.append, on_noise=noise.append)
    server = stdio_server("--stderr", "start\x1b[31m", "--noise", "hello")
    async with connect(server, handlers=handlers) as connection:
        await until(lambda: stderr)
        assert connection.noise == ["hello"]
        assert connection.noise_count == 1
    assert (stderr, noise) == (["start␛[31m"], ["hello"])


async def test_the_last_line_on_stderr_is_passed_on_without_a_line_end() -> None:
    stderr: list[str] = []
    server = ResolvedServer("dying", "stdio", "/bin/sh", ("-c", 'printf "begun\nno disk" >&2; exit 3'))
    with pytest.raises(ServerFailure):
        async with connect(server, handlers=ServerHandlers(on_stderr=stderr.append)):
            pass
    assert stderr == ["begun", "no disk"]


# --------------------------------------------------------------------------- failures

STDIO_FAILURES: list[tuple[list[str], FailureCause, str]] = [
    (
        ["--exit", "3", "--stderr", "no database"],
        FailureCause.EXITED,
        "reported on stderr: no database. All of it: acp-tui mcp log script",
    ),
    (["--exit", "0"], FailureCause.EXITED, "code 0 before it answered, and wrote nothing to stderr"),
    (["--exit", "2", "--noise", "usage: server"], FailureCause.EXITED, "on stdout it wrote usage: server"),
    (["--exit", "1", "--stderr", "EBADENGINE Unsupported"], FailureCause.WRONG_RUNTIME, "Node.js"),
    (["--exit", "1", "--stderr", "SyntaxError: Unexpected token '.'"], FailureCause.WRONG_RUNTIME, "Node.js"),
    (["--exit", "1", "--stderr", "Package requires Python >=3.13"], FailureCause.WRONG_RUNTIME, "Python"),
    (["--noise", "Hi", "--error", "initialize", "server/discover"], FailureCause.NOISE, "MCP message: Hi."),
    (["--bad-handshake"], FailureCause.HANDSHAKE, "Field required; check that it is an MCP server"),
    (["--error", "initialize", "server/discover"], FailureCause.HANDSHAKE, "refused the MCP handshake"),
]


@pytest.mark.parametrize(("options", "cause", "words"), STDIO_FAILURES)
async def test_the_failure_of_a_stdio_server_names_its_cause(
    options: list[str], cause: FailureCause, words: str
) -> None:
    failure = await failure_of(stdio_server(*options))
    assert failure.cause is cause
    assert words in failure.sentence
    assert failure.sentence.endswith(".")


async def test_a_mute_server_runs_into_the_connect_timeout() -> None:
    failure = await failure_of(stdio_server("--mute"), timeout=0.4)
    assert failure.cause is FailureCause.TIMEOUT
    assert "did not answer within 0.4 s (the connect timeout;" in failure.sentence


async def test_a_server_that_is_slow_to_start_is_announced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acp_tui.mcp.connection.WAITING_SECONDS", 0.1)
    file = tmp_path / "start"
    sentences: list[str] = []

    def start(sentence: str) -> None:
        sentences.append(sentence)
        file.touch()

    server = stdio_server("--start-when", str(file))
    async with connect(server, handlers=ServerHandlers(on_waiting=start)):
        pass
    assert sentences == ["script has not answered yet; waiting for up to 30 s."]


async def test_cancelling_while_connecting_ends_the_process(tmp_path: Path) -> None:
    server = stdio_server("--mute", env={MARK: str(tmp_path)})
    connecting = asyncio.create_task(failure_of(server))
    await until(lambda: processes_with(str(tmp_path)))
    connecting.cancel()
    await asyncio.wait([connecting])
    assert connecting.cancelled()
    assert not processes_with(str(tmp_path))


@pytest.mark.parametrize(
    "noise",
    [b"\xff\xfe\x00", b"[" * 100_000, b'{"jsonrpc": "2.0"}', b"[]", b"null", b"x" * 1_000_000, b'{"id": 1'],
    ids=lambda noise: noise[:20].decode("latin-1"),
)
async def test_any_other_line_on_stdout_is_noise(tmp_path: Path, noise: bytes) -> None:
    (tmp_path / "noise").write_bytes(noise + b"\n")
    real = stdio_server()
    command = ("-c", 'cat "$0"; exec "$@"', str(tmp_path / "noise"), real.command, *real.args)
    server = ResolvedServer("noisy", "stdio", "/bin/sh", command)
    async with connect(server) as connection:
        assert connection.noise_count == 1
        assert len(connection.noise[0]) <= 500


async def test_a_program_that_does_not_exist_is_named_with_the_path_searched() -> None:
    failure = await failure_of(ResolvedServer("gone", "stdio", "/no/such/program"))
    assert failure.cause is FailureCause.COMMAND_NOT_FOUND
    assert "/no/such/program" in failure.sentence
    assert os.environ["PATH"] in failure.sentence


async def test_secrets_of_the_definition_are_masked_in_failures() -> None:
    server = stdio_server(
        "--exit", "1", "--stderr", "bad key hunter2hunter2", env={"API_KEY": "hunter2hunter2"}
    )
    failure = await failure_of(server)
    assert "bad key [redacted]" in failure.sentence


async def test_the_end_of_a_connection_is_explained() -> None:
    async with connect(stdio_server()) as connection:
        ended = asyncio.create_task(connection.wait_ended())
        with pytest.raises(MCPError):
            await connection.client.call_tool("crash")
        failure = await ended
    assert failure.cause is FailureCause.EXITED


async def test_the_end_of_connections_over_http_is_explained(tmp_path: Path) -> None:
    with run_http_servers(tmp_path) as servers:
        async with connect(servers.server()) as http, connect(servers.server("/sse")) as sse:
            ends = [asyncio.create_task(connection.wait_ended()) for connection in (http, sse)]
            servers.process.kill()
            servers.process.wait()
            with pytest.raises(MCPError):
                await http.client.list_tools()
            failures = await asyncio.gather(*ends)
    lost = {
        FailureCause.UNREACHABLE,
        FailureCause.CLOSED,
    }  # which one depends on what the system notices first
    assert {failure.cause for failure in failures} <= lost


HTTP_FAILURES = [
    ("/status/401", FailureCause.SIGN_IN_REQUIRED, "requires credentials (HTTP 401)"),
    ("/status/403", FailureCause.FORBIDDEN, "HTTP 403"),
    ("/status/404", FailureCause.HTTP_STATUS, "HTTP 404 Not Found; check its `url`"),
    ("/status/503", FailureCause.HTTP_STATUS, "try again later"),
    ("/page", FailureCause.HANDSHAKE, "text/html"),
    ("/away", FailureCause.REDIRECT, "redirects to another origin, http://localhost:"),
    ("/guarded/x/mcp", FailureCause.SIGN_IN_REQUIRED, "requires sign-in"),
]


@pytest.mark.parametrize(("path", "cause", "words"), HTTP_FAILURES)
async def test_the_failure_of_an_http_server_names_its_cause(
    http_servers: HttpServers, path: str, cause: FailureCause, words: str
) -> None:
    failure = await failure_of(http_servers.server(path))
    assert failure.cause is cause
    assert words in failure.sentence


async def test_a_refused_authorization_header_is_not_a_wish_for_a_sign_in(http_servers: HttpServers) -> None:
    server = http_servers.server("/status/401", headers={"Authorization": "Bearer old"})
    failure = await failure_of(server)
    assert failure.cause is FailureCause.CREDENTIALS_REFUSED
    assert not failure.needs_sign_in


async def test_a_server_that_answers_messages_over_sse_with_an_error_fails_at_once(
    http_servers: HttpServers,
) -> None:
    server = ResolvedServer("old", "sse", url=http_servers.url("/status/403"))
    assert (await failure_of(server)).cause is FailureCause.FORBIDDEN


@pytest.mark.parametrize("transport", ["http", "sse"])
async def test_a_certificate_that_is_not_trusted(http_servers: HttpServers, transport: Any) -> None:
    failure = await failure_of(ResolvedServer("tls", transport, url=http_servers.tls_url()))
    assert failure.cause is FailureCause.TLS
    assert "self-signed certificate" in failure.sentence


async def test_a_host_that_refuses_the_connection() -> None:
    failure = await failure_of(ResolvedServer("off", "http", url="http://127.0.0.1:9/mcp"))
    assert failure.cause is FailureCause.UNREACHABLE
    assert "refused the connection" in failure.sentence


def test_a_message_that_could_not_be_sent_in_time_is_not_called_a_failed_connection() -> None:
    server = ResolvedServer("slow", "http", url="http://127.0.0.1/mcp")
    failure = explain(server, httpx2.WriteTimeout("timed out"), action="call echo")
    assert failure.cause is FailureCause.TIMEOUT
    assert failure.sentence == "slow did not accept a message within 30 s; check your network."


async def test_a_server_that_dies_during_a_call_is_named_with_its_exit_code() -> None:
    async with connect(stdio_server()) as connection:
        with pytest.raises(Exception) as raised:  # the SDK's
            await connection.client.call_tool("crash")
        failure = await connection.failure(raised.value, "call crash")
    assert failure.cause is FailureCause.EXITED
    assert "code 3" in failure.sentence
    assert "fatal: giving up" in failure.sentence
