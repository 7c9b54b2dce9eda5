"""Checks an agent's messages against the protocol's schema, using models of the SDK and of `newer_updates`.

The models are lenient: some wrong values fail validation, others are silently dropped or converted. So each
message that has a model is validated *and* compared with what the model kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import BaseModel

UNSTABLE_UPDATES = frozenset({"subagent_update", "state_update", "session_message", "session_message_chunk"})
"""Kinds of updates about subagents, from the unstable schema. They are not checked."""
UNSTABLE_FIELDS = frozenset({"update.name", "toolCall.name"})
"""Fields of the unstable schema that are not reported: agents use them, and acp-tui understands them."""


@dataclass(slots=True)
class SchemaViolation:
    """A violation of the schema in one message."""

    check: str
    sentence: str
    example: str | None = None


@cache
def _models() -> tuple[dict[str, type[BaseModel]], dict[str, type[BaseModel]]]:
    """Return the models of what an agent sends, by method: one dict for parameters, one for results."""
    from acp import schema

    calls: dict[str, type[BaseModel]] = {
        "session/update": schema.SessionNotification,
        "session/request_permission": schema.RequestPermissionRequest,
        "fs/read_text_file": schema.ReadTextFileRequest,
        "fs/write_text_file": schema.WriteTextFileRequest,
        "terminal/create": schema.CreateTerminalRequest,
        "terminal/output": schema.TerminalOutputRequest,
        "terminal/wait_for_exit": schema.WaitForTerminalExitRequest,
        "terminal/kill": schema.KillTerminalRequest,
        "terminal/release": schema.ReleaseTerminalRequest,
        "elicitation/complete": schema.CompleteElicitationNotification,
    }
    answers: dict[str, type[BaseModel]] = {
        "initialize": schema.InitializeResponse,
        "authenticate": schema.AuthenticateResponse,
        "session/new": schema.NewSessionResponse,
        "session/load": schema.LoadSessionResponse,
        "session/resume": schema.ResumeSessionResponse,
        "session/fork": schema.ForkSessionResponse,
        "session/list": schema.ListSessionsResponse,
        "session/close": schema.CloseSessionResponse,
        "session/prompt": schema.PromptResponse,
        "session/set_mode": schema.SetSessionModeResponse,
        "session/set_config_option": schema.SetSessionConfigOptionResponse,
    }
    return calls, answers


def schema_violations(frame: Any, methods: dict[object, str]) -> Iterator[SchemaViolation]:
    """Yield the violations in one received frame.

    `methods` contains the methods of the client's pending requests by id; an answered request is removed.
    """
    if not isinstance(frame, dict):
        return
    calls, answers = _models()
    if frame.get("jsonrpc") != "2.0":
        yield SchemaViolation("schema:envelope", 'a message lacks "jsonrpc": "2.0"')
    method = frame.get("method")
    if isinstance(method, str):
        params = frame.get("params")
        kind = _update_kind(params)
        if kind in UNSTABLE_UPDATES:
            return
        if model := _newer_model(kind) or calls.get(method):
            yield from _compare(model, method, params)
        return
    identity = frame.get("id")
    answered = methods.pop(identity, None) if isinstance(identity, (int, str)) else None
    if answered is None:
        return
    if "error" in frame:
        yield from _error_violations(answered, frame["error"])
    elif model := answers.get(answered):
        result = frame.get("result")
        if result is None:
            if any(field.is_required() for field in model.model_fields.values()):
                yield SchemaViolation(
                    f"schema:{answered}", f"the answer to {answered} is null instead of an object"
                )
            return
        yield from _compare(model, answered, result, " answer")


def _update_kind(params: Any) -> str | None:
    """Return the kind of a `session/update`; None if the kind is not a string, and for other messages."""
    update = params.get("update") if isinstance(params, dict) else None
    kind = update.get("sessionUpdate") if isinstance(update, dict) else None
    return kind if isinstance(kind, str) else None


def _newer_model(kind: str | None) -> type[BaseModel] | None:
    """Return the model for a kind of update that the schema has but the SDK lacks; None for other kinds."""
    from acp_tui.doctor.newer_updates import NOTIFICATIONS

    return NOTIFICATIONS.get(kind) if kind is not None else None


def _error_violations(method: str, error: Any) -> Iterator[SchemaViolation]:
    if not isinstance(error, dict):
        yield SchemaViolation(
            "schema:error", f"the error in an answer to {method} is not an object", str(error)[:200]
        )
    elif not isinstance(error.get("code"), int) or not isinstance(error.get("message"), str):
        yield SchemaViolation(
            "schema:error",
            f"the error in an answer to {method} must have a number as code and a string as message",
        )


def _compare(model: type[BaseModel], method: str, value: Any, suffix: str = "") -> Iterator[SchemaViolation]:
    from pydantic import ValidationError

    check = f"schema:{method}"
    where = method + suffix
    if method == "session/update" and isinstance(value, dict) and isinstance(value.get("update"), dict):
        where = f"{where} {value['update'].get('sessionUpdate')}"
    try:
        kept = model.model_validate(value).model_dump(
            mode="json", by_alias=True, exclude_unset=True, warnings=False
        )
    except ValidationError as error:
        for fault in error.errors(include_url=False):
            path = _path_of(value, fault["loc"])
            what = _SENTENCE_ENDS.get(fault["type"], "has a value that is not in the schema")
            yield SchemaViolation(check, f"{where}: {path} {what}", str(fault.get("input"))[:200])
        return
    for path, dropped in _differences(value, kept):
        if path in UNSTABLE_FIELDS:
            continue
        yield SchemaViolation(
            check,
            f"{where}: the schema does not define {path}, or does not allow its value",
            str(dropped)[:200],
        )


_SENTENCE_ENDS = {
    "missing": "is missing",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "string_type": "must be a string",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "list_type": "must be an array",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "greater_than_equal": "is too small",
    "less_than_equal": "is too large",
}
"""The end of the sentence about a wrong value, by pydantic's error type. Other types get a generic ending."""


def _path_of(value: Any, loc: tuple[int | str, ...]) -> str:
    """Convert pydantic's location of an error to a path in `value`. Names of union members are left out."""
    path: list[str] = []
    for number, part in enumerate(loc):
        if isinstance(value, dict) and part in value:
            path.append(str(part))
            value = value[part]
        elif isinstance(value, list) and isinstance(part, int) and part < len(value):
            path.append(
                "[]"
            )  # without the index, so that many items with the same fault count as one violation
            value = value[part]
        elif number == len(loc) - 1 and isinstance(part, str) and isinstance(value, dict):
            path.append(part)  # a missing field
    return ".".join(path) or "the message"


def _differences(sent: Any, kept: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the path and the value of each field that the model dropped or converted to another type.

    Nulls and fields named `_meta` are left out. If the model dropped items of a list, the whole list is
    yielded.
    """
    if isinstance(sent, dict) and isinstance(kept, dict):
        for key, value in sent.items():
            below = f"{path}.{key}" if path else str(key)
            if key == "_meta" or value is None:
                continue
            if key not in kept:
                yield below, value
            else:
                yield from _differences(value, kept[key], below)
    elif isinstance(sent, list) and isinstance(kept, list):
        if len(sent) != len(kept):
            yield f"{path}[]", sent
            return
        for one, other in zip(sent, kept, strict=True):
            yield from _differences(one, other, f"{path}[]")
    elif sent is not None and not _same_type(sent, kept):
        yield path, sent


def _same_type(sent: Any, kept: Any) -> bool:
    """Return whether the model kept the type of a value, and did not convert "yes" to true or "5" to 5.

    Integers and floats count as the same type.
    """
    numbers = (int, float)
    if isinstance(sent, numbers) and isinstance(kept, numbers):
        return isinstance(sent, bool) == isinstance(kept, bool)
    return type(sent) is type(kept)
