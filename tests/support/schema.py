"""Do the frames of the agent say what the protocol allows, and nothing else?"""

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


def violations(frames: list[Frame], asked: dict[int, str]) -> list[str]:
    """What is wrong with the frames; `asked` names the method of each request they answer."""
    return [wrong for frame in frames if (wrong := _violation(frame, asked)) is not None]


def _violation(frame: Frame, asked: dict[int, str]) -> str | None:
    if frame.get("jsonrpc") != "2.0":
        return f"not JSON-RPC 2.0: {frame}"
    if "method" in frame:
        return _departs(REQUESTS.get(frame["method"]), frame["params"], frame["method"])
    if "error" in frame:
        return _departs(schema.Error, frame["error"], "error")
    method = asked[frame["id"]]
    return _departs(RESULTS[method], frame["result"], f"answer to {method}")


def _departs(model: Any, value: Any, what: str) -> str | None:
    if model is None:
        return f"{what} is unknown"
    adapter = TypeAdapter(model)
    try:
        understood = adapter.validate_python(value)
    except ValidationError as error:
        return f"{what}: {error}"
    # The models drop in silence what they cannot read, so reading alone proves little.
    kept = adapter.dump_python(understood, mode="json", by_alias=True, exclude_unset=True)
    return None if kept == value else f"{what}: {value} was understood as {kept}"
