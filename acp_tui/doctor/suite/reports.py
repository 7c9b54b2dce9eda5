"""The report of the suite: as JSON data, and from these as text or Markdown.

Details quote what the agent sent. `console` replaces control characters in text; for Markdown, this module
replaces them, and escapes markup.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from acp_tui.console import wrapped
from acp_tui.doctor.suite.runner import FAIL, STATUSES, Result
from acp_tui.session.safe_text import escape_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from acp_tui.config.agent_catalogue import Launch

FORMAT = "acp-tui-suite"
"""Says in a JSON report what it is; `--compare` accepts nothing else."""
VERSION = 1
_SYMBOLS = {"pass": "✓", "fail": "✗", "not offered": "–", "not seen": "?"}
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~&])")
_MAX_DETAIL = 1_000
_INDENT = " " * 17


def suite_report(
    launch: Launch, agent: Mapping[str, Any], results: Sequence[Result], evidence: str | None
) -> dict[str, Any]:
    """Return the report as JSON data.

    Args:
        launch: How the agent was started.
        agent: The result of `initialize`; empty if there was none.
        results: The outcomes of the checks.
        evidence: The folder with the messages that each check has seen, if they were written.
    """
    counts = Counter(result.status for result in results)
    info = agent.get("agentInfo")
    return {
        "report": FORMAT,
        "version": VERSION,
        "command": shlex.join(launch.command),
        "agent": {
            "name": info.get("name") if isinstance(info, dict) else None,
            "version": info.get("version") if isinstance(info, dict) else None,
            "protocolVersion": agent.get("protocolVersion"),
        },
        "counts": {status: counts[status] for status in STATUSES},
        "evidence": evidence,
        "checks": [
            {
                "group": result.check.group,
                "name": result.check.name,
                "status": result.status,
                "detail": result.detail,
                "seconds": round(result.seconds, 3),
                "sentence": result.check.sentence,
                "page": result.check.address,
            }
            for result in results
        ],
    }


def text_lines(report: Mapping[str, Any]) -> list[str]:
    """Return the report as lines to print: groups, a line for each check, and the counts."""
    lines: list[str] = [*wrapped(f"{_title(report)}: {report['command']}")]
    group = None
    for check in report["checks"]:
        if check["group"] != group:
            group = check["group"]
            lines += ["", f"{group[0].upper()}{group[1:]}"]
        lines.append(f"  {_SYMBOLS[check['status']]} {check['status']:11}  {check['name']}")
        for line in _details(check):
            lines += wrapped(line, _INDENT)
        if check["status"] == FAIL:
            lines += wrapped(f"“{check['sentence']}” {check['page']}", _INDENT)
    lines += ["", _counts(report)]
    if failed := [check["name"] for check in report["checks"] if check["status"] == FAIL]:
        lines += wrapped(f"Failed: {', '.join(failed)}")
    if report["evidence"]:
        lines += wrapped(f"The messages of each check are in {report['evidence']}")
    return lines


def markdown_lines(report: Mapping[str, Any]) -> list[str]:
    """Return the report as Markdown that can be pasted into an issue: failures first, then a table of all."""
    lines = [f"## ACP conformance: {_escape(_title(report))}", "", _escape(_counts(report)), ""]
    failures = [check for check in report["checks"] if check["status"] == FAIL]
    for check in failures:
        lines += [
            f"- **{_escape(check['name'])}**: {'<br>'.join(map(_escape, _details(check)))}",
            f"  > {_escape(check['sentence'])} ([specification]({check['page']}))",
        ]
    lines += ["", "<details><summary>All checks</summary>", "", "| group | check | status | why |"]
    lines += ["| --- | --- | --- | --- |"]
    for check in report["checks"]:
        cells = [_escape(check[column]) for column in ("group", "name", "status")]
        lines.append(f"| {' | '.join(cells)} | {'<br>'.join(map(_escape, _details(check)))} |")
    return [*lines, "", "</details>"]


def _details(check: Mapping[str, Any]) -> list[str]:
    """Return the detail of a check by lines: one for each fault."""
    return str(check["detail"])[:_MAX_DETAIL].split("\n")


def _title(report: Mapping[str, Any]) -> str:
    agent = report["agent"]
    return " ".join(str(agent[key]) for key in ("name", "version") if agent[key]) or "Agent without a name"


def _counts(report: Mapping[str, Any]) -> str:
    return ", ".join(f"{count} {status}" for status, count in report["counts"].items())


def _escape(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", escape_line(text))
