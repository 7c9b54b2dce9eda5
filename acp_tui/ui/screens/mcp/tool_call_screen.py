"""The full-screen view of a tool call that the user makes: the call's progress, then the result."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from acp_tui.errors import UserError
from acp_tui.protocol.content import read_blocks
from acp_tui.session.events import McpCalled
from acp_tui.session.safe_text import escape_invisible, escape_invisible_line, limit_depth, visible_json
from acp_tui.session.state import Diff, McpCall, Session, ToolCall
from acp_tui.store.redaction import redact_value
from acp_tui.ui import keys
from acp_tui.ui.dialogs.detail import DetailScreen
from acp_tui.ui.drawing.body import Body, DrawContext, LinesBody
from acp_tui.ui.drawing.text_layout import json_body, wrapped_lines
from acp_tui.ui.entries.renderers import GuardedBody
from acp_tui.ui.widgets.bar import KeyHints
from acp_tui.ui.widgets.body_scroller import BodyScroller

if TYPE_CHECKING:
    from acp_tui.config.mcp import Server
    from acp_tui.mcp.calls import CallResult, Progress
    from acp_tui.mcp.connection import McpConnection
    from acp_tui.mcp.inspection import Inspection, PromptInfo, ToolInfo
    from acp_tui.ui.screens.mcp.server_list import Fact
    from acp_tui.ui.widgets.bar import Hint


SAMPLING = "acp-tui declines sampling requests: a server cannot use a model through acp-tui."
UPDATE_SECONDS = 0.5
"""Seconds between two updates of the elapsed time."""
MAX_PROGRESS_CHARACTERS = 500


class ToolCallScreen(DetailScreen):
    """Shows a tool call with its arguments, progress and result.

    While the call runs, the key that closes the screen only cancels the call.
    """

    def __init__(
        self,
        connection: McpConnection,
        tool: str,
        arguments: dict[str, Any],
        on_end: Callable[[McpCalled], None],
    ) -> None:
        """`on_end` is called when the call has ended, with the event to record."""
        title = escape_invisible_line(f"{connection.server.name} › {tool}")
        super().__init__(title, self._draw, session=Session())
        self._connection = connection
        self._tool = tool
        self._arguments = arguments
        self._on_end = on_end
        self._progress = ""
        self._structured: Any = None
        self._call = ToolCall(id=0, at=time.time(), call_id="", title=title, status="in_progress")
        self._calling: asyncio.Task[None] | None = None

    def on_mount(self) -> None:
        """Call the tool."""
        self._calling = asyncio.create_task(self._run())
        self._timer = self.set_interval(UPDATE_SECONDS, self._update)

    def on_unmount(self) -> None:
        """Cancel the call."""
        if self._calling is not None and not self._call.done:  # otherwise the result is being recorded
            self._calling.cancel()

    # ------------------------------------------------------------------------- the call

    async def _run(self) -> None:
        call, event = self._call, McpCalled(self._connection.server.name, self._tool, by="you")
        try:
            await self._call_tool(event)
        except asyncio.CancelledError:
            event.error = "You cancelled the call."
            call.status = "cancelled"
            raise
        except UserError as error:
            event.error = str(error)
            call.status = "failed"
            call.content = [*read_blocks({"type": "text", "text": str(error)})]
        finally:
            call.ended_at = time.time()
            event.seconds = round(call.ended_at - call.at, 3)
            self._progress = ""
            self._timer.stop()
            self._on_end(event)
            self._update()

    async def _call_tool(self, event: McpCalled) -> None:
        """Call the tool and show its result. Record the call in `event` and in the server's log."""
        from acp_tui.mcp.calls import call_tool
        from acp_tui.mcp.failures import recordable_result, secret_values, shorten_for_record
        from acp_tui.mcp.server_recorder import ServerRecorder

        server, call = self._connection.server, self._call
        recorder, secrets = ServerRecorder(server, "screen"), secret_values(server)
        event.arguments = shorten_for_record(self._arguments, secrets)
        try:
            result = await call_tool(
                self._connection, self._tool, self._arguments, on_progress=self._show_progress
            )
        except UserError as error:
            recorder.call_failed(self._tool, self._arguments, str(error), time.time() - call.at)
            raise
        call.status = "failed" if result.is_error else "completed"
        call.content = [*read_blocks(result.content)] if result.content else []
        self._structured = result.structured
        seconds = time.time() - call.at
        event.result = await asyncio.to_thread(recordable_result, _result_object(result), secrets)
        await asyncio.to_thread(recorder.called, self._tool, self._arguments, result, seconds)

    def _show_progress(self, progress: Progress) -> None:
        parts = [f"{progress.done:g}"]
        if progress.total:
            parts = [f"{progress.done:g} of {progress.total:g}"]
        if progress.message:
            parts.append(escape_invisible_line(progress.message[:MAX_PROGRESS_CHARACTERS]))
        self._progress = ": ".join(parts)
        self._update()

    # ------------------------------------------------------------------------- drawing

    def _update(self) -> None:
        if self.is_attached and (scroller := next(iter(self.query(BodyScroller)), None)) is not None:
            scroller.show(self._bodies)
            self.query_one(KeyHints).set_hints(self._hints())

    def _draw(self, context: DrawContext) -> Sequence[Body]:
        bodies = arguments_body(self._arguments, context)
        bodies.append(GuardedBody(self._call, context))
        if self._progress:
            lines = wrapped_lines(f"\n{self._progress}", context.palette.accent, context.width, 4)
            bodies.append(LinesBody([*lines], self._progress))
        if self._structured is not None:
            bodies.append(json_body(self._structured, context, label="structured content"))
        return bodies

    def _hints(self) -> Sequence[Hint]:
        if self._call.done:
            return super()._hints()
        close = keys.bound_keys(self, "detail.close").split()[0]
        return [(close, "cancel the call")]

    def action_close(self) -> None:
        """Cancel the call if it is running; otherwise close the view."""
        if self._calling is not None and not self._call.done:
            self._calling.cancel()
        else:
            self.dismiss(None)


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
    return escape_invisible("\n\n".join([*filter(None, texts), visible_json(schemas)])) + "\n"


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
    return json.loads(escape_invisible(json.dumps(limit_depth(value), ensure_ascii=False)))


def _heading(text: str, context: DrawContext) -> Body:
    return LinesBody([*wrapped_lines(f"\n{text}", context.palette.strong, context.width, 0)], text)


def _text(text: str, context: DrawContext, *, dim: bool = False) -> Body:
    style = context.palette.dim if dim else context.palette.text
    return LinesBody([*wrapped_lines(escape_invisible(text), style, context.width, 2)], text)


def _result_object(result: CallResult) -> dict[str, Any]:
    """Return a result as a `CallToolResult` object of MCP."""
    found: dict[str, Any] = {"content": result.content}
    if result.structured is not None:
        found["structuredContent"] = result.structured
    return {**found, "isError": True} if result.is_error else found
