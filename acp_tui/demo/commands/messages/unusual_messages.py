"""Commands that send unknown or invalid messages."""

from __future__ import annotations

import asyncio
import json
import sys
import uuid
from typing import TYPE_CHECKING, Any

from acp_tui.demo.commands.slash_command import parse_number, slash_command

if TYPE_CHECKING:
    from acp_tui.demo.turn import Turn


@slash_command(
    "unknown",
    "Send messages that no version of the protocol defines",
    "[update|content|tool|status|notification|request]",
)
async def unknown(turn: Turn) -> None:
    """Send unknown updates, notifications and requests.

    A client should show these messages, or at least survive them.
    """
    updates: dict[str, dict[str, Any]] = {
        "update": {"sessionUpdate": "_demo_mood", "mood": "cheerful"},
        "content": {
            "sessionUpdate": "agent_message_chunk",
            "content": {"type": "_demo_smell", "smell": "coffee"},
        },
        "tool": {
            "sessionUpdate": "tool_call",
            "toolCallId": "demo-odd",
            "title": "An odd tool",
            "kind": "_demo_kind",
        },
        "status": {"sessionUpdate": "tool_call_update", "toolCallId": "demo-odd", "status": "_demo_status"},
    }
    for name, update in updates.items():
        if turn.argument in ("", name):
            await turn.send_raw_update(update)
    if turn.argument in ("", "notification"):
        await turn.send_notification("_acp-tui.demo/hello", {"greeting": "hello"})
    if turn.argument in ("", "request"):
        await turn.say("Your client should answer my next request with -32601 (method not found).\n")
        answer = await turn.client.ext_method("acp-tui.demo/ask", {"question": "how are you?"})
        await turn.say(f"Your client knew the method: `{json.dumps(answer)}`")


@slash_command("stray", "Send updates for an unannounced tool call and for an unknown session")
async def stray(turn: Turn) -> None:
    """Send updates for an unannounced tool call and an unknown session, as some agents do.

    The client should show these updates nevertheless.
    """
    await turn.send_raw_update(
        {
            "sessionUpdate": "tool_call_update",
            "toolCallId": f"never-announced-{uuid.uuid4().hex[:8]}",
            "title": "A tool call that was never announced",
            "status": "completed",
        }
    )
    chunk = {
        "sessionUpdate": "agent_message_chunk",
        "content": {"type": "text", "text": "This message is for an unknown session."},
    }
    await turn.send_notification("session/update", {"sessionId": "no-such-session", "update": chunk})
    await turn.say("I sent one update for an unknown tool call and one for an unknown session.")


@slash_command("noise", "Write lines to stdout that are not protocol messages")
async def noise(turn: Turn) -> None:
    """Write to stdout lines that are not messages, as a forgotten print statement would."""
    for line in ("Loading configuration...", "{broken json", '"only a string"', "[]"):
        await turn.wire.write_line(line)
    await turn.say("I wrote four invalid lines to stdout. You should still see this message.")


@slash_command("stderr", "Write to stderr", "[lines]")
async def stderr(turn: Turn) -> None:
    """Write lines to stderr, which the client must read so that the pipe does not fill up."""
    lines = parse_number(turn.argument, 10, maximum=1_000_000)
    for line in range(1, lines + 1):
        print(f"demo: line {line} of {lines} on stderr", file=sys.stderr)
        if line % 100 == 0:
            await asyncio.sleep(0)  # let a cancel through
    sys.stderr.flush()
    await turn.say(f"I wrote {lines} lines to stderr.")
