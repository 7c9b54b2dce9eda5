"""A tool call: its announcement, its updates and the permission request for it."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from acp import start_tool_call, text_block, tool_content, update_tool_call
from acp.schema import ToolCallLocation, ToolCallUpdate

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from acp.schema import (
        ContentToolCallContent,
        FileEditToolCallContent,
        TerminalToolCallContent,
        ToolCallProgress,
        ToolCallStatus,
        ToolKind,
    )

    from acp_tui.demo.turn import Turn

    Content = ContentToolCallContent | FileEditToolCallContent | TerminalToolCallContent


class ToolCall:
    """Sends a tool call and its updates. `start` comes first: it announces the id that updates refer to."""

    def __init__(
        self,
        turn: Turn,
        title: str,
        kind: ToolKind | None,
        *,
        raw_input: Any = None,
        content: Sequence[Content] = (),
        path: Path | None = None,
        line: int | None = None,
    ) -> None:
        self._turn = turn
        self.id = f"call-{uuid.uuid4().hex[:8]}"
        self.title = title
        self.kind = kind
        self.raw_input = raw_input
        self.content = list(content)
        self.locations = [ToolCallLocation(path=str(path), line=line)] if path else None

    async def start(self, status: ToolCallStatus = "pending") -> ToolCall:
        """Announce the tool call to the client."""
        await self._turn.send_update(
            start_tool_call(
                self.id,
                self.title,
                kind=self.kind,
                status=status,
                content=self.content or None,
                locations=self.locations,
                raw_input=self.raw_input,
            )
        )
        await self._turn.pause(15)
        return self

    async def mark_in_progress(self) -> None:
        """Set the status to `in_progress`."""
        await self._turn.send_update(update_tool_call(self.id, status="in_progress"))

    async def complete(self, *, content: Sequence[Content] | None = None, raw_output: Any = None) -> None:
        """Set the status to `completed`. If `content` is None, the client keeps the previous content."""
        await self._turn.send_update(self.final_update("completed", content, raw_output))
        await self._turn.pause(15)

    async def fail(self, reason: str, *, raw_output: Any = None) -> None:
        """Set the status to `failed` and add the reason below the content."""
        content = [*self.content, tool_content(text_block(reason))]
        await self._turn.send_update(self.final_update("failed", content, raw_output))
        await self._turn.pause(15)

    def final_update(
        self, status: ToolCallStatus, content: Sequence[Content] | None, raw_output: Any
    ) -> ToolCallProgress:
        """Build the last update, without sending it."""
        return update_tool_call(self.id, status=status, content=content, raw_output=raw_output)

    def for_permission_request(self) -> ToolCallUpdate:
        """Build the `toolCall` of a permission request, with everything that the user needs to decide."""
        return ToolCallUpdate(
            tool_call_id=self.id,
            title=self.title,
            kind=self.kind,
            status="pending",
            content=self.content or None,
            locations=self.locations,
            raw_input=self.raw_input,
        )
