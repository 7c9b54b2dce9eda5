"""The requests and notifications that a client can send to an agent, with skeletons of their params.

Names, params and types come from the protocol's schema. Which capability allows a method is written here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from acp_tui.protocol.client_calls import STEERING
from acp_tui.wire.schema_check import VERSIONS, Fault, Version, definitions, faults_of, referenced

if TYPE_CHECKING:
    from acp_tui.session.state import Agent, Session

    Schema = dict[str, Any]

ALWAYS_OFFERED = frozenset({"session/new", "session/prompt", "session/cancel", "$/cancel_request"})
SET_MODEL = "session/set_model"
"""A method that is no longer in the schema, but still offered by agents."""
_CAPABILITIES: dict[str, tuple[str, ...]] = {
    "session/load": ("loadSession",),
    "session/set_title": ("sessionCapabilities", "title"),
    "session/unarchive": ("sessionCapabilities", "archive"),
    "logout": ("auth", "logout"),
    "auth/logout": ("auth", "logout"),
    "auth/status": ("auth", "status"),
    "mcp/message": ("mcpCapabilities", "acp"),
}
"""The capabilities of methods whose names do not say it."""


class ClientMethod(NamedTuple):
    """A method that a client can call."""

    name: str
    is_request: bool
    is_offered: bool = True  # the agent's capabilities allow it


@cache
def _schemas(version: Version | None) -> dict[tuple[str, bool], Schema]:
    """Return the schemas of the params of what a client sends, by method and whether that is a request."""
    if version is None:
        return {}
    return {
        (schema["x-method"], name.endswith("Request")): schema
        for name, schema in definitions(version).items()
        if schema.get("x-side") in ("agent", "protocol") and name.endswith(("Request", "Notification"))
    }


def client_methods(session: Session) -> list[ClientMethod]:
    """Return the methods of the schema: first those that the agent offers, then the others."""
    named = _schemas(VERSIONS.get(session.dialect))
    found = [ClientMethod(name, is_request, _is_offered(name, session)) for name, is_request in named]
    if session.models:
        found.append(ClientMethod(SET_MODEL, True))
    if session.agent is not None and session.agent.can_steer:
        found.append(ClientMethod(STEERING, True))
    return sorted(found, key=lambda one: (not one.is_offered, one.name.startswith("$"), one.name))


def method_named(name: str, version: Version | None = 1) -> ClientMethod | None:
    """Return the method of the schema with this name; None if there is none."""
    for is_request in (True, False):
        if (name, is_request) in _schemas(version):
            return ClientMethod(name, is_request)
    return None


def _is_offered(name: str, session: Session) -> bool:
    agent = session.agent
    if name in ALWAYS_OFFERED:
        return True
    if name == "session/set_mode":
        return bool(session.modes)
    if name == "session/set_config_option":
        return bool(session.config_options)
    if agent is None or name == "initialize":  # done already
        return False
    if name in ("authenticate", "auth/login"):
        return bool(agent.auth_methods)
    return _can(agent, name)


def _can(agent: Agent, name: str) -> bool:
    if name in _CAPABILITIES:
        return agent.can(*_CAPABILITIES[name])
    group, _, action = name.partition("/")
    return agent.can("sessionCapabilities", action) if group == "session" else agent.can(group)


def params_faults(method: str, params: Any, *, is_request: bool, version: Version | None = 1) -> list[Fault]:
    """Return everything in params that the schema does not allow. Nothing is known about other methods.

    `version` is None for a version of the protocol without a schema.
    """
    schema = _schemas(version).get((method, is_request))
    if schema is None:
        return []
    # Params are optional in JSON-RPC: without any, only the required fields are missing.
    return faults_of(schema, {} if params is None else params)


def fault_sentence(method: str, fault: Fault) -> str:
    """Return a fault as a sentence, as `acp-tui doctor` has it for the agent's messages."""
    return f"{method}: {fault.path or 'params'} {fault.predicate}"


# --------------------------------------------------------------------------- the session's id

SESSION = "${SESSION}"
"""Stands for the id of the session in messages that are written before the id is known."""


def with_session(value: Any, session_id: str) -> Any:
    """Return a JSON value in whose strings the session's id replaces `SESSION`."""
    return _replaced(value, lambda text: text.replace(SESSION, session_id))


def without_session(value: Any, session_id: str | None) -> Any:
    """Return a JSON value in which `SESSION` replaces the strings that are the session's id."""
    return _replaced(value, lambda text: SESSION if text == session_id else text)


def _replaced(value: Any, replace: Callable[[str], str]) -> Any:
    match value:
        case str():
            return replace(value)
        case list():
            return [_replaced(item, replace) for item in value]
        case dict():
            return {name: _replaced(item, replace) for name, item in value.items()}
    return value


# --------------------------------------------------------------------------- skeletons


def skeleton(method: str, known: Mapping[str, Any], version: Version | None = 1) -> Any:
    """Return params with the required fields of a method. `known` has values by the names of fields."""
    if method == STEERING:
        return {"sessionId": known.get("sessionId", ""), "prompt": known.get("prompt", [])}
    if method == SET_MODEL:
        return {"sessionId": known.get("sessionId", ""), "modelId": known.get("modelId", "")}
    schemas = _schemas(version)
    schema = schemas.get((method, True)) or schemas.get((method, False))
    if schema is None:
        return {"sessionId": known["sessionId"]} if "sessionId" in known else {}
    return _example(schema, known)


def optional_fields(method: str, version: Version | None = 1) -> list[str]:
    """Return the names of the fields that a skeleton leaves out."""
    schemas = _schemas(version)
    schema = schemas.get((method, True)) or schemas.get((method, False)) or {}
    required = {*schema.get("required", ())}
    return [name for name in schema.get("properties", {}) if name not in required]


def known_values(session: Session, cwd: str) -> dict[str, Any]:
    """Return what skeletons are filled with: ids and choices of a session, by the names of fields."""
    values: dict[str, Any] = {
        "cwd": cwd,
        "protocolVersion": VERSIONS.get(session.dialect, 1),
        "mcpServers": [],
        "prompt": [{"type": "text", "text": ""}],
    }
    if session.session_id is not None:
        values["sessionId"] = session.session_id
    if other := next((mode.id for mode in session.modes if mode.id != session.mode), session.mode):
        values["modeId"] = other
    if session.models:
        values["modelId"] = session.model or session.models[0].value
    if session.config_options:
        option = session.config_options[0]
        values |= {"configId": option.id, "value": option.current}
        if isinstance(option.current, bool):
            values["type"] = "boolean"
    if session.agent is not None and session.agent.auth_methods:
        values["methodId"] = session.agent.auth_methods[0].id
    return values


def _example(schema: Schema, known: Mapping[str, Any]) -> Any:
    """Return a value that follows a schema as far as the schema says, with the required fields only."""
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    if "enum" in schema:
        return schema["enum"][0]
    if "$ref" in schema:
        return _example(referenced(schema), known)
    merged: dict[str, Any] = {}
    simple: Any = None
    parts = [_example(part, known) for part in (*schema.get("allOf", ()), *_first_member(schema, known))]
    for name in sorted(schema.get("required", ()), key=lambda name: name != "sessionId"):
        field = schema.get("properties", {}).get(name, {})
        merged[name] = known[name] if name in known and "const" not in field else _example(field, known)
    for value in parts:
        if isinstance(value, dict):
            merged |= value
        else:
            simple = value
    if merged or _type_of(schema) == "object":
        return merged
    return _EMPTY.get(_type_of(schema), simple)


_EMPTY: dict[str, Any] = {"string": "", "integer": 0, "number": 0, "boolean": False, "array": []}


def _type_of(schema: Schema) -> str:
    types = schema.get("type", "")
    return types if isinstance(types, str) else next((name for name in types if name != "null"), "")


def _first_member(schema: Schema, known: Mapping[str, Any]) -> list[Schema]:
    """Return the member of a union to use: the first whose fixed `type` is that of `known`, if any."""
    members = [one for key in ("oneOf", "anyOf") for one in schema.get(key, ()) if one.get("type") != "null"]
    wanted = known.get("type")
    agreeing = (
        one for one in members if one.get("properties", {}).get("type", {}).get("const", wanted) == wanted
    )
    return [one] if (one := next(agreeing, None)) is not None else members[:1]
