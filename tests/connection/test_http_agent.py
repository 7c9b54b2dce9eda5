"""Agents reached over streamable HTTP: real servers with HTTP/2 and HTTP/1.1, and how they fail."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_tui.connection import http_agent, remote_access
from acp_tui.connection.errors import AgentGone, RequestFailed
from tests.support.connection import SESSION, text
from tests.support.http_server import HttpAgentServer, Request, http_server
from tests.support.remote_client import SETUP, connected, end, fault, prompted, update
from tests.support.remote_server import SCRIPT, TOKEN, certificate, free_port, remote_server
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.connection import Client
    from tests.support.http_server import Reply

BOTH = pytest.mark.parametrize("http2", [True, False])
MEGABYTE = 1_000_000


def on(method: str, reply: Reply) -> Callable[[Request], Reply | None]:
    """Return a fault: this reply for requests with a JSON-RPC method or a method of HTTP."""

    def override(request: Request) -> Reply | None:
        named = request.body.get("method") if isinstance(request.body, dict) else None
        return reply if method in (request.method, named) else None

    return override


def script(**offers: Any) -> list[str]:
    """Return the command of the agent that executes the steps in a prompt."""
    return [*SCRIPT, json.dumps(offers)]


async def run(client: Client, *steps: list[Any]) -> str:
    """Run a turn in a new session."""
    await client.connection.initialize({})
    await client.connection.new_session(SETUP)
    return await client.connection.prompt(SESSION, text(json.dumps(steps)))


def notices(client: Client) -> list[str]:
    """Return what the connection has told the user."""
    return [frame["text"] for frame in client.frames("client")]


# --------------------------------------------------------------------------- working together


@BOTH
async def test_a_turn_runs_over_streams_and_ends_with_a_deletion(*, http2: bool) -> None:
    app = HttpAgentServer(SCRIPT)
    with http_server(app, http2=http2) as server:
        async with connected(server.url, transport="http") as client:
            assert await run(client, ["say", "hello"]) == "end_turn"
            assert client.said() == ["hello"]
        assert [one.headers.get("acp-session-id") for one in app.named("GET")][-2:] == [None, SESSION]
        assert [one.headers.get("acp-session-id") for one in app.named("session/prompt")] == [SESSION]
        assert len(app.named("DELETE")) == 1
    later = app.requests[app.requests.index(app.named("initialize")[0]) + 1 :]
    assert {one.headers["acp-connection-id"] for one in later} == {"connection-1"}
    assert {one.headers["cookie"] for one in later} == {"at=connection-1"}
    assert {one.version for one in later} == {"2" if http2 else "1.1"}
    told = "The connection uses HTTP/1.1: the server does not offer HTTP/2."
    assert notices(client) == ([] if http2 else [told])


@BOTH
async def test_with_tls_the_server_chooses_the_version(tmp_path: Path, *, http2: bool) -> None:
    _, file = certificate(tmp_path)
    app = HttpAgentServer(SCRIPT)
    with http_server(app, http2=http2, certificate=(tmp_path / "key.pem", file)) as server:
        async with connected(server.url, ca_file=file) as client:
            assert await run(client, ["say", "hello"]) == "end_turn"
    assert app.named("initialize")[0].version == ("2" if http2 else "1.1")


async def test_an_address_for_both_transports_uses_a_websocket_where_there_is_one() -> None:
    with remote_server(SCRIPT) as server:
        async with connected(server.url.replace("ws", "http")) as client:
            assert await run(client, ["say", "hello"]) == "end_turn"
    assert server.headers[0]["Upgrade"] == "websocket"


async def test_a_websocket_can_be_required() -> None:
    app = HttpAgentServer(SCRIPT)
    with http_server(app) as server:
        assert "HTTP status 403" in await fault(server.url, transport="websocket")
    assert not app.requests


async def test_an_answer_to_a_request_of_the_agent_names_the_session() -> None:
    app = HttpAgentServer(SCRIPT)

    async def read(params: dict[str, Any]) -> dict[str, Any]:
        return {"content": params["path"]}

    with http_server(app) as server:
        async with connected(server.url, transport="http") as client:
            client.handlers["fs/read_text_file"] = read
            await run(client, ["ask", "fs/read_text_file", {"path": "/there"}])
            assert "/there" in "".join(client.said())


async def test_a_loaded_history_comes_before_the_end_of_loading() -> None:
    chunk = {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "before"}}
    app = HttpAgentServer(script(capabilities={"loadSession": True}, history=[chunk] * 200))
    with http_server(app) as server:
        async with connected(server.url, transport="http") as client:
            await client.connection.initialize({})
            await client.connection.load_session(SESSION, SETUP)
            received = client.frames("received")
    assert [one.get("id") for one in received[-2:]] == [None, 1]
    assert len(received) == 202


async def test_updates_of_a_subagent_come_on_a_stream_of_their_own() -> None:
    app = HttpAgentServer(SCRIPT)
    child = {"sessionUpdate": "subagent_update", "sessionId": "child", "title": "look"}
    chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "found"}}
    with http_server(app) as server:
        async with connected(server.url, transport="http") as client:
            await run(client, ["update", child], ["update", chunk, "child"])
            await until(lambda: "found" in json.dumps(client.frames("received")))
            server.cut("child")
            await until(lambda: notices(client))
            assert notices(client) == ["The stream of a subagent's session ended; what follows is not shown."]
            assert not client.exits


async def test_a_message_of_50_megabytes_arrives_and_line_breaks_between_values_do_not_split_it() -> None:
    long = "x" * (50 * MEGABYTE)
    with http_server(HttpAgentServer(SCRIPT)) as server:
        async with connected(server.url, transport="http") as client:
            await run(client)
            lines = json.dumps(json.loads(update(long)), indent=1).encode().split(b"\n")
            server.push(SESSION, b"\r\ndata: ".join(lines))
            await until(lambda: len(client.said()) == 2)
            assert client.said()[-1] == long


async def test_garbage_is_recorded() -> None:
    with http_server(HttpAgentServer(SCRIPT)) as server:
        async with connected(server.url, transport="http") as client:
            await run(client)
            server.push(SESSION, b"<html>")
            server.push(SESSION, update("still here").encode())
            await until(lambda: len(client.said()) == 2)
            assert "<html>" in client.frames("received")


async def test_the_token_and_the_headers_are_sent_and_never_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    monkeypatch.setenv("TEAM", "secret-team")
    app = HttpAgentServer(SCRIPT)
    headers = {"X-Team": "a ${TEAM}", "Cookie": "mine=1"}
    with http_server(app) as server, caplog.at_level(logging.DEBUG):
        async with connected(server.url, token_file=tmp_path / "token", headers=headers) as client:
            await run(client, ["say", "hello"])
    assert {one.headers["authorization"] for one in app.requests} == {f"Bearer {TOKEN}"}
    assert {one.headers["x-team"] for one in app.requests} == {"a secret-team"}
    assert app.requests[-1].headers["cookie"] == "mine=1; at=connection-1"
    own = [line.getMessage() for line in caplog.records if not line.name.startswith(("hypercorn", "asyncio"))]
    assert not [line for line in own if TOKEN in line or "secret-team" in line]
    assert any("connection-1" in line for line in own)


async def test_a_redirect_on_the_same_host_is_followed() -> None:
    app = HttpAgentServer(SCRIPT)
    app.override = lambda one: (307, {"Location": "/other"}, b"") if one.path == "/acp" else None
    with http_server(app) as server:
        async with connected(server.url, transport="http") as client:
            assert await run(client, ["say", "hello"]) == "end_turn"


async def test_everything_is_sent_before_the_connection_is_closed() -> None:
    app = HttpAgentServer(SCRIPT)
    with http_server(app) as server:
        async with connected(server.url, transport="http") as client:
            await client.connection.initialize({})
            for number in range(30):
                await client.connection.notify("_x", {"number": number})
            await client.connection.close()
            assert [one.body["params"]["number"] for one in app.named("_x")] == list(range(30))


async def test_a_refused_version_is_followed_by_a_connection_for_another() -> None:
    error = {"jsonrpc": "2.0", "id": 0, "error": {"code": -32602, "message": "another version"}}
    headers = {"Content-Type": "application/json", "Acp-Connection-Id": "refused"}
    app = HttpAgentServer(SCRIPT, on("initialize", (200, headers, json.dumps(error).encode())))
    with http_server(app) as server:
        async with connected(server.url, transport="http") as client:
            with pytest.raises(RequestFailed, match="another version"):
                await client.connection.initialize({})
            app.override = None
            assert await run(client, ["say", "hello"]) == "end_turn"
    deleted = [one.headers["acp-connection-id"] for one in app.named("DELETE")]
    assert deleted == ["refused", "connection-1"]


# --------------------------------------------------------------------------- no connection


async def test_a_server_that_does_not_run_is_reported() -> None:
    host = f"127.0.0.1:{free_port()}"
    sentence = f"Remote Agent cannot be reached: {host} refused the connection: no server is running there."
    assert await fault(f"http://{host}/acp") == sentence
    assert await fault(f"https://{host}/acp", transport="http") == sentence


async def test_a_host_that_does_not_exist_is_reported() -> None:
    assert "the host nowhere.invalid was not found." in await fault(
        "https://nowhere.invalid/", transport="http"
    )


async def test_a_wrong_token_is_reported_without_the_token(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("wrong-token")
    app = HttpAgentServer(SCRIPT, on("GET", (401, {}, b"wrong-token")))
    with http_server(app) as server:
        said = await fault(server.url, token_file=tmp_path / "token")
        assert "HTTP status 401; it requires a token" in await fault(server.url)
    assert "HTTP status 401; check the token" in said
    assert "wrong-token" not in said


async def test_a_certificate_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    _, file = certificate(tmp_path)
    app = HttpAgentServer(SCRIPT)
    with http_server(app, certificate=(tmp_path / "key.pem", file)) as server:
        for transport in (None, "http"):
            said = await fault(server.url, transport=transport)
            assert "is not trusted (self-signed certificate); --ca-file FILE names another CA." in said
    assert app.requests == []


async def test_a_redirect_to_another_host_is_refused(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(TOKEN)
    other = HttpAgentServer(SCRIPT)
    with http_server(other) as target:
        app = HttpAgentServer(SCRIPT, on("GET", (307, {"Location": f"{target.url}?key=1"}, b"")))
        with http_server(app) as server:
            said = await fault(server.url, token_file=tmp_path / "token", transport="http")
    assert said.endswith(f"it redirects to another host, which is not followed: {target.url}.")
    assert other.requests == []


@pytest.mark.parametrize("tls", [True, False])
async def test_a_server_with_another_protocol_is_reported(tmp_path: Path, *, tls: bool) -> None:
    _, file = certificate(tmp_path)
    with http_server(
        HttpAgentServer(SCRIPT), certificate=(tmp_path / "key.pem", file) if tls else None
    ) as server:
        scheme = "http" if tls else "https"
        said = await fault(f"{scheme}://127.0.0.1:{server.port}/acp", transport="http")
    assert said.startswith("Remote Agent cannot be reached: ")
    assert "\n" not in said


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        ((401, {}, b""), "cannot be reached: {url} answered with HTTP status 401; it requires a token: "),
        ((404, {}, b""), "cannot be reached: {url} answered with HTTP status 404; check the path"),
        ((200, {"Content-Type": "text/html"}, b"<html>"), "answered with text/html in place of JSON; check"),
        ((200, {"Content-Type": "application/json"}, b"{}"), "without the header Acp-Connection-Id"),
    ],
)
async def test_a_refused_initialize_ends_the_connection(reply: Reply, sentence: str) -> None:
    with http_server(HttpAgentServer(SCRIPT, on("initialize", reply))) as server:
        async with connected(server.url, transport="http") as client:
            with pytest.raises(AgentGone) as gone:
                await client.connection.initialize({})
            assert sentence.format(url=server.url) in str(gone.value)


async def test_an_error_in_answer_to_initialize_is_that_of_the_agent() -> None:
    error = {"jsonrpc": "2.0", "id": 0, "error": {"code": -32603, "message": "no model"}}
    app = HttpAgentServer(SCRIPT, on("initialize", (500, {}, json.dumps(error).encode())))
    with http_server(app) as server:
        async with connected(server.url, transport="http") as client:
            with pytest.raises(RequestFailed, match="answered initialize with an error: no model"):
                await client.connection.initialize({})


# --------------------------------------------------------------------------- the connection ends


@BOTH
async def test_a_server_that_is_restarted_ends_the_turn(*, http2: bool) -> None:
    app = HttpAgentServer(SCRIPT)
    with http_server(app, http2=http2) as server:
        async with connected(server.url, transport="http") as client:
            turn = await prompted(client)
            server.stop()
            restarted = http_server(HttpAgentServer(SCRIPT), http2=http2, port=server.port)
            with (
                restarted,
                pytest.raises(AgentGone, match=r"Remote Agent (closed the|was disconnected: the)"),
            ):
                await turn


async def test_a_connection_that_the_server_does_not_know_is_lost() -> None:
    with http_server(HttpAgentServer(SCRIPT)) as server:
        async with connected(server.url, transport="http") as client:
            await run(client)
            server.forget()
            with pytest.raises(AgentGone, match=r"does not know the connection any more \(HTTP status 404"):
                await client.connection.prompt(SESSION, text("x"))


async def test_the_loss_of_the_stream_of_a_session_ends_the_turn_and_the_connection() -> None:
    app = HttpAgentServer(SCRIPT)
    with http_server(app) as server:
        async with connected(server.url, transport="http") as client:
            turn = await prompted(client)
            server.cut(SESSION)
            with pytest.raises(AgentGone, match="was disconnected: the stream of the session ended"):
                await turn
            await until(lambda: app.named("DELETE"))


async def test_the_loss_of_the_stream_of_the_connection_ends_it() -> None:
    with http_server(HttpAgentServer(SCRIPT)) as server:
        async with connected(server.url, transport="http") as client:
            await run(client)
            server.cut(None)
            assert await end(client) == "Remote Agent closed the connection"


async def test_the_stream_of_a_session_that_is_closed_may_end() -> None:
    app = HttpAgentServer(script(answers={"session/close": {}}))
    with http_server(app) as server:
        async with connected(server.url, transport="http") as client:
            await run(client)
            await client.connection.call("session/close", {"sessionId": SESSION})
            server.cut(SESSION)
            await client.connection.call("session/new", {"cwd": "/", "mcpServers": []})
            assert not client.exits


async def test_an_answer_that_is_no_event_stream_ends_the_connection() -> None:
    def override(request: Request) -> Reply | None:
        is_stream = request.method == "GET" and "acp-connection-id" in request.headers
        return (200, {"Content-Type": "text/html"}, b"<html>") if is_stream else None

    with http_server(HttpAgentServer(SCRIPT, override)) as server:
        async with connected(server.url, transport="http") as client:
            await client.connection.initialize({})
            assert "it answered with text/html in place of an event stream" in await end(client)


async def test_a_refused_message_fails_alone() -> None:
    app = HttpAgentServer(SCRIPT, on("session/prompt", (413, {}, b"too large\x1b[31m")))
    with http_server(app) as server:
        async with connected(server.url, transport="http") as client:
            with pytest.raises(RequestFailed, match=r"HTTP status 413: too large␛\[31m"):
                await run(client)
            app.override = None
            assert await client.connection.prompt(SESSION, text("again")) == "end_turn"


async def test_a_session_that_the_server_does_not_know_fails_alone() -> None:
    def override(request: Request) -> Reply | None:
        is_old = request.headers.get("acp-session-id") == "old"
        return (404, {}, b'{"error": "Unknown session id"}') if is_old else None

    with http_server(HttpAgentServer(SCRIPT, override)) as server:
        async with connected(server.url, transport="http") as client:
            await client.connection.initialize({})
            with pytest.raises(RequestFailed, match=r"HTTP status 404: .*Unknown session id"):
                await client.connection.call("session/resume", {"sessionId": "old", "cwd": "/"})
            assert not client.exits


async def test_a_server_with_one_stream_for_everything_is_possible() -> None:
    def override(request: Request) -> Reply | None:
        is_session = request.method == "GET" and "acp-session-id" in request.headers
        return (409, {}, b"one stream only") if is_session else None

    with http_server(HttpAgentServer(SCRIPT, override)) as server:
        async with connected(server.url, transport="http") as client:
            await client.connection.initialize({})
            await client.connection.new_session(SETUP)
            await until(lambda: notices(client))
            server.push(None, update("hello").encode())
            await until(client.said)
    assert notices(client)[0].startswith("The server refused a stream for the session (HTTP status 409).")


async def test_a_server_that_stops_answering_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    hung = asyncio.Event()

    class Hanging(HttpAgentServer):
        async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
            if hung.is_set() and scope.get("method") == "POST":
                await asyncio.Event().wait()
            await super().__call__(scope, receive, send)

    with http_server(Hanging(SCRIPT)) as server:
        async with connected(server.url, transport="http") as client:
            await run(client)
            hung.set()
            monkeypatch.setattr(http_agent, "OPEN_SECONDS", 0.5)
            with pytest.raises(AgentGone, match=r"was disconnected: it did not answer within 0\.5 s"):
                await client.connection.prompt(SESSION, text("x"))


async def test_a_message_over_the_limit_ends_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_agent, "MAX_MESSAGE_BYTES", 2 * 1024 * 1024)
    with http_server(HttpAgentServer(SCRIPT)) as server:
        async with connected(server.url, transport="http") as client:
            await run(client)
            server.push(SESSION, update("x" * 3 * MEGABYTE).encode())
            assert await end(client) == "Remote Agent was disconnected: it sent a message of more than 2 MB"


# --------------------------------------------------------------------------- event streams


@given(
    st.lists(st.text('ab: "', min_size=1), min_size=1), st.sampled_from([b"\n", b"\r\n", b"\r"]), st.data()
)
def test_events_are_the_same_however_the_bytes_are_split(
    messages: list[str], line_end: bytes, data: st.DataObject
) -> None:
    lines = [b": a comment", b"event: message"]
    for message in messages:
        lines += [b"data: " + message.encode(), b"id: 1", b""]
    raw = line_end.join([*lines, b""])
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)))))
    stream = http_agent._Stream(None, is_child=False)
    found: list[bytes] = []
    for start, stop in zip([0, *cuts], [*cuts, len(raw)], strict=True):
        found += stream.feed(raw[start:stop])
    assert [one.decode() for one in found] == messages


def test_the_limit_is_the_one_that_the_documentation_names() -> None:
    assert remote_access.MAX_MESSAGE_BYTES == 64 * 1024 * 1024
