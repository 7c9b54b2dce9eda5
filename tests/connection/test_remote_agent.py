"""Agents on other machines: connections over real sockets, and every way in which they fail."""

from __future__ import annotations

import json
import logging
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.connection import remote_access, remote_agent
from acp_tui.connection.errors import AgentGone
from tests.support.connection import SESSION, text
from tests.support.remote_client import SETUP, connected, end, fault, prompted, update
from tests.support.remote_server import SCRIPT, TOKEN, certificate, free_port, remote_server
from tests.support.waiting import until

if TYPE_CHECKING:
    from websockets.asyncio.server import ServerConnection

MEGABYTE = 1_000_000


# --------------------------------------------------------------------------- working together


async def test_a_turn_runs_over_a_websocket(caplog: pytest.LogCaptureFixture) -> None:
    with remote_server(SCRIPT) as server, caplog.at_level(logging.DEBUG):
        async with connected(server.url) as client:
            await client.connection.initialize({})
            await client.connection.new_session(SETUP)
            stop = await client.connection.prompt(SESSION, text(json.dumps([["say", "hello"]])))
    assert stop == "end_turn"
    assert client.said() == ["hello"]
    assert client.exits[0].expected
    assert "connection-42" in caplog.text


async def test_the_token_and_the_headers_are_sent_and_never_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    monkeypatch.setenv("TEAM", "secret-team")
    with remote_server(SCRIPT, token=TOKEN) as server, caplog.at_level(logging.DEBUG):
        async with connected(server.url, token_file=tmp_path / "token", headers={"X-Team": "a ${TEAM}"}):
            pass
    sent = {name.lower(): value for name, value in server.headers[0].items()}
    assert (sent["authorization"], sent["x-team"]) == (f"Bearer {TOKEN}", "a secret-team")
    client_log = [entry.getMessage() for entry in caplog.records if "server" not in entry.name]
    assert not [line for line in client_log if TOKEN in line or "secret-team" in line]


async def test_a_command_prints_the_token() -> None:
    with remote_server(SCRIPT, token=TOKEN) as server:
        async with connected(server.url, token_command=("echo", TOKEN)):
            pass
    assert len(server.headers) == 1


async def test_a_frame_of_50_megabytes_arrives_and_line_breaks_between_values_do_not_split_it() -> None:
    long = "x" * (50 * MEGABYTE)

    async def talk(connection: ServerConnection) -> None:
        await connection.send(json.dumps(json.loads(update(long)), indent=1))
        await connection.wait_closed()

    with remote_server(talk=talk) as server:
        async with connected(server.url) as client:
            await until(client.said)
            assert client.said() == [long]


async def test_garbage_is_recorded_and_binary_frames_are_ignored() -> None:
    async def talk(connection: ServerConnection) -> None:
        await connection.send("<html>")
        await connection.send(b"\x00\x01")
        await connection.send(update("still here"))
        await connection.wait_closed()

    with remote_server(talk=talk) as server:
        async with connected(server.url) as client:
            await until(client.said)
            received = client.frames("received")
    assert received[0] == "<html>"
    assert len(received) == 2


async def test_a_redirect_on_the_same_host_is_followed(tmp_path: Path) -> None:
    with remote_server(SCRIPT, redirect="/other") as server:
        async with connected(server.url):
            pass
    assert len(server.headers) == 2


async def test_a_certificate_of_ones_own_is_accepted_if_it_is_named(tmp_path: Path) -> None:
    context, file = certificate(tmp_path)
    with remote_server(SCRIPT, tls=context) as server:
        async with connected(server.url, ca_file=file) as client:
            await client.connection.initialize({})


# --------------------------------------------------------------------------- no connection


async def test_a_server_that_does_not_run_is_reported() -> None:
    host = f"127.0.0.1:{free_port()}"
    sentence = f"{host} refused the connection: no server is running there."
    assert await fault(f"ws://{host}/acp") == f"Remote Agent cannot be reached: {sentence}"


async def test_a_wrong_token_is_reported_without_the_token(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("wrong-token")
    with remote_server(SCRIPT, token=TOKEN) as server:
        said = await fault(server.url, token_file=tmp_path / "token")
    assert "HTTP status 401; check the token" in said
    assert "wrong-token" not in said


async def test_a_missing_token_is_reported() -> None:
    with remote_server(SCRIPT, token=TOKEN) as server:
        assert "401; it requires a token: --token-file FILE, ACP_TUI_TOKEN" in await fault(server.url)


async def test_a_refusal_is_reported() -> None:
    with remote_server(SCRIPT, refuse=HTTPStatus.FORBIDDEN) as server:
        assert "answered with HTTP status 403; the token is not allowed" in await fault(server.url)


async def test_a_certificate_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    context, _ = certificate(tmp_path)
    with remote_server(SCRIPT, tls=context) as server:
        said = await fault(server.url)
    assert "is not trusted (self-signed certificate); --ca-file FILE names another CA." in said
    assert server.headers == []


async def test_a_certificate_of_another_host_is_refused(tmp_path: Path) -> None:
    context, file = certificate(tmp_path)
    with remote_server(SCRIPT, tls=context) as server:
        said = await fault(server.url.replace("127.0.0.1", "localhost"), ca_file=file)
    assert "is not trusted (" in said
    assert server.headers == []


async def test_a_redirect_to_another_host_is_refused(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(TOKEN)
    with remote_server(SCRIPT) as other, remote_server(SCRIPT, redirect=f"{other.url}?key=1") as server:
        said = await fault(server.url, token_file=tmp_path / "token")
    assert said.endswith(f"it redirects to another host, which is not followed: {other.url}.")
    assert other.headers == []


@pytest.mark.parametrize("tls", [True, False])
async def test_a_server_with_another_protocol_is_reported(tmp_path: Path, *, tls: bool) -> None:
    context, _ = certificate(tmp_path)
    with remote_server(SCRIPT, tls=context if tls else None) as server:
        said = await fault(server.url.replace("wss", "ws") if tls else server.url.replace("ws", "wss"))
    assert said.startswith("Remote Agent cannot be reached: ")
    assert "\n" not in said


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"token_file": Path("/nowhere/token")}, "the token file /nowhere/token: No such file or directory"),
        ({"token_file": Path("/dev/null")}, "the token file /dev/null contains no token"),
        ({"token_command": ("printf", "two\\nlines")}, "the output of token_command contains something else"),
        ({"token_command": ("false",)}, "token_command failed with exit code 1"),
        ({"token_command": ("/nowhere/program",)}, "token_command cannot be started: /nowhere/program"),
        (
            {"headers": {"X-Key": "${NO_SUCH_VARIABLE}"}},
            "the environment variable NO_SUCH_VARIABLE is not set",
        ),
        ({"ca_file": Path("/dev/null")}, "the certificates in /dev/null cannot be read"),
    ],
)
async def test_what_is_missing_here_is_reported(options: dict[str, Any], sentence: str) -> None:
    assert sentence in await fault(f"wss://127.0.0.1:{free_port()}/acp", **options)


# --------------------------------------------------------------------------- the connection ends


async def test_a_connection_cut_in_a_frame_ends_the_turn() -> None:
    with remote_server(SCRIPT) as server:
        async with connected(server.url) as client:
            turn = await prompted(client)
            server.cut_in_frame()
            with pytest.raises(AgentGone, match="Remote Agent was disconnected: the connection broke"):
                await turn


async def test_a_half_open_connection_is_found_by_pings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_agent, "PING_SECONDS", 0.3)
    monkeypatch.setattr(remote_agent, "PONG_SECONDS", 0.3)

    async def talk(connection: ServerConnection) -> None:
        connection.transport.pause_reading()
        await connection.wait_closed()

    with remote_server(talk=talk) as server:
        async with connected(server.url) as client:
            assert await end(client) == (
                "Remote Agent was disconnected: it did not answer a ping within 0.3 s"
            )


async def test_a_message_over_the_limit_ends_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_agent, "MAX_MESSAGE_BYTES", 2 * 1024 * 1024)

    async def talk(connection: ServerConnection) -> None:
        await connection.send(update("x" * 3 * MEGABYTE))
        await connection.wait_closed()

    with remote_server(talk=talk) as server:
        async with connected(server.url) as client:
            assert await end(client) == "Remote Agent was disconnected: it sent a message of more than 2 MB"


@pytest.mark.parametrize(
    ("code", "reason", "sentence"),
    [
        (1000, "", "Remote Agent closed the connection"),
        (1001, "bye\x1b[31m", "Remote Agent closed the connection: bye␛[31m"),
        (1009, "too big", "Remote Agent closed the connection because a message was too large for it"),
        (1011, TOKEN, "Remote Agent closed the connection (code 1011): ***"),
    ],
)
async def test_the_reason_for_closing_is_reported(
    tmp_path: Path, code: int, reason: str, sentence: str
) -> None:
    (tmp_path / "token").write_text(TOKEN)

    async def talk(connection: ServerConnection) -> None:
        await connection.close(code, reason)

    with remote_server(talk=talk) as server:
        async with connected(server.url, token_file=tmp_path / "token") as client:
            assert await end(client) == sentence


async def test_a_connection_can_be_closed_without_a_code() -> None:
    async def talk(connection: ServerConnection) -> None:
        connection.transport.write(b"\x88\x00")  # a close frame that is empty, as the TypeScript SDK sends it
        await connection.wait_closed()

    with remote_server(talk=talk) as server:
        async with connected(server.url) as client:
            assert await end(client) == "Remote Agent closed the connection"


async def test_text_that_is_not_utf_8_ends_the_connection() -> None:
    async def talk(connection: ServerConnection) -> None:
        await connection.send(b"\xff\xfe", text=True)
        await connection.wait_closed()

    with remote_server(talk=talk) as server:
        async with connected(server.url) as client:
            assert "it broke the WebSocket protocol" in await end(client)


async def test_everything_is_sent_before_the_connection_is_closed() -> None:
    received: list[Any] = []

    async def talk(connection: ServerConnection) -> None:
        received.extend([message async for message in connection])

    with remote_server(talk=talk) as server:
        async with connected(server.url) as client:
            for number in range(100):
                await client.connection.notify("_x", {"number": number, "text": "x" * 10_000})
            await client.connection.close()
            await until(lambda: len(received) == 100)


def test_the_limits_are_those_that_the_documentation_names() -> None:
    limits = (remote_access.MAX_MESSAGE_BYTES, remote_agent.PING_SECONDS, remote_agent.PONG_SECONDS)
    assert limits == (64 * 1024 * 1024, 20.0, 60.0)
