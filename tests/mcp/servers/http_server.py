"""An MCP server of the SDK over streamable HTTP and SSE, with URLs that fail in different ways.

    python -m tests.mcp.servers.http_server

It prints one line of JSON, `{"port": …, "tls_port": …}`, and serves on loopback until its stdin ends:

    /mcp                     streamable HTTP, every protocol version
    /sse                     HTTP with server-sent events, the old transport
    /key/mcp                 requires the header `X-Key: open sesame`, answers 401 without it
    /status/CODE             answers every request with this status
    /page                    answers with an HTML page
    /away                    redirects to /mcp of another origin, `localhost` instead of `127.0.0.1`
    /moved                   redirects to /mcp of the same origin
    /mute                    never answers
    /guarded/OPTIONS/mcp     (and /sse) requires a token of the server /as/OPTIONS, see `oauth.py`

The second port serves the same with TLS and a self-signed certificate. If MCP_SERVER_LOG names a file,
requests are appended to it as `stdio_server.py` does.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import json
import os
import socket
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import mcp_types as types
import uvicorn
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from mcp.server import MCPServer
from mcp.server.elicitation import ElicitationResult  # noqa: TC002  (the SDK reads the annotations)
from mcp.server.mcpserver import Context, Elicit, Resolve
from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route

from tests.mcp.servers.oauth import AuthorizationServers
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send

HERE = "127.0.0.1"


def record(method: str, params: Any) -> None:
    """Append a request to the log."""
    if log := os.environ.get("MCP_SERVER_LOG"):
        with open(log, "a") as file:
            entry = {"server": "http", "pid": os.getpid(), "method": method, "params": params}
            file.write(json.dumps(entry) + "\n")


async def record_request(ctx: Any, call_next: Any) -> Any:
    """Append a message to the log before the server handles it."""
    record(ctx.method, dict(ctx.params) if ctx.params else None)
    return await call_next(ctx)


server = MCPServer(
    "http",
    version="1.2.3",
    instructions="Use these tools in tests.",
    log_level="ERROR",
    middleware=[record_request],
)

# ----------------------------------------------------------------------- the server


@server.tool(annotations=types.ToolAnnotations(read_only_hint=True))
def echo(text: str) -> str:
    """Return the text."""
    return text


@server.tool()
def headers(context: Context) -> str:
    """Return the headers of the request as JSON."""
    return json.dumps(dict(context.headers or {}))


@server.tool()
async def progress(context: Context, steps: int = 3) -> str:
    """Report progress step by step."""
    for step in range(1, steps + 1):
        await context.report_progress(step, steps, f"step {step}")
    return f"{steps} steps"


@server.tool()
async def wait(context: Context, path: str) -> str:
    """Report progress once, then wait until a file exists."""
    await context.report_progress(0, None, "waiting")
    await until(Path(path).exists)
    return "waited"


@server.tool()
def fail(message: str = "it failed") -> types.CallToolResult:
    """Return an error as the result."""
    return types.CallToolResult(content=[types.TextContent(type="text", text=message)], is_error=True)


class Person(BaseModel):
    name: str
    age: int = 7


def who() -> Elicit[Person]:
    """Return a question, which the SDK asks in the way of the client's protocol version."""
    return Elicit("Who are you?", Person)


@server.tool()
def ask(person: Annotated[ElicitationResult[Person], Resolve(who)]) -> str:
    """Ask the user to fill in a form, and return the answer as JSON."""
    return person.model_dump_json()


@server.tool()
async def change(context: Context, back: bool = False) -> str:
    """Add the tool `added` to the list, or remove it."""
    if back:
        server.remove_tool("added")
    else:
        server.add_tool(echo, name="added", description="A new tool.")
    await context.notify_tools_changed()
    await context.request_context.session.send_tool_list_changed()
    return "changed"


@server.prompt()
def greet(name: str, style: str = "friendly") -> str:
    """Write a greeting."""
    return f"Write a {style} greeting for {name}."


@server.resource("test://readme", mime_type="text/plain")
def readme() -> str:
    """A text."""
    return "The text of test://readme\n"


@server.resource("test://notes/{name}", mime_type="text/plain")
def note(name: str) -> str:
    """A note by name."""
    return f"The text of test://notes/{name}\n"


# -------------------------------------------------------------------- the other URLs


async def status(request: Request) -> Response:
    """Answer with the status in the path."""
    record("http/status", request.path_params["code"])
    return PlainTextResponse("no", status_code=request.path_params["code"])


async def page(request: Request) -> Response:
    """Answer with an HTML page."""
    return HTMLResponse("<html><body>Please log in to the hotel network</body></html>")


async def away(request: Request) -> Response:
    """Redirect to another origin."""
    return RedirectResponse(str(request.url.replace(hostname="localhost", path="/mcp")), status_code=307)


async def moved(request: Request) -> Response:
    """Redirect to the same origin."""
    return RedirectResponse(str(request.url.replace(path="/mcp")), status_code=307)


async def mute(request: Request) -> Response:
    """Wait until the client disconnects, without an answer."""
    record("http/mute", None)
    while (await request.receive())["type"] != "http.disconnect":
        pass
    return Response()


class HeaderGuard:
    """ASGI middleware that forwards requests with a certain header to another path, and refuses others."""

    def __init__(self, app: ASGIApp, path: str, header: tuple[bytes, bytes]) -> None:
        self.app, self.path, self.header = app, path, header

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if self.header not in scope["headers"]:
            await PlainTextResponse("the key is missing", status_code=401)(scope, receive, send)
            return
        await self.app({**scope, "path": self.path, "raw_path": self.path.encode()}, receive, send)


def application() -> Starlette:
    """Return the application with all URLs."""
    http, sse = server.streamable_http_app(), server.sse_app()
    authorization = AuthorizationServers(http, sse, record)
    any_method = ["GET", "POST", "DELETE"]
    key = HeaderGuard(http, "/mcp", (b"x-key", b"open sesame"))

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with server.session_manager.run():
            yield

    routes = [
        Route("/mcp", http, methods=any_method),
        Mount("/key", key),
        Route("/status/{code:int}", status, methods=any_method),
        Route("/page", page, methods=any_method),
        Route("/away", away, methods=any_method),
        Route("/moved", moved, methods=any_method),
        Route("/mute", mute, methods=any_method),
        *authorization.routes(),
        *sse.routes,
    ]
    return Starlette(routes=routes, lifespan=lifespan)


# ------------------------------------------------------------------------ the program


def certificate(folder: Path) -> Path:
    """Write a self-signed certificate for `localhost` and its key into one file, and return the file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "acp-tui test")])
    now = dt.datetime.now(dt.UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - dt.timedelta(days=1))
    builder = builder.not_valid_after(now + dt.timedelta(days=1))
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file = folder / "certificate.pem"
    file.write_bytes(secret + builder.sign(key, hashes.SHA256()).public_bytes(pem))
    return file


def listen() -> socket.socket:
    """Return a socket that listens on a free port."""
    listener = socket.create_server((HERE, 0))
    listener.setblocking(False)
    return listener


async def main() -> None:
    """Serve until stdin ends."""
    app = application()
    plain, tls = listen(), listen()
    with tempfile.TemporaryDirectory() as folder:
        secure = uvicorn.Config(
            app, log_level="error", ssl_certfile=certificate(Path(folder)), lifespan="off"
        )
        secure.load()
    ports = {"port": plain.getsockname()[1], "tls_port": tls.getsockname()[1]}
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    print(json.dumps(ports), flush=True)  # connections wait until the servers accept them
    first = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    await asyncio.gather(first.serve(sockets=[plain]), uvicorn.Server(secure).serve(sockets=[tls]))


if __name__ == "__main__":
    asyncio.run(main())
