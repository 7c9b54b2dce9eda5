"""Protocol violations of an agent: messages that do not match the schema, and faulty behaviour.

Most agents violate the protocol somewhere and still work well, so violations count as a failure only with
`acp-tui doctor --strict`. Each violation has the name of its check, for people who write agents.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from acp_tui.doctor.behaviour_check import BehaviourCheck
from acp_tui.doctor.schema_check import schema_violations
from acp_tui.session.json_depth import MAX_DEPTH, exceeds_depth, limit_depth
from acp_tui.session.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Violation:
    """One kind of violation and how often it was seen."""

    check: str  # e.g. `schema:session/update` or `tool-update-unannounced`
    sentence: str
    count: int = 1
    example: str | None = None  # from the first violation of this kind


def find_violations(records: Iterable[Record]) -> list[Violation]:
    """Return the violations in what the agent sent, in the order in which each was first seen.

    A message that could not be checked is also reported as a violation.
    """
    found: dict[tuple[str, str], Violation] = {}

    def add(check: str, sentence: str, example: str | None = None) -> None:
        if known := found.get((check, sentence)):
            known.count += 1
        else:
            found[check, sentence] = Violation(check, sentence, example=example)

    behaviour = BehaviourCheck(add)
    methods: dict[object, str] = {}  # of our pending requests, by id

    def check_schema(record: Record) -> None:
        for violation in schema_violations(record.frame, methods):
            add(violation.check, violation.sentence, violation.example)

    def attempt(check: Callable[[Record], None], record: Record) -> None:
        """Run a check. If the check raises an error because of a bug, report the error as a violation."""
        try:
            check(record)
        except Exception:
            _log.exception("Could not check a message from the agent")
            add("check-failed", "acp-tui could not check a message; see its log", str(record.frame)[:200])

    for record in records:
        if record.direction == "sent" and isinstance(record.frame, dict) and "method" in record.frame:
            methods[record.frame.get("id")] = record.frame["method"]
        elif record.direction == "received":
            if exceeds_depth(record.frame):
                add("deep-nesting", f"a message is nested more than {MAX_DEPTH} levels deep")
                record = Record(record.at, record.direction, limit_depth(record.frame))
            attempt(check_schema, record)
        attempt(behaviour.check, record)
    behaviour.finish()
    return list(found.values())
