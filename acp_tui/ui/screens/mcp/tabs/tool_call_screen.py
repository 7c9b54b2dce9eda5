"""The full-screen view of a tool call that the user makes: the call's progress, then the result."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from acp_tui.errors import UserError
from acp_tui.protocol.readers.content import read_blocks
from acp_tui.session.events import McpCalled
from acp_tui.session.state import Session, ToolCall
from acp_tui.session.text.invisible import reveal_line
from acp_tui.ui import keys
from acp_tui.ui.drawing.body import LinesBody
from acp_tui.ui.drawing.json_lines import json_body
from acp_tui.ui.drawing.text_layout import wrapped_lines
from acp_tui.ui.entries.renderers import make_body
from acp_tui.ui.screens.dialogs.detail import DetailScreen
from acp_tui.ui.screens.mcp.tabs.details import arguments_body
from acp_tui.ui.widgets.bar import KeyHints
from acp_tui.ui.widgets.body_scroller import BodyScroller

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from acp_tui.mcp.calls import CallResult, Progress
    from acp_tui.mcp.connection import McpConnection
    from acp_tui.ui.drawing.body import Body, DrawContext
    from acp_tui.ui.theme.palette import Palette
    from acp_tui.ui.widgets.bar import Hint

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
        palette: Palette,
        on_end: Callable[[McpCalled], None],
    ) -> None:
        """`on_end` is called when the call has ended, with the event to record."""
        title = reveal_line(f"{connection.server.name} › {tool}")
        super().__init__(title, self._draw, palette, session=Session())
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
        super().on_mount()
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
        from acp_tui.mcp.recordable import recordable, recordable_result
        from acp_tui.mcp.secrets import secret_values
        from acp_tui.mcp.server_recorder import ServerRecorder

        server, call = self._connection.server, self._call
        recorder, secrets = ServerRecorder(server, "screen"), secret_values(server)
        event.arguments = recordable(self._arguments, secrets)
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
            parts.append(reveal_line(progress.message[:MAX_PROGRESS_CHARACTERS]))
        self._progress = ": ".join(parts)
        self._update()

    # ------------------------------------------------------------------------- drawing

    def _update(self) -> None:
        if self.is_attached and (scroller := next(iter(self.query(BodyScroller)), None)) is not None:
            scroller.show(self._bodies)
            self.query_one(KeyHints).set_hints(self._hints())

    def _draw(self, context: DrawContext) -> Sequence[Body]:
        bodies = arguments_body(self._arguments, context)
        bodies.append(make_body(self._call, context))
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


def _result_object(result: CallResult) -> dict[str, Any]:
    """Return a result as a `CallToolResult` object of MCP."""
    found: dict[str, Any] = {"content": result.content}
    if result.structured is not None:
        found["structuredContent"] = result.structured
    return {**found, "isError": True} if result.is_error else found
