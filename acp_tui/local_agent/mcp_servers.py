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
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import httpx2
import mcp_types as types
from acp.schema import AcpMcpServer, HttpMcpServer, McpServerStdio, SseMcpServer
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from acp_tui.local_agent.profile import Image, ToolResult, ToolSpec

if TYPE_CHECKING:
    from mcp.client._transport import Transport
    from mcp.client.session import IncomingMessage

McpServer = HttpMcpServer | SseMcpServer | AcpMcpServer | McpServerStdio
_Item = TypeVar("_Item")

CONNECT_SECONDS = 30.0
CALL_SECONDS = 600.0
START_SECONDS = 10.0
"""How long `start` waits for slow servers. They are used once they are connected."""
TOO_NEW = (types.UNSUPPORTED_PROTOCOL_VERSION, types.METHOD_NOT_FOUND)
"""With what servers of newer revisions answer `initialize`."""
MAX_NAME = 63
MAX_REASON = 300
MAX_TEXT = 50_000
"""The maximum number of characters of a result. Servers may return files of any size."""
MAX_MESSAGE_BYTES = 64 * 1024 * 1024
"""The maximum size of an event over HTTP: the SDK's 1 MB is too small for screenshots."""


class PromptError(Exception):
    """A prompt that cannot be used. The message is a sentence for the user."""


class PromptCommand(NamedTuple):
    """A prompt of a server as a slash command. `hint` names its arguments."""

    name: str
    description: str
    hint: str


class McpServers:
    """The servers of a session. One that fails is reported and left out.

    Args:
        on_problem: Called with a sentence for the user, also later on.
        on_change: Called when tools or prompts have been added or removed.
    """

    def __init__(self, on_problem: Callable[[str], None], on_change: Callable[[], None]) -> None:
        self.on_problem = on_problem
        self.on_change = on_change
        self._servers: list[_Server] = []

    async def start(self, servers: Sequence[McpServer], cwd: Path) -> None:
        """Connect to all servers at once. Return when that is done, or after `START_SECONDS`."""
        self._servers = [_Server(server, cwd, self) for server in servers]
        with suppress(TimeoutError):
            async with asyncio.timeout(START_SECONDS):
                await asyncio.gather(*(server.settled.wait() for server in self._servers))
        for server in self._servers:
            if not server.settled.is_set():
                self.on_problem(f"The MCP server {server.name} is still starting. Its tools will follow.")

    async def close(self) -> None:
        """Close all connections, and end the servers' processes."""
        await asyncio.gather(*(server.close() for server in self._servers))

    # ------------------------------------------------------------------ tools

    def specs(self) -> list[ToolSpec]:
        """Return the tools that can be called now."""
        return [
            ToolSpec(name, tool.description or tool.title or "", tool.input_schema, server.name)
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

    def _tools(self) -> dict[str, tuple[_Server, types.Tool]]:
        """Return server and tool by the name that the model uses."""
        return {
            _model_name(f"{server.name}__{tool.name}"): (server, tool)
            for server in self._servers
            for tool in server.tools
        }

    # ------------------------------------------------------------------ prompts

    def prompts(self) -> list[PromptCommand]:
        """Return the prompts that can be used now."""
        return [
            PromptCommand(name, prompt.description or prompt.title or "", _hint(prompt))
            for name, (_, prompt) in self._prompts().items()
        ]

    async def get_prompt(self, name: str, text: str) -> str:
        """Return the text of a prompt. Raises `PromptError`.

        `text` is what the user typed after the command: a word for each argument, the rest for the last one.
        """
        server, prompt = self._prompts()[name]
        names = [argument.name for argument in prompt.arguments or ()]
        arguments = dict(zip(names, text.split(maxsplit=len(names) - 1), strict=False))
        try:
            result = await server.request(lambda client: client.get_prompt(prompt.name, arguments))
        except ConnectionError as error:
            raise PromptError(f"{server.name} did not return the prompt {prompt.name}: {error}.") from None
        return "\n\n".join(_block_text(message.content) for message in result.messages)

    def _prompts(self) -> dict[str, tuple[_Server, types.Prompt]]:
        """Return server and prompt by the name of the slash command, which has no spaces."""
        return {
            "_".join(f"mcp:{server.name}:{prompt.name}".split()): (server, prompt)
            for server in self._servers
            for prompt in server.prompts
        }


class _Server:
    """One server. A task of its own keeps the connection open: the SDK's contexts belong to a task."""

    def __init__(self, definition: McpServer, cwd: Path, owner: McpServers) -> None:
        self.name = definition.name
        self.tools: list[types.Tool] = []
        self.prompts: list[types.Prompt] = []
        self.settled = asyncio.Event()
        """Set when the server is connected or has failed."""
        self._definition = definition
        self._cwd = cwd
        self._owner = owner
        self._client: Client | None = None
        self._http_status = ""  # of the last answer, if it was an error
        self._lists_changed = asyncio.Event()
        self._task = asyncio.create_task(self._run())

    async def request(self, send: Callable[[Client], Awaitable[_Item]]) -> _Item:
        """Send a request. Raises `ConnectionError` with the reason if there is no result."""
        if self._client is None:
            raise ConnectionError("it has ended")
        try:
            return await send(self._client)
        except Exception as error:
            if _is_end(error):
                self._drop(error)
                self._task.cancel()
            raise ConnectionError(self._reason(error)) from None

    async def close(self) -> None:
        """Close the connection. A process that does not end by itself is killed after a few seconds."""
        self._task.cancel()
        await asyncio.wait([self._task])

    # ----------------------------------------------------------------- the connection

    async def _run(self) -> None:
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(CONNECT_SECONDS):
                    client = await self._connect(stack)
                    await self._subscribe(client, stack)
                    self._client = client
                    await self._read_lists(client)
                self.settled.set()
                self._owner.on_change()
                while await self._lists_changed.wait():
                    self._lists_changed.clear()
                    async with asyncio.timeout(CONNECT_SECONDS):
                        await self._read_lists(client)
                    self._owner.on_change()
        except Exception as error:
            self._drop(_cause(error))

    def _drop(self, error: Exception) -> None:
        """Report a server, and use it no longer."""
        result = "is not used any more" if self.settled.is_set() else "cannot be used"
        self._owner.on_problem(f"The MCP server {self.name} {result}: {self._reason(error)}.")
        self._client, self.tools, self.prompts = None, [], []
        self.settled.set()
        self._owner.on_change()

    async def _connect(self, stack: AsyncExitStack) -> Client:
        """Connect with the revision of the protocol that the server has.

        Newer revisions begin with `server/discover`. For processes that is tried last, because old ones may
        never answer it, or end.
        """
        if isinstance(self._definition, McpServerStdio):
            try:
                return await stack.enter_async_context(self._make_client("legacy", stack))
            except Exception as error:
                cause = _cause(error)
                if not (isinstance(cause, MCPError) and cause.code in TOO_NEW):
                    raise
        return await stack.enter_async_context(self._make_client("auto", stack))

    def _make_client(self, mode: Literal["legacy", "auto"], stack: AsyncExitStack) -> Client:
        return Client(
            self._transport(stack),
            mode=mode,
            client_info=types.Implementation(name="acp-tui-local", version=version("acp-tui")),
            read_timeout_seconds=CALL_SECONDS,
            message_handler=self._handle_message,
        )

    def _transport(self, stack: AsyncExitStack) -> Transport:
        definition = self._definition
        if isinstance(definition, McpServerStdio):
            env = os.environ | {variable.name: variable.value for variable in definition.env}
            parameters = StdioServerParameters(
                command=definition.command, args=definition.args, env=env, cwd=self._cwd
            )
            return stdio_client(parameters, errlog=sys.stderr)
        if isinstance(definition, AcpMcpServer):
            raise ConnectionError("MCP over ACP is not supported")
        http = httpx2.AsyncClient(
            headers={header.name: header.value for header in definition.headers},
            timeout=httpx2.Timeout(CONNECT_SECONDS, read=None),  # a stream may be idle for long
            event_hooks={"response": [self._note_status]},
        )
        stack.push_async_callback(http.aclose)
        if isinstance(definition, SseMcpServer):
            return sse_client(definition.url, httpx_client_factory=lambda *_, **__: http)
        return streamable_http_client(definition.url, http_client=http, max_sse_event_size=MAX_MESSAGE_BYTES)

    async def _subscribe(self, client: Client, stack: AsyncExitStack) -> None:
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
            self.tools = await _all_pages(client.list_tools, "tools")
        if offered.prompts is not None:
            self.prompts = await _all_pages(client.list_prompts, "prompts")

    # ----------------------------------------------------------------- called by the SDK

    async def _handle_message(self, message: IncomingMessage) -> None:
        if isinstance(message, types.ToolListChangedNotification | types.PromptListChangedNotification):
            self._lists_changed.set()

    async def _note_status(self, response: httpx2.Response) -> None:
        self._http_status = ""
        if response.is_error:
            self._http_status = f"HTTP {response.status_code} {response.reason_phrase}"

    def _reason(self, error: Exception) -> str:
        """Return why something failed, as a clause."""
        if _is_end(error):
            return "it has ended"
        if self._http_status:
            return f"it answered {self._http_status}"
        if isinstance(error, TimeoutError):
            return "it did not answer in time"
        return " ".join(str(error).split())[:MAX_REASON].rstrip(".") or type(error).__name__


def _cause(error: Exception) -> Exception:
    """Return the error itself, or the first one of a group: the SDK runs in task groups."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error


def _is_end(error: Exception) -> bool:
    """Return True if the connection has ended, as it does with a process that ends."""
    return isinstance(error, MCPError) and error.code == types.CONNECTION_CLOSED


async def _all_pages(read: Callable[..., Awaitable[Any]], field: str) -> list[Any]:
    page = await read()
    found: list[Any] = getattr(page, field)
    while page.next_cursor is not None:
        page = await read(cursor=page.next_cursor)
        found += getattr(page, field)
    return found


def _model_name(name: str) -> str:
    """Return a name that models accept, shortened in the middle as Gemini CLI does it.

    A dot is replaced as well, because the API of OpenAI refuses it.
    """
    name = re.sub(r"[^a-zA-Z0-9_-]", "_", name)
    return name if len(name) <= MAX_NAME else f"{name[:28]}___{name[-32:]}"


def _hint(prompt: types.Prompt) -> str:
    arguments = prompt.arguments or ()
    return " ".join(f"<{one.name}>" if one.required else f"[{one.name}]" for one in arguments)


def _tool_result(result: types.CallToolResult) -> ToolResult:
    images: list[Image] = []
    texts: list[str] = []
    for block in result.content:
        if isinstance(block, types.ImageContent) and block.mime_type.startswith("image/"):
            images.append(Image(base64.b64decode(block.data), block.mime_type))
        else:
            texts.append(_block_text(block))
    if not texts and result.structured_content is not None:
        texts = [json.dumps(result.structured_content, ensure_ascii=False)]
    text = "\n".join(texts)
    if (more := len(text) - MAX_TEXT) > 0:
        text = f"{text[:MAX_TEXT]}\n[{more:,} more characters were left out]"
    return ToolResult(text, is_error=bool(result.is_error), images=tuple(images))


def _block_text(block: types.ContentBlock) -> str:
    """Return a content block as text for the model."""
    if isinstance(block, types.TextContent):
        return block.text
    if isinstance(block, types.EmbeddedResource) and isinstance(block.resource, types.TextResourceContents):
        return f"{block.resource.uri}:\n{block.resource.text}"
    if isinstance(block, types.ResourceLink):
        return f"[the resource {block.name}: {block.uri}]"
    return f"[{block.type}]"
