"""Compares what an agent sent with the protocol's schema, as the SDK's models have it.

The models are lenient: some unknown values make them fail, others are emptied without a word. So a frame
is validated *and* compared with what the model kept of it: whatever was lost is a departure.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import BaseModel

NEWER = frozenset({"update.name", "toolCall.name"})
"""In the unstable schema; agents use it already, and we understand it."""


@dataclass(slots=True)
class SchemaFault:
    """One departure from the schema."""

    check: str
    sentence: str
    example: str | None = None


@cache
def _models() -> tuple[dict[str, type[BaseModel]], dict[str, type[BaseModel]]]:
    """Of the agent's requests and notifications; and of its answers to ours."""
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


def schema_faults(frame: Any, methods: dict[object, str]) -> Iterator[SchemaFault]:
    """The departures of one received frame; `methods` holds our open requests, and loses the answered one."""
    if not isinstance(frame, dict):
        return
    calls, answers = _models()
    if frame.get("jsonrpc") != "2.0":
        yield SchemaFault("schema:envelope", 'a message lacks "jsonrpc": "2.0"')
    method = frame.get("method")
    if isinstance(method, str):
        if model := calls.get(method):
            yield from _compare(model, method, frame.get("params"))
        return
    identity = frame.get("id")
    answered = methods.pop(identity, None) if isinstance(identity, (int, str)) else None
    if answered is None:
        return
    if "error" in frame:
        yield from _error_faults(answered, frame["error"])
    elif model := answers.get(answered):
        result = frame.get("result")
        if result is None:
            if any(field.is_required() for field in model.model_fields.values()):
                yield SchemaFault(
                    f"schema:{answered}", f"the answer to {answered} is null instead of an object"
                )
            return
        yield from _compare(model, answered, result, " answer")


def _error_faults(method: str, error: Any) -> Iterator[SchemaFault]:
    if not isinstance(error, dict):
        yield SchemaFault("schema:error", f"an error answer ({method}) is not an object", str(error)[:200])
    elif not isinstance(error.get("code"), int) or not isinstance(error.get("message"), str):
        yield SchemaFault(
            "schema:error", f"an error answer ({method}) lacks a number as code or a text as message"
        )


def _compare(model: type[BaseModel], method: str, value: Any, suffix: str = "") -> Iterator[SchemaFault]:
    from pydantic import ValidationError

    check = f"schema:{method}"
    where = method + suffix
    if method == "session/update" and isinstance(value, dict) and isinstance(value.get("update"), dict):
        where = f"{where} {value['update'].get('sessionUpdate')}"
    try:
        kept = model.model_validate(value).model_dump(mode="json", by_alias=True, exclude_unset=True)
    except ValidationError as error:
        for fault in error.errors(include_url=False):
            path = ".".join(str(part) for part in fault["loc"])
            yield SchemaFault(
                check, f"{where}: {_numberless(path)}: {fault['msg']}", str(fault.get("input"))[:200]
            )
        return
    for path, lost in _lost(value, kept):
        if path in NEWER:
            continue
        yield SchemaFault(
            check, f"{where}: {path} is not in the schema, or not with this value", str(lost)[:200]
        )


def _numberless(path: str) -> str:
    """Positions in lists are left out, so that the same fault of many items counts as one."""
    return ".".join("[]" if part.isdigit() else part for part in path.split("."))


def _lost(sent: Any, kept: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """What the model did not keep. `_meta` and nulls are free."""
    if isinstance(sent, dict) and isinstance(kept, dict):
        for key, value in sent.items():
            below = f"{path}.{key}" if path else str(key)
            if key == "_meta" or value is None:
                continue
            if key not in kept:
                yield below, value
            else:
                yield from _lost(value, kept[key], below)
    elif isinstance(sent, list) and isinstance(kept, list):
        if len(sent) != len(kept):
            yield f"{path}[]", sent
            return
        for one, other in zip(sent, kept, strict=True):
            yield from _lost(one, other, f"{path}[]")
    elif kept is None and sent is not None:
        yield path, sent
