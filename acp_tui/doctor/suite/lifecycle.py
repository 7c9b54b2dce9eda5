"""Checks of sessions that are loaded, resumed, listed, closed, forked and deleted."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from acp_tui.doctor.behaviour_check import objects_in
from acp_tui.doctor.suite.bench import require_success
from acp_tui.doctor.suite.client import QUIET_SECONDS, Failed, NotSeen, session_id_of, updates_in
from acp_tui.doctor.suite.turns import CONTENT_UPDATES

if TYPE_CHECKING:
    from acp_tui.doctor.suite.bench import Bench
    from acp_tui.doctor.suite.client import ObservedTurn, SuiteClient

MAX_PAGES = 100
"""A list of sessions with more pages counts as endless."""
Object = dict[str, Any]


class Reopened(NamedTuple):
    """A session that was loaded or resumed, with the updates before and after the answer, and a prompt."""

    before: list[Object]
    after: list[Object]
    turn: ObservedTurn | None


# --------------------------------------------------------------------------- load and resume


async def load(bench: Bench) -> None:
    await _reopened(bench, "session/load", "loadSession")


async def load_replays(bench: Bench) -> None:
    loaded = await _reopened(bench, "session/load", "loadSession")
    kinds = {update.get("sessionUpdate") for update in loaded.before}
    if "user_message_chunk" not in kinds:
        raise Failed("the user's message was not replayed before the answer to session/load")
    if "agent_message_chunk" not in kinds and await _agent_has_spoken(bench):
        raise Failed("the agent's message was not replayed before the answer to session/load")


async def load_replays_first(bench: Bench) -> None:
    loaded = await _reopened(bench, "session/load", "loadSession")
    if loaded.after:
        kind = loaded.after[0].get("sessionUpdate")
        raise Failed(f"{kind} was replayed after the answer to session/load")


async def prompt_after_load(bench: Bench) -> None:
    _require_turn(await _reopened(bench, "session/load", "loadSession"))


async def resume(bench: Bench) -> None:
    await _reopened(bench, "session/resume", "sessionCapabilities", "resume")


async def resume_replays_nothing(bench: Bench) -> None:
    resumed = await _reopened(bench, "session/resume", "sessionCapabilities", "resume")
    if resumed.before:
        kind = resumed.before[0].get("sessionUpdate")
        raise Failed(f"{kind} was sent before the answer to session/resume")


async def prompt_after_resume(bench: Bench) -> None:
    _require_turn(await _reopened(bench, "session/resume", "sessionCapabilities", "resume"))


async def _reopened(bench: Bench, method: str, *capability: str) -> Reopened:
    """Open a stored session in an agent that was started for this, and send a prompt."""
    (await bench.client()).require(*capability)

    async def run() -> Reopened:
        session, _ = await _stored_session(bench)
        async with bench.connect() as client:
            params = {"sessionId": session, "cwd": str(bench.folder("stored")), "mcpServers": []}
            start = len(client.records)
            request = client.send_request(method, params)
            await client.result(request)
            end = client.position(await client.answer(request))
            await client.settle()
            before = _contents(client, session, start, end)
            after = _contents(client, session, end, len(client.records))
            turn = None
            with suppress(NotSeen):
                turn = await client.run_turn(session, bench.prompt("reply"))
        return Reopened(before, after, turn)

    return await bench.shared(method, run)


async def _stored_session(bench: Bench) -> tuple[str, ObservedTurn]:
    """Return a session with one turn, whose agent has exited."""

    async def run() -> tuple[str, ObservedTurn]:
        async with bench.connect() as client:
            session = await client.new_session(bench.folder("stored"))
            turn = await client.run_turn(session, bench.prompt("reply"))
            await client.settle()
        require_success(turn)
        return session, turn

    return await bench.shared("stored session", run)


async def _agent_has_spoken(bench: Bench) -> bool:
    _, turn = await _stored_session(bench)
    return bool(turn.text)


def _contents(client: SuiteClient, session: str, start: int, end: int) -> list[Object]:
    received = (record for record in client.records[start:end] if record.direction == "received")
    frames = [record.frame for record in received if isinstance(record.frame, dict)]
    return list(updates_in(frames, session, *CONTENT_UPDATES))


def _require_turn(reopened: Reopened) -> None:
    if reopened.turn is None:
        raise NotSeen("the turn took too long")
    require_success(reopened.turn)


# --------------------------------------------------------------------------- list and delete


async def lists_session(bench: Bench) -> None:
    client, session = await _listable(bench)
    if session not in _ids(await _list(client, cwd=str(bench.folder("listed")))):
        raise Failed(f"the session {session} is not in the list of its folder")


async def list_filters(bench: Bench) -> None:
    client, _ = await _listable(bench)
    await bench.turn("reply")  # a session in another folder
    folder = bench.folder("listed")
    for info in await _list(client, cwd=str(folder)):
        if not isinstance(cwd := info.get("cwd"), str) or Path(cwd).resolve() != folder:
            raise Failed(f"the list of {folder} has a session in {cwd!r}")


async def list_is_empty(bench: Bench) -> None:
    client, _ = await _listable(bench)
    folder = bench.folder("never-used")
    if found := await _list(client, cwd=str(folder)):
        raise Failed(f"the list of a folder without sessions has the session {found[0].get('sessionId')}")


async def list_ends(bench: Bench) -> None:
    client, _ = await _listable(bench)
    ids = _ids(await _list(client))
    if twice := [identity for identity in ids if ids.count(identity) > 1]:
        raise Failed(f"the session {twice[0]} is on several pages")


async def list_directories_are_absolute(bench: Bench) -> None:
    client, _ = await _listable(bench)
    for info in await _list(client):
        if not str(info.get("cwd")).startswith("/"):
            raise Failed(f"the session {info.get('sessionId')} has the cwd {info.get('cwd')!r}")


async def delete(bench: Bench) -> None:
    client = await bench.client()
    client.require("sessionCapabilities", "delete")
    folder = bench.folder("deleted")
    session = await client.new_session(folder)
    require_success(await client.run_turn(session, bench.prompt("reply")))
    await client.request("session/delete", {"sessionId": session})
    if client.offer("sessionCapabilities", "list") is None:
        return
    if session in _ids(await _list(client, cwd=str(folder))):
        raise Failed(f"the deleted session {session} is still listed")


async def _listable(bench: Bench) -> tuple[SuiteClient, str]:
    """Return the shared connection and a session that it must list: an agent may keep its list in memory."""
    client = await bench.client()
    client.require("sessionCapabilities", "list")

    async def run() -> str:
        session = await client.new_session(bench.folder("listed"))
        require_success(await client.run_turn(session, bench.prompt("reply")))
        await client.settle()
        return session

    return client, await bench.shared("listed session", run)


async def _list(client: SuiteClient, **params: Any) -> list[Object]:
    """Return all pages of the list. Raises `Failed` for one that does not end."""
    found: list[Object] = []
    cursors: set[Any] = set()
    for _ in range(MAX_PAGES):
        answer = await client.request("session/list", params)
        sessions = answer.get("sessions") if isinstance(answer, dict) else None
        if not isinstance(sessions, list):
            raise Failed("the answer to session/list has no list of sessions")
        found += objects_in(sessions)
        cursor = answer.get("nextCursor")
        if cursor is None:
            return found
        if cursor in cursors:
            raise Failed(f"session/list gave the cursor {cursor!r} twice, so its pages do not end")
        cursors.add(cursor)
        params = {**params, "cursor": cursor}
    raise NotSeen(f"the list has more than {MAX_PAGES} pages")


def _ids(sessions: list[Object]) -> list[Any]:
    return [info.get("sessionId") for info in sessions]


# --------------------------------------------------------------------------- close and fork


async def close(bench: Bench) -> None:
    client = await bench.client()
    client.require("sessionCapabilities", "close")
    session = await client.new_session(bench.folder("shared"))
    await client.request("session/close", {"sessionId": session})


async def close_cancels(bench: Bench) -> None:
    client = await bench.client()
    client.require("sessionCapabilities", "close")
    session = await client.new_session(bench.folder("shared"))
    turn = client.start_turn(session, bench.prompt("long"))
    await client.until(lambda: turn.ended or turn.updates("agent_message_chunk", "agent_thought_chunk"))
    await asyncio.sleep(QUIET_SECONDS)  # an answer can be on its way
    if turn.ended:
        raise NotSeen("the turn ended before its session could be closed")
    await client.request("session/close", {"sessionId": session})
    if not await client.until(lambda: turn.ended):
        client.stuck = True
        raise Failed("the prompt of the closed session was not answered")
    await turn.finish()
    if turn.error is not None:
        raise Failed(f"the prompt of the closed session was answered with an error: {str(turn.error)[:200]}")
    if turn.stop_reason != "cancelled":
        raise Failed(f"the prompt of the closed session ended with {turn.stop_reason!r}")


async def fork(bench: Bench) -> None:
    client = await bench.client()
    client.require("sessionCapabilities", "fork")
    folder = bench.folder("shared")
    original = await client.new_session(folder)
    require_success(await client.run_turn(original, bench.prompt("reply")))
    params = {"sessionId": original, "cwd": str(folder), "mcpServers": []}
    copy = session_id_of(await client.request("session/fork", params))
    if copy == original:
        raise Failed("the fork has the id of the session it was made from")
    require_success(await client.run_turn(copy, bench.prompt("reply")))
