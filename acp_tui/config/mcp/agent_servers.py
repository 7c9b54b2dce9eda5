"""The MCP servers that an agent gets, as objects of the protocol, and the reasons why it gets no others."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from acp_tui.config import validators

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from acp_tui.config.mcp.server import Server

_REFERENCE = re.compile(r"\$\{([^{}]*)\}")
_VARIABLE = re.compile(r"(?:env:)?([A-Za-z_]\w*)(?::-(.*))?", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class UnsentServer(NamedTuple):
    """A server that the agent does not get."""

    server: Server
    reason: str  # a sentence without a capital letter and a full stop
    intended: bool = False  # whether that is what the user configured


class _CannotSendError(Exception):
    """A server that cannot be sent. The message is the reason."""


class _NotWantedError(_CannotSendError):
    """A server that is disabled, replaced, or meant for other agents, as the user configured it."""


def servers_for_agent(
    servers: Iterable[Server],
    agent: str,
    *,
    http: bool,
    sse: bool,
    environ: Mapping[str, str] | None = None,
) -> tuple[list[dict[str, Any]], list[UnsentServer]]:
    """Return the servers to send to an agent, and the others with the reason.

    `http` and `sse` say which transports the agent supports. Of several servers with one name, the last one
    is sent.
    """
    environment = os.environ if environ is None else environ
    wanted = list(servers)
    last = {server.name: server for server in wanted}
    sent: list[dict[str, Any]] = []
    left_out: list[UnsentServer] = []
    for server in wanted:
        try:
            supported = {"stdio": True, "http": http, "sse": sse}
            _require_sendable(server, agent, last[server.name], supported)
            sent.append(_as_sent(server, environment))
        except _CannotSendError as reason:
            left_out.append(UnsentServer(server, str(reason), intended=isinstance(reason, _NotWantedError)))
    return sent, left_out


def _require_sendable(server: Server, agent: str, last: Server, supported: dict[str, bool]) -> None:
    """Raise `_CannotSendError` if the server must not be sent to this agent."""
    if server is not last:
        raise _NotWantedError(f"replaced by the one in {last.file}:{last.line}")
    if not server.enabled:
        raise _NotWantedError("it is disabled")
    if server.agents is not None and agent not in server.agents:
        whom = f"only for {', '.join(server.agents)}" if server.agents else "for no agent"
        raise _NotWantedError(f"it is {whom}")
    if server.problems:
        raise _CannotSendError("; ".join(server.problems))
    if not supported[server.transport]:
        raise _CannotSendError(f"the agent does not support {server.transport} servers")


def _as_sent(server: Server, environ: Mapping[str, str]) -> dict[str, Any]:
    def expand(text: str) -> str:
        return _expand(text, environ)

    if server.transport == "stdio":
        env = {name: expand(value) for name, value in server.env.items()}
        search = env.get("PATH", environ.get("PATH"))
        return {
            "name": server.name,
            "command": _program(expand(server.command), server.file.parent, search),
            "args": [expand(word) for word in server.args],
            "env": _pairs(env),
        }
    url = expand(server.url)
    if not url.lower().startswith(("http://", "https://")):
        raise _CannotSendError("its URL does not begin with http:// or https://")
    headers = {name: expand(value) for name, value in server.headers.items()}
    for name, value in headers.items():
        if not name or _CONTROL.search(name + value):
            raise _CannotSendError(f"its header {name!r} contains a control character")
    return {"type": server.transport, "name": server.name, "url": url, "headers": _pairs(headers)}


def _pairs(values: dict[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in values.items()]


def _expand(text: str, environ: Mapping[str, str]) -> str:
    """Expand `${VAR}`, `${VAR:-default}`, and VS Code's `${env:VAR}`."""

    def value(reference: re.Match[str]) -> str:
        parts = _VARIABLE.fullmatch(reference[1])
        if parts is None:
            raise _CannotSendError(f"{reference[0]} is not a variable acp-tui can expand")
        found = environ.get(parts[1])
        if parts[2] is not None:
            return found or parts[2]  # as in a shell, `:-` also replaces an empty value
        if found is None:
            raise _CannotSendError(f"the environment variable {parts[1]} is not set")
        return found

    return _REFERENCE.sub(value, text)


def _program(command: str, folder: Path, search: str | None) -> str:
    """Return the absolute path of a program, found on the `search` path or relative to `folder`."""
    if "/" not in command:
        found = shutil.which(command, path=search)
        if found is None:
            raise _CannotSendError(f"the program {command} was not found on PATH")
        return str(Path(found).absolute())
    path = validators.resolve_program(command, folder)
    if shutil.which(path) is None:
        state = "is not executable" if Path(path).exists() else "does not exist"
        raise _CannotSendError(f"the program {path} {state}")
    return path
