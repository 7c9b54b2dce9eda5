"""Checks of sessions, of the content of prompts, and of modes and options."""

from __future__ import annotations

import base64
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.doctor.behaviour_check import objects_in
from acp_tui.doctor.suite.bench import require_success
from acp_tui.doctor.suite.client import Failed, NotOffered, NotSeen
from acp_tui.doctor.suite.observed import run_turns, update_kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from acp_tui.doctor.suite.bench import Bench
    from acp_tui.doctor.suite.client import SuiteClient

STOP_REASONS = ("end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled")
WHERE = "where.txt"
"""A file in two folders, which tells in which of them the agent reads."""


# --------------------------------------------------------------------------- sessions


async def new_session(bench: Bench) -> None:
    client = await bench.client()
    await client.new_session(bench.folder("shared"))


async def ids_differ(bench: Bench) -> None:
    client, session = await bench.session()
    if await client.new_session(bench.folder("shared")) == session:
        raise Failed(f"two sessions have the id {session}")


async def cwd_is_used(bench: Bench) -> None:
    client = await bench.client()
    folder = bench.folder("elsewhere")
    (folder / WHERE).write_text("violet elephants\n", encoding="utf-8")
    session = await client.new_session(folder)
    turn = await client.run_turn(session, bench.prompt("read_relative"))
    paths = {text for frame in turn.received for text in _strings(frame) if text.endswith(f"/{WHERE}")}
    paths = {path for path in paths if path.startswith("/") and "\n" not in path and " " not in path}
    if wrong := [path for path in paths if Path(path).parent != folder]:
        raise Failed(f"the session's cwd is {folder}, but {WHERE} was looked for as {min(wrong)}")
    if not paths and "violet elephants" not in "".join(_strings(turn.received)):
        require_success(turn)
        raise NotSeen(f"the agent did not read {WHERE}")


async def stop_reason(bench: Bench) -> None:
    turn = await bench.good_turn("reply")
    if not isinstance(turn.stop_reason, str):
        raise Failed("the answer to session/prompt has no stopReason")
    if turn.stop_reason not in STOP_REASONS:
        raise Failed(f"the turn ended with {turn.stop_reason[:100]!r}, which is no StopReason")


async def next_prompt(bench: Bench) -> None:
    first = await bench.good_turn("reply")
    again = await first.client.run_turn(first.session, bench.prompt("reply"))
    require_success(again)


async def known_sessions(bench: Bench) -> None:
    """Check the session of all messages seen so far."""
    await run_turns(bench, ("reply",))
    seen = False
    for client in bench.clients:
        known = _known_sessions(client)
        for record in client.records:
            frame = record.frame if isinstance(record.frame, dict) else {}
            if record.direction != "received" or not isinstance(frame.get("method"), str):
                continue
            params = frame.get("params")
            named = params.get("sessionId") if isinstance(params, dict) else None
            seen = seen or named is not None
            if isinstance(named, str) and named not in known and not frame["method"].startswith("_"):
                bench.evidence.append(record)
                raise Failed(f"{frame['method']} is for the session {named}, which was never opened")
    if not seen:
        raise NotSeen("the agent sent nothing about a session")


def _known_sessions(client: SuiteClient) -> set[str]:
    """Return the sessions that were opened or loaded, and those of subagents."""
    known: set[str] = set()
    for record in client.records:
        frame = record.frame if isinstance(record.frame, dict) else {}
        params, result = frame.get("params"), frame.get("result")
        if record.direction == "sent" and isinstance(params, dict):
            known.add(str(params.get("sessionId")))
        elif isinstance(result, dict):
            known.add(str(result.get("sessionId")))
        elif update_kind(record) == "subagent_update":
            known.add(str(frame["params"]["update"].get("sessionId")))
    return known


async def additional_directories(bench: Bench) -> None:
    client = await bench.client()
    client.require("sessionCapabilities", "additionalDirectories")
    more = [str(bench.folder("additional"))]
    await client.new_session(bench.folder("shared"), additionalDirectories=more)


# --------------------------------------------------------------------------- prompt content

_PNG = "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR4nGP4z8CAFWEXHbQSACj/P8Fu7N9hAAAAAElFTkSuQmCC"


async def text(bench: Bench) -> None:
    await bench.good_turn("reply")


async def several_blocks(bench: Bench) -> None:
    await _accepts(bench, {"type": "text", "text": "\nThe end."})


async def resource_link(bench: Bench) -> None:
    file = bench.new_file()
    await _accepts(bench, {"type": "resource_link", "uri": file.as_uri(), "name": file.name})


async def annotated_text(bench: Bench) -> None:
    note = {"audience": ["assistant"], "priority": 0.5}
    await _accepts(bench, {"type": "text", "text": "\nThe end.", "annotations": note})


async def image(bench: Bench) -> None:
    block = {"type": "image", "mimeType": "image/png", "data": _PNG}
    await _accepts(bench, block, capability="image")


async def audio(bench: Bench) -> None:
    samples = bytes(1600)
    header = struct.pack("<4sI8sIHHIIHH4sI", b"RIFF", 36 + len(samples), b"WAVEfmt ", 16, 1, 1,
                         8000, 16000, 2, 16, b"data", len(samples))  # fmt: skip
    data = base64.b64encode(header + samples).decode()
    await _accepts(bench, {"type": "audio", "mimeType": "audio/wav", "data": data}, capability="audio")


async def embedded_text(bench: Bench) -> None:
    file = bench.new_file()
    resource = {"uri": file.as_uri(), "mimeType": "text/plain", "text": "one two three\n"}
    await _accepts(bench, {"type": "resource", "resource": resource}, capability="embeddedContext")


async def embedded_bytes(bench: Bench) -> None:
    resource = {"uri": (bench.folder("shared") / "a.png").as_uri(), "mimeType": "image/png", "blob": _PNG}
    await _accepts(bench, {"type": "resource", "resource": resource}, capability="embeddedContext")


async def _accepts(bench: Bench, block: dict[str, Any], *, capability: str = "") -> None:
    """Send the prompt for a reply with a block after it, and check that the agent takes it."""
    client, session = await bench.session()
    if capability:
        client.require("promptCapabilities", capability)
    turn = await client.run_turn(session, [{"type": "text", "text": bench.prompt("reply")}, block])
    require_success(turn)


# --------------------------------------------------------------------------- modes


async def current_mode(bench: Bench) -> None:
    modes = await _modes(bench)
    if (current := modes.get("currentModeId")) not in (ids := _ids(modes.get("availableModes"))):
        raise Failed(f"the current mode {current!r} is not among {', '.join(map(repr, ids))}")


async def mode_ids_differ(bench: Bench) -> None:
    _require_different(_ids((await _modes(bench)).get("availableModes")), "modes")


async def set_mode(bench: Bench) -> None:
    client = await bench.client()
    session = await client.new_session(bench.folder("shared"))
    modes = _modes_of(client.sessions[session])
    current = modes.get("currentModeId")
    for mode in [*[one for one in _ids(modes.get("availableModes")) if one != current][:1], current]:
        await client.request("session/set_mode", {"sessionId": session, "modeId": mode})
    await client.settle()


async def _modes(bench: Bench) -> dict[str, Any]:
    client, session = await bench.session()
    return _modes_of(client.sessions[session])


def _modes_of(opened: dict[str, Any]) -> dict[str, Any]:
    modes = opened.get("modes")
    if not isinstance(modes, dict):
        raise NotOffered("the agent offers no modes")
    return modes


# --------------------------------------------------------------------------- options


async def option_ids_differ(bench: Bench) -> None:
    options = await _options(bench)
    _require_different(_ids(options), "options")


async def option_values(bench: Bench) -> None:
    for option in await _options(bench):
        current = option.get("currentValue")
        if option.get("type") == "select" and current not in (values := _values(option)):
            raise Failed(f"the value {current!r} of {option.get('id')} is not among {values[:20]}")


async def option_defaults(bench: Bench) -> None:
    for option in await _options(bench):
        if option.get("currentValue") is None:
            raise Failed(f"the option {option.get('id')} has no currentValue")


async def set_option(bench: Bench) -> None:
    client, session, options = await _fresh_options(bench)
    for option in options:
        values = _values(option)
        other = [value for value in values if value != option.get("currentValue")]
        if option.get("type") == "select" and other:
            answer = await _set(client, session, option, other[-1])
            found = next((one for one in answer if one.get("id") == option.get("id")), {})
            before = option.get("currentValue")
            if found and found.get("currentValue") == before:  # a third value may be the nearest possible
                raise Failed(f"{option['id']} was set to {other[-1]!r}, but the answer says {before!r}")
            return
    raise NotOffered("no option has a second value")


async def set_option_answers_all(bench: Bench) -> None:
    client, session, options = await _fresh_options(bench)
    option = options[0]  # set to the value that it has, so that nothing else changes with it
    answer = await _set(client, session, option, option.get("currentValue"))
    if missing := [identity for identity in _ids(options) if identity not in _ids(answer)]:
        raise Failed(f"the answer to session/set_config_option lacks {', '.join(map(str, missing))}")


async def set_boolean(bench: Bench) -> None:
    client, session, options = await _fresh_options(bench)
    option = next((one for one in options if one.get("type") == "boolean"), None)
    if option is None:
        raise NotOffered("the agent offers no boolean options")
    value = not option.get("currentValue")
    answer = await _set(client, session, option, value)
    found = next((one for one in answer if one.get("id") == option.get("id")), {})
    if found.get("currentValue") is not value:
        raise Failed(f"{option['id']} was set to {value}, but the answer says {found.get('currentValue')!r}")


async def no_undeclared_booleans(bench: Bench) -> None:
    async with bench.connect({}) as client:
        session = await client.new_session(bench.folder("plain"))
        options = objects_in(client.sessions[session].get("configOptions"))
        if not options:
            raise NotOffered("the agent offers no options")
        if booleans := [one.get("id") for one in options if one.get("type") == "boolean"]:
            raise Failed(f"{booleans[0]} is boolean, although the client did not declare support")


async def _set(client: SuiteClient, session: str, option: dict[str, Any], value: Any) -> list[dict[str, Any]]:
    params = {"sessionId": session, "configId": option.get("id"), "value": value}
    if option.get("type") == "boolean":
        params["type"] = "boolean"
    answer = await client.request("session/set_config_option", params)
    options = answer.get("configOptions") if isinstance(answer, dict) else None
    if not isinstance(options, list):
        raise Failed("the answer to session/set_config_option has no configOptions")
    return objects_in(options)


async def _options(bench: Bench) -> list[dict[str, Any]]:
    client, session = await bench.session()
    return _options_of(client.sessions[session])


async def _fresh_options(bench: Bench) -> tuple[SuiteClient, str, list[dict[str, Any]]]:
    client = await bench.client()
    session = await client.new_session(bench.folder("shared"))
    return client, session, _options_of(client.sessions[session])


def _options_of(opened: dict[str, Any]) -> list[dict[str, Any]]:
    options = objects_in(opened.get("configOptions"))
    if not options:
        raise NotOffered("the agent offers no options")
    return options


def _values(option: dict[str, Any]) -> list[Any]:
    """Return the values of an option, also of those in groups."""
    choices = objects_in(option.get("options"))
    return [choice.get("value") for one in choices for choice in (objects_in(one.get("options")) or [one])]


def _ids(items: Any) -> list[Any]:
    return [item.get("id") for item in objects_in(items)]


def _require_different(ids: Sequence[Any], what: str) -> None:
    if not ids:
        raise NotOffered(f"the agent offers no {what}")
    if twice := [identity for identity in ids if ids.count(identity) > 1]:
        raise Failed(f"several {what} have the id {twice[0]!r}")


# --------------------------------------------------------------------------- all of them


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)
