"""Checks of what an agent makes of odd but legal messages, at odd but legal times."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from acp_tui.doctor.suite.bench import require_success
from acp_tui.doctor.suite.client import CLIENT_INFO, FULL_CAPABILITIES, Failed, NotSeen
from acp_tui.doctor.suite.extensions import CUSTOM_REQUEST, require_no_answer, require_responsive
from acp_tui.errors import Refusal
from acp_tui.session.record import INTERNAL_ERROR, REQUEST_CANCELLED

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.doctor.suite.bench import Bench
    from acp_tui.doctor.suite.client import ObservedTurn, RequestId, SuiteClient

LARGE_ID = 2**53 - 1
"""The largest whole number that every JSON parser keeps."""
LONG_MESSAGE_CHARACTERS = 1_000_000
BIG_PROMPT_CHARACTERS = 100_000
"""Enough to exceed the usual buffers of 64 kB, and less than the context of a model."""
PIPELINED_REQUESTS = 20
LATE_SECONDS = 1.5
"""How late a late answer is."""
ODD_TEXT = 'ü 漢字 👩\u200d💻 e\u0301 \u2028\u2029\u0085\u000b\u001c\ufeff\x7f \U0001f9ea \\ " \ttab\nline'
"""Includes what some languages take for the end of a line."""
_INITIALIZE = {"protocolVersion": 1, "clientCapabilities": FULL_CAPABILITIES, "clientInfo": CLIENT_INFO}


# --------------------------------------------------------------------------- ids and spelling


async def zero_id(bench: Bench) -> None:
    await _answered_with_same_id(bench, 0)


async def string_id(bench: Bench) -> None:
    await _answered_with_same_id(bench, "acp-tui/string id ü")


async def large_id(bench: Bench) -> None:
    await _answered_with_same_id(bench, LARGE_ID)


async def key_order(bench: Bench) -> None:
    await _spelled(bench, lambda frame: json.dumps(dict(reversed(frame.items()))))


async def json_spelling(bench: Bench) -> None:
    await _spelled(bench, _spell_oddly)


async def _answered_with_same_id(bench: Bench, request_id: RequestId) -> None:
    async with bench.start() as client:
        answer = await client.answer(client.send_request("initialize", _INITIALIZE, request_id=request_id))
    found = answer.get("id")
    if found != request_id or type(found) is not type(request_id):
        raise Failed(f"the id of the request is {request_id!r}, the id of the answer {found!r}")


async def _spelled(bench: Bench, spell: Callable[[dict[str, Any]], str]) -> None:
    """Open a session with requests that are spelled in a way."""
    async with bench.start() as client:
        client.agent = await client.result(client.send_request("initialize", _INITIALIZE, spell=spell))
        params = {"cwd": str(bench.folder("shared")), "mcpServers": []}
        await client.result(client.send_request("session/new", params, spell=spell))


def _spell_oddly(frame: dict[str, Any]) -> str:
    """Return a frame with spaces between the tokens, and with letters and slashes escaped."""
    text = json.dumps(frame, separators=(" ,\t", " :  "))
    return f"  {text.replace('/', chr(92) + '/').replace('jsonrpc', chr(92) + 'u006asonrpc')} \t"


# --------------------------------------------------------------------------- content


async def nulls(bench: Bench) -> None:
    async with bench.start() as client:
        params = {
            "protocolVersion": 1,
            "clientCapabilities": {"_meta": None},
            "clientInfo": None,
            "_meta": None,
        }
        client.agent = await client.request("initialize", params)
        session = await client.new_session(bench.folder("shared"), _meta=None)
        block = {"type": "text", "text": bench.prompt("reply"), "annotations": None, "_meta": None}
        require_success(await client.run_turn(session, [block], _meta=None))


async def unicode_text(bench: Bench) -> None:
    await _prompt(bench, f"{bench.prompt('reply')} {ODD_TEXT}")


async def long_message(bench: Bench) -> None:
    padding = {"acp-tui.example/padding": "x" * LONG_MESSAGE_CHARACTERS}
    await _prompt(bench, bench.prompt("reply"), _meta=padding)


async def big_prompt(bench: Bench) -> None:
    line = "This line is only there to make the prompt big.\n"
    filler = line * (BIG_PROMPT_CHARACTERS // len(line))
    await _prompt(bench, f"{bench.prompt('reply')}\n\n{filler}")


async def empty_prompt(bench: Bench) -> None:
    client, session = await bench.session()
    await client.run_turn(session, [])
    await require_responsive(client)


async def _prompt(bench: Bench, text: str, **more: Any) -> None:
    client, session = await bench.session()
    require_success(await client.run_turn(session, text, **more))


# --------------------------------------------------------------------------- at the same time


async def pipelined_requests(bench: Bench) -> None:
    client = await bench.client()
    asked = [client.send_request(CUSTOM_REQUEST, {"number": at}) for at in range(PIPELINED_REQUESTS)]
    for identity in asked:
        await client.answer(identity)


async def second_session(bench: Bench) -> None:
    client, first = await bench.session()
    second = await client.new_session(bench.folder("shared"))
    if second == first:
        raise Failed("two sessions have the same id")
    text = bench.prompt("reply")
    turns = [client.start_turn(first, text), client.start_turn(second, text)]
    for turn in turns:
        await turn.finish()
    for turn in turns:
        require_success(turn)
        if not turn.updates():
            raise Failed("one of two turns at the same time ended without any update for its session")


async def second_prompt(bench: Bench) -> None:
    client = await bench.client()
    session = await client.new_session(bench.folder("shared"))
    first = await running_turn(bench, client, session)
    second = client.start_turn(session, bench.prompt("reply"))
    await client.settle()
    if not first.ended:  # the second is queued, unless it was refused
        client.cancel(session)
    if not await client.until(lambda: first.ended and second.ended):
        client.stuck = True
        name = "second" if first.ended else "first"
        raise Failed(f"the {name} of two prompts in one session was not answered")


async def request_during_turn(bench: Bench) -> None:
    client = await bench.client()
    session = await client.new_session(bench.folder("shared"))
    turn = await running_turn(bench, client, session)
    await require_responsive(client)
    client.cancel(session)
    await turn.finish()


async def running_turn(bench: Bench, client: SuiteClient, session: str) -> ObservedTurn:
    """Start a long turn and return it once it runs. Raises `NotSeen` if it ends at once."""
    turn = client.start_turn(session, bench.prompt("long"))
    await client.until(lambda: turn.ended or turn.updates("agent_message_chunk", "agent_thought_chunk"))
    if turn.ended:
        raise NotSeen("the turn with the prompt `long` ended too early")
    return turn


# --------------------------------------------------------------------------- cancelled requests


async def cancel_request(bench: Bench) -> None:
    client = await bench.client()
    session = await client.new_session(bench.folder("shared"))
    turn = await running_turn(bench, client, session)
    client.notify("$/cancel_request", {"requestId": turn.request_id})
    await turn.finish()
    code = turn.error.get("code") if isinstance(turn.error, dict) else None
    if turn.error is not None and code != REQUEST_CANCELLED:
        raise Failed(f"a cancelled request was answered with error {code} instead of -32800")


async def cancel_request_of_nothing(bench: Bench) -> None:
    client = await bench.client()
    done = await require_responsive(client)
    start = len(client.records)
    client.notify("$/cancel_request", {"requestId": done})
    client.notify("$/cancel_request", {"requestId": "acp-tui-no-request"})
    await require_no_answer(client, start)


async def cancel_of_unknown_session(bench: Bench) -> None:
    client = await bench.client()
    start = len(client.records)
    client.cancel("acp-tui-no-session")
    await require_no_answer(client, start)


# --------------------------------------------------------------------------- late and failed answers


async def late_permission(bench: Bench) -> None:
    async def answer(params: dict[str, Any], request_id: RequestId) -> Any:
        client = await bench.client()
        client.send_request(CUSTOM_REQUEST, {})
        client.notify("_acp-tui.example/event", {})
        await asyncio.sleep(LATE_SECONDS)
        return await client.served.permission(params, request_id)

    await bench.asked_turn("session/request_permission", answer, "edit", "command")


async def failed_permission(bench: Bench) -> None:
    async def answer(_params: dict[str, Any], _: RequestId) -> Any:
        raise Refusal(INTERNAL_ERROR, "The question could not be shown")

    await bench.asked_turn("session/request_permission", answer, "edit", "command")
    await require_responsive(await bench.client())


async def permission_answered_after_cancel(bench: Bench) -> None:
    answered = asyncio.Event()

    async def answer(_params: dict[str, Any], _: RequestId) -> Any:
        client, session = await bench.session()
        client.cancel(session)
        try:
            await asyncio.sleep(LATE_SECONDS)
        finally:  # the agent may withdraw the request meanwhile
            answered.set()
        return {"outcome": {"outcome": "cancelled"}}

    await bench.asked_turn("session/request_permission", answer, "edit", "command")
    await answered.wait()  # the turn may have ended before
    await _prompt(bench, bench.prompt("reply"))
