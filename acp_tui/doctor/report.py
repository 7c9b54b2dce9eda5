"""The report of `doctor`: as JSON data, and from these as lines to print."""

from __future__ import annotations

import logging
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from acp_tui.console import labelled, pluralize, wrapped
from acp_tui.doctor.behaviour_check import AGENT_METHODS, CLIENT_ONLY_METHODS, BehaviourCheck
from acp_tui.entry_labels import call_title
from acp_tui.protocol.json_rpc import SHORTENED
from acp_tui.protocol.translator import fold
from acp_tui.protocol.v2 import VERSION as VERSION_2
from acp_tui.session.record import Record
from acp_tui.session.safe_text import MAX_DEPTH, exceeds_depth, limit_depth
from acp_tui.session.state import (
    Agent,
    AgentMessage,
    ConfigOption,
    Notice,
    Permission,
    Session,
    Thought,
    ToolCall,
)
from acp_tui.wire.schema_check import schema_violations

if TYPE_CHECKING:
    from acp_tui.controller import Conversation


_log = logging.getLogger(__name__)
MAX_STDERR_LINES = 10
"""The maximum number of lines of the agent's stderr in the report after a failure."""
NONE = "none"
MISSING_FRAMES = ("Recording paused", "Recording resumed", "Recording stopped", "The log could not keep up")
"""How the notices begin that say that messages are missing in a log."""


@dataclass(slots=True)
class Violation:
    """One kind of violation and how often it was seen."""

    check: str  # e.g. `schema:session/update` or `tool-update-unannounced`
    sentence: str
    count: int = 1
    example: str | None = None  # from the first violation of this kind


class FoundViolation(NamedTuple):
    """One violation, and the record that shows it; None if it took the whole conversation to find it."""

    check: str
    sentence: str
    example: str | None
    record: Record | None


def find_violations(records: Iterable[Record]) -> list[Violation]:
    """Return the violations in what the agent sent, in the order in which each was first seen."""
    found: dict[tuple[str, str], Violation] = {}
    for check, sentence, example, _ in iterate_violations(records):
        if known := found.get((check, sentence)):
            known.count += 1
        else:
            found[check, sentence] = Violation(check, sentence, example=example)
    return list(found.values())


def iterate_violations(records: Iterable[Record]) -> Iterator[FoundViolation]:
    """Yield every violation in what the agent sent.

    A message that could not be checked is also reported as a violation.
    """
    found: list[FoundViolation] = []
    record: Record | None = None  # the current one

    def add(check: str, sentence: str, example: str | None = None) -> None:
        if record is not None and isinstance(record.frame, dict) and SHORTENED in record.frame:
            return  # the fault may be in what was not recorded
        found.append(FoundViolation(check, sentence, example, record))

    behaviour = BehaviourCheck(add)
    methods: dict[object, str] = {}  # of our pending requests, by id

    def check_schema(record: Record) -> None:
        for violation in schema_violations(record.frame, methods, behaviour.version):
            add(violation.check, violation.sentence, violation.example)

    def attempt(check: Callable[[Record], None], record: Record) -> None:
        """Run a check. If the check raises an error because of a bug, report the error as a violation."""
        try:
            check(record)
        except Exception:
            _log.exception("Could not check a message from the agent")
            add("check-failed", "acp-tui could not check a message; see its log", str(record.frame)[:200])

    for record in records:
        checked = record
        if record.direction == "client" and record.frame.get("event") == "agent_started":
            behaviour.finish()
            behaviour = BehaviourCheck(add)  # of the new connection
            methods.clear()
        if record.direction == "sent" and isinstance(record.frame, dict) and "method" in record.frame:
            methods[record.frame.get("id")] = record.frame["method"]
        elif record.direction == "received":
            if exceeds_depth(record.frame):
                add("deep-nesting", f"a message is nested more than {MAX_DEPTH} levels deep")
                checked = Record(record.at, record.direction, limit_depth(record.frame))
            behaviour.negotiate(checked.frame)
            attempt(check_schema, checked)
        attempt(behaviour.check, checked)
        yield from found
        found.clear()
    record = None
    behaviour.finish()
    yield from found


def build_report(
    conversation: Conversation,
    records: Sequence[Record],
    seconds: Mapping[str, float],
    *,
    failure: str | None,
) -> dict[str, Any]:
    """Return the report on an agent that has exited.

    Args:
        conversation: The conversation with the agent.
        records: Everything that was sent and received.
        seconds: The duration of each step that succeeded: `initialize`, `session`, `turn`.
        failure: Why the run failed; None if it did not.
    """
    session = conversation.session
    process = session.process
    deviations = find_violations(records)
    if process and process.outlived_input:
        sentence = "the agent did not exit when its stdin was closed, and had to be ended"
        deviations.append(Violation("outlives-its-input", sentence))
    return {
        "started": process is not None and (process.pid is not None or bool(process.command)),
        "agent": _agent(session.agent, records),
        "command": shlex.join(conversation.launch.command),
        "cwd": conversation.launch.session_folder(str(conversation.options.cwd)),
        "seconds": {name: round(value, 3) for name, value in seconds.items()},
        **_session_offers(session),
        "extensions": _extensions(records),
        "turn": _turn(session, conversation.options.policy) if "turn" in seconds else None,
        "deviations": [asdict(one) for one in deviations],
        "error": failure,
        "stderr": process.stderr_tail[-MAX_STDERR_LINES:] if process and failure else [],
        "log": conversation.log_path,
    }


def build_log_report(records: Sequence[Record], log: str, problems: Sequence[str]) -> dict[str, Any]:
    """Return the report on what was recorded. `problems` are those of reading the log."""
    session = fold(records)
    process = session.process
    said_something = any(record.direction == "received" for record in records)
    notices = [entry.text for entry in session.entries if isinstance(entry, Notice)]
    return {
        "started": process is not None or said_something,
        "agent": _agent(session.agent, records),
        "command": shlex.join(process.command) if process else None,
        "cwd": session.cwd or (process.cwd if process else None),
        "seconds": _recorded_seconds(records),
        **_session_offers(session),
        "extensions": _extensions(records),
        "turn": None,
        "recording": {
            "sent": sum(record.direction == "sent" for record in records),
            "received": sum(record.direction == "received" for record in records),
            "sessions": _recorded_sessions(records),
            "turns": len(session.prompts),
            "shortened": sum(isinstance(one.frame, dict) and SHORTENED in one.frame for one in records),
            "notices": [*problems, *(text for text in notices if text.startswith(MISSING_FRAMES))],
        },
        "deviations": [asdict(one) for one in find_violations(records)],
        "error": None if said_something else "The log contains no messages from an agent.",
        "stderr": process.stderr_tail[-MAX_STDERR_LINES:] if process and not said_something else [],
        "log": log,
    }


def _recorded_seconds(records: Sequence[Record]) -> dict[str, float]:
    """Return how long the first answers to `initialize` and `session/new` took, in seconds."""
    names = {"initialize": "initialize", "session/new": "session"}
    sent: dict[Any, tuple[str, float]] = {}
    found: dict[str, float] = {}
    for record in records:
        frame = record.frame
        identity = frame.get("id") if isinstance(frame, dict) else None
        if not isinstance(identity, int | str):
            continue
        if record.direction == "sent" and (name := names.get(str(frame.get("method")))):
            sent[identity] = name, record.at
        elif record.direction == "received" and "method" not in frame and identity in sent:
            name, at = sent.pop(identity)
            found.setdefault(name, round(record.at - at, 3))
    return found


def _recorded_sessions(records: Sequence[Record]) -> int:
    """Return the number of sessions that the agent created or was prompted in."""
    found = set()
    for record in records:
        frame = record.frame if isinstance(record.frame, dict) else {}
        is_prompt = record.direction == "sent" and frame.get("method") == "session/prompt"
        part = frame.get("params") if is_prompt else frame.get("result")
        if isinstance(part, dict) and isinstance(name := part.get("sessionId"), str):
            found.add(name)
    return len(found)


def _agent(agent: Agent | None, records: Iterable[Record]) -> dict[str, Any] | None:
    if agent is None:
        return None
    return {
        "name": agent.name,
        "title": agent.title,
        "version": agent.version,
        "protocolVersion": agent.protocol_version,
        "requestedVersion": _requested_version(records),
        "capabilities": limit_depth(agent.capabilities),
        "customCapabilities": limit_depth(agent.custom_capabilities),
        "authMethods": [
            {"id": method.id, "name": method.name, "type": method.kind} for method in agent.auth_methods
        ],
    }


def _requested_version(records: Iterable[Record]) -> Any:
    """Return the version of the protocol that the agent was asked for first; None if it was not asked."""
    for record in records:
        frame = record.frame
        if record.direction == "sent" and isinstance(frame, dict) and frame.get("method") == "initialize":
            params = frame.get("params")
            return params.get("protocolVersion") if isinstance(params, dict) else None
    return None


def _extensions(records: Sequence[Record]) -> list[dict[str, Any]]:
    """Return the messages of the agent that the protocol does not define, with how often each was sent."""
    counts: Counter[tuple[str, str]] = Counter()
    for record in records:
        frame = record.frame
        method = frame.get("method") if record.direction == "received" and isinstance(frame, dict) else None
        if isinstance(method, str) and method not in AGENT_METHODS | CLIENT_ONLY_METHODS:
            counts[method, "notification" if frame.get("id") is None else "request"] += 1
    return [{"method": method, "kind": kind, "count": count} for (method, kind), count in counts.items()]


def _session_offers(session: Session) -> dict[str, Any]:
    return {
        "sessionId": session.session_id,
        "modes": {
            "current": session.mode,
            "available": [{"id": mode.id, "name": mode.name} for mode in session.modes],
        },
        "models": {
            "current": session.model,
            "available": [{"id": model.value, "name": model.name} for model in session.models],
        },
        "configOptions": [_option(option) for option in session.config_options],
        "commands": [
            {"name": command.name, "description": command.description, "hint": command.hint}
            for command in session.commands
        ],
    }


def _option(option: ConfigOption) -> dict[str, Any]:
    return {
        "id": option.id,
        "name": option.name,
        "type": option.kind,
        "category": option.category,
        "current": option.current,
        "values": [choice.value for choice in option.choices],
    }


def _turn(session: Session, policy: str) -> dict[str, Any]:
    rejected = {
        entry.call_id: f'policy "{policy}"' if entry.by == "policy" else "a rule"
        for entry in session.entries
        if isinstance(entry, Permission) and entry.by in ("policy", "rule") and _is_rejected(entry)
    }
    entries = [entry for entry in session.entries if entry.turn == session.turn]
    return {
        "stopReason": session.stop_reason,
        "characters": sum(len(entry.text) for entry in entries if isinstance(entry, AgentMessage)),
        "thoughts": sum(isinstance(entry, Thought) for entry in entries),
        "toolCalls": [
            {
                "title": call_title(entry, session.cwd or ""),
                "kind": entry.kind,
                "status": entry.status,
                "rejectedBy": rejected.get(entry.call_id),
            }
            for entry in entries
            if isinstance(entry, ToolCall) and not entry.served
        ],
        "used": session.usage.used,
        "size": session.usage.size,
    }


def _is_rejected(permission: Permission) -> bool:
    option = permission.option
    return permission.outcome == "cancelled" or (option is not None and option.kind.startswith("reject"))


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
    process = [
        (name, report[key]) for name, key in (("command", "command"), ("directory", "cwd")) if report[key]
    ]
    methods = {"initialize": "initialize", "session": "session/new"}
    answers = [f"{method} after {seconds[key]:.2f} s" for key, method in methods.items() if key in seconds]
    if answers:
        process.append(("answered", ", ".join(answers)))
    if report["log"]:
        process.append(("log", report["log"]))
    if recording := report.get("recording"):
        yield "Recording", [*process, *_recording(recording)]
    else:
        yield "Started" if report["started"] else "Not started", process
    if agent is None:
        return
    names = [str(agent[key]) for key in ("title", "name", "version") if agent[key]]
    yield (
        "Agent",
        [
            ("name", " · ".join(dict.fromkeys(names)) or "not given"),
            ("protocol", _version(agent)),
            ("capabilities", ", ".join(_capabilities(agent["capabilities"])) or NONE),
            *([("custom", ", ".join(custom))] if (custom := agent["customCapabilities"]) else []),
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
        yield "Turn", _turn_lines(report["turn"], seconds["turn"])


def _recording(recording: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "messages", f"{recording['sent']:,} to the agent, {recording['received']:,} from it"
    yield "sessions", f"{recording['sessions']:,}, with {pluralize(recording['turns'], 'prompt')}"
    if recording["shortened"]:
        yield "not checked", f"{pluralize(recording['shortened'], 'long message')}, not recorded as a whole"
    for sentence in recording["notices"]:
        yield "incomplete", sentence


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


def _turn_lines(turn: dict[str, Any], seconds: float) -> list[tuple[str, str]]:
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


def _version(agent: Mapping[str, Any]) -> str:
    spoken, requested = agent["protocolVersion"], agent["requestedVersion"]
    refused = requested == VERSION_2 and spoken != VERSION_2
    return f"version {spoken}" + (
        f" (asked for {VERSION_2}, which the agent does not speak)" if refused else ""
    )


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
