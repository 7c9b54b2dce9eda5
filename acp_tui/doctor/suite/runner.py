"""Runs the checks one after the other, and writes down what each has seen."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.config.own_files import open_own
from acp_tui.config.paths import private_directory
from acp_tui.doctor.suite.check_table import CHECKS, Check
from acp_tui.doctor.suite.client import Failed, NotOffered, NotSeen
from acp_tui.doctor.suite.observed import Observed
from acp_tui.errors import UsageError, os_errors_reported
from acp_tui.store.redaction import Redactor
from acp_tui.store.wire_log import WireLog

if TYPE_CHECKING:
    from acp_tui.doctor.suite.bench import Bench
    from acp_tui.session.record import Record

PASS, FAIL, NOT_OFFERED, NOT_SEEN = "pass", "fail", "not offered", "not seen"
STATUSES = (PASS, FAIL, NOT_OFFERED, NOT_SEEN)
CHECK_TIMEOUTS = 6
"""A check may take this many times the time for one answer."""
_log = logging.getLogger(__name__)


@dataclass
class Result:
    """The outcome of one check."""

    check: Check
    status: str
    detail: str = ""
    """Why, in a sentence or clause; empty if the check passed. Can contain text of the agent."""
    evidence: list[Record] = field(default_factory=list)
    """The messages that the check has seen, and those that set up their connections."""
    seconds: float = 0.0
    """How long the check took."""


def select_checks(names: Sequence[str]) -> list[Check]:
    """Return the checks with these names or of these groups; all if there are none. Raises `UsageError`."""
    known = {check.name for check in CHECKS} | {check.group for check in CHECKS}
    if unknown := [name for name in names if name not in known]:
        groups = ", ".join(dict.fromkeys(check.group for check in CHECKS))
        raise UsageError(f"No check and no group is called {unknown[0]!r}. Groups: {groups}.")
    return [check for check in CHECKS if not names or check.name in names or check.group in names]


async def run_checks(
    bench: Bench, checks: Sequence[Check], progress: Callable[[int, Check], None]
) -> list[Result]:
    """Run checks and return their results in the order of the table.

    The checks that watch the messages of the others come last. `progress` is called before each check with
    the number of checks that are done.
    """
    results: dict[str, Result] = {}
    in_turn = sorted(checks, key=lambda check: check.last or isinstance(check.run, Observed))
    for done, check in enumerate(in_turn):
        progress(done, check)
        bench.begin_check()
        began = time.monotonic()
        status, detail = await _outcome(bench, check)
        seconds = time.monotonic() - began
        results[check.name] = Result(check, status, detail, bench.evidence_in_context(), seconds)
    return [results[check.name] for check in checks]


async def _outcome(bench: Bench, check: Check) -> tuple[str, str]:
    limit = CHECK_TIMEOUTS * bench.timeout
    try:
        async with asyncio.timeout(limit):
            await check.run(bench)
    except Failed as failure:
        return FAIL, str(failure)
    except NotOffered as reason:
        return NOT_OFFERED, str(reason)
    except NotSeen as reason:
        return NOT_SEEN, str(reason)
    except TimeoutError:
        return NOT_SEEN, f"the check took longer than {limit:g} s; use --timeout"
    except (
        LookupError,
        TypeError,
        ValueError,
        AttributeError,
    ):  # an answer of a shape that is reported elsewhere
        _log.exception("The check %s could not be finished", check.name)
        return NOT_SEEN, "an answer of the agent could not be understood; see the checks of its schema"
    return PASS, ""


def write_evidence(results: Sequence[Result], folder: Path) -> None:
    """Write the messages that each check has seen into `folder/NAME.jsonl`, in the format of a session's log.

    There is no file for a check that has seen nothing in particular. Secrets are removed as in a log. Raises
    `UserError`.
    """
    with os_errors_reported(f"The evidence cannot be written to {folder}"):
        private_directory(folder)
        for result in results:
            if not result.evidence:
                continue
            file = open_own(folder / f"{result.check.name}.jsonl", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            problems: list[OSError | None] = []
            log = WireLog(file, redactor=Redactor(), on_error=problems.append)
            for record in result.evidence:
                log.append(record.at, record.direction, record.frame)
            os.close(file)
            if problems and problems[0] is not None:
                raise problems[0]
