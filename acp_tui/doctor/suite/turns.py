"""Checks of what happens in a turn: tool calls, permissions and cancellation."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from acp_tui.doctor.behaviour_check import FINAL_STATUSES, objects_in
from acp_tui.doctor.suite.bench import FILE_TEXT, require_success
from acp_tui.doctor.suite.client import QUIET_SECONDS, Failed, NotSeen, choose, updates_in
from acp_tui.doctor.suite.observed import TOOL_TURNS, run_turns

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from acp_tui.doctor.suite.bench import Bench
    from acp_tui.doctor.suite.client import ObservedTurn, RequestId, SuiteClient

CONTENT_UPDATES = (
    "user_message_chunk",
    "agent_message_chunk",
    "agent_thought_chunk",
    "tool_call",
    "tool_call_update",
    "plan",
)
"""The kinds of updates that belong to a turn."""
CANCELLED = {"outcome": {"outcome": "cancelled"}}


# --------------------------------------------------------------------------- tool calls


async def pending_comes_first(bench: Bench) -> None:
    seen = False
    for turn in await run_turns(bench, TOOL_TURNS):
        statuses: dict[Any, Any] = {}
        for update in turn.updates("tool_call", "tool_call_update"):
            seen = True
            status, identity = update.get("status"), str(update.get("toolCallId"))
            if status == "pending" and statuses.get(identity, "pending") != "pending":
                raise Failed(f"the tool call {identity} went from {statuses[identity]} back to pending")
            statuses[identity] = status or statuses.get(identity, "pending")
    if not seen:
        raise NotSeen("the agent sent no tool_call")


async def calls_end(bench: Bench) -> None:
    seen = False
    for turn in await run_turns(bench, TOOL_TURNS):
        rejected = _rejected_calls(turn)  # for these, the specification has no status
        for identity, call in turn.tool_calls.items():
            seen = seen or identity not in rejected
            status = call.get("status", "pending")
            if turn.stop_reason == "end_turn" and status not in FINAL_STATUSES and identity not in rejected:
                raise Failed(f"the turn ended while the tool call {identity} was {status}")
    if not seen:
        raise NotSeen("no tool call was carried out")


def _rejected_calls(turn: ObservedTurn) -> set[str]:
    """Return the ids of the tool calls that the suite has not allowed."""
    questions = {ask.get("id"): ask["params"] for ask in _questions(turn)}
    rejected = set()
    for record in turn.records:
        frame = record.frame if isinstance(record.frame, dict) else {}
        if record.direction != "sent" or "method" in frame or frame.get("id") not in questions:
            continue
        params = questions[frame["id"]]
        if frame.get("result") not in (choose(params, "allow_once"), choose(params, "allow")):
            call = params.get("toolCall")
            rejected.add(str(call.get("toolCallId")) if isinstance(call, dict) else "")
    return rejected


async def call_ids_differ(bench: Bench) -> None:
    """Check that the ids of tool calls of earlier turns of a session are not announced again.

    One prompt is repeated, because an agent could use an id for each kind of call.
    """
    used: dict[str, ObservedTurn] = {}
    turns = await run_turns(bench, TOOL_TURNS)
    if turns and not turns[0].client.stuck:
        with suppress(Failed, NotSeen):
            turns.append(await turns[0].client.run_turn(turns[0].session, bench.prompt("read")))
    for turn in turns:
        for update in turn.updates("tool_call"):
            identity = str(update.get("toolCallId"))
            if (before := used.setdefault(identity, turn)) is not turn and before.session == turn.session:
                raise Failed(f"a tool call has the id {identity} of a call in an earlier turn")
    if not used:
        raise NotSeen("the agent sent no tool_call")


async def plan(bench: Bench) -> None:
    turn = await bench.turn("plan")
    plans = turn.updates("plan")
    if not plans:
        require_success(turn)
        raise NotSeen("the agent sent no plan")
    for one in plans:
        entries = one.get("entries")
        if not isinstance(entries, list):
            raise Failed("a plan has no list of entries")
        for entry in entries:
            if not isinstance(entry, dict) or not {"content", "priority", "status"} <= entry.keys():
                raise Failed("an entry of a plan lacks its content, priority or status")


# --------------------------------------------------------------------------- permissions


async def options_offered(bench: Bench) -> None:
    asked = [ask for turn in await run_turns(bench, TOOL_TURNS) for ask in _questions(turn)]
    if not asked:
        raise NotSeen("the agent asked for no permission")
    if any(not objects_in(ask["params"].get("options")) for ask in asked):
        raise Failed("a permission request has no options")


async def asks_before_acting(bench: Bench) -> None:
    before = _files(bench)
    changed: list[str] = []

    def look(_: SuiteClient) -> None:
        changed.extend(_changes(before, _files(bench)))

    await _edit(bench, "allow", look)
    if changed:
        raise Failed(f"{changed[0]} had already been changed when the agent asked for permission")


async def rejection_is_respected(bench: Bench) -> None:
    before = _files(bench)
    await _edit(bench, "reject")
    if changed := _changes(before, _files(bench)):
        raise Failed(f"the edit was rejected, but {changed[0]} was changed")


async def allow_once_is_once(bench: Bench) -> None:
    first = await _edit(bench, "allow")
    before = _files(bench)
    again = await first.client.run_turn(first.session, bench.prompt("edit"))
    if not _questions(again) and (changed := _changes(before, _files(bench))):
        raise Failed(f"an edit was allowed once; the next one changed {changed[0]} without asking")


async def _edit(
    bench: Bench, sense: str, look: Callable[[SuiteClient], None] = lambda _: None
) -> ObservedTurn:
    """Let the agent edit a file in a new session. Answer its questions with "allow" or "reject".

    `look` is called with each question. Raises `NotSeen` if there is none.
    """
    client = await bench.client()
    session = await client.new_session(bench.folder("shared"))
    prompt = bench.prompt("edit")

    async def answer(params: dict[str, Any], request_id: RequestId) -> Any:
        look(client)
        if sense == "allow":
            return await client.served.permission(params, request_id)
        return choose(params, sense)

    with client.serving("session/request_permission", answer):
        turn = await client.run_turn(session, prompt)
        await client.settle()
    if not _questions(turn):
        require_success(turn)
        raise NotSeen("the agent asked for no permission")
    return turn


def _questions(turn: ObservedTurn) -> list[dict[str, Any]]:
    asked = turn.requests("session/request_permission")
    return [ask for ask in asked if isinstance(ask.get("params"), dict)]


def _files(bench: Bench) -> dict[Path, bytes]:
    """Return what is in the folder of the sessions, apart from the file that the next prompt creates."""
    return {file: file.read_bytes() for file in bench.folder("shared").iterdir() if file.is_file()}


def _changes(before: dict[Path, bytes], after: dict[Path, bytes]) -> list[str]:
    """Return the names of files that were changed or added, other than untouched new files for prompts."""
    return [
        file.name
        for file, content in after.items()
        if before.get(file) != content and not (file not in before and content == FILE_TEXT.encode())
    ]


# --------------------------------------------------------------------------- cancellation


async def cancelled(bench: Bench) -> None:
    turn = await _cancelled_turn(bench)
    if turn.error is None and turn.stop_reason != "cancelled":
        raise Failed(f"the cancelled turn ended with {turn.stop_reason!r}")


async def cancelled_without_error(bench: Bench) -> None:
    turn = await _cancelled_turn(bench)
    if turn.error is not None:
        raise Failed(f"the cancelled prompt was answered with an error: {str(turn.error)[:200]}")


async def nothing_after_cancelled(bench: Bench) -> None:
    turn = await _cancelled_turn(bench)
    later = []
    for record in turn.client.records[turn.client.position(turn.answer) + 1 :]:
        if record.direction == "sent" and "method" in record.frame:
            break  # the next check
        later.append(record.frame)
    frames = [frame for frame in later if isinstance(frame, dict)]
    if found := next(updates_in(frames, turn.session, *CONTENT_UPDATES), None):
        raise Failed(f"{found['sessionUpdate']} came after the answer to the cancelled prompt")


async def prompt_after_cancel(bench: Bench) -> None:
    turn = await _cancelled_turn(bench)
    again = await turn.client.run_turn(turn.session, bench.prompt("reply"))
    require_success(again)
    if again.stop_reason == "cancelled":
        raise Failed("the prompt after a cancelled one ended with 'cancelled', too")


async def _cancelled_turn(bench: Bench) -> ObservedTurn:
    async def run() -> ObservedTurn:
        client = await bench.client()
        session = await client.new_session(bench.folder("shared"))
        turn = client.start_turn(session, bench.prompt("long"))
        says = ("agent_message_chunk", "agent_thought_chunk")
        await client.until(lambda: turn.ended or turn.updates(*says))
        await asyncio.sleep(QUIET_SECONDS)  # an answer that is on its way is no answer to the cancellation
        if turn.ended:
            await turn.finish()
            require_success(turn)
            raise NotSeen("the turn ended before it could be cancelled")
        await _cancel(turn)
        await client.settle()
        return turn

    return await bench.shared("cancelled turn", run)


async def _cancel(turn: ObservedTurn) -> None:
    """Cancel a turn and wait for its answer. Raises `Failed` if there is none."""
    client = turn.client
    client.cancel(turn.session)
    if not await client.until(lambda: turn.ended):
        client.stuck = True
        raise Failed(f"session/prompt was not answered within {client.timeout:g} s of session/cancel")
    await turn.finish()


async def cancelled_question(bench: Bench) -> None:
    client = await bench.client()
    session = await client.new_session(bench.folder("shared"))

    async def cancel(_params: dict[str, Any], _: RequestId) -> Any:
        client.cancel(session)
        return CANCELLED

    with client.serving("session/request_permission", cancel):
        turn = await client.run_turn(session, bench.prompt("edit"))
        await client.settle()
    if not _questions(turn):
        require_success(turn)
        raise NotSeen("the agent asked for no permission")
    _require_cancelled(turn)


async def cancelled_command(bench: Bench) -> None:
    _require_cancelled(await cancelled_command_turn(bench))


async def cancelled_command_turn(bench: Bench) -> ObservedTurn:
    """Return a turn that was cancelled while a command ran."""

    async def run() -> ObservedTurn:
        client = await bench.client()
        session = await client.new_session(bench.folder("shared"))
        turn = client.start_turn(session, bench.prompt("slow_command"))
        await client.until(lambda: turn.ended or _command_runs(turn))
        if not turn.ended:
            await client.settle()
        if turn.ended:
            await turn.finish()
            require_success(turn)
            raise NotSeen("the turn ended before its command could be cancelled")
        await _cancel(turn)
        await client.settle()
        return turn

    return await bench.shared("cancelled command", run)


def _command_runs(turn: ObservedTurn) -> bool:
    return bool(turn.requests("terminal/create")) or any(
        call.get("status") == "in_progress" for call in turn.tool_calls.values()
    )


async def cancel_without_turn(bench: Bench) -> None:
    client = await bench.client()
    session = await client.new_session(bench.folder("shared"))
    client.cancel(session)
    await client.settle()
    turn = await client.run_turn(session, bench.prompt("reply"))
    require_success(turn)
    if turn.stop_reason == "cancelled":
        raise Failed("session/cancel between turns cancelled the next prompt")


def _require_cancelled(turn: ObservedTurn) -> None:
    if turn.error is not None:
        raise Failed(f"the cancelled prompt was answered with an error: {str(turn.error)[:200]}")
    if turn.stop_reason != "cancelled":
        raise Failed(f"the cancelled turn ended with {turn.stop_reason!r}")
