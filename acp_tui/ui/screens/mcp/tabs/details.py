"""The full-screen views of a server, a tool, a prompt and a call."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from acp_tui.protocol.readers.content import read_blocks
from acp_tui.session.json_depth import limit_depth
from acp_tui.session.state import Diff, McpCall, ToolCall
from acp_tui.session.text.invisible import reveal
from acp_tui.session.text.safe_text import visible_json
from acp_tui.store.redaction import redact_value
from acp_tui.ui.drawing.body import LinesBody
from acp_tui.ui.drawing.json_lines import json_body
from acp_tui.ui.drawing.text_layout import wrapped_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from acp_tui.config.mcp import Server
    from acp_tui.mcp.inspection import Inspection, PromptInfo, ToolInfo
    from acp_tui.ui.drawing.body import Body, DrawContext
    from acp_tui.ui.screens.mcp.server_facts import Fact

SAMPLING = "acp-tui declines sampling requests: a server cannot use a model through acp-tui."


def server_page(
    server: Server, facts: Sequence[Fact], inspection: Inspection | None, context: DrawContext
) -> list[Body]:
    """Draw everything that is known about a server. Secrets in its definition are masked."""
    bodies = [_text(f"{fact.label}: {fact.evidence}", context) for fact in facts]
    bodies += [_heading("Definition", context), json_body(_definition(server), context)]
    bodies.append(_text(f"digest: {server.digest()}", context, dim=True))
    if inspection is not None:
        bodies += [
            _heading("The server says", context),
            json_body(_revealed(inspection.server_info), context),
        ]
        bodies.append(
            _text(f"MCP {inspection.protocol_version}: {', '.join(inspection.capabilities)}", context)
        )
        if inspection.instructions:
            bodies += [
                _heading("Instructions for the model", context),
                _text(inspection.instructions, context),
            ]
        notes = [*inspection.notes, *(f"on stdout, not an MCP message: {line}" for line in inspection.noise)]
        bodies += [_text(note, context, dim=True) for note in notes]
    return [*bodies, _text(f"\n{SAMPLING}", context, dim=True)]


def _definition(server: Server) -> Any:
    values = {
        "name": server.name,
        "type": server.transport,
        "command": server.command,
        "args": server.args,
        "env": server.env,
        "url": server.url,
        "headers": server.headers,
        "cwd": server.cwd,
        "timeout": server.timeout,
        "include_tools": server.include_tools,
        "exclude_tools": server.exclude_tools,
        "connection": server.connection,
        "agents": server.agents,
        "not used": list(server.extra),
    }
    return redact_value({key: value for key, value in values.items() if value not in ("", None, [], {})})


def tool_page(tool: ToolInfo, context: DrawContext) -> list[Body]:
    """Draw the definition of a tool."""
    bodies = [_text(tool.title, context, dim=True)] if tool.title else []
    bodies += [_text(tool.description or "The server does not describe this tool.", context)]
    if tool.claims:
        bodies.append(_text(f"\nThe server says: {', '.join(tool.claims)}.", context, dim=True))
    bodies += [_heading("Input", context), json_body(_revealed(tool.input_schema), context)]
    if tool.output_schema is not None:
        bodies += [_heading("Output", context), json_body(_revealed(tool.output_schema), context)]
    return bodies


def prompt_page(prompt: PromptInfo, context: DrawContext) -> list[Body]:
    """Draw the definition of a prompt."""
    bodies = [
        _text(prompt.description or prompt.title or "The server does not describe this prompt.", context)
    ]
    for argument in prompt.arguments:
        needed = "required" if argument.required else "optional"
        about = argument.description or argument.title
        bodies.append(_text(f"\n{argument.name} ({needed})\n{about}".rstrip(), context))
    return bodies


def tool_difference(name: str, before: Mapping[str, Any] | None, now: Mapping[str, Any]) -> Diff:
    """Return how a tool differs from `before`, which the user accepted. `before` is None for a new tool."""
    return Diff(name, _tool_text(before) if before is not None else None, _tool_text(now))


def _tool_text(parts: Mapping[str, Any]) -> str:
    schemas = {key: value for key, value in parts.items() if key not in ("title", "description")}
    texts = [str(parts.get("title") or ""), str(parts.get("description") or "")]
    return reveal("\n\n".join([*filter(None, texts), visible_json(schemas)])) + "\n"


def call_entry(call: McpCall) -> ToolCall:
    """Return a transcript entry that draws a call made or relayed by acp-tui like a call of the agent."""
    result = call.raw_result if isinstance(call.raw_result, dict) else {}
    content = read_blocks(result.get("content") or [])
    if call.error is not None:
        content.append(*read_blocks({"type": "text", "text": call.error}))
    return ToolCall(
        id=0,
        at=call.at - call.seconds,
        call_id="",
        title=f"{call.server} › {call.tool}",
        status="failed" if call.failed else "completed",
        content=[*content],
        raw_output=result.get("structuredContent") if not content else None,
        ended_at=call.at,
    )


def arguments_body(arguments: Any, context: DrawContext) -> list[Body]:
    """Draw the arguments of a call; nothing if there are none."""
    if not arguments:
        return []
    return [json_body(_revealed(arguments), context, label="arguments"), _text("", context)]


def _revealed(value: Any) -> Any:
    """Return a JSON value with a stand-in for each invisible character in its strings and keys."""
    return json.loads(reveal(json.dumps(limit_depth(value), ensure_ascii=False)))


def _heading(text: str, context: DrawContext) -> Body:
    return LinesBody([*wrapped_lines(f"\n{text}", context.palette.strong, context.width, 0)], text)


def _text(text: str, context: DrawContext, *, dim: bool = False) -> Body:
    style = context.palette.dim if dim else context.palette.text
    return LinesBody([*wrapped_lines(reveal(text), style, context.width, 2)], text)
