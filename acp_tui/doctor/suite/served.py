"""Checks of how the agent uses what the client serves: files and terminals."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from acp_tui.doctor.suite.bench import require_success
from acp_tui.doctor.suite.client import Failed, NotSeen
from acp_tui.doctor.suite.observed import TOOL_TURNS, run_turns
from acp_tui.doctor.suite.turns import cancelled_command_turn
from acp_tui.errors import Refusal
from acp_tui.session.record import INTERNAL_ERROR

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acp_tui.doctor.suite.bench import Bench
    from acp_tui.doctor.suite.client import ObservedTurn, RequestId
    from acp_tui.session.record import Record

FILE_METHODS = ("fs/read_text_file", "fs/write_text_file")
DECLARED_UPDATES = ("notice", "compaction_update", "compaction_summary_chunk", "subagent_update")
"""Updates that only clients with the capability may get."""
TERMINAL_METHODS = (
    "terminal/create",
    "terminal/output",
    "terminal/wait_for_exit",
    "terminal/kill",
    "terminal/release",
)


# --------------------------------------------------------------------------- what was not declared


async def no_undeclared_reads(bench: Bench) -> None:
    await _without(bench, "read", "fs/read_text_file")


async def no_undeclared_writes(bench: Bench) -> None:
    await _without(bench, "edit", "fs/write_text_file")


async def no_undeclared_terminals(bench: Bench) -> None:
    await _without(bench, "command", *TERMINAL_METHODS)


async def no_undeclared_updates(bench: Bench) -> None:
    turns = await _turns_without_capabilities(bench)
    if found := [one["sessionUpdate"] for turn in turns.values() for one in turn.updates(*DECLARED_UPDATES)]:
        raise Failed(f"{found[0]} was sent, although the client did not declare it")
    if not turns:
        raise NotSeen("no turn could be run")


async def _without(bench: Bench, purpose: str, *methods: str) -> None:
    """Run a turn with a client that declares nothing, and check that these methods are not called."""
    turns = await _turns_without_capabilities(bench)
    if called := [ask["method"] for turn in turns.values() for ask in turn.requests(*methods)]:
        raise Failed(f"{called[0]} was called, although the client did not declare it")
    if purpose not in turns:
        raise NotSeen("the turn could not be run")
    require_success(turns[purpose])


async def _turns_without_capabilities(bench: Bench) -> dict[str, ObservedTurn]:
    async def run() -> dict[str, ObservedTurn]:
        turns = {}
        async with bench.connect({}) as client:
            session = await client.new_session(bench.folder("shared"))
            for purpose in TOOL_TURNS:
                with suppress(NotSeen):
                    turns[purpose] = await client.run_turn(session, bench.prompt(purpose))
        return turns

    return await bench.shared("without capabilities", run)


# --------------------------------------------------------------------------- files


async def paths_are_absolute(bench: Bench) -> None:
    await _each_request(bench, FILE_METHODS, "path", lambda path: str(path).startswith("/"))


async def lines_start_at_one(bench: Bench) -> None:
    await _each_request(
        bench,
        FILE_METHODS,
        "line",
        lambda line: line is None or (isinstance(line, (int, float)) and line >= 1),
    )


async def missing_file(bench: Bench) -> None:
    turn = await bench.turn("read_missing")
    if not turn.requests("fs/read_text_file"):
        require_success(turn)
        raise NotSeen("the agent did not read a missing file with fs/read_text_file")
    if not turn.client.alive:
        raise Failed("the agent exited when a file was missing")


async def refused_write(bench: Bench) -> None:
    client = await bench.client()
    session = await client.new_session(bench.folder("shared"))

    async def refuse(_params: dict[str, Any], _: RequestId) -> Any:
        raise Refusal(INTERNAL_ERROR, "No space left on device")

    with client.serving("fs/write_text_file", refuse):
        turn = await client.run_turn(session, bench.prompt("edit"))
    if not turn.requests("fs/write_text_file"):
        require_success(turn)
        raise NotSeen("the agent did not write a file with fs/write_text_file")


# --------------------------------------------------------------------------- terminals


async def directories_are_absolute(bench: Bench) -> None:
    await _each_request(
        bench, ("terminal/create",), "cwd", lambda cwd: cwd is None or str(cwd).startswith("/"), ("command",)
    )


async def terminals_exist(bench: Bench) -> None:
    created: set[str] = set()
    for record, terminal, method in await _terminal_requests(bench):
        if method == "created":
            created.add(terminal)
        elif terminal not in created:
            bench.evidence.append(record)
            raise Failed(f"{method} names the terminal {terminal}, which was never created")


async def released_terminals_are_not_used(bench: Bench) -> None:
    released: set[str] = set()
    for record, terminal, method in await _terminal_requests(bench):
        if terminal in released:
            bench.evidence.append(record)
            raise Failed(f"{method} names the terminal {terminal}, which had been released")
        if method == "terminal/release":
            released.add(terminal)


async def terminals_are_released(bench: Bench) -> None:
    _require_released(await bench.turn("command"))


async def released_after_cancel(bench: Bench) -> None:
    _require_released(await cancelled_command_turn(bench))


async def failing_command(bench: Bench) -> None:
    turn = await bench.turn("failing_command")
    if not turn.requests("terminal/create"):
        require_success(turn)
        raise NotSeen("the agent created no terminal")
    require_success(turn)
    if not isinstance(turn.stop_reason, str):
        raise Failed("the turn with a failing command has no stopReason")


def _require_released(turn: ObservedTurn) -> None:
    """Check that the terminals of a turn were released in it, or soon after it."""
    created = _created_terminals(turn.records)
    if not created:
        raise NotSeen("the agent created no terminal")
    released = [
        (record.frame.get("params") or {}).get("terminalId")
        for record in turn.client.records
        if isinstance(record.frame, dict) and record.frame.get("method") == "terminal/release"
    ]
    if left := [terminal for terminal in created if terminal not in released]:
        raise Failed(f"the terminal {left[0]} was never released")


def _created_terminals(records: list[Record]) -> list[str]:
    asked: set[Any] = set()
    created = []
    for record in records:
        frame = record.frame if isinstance(record.frame, dict) else {}
        if record.direction == "received" and frame.get("method") == "terminal/create":
            asked.add(frame.get("id"))
        elif record.direction == "sent" and "method" not in frame and frame.get("id") in asked:
            result = frame.get("result")
            created += [result["terminalId"]] if isinstance(result, dict) else []
    return created


async def _terminal_requests(bench: Bench) -> list[tuple[Record, str, str]]:
    """Return what is said about terminals: record, terminal, and the method or, when it exists, "created"."""
    turns = [*await run_turns(bench, ("command", "failing_command"))]
    with suppress(Failed, NotSeen):
        turns.append(await cancelled_command_turn(bench))
    found: list[tuple[Record, str, str]] = []
    for turn in turns:
        for record in turn.records:
            frame = record.frame if isinstance(record.frame, dict) else {}
            params, method = frame.get("params"), frame.get("method")
            if record.direction == "received" and method in TERMINAL_METHODS[1:] and isinstance(params, dict):
                found.append((record, str(params.get("terminalId")), str(method)))
            elif record.direction == "sent" and "method" not in frame:
                found += [(record, terminal, "created") for terminal in _created_by(frame)]
    if not found:
        raise NotSeen("the agent created no terminal")
    return found


def _created_by(frame: dict[str, Any]) -> Iterator[str]:
    result = frame.get("result")
    if isinstance(result, dict) and isinstance(result.get("terminalId"), str):
        yield result["terminalId"]


async def _each_request(
    bench: Bench, methods: tuple[str, ...], name: str, fits: Any, turns: tuple[str, ...] = TOOL_TURNS
) -> None:
    """Check a parameter of all requests with these methods."""
    requests = [ask for turn in await run_turns(bench, turns) for ask in turn.requests(*methods)]
    if not requests:
        raise NotSeen(f"the agent did not call {' or '.join(methods)}")
    for ask in requests:
        params = ask.get("params")
        value = params.get(name) if isinstance(params, dict) else None
        if not fits(value):
            raise Failed(f"{ask['method']} has the {name} {value!r}")
