"""The report of `doctor` as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_tui.console.tables import labelled, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator

NONE = "none"


def as_text(report: dict[str, Any]) -> list[str]:
    """The lines to print; all texts are made safe on the way."""
    lines: list[str] = []
    for title, fields in _sections(report):
        lines += ["", title, *labelled(fields, "  ", commands=("command", "log"))]
    lines += ["", "Protocol violations"]
    lines += _deviations(report["deviations"]) or ["  none seen"]
    if report["error"]:
        lines += ["", *wrapped(report["error"])]
        lines += [line for said in report["stderr"] for line in wrapped(said, "  │ ")]
    return lines[1:]


def _sections(report: dict[str, Any]) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    agent, seconds = report["agent"], report["seconds"]
    started = [("command", report["command"]), ("folder", report["cwd"])]
    if "initialize" in seconds:
        started.append(("answered", f"initialize after {seconds['initialize']:.2f} s"))
    if "session" in seconds:
        started[-1] = ("answered", f"{started[-1][1]}, session/new after {seconds['session']:.2f} s")
    if report["log"]:
        started.append(("log", report["log"]))
    yield "Started" if report["started"] else "Not started", started
    if agent is None:
        return
    names = [str(agent[key]) for key in ("title", "name", "version") if agent[key]]
    yield (
        "Agent",
        [
            ("is", " · ".join(dict.fromkeys(names)) or "it does not say"),
            ("protocol", f"version {agent['protocolVersion']}"),
            ("can", ", ".join(_capabilities(agent["capabilities"])) or NONE),
            ("sign-in", _named(agent["authMethods"], "type") or NONE),
        ],
    )
    if report["sessionId"] is not None:
        yield "Session", _session(report)
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
        ("said", f"{turn['characters']} characters, {turn['thoughts']} thoughts"),
        ("tools", "; ".join(calls) or NONE),
    ]
    if turn["used"] is not None:
        fields.append(("context", f"{turn['used']} of {turn['size'] or '?'} tokens"))
    return fields


def _outcome(call: dict[str, Any]) -> str:
    return f"rejected by {call['rejectedBy']}" if call["rejectedBy"] else str(call["status"])


def _capabilities(capabilities: dict[str, Any], path: str = "") -> Iterator[str]:
    """The names of what is offered; an object counts as a yes, also when it is empty."""
    for name, value in capabilities.items():
        below = f"{path}{name}"
        if name == "_meta" or value is None or value is False:
            continue
        if isinstance(value, dict) and (value or not path):
            yield from _capabilities(value, f"{below}.")
        else:
            yield below


def _choices(values: list[str], current: object) -> str:
    return ", ".join(f"[{value}]" if value == current else value for value in map(str, values))


def _named(items: list[dict[str, Any]], extra: str) -> str:
    return "; ".join(f"{item['id']}: {item['name']} ({item[extra]})" for item in items)


def _deviations(found: list[dict[str, Any]]) -> list[str]:
    lines: list[str] = []
    for one in found:
        times = f" ({one['count']} times)" if one["count"] > 1 else ""
        lines += [f"  {one['check']}", *wrapped(f"{one['sentence']}{times}", "    ")]
        if one["example"]:
            lines += wrapped(f"for example: {one['example']}", "    ")
    return lines
