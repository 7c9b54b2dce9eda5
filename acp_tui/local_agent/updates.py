"""The `session/update` notifications of one session, in the order in which they were made.

Text that arrives within a few milliseconds leaves as one update, so that a fast model does not flood the
client. Everything else sends the collected text first, so the order is kept.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel

if TYPE_CHECKING:
    from acp import schema
    from acp.helpers import ToolCallContentVariant

    from acp_tui.local_agent.wire import Wire

COLLECT_SECONDS = 0.02
"""How long text is collected after an update with text has been sent. The first piece leaves at once."""

Severity = Literal["info", "warning", "error"]
_TextKind = Literal["agent_message_chunk", "agent_thought_chunk"]


class Updates:
    """Sends the updates of one session, and passes on those that belong to its history.

    The methods only write; `flush` waits until the client has read enough.
    """

    def __init__(self, wire: Wire, session_id: str, record: Callable[[dict[str, Any]], object]) -> None:
        self._wire = wire
        self._session_id = session_id
        self._record = record
        capabilities = wire.client_capabilities.get("session")
        self._session_capabilities = capabilities if isinstance(capabilities, dict) else {}
        self._text_kind: _TextKind | None = None
        self._message_id = ""
        self._pieces: list[str] = []
        self._timer: asyncio.Handle | None = None
        self._last_text = 0.0  # when text was last sent, by the clock of the event loop
        self._open_calls: dict[str, None] = {}
        self._held_notices: list[str] = []
        self.is_in_turn = False
        """True while a prompt is answered. Messages outside a turn would confuse clients."""

    # ------------------------------------------------------------------ text

    def message(self, text: str) -> None:
        """Add text to the answer of the agent."""
        self._add_text("agent_message_chunk", text)

    def thought(self, text: str) -> None:
        """Add text to the reasoning of the agent."""
        self._add_text("agent_thought_chunk", text)

    def end_message(self) -> None:
        """Begin a new message with the next text."""
        self._send_text()
        self._text_kind = None

    def _add_text(self, kind: _TextKind, text: str) -> None:
        if not text:
            return
        if kind != self._text_kind:
            self.end_message()
            self._text_kind, self._message_id = kind, str(uuid.uuid4())
        self._pieces.append(text)
        if self._timer is None:
            loop = asyncio.get_running_loop()
            # Not sent right now: pieces of the same network packet come one after the other.
            delay = self._last_text + COLLECT_SECONDS - loop.time()
            self._timer = (
                loop.call_later(delay, self._send_text) if delay > 0 else loop.call_soon(self._send_text)
            )

    def _send_text(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._pieces:
            text = "".join(self._pieces)
            self._pieces.clear()
            self._last_text = asyncio.get_running_loop().time()
            content = {"type": "text", "text": text}
            self._write({"sessionUpdate": self._text_kind, "messageId": self._message_id, "content": content})

    # ------------------------------------------------------------------ tool calls

    def call(
        self,
        call_id: str,
        title: str,
        *,
        kind: schema.ToolKind = "other",
        status: schema.ToolCallStatus = "pending",
        content: Sequence[ToolCallContentVariant] | None = None,
        locations: Sequence[schema.ToolCallLocation] | None = None,
        raw_input: Any = None,
    ) -> None:
        """Announce a tool call."""
        changes: dict[str, Any] = {"content": content, "locations": locations, "rawInput": raw_input}
        self._open_calls[call_id] = None
        self.send("tool_call", toolCallId=call_id, title=title, kind=kind, status=status, **changes)

    def call_update(
        self,
        call_id: str,
        *,
        title: str | None = None,
        kind: schema.ToolKind | None = None,
        status: schema.ToolCallStatus | None = None,
        content: Sequence[ToolCallContentVariant] | None = None,
        locations: Sequence[schema.ToolCallLocation] | None = None,
        raw_input: Any = None,
        raw_output: Any = None,
    ) -> None:
        """Send what has changed in a tool call. What is None stays as it is."""
        if status in ("completed", "failed"):
            self._open_calls.pop(call_id, None)
        changes: dict[str, Any] = {
            "title": title,
            "kind": kind,
            "status": status,
            "content": content,
            "locations": locations,
        }
        self.send("tool_call_update", toolCallId=call_id, **changes, rawInput=raw_input, rawOutput=raw_output)

    def fail_open_calls(self, reason: str) -> None:
        """Set the calls that have not ended to `failed`, for example because the turn was cancelled."""
        content = [{"type": "content", "content": {"type": "text", "text": reason}}]
        for call_id in self._open_calls:
            self.send("tool_call_update", toolCallId=call_id, status="failed", content=content)
        self._open_calls.clear()

    # ------------------------------------------------------------------ facts about the session

    def plan(self, entries: Sequence[schema.PlanEntry]) -> None:
        """Replace the plan."""
        self.send("plan", entries=entries)

    def usage(self, used: int, size: int, cost: tuple[float, str] | None = None) -> None:
        """Report the tokens in the context, its size, and what the session has cost with the currency."""
        amount = {"amount": cost[0], "currency": cost[1]} if cost else None
        self.send("usage_update", used=used, size=size, cost=amount)

    def title(self, title: str, updated_at: str) -> None:
        """Name the session."""
        self.send("session_info_update", title=title, updatedAt=updated_at)

    def commands(self, commands: Sequence[schema.AvailableCommand]) -> None:
        """Replace the list of slash commands."""
        self.send("available_commands_update", availableCommands=commands)

    def mode(self, mode: str) -> None:
        """Report the mode that is set now."""
        self.send("current_mode_update", currentModeId=mode)

    def options(self, options: Sequence[BaseModel]) -> None:
        """Report all config options with their values."""
        self.send("config_option_update", configOptions=options)

    def notice(self, title: str, description: str = "", *, severity: Severity = "info") -> None:
        """Tell the user something that is not an answer of the model.

        A client that knows no notices gets a message in the conversation, at the latest in the next turn.
        """
        if self._session_capabilities.get("notices") is not None:
            self.send(
                "notice", recorded=False, severity=severity, title=title, description=description or None
            )
            return
        self._held_notices.append(" ".join(filter(None, (title, description))))
        if self.is_in_turn:
            self.send_held_notices()

    def send_held_notices(self) -> None:
        """Send the notices that came before a turn to a client that knows no notices."""
        for text in self._held_notices:
            self.end_message()
            self.message(f"*{text}*\n\n")
            self.end_message()
        self._held_notices.clear()

    @property
    def can_show_compaction(self) -> bool:
        """True if the client understands `compaction_update`; otherwise it must not be sent."""
        return self._session_capabilities.get("compaction") is not None

    # ------------------------------------------------------------------ sending

    def send(self, kind: str, /, *, recorded: bool = True, **fields: Any) -> None:
        """Send an update with the fields that are not None, after the collected text."""
        self.end_message()
        present = {name: _plain(value) for name, value in fields.items() if value is not None}
        self._write({"sessionUpdate": kind, **present}, recorded=recorded)

    def replay(self, update: dict[str, Any]) -> None:
        """Send an update of the history once more."""
        self.end_message()
        self._write(update, recorded=False)

    async def flush(self) -> None:
        """Send the collected text, and wait until the client has read enough."""
        self._send_text()
        await self._wire.drain()

    async def drain(self) -> None:
        """Wait until the client has read enough, and go on collecting text."""
        await self._wire.drain()

    def _write(self, update: dict[str, Any], *, recorded: bool = True) -> None:
        params = {"sessionId": self._session_id, "update": update}
        self._wire.write({"jsonrpc": "2.0", "method": "session/update", "params": params})
        if recorded:
            self._record(update)


def _plain(value: Any) -> Any:
    """Return models of the SDK, also inside lists and mappings, as values for JSON."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_plain(each) for each in value]
    return value
