"""Compares a report of the suite with an earlier one: what became better or worse, and what is new."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from acp_tui.console import aligned, pluralize, wrapped
from acp_tui.doctor.suite.reports import FORMAT, VERSION
from acp_tui.doctor.suite.runner import FAIL, PASS, STATUSES
from acp_tui.errors import UsageError, os_errors_reported

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

KINDS = ("worse", "better", "new", "different")
"""The kinds of changes, in the order in which they are listed. `different` is neither better nor worse."""


def read_report(file: Path) -> dict[str, Any]:
    """Read what `--json` has printed. Raises `UserError`."""
    with os_errors_reported(f"{file} cannot be read"):
        data = file.read_bytes()
    try:
        report = json.loads(data)
        is_report = report["report"] == FORMAT and all(
            isinstance(check["name"], str) and check["status"] in STATUSES for check in report["checks"]
        )
    except (ValueError, LookupError, TypeError, RecursionError):
        is_report = False
    if not is_report:
        raise UsageError(f"{file} is not a report of the suite; write one with --suite --json.")
    if report.get("version") != VERSION:
        raise UsageError(f"{file} was written by another version of acp-tui.")
    checked: dict[str, Any] = report
    return checked


def compare_reports(earlier: Mapping[str, Any], report: Mapping[str, Any]) -> dict[str, Any]:
    """Return the changes since an earlier report as JSON data: a list for each of `KINDS`, and two counts."""
    before = {check["name"]: check["status"] for check in earlier["checks"]}
    after = {check["name"]: check["status"] for check in report["checks"]}
    changes: dict[str, Any] = {kind: [] for kind in KINDS}
    for name, status in after.items():
        if before.get(name) != status:
            change = {"name": name, "before": before.get(name), "after": status}
            changes[_kind(before.get(name), status)].append(change)
    changes["unchanged"] = sum(before.get(name) == status for name, status in after.items())
    changes["notRun"] = sum(name not in after for name in before)
    return changes


def _kind(before: str | None, after: str) -> str:
    if before is None:
        return "new"
    if PASS in (before, after):
        return "better" if after == PASS else "worse"
    return "worse" if after == FAIL else "different"


def comparison_lines(changes: Mapping[str, Any], file: Path) -> list[str]:
    """Return the changes as lines to print. `file` is the earlier report."""
    rows = [
        (
            f"  {kind}",
            change["name"],
            f"{change['before']} → {change['after']}" if change["before"] else change["after"],
        )
        for kind in KINDS
        for change in changes[kind]
    ]
    rest = f"{pluralize(changes['unchanged'], 'check')} unchanged"
    if changes["notRun"]:
        rest += f", {changes['notRun']:,} of the earlier checks not run"
    return [*wrapped(f"Compared with {file}"), *aligned(rows), *wrapped(rest, "  ")]
