"""Commands that show how a turn can end, and how it can go on for too long."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from typing import TYPE_CHECKING, Any, get_args

from acp import update_agent_message_text
from acp.schema import StopReason

from acp_tui.demo.commands.registry import number_argument, slash_command

if TYPE_CHECKING:
    from acp_tui.demo.turn import Turn

_ERRORS: dict[str, Any] = {
    "message": {"code": -32603, "message": "The demo failed on purpose: the message says it all"},
    "details": {
        "code": -32603,
        "message": "Internal error",
        "data": {"details": "The demo failed on purpose: the reason is in data.details"},
    },
    "text": {"code": -32603, "message": "Internal error", "data": "The reason is the data itself, as text"},
    "http": {
        "code": 429,
        "message": '{"error":{"type":"rate_limit","message":"Pretended: too many requests"}}',
    },
    "nested": {
        "code": -32603,
        "message": "Internal error",
        "data": {"error": {"cause": {"message": "The reason is deep down"}}},
    },
    "list": {"code": -32602, "message": "Invalid params", "data": [{"loc": ["prompt"], "msg": "Pretended"}]},
    "empty": {"code": -32603, "message": ""},
    "long": {"code": -32603, "message": "It goes on. " * 500},
    "escape": {"code": -32603, "message": "\x1b[2J\x1b[31mAn error that wants to clear the screen"},
    "missing": {"code": -32002, "message": "Resource not found", "data": {"uri": "file:///nowhere"}},
    "auth": {"code": -32000, "message": "Authentication required"},
    "cancelled": {"code": -32800, "message": "Request cancelled"},
    "bare": "The error is a text, which breaks JSON-RPC",
    "null": {"code": None, "message": None},
}


@slash_command("error", "The prompt is answered with an error", "[" + "|".join(_ERRORS) + "]")
async def error(turn: Turn) -> None:
    """Shapes that were seen in the wild; the last two are not even JSON-RPC."""
    turn.wire.answer_instead(error=_ERRORS.get(turn.argument, _ERRORS["details"]))


@slash_command("refuse", "The agent refuses the prompt: it and all after it leave the context")
async def refuse(turn: Turn) -> StopReason:
    """The stop reason `refusal`."""
    await turn.say("I will not do that. (This is a pretended refusal.)")
    return "refusal"


_REASONS: tuple[StopReason, ...] = get_args(StopReason)


@slash_command("stop", "The turn ends with this stop reason", "[" + "|".join((*_REASONS, "unknown")) + "]")
async def stop(turn: Turn) -> StopReason:
    """`unknown` is a reason that the protocol does not have."""
    await turn.say("This sentence is cut off in the mid")
    if turn.argument == "unknown":
        turn.wire.answer_instead(result={"stopReason": "_demo_reason"})
    return next((reason for reason in _REASONS if reason == turn.argument), "max_tokens")


@slash_command("slow", "Works for so many seconds; can be cancelled at any time", "[seconds]")
async def slow(turn: Turn) -> None:
    """One word each second."""
    seconds = number_argument(turn.argument, 10, most=24 * 3600)
    for second in range(seconds):
        await turn.update(update_agent_message_text(f"{second + 1} "))
        await asyncio.sleep(1)
    await turn.say("\nDone.")


@slash_command("hang", "Never ends, and ignores a cancel: only ending the agent helps")
async def hang(turn: Turn) -> None:
    """What a stuck agent looks like."""
    turn.ignores_cancel = True
    await turn.say("From now on I am stuck, and I ignore `session/cancel`. Restart me.")
    await asyncio.Event().wait()


@slash_command("silence", "Ends at once without a word")
async def silence(turn: Turn) -> None:
    """An empty answer: some agents do this after a cancel."""


@slash_command("flood", "So many chunks, as fast as they go", "[chunks] [characters]")
async def flood(turn: Turn) -> None:
    """They are not kept in the history."""
    chunks = number_argument(turn.argument, 2000, most=1_000_000)
    size = number_argument(" ".join(turn.argument.split()[1:]), 40, most=100_000)
    text = ("The quick brown fox jumps over the lazy dog. " * (size // 45 + 1))[:size]
    update = update_agent_message_text(text)
    for index in range(chunks):
        await turn.update(update, keep=False)
        if index % 50 == 0:
            await asyncio.sleep(0)  # a full pipe waits by itself; an empty one must not lock out a cancel
    await turn.say(f"\n\nThose were {chunks} chunks of {size} characters.")


@slash_command("crash", "The agent dies in the middle of the turn", "[code|signal|zero]")
async def crash(turn: Turn) -> None:
    """With something on stderr, by exit code 3 unless another way is named."""
    await turn.say("I am about to die.")
    print("demo: this crash was asked for", file=sys.stderr)
    print("demo: the last line before the end", file=sys.stderr, flush=True)
    if turn.argument == "signal":
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(0 if turn.argument == "zero" else number_argument(turn.argument, 3, most=255))


@slash_command("later", "Something more comes after the turn has ended")
async def later(turn: Turn) -> None:
    """Some agents report from the background."""

    def report() -> None:
        turn.session.later(turn.say("This was said after the turn: work in the background, pretended."))

    turn.wire.after_answer(report)
    await turn.say("The turn ends now; listen.")
