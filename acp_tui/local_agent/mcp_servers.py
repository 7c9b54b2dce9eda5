"""The MCP servers that the client names in `session/new`, through the official SDK.

Their tools are offered to the model as `server__tool`, their prompts to the user as slash commands. Import
this module only if there is a server: the SDK takes half a second to load.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import anyio
import httpx2
import mcp_types as types
from acp.schema import AcpMcpServer, HttpMcpServer, McpServerStdio, SseMcpServer
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from acp_tui.local_agent.profile import Image, ToolResult, ToolSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcp.client._transport import TransportStreams
    from mcp.client.context import ClientRequestContext
    from mcp.client.session import IncomingMessage

McpServer = HttpMcpServer | SseMcpServer | AcpMcpServer | McpServerStdio
_Item = TypeVar("_Item")

CONNECT_SECONDS = 30.0
CALL_SECONDS = 600.0
START_SECONDS = 10.0
"""How long `start` waits for slow servers. They are used once they are connected."""
TOO_NEW = (types.UNSUPPORTED_PROTOCOL_VERSION, types.METHOD_NOT_FOUND)
"""With what servers of newer revisions answer `initialize`."""
MAX_PAGES = 100
MAX_NAME = 63
MAX_REASON = 300
MAX_TEXT = 50_000
"""The maximum number of characters of a result. Servers may return files of any size."""
MAX_MESSAGE_BYTES = 64 * 1024 * 1024
"""The maximum size of an event over HTTP: the SDK's 1 MB is too small for screenshots."""
# Starts before the server, in the same process group, and ends that group when the agent has ended, because
# then nothing can write to the FIFO any more. Deletes the FIFO with its folder once it has opened it.
_GUARD = '{ rm "$0"; rmdir "${0%/*}"; read -r _; kill -KILL 0; } <"$0" >/dev/null 2>&1 & exec "$@"'


class PromptError(Exception):
    """A prompt that cannot be used. The message is a sentence for the user."""


@dataclass(frozen=True)
class PromptCommand:
    """A prompt of a server as a slash command. `hint` names its arguments."""

    name: str
    description: str
    hint: str


class McpServers:
    """The servers of a session. One that fails is reported and left out.

    Args:
        on_problem: Called with a sentence for the user, also later on.
        on_change: Called when tools or prompts have been added or removed after `start` has returned.
    """

    def __init__(self, on_problem: Callable[[str], None], on_change: Callable[[], None]) -> None:
        self._on_problem = on_problem
        self._on_change = on_change
        self._servers: list[_Server] = []
        self._is_started = False

    async def start(self, servers: Sequence[McpServer], cwd: Path) -> None:
        """Connect to all servers at once. Return when that is done, or after `START_SECONDS`."""
        self._servers = [_Server(server, cwd, self._on_problem, self._note_change) for server in servers]
        if self._servers:
            await asyncio.wait([server.settled for server in self._servers], timeout=START_SECONDS)
        self._is_started = True
        for server in self._servers:
            if not server.settled.done():
                self._on_problem(f"The MCP server {server.name} is still starting. Its tools will follow.")

    def _note_change(self) -> None:
        if self._is_started:
            self._on_change()

    def specs(self) -> list[ToolSpec]:
        """Return the tools that can be called now."""
        return [
            ToolSpec(name, _cut(tool.description or tool.title or ""), tool.input_schema, server.name)
            for name, (server, tool) in self._tools().items()
        ]

    def title(self, name: str) -> str:
        """Return `server: tool` for the name that the model uses, with the names that the server has."""
        server, tool = self._tools()[name]
        return f"{server.name}: {tool.name}"

    async def call(self, name: str, arguments: dict[str, Any]) -> ToolResult:
        """Call a tool. To cancel the call, cancel the task: the server is told."""
        found = self._tools().get(name)
        if found is None:
            return ToolResult(f"There is no tool {name} any more.", is_error=True)
        server, tool = found
        try:
            return _tool_result(await server.request(lambda client: client.call_tool(tool.name, arguments)))
        except (ConnectionError, ValueError) as error:  # ValueError: an image that is not Base64
            return ToolResult(f"{server.name} could not call {tool.name}: {error}.", is_error=True)

    def prompts(self) -> list[PromptCommand]:
        """Return the prompts that can be used now."""
        return [
            PromptCommand(name, _line(prompt.description or prompt.title or ""), _hint(prompt))
            for name, (_, prompt) in self._prompts().items()
        ]

    async def get_prompt(self, name: str, text: str) -> str:
        """Return the text of a prompt. `text` is what the user typed after the command's name.

        Raises `PromptError`.
        """
        found = self._prompts().get(name)
        if found is None:
            raise PromptError(f"There is no prompt {name} any more.")
        server, prompt = found
        arguments = _prompt_arguments(prompt, text)
        missing = [one.name for one in prompt.arguments or () if one.required and one.name not in arguments]
        if missing:
            raise PromptError(f"{', '.join(missing)} is missing. Usage: /{name} {_hint(prompt)}")
        try:
            result = await server.request(lambda client: client.get_prompt(prompt.name, arguments))
        except ConnectionError as error:
            raise PromptError(f"{server.name} did not return the prompt {prompt.name}: {error}.") from None
        return "\n\n".join(_block_text(message.content) for message in result.messages)

    async def close(self) -> None:
        """Close all connections, and end the servers' processes."""
        await asyncio.gather(*(server.close() for server in self._servers))

    def _tools(self) -> dict[str, tuple[_Server, types.Tool]]:
        """Return server and tool by the name that the model uses."""
        found: dict[str, tuple[_Server, types.Tool]] = {}
        for server in self._servers:
            for tool in server.tools:
                found[_unused_name(f"{server.name}__{tool.name}", found)] = (server, tool)
        return found

    def _prompts(self) -> dict[str, tuple[_Server, types.Prompt]]:
        """Return server and prompt by the name of the slash command, which has no spaces."""
        return {
            "_".join(f"mcp:{server.name}:{prompt.name}".split()): (server, prompt)
            for server in self._servers
            for prompt in server.prompts
        }


class _Server:
    """One server. A task of its own keeps the connection open: the SDK's contexts belong to a task."""

    def __init__(
        self,
        definition: McpServer,
        cwd: Path,
        on_problem: Callable[[str], None],
        on_change: Callable[[], None],
    ) -> None:
        self.name = definition.name
        self.tools: list[types.Tool] = []
        self.prompts: list[types.Prompt] = []
        self._definition = definition
        self._cwd = cwd
        self._on_problem = on_problem
        self._on_change = on_change
        self._client: Client | None = None
        self._http_status = ""  # of the last answer, if it was an error
        self._wake = asyncio.Event()  # its lists have changed, or the connection is over
        self._is_over = False
        self._is_closing = False
        self.settled: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when the server is connected or has failed."""
        self._task = asyncio.create_task(self._run())

    async def request(self, send: Callable[[Client], Awaitable[_Item]]) -> _Item:
        """Send a request. Raises `ConnectionError` with the reason if there is no result."""
        if self._client is None:
            raise ConnectionError("it has ended")
        try:
            async with asyncio.timeout(CALL_SECONDS):
                return await send(self._client)
        except TimeoutError:
            raise ConnectionError(f"no answer within {CALL_SECONDS:.0f} s") from None
        except Exception as error:
            raise ConnectionError(self._reason(error)) from None

    async def close(self) -> None:
        """Close the connection. A process that does not end by itself is killed after a few seconds."""
        self._is_closing = self._is_over = True
        self._wake.set()
        if not self.settled.done():
            self._task.cancel()
        await asyncio.wait([self._task])

    # ----------------------------------------------------------------- the connection

    async def _run(self) -> None:
        try:
            await self._stay_connected("auto" if isinstance(self._definition, HttpMcpServer) else "legacy")
        except TimeoutError:
            self._report(f"did not answer within {CONNECT_SECONDS:.0f} s and is not used.")
        except Exception as error:
            what = "is not used any more" if self.settled.done() else "cannot be used"
            self._report(f"{what}: {self._reason(error)}.")
        else:
            self._report("has ended. Its tools are not available any more.")
        finally:
            self._client, self.tools, self.prompts = None, [], []
            if not self.settled.done():
                self.settled.set_result(None)
            elif not self._is_closing:
                self._on_change()

    def _report(self, sentence: str) -> None:
        if not self._is_closing:
            self._on_problem(f"The MCP server {self.name} {sentence}")

    async def _stay_connected(self, mode: Literal["legacy", "auto"]) -> None:
        """Connect, and serve until the connection is over.

        `legacy` is tried first for processes: old ones may never answer `server/discover`, with which newer
        revisions of the protocol begin.
        """
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(CONNECT_SECONDS):
                    client = await stack.enter_async_context(self._make_client(mode))
                    await self._follow_lists(client, stack)
                    client.session.validate_tool_result = _accept_result  # type: ignore[method-assign]
                    self._client = client
                    await self._read_lists(client)
                await self._serve(client)
        except Exception as error:
            cause = _cause(error)
            is_too_new = isinstance(cause, MCPError) and cause.code in TOO_NEW
            if mode == "auto" or self.settled.done() or not is_too_new:
                raise cause from None
        else:
            return
        await self._stay_connected("auto")

    async def _serve(self, client: Client) -> None:
        self.settled.set_result(None)
        self._on_change()
        while True:
            await self._wake.wait()
            self._wake.clear()
            if self._is_over:
                return
            async with asyncio.timeout(CONNECT_SECONDS):
                await self._read_lists(client)
            self._on_change()

    def _make_client(self, mode: Literal["legacy", "auto"]) -> Client:
        return Client(
            _watched(self._transport(), self._note_end),
            mode=mode,
            client_info=types.Implementation(name="acp-tui-local", version=version("acp-tui")),
            list_roots_callback=self._list_roots,
            message_handler=self._handle_message,
            cache=None,
        )

    def _transport(self) -> AbstractAsyncContextManager[TransportStreams]:
        definition = self._definition
        if isinstance(definition, McpServerStdio):
            return self._process(definition)
        if isinstance(definition, AcpMcpServer):
            raise ConnectionError("MCP over ACP is not supported")
        if isinstance(definition, SseMcpServer):
            return sse_client(definition.url, httpx_client_factory=lambda *_, **__: self._http_client())
        return self._http(definition)

    @asynccontextmanager
    async def _process(self, definition: McpServerStdio) -> AsyncIterator[TransportStreams]:
        """Start the server. Its processes end with the connection, and also if the agent is killed."""
        env = os.environ | {variable.name: variable.value for variable in definition.env}
        program = definition.command
        if not shutil.which(self._cwd / program if "/" in program else program, path=env.get("PATH")):
            raise ConnectionError(f"{program} was not found")
        with _guard_file() as fifo:
            args = ["-c", _GUARD, fifo, program, *definition.args]
            parameters = StdioServerParameters(command="/bin/sh", args=args, env=env, cwd=self._cwd)
            async with stdio_client(parameters, errlog=sys.stderr) as streams:
                yield streams

    @asynccontextmanager
    async def _http(self, definition: HttpMcpServer) -> AsyncIterator[TransportStreams]:
        async with (
            self._http_client() as http,
            streamable_http_client(
                definition.url, http_client=http, max_sse_event_size=MAX_MESSAGE_BYTES
            ) as streams,
        ):
            yield streams

    def _http_client(self) -> httpx2.AsyncClient:
        assert isinstance(self._definition, HttpMcpServer | SseMcpServer)
        headers = {header.name: header.value for header in self._definition.headers}
        timeout = httpx2.Timeout(CONNECT_SECONDS, read=None)  # a stream may be idle for long
        hooks = {"response": [self._note_status]}
        return httpx2.AsyncClient(headers=headers, timeout=timeout, event_hooks=hooks)

    async def _follow_lists(self, client: Client, stack: AsyncExitStack) -> None:
        """Ask a server of revision 2026-07-28 to report changed lists; older ones do so by themselves."""
        offered = client.server_capabilities
        tools = bool(offered.tools and offered.tools.list_changed)
        prompts = bool(offered.prompts and offered.prompts.list_changed)
        if client.protocol_version in MODERN_PROTOCOL_VERSIONS and (tools or prompts):
            changes = client.listen(tools_list_changed=tools, prompts_list_changed=prompts)
            await stack.enter_async_context(changes)

    async def _read_lists(self, client: Client) -> None:
        offered = client.server_capabilities
        if offered.tools is not None:
            self.tools = await _all_pages(client.list_tools, lambda page: page.tools)
        if offered.prompts is not None:
            self.prompts = await _all_pages(client.list_prompts, lambda page: page.prompts)

    # ----------------------------------------------------------------- called by the SDK

    async def _list_roots(self, context: ClientRequestContext) -> types.ListRootsResult:  # noqa: ARG002
        root = {"uri": self._cwd.as_uri(), "name": self._cwd.name}
        return types.ListRootsResult(roots=[types.Root.model_validate(root)])

    async def _handle_message(self, message: IncomingMessage) -> None:
        if isinstance(message, types.ToolListChangedNotification | types.PromptListChangedNotification):
            self._wake.set()

    async def _note_status(self, response: httpx2.Response) -> None:
        self._http_status = f"HTTP {response.status_code} {response.reason_phrase}".strip()
        if not response.is_error:
            self._http_status = ""

    def _note_end(self) -> None:
        self._is_over = True
        self._wake.set()

    def _reason(self, error: Exception) -> str:
        """Return why something failed, as a clause."""
        error = _cause(error)
        if isinstance(error, MCPError) and error.code == types.CONNECTION_CLOSED:
            return "it has ended"
        if self._http_status:
            return f"it answered {self._http_status}"
        if isinstance(error, ValidationError):
            return "its answer does not follow the protocol"
        return _line(str(error)).rstrip(".") or type(error).__name__


def _cause(error: Exception) -> Exception:
    """Return the error itself, or the first one of a group: the SDK runs in task groups."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error


@contextmanager
def _guard_file() -> Iterator[str]:
    """Make a FIFO that has a writer until this context or the agent ends. Yield its path."""
    with tempfile.TemporaryDirectory(prefix="acp-tui-mcp-") as folder:
        fifo = Path(folder, "agent-is-alive")
        os.mkfifo(fifo, 0o600)
        descriptor = os.open(fifo, os.O_RDWR | os.O_CLOEXEC)
        try:
            yield str(fifo)
        finally:
            os.close(descriptor)


@asynccontextmanager
async def _watched(
    transport: AbstractAsyncContextManager[TransportStreams], on_end: Callable[[], None]
) -> AsyncIterator[TransportStreams]:
    """Open a transport. `on_end` is called after the server's last message, which the SDK does not tell."""
    sender, receiver = anyio.create_memory_object_stream[Any](0)

    async def pass_on() -> None:
        async with sender:
            with suppress(anyio.BrokenResourceError):  # the SDK has closed its end
                async for message in received:
                    await sender.send(message)
        on_end()

    async with transport as (received, to_send), anyio.create_task_group() as tasks:
        tasks.start_soon(pass_on)
        yield receiver, to_send
        tasks.cancel_scope.cancel()


async def _accept_result(name: str, result: types.CallToolResult) -> None:
    """Accept any structured content. The SDK would report a call that was made as failed."""


async def _all_pages(read: Callable[..., Awaitable[Any]], items: Callable[[Any], list[_Item]]) -> list[_Item]:
    page = await read()
    found = items(page)
    for _ in range(MAX_PAGES):
        if page.next_cursor is None:
            break
        page = await read(cursor=page.next_cursor)
        found += items(page)
    return found


def _unused_name(name: str, used: dict[str, Any]) -> str:
    """Return a name that models accept, shortened in the middle as Gemini CLI does it.

    A dot is replaced as well, because the API of OpenAI refuses it.
    """
    name = re.sub(r"[^a-zA-Z0-9_-]", "_", name)
    if len(name) > MAX_NAME:
        name = f"{name[:28]}___{name[-32:]}"
    unused, number = name, 2
    while unused in used:
        unused = f"{name[: MAX_NAME - 4]}_{number}"
        number += 1
    return unused


def _hint(prompt: types.Prompt) -> str:
    names = [(one.name, one.required) for one in prompt.arguments or ()]
    return " ".join(f"<{name}>" if required else f"[{name}]" for name, required in names)


def _prompt_arguments(prompt: types.Prompt, text: str) -> dict[str, str]:
    """Return the arguments in what the user typed: `name=value`, or values in the order of the arguments.

    The last argument gets the rest of the text.
    """
    names = [argument.name for argument in prompt.arguments or ()]
    try:
        words = shlex.split(text)
    except ValueError:  # an apostrophe, for example
        words = text.split()
    found, values = {}, []
    for word in words:
        name, equals, value = word.partition("=")
        if equals and name in names:
            found[name] = value
        else:
            values.append(word)
    names = [name for name in names if name not in found]
    found.update(zip(names[:-1], values, strict=False))
    if names and (rest := values[len(names) - 1 :]):
        found[names[-1]] = " ".join(rest)
    return found


def _tool_result(result: types.CallToolResult) -> ToolResult:
    images = tuple(
        Image(base64.b64decode(block.data), block.mime_type)
        for block in result.content
        if isinstance(block, types.ImageContent)
    )
    texts = [_block_text(block) for block in result.content if not isinstance(block, types.ImageContent)]
    if not texts and result.structured_content is not None:
        texts = [json.dumps(result.structured_content, ensure_ascii=False)]
    return ToolResult(_cut("\n".join(texts)), is_error=bool(result.is_error), images=images)


def _block_text(block: types.ContentBlock) -> str:
    """Return a content block as text for the model."""
    if isinstance(block, types.TextContent):
        return block.text
    if isinstance(block, types.EmbeddedResource):
        resource = block.resource
        if isinstance(resource, types.TextResourceContents):
            return f"{resource.uri}:\n{resource.text}"
        return f"[the binary resource {resource.uri}]"
    if isinstance(block, types.ResourceLink):
        return f"[the resource {block.name}: {block.uri}]"
    return f"[{block.type}, {block.mime_type}]"


def _cut(text: str) -> str:
    more = len(text) - MAX_TEXT
    return text if more <= 0 else f"{text[:MAX_TEXT]}\n[{more:,} more characters were left out]"


def _line(text: str) -> str:
    """Return a server's text as one short line."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_REASON else f"{line[: MAX_REASON - 1]}…"
