"""What an agent is given: the protocol's objects with exactly its fields, and why the others are left out."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from acp_tui.config import checks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from acp_tui.config.mcp.server import Server

_REFERENCE = re.compile(r"\$\{([^{}]*)\}")
_VARIABLE = re.compile(r"(?:env:)?([A-Za-z_]\w*)(?::-(.*))?", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class LeftOut(NamedTuple):
    """A server the agent does not get."""

    server: Server
    reason: str  # a sentence without its first capital and full stop
    wished: bool = False  # by what the user has written: it surprises nobody


class _Unfit(Exception):  # noqa: N818 - a reason, never seen outside
    """Why a server cannot be sent."""


class _Unwanted(_Unfit):
    """Why it is not to be sent."""


def for_agent(
    servers: Iterable[Server],
    agent: str,
    *,
    http: bool,
    sse: bool,
    environ: Mapping[str, str] | None = None,
) -> tuple[list[dict[str, Any]], list[LeftOut]]:
    """The servers for one agent, in the schema's form, and those left out.

    `http` and `sse` are what the agent advertised. Of several servers with one name the last one counts.
    """
    environment = os.environ if environ is None else environ
    wanted = list(servers)
    last = {server.name: server for server in wanted}
    sent: list[dict[str, Any]] = []
    left_out: list[LeftOut] = []
    for server in wanted:
        try:
            _check(server, agent, last[server.name], {"stdio": True, "http": http, "sse": sse})
            sent.append(_as_sent(server, environment))
        except _Unfit as reason:
            left_out.append(LeftOut(server, str(reason), wished=isinstance(reason, _Unwanted)))
    return sent, left_out


def _check(server: Server, agent: str, last: Server, takes: dict[str, bool]) -> None:
    """Raise when the server is not for this agent."""
    if server is not last:
        raise _Unwanted(f"replaced by the one in {last.file}:{last.line}")
    if not server.enabled:
        raise _Unwanted("it is disabled")
    if server.agents is not None and agent not in server.agents:
        whom = f"only for {', '.join(server.agents)}" if server.agents else "for no agent"
        raise _Unwanted(f"it is {whom}")
    if server.problems:
        raise _Unfit("; ".join(server.problems))
    if not takes[server.transport]:
        raise _Unfit(f"the agent does not support {server.transport} servers")


def _as_sent(server: Server, environ: Mapping[str, str]) -> dict[str, Any]:
    def filled(text: str) -> str:
        return _expand(text, environ)

    if server.transport == "stdio":
        env = {name: filled(value) for name, value in server.env.items()}
        search = env.get("PATH", environ.get("PATH"))
        return {
            "name": server.name,
            "command": _program(filled(server.command), server.file.parent, search),
            "args": [filled(word) for word in server.args],
            "env": _pairs(env),
        }
    url = filled(server.url)
    if not url.lower().startswith(("http://", "https://")):
        raise _Unfit("its URL does not begin with http:// or https://")
    headers = {name: filled(value) for name, value in server.headers.items()}
    for name, value in headers.items():
        if not name or _CONTROL.search(name + value):
            raise _Unfit(f"its header {name!r} contains a control character")
    return {"type": server.transport, "name": server.name, "url": url, "headers": _pairs(headers)}


def _pairs(values: dict[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in values.items()]


def _expand(text: str, environ: Mapping[str, str]) -> str:
    """Fill in `${VAR}` and `${VAR:-default}`; VS Code's `${env:VAR}` is the first."""

    def value(reference: re.Match[str]) -> str:
        parts = _VARIABLE.fullmatch(reference[1])
        if parts is None:
            raise _Unfit(f"{reference[0]} is not a variable acp-tui can expand")
        found = environ.get(parts[1])
        if parts[2] is not None:
            return found or parts[2]  # as in a shell, `:-` also replaces an empty value
        if found is None:
            raise _Unfit(f"the environment variable {parts[1]} is not set")
        return found

    return _REFERENCE.sub(value, text)


def _program(command: str, folder: Path, search: str | None) -> str:
    """The absolute path of a command."""
    if "/" not in command:
        found = shutil.which(command, path=search)
        if found is None:
            raise _Unfit(f"the program {command} was not found on PATH")
        return str(Path(found).absolute())
    path = checks.resolve_program(command, folder)
    if shutil.which(path) is None:
        state = "is not executable" if Path(path).exists() else "does not exist"
        raise _Unfit(f"the program {path} {state}")
    return path
