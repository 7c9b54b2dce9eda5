"""The definition of an MCP server, what it becomes when it is started or sent, and which agents get it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import urlsplit

from acp_tui.config import validators
from acp_tui.config.validators import InvalidValueError, format_value
from acp_tui.session.mcp_tool import OWN_SERVER, fold_mcp_name

if TYPE_CHECKING:
    from acp_tui.config.toml_document import TomlDocument


_STATE_CHECKS: dict[str, Callable[[Any], Any]] = {
    "enabled": validators.boolean,
    "enabled_for": lambda value: tuple(validators.strings(value)),
    "disabled_for": lambda value: tuple(validators.strings(value)),
}
Grant = Literal["authorization_code", "client_credentials"]
_TEXTS = ("client_id", "client_secret", "scope", "issuer", "client_metadata_url")
_SIGN_IN_CHECKS: dict[str, Callable[[Any], Any]] = {
    "grant": validators.one_of("authorization_code", "client_credentials"),
    "redirect_port": validators.count,
    "allow_missing_pkce": validators.boolean,
    "send_token": validators.boolean,
}
_OAUTH_KEYS = {"clientId": "client_id", "clientSecret": "client_secret", "callbackPort": "redirect_port"}
Transport = Literal["stdio", "http", "sse"]
Connection = Literal["direct", "bridge"]
"""Whether the agent is given the server itself, or acp-tui's bridge to it."""
TRANSPORTS: dict[str, Transport] = {
    "stdio": "stdio",
    "local": "stdio",
    "http": "http",
    "streamable-http": "http",
    "streamable_http": "http",
    "streamablehttp": "http",
    "sse": "sse",
}
"""The transport that each name in settings files stands for. The names are in lower case."""
NO_WEBSOCKET = "MCP has no WebSocket transport; use an http or sse address"


@dataclass(frozen=True, slots=True)
class ServerState:
    """Whether the user has turned the servers with the same name on or off, as saved in `mcp.toml`."""

    enabled: bool | None = None  # None: as in the definition
    enabled_for: tuple[str, ...] = ()  # agents that get the servers even if they are disabled
    disabled_for: tuple[str, ...] = ()  # agents that do not get the servers
    origin: str = ""  # the file and line of the table

    def to_entry(self) -> dict[str, Any]:
        """Return the table for `mcp.toml`; empty if the state is the default."""
        entry = {name: list(getattr(self, name)) for name in ("enabled_for", "disabled_for")}
        given: dict[str, Any] = {name: agents for name, agents in entry.items() if agents}
        return given if self.enabled is None else {"enabled": self.enabled, **given}


NO_STATE = ServerState()


def states_in(document: TomlDocument) -> dict[str, ServerState]:
    """Return the states in `mcp.toml` by server name. Errors are added to the problems of the document."""
    return {name: _state(document, name, entry) for name, entry in document.tables("mcp_state").items()}


def _state(document: TomlDocument, name: str, entry: Any) -> ServerState:
    path = ("mcp_state", name)
    if not isinstance(entry, dict):
        document.table(path, entry)  # reports it
        return NO_STATE
    line = document.line(*path)
    values, _ = document.checked(path, entry, _STATE_CHECKS)
    return ServerState(**values, origin=str(document.file) if line is None else f"{document.file}:{line}")


@dataclass(frozen=True, slots=True)
class SignInSettings:
    """The `sign_in` table of a server. All keys are optional."""

    client_id: str = ""  # of a client that the user has registered; "": acp-tui registers itself
    client_secret: str = field(default="", repr=False)
    scope: str = ""  # scopes separated by spaces; "": those that the server asks for
    grant: Grant = "authorization_code"
    issuer: str = ""  # the authorization server of client_id; "": the one found at the first sign-in
    client_metadata_url: str = ""  # the URL of a document that describes the client; used as the client id
    redirect_port: int = 0  # the port of 127.0.0.1 for the browser's redirect; 0: any free one
    allow_missing_pkce: bool = False  # whether to sign in where PKCE with S256 is not announced
    send_token: bool = False  # whether an agent that connects directly gets the token as a header

    def definition(self) -> dict[str, Any]:
        """Return the settings as a JSON object, from which the digest of the server is made."""
        values = asdict(self)
        if not self.allow_missing_pkce:  # a newer setting, which must not change the digest if it is unset
            del values["allow_missing_pkce"]
        return values

    def texts(self) -> list[str]:
        """Return the values that may contain references such as `${VAR}`."""
        return [getattr(self, name) for name in _TEXTS]

    def expanded(self, expand: Callable[[str], str]) -> SignInSettings:
        """Return the settings, with the references in the values expanded by `expand`."""
        expanded: dict[str, Any] = {name: expand(getattr(self, name)) for name in _TEXTS}
        return replace(self, **expanded)


def sign_in_settings(value: Any) -> SignInSettings | None:
    """Validate `sign_in`: a table, `true` for the defaults, or `false` for no sign-in."""
    if isinstance(value, bool):
        return SignInSettings() if value else None
    if not isinstance(value, dict):
        raise validators.invalid_value("true, false or a table", value)
    values = {name: _checked(name, given) for name, given in value.items()}
    settings = SignInSettings(**values)
    if settings.grant == "client_credentials" and not (settings.client_id and settings.client_secret):
        raise InvalidValueError('grant "client_credentials" needs client_id and client_secret')
    if settings.client_secret and not settings.client_id:
        raise InvalidValueError("client_secret needs client_id")
    if settings.redirect_port > 65535:
        raise InvalidValueError("redirect_port is larger than 65535")
    url = settings.client_metadata_url
    if url and "${" not in url and not _is_metadata_url(url):
        raise InvalidValueError("client_metadata_url is not an https address with a path")
    return settings


def oauth_settings(value: Any) -> SignInSettings | None:
    """Validate `oauth` in the notation of Gemini CLI and Claude Code.

    Keys for values that acp-tui finds out by OAuth discovery are ignored.
    """
    if not isinstance(value, dict):
        raise validators.invalid_value("a table", value)
    if value.get("enabled") is False:
        return None
    given = {own: value[name] for name, own in _OAUTH_KEYS.items() if name in value}
    scopes = value.get("scopes", [])
    return sign_in_settings(given | {"scope": " ".join(validators.strings(scopes))})


def _checked(name: str, value: Any) -> Any:
    if name in _TEXTS:
        if not isinstance(value, str):  # the value may be a secret and is not quoted
            raise InvalidValueError(f"expected a string for {name!r}")
        return value
    if name not in _SIGN_IN_CHECKS:
        valid = ", ".join(sorted([*_TEXTS, *_SIGN_IN_CHECKS]))
        raise InvalidValueError(f"unknown key {name!r}; valid keys: {valid}")
    return _SIGN_IN_CHECKS[name](value)


def _is_metadata_url(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "https" and parts.path not in ("", "/")


@dataclass(slots=True)
class Server:
    """The definition of an MCP server, with variables that `resolve_server` expands."""

    name: str
    file: Path
    line: int | None
    transport: Transport = "stdio"
    command: str = ""
    args: list[str] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)
    url: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    cwd: str = ""  # the folder in which the program is started; "": the workspace
    timeout: float | None = None  # seconds for a tool call
    connect_timeout: float | None = None  # seconds for connecting
    include_tools: list[str] | None = None  # None: all tools
    exclude_tools: list[str] = field(default_factory=list)
    sign_in: SignInSettings | None = None
    connection: Connection | None = None  # None: chosen by `connection_for`
    enabled: bool = True  # for agents in general; `acp-tui mcp enable` and `disable` override the file
    agents: list[str] | None = None  # None: every agent
    extra: dict[str, Any] = field(default_factory=dict)  # unknown keys, which other programs may use
    faults: list[tuple[str, str]] = field(default_factory=list)  # key ("": no single key) and sentence
    project: Path | None = None  # the folder whose file defines it; None: the user's own settings
    state: ServerState = NO_STATE  # saved by `acp-tui mcp enable` and `disable`
    enabled_by_file: bool | None = None  # `enabled` in the definition; None: equal to the field `enabled`
    lines: dict[str, int] = field(default_factory=dict, compare=False)  # by key, e.g. "command" or "env.KEY"
    program: str = ""  # the absolute path that the user agreed to; "": found when the server is sent

    @property
    def problems(self) -> list[str]:
        """Sentences that say why the server is not sent to any agent."""
        return [f"{key}: {sentence}" if key else sentence for key, sentence in self.faults]

    @property
    def origin(self) -> str:
        return str(self.file) if self.line is None else f"{self.file}:{self.line}"

    @property
    def is_on(self) -> bool:
        """Whether any agent may get the server."""
        return self.enabled or bool(self.state.enabled_for)

    @property
    def folder(self) -> Path:
        """The folder to which relative paths in the definition refer."""
        return self.project or self.file.parent

    def allows_tool(self, name: str) -> bool:
        """Return whether agents may use a tool. `exclude_tools` takes precedence over `include_tools`."""
        if name in self.exclude_tools:
            return False
        return self.include_tools is None or name in self.include_tools

    def definition(self) -> str:
        """Return the definition as JSON text, without its location and its key `enabled`."""
        parts = [self.name, self.transport, self.command, self.args, self.env, self.url, self.headers]
        options = {
            "cwd": self.cwd,
            "timeout": self.timeout,
            "connect_timeout": self.connect_timeout,
            "include_tools": self.include_tools,
            "exclude_tools": self.exclude_tools,
            "sign_in": None if self.sign_in is None else self.sign_in.definition(),
            "connection": self.connection,
        }
        # Unset options are left out, so that new options do not change the digest of old definitions.
        given = {name: value for name, value in options.items() if value not in (None, "", [])}
        # `default` is for TOML's dates, which JSON does not have.
        return json.dumps([*parts, self.agents, self.extra | given], sort_keys=True, default=str)

    def digest(self) -> str:
        return hashlib.sha256(self.definition().encode()).hexdigest()


def _json_kind(value: Any) -> str:
    """Return what a JSON value other than an object is, with its article."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    kinds: dict[type, str] = {list: "an array", str: "a string"}
    return kinds.get(type(value), "a number")


def _args(value: Any) -> list[str]:
    if isinstance(value, list) and all(isinstance(word, str | int | float) for word in value):
        return [str(word) for word in value]
    raise validators.invalid_value("a list of strings", value)


def _agents(value: Any) -> list[str]:
    return [value] if isinstance(value, str) and value else validators.strings(value)


def _transport(value: Any) -> Transport:
    if isinstance(value, str) and (known := TRANSPORTS.get(value.lower())):
        return known
    if isinstance(value, str) and value.lower() in ("ws", "websocket"):
        raise InvalidValueError(NO_WEBSOCKET)
    raise validators.invalid_value("stdio, http or sse", value)


def _connection(value: Any) -> Connection:
    return "bridge" if validators.one_of("direct", "bridge")(value) == "bridge" else "direct"


def _milliseconds(value: Any) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e12:
        return value / 1000
    raise validators.invalid_value("a number of milliseconds above 0", value)


def _tool_names(value: Any) -> list[str]:
    """Validate names of tools. `name(…)`, which Gemini CLI also accepts, stands for `name`."""
    return [name.partition("(")[0] for name in validators.strings(value)]


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "args": _args,
    "env": validators.mapping,
    "headers": validators.mapping,
    "enabled": validators.boolean,
    "disabled": validators.boolean,
    "agents": _agents,
    "url": validators.text,
    "httpUrl": validators.text,
    "command": validators.command,
    "type": _transport,
    "transportType": _transport,
    "transport": _transport,
    "cwd": validators.text,
    "timeout": validators.seconds,
    "connect_timeout": validators.seconds,
    "include_tools": _tool_names,
    "includeTools": _tool_names,
    "exclude_tools": _tool_names,
    "excludeTools": _tool_names,
    "sign_in": sign_in_settings,
    "connection": _connection,
}
_JSON_CHECKS = _CHECKS | {"timeout": _milliseconds, "oauth": oauth_settings}
"""The checks for JSON files, where `timeout` is in milliseconds and `oauth` is also accepted."""


def parse(name: str, entry: Any, file: Path, line: int | None, *, is_json: bool = False) -> Server:
    """Return the server that an entry of a settings file defines. Errors go into the server's `faults`."""
    server = Server(name, file, line)
    if fold_mcp_name(name) == OWN_SERVER:  # rules for acp-tui's own tools would apply to it
        server.faults.append(("", f"the name {OWN_SERVER} is reserved for acp-tui's own server"))
    checks = _JSON_CHECKS if is_json else _CHECKS
    if not name.strip():
        server.faults.append(("", "its name is empty"))
    if not isinstance(entry, dict):
        expected = f"expected a table, got {format_value(entry)}"
        if is_json:
            expected = f'must be an object such as {{"command": …}}; it is {_json_kind(entry)}'
        server.faults.append(("", expected))
        return server
    values: dict[str, Any] = {}
    for key, value in entry.items():
        if key not in checks:
            server.extra[key] = value
            continue
        try:
            # A command with spaces is the path of one program, as in other clients.
            values[key] = [value] if key == "command" and isinstance(value, str) else checks[key](value)
        except InvalidValueError as error:
            server.faults.append(("" if str(error) == NO_WEBSOCKET else key, str(error)))
    _fill(server, values)
    return server


def set_lines(server: Server, entry: Any, line_of: Callable[..., int | None]) -> None:
    """Fill `server.lines` with the line of each key in `entry`.

    `line_of("env", "KEY")` returns the line of the key `KEY` in the table `env`; None if the line is unknown.
    """
    for key, value in entry.items() if isinstance(entry, dict) else ():
        paths = [(key,), *((key, name) for name in (value if isinstance(value, dict) else ()))]
        for path in paths:
            if (line := line_of(*path)) is not None:
                server.lines[".".join(path)] = line


def _fill(server: Server, values: dict[str, Any]) -> None:
    command = values.get("command") or [""]
    server.command = command[0]
    server.args = [*command[1:], *values.get("args", [])]
    server.url = values.get("httpUrl") or values.get("url", "")
    server.env = values.get("env", {})
    server.headers = values.get("headers", {})
    server.enabled = values.get("enabled", True) and not values.get("disabled", False)
    server.agents = values.get("agents")
    server.cwd = values.get("cwd", "")
    server.timeout = values.get("timeout")
    server.connect_timeout = values.get("connect_timeout")
    server.include_tools = values.get("include_tools", values.get("includeTools"))
    server.exclude_tools = values.get("exclude_tools") or values.get("excludeTools", [])
    server.sign_in = values.get("sign_in") or values.get("oauth")
    server.connection = values.get("connection")
    if server.url.lower().startswith(("ws://", "wss://")) and ("", NO_WEBSOCKET) not in server.faults:
        server.faults.append(("", NO_WEBSOCKET))
    transports = [values[key] for key in ("type", "transportType", "transport") if key in values]
    if transports:
        server.transport = transports[0]
    elif server.url and not server.command:
        server.transport = _guess_transport(server.url, "httpUrl" in values)
    elif server.url and server.command:
        server.faults.append(("", "it has both a command and a URL; remove one, or set `type`"))
    if server.sign_in is not None and server.transport == "stdio":
        server.faults.append(("sign_in", "only servers with a URL can use sign-in"))
    if not server.faults and not (server.command if server.transport == "stdio" else server.url):
        server.faults.append(("", "no command" if server.transport == "stdio" else "no URL"))


def _guess_transport(url: str, is_http: bool) -> Transport:
    """Return the transport of a server that has a URL but no type. By convention, SSE URLs end in `/sse`.

    If `is_http` is true, the transport is always "http".
    """
    ends_in_sse = url.partition("?")[0].rstrip("/").endswith("/sse")
    return "sse" if ends_in_sse and not is_http else "http"


# --------------------------------------------------------------------------- resolving


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


# --------------------------------------------------------------------------- selecting


class SentServer(NamedTuple):
    server: ResolvedServer
    bridge_reason: str | None = (
        None  # why the agent gets a bridge to the server, as a clause; None: no bridge
    )


class UnsentServer(NamedTuple):
    """An MCP server that is not sent to an agent, with the reason."""

    server: Server
    reason: str  # as a clause
    intended: bool = False  # whether the user's settings exclude the server


class _NotWantedError(CannotSendError):
    """The user's configuration disables the server, replaces it, or limits it to other agents."""


def servers_for_agent(
    servers: Iterable[Server],
    agent: str,
    *,
    http: bool,
    sse: bool,
    environ: Mapping[str, str] | None = None,
    is_signed_in: Callable[[str], bool] = lambda _url: False,
) -> tuple[list[SentServer], list[UnsentServer]]:
    """Return the servers to send to an agent, and the other servers, each with the reason why it is not sent.

    Of several servers with the same name, only the last one can be sent.

    Args:
        servers: The servers, in ascending order of precedence.
        agent: The name of the agent.
        http: Whether the agent supports http servers.
        sse: Whether the agent supports sse servers.
        environ: The environment variables; by default those of this process.
        is_signed_in: Returns whether the user has signed in to the server with the given URL.
    """
    environment = os.environ if environ is None else environ
    wanted = list(servers)
    last = {server.name: server for server in wanted}
    supported = {"stdio": True, "http": http, "sse": sse}
    sent: list[SentServer] = []
    left_out: list[UnsentServer] = []
    for server in wanted:
        try:
            _require_sendable(server, agent, last[server.name], supported)
            resolved = resolve_server(server, environment)
            signed_in = server.transport != "stdio" and is_signed_in(resolved.url)
            reason = bridge_reason(server, supported, signed_in=signed_in)
            sent.append(SentServer(resolved, reason))
        except CannotSendError as error:
            left_out.append(UnsentServer(server, str(error), intended=isinstance(error, _NotWantedError)))
    return sent, left_out


def bridge_reason(
    server: Server,
    supported: Mapping[str, bool] | None = None,
    *,
    signed_in: bool = False,
) -> str | None:
    """Return why an agent gets a bridge to a server, as a clause; None if the agent gets the server itself.

    Args:
        server: The server.
        supported: Whether the agent supports each transport; by default the agent supports all.
        signed_in: Whether the user has signed in to the server.
    """
    if server.connection is not None:
        return 'its connection is set to "bridge"' if server.connection == "bridge" else None
    if connection_for(server) == "bridge":
        return "it needs your sign-in" if server.sign_in is not None else "its settings need the bridge"
    if supported is not None and not supported[server.transport]:
        return f"the agent does not support {server.transport} servers"
    if server.sign_in is None and signed_in:
        return "you are signed in"
    return None


def check_sendable(server: Server, agent: str) -> None:
    """Raise `CannotSendError` if the agent does not get the server.

    Does not check which transports the agent supports, or whether another definition replaces the server.
    """
    _require_sendable(server, agent, server, {"stdio": True, "http": True, "sse": True})
    resolve_server(server)


def _require_sendable(server: Server, agent: str, last: Server, supported: dict[str, bool]) -> None:
    """Raise `CannotSendError` if the server must not be sent to the agent.

    `last` is the last of the servers with the same name, and replaces the earlier servers. `supported`
    contains True for each transport that the agent supports.
    """
    if server is not last:
        raise _NotWantedError(f"replaced by the definition in {last.origin}")
    if reason := reason_off(server, agent):
        raise _NotWantedError(reason)
    require_valid(server)
    if server.connection == "direct" and not supported[server.transport]:
        raise CannotSendError(f"the agent does not support {server.transport} servers")


def reason_off(server: Server, agent: str) -> str | None:
    """Return why a server is off for an agent, as a clause; None if it is on.

    `acp-tui mcp enable` and `disable` take precedence over `enabled` in the definition, and, for a named
    agent, also over `agents`.
    """
    state = server.state
    if agent in state.disabled_for:
        return f"you disabled it for {agent}"
    if agent in state.enabled_for:
        return None
    if not server.enabled:
        return "it is disabled" if state.enabled is None else "you disabled it"
    if server.agents is not None and agent not in server.agents:
        return (
            f"it is only for {', '.join(server.agents)}" if server.agents else "its list of agents is empty"
        )
    return None


def switched_state(server: Server, *, enabled: bool, agent: str | None = None) -> ServerState:
    """Return the state that turns a server on or off: for one agent, or for all agents not set one by one.

    Values that would only repeat the definition are left out of the state.
    """
    state = server.state
    if agent is None:
        is_default = enabled == _enabled_by_file(server)
        return replace(state, enabled=None if is_default else enabled)
    on = tuple(name for name in state.enabled_for if name != agent)
    off = tuple(name for name in state.disabled_for if name != agent)
    state = replace(state, enabled_for=on, disabled_for=off)
    if (reason_off(replace(server, state=state), agent) is None) == enabled:
        return state
    return replace(state, enabled_for=(*on, agent)) if enabled else replace(state, disabled_for=(*off, agent))


def with_states(servers: Iterable[Server], states: Mapping[str, ServerState]) -> list[Server]:
    """Return the servers, each with the state that is saved for its name."""
    return [_with_state(server, states.get(server.name, NO_STATE)) for server in servers]


def _with_state(server: Server, state: ServerState) -> Server:
    by_file = _enabled_by_file(server)
    if state.enabled is None:
        return replace(server, state=state, enabled=by_file, enabled_by_file=None)
    return replace(server, state=state, enabled=state.enabled, enabled_by_file=by_file)


def _enabled_by_file(server: Server) -> bool:
    return server.enabled if server.enabled_by_file is None else server.enabled_by_file
