"""`acp-tui serve`: the real program, with WebSocket clients on real sockets and agents in real processes."""

from __future__ import annotations

import json
import os
import re
import signal
import ssl
import subprocess
from contextlib import ExitStack
from socket import SHUT_RDWR
from typing import TYPE_CHECKING, Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidMessage, InvalidStatus

from tests.support.agent_server import Served, python, served
from tests.support.cli import run, running
from tests.support.leftovers import processes_with
from tests.support.waiting import TIMEOUT_SECONDS, wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from websockets.sync.client import ClientConnection

MAX_CONNECTIONS = 8
MAX_BYTES = 64 * 1024 * 1024
ECHO = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"
"""An agent that sends back what it gets."""


def exchange(socket: ClientConnection, frame: str) -> str | bytes:
    """Send a frame and return the next one that arrives."""
    socket.send(frame)
    return socket.recv(TIMEOUT_SECONDS)


def ask(socket: ClientConnection, method: str, params: dict[str, Any], number: int = 1) -> dict[str, Any]:
    """Send a request and return its answer."""
    socket.send(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}))
    while True:
        message: dict[str, Any] = json.loads(socket.recv(TIMEOUT_SECONDS))
        if message.get("id") == number and "method" not in message:
            return message


def open_session(socket: ClientConnection, folder: Path, **more: Any) -> dict[str, Any]:
    """Return the answer to `session/new`."""
    ask(socket, "initialize", {"protocolVersion": 1, "clientCapabilities": {}})
    return ask(socket, "session/new", {"cwd": str(folder), "mcpServers": [], **more}, 2)


def texts(socket: ClientConnection, session: str, prompt: str) -> str:
    """Send a prompt, and return the text of the agent's messages."""
    content = [{"type": "text", "text": prompt}]
    params = {"sessionId": session, "prompt": content}
    socket.send(json.dumps({"jsonrpc": "2.0", "id": 3, "method": "session/prompt", "params": params}))
    text = ""
    while (message := json.loads(socket.recv(TIMEOUT_SECONDS))).get("id") != 3:
        update = message.get("params", {}).get("update", {})
        if update.get("sessionUpdate") == "agent_message_chunk":
            text += update["content"]["text"]
    return text


def certificate(folder: Path) -> tuple[Path, Path]:
    """Make a certificate for 127.0.0.1. Return its file and that of its key."""
    key, file = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"),
            *("-nodes", "-days", "2", "-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", key, "-out", file),
        ],
        check=True,
        capture_output=True,
    )
    return file, key


# --------------------------------------------------------------------------- a conversation


def test_a_turn_of_the_demo_agent(tmp_path: Path) -> None:
    with served("demo", cwd=tmp_path) as server, server.connect() as socket:
        session = open_session(socket, tmp_path)["result"]["sessionId"]
        assert "flood" in texts(socket, session, "help")
        assert socket.response is not None
        assert socket.response.headers["Acp-Connection-Id"]


def test_what_is_printed_says_how_to_connect(tmp_path: Path) -> None:
    with served("demo", cwd=tmp_path) as server:
        assert server.out.splitlines() == [
            f"Serving Demo agent in {tmp_path} at {server.url}",
            f"Token: {server.token}",
            "Save the token in a file that only you can read. Connect with:",
            f"  acp-tui {server.url} --token-file FILE",
            "Press Ctrl+C to stop.",
        ]
        assert len(server.token) >= 32


def test_each_connection_has_an_agent_of_its_own(tmp_path: Path) -> None:
    code = "import os, sys, json\nfor line in sys.stdin: print(json.dumps([os.getpid()]), flush=True)"
    with served(*python(code), cwd=tmp_path) as server, server.connect() as one, server.connect() as two:
        ids = set()
        for socket in (one, two, one):
            socket.send("{}")
            ids.add(socket.recv(TIMEOUT_SECONDS))
        assert len(ids) == 2


def test_a_frame_with_line_breaks_is_one_line_for_the_agent(tmp_path: Path) -> None:
    with served(*python(ECHO), cwd=tmp_path) as server, server.connect() as socket:
        socket.send('{"a":\r\n 1,\n"b": "\\n\u2028é"}')
        assert socket.recv(TIMEOUT_SECONDS) == '{"a":   1, "b": "\\n\u2028é"}'


def test_binary_frames_are_ignored(tmp_path: Path) -> None:
    with served(*python(ECHO), cwd=tmp_path) as server, server.connect() as socket:
        socket.send(b'{"binary": 1}')
        socket.send('{"text": 1}')
        assert socket.recv(TIMEOUT_SECONDS) == '{"text": 1}'


def test_a_message_of_50_mb_passes_in_both_directions(tmp_path: Path) -> None:
    message = json.dumps({"a": "x" * 50_000_000})
    with served(*python(ECHO), cwd=tmp_path) as server, server.connect() as socket:
        socket.send(message)
        assert socket.recv(TIMEOUT_SECONDS) == message


def test_a_message_over_the_limit_ends_the_connection(tmp_path: Path) -> None:
    with served(*python(ECHO), cwd=tmp_path) as server, server.connect() as socket:
        with pytest.raises(ConnectionClosed) as raised:
            exchange(socket, json.dumps({"a": "x" * MAX_BYTES}))
        assert raised.value.rcvd is not None
        assert raised.value.rcvd.code == 1009
        server.wait_for_end_of_agents()


def test_output_that_is_not_a_message_is_shown_with_the_number_of_the_connection(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "print('loading \\x1b[31m…', '42', '{}', sep='\\n', flush=True)\n"
        "print('a \\x1b[2J warning', file=sys.stderr, flush=True)\n"
        "sys.stdin.read()"
    )
    with served(*python(code), cwd=tmp_path) as server, server.connect(), server.connect() as socket:
        assert socket.recv(TIMEOUT_SECONDS) == "{}"
        server.wait_for("[2] not a message on stdout: loading ␛[31m…\n")
        server.wait_for("[2] not a message on stdout: 42\n")
        server.wait_for("[1] a ␛[2J warning\n")
        server.wait_for("[2] a ␛[2J warning\n")
        assert "\x1b" not in server.err


@pytest.mark.parametrize(
    "frame", ["", "no JSON", '{"a": "\n"}', '{"a": NaN}', '{"a": 1, "a": 2}', "[" * 99_999]
)
def test_a_frame_that_is_not_json_is_answered_with_an_error(frame: str, tmp_path: Path) -> None:
    with served(*python(ECHO), cwd=tmp_path) as server, server.connect() as socket:
        socket.send(frame)
        answer = json.loads(socket.recv(TIMEOUT_SECONDS))
        assert (answer["id"], answer["error"]["code"]) == (None, -32700)
        socket.send('{"next": 1}')
        assert socket.recv(TIMEOUT_SECONDS) == '{"next": 1}'


# --------------------------------------------------------------------------- refused connections


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [("Authorization", "Bearer ")],
        [("Authorization", "Bearer wrong")],
        [("Authorization", "Basic {token}")],
        [("Authorization", "{token}")],
        [("Authorization", "Bearer {token}"), ("Authorization", "Bearer {token}")],
    ],
)
def test_a_connection_without_the_token_is_refused(headers: list[tuple[str, str]], tmp_path: Path) -> None:
    with served("demo", cwd=tmp_path) as server:
        given = [(name, value.format(token=server.token)) for name, value in headers]
        assert server.refusal(additional_headers=given) == 401
        server.wait_for("refused 127.0.0.1")
        assert server.token not in server.err
        server.wait_for_end_of_agents()


def test_a_token_in_the_address_is_not_accepted(tmp_path: Path) -> None:
    with served("demo", cwd=tmp_path) as server:
        assert server.refusal(f"{server.url}?token={server.token}", token="") == 401


def test_any_origin_is_refused(tmp_path: Path) -> None:
    with served("demo", cwd=tmp_path) as server:
        for origin in (server.url.replace("ws://", "http://"), "null", "https://example.com"):
            assert server.refusal(origin=origin) == 403


def test_an_origin_that_is_named_is_accepted_and_others_are_not(tmp_path: Path) -> None:
    with served("demo", "--allow-origin", "https://ide.example/", cwd=tmp_path) as server:
        with server.connect(origin="https://ide.example"), server.connect():
            assert server.refusal(origin="https://ide.example.com") == 403
        assert server.refusal(token="wrong", origin="https://ide.example") == 401


def test_other_paths_are_not_found(tmp_path: Path) -> None:
    with served("demo", cwd=tmp_path) as server:
        assert server.refusal(server.url + "/more") == 404


def test_the_ninth_connection_is_refused_until_another_ends(tmp_path: Path) -> None:
    with served(*python(ECHO), cwd=tmp_path) as server, ExitStack() as sockets:
        first, *_ = [sockets.enter_context(server.connect()) for _ in range(MAX_CONNECTIONS)]
        assert server.refusal() == 503
        first.close()
        server.wait_for("[1] disconnected")
        wait_until(lambda: can_connect(server))


def can_connect(server: Served) -> bool:
    try:
        with server.connect():
            return True
    except InvalidStatus:
        return False


# --------------------------------------------------------------------------- the end

STUBBORN = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen(["sleep", "1000"], start_new_session=True)
print('{"started": 1}', flush=True)
while True: time.sleep(1)
"""


def test_a_lost_connection_ends_the_agent_and_its_children(tmp_path: Path) -> None:
    with served(*python(STUBBORN), cwd=tmp_path) as server, server.connect() as socket:
        assert socket.recv(TIMEOUT_SECONDS) == '{"started": 1}'
        assert len(processes_with(server.mark)) >= 3
        socket.socket.shutdown(SHUT_RDWR)  # without a closing handshake
        server.wait_for_end_of_agents()


def test_a_lost_connection_ends_an_agent_that_does_not_read_its_messages(tmp_path: Path) -> None:
    with served(*python(STUBBORN), cwd=tmp_path) as server:
        with server.connect() as socket:
            socket.recv(TIMEOUT_SECONDS)  # what it sends later would show that the client is gone
            socket.send(json.dumps({"a": "x" * 5_000_000}))
        server.wait_for_end_of_agents()


def test_a_lost_connection_leaves_other_connections_alone(tmp_path: Path) -> None:
    with served(*python(ECHO), cwd=tmp_path) as server, server.connect() as other:
        with server.connect():
            pass
        server.wait_for("[2] disconnected")
        other.send("{}")
        assert other.recv(TIMEOUT_SECONDS) == "{}"


def test_the_client_is_told_how_the_agent_ended(tmp_path: Path) -> None:
    code = "import sys\nprint('{}', flush=True)\nprint('out of memory', file=sys.stderr)\nsys.exit(3)"
    with served(*python(code), cwd=tmp_path) as server, server.connect() as socket:
        assert socket.recv(TIMEOUT_SECONDS) == "{}"
        with pytest.raises(ConnectionClosed) as raised:
            socket.recv(TIMEOUT_SECONDS)
        assert raised.value.rcvd is not None
        assert raised.value.rcvd.reason.endswith("exited with code 3")
        server.wait_for("[1] out of memory")
        server.wait_for("exited with code 3")


def test_an_agent_that_cannot_be_started_ends_the_connection(tmp_path: Path) -> None:
    with served("--command", "no-such-agent", cwd=tmp_path) as server, server.connect() as socket:
        with pytest.raises(ConnectionClosed, match="cannot be started"):
            socket.recv(TIMEOUT_SECONDS)
        server.wait_for("[1] no-such-agent cannot be started: no-such-agent was not found in PATH.")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_everything(number: signal.Signals, tmp_path: Path) -> None:
    with served(*python(STUBBORN), cwd=tmp_path) as server, server.connect() as socket:
        socket.recv(TIMEOUT_SECONDS)
        server.process.send_signal(number)
        with pytest.raises(ConnectionClosed) as raised:
            socket.recv(TIMEOUT_SECONDS)
        assert raised.value.rcvd is not None
        assert raised.value.rcvd.code == 1001
        assert server.process.wait(TIMEOUT_SECONDS) == 0
        assert processes_with(server.mark) == []
        assert "Traceback" not in server.err


def test_a_killed_server_leaves_no_agents(tmp_path: Path) -> None:
    with running("serve", *python(STUBBORN), cwd=tmp_path) as (process, mark):
        server = Served(process, mark)
        with server.connect() as socket:
            socket.recv(TIMEOUT_SECONDS)
            process.kill()
            process.wait()
            wait_until(lambda: processes_with(mark) == [])


# --------------------------------------------------------------------------- folders


def test_a_session_in_a_folder_below_is_opened(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    with served("demo", cwd=tmp_path) as server, server.connect() as socket:
        opened = open_session(socket, tmp_path / "below", additionalDirectories=[str(tmp_path)])
        assert opened["result"]["sessionId"]


@pytest.mark.parametrize("method", ["session/new", "session/load", "session/resume", "session/fork"])
def test_a_session_outside_the_folder_is_refused_and_not_forwarded(method: str, tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (inside / "link").symlink_to(outside)
    wrong = [
        str(outside),
        f"{inside}/../outside",
        f"{inside}/link",
        f"{inside}/link/new",
        "/",
        "here",
        "~",
        "",
    ]
    params: list[dict[str, Any]] = [{"cwd": path} for path in [*wrong, 7, f"{inside}\0"]]
    params += [{"cwd": str(inside), "additionalDirectories": [str(inside), path]} for path in wrong]
    params += [{"cwd": str(inside), "additionalDirectories": str(inside)}]
    with served(*python(ECHO), "--folder", "inside", cwd=tmp_path) as server, server.connect() as socket:
        for number, given in enumerate(params):
            answer = ask(socket, method, given, number)
            assert answer["error"]["code"] == -32602, given
        socket.send('{"next": 1}')
        assert socket.recv(TIMEOUT_SECONDS) == '{"next": 1}'
        server.wait_for(f"[1] refused cwd: {outside} is outside the served folder {inside}.")


def test_the_answer_says_what_is_outside(tmp_path: Path) -> None:
    with served("demo", cwd=tmp_path) as server, server.connect() as socket:
        answer = open_session(socket, tmp_path.parent)
        expected = f"cwd: {tmp_path.parent} is outside the served folder {tmp_path}."
        assert answer["error"]["message"] == expected


def test_a_batch_with_a_folder_outside_is_refused_as_a_whole(tmp_path: Path) -> None:
    def request(number: int, cwd: str) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": number, "method": "session/new", "params": {"cwd": cwd}}

    notification = {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "x"}}
    with served(*python(ECHO), cwd=tmp_path) as server, server.connect() as socket:
        socket.send(json.dumps([request(1, str(tmp_path)), notification, request(2, "/")]))
        answers = json.loads(socket.recv(TIMEOUT_SECONDS))
        assert [(one["id"], one["error"]["code"]) for one in answers] == [(1, -32600), (2, -32602)]


def test_the_agent_works_in_the_folder(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    code = "import json, os\nprint(json.dumps([os.getcwd()]), flush=True)\ninput()"
    with served(*python(code), "--folder", "below", cwd=tmp_path) as server, server.connect() as socket:
        assert json.loads(socket.recv(TIMEOUT_SECONDS)) == [str(tmp_path / "below")]


# --------------------------------------------------------------------------- options


def test_the_token_of_a_file_is_required_and_not_printed(tmp_path: Path) -> None:
    (tmp_path / "token.txt").write_text("of-the-file-1234\n")
    with served("demo", "--token-file", "token.txt", cwd=tmp_path) as server:
        assert f"  acp-tui {server.url} --token-file token.txt\n" in server.out
        assert "of-the-file" not in server.out
        assert server.refusal(token="wrong") == 401
        with server.connect(token="of-the-file-1234") as socket:
            assert open_session(socket, tmp_path)["result"]


def test_an_encrypted_connection(tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    trusted = ssl.create_default_context(cafile=cert)
    options = ("--listen", "0.0.0.0:0", "--tls-cert", str(cert), "--tls-key", str(key))
    with served("demo", *options, cwd=tmp_path) as server:
        assert server.url.startswith("wss://")
        url = re.sub("//.*:", "//127.0.0.1:", server.url)
        with server.connect(url, ssl=trusted) as socket:
            assert open_session(socket, tmp_path)["result"]
        with pytest.raises((OSError, InvalidMessage)), server.connect(url.replace("wss://", "ws://")):
            pass
        with pytest.raises(ssl.SSLCertVerificationError), server.connect(url):
            pass


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0", "192.0.2.1:8700"])
def test_other_machines_are_not_served_without_encryption(address: str, tmp_path: Path) -> None:
    done = run("serve", "demo", "--listen", address, cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "--tls-cert and --tls-key are required" in done.err


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((), "Name an agent"),
        (("demo", "--command", "x"), "but not both"),
        (("no-such-agent",), "Unknown agent"),
        (("demo", "--listen", "example.com:80"), "expected an IP address and a port"),
        (("demo", "--listen", "127.0.0.1"), "expected an IP address and a port"),
        (("demo", "--listen", "127.0.0.1:70000"), "expected a port"),
        (("demo", "--tls-cert", "cert.pem"), "are used together"),
        (("demo", "--tls-key", "key.pem", "--tls-cert", "none.pem"), "No such file"),
        (("demo", "--tls-key", "empty", "--tls-cert", "empty"), "do not contain a certificate"),
        (("demo", "--token-file", "none.txt"), "Cannot read the token file none.txt: No such file"),
        (("demo", "--token-file", "empty"), "must contain one token on one line"),
        (("demo", "--token-file", "two"), "must contain one token on one line"),
        (("demo", "--folder", "none"), "does not exist"),
    ],
)
def test_mistakes_are_explained_in_a_sentence(args: tuple[str, ...], said: str, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "two").write_text("first-token\nsecond-token\n")
    done = run("serve", *args, cwd=tmp_path)
    assert done.code in (1, 2)
    assert said in done.err
    assert "Traceback" not in done.err
    assert "first-token" not in done.err


def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    with served("demo", cwd=tmp_path) as server:
        address = server.url.split("/")[2]
        done = run("serve", "demo", "--listen", address, cwd=tmp_path)
        assert done.code == 1
        assert f"Cannot listen on {address}: " in done.err


def test_the_home_directory_is_served_only_if_it_is_named(tmp_path: Path) -> None:
    done = run("serve", "demo", cwd=tmp_path, HOME=str(tmp_path))
    assert done.code == 2
    assert "choose one with --folder" in done.err
    with served("demo", "--folder", os.fspath(tmp_path), cwd=tmp_path, HOME=str(tmp_path)) as server:
        assert str(tmp_path) in server.out
