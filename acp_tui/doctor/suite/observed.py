"""Checks that watch everything the agent sent: `doctor`'s own list of violations, and a few beyond it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from acp_tui.doctor.suite.client import Failed, NotSeen

if TYPE_CHECKING:
    from acp_tui.doctor.report import FoundViolation
    from acp_tui.doctor.suite.bench import Bench
    from acp_tui.doctor.suite.client import ObservedTurn
    from acp_tui.session.record import Record

MAX_FAULTS = 6
"""How many kinds of faults the detail of a check lists."""


@dataclass(frozen=True)
class Observed:
    """A check that fails if `doctor` has found a violation in the messages of all other checks.

    It passes if none of them was found and one of the messages `seen` has been received: names of methods,
    kinds of updates, or `answer:` with the method of a request. Without names, any message will do.
    """

    violations: tuple[str, ...]
    seen: tuple[str, ...] = ()
    by_session: bool = False
    turns: tuple[str, ...] = ()
    """The purposes of prompts that make the agent send such messages."""
    first: Callable[[Bench], Awaitable[None]] | None = None
    """Another check that makes the agent send them. If it raises `NotOffered`, so does this one."""

    async def __call__(self, bench: Bench) -> None:
        if self.first is not None:
            with suppress(Failed, NotSeen):
                await self.first(bench)
        await run_turns(bench, self.turns)
        found = [one for one in bench.violations(by_session=self.by_session) if one.check in self.violations]
        if found:
            bench.evidence = [one.record for one in found if one.record is not None]
            raise Failed("\n".join(_fault_lines(found)))
        if self.seen and not any(name in self.seen for name in seen_messages(bench)):
            raise NotSeen(f"the agent sent no {' or '.join(self.seen).replace('answer:', 'answer to ')}")


def _fault_lines(found: Sequence[FoundViolation]) -> list[str]:
    """Return a line for each kind of fault, with its first example and how often it occurred."""
    kinds = Counter(one.sentence for one in found)
    lines = []
    for sentence, count in [*kinds.items()][:MAX_FAULTS]:
        example = next(one.example for one in found if one.sentence == sentence)
        times = f" ({count:,} times)" if count > 1 else ""
        lines.append(f"{sentence}{f': {example}' if example else ''}{times}")
    if len(kinds) > MAX_FAULTS:
        lines.append(f"and {len(kinds) - MAX_FAULTS:,} faults of other kinds")
    return lines


async def run_turns(bench: Bench, purposes: Iterable[str]) -> list[ObservedTurn]:
    """Return the turns for these purposes that could be run."""
    turns = []
    for purpose in purposes:
        with suppress(Failed, NotSeen):
            turns.append(await bench.turn(purpose))
    return turns


TOOL_TURNS = ("read", "edit", "command")
"""The purposes of prompts that make the agent use tools."""


def violation(name: str, *seen: str, first: Callable[[Bench], Awaitable[None]] | None = None) -> Observed:
    """Return a check for a violation on a connection as a whole."""
    return Observed((name,), seen, turns=("reply", "read"), first=first)


def tool_violation(name: str, *seen: str) -> Observed:
    """Return a check for a violation in a session with tool calls."""
    return Observed((name,), seen, by_session=True, turns=TOOL_TURNS)


def schema_of_answer(method: str, first: Callable[[Bench], Awaitable[None]] | None = None) -> Observed:
    """Return a check for the schema of the answers to a request; `first` makes the suite send it."""
    return Observed((f"schema:{method}",), (f"answer:{method}",), turns=("reply",), first=first)


def schema_of_call(*methods: str) -> Observed:
    """Return a check for the schema of the agent's own requests or notifications."""
    return Observed(tuple(f"schema:{method}" for method in methods), methods, turns=TOOL_TURNS)


def seen_messages(bench: Bench) -> Iterator[str]:
    """Yield the names of what was received, as `Observed` describes them."""
    for client in bench.clients:
        methods: dict[Any, str] = {}
        for record in client.records:
            frame = record.frame
            if not isinstance(frame, dict):
                continue
            identity = frame.get("id")
            method = frame.get("method")
            if record.direction == "sent" and isinstance(method, str) and isinstance(identity, (int, str)):
                methods[identity] = method
            elif record.direction == "received" and isinstance(method, str):
                yield method
                yield update_kind(record)
            elif record.direction == "received" and isinstance(identity, (int, str)) and "error" not in frame:
                yield f"answer:{methods.get(identity, '')}"
            elif record.direction == "received" and "error" in frame:
                yield "error"


def update_kind(record: Record) -> str:
    """Return the kind of a `session/update`; empty for other messages."""
    params = record.frame.get("params") if isinstance(record.frame, dict) else None
    update = params.get("update") if isinstance(params, dict) else None
    return str(update.get("sessionUpdate")) if isinstance(update, dict) else ""


async def utf_8(bench: Bench) -> None:
    await run_turns(bench, ("reply",))
    for record in bench.received():
        if isinstance(record.frame, str) and "\ufffd" in record.frame:
            bench.evidence.append(record)
            raise Failed("a line on stdout is not valid UTF-8")
