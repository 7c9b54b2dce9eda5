"""Checks of the extension `_session/steering`, which sends a message into a running turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_tui.doctor.suite.client import Failed, NotOffered
from acp_tui.doctor.suite.robustness import running_turn
from acp_tui.protocol.client_calls import STEERING
from acp_tui.session.safe_text import visible_excerpt

if TYPE_CHECKING:
    from acp_tui.doctor.suite.bench import Bench
    from acp_tui.doctor.suite.client import SuiteClient


async def without_turn(bench: Bench) -> None:
    client = await _steerable(bench)
    session = await client.new_session(bench.folder("shared"))
    outcome = await _steer(bench, client, session)
    if outcome != "promptRequired":
        raise Failed(f"without a running turn, the outcome is {outcome!r} instead of 'promptRequired'")


async def in_turn(bench: Bench) -> None:
    client = await _steerable(bench)
    session = await client.new_session(bench.folder("shared"))
    turn = await running_turn(bench, client, session)
    outcome = await _steer(bench, client, session)
    if outcome != "injected" and not turn.ended:
        raise Failed(f"during a turn, the outcome is {outcome!r} instead of 'injected'")
    client.cancel(session)
    await turn.finish()


async def _steerable(bench: Bench) -> SuiteClient:
    client = await bench.client()
    meta = client.agent.get("_meta")
    steering = meta.get("steering") if isinstance(meta, dict) else None
    if not (isinstance(steering, dict) and steering.get("supported") is True):
        raise NotOffered("the agent does not advertise _meta.steering.supported")
    return client


async def _steer(bench: Bench, client: SuiteClient, session: str) -> Any:
    """Send a message into the turn of a session and return the outcome."""
    prompt = [{"type": "text", "text": bench.prompt("reply")}]
    meta = {"steering": {"idleBehavior": "promptRequired"}}
    result = await client.request(STEERING, {"sessionId": session, "prompt": prompt, "_meta": meta})
    outcome = result.get("outcome") if isinstance(result, dict) else None
    if not isinstance(outcome, str):
        raise Failed(f"the answer has no outcome: {visible_excerpt(result, 200)}")
    return outcome
