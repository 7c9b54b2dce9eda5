"""Resolves a server's definition: expands variables, finds the program, and selects the connection."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.config import validators
from acp_tui.config.mcp.server import SignInSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from acp_tui.config.mcp.server import Connection, Server, Transport


@dataclass(frozen=True, slots=True)
class ResolvedServer:
    """An MCP server with expanded values, which can be secrets."""

    name: str
    transport: Transport
    command: str = ""  # the absolute path of the program
    args: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    url: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    cwd: Path | None = None  # the folder in which the program is started; None: the workspace
    timeout: float | None = None  # seconds for a tool call; None: the default
    connect_timeout: float | None = None  # seconds for connecting; None: the default
    include_tools: tuple[str, ...] | None = None  # None: all tools
    exclude_tools: tuple[str, ...] = ()
    sign_in: SignInSettings | None = None
    connection: Connection = "direct"
    digest: str = ""  # of the definition, before variables were expanded
    file: str = ""  # the file with the definition

    def allows_tool(self, name: str) -> bool:
        """Return whether the agent may use a tool. `exclude_tools` takes precedence over `include_tools`."""
        if name in self.exclude_tools:
            return False
        return self.include_tools is None or name in self.include_tools

    def for_agent(self) -> dict[str, Any]:
        """Return the server as the object that is sent to an agent over ACP."""
        if self.transport == "stdio":
            program = {"command": self.command, "args": list(self.args), "env": _pairs(self.env)}
            return {"name": self.name, **program}
        address = {"url": self.url, "headers": _pairs(self.headers)}
        return {"type": self.transport, "name": self.name, **address}

    def to_json(self) -> dict[str, Any]:
        """Return the server as a JSON object, including the secrets."""
        return asdict(self) | {"cwd": None if self.cwd is None else str(self.cwd)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> ResolvedServer:
        """Create a server from an object that `to_json` returned."""
        include, cwd, sign_in = data["include_tools"], data["cwd"], data["sign_in"]
        converted = {
            "args": tuple(data["args"]),
            "cwd": None if cwd is None else Path(cwd),
            "include_tools": None if include is None else tuple(include),
            "exclude_tools": tuple(data["exclude_tools"]),
            "sign_in": None if sign_in is None else SignInSettings(**sign_in),
        }
        return cls(**(data | converted))


def _pairs(values: dict[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in values.items()]


_REFERENCE = re.compile(r"\$\{([^{}]*)\}")
_VARIABLE = re.compile(r"(?:env:)?([A-Za-z_]\w*)(?::-(.*))?", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_UNSENDABLE = re.compile(r"[\x00\ud800-\udfff]")


class CannotSendError(Exception):
    """A server cannot be sent to an agent. The message is the reason, as a clause."""


class ProgramNotFoundError(CannotSendError):
    """The program of a server does not exist or cannot be executed."""

    search: str | None = None
    """The value of PATH that was searched for the program; None if the command is a path."""


def environment_names(server: Server) -> list[str]:
    """Return the names of the environment variables that a definition refers to with `${…}`."""
    editor_values = _editor_values(server)
    names = [
        parts[1]
        for text in _texts(server)
        for reference in _REFERENCE.finditer(text)
        if reference[1] not in editor_values and (parts := _VARIABLE.fullmatch(reference[1]))
    ]
    return list(dict.fromkeys(names))


def resolved_program(server: Server, environ: Mapping[str, str] | None = None) -> str:
    """Return the absolute path of a stdio server's program. Raises `CannotSendError`."""
    environment = os.environ if environ is None else environ
    if server.program:
        return _program(server.program, server.folder, None)
    values = _editor_values(server)
    search = server.env.get("PATH")
    search = environment.get("PATH") if search is None else _expand(search, environment, values)
    return _program(_expand(server.command, environment, values), server.folder, search)


def resolve_server(server: Server, environ: Mapping[str, str] | None = None) -> ResolvedServer:
    """Return a server with its variables expanded and its program found. Raises `CannotSendError`."""
    require_valid(server)
    environment = os.environ if environ is None else environ
    editor_values = _editor_values(server)

    def expand(text: str) -> str:
        return _expand(text, environment, editor_values)

    if server.transport == "stdio":
        env = {name: expand(value) for name, value in server.env.items()}
        cwd = validators.resolve_path(server.folder, expand(server.cwd)) if server.cwd else None
        args = [expand(word) for word in server.args]
        if cwd is None:
            args = [absolute_file(word, server.folder) for word in args]
        program = resolved_program(server, environment)
        resolved = ResolvedServer(server.name, "stdio", program, tuple(args), env, cwd=cwd)
        return replace(resolved, **_options(server, expand))
    url = expand(server.url)
    if not url.lower().startswith(("http://", "https://")):
        raise CannotSendError("its URL does not begin with http:// or https://")
    headers = {name: expand(value) for name, value in server.headers.items()}
    for name, value in headers.items():
        if not name or _CONTROL.search(name + value):
            raise CannotSendError(f"its header {name!r} contains a control character")
    resolved = ResolvedServer(server.name, server.transport, url=url, headers=headers)
    return replace(resolved, **_options(server, expand))


def start_failure(server: Server, error: CannotSendError) -> str:
    """Return a sentence that says why `resolve_server` failed. Quote PATH if the program is not on PATH."""
    path = f", which is {error.search}" if isinstance(error, ProgramNotFoundError) and error.search else ""
    return f"{server.name} ({server.origin}) cannot be started: {error}{path}."


def connection_for(server: Server) -> Connection:
    """Return the connection in the definition, else "bridge" if the server needs the bridge, else "direct".

    Only the bridge supports a working directory, a timeout, a choice of tools, and acp-tui's sign-in.
    """
    if server.connection is not None:
        return server.connection
    filtered = server.include_tools is not None or server.exclude_tools
    signs_in = server.sign_in is not None and not server.sign_in.send_token
    needs_bridge = server.cwd or server.timeout is not None or filtered or signs_in
    return "bridge" if needs_bridge else "direct"


def require_valid(server: Server) -> None:
    """Raise `CannotSendError` if the definition is invalid."""
    if server.problems:
        raise CannotSendError("; ".join(server.problems))
    names = [*server.env, *server.headers]
    if any(_UNSENDABLE.search(text) for text in (server.name, *_texts(server), *names)):
        raise CannotSendError("its definition contains a NUL or an invalid character")


def _options(server: Server, expand: Callable[[str], str]) -> dict[str, Any]:
    """Return the fields of a `ResolvedServer` that do not depend on the transport."""
    return {
        "timeout": server.timeout,
        "connect_timeout": server.connect_timeout,
        "file": str(server.file),
        "include_tools": None if server.include_tools is None else tuple(server.include_tools),
        "exclude_tools": tuple(server.exclude_tools),
        "sign_in": None if server.sign_in is None else server.sign_in.expanded(expand),
        "connection": connection_for(server),
        "digest": server.digest(),
    }


def absolute_file(word: str, folder: Path) -> str:
    """Return `word` as an absolute path if `word` names a file relative to `folder`; otherwise unchanged."""
    if not word or word.startswith(("-", "/")):
        return word
    path = folder / word
    try:
        return str(path.absolute()) if path.is_file() else word
    except (OSError, ValueError):  # the word is too long for a path, or contains a NUL
        return word


def _texts(server: Server) -> list[str]:
    """Return all texts in which a definition can contain references such as `${VAR}`."""
    texts = server.sign_in.texts() if server.sign_in is not None else []
    if server.transport == "stdio":
        return [server.command, *server.args, *server.env.values(), server.cwd, *texts]
    return [server.url, *server.headers.values(), *texts]


def _editor_values(server: Server) -> dict[str, str]:
    """Return the values of editor variables such as `${userHome}`, for servers from project files only."""
    if server.project is None:
        return {}
    folder = str(server.project)
    return {
        "workspaceFolder": folder,
        "workspaceFolderBasename": server.project.name,
        "userHome": os.path.expanduser("~"),  # noqa: PTH111 - works without a home directory
        "pathSeparator": os.sep,
        "/": os.sep,
    }


def _expand(text: str, environ: Mapping[str, str], editor_values: Mapping[str, str]) -> str:
    """Expand `${VAR}`, `${VAR:-default}`, `${env:VAR}`, and editor variables such as `${userHome}`."""

    def value(reference: re.Match[str]) -> str:
        if reference[1] in editor_values:
            return editor_values[reference[1]]
        if reference[1].startswith("input:"):
            raise CannotSendError(f"it needs {reference[0]}, which only an editor like VS Code can ask for")
        parts = _VARIABLE.fullmatch(reference[1])
        if parts is None:
            raise CannotSendError(f"{reference[0]} is not a variable acp-tui can expand")
        found = environ.get(parts[1])
        if parts[2] is not None:
            return found or parts[2]  # as in a shell, `:-` also replaces an empty value
        if found is None:
            raise CannotSendError(f"the environment variable {parts[1]} is not set")
        return found

    return _REFERENCE.sub(value, text)


def _program(command: str, folder: Path, search: str | None) -> str:
    """Return the absolute path of a program, found on the `search` path or relative to `folder`."""
    if "/" not in command:
        found = shutil.which(command, path=search)
        if found is None:
            error = ProgramNotFoundError(f"the program {command} was not found on PATH")
            error.search = os.environ.get("PATH", os.defpath) if search is None else search
            raise error
        return str(Path(found).absolute())
    path = validators.resolve_program(command, folder)
    if shutil.which(path) is None:
        state = "is not executable" if Path(path).exists() else "does not exist"
        raise ProgramNotFoundError(f"the program {path} {state}")
    return path
