"""An MCP server with one tool, which records how an agent connects to it.

As a script, `python mcp_probe.py RECORD …`, it serves on standard input and output, and appends what it
receives to the file RECORD. `HttpProbe` serves streamable HTTP and SSE from a thread. It does not use the MCP
SDK, because the agent starts it with `-S`, and because the SDK would hide what was sent.
"""

from __future__ import annotations

import json
import os
import queue
import sys
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from http.server import BaseHTTPRequestHandler

TOOL = "acp_tui_probe"
"""The name of the tool. It has no parameters."""
TOOL_RESULT = "The probe of acp-tui was called."
VARIABLE = "ACP_TUI_PROBE"
"""The environment variable that the script records."""
HEADER = "X-Acp-Tui-Probe"
"""The header that `HttpProbe` records."""
KEEP_ALIVE_SECONDS = 5.0

Message = dict[str, Any]


def respond(message: Any) -> Message | None:
    """Return the answer to an MCP message; None if it needs none."""
    if not isinstance(message, dict) or message.get("id") is None or "method" not in message:
        return None
    method, params = message["method"], message.get("params") or {}
    results: dict[str, Any] = {
        "initialize": {
            "protocolVersion": params.get("protocolVersion", "2025-06-18"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "acp-tui-probe", "version": "1"},
        },
        "ping": {},
        "tools/list": {
            "tools": [
                {
                    "name": TOOL,
                    "description": "Reports that it was called. It changes nothing.",
                    "inputSchema": {"type": "object", "properties": {}},
                    "annotations": {"readOnlyHint": True},
                }
            ]
        },
        "tools/call": {"content": [{"type": "text", "text": TOOL_RESULT}]},
    }
    envelope: Message = {"jsonrpc": "2.0", "id": message["id"]}
    if method in results:
        return {**envelope, "result": results[method]}
    return {**envelope, "error": {"code": -32601, "message": "Method not found"}}


def serve_stdio(record: str) -> None:
    """Answer the messages on stdin until it is closed. The first recorded line has arguments and variable."""
    descriptor = os.open(record, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def write(entry: Any) -> None:
        os.write(descriptor, json.dumps(entry).encode() + b"\n")

    write({"arguments": sys.argv[2:], "variable": os.environ.get(VARIABLE)})
    for line in sys.stdin.buffer:
        try:
            message = json.loads(line)
        except ValueError:
            continue
        write(message)
        if (answer := respond(message)) is not None:
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()


class HttpProbe:
    """The server over HTTP on 127.0.0.1, at `/mcp` as streamable HTTP and at `/sse` as SSE."""

    def __init__(self) -> None:
        from http.server import ThreadingHTTPServer

        self.received: list[tuple[str, str, str | None]] = []
        """Method, path and the header `HEADER` of each request."""
        self._streams: list[queue.Queue[Message]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True

    def __enter__(self) -> Self:
        import threading

        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}{path}"

    def get(self, handler: BaseHTTPRequestHandler) -> None:
        self._record("GET", handler)
        if handler.path != "/sse":
            handler.send_error(405)
            return
        answers: queue.Queue[Message] = queue.Queue()
        self._streams.append(answers)
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Connection", "close")
        handler.end_headers()
        try:
            handler.wfile.write(b"event: endpoint\ndata: /message\n\n")
            while True:
                try:
                    answer = json.dumps(answers.get(timeout=KEEP_ALIVE_SECONDS))
                    handler.wfile.write(f"event: message\ndata: {answer}\n\n".encode())
                except queue.Empty:
                    handler.wfile.write(b": still here\n\n")
                handler.wfile.flush()
        except OSError:  # the agent has closed the stream
            self._streams.remove(answers)

    def post(self, handler: BaseHTTPRequestHandler) -> None:
        self._record("POST", handler)
        if handler.path == "/sse":
            handler.send_error(405)
            return
        try:
            body = json.loads(handler.rfile.read(int(handler.headers.get("Content-Length") or 0)))
        except ValueError:
            handler.send_error(400)
            return
        answer = respond(body)
        if handler.path == "/message":
            for stream in self._streams:
                if answer is not None:
                    stream.put(answer)
            answer = None
        content = b"" if answer is None else json.dumps(answer).encode()
        handler.send_response(200 if content else 202)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    def _record(self, method: str, handler: BaseHTTPRequestHandler) -> None:
        self.received.append((method, handler.path, handler.headers.get(HEADER)))


def _handler(probe: HttpProbe) -> type[BaseHTTPRequestHandler]:
    from http.server import BaseHTTPRequestHandler

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            probe.get(self)

        def do_POST(self) -> None:
            probe.post(self)

        def log_message(self, *_: object) -> None:
            """Keep quiet on stderr."""

    return Handler


if __name__ == "__main__":
    serve_stdio(sys.argv[1])
