"""Checks of extensions: methods that the agent does not know, and `_meta`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_tui.doctor.suite.bench import require_success
from acp_tui.doctor.suite.client import Failed
from acp_tui.session.record import METHOD_NOT_FOUND
from acp_tui.session.safe_text import visible_excerpt

if TYPE_CHECKING:
    from acp_tui.doctor.suite.bench import Bench
    from acp_tui.doctor.suite.client import RequestId, SuiteClient

CUSTOM_REQUEST = "_acp-tui.example/unknown"
CUSTOM_NOTIFICATION = "_acp-tui.example/event"
UNKNOWN_REQUEST = "session/acp_tui_unknown"
UNKNOWN_NOTIFICATION = "$/acp_tui_unknown"
META: dict[str, Any] = {
    "traceparent": "00-80e1afed08e019fc1110464cfa66635c-7a085853722dc6d2-01",
    "tracestate": "acp-tui=1",
    "baggage": "suite=acp-tui",
    "acp-tui.example/suite": {"list": [1, None, {"deep": [[]]}], "text": "ü"},
}


async def custom_request_answered(bench: Bench) -> None:
    await require_responsive(await bench.client())


async def custom_request_refused(bench: Bench) -> None:
    await _refused(bench, CUSTOM_REQUEST)


async def unknown_request_refused(bench: Bench) -> None:
    await _refused(bench, UNKNOWN_REQUEST)


async def custom_notification_ignored(bench: Bench) -> None:
    await _ignored(bench, CUSTOM_NOTIFICATION)


async def unknown_notification_ignored(bench: Bench) -> None:
    await _ignored(bench, UNKNOWN_NOTIFICATION)


async def meta_in_session_new(bench: Bench) -> None:
    client = await bench.client()
    await client.new_session(bench.folder("shared"), _meta=META)


async def meta_in_prompt(bench: Bench) -> None:
    client, session = await bench.session()
    block = {"type": "text", "text": bench.prompt("reply"), "_meta": META}
    require_success(await client.run_turn(session, [block], _meta=META))


async def require_responsive(client: SuiteClient) -> RequestId:
    """Raise `Failed` unless the agent answers a request, even with an error. Return the id of the request."""
    identity = client.send_request(CUSTOM_REQUEST, {"value": 1})
    await client.answer(identity)
    return identity


async def require_no_answer(client: SuiteClient, start: int) -> None:
    """Raise `Failed` if the agent answers what was sent since the record `start`, or answers nothing more.

    Only notifications must have been sent since then.
    """
    asked = await require_responsive(client)
    await client.settle()
    for record in client.records[start:]:
        frame = record.frame
        is_answer = record.direction == "received" and isinstance(frame, dict) and "method" not in frame
        if is_answer and frame.get("id") != asked:
            raise Failed(f"the agent answered: {visible_excerpt(frame, 200)}")


async def _refused(bench: Bench, method: str) -> None:
    client = await bench.client()
    answer = await client.answer(client.send_request(method, {"value": 1}))
    if "error" not in answer:
        result = visible_excerpt(answer.get("result"), 100)
        raise Failed(f"{method}, which does not exist, was answered with the result {result}")
    error = answer["error"]
    code = error.get("code") if isinstance(error, dict) else None
    if code != METHOD_NOT_FOUND:
        raise Failed(f"{method}, which does not exist, was answered with error {code} instead of -32601")


async def _ignored(bench: Bench, method: str) -> None:
    client = await bench.client()
    start = len(client.records)
    client.notify(method, {"value": 1})
    await require_no_answer(client, start)
