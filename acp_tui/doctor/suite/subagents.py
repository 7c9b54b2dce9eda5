"""Checks of subagents, an unstable part of the protocol: `subagent_update` and what follows it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from acp_tui.doctor.suite.client import FULL_CAPABILITIES, Failed, NotSeen, ObservedTurn
from acp_tui.doctor.suite.sessions import STOP_REASONS
from acp_tui.wire.schema_check import UNSTABLE_UPDATES

if TYPE_CHECKING:
    from acp_tui.doctor.suite.bench import Bench
    from acp_tui.doctor.suite.client import SuiteClient

STATES = ("running", "idle", "requires_action", "unknown")
SUBAGENT_STOP_REASONS = (*STOP_REASONS, "error")
_SESSION_FIELDS = ("senderSessionId", "recipientSessionId")


async def capability_required(bench: Bench) -> None:
    await _turn(bench)
    without = {name: value for name, value in FULL_CAPABILITIES.items() if name != "subagents"}
    async with bench.connect(without) as client:
        session = await client.new_session(bench.folder("shared"))
        turn = await client.run_turn(session, bench.prompt("subagent"))
        for _, update in _updates(turn):
            if update.get("sessionUpdate") in UNSTABLE_UPDATES:
                raise Failed(
                    f"{update['sessionUpdate']} was sent to a client without the capability subagents"
                )


async def announced_first(bench: Bench) -> None:
    turn = await _turn(bench)
    known: set[Any] = {turn.session, *turn.client.sessions}  # other sessions can still send their titles
    for session, update in _updates(turn):
        if session not in known:
            raise Failed(f"{update.get('sessionUpdate')} came for {session!r} before it was announced")
        if update.get("sessionUpdate") == "subagent_update":
            known.add(update.get("sessionId"))
        named = [update.get(field) for field in _SESSION_FIELDS if update.get(field) is not None]
        if unknown := [name for name in named if name not in known]:
            raise Failed(f"a message names the session {unknown[0]!r} before it was announced")


async def own_session_id(bench: Bench) -> None:
    for session, update in _announcements(await _turn(bench)):
        child = update.get("sessionId")
        if not isinstance(child, str) or not child:
            raise Failed("a subagent_update has no sessionId")
        if child == session:
            raise Failed("a subagent has the session id of its parent")


async def states(bench: Bench) -> None:
    found = []
    for _, update in _updates(await _turn(bench)):
        if update.get("sessionUpdate") == "state_update":
            found.append(update)
        elif update.get("sessionUpdate") == "subagent_update" and isinstance(update.get("state"), dict):
            found.append(update["state"])
    if not found:
        raise NotSeen("the agent reported no state of a subagent")
    for state in found:
        _require_known(state.get("state"), STATES, "state")
        if state.get("stopReason") is not None:
            _require_known(state["stopReason"], SUBAGENT_STOP_REASONS, "stopReason")


async def absolute_folders(bench: Bench) -> None:
    folders: list[Any] = []
    for _, update in _announcements(await _turn(bench)):
        folders += [update["cwd"]] if update.get("cwd") is not None else []
        folders += update.get("additionalDirectories") or []
    if not folders:
        raise NotSeen("no subagent has a folder of its own")
    if relative := [folder for folder in folders if not str(folder).startswith("/")]:
        raise Failed(f"a subagent's folder is {relative[0]!r}")


async def cancelled(bench: Bench) -> None:
    client = await bench.client()
    session = await client.new_session(bench.folder("shared"))
    turn = client.start_turn(session, bench.prompt("subagent"))
    await client.until(lambda: turn.ended or any(_can_cancel(one) for _, one in _announcements(turn)))
    child = next((one["sessionId"] for _, one in _announcements(turn) if _can_cancel(one)), None)
    if child is None or turn.ended:
        await turn.finish()
        raise NotSeen("no running subagent could be cancelled")
    await _wait_for_work(client, turn, child)
    client.cancel(child)
    ends_idle = await client.until(lambda: _state(turn, child) == "idle")  # perhaps after the turn
    state = _state(turn, child)
    await turn.finish()
    if not ends_idle:
        raise Failed(f"a subagent that was cancelled is still {state!r} after {client.timeout:g} s")


async def _wait_for_work(client: SuiteClient, turn: ObservedTurn, child: str) -> None:
    """Wait until a subagent runs, so that it does not matter how a cancel is taken before its work begins."""
    await client.until(lambda: turn.ended or _state(turn, child) in ("running", "requires_action"))


async def _turn(bench: Bench) -> ObservedTurn:
    """Return the turn that was to start a subagent. Raises `NotSeen` if it has started none."""
    turn = await bench.turn("subagent")
    if not any(_announcements(turn)):
        raise NotSeen("the agent sent no subagent_update")
    return turn


def _updates(turn: ObservedTurn) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield the updates of all sessions in a turn, with the session."""
    for frame in turn.received:
        params = frame.get("params")
        if frame.get("method") == "session/update" and isinstance(params, dict):
            update = params.get("update")
            if isinstance(update, dict):
                yield params.get("sessionId"), update


def _announcements(turn: ObservedTurn) -> Iterator[tuple[Any, dict[str, Any]]]:
    for session, update in _updates(turn):
        if update.get("sessionUpdate") == "subagent_update":
            yield session, update


def _can_cancel(update: dict[str, Any]) -> bool:
    capabilities = update.get("capabilities")
    return isinstance(capabilities, dict) and capabilities.get("cancel") is not None


def _state(turn: ObservedTurn, child: str) -> Any:
    """Return the last reported state of a subagent; None if there is none."""
    last = None
    for session, update in _updates(turn):
        kind = update.get("sessionUpdate")
        if kind == "state_update" and session == child:
            last = update.get("state")
        elif kind == "subagent_update" and update.get("sessionId") == child and "state" in update:
            state = update["state"]
            last = state.get("state") if isinstance(state, dict) else None
    return last


def _require_known(value: Any, known: tuple[str, ...], name: str) -> None:
    if value not in known and not str(value).startswith("_"):
        raise Failed(f"the {name} of a subagent is {value!r}")
