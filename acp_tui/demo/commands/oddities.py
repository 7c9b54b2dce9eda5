"""Commands that send what is unstable, unknown or wrong."""

from __future__ import annotations

import asyncio
import json
import sys
import uuid
from typing import TYPE_CHECKING, Any

from acp_tui.demo.commands.registry import number_argument, slash_command

if TYPE_CHECKING:
    from acp_tui.demo.turn import Turn


@slash_command("notice", "An advisory notice (unstable)", "[info|warning|error]")
async def notice(turn: Turn) -> None:
    """All three when none is named."""
    for severity in ("info", "warning", "error"):
        if turn.argument in ("", severity):
            await turn.update_raw(
                {
                    "sessionUpdate": "notice",
                    "severity": severity,
                    "title": f"A pretended notice: {severity}",
                    "description": "Nothing happened. The title can stand alone; this is the detail.",
                }
            )
            await turn.rest(20)


@slash_command("compact", "The agent pretends to condense its context (unstable)")
async def compact(turn: Turn) -> None:
    """Only for clients that advertise it, which the SDK's model does not know: the raw words are read."""
    session = turn.wire.initialize.get("clientCapabilities", {}).get("session") or {}
    if session.get("compaction") is None:
        await turn.say("Your client does not advertise `session.compaction`, so I must not send it.")
        return
    update = {"sessionUpdate": "compaction_update", "compactionId": str(uuid.uuid4())}
    await turn.update_raw({**update, "status": "in_progress"})
    for word in ["You", "asked", "for", "a", "demonstration,", "and", "the", "demo", "gave", "it.", ""]:
        chunk = {**update, "sessionUpdate": "compaction_summary_chunk"}
        await turn.update_raw({**chunk, "content": {"type": "text", "text": word + " "}})
        await turn.rest(3)
    await turn.update_raw({**update, "status": "completed"})
    turn.stored.used //= 10


@slash_command(
    "unknown", "What is in no version of the protocol", "[update|content|tool|status|notification|request]"
)
async def unknown(turn: Turn) -> None:
    """A client should show it, or at least survive it."""
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
            await turn.update_raw(update)
    if turn.argument in ("", "notification"):
        await turn.notify("_acp-tui.demo/hello", {"greeting": "hello"})
    if turn.argument in ("", "request"):
        await turn.say("Your client should answer -32601, method not found, to what I ask now.\n")
        answer = await turn.client.ext_method("acp-tui.demo/ask", {"question": "how are you?"})
        await turn.say(f"It knew the method: `{json.dumps(answer)}`")


@slash_command("stray", "Updates out of place: a call nobody announced, another session")
async def stray(turn: Turn) -> None:
    """Agents do this; nothing should be lost."""
    await turn.update_raw(
        {
            "sessionUpdate": "tool_call_update",
            "toolCallId": f"never-announced-{uuid.uuid4().hex[:8]}",
            "title": "A call that only ever had this update",
            "status": "completed",
        }
    )
    chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "For nobody."}}
    await turn.notify("session/update", {"sessionId": "no-such-session", "update": chunk})
    await turn.say("I sent an update for a call and one for a session that do not exist.")


@slash_command("noise", "Writes lines to stdout that are no protocol at all")
async def noise(turn: Turn) -> None:
    """As a stray print statement does."""
    for line in ("Loading configuration...", "{broken json", '"only a text"', "[]"):
        await turn.wire.write_text(line)
    await turn.say("I wrote four lines of noise to stdout. You should still be reading this.")


@slash_command("stderr", "Writes to stderr", "[lines]")
async def stderr(turn: Turn) -> None:
    """Nothing a user must see, but it must not be lost or fill a pipe."""
    lines = number_argument(turn.argument, 10, most=1_000_000)
    for line in range(1, lines + 1):
        print(f"demo: line {line} of {lines} on stderr", file=sys.stderr)
        if line % 100 == 0:
            await asyncio.sleep(0)  # let a cancel through
    sys.stderr.flush()
    await turn.say(f"I wrote {lines} lines to stderr.")


@slash_command("logout", "The agent forgets the sign-in; what comes next is refused if it wants one")
async def logout(turn: Turn) -> None:
    """Sign-ins end without being asked to."""
    turn.session.sign_out()
    await turn.say("I forgot the sign-in. If I was started with `--auth`, the next call is refused.")
