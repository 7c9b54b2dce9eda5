"""Commands that demonstrate notices, compactions of the context, and limits of the user's plan."""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING, Any

from acp_tui.demo.commands.slash_command import parse_number, slash_command
from acp_tui.demo.sessions import state_updates
from acp_tui.demo.sessions.settings import MODELS

if TYPE_CHECKING:
    from acp_tui.demo.turn import Turn

SUMMARY = """\
## What happened

You asked for a **demonstration**, and the demo agent gave one:

- it wrote a summary of the conversation
- it forgot everything else

## What comes next

The next prompt. The context is *nearly empty* again; `Alt+C` shows it.
"""
NOTICES = {
    "info": ("A new version of the demo agent exists", "It does nothing new."),
    "warning": ("The imaginary model is slow today", "Answers may take a second longer."),
    "error": ("An imaginary MCP server did not start", "`weather`: connection refused. Nothing is wrong."),
}


@slash_command("notice", "Send a notice of each severity, or of the one you name", "[info|warning|error]")
async def notice(turn: Turn) -> None:
    """Send a notice of the severity that the argument names; without an argument, one of each severity."""
    if not _advertises(turn, "notices"):
        await turn.say("Your client does not advertise `session.notices`, so I cannot send any.")
        return
    for severity, (title, description) in NOTICES.items():
        if turn.argument in ("", severity):
            await turn.send_raw_update(
                {
                    "sessionUpdate": "notice",
                    "severity": severity,
                    "title": title,
                    "description": description,
                }
            )
            await turn.pause(20)


@slash_command("compact", "Summarise the context, as agents do when it is nearly full")
async def compact(turn: Turn) -> None:
    """Send a compaction with a streamed summary, then the new usage."""
    if not _advertises(turn, "compaction"):
        await turn.say("Your client does not advertise `session.compaction`, so I cannot send a compaction.")
        return
    before, after = turn.stored.used, turn.stored.used // 10
    update: dict[str, Any] = {"compactionId": str(uuid.uuid4())}
    changed = {**update, "sessionUpdate": "compaction_update"}
    chunk = {**update, "sessionUpdate": "compaction_summary_chunk"}
    await turn.send_raw_update({**changed, "status": "in_progress"})
    for word in SUMMARY.split(" "):
        await turn.send_raw_update({**chunk, "content": {"type": "text", "text": f"{word} "}})
        await turn.pause(2)
    meta = {"preTokens": before, "postTokens": after}
    await turn.send_raw_update({**changed, "status": "completed", "_meta": meta})
    turn.stored.used = after
    await state_updates.send_usage(turn.client, turn.stored)


@slash_command("limit", "A limit of your plan that is nearly used up, as Claude Code reports it", "[percent]")
async def limit(turn: Turn) -> None:
    """Report how much of a made-up limit of the user's plan is used, in the `_meta` of a usage update."""
    percent = parse_number(turn.argument, 91, maximum=100)
    status = "allowed" if percent < 80 else "allowed_warning" if percent < 100 else "rejected"
    await turn.send_raw_update(
        {
            "sessionUpdate": "usage_update",
            "used": turn.stored.used,
            "size": MODELS[turn.stored.settings.model].context_window,
            "_meta": {
                "_claude/rateLimit": {
                    "status": status,
                    "rateLimitType": "five_hour",
                    "utilization": percent / 100,
                    "resetsAt": round(time.time()) + 3 * 3600,
                }
            },
        }
    )


def _advertises(turn: Turn, capability: str) -> bool:
    """Return True if the client supports this capability of sessions.

    The capability is read from the raw parameters of `initialize`, because the SDK's model drops it.
    """
    session = turn.wire.initialize_params.get("clientCapabilities", {}).get("session") or {}
    return session.get(capability) is not None
