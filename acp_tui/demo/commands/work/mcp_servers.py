"""`/mcp`: the MCP servers that the client sent, and calls of their tools."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from acp import text_block, tool_content, update_tool_call
from acp.schema import ContentToolCallContent, McpServerStdio

from acp_tui.demo.commands.slash_command import slash_command
from acp_tui.demo.tools.permission import request_permission
from acp_tui.demo.tools.tool_call import ToolCall

if TYPE_CHECKING:
    from acp.schema import ToolCallStatus
    from mcp import Client
    from mcp_types import CallToolResult, Tool

    from acp_tui.demo.tools.mcp_client import McpConnection, McpServer
    from acp_tui.demo.turn import Turn

USAGE = "Call a tool with its name and a JSON object: `/mcp call TOOL {…}`."


@slash_command(
    "mcp", "List the MCP servers that the client sent, with their tools, or call a tool", "[call TOOL JSON]"
)
async def mcp(turn: Turn) -> None:
    """Connect to the MCP servers and list or call their tools.

    Other agents connect as soon as a session starts.
    """
    if not turn.session.mcp_servers:
        await turn.say("Your client sent no MCP servers.")
        return
    word, _, rest = turn.argument.partition(" ")
    if word == "call":
        await _call(turn, *_split_call(rest))
        return
    if turn.argument:
        await turn.say(USAGE)
        return
    await turn.say("Your client sent these MCP servers:\n\n")
    for connection in _connections(turn):
        await turn.say(f"- {_describe(connection.server)}\n{await _offers(connection)}", chunking="line")
    await turn.say(f"\n{USAGE}\n")


def _connections(turn: Turn) -> list[McpConnection]:
    # The MCP SDK takes a second to load.
    from acp_tui.demo.tools.mcp_client import McpConnections
    from acp_tui.demo.tools.mcp_questions import ask_client

    session = turn.session
    if session.mcp_connections is None:
        session.mcp_connections = McpConnections(session.mcp_servers)
    return session.mcp_connections.all(partial(ask_client, turn))


def tool_name(server: str, tool: str) -> str:
    """Return the name under which agents offer the tool of a server to their model."""
    return f"mcp__{server}__{tool}"


# ------------------------------------------------------------------ listing


def _describe(server: McpServer) -> str:
    """Describe a server. Values of environment variables and headers may be secret and are not shown."""
    if isinstance(server, McpServerStdio):
        secrets = [variable.name for variable in server.env]
        where = " ".join((server.command, *server.args))
    else:
        secrets = [header.name for header in getattr(server, "headers", [])]
        where = f"{server.type} {getattr(server, 'url', '')}".strip()
    return f"**{server.name}**: `{where}`" + (f" with {', '.join(secrets)}" if secrets else "")


async def _offers(connection: McpConnection) -> str:
    """Return lines with the tools, prompts and resources of a server, or one line with the error."""
    from mcp import MCPError

    from acp_tui.demo.tools.mcp_client import McpConnectionError

    try:
        lines = await connection.read(partial(_list, server=connection.server.name))
    except (McpConnectionError, MCPError) as error:
        return f"  - not connected: {error}\n"
    return "".join(f"  - {line}\n" for line in lines)


async def _list(client: Client, server: str) -> list[str]:
    offered = client.server_capabilities
    lines = [f"connected, MCP {client.protocol_version}"]
    if offered.tools:
        lines += [f"tool {_signature(server, tool)}" for tool in (await client.list_tools()).tools]
    if offered.prompts:
        lines += [f"prompt `{prompt.name}`" for prompt in (await client.list_prompts()).prompts]
    if offered.resources:
        lines += [f"resource `{resource.uri}`" for resource in (await client.list_resources()).resources]
    return lines


def _signature(server: str, tool: Tool) -> str:
    names = ", ".join(tool.input_schema.get("properties", {}))
    return f"`{tool_name(server, tool.name)}`({names})"


# ------------------------------------------------------------------ calling


def _split_call(text: str) -> tuple[str, Any]:
    """Split `TOOL JSON` into tool name and arguments. The arguments are None if the JSON is not an object."""
    name, _, rest = text.strip().partition(" ")
    try:
        arguments = json.loads(rest) if rest.strip() else {}
    except ValueError:
        arguments = None
    return name, arguments if isinstance(arguments, dict) else None


async def _call(turn: Turn, name: str, arguments: dict[str, Any] | None) -> None:
    """Call a tool of a server. The client gets a tool call with a permission request."""
    if not name or arguments is None:
        await turn.say(USAGE)
        return
    found = await _find(turn, name)
    if found is None:
        await turn.say(f"None of the servers has a tool `{name}`. `/mcp` lists the tools.")
        return
    connection, tool = found
    call = await ToolCall(turn, tool_name(connection.server.name, tool), "other", raw_input=arguments).start()
    refusal = await request_permission(turn, call.for_permission_request())
    if refusal is not None:
        await call.fail(refusal)
        return
    await call.mark_in_progress()
    await _run(turn, call, connection, tool, arguments)


async def _find(turn: Turn, name: str) -> tuple[McpConnection, str] | None:
    """Return the connection and the tool for a tool name, given with or without the server's name."""
    from mcp import MCPError

    from acp_tui.demo.tools.mcp_client import McpConnectionError

    for connection in _connections(turn):
        try:
            tools = (await connection.read(lambda client: client.list_tools())).tools
        except (McpConnectionError, MCPError):
            continue
        for tool in tools:
            if name in (tool.name, tool_name(connection.server.name, tool.name)):
                return connection, tool.name
    return None


async def _run(
    turn: Turn, call: ToolCall, connection: McpConnection, tool: str, arguments: dict[str, Any]
) -> None:
    from acp_tui.demo.tools.mcp_client import McpConnectionError

    async def show_progress(progress: float, total: float | None, message: str | None) -> None:
        text = message or f"{progress:g}" + (f" of {total:g}" if total else "")
        await turn.send_update(update_tool_call(call.id, content=[tool_content(text_block(text))]))

    try:
        result = await connection.call(tool, arguments, show_progress)
    except McpConnectionError as error:
        await call.fail(f"The MCP server {connection.server.name} failed: {error}")
        return
    status: ToolCallStatus = "failed" if result.is_error else "completed"
    await turn.send_update(call.final_update(status, _content(result), result.structured_content))
    text = " ".join(block.text for block in result.content if block.type == "text")
    await turn.say(f"The tool {'reported an error' if result.is_error else 'answered'}: {text}")


def _content(result: CallToolResult) -> list[ContentToolCallContent]:
    """Convert the result of an MCP tool to ACP. Both protocols have the same content blocks."""
    blocks = [block.model_dump(by_alias=True, mode="json", exclude_none=True) for block in result.content]
    return [ContentToolCallContent.model_validate({"type": "content", "content": block}) for block in blocks]
