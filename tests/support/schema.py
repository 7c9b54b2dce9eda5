"""Checks that the frames of an agent conform to the protocol's schema and contain nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp import schema
from pydantic import TypeAdapter, ValidationError

if TYPE_CHECKING:
    from tests.support.demo_client import Frame

REQUESTS: dict[str, Any] = {
    "session/update": schema.SessionNotification,
    "session/request_permission": schema.RequestPermissionRequest,
    "fs/read_text_file": schema.ReadTextFileRequest,
    "fs/write_text_file": schema.WriteTextFileRequest,
    "terminal/create": schema.CreateTerminalRequest,
    "terminal/output": schema.TerminalOutputRequest,
    "terminal/wait_for_exit": schema.WaitForTerminalExitRequest,
    "terminal/release": schema.ReleaseTerminalRequest,
    "elicitation/create": schema.CreateFormSessionElicitationRequest
    | schema.CreateUrlSessionElicitationRequest,
    "elicitation/complete": schema.CompleteElicitationNotification,
    "$/cancel_request": schema.CancelRequestNotification,
}

RESULTS: dict[str, Any] = {
    "initialize": schema.InitializeResponse,
    "authenticate": schema.AuthenticateResponse,
    "logout": schema.LogoutResponse,
    "session/new": schema.NewSessionResponse,
    "session/load": schema.LoadSessionResponse,
    "session/resume": schema.ResumeSessionResponse,
    "session/fork": schema.ForkSessionResponse,
    "session/list": schema.ListSessionsResponse,
    "session/close": schema.CloseSessionResponse,
    "session/delete": schema.DeleteSessionResponse,
    "session/set_mode": schema.SetSessionModeResponse,
    "session/set_config_option": schema.SetSessionConfigOptionResponse,
    "session/prompt": schema.PromptResponse,
}


def violations(frames: list[Frame], sent_methods: dict[int, str]) -> list[str]:
    """Describe all violations; `sent_methods` maps the ids of our requests to their methods."""
    found = (_violation(frame, sent_methods) for frame in frames)
    return [violation for violation in found if violation is not None]


def _violation(frame: Frame, sent_methods: dict[int, str]) -> str | None:
    if frame.get("jsonrpc") != "2.0":
        return f"not JSON-RPC 2.0: {frame}"
    if "method" in frame:
        return _deviation(REQUESTS.get(frame["method"]), frame["params"], frame["method"])
    if "error" in frame:
        return _deviation(schema.Error, frame["error"], "error")
    method = sent_methods[frame["id"]]
    if method.startswith("_"):  # an extension
        return None
    return _deviation(RESULTS[method], frame["result"], f"answer to {method}")


def _deviation(model: Any, value: Any, what: str) -> str | None:
    if model is None:
        return f"{what} is unknown"
    adapter = TypeAdapter(model)
    try:
        parsed = adapter.validate_python(value)
    except ValidationError as error:
        return f"{what}: {error}"
    # The models silently drop what they do not know, so compare with the original.
    dumped = adapter.dump_python(parsed, mode="json", by_alias=True, exclude_unset=True)
    return None if dumped == value else f"{what}: {value} was parsed as {dumped}"
