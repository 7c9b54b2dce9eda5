"""The report of `doctor` as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_tui.console.quantities import pluralize
from acp_tui.console.tables import labelled, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator

NONE = "none"


def report_lines(report: dict[str, Any]) -> list[str]:
    """Return the report as lines to print, with control characters replaced."""
    lines: list[str] = []
    for title, fields in _sections(report):
        lines += ["", title, *labelled(fields, "  ", commands=("command", "log"))]
    lines += ["", "Protocol violations"]
    lines += _violations(report["deviations"]) or [f"  {NONE}"]
    if report["error"]:
        lines += ["", *wrapped(report["error"])]
        lines += [line for text in report["stderr"] for line in wrapped(text, "  │ ")]
    return lines[1:]


def _sections(report: dict[str, Any]) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    agent, seconds = report["agent"], report["seconds"]
    process = [("command", report["command"]), ("directory", report["cwd"])]
    methods = {"initialize": "initialize", "session": "session/new"}
    answers = [f"{method} after {seconds[key]:.2f} s" for key, method in methods.items() if key in seconds]
    if answers:
        process.append(("answered", ", ".join(answers)))
    if report["log"]:
        process.append(("log", report["log"]))
    yield "Started" if report["started"] else "Not started", process
    if agent is None:
        return
    names = [str(agent[key]) for key in ("title", "name", "version") if agent[key]]
    yield (
        "Agent",
        [
            ("name", " · ".join(dict.fromkeys(names)) or "not given"),
            ("protocol", f"version {agent['protocolVersion']}"),
            ("capabilities", ", ".join(_capabilities(agent["capabilities"])) or NONE),
            ("sign-in", _sign_in_methods(agent["authMethods"]) or NONE),
        ],
    )
    if report["sessionId"] is not None:
        yield "Session", _session(report)
    if report["extensions"]:
        yield (
            "Extensions",
            [(one["method"], pluralize(one["count"], one["kind"])) for one in report["extensions"]],
        )
    if report["turn"] is not None:
        yield "Turn", _turn(report["turn"], seconds["turn"])


def _session(report: dict[str, Any]) -> list[tuple[str, str]]:
    fields = []
    for label in ("modes", "models"):
        offered = report[label]
        if offered["available"]:
            fields.append(
                (label, _choices([item["id"] for item in offered["available"]], offered["current"]))
            )
    for option in report["configOptions"]:
        values = option["values"] or ["on", "off"]
        current = {True: "on", False: "off"}.get(option["current"], option["current"])
        fields.append((option["id"], _choices(values, current)))
    names = " ".join(f"/{command['name']}" for command in report["commands"])
    fields.append(("commands", f"{len(report['commands'])}: {names}" if names else NONE))
    return fields


def _turn(turn: dict[str, Any], seconds: float) -> list[tuple[str, str]]:
    calls = [f"{call['title'] or call['kind']} ({_outcome(call)})" for call in turn["toolCalls"]]
    fields = [
        ("ended", f"{turn['stopReason'] or 'with an error'} after {seconds:.1f} s"),
        ("output", f"{pluralize(turn['characters'], 'character')}, {pluralize(turn['thoughts'], 'thought')}"),
        ("tool calls", "; ".join(calls) or NONE),
    ]
    if turn["used"] is not None:
        fields.append(("context", f"{turn['used']} of {turn['size'] or '?'} tokens"))
    return fields


def _outcome(call: dict[str, Any]) -> str:
    return f"rejected by {call['rejectedBy']}" if call["rejectedBy"] else str(call["status"])


def _capabilities(capabilities: dict[str, Any], path: str = "") -> Iterator[str]:
    """Yield the names of the supported capabilities, such as `promptCapabilities.image`.

    Within a group of capabilities, an empty object means that the capability is supported.
    """
    for name, value in capabilities.items():
        below = f"{path}{name}"
        if name == "_meta" or value is None or value is False:
            continue
        if isinstance(value, dict) and (value or not path):
            yield from _capabilities(value, f"{below}.")
        else:
            yield below


def _choices(values: list[str], current: object) -> str:
    """Return the values as text, with brackets around the current value."""
    return ", ".join(f"[{value}]" if value == current else value for value in map(str, values))


def _sign_in_methods(methods: list[dict[str, Any]]) -> str:
    return "; ".join(f"{method['id']}: {method['name']} ({method['type']})" for method in methods)


def _violations(violations: list[dict[str, Any]]) -> list[str]:
    lines: list[str] = []
    for violation in violations:
        times = f" ({violation['count']} times)" if violation["count"] > 1 else ""
        lines += [f"  {violation['check']}", *wrapped(f"{violation['sentence']}{times}", "    ")]
        if violation["example"]:
            lines += wrapped(f"example: {violation['example']}", "    ")
    return lines
