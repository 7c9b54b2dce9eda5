"""Commands whose turns end in different ways, take too long, or never end."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from typing import TYPE_CHECKING, Any, get_args

from acp import update_agent_message_text
from acp.schema import StopReason

from acp_tui.demo.commands.slash_command import parse_number, slash_command

if TYPE_CHECKING:
    from acp_tui.demo.turn import Turn

_ERRORS: dict[str, Any] = {
    "message": {"code": -32603, "message": 'A simulated error, in the field "message"'},
    "details": {
        "code": -32603,
        "message": "Internal error",
        "data": {"details": 'A simulated error, in the field "data.details"'},
    },
    "text": {
        "code": -32603,
        "message": "Internal error",
        "data": 'A simulated error, in the field "data"',
    },
    "http": {
        "code": 429,
        "message": '{"error":{"type":"rate_limit","message":"Simulated: too many requests"}}',
    },
    "nested": {
        "code": -32603,
        "message": "Internal error",
        "data": {"error": {"cause": {"message": 'A simulated error, nested in the field "data"'}}},
    },
    "list": {"code": -32602, "message": "Invalid params", "data": [{"loc": ["prompt"], "msg": "Simulated"}]},
    "empty": {"code": -32603, "message": ""},
    "long": {"code": -32603, "message": "A long message. " * 400},
    "escape": {"code": -32603, "message": "\x1b[2J\x1b[31mAn error that wants to clear the screen"},
    "missing": {"code": -32002, "message": "Resource not found", "data": {"uri": "file:///nowhere"}},
    "auth": {"code": -32000, "message": "Authentication required"},
    "cancelled": {"code": -32800, "message": "Request cancelled"},
    "bare": "An error that is a string, which violates JSON-RPC",
    "null": {"code": None, "message": None},
}


@slash_command("error", "Answer the prompt with an error", "[" + "|".join(_ERRORS) + "]")
async def error(turn: Turn) -> None:
    """Answer the prompt with the error from `_ERRORS` that the argument names.

    Agents send errors in all these forms. The last two violate JSON-RPC.
    """
    turn.wire.override_response(error=_ERRORS.get(turn.argument, _ERRORS["details"]))


@slash_command("refuse", "Refuse the prompt, which removes it from the agent's context")
async def refuse(turn: Turn) -> StopReason:
    """End the turn with the stop reason `refusal`."""
    await turn.say("I will not do that. (This refusal is simulated.)")
    return "refusal"


_REASONS: tuple[StopReason, ...] = get_args(StopReason)


@slash_command("stop", "End the turn with a stop reason", "[" + "|".join((*_REASONS, "unknown")) + "]")
async def stop(turn: Turn) -> StopReason:
    """End the turn with the stop reason that the argument names.

    `unknown` stands for a stop reason that the protocol does not define.
    """
    await turn.say("This sentence is cut off in the mid")
    if turn.argument == "unknown":
        turn.wire.override_response(result={"stopReason": "_demo_reason"})
    return next((reason for reason in _REASONS if reason == turn.argument), "max_tokens")


@slash_command(
    "slow",
    "A turn that takes a few seconds, so that you can cancel it or send a message into it",
    "[seconds]",
)
async def slow(turn: Turn) -> None:
    """Send one chunk per second."""
    seconds = parse_number(turn.argument, 10, maximum=24 * 3600)
    for second in range(seconds):
        await turn.send_update(update_agent_message_text(f"{second + 1} "))
        await turn.wait(1)
    await turn.say("\nDone.")


@slash_command("hang", "A turn that never ends and ignores cancellation; restart the agent to stop it")
async def hang(turn: Turn) -> None:
    """Behave like an agent that is stuck."""
    turn.ignores_cancel = True
    await turn.say("I am stuck now and ignore `session/cancel`. Restart me.")
    await asyncio.Event().wait()


@slash_command("silence", "End the turn without a message")
async def silence(turn: Turn) -> None:
    """Send nothing, as some agents do after a cancel."""


@slash_command("flood", "Many chunks, as fast as possible", "[chunks] [characters]")
async def flood(turn: Turn) -> None:
    """Send chunks without pauses. The chunks are not added to the history."""
    chunks = parse_number(turn.argument, 2000, maximum=1_000_000)
    size = parse_number(" ".join(turn.argument.split()[1:]), 40, maximum=100_000)
    text = ("The quick brown fox jumps over the lazy dog. " * (size // 45 + 1))[:size]
    update = update_agent_message_text(text)
    for index in range(chunks):
        await turn.send_update(update, store=False)
        if index % 50 == 0:
            # Let a cancel be handled: `send_update` yields to the event loop only if the pipe is full.
            await asyncio.sleep(0)
    await turn.say(f"\n\nThose were {chunks} chunks of {size} characters.")


@slash_command("crash", "The agent's process ends during the turn", "[code|signal|zero]")
async def crash(turn: Turn) -> None:
    """Write to stderr, then exit with a code (3 by default) or die from a signal."""
    await turn.say("I am about to crash.")
    print("demo: crashing on request", file=sys.stderr)
    print("demo: the last line before the end", file=sys.stderr, flush=True)
    if turn.argument == "signal":
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(0 if turn.argument == "zero" else parse_number(turn.argument, 3, maximum=255))


@slash_command("later", "A message that arrives after the turn has ended")
async def later(turn: Turn) -> None:
    """Send a message after the turn has ended, as agents that work in the background do."""

    def report() -> None:
        turn.session.run_in_background(turn.say("This message comes after the turn, from background work."))

    turn.wire.call_after_response(report)
    await turn.say("The turn ends now. Another message follows.")
