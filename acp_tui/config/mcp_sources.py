"""Readers for MCP servers in `[mcp_servers.NAME]` of `config.toml` and in JSON files of other programs."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import acp_tui
from acp_tui.config import toml_document
from acp_tui.config.mcp import Server, ServerState, parse, set_lines, with_states
from acp_tui.config.own_files import read_small_file_inside
from acp_tui.errors import UsageError, UserError
from acp_tui.session.safe_text import escape_invisible

if TYPE_CHECKING:
    from acp_tui.config.toml_document import TomlDocument


# The quote at the end is optional: a search that fails at each of 500,000 quotes would take minutes.
_STRING = r'"(?:\\.|[^"\\])*+"?'
_COMMENT = re.compile(rf"({_STRING})|//[^\n]*|/\*(?:.*?\*/|.*)", re.DOTALL)
_TRAILING_COMMA = re.compile(rf"({_STRING})|,(?=\s*[}}\]])", re.DOTALL)
MAX_KEY_DEPTH = 4
"""The depth of objects down to which `key_lines` reports keys."""
MAX_DEPTH = 50
"""The maximum depth of nesting. The `json` module reads about 1,000 levels, but cannot always write them."""

_TOKEN = re.compile(rf"{_STRING}|[{{}}\[\],]", re.DOTALL)
ROOTS = ("mcpServers", "servers")
"""The keys that may contain the servers: the first in most programs, the second in VS Code."""
OWN_KEYS = (
    *("command", "args", "env", "cwd", "url", "type", "headers", "sign_in"),
    *("enabled", "agents", "timeout", "connect_timeout", "include_tools", "exclude_tools", "connection"),
)
"""The documented keys of a server in `config.toml`. Equivalent keys of other programs are accepted, too."""
JSON_ROOTS: tuple[tuple[str, ...], ...] = (
    ("mcpServers",),
    ("servers",),
    ("context_servers",),
    ("mcp", "servers"),
    ("mcp",),
)
"""The paths of keys that can contain the servers: of most programs, VS Code's `mcp.json`, Zed, VS Code's
settings, OpenCode."""
TOML_ROOT = "mcp_servers"
_OPENCODE_VARIABLE = re.compile(r"\{env:(\w+)\}")


def without_comments(text: str) -> str:
    """Return plain JSON: comments and trailing commas become spaces, to keep the line and column numbers."""
    text = _COMMENT.sub(_blank, text)
    return _TRAILING_COMMA.sub(_blank, text)


def _blank(match: re.Match[str]) -> str:
    return match[1] or re.sub(r"[^\n]", " ", match[0])


def key_lines(text: str) -> tuple[dict[tuple[str, ...], int], set[tuple[str, ...]]]:
    """Return the line of each key in valid JSON, by the path of the key, and the keys that are repeated.

    The first line is 1. A key that is repeated in an object has the line of its last occurrence. Keys deeper
    than `MAX_KEY_DEPTH` and keys inside arrays are left out. Raises `RecursionError` for more levels than
    `MAX_DEPTH`.
    """
    lines: dict[tuple[str, ...], int] = {}
    repeated: set[tuple[str, ...]] = set()
    path: list[str] = []
    open_brackets: list[str] = []
    expects_key = False
    line, counted = 1, 0
    for token in _TOKEN.finditer(text):
        line += text.count("\n", counted, token.start())
        counted = token.start()
        match token[0]:
            case "{" | "[" as bracket:
                open_brackets.append(bracket)
                if len(open_brackets) > MAX_DEPTH:
                    raise RecursionError
                path.append("")
                expects_key = bracket == "{"
            case "}" | "]":
                open_brackets.pop()
                path.pop()
                expects_key = False
            case ",":
                expects_key = open_brackets[-1] == "{"
            case string if expects_key:
                expects_key = False
                if len(path) <= MAX_KEY_DEPTH and "[" not in open_brackets:
                    path[-1] = json.loads(string)
                    if tuple(path) in lines:
                        repeated.add(tuple(path))
                    lines[tuple(path)] = line
    return lines, repeated


def from_document(config: TomlDocument, *, report_unknown_keys: bool = True) -> list[Server]:
    """Return the servers in a TOML file. Errors are added to the problems of the document.

    `report_unknown_keys` is False for files with imported definitions: the definitions can contain keys
    of other programs.
    """
    servers = []
    for name, entry in config.tables("mcp_servers").items():
        server = parse(name, entry, config.file, config.line("mcp_servers", name))
        for key, sentence in server.faults:
            path = ("mcp_servers", name, key) if key else ("mcp_servers", name)
            config.report(path, f"{sentence}; no agent gets the server")
        for key in server.extra if report_unknown_keys else ():
            config.report_unknown_key(("mcp_servers", name, key), OWN_KEYS)
        set_lines(server, entry, partial(config.line, "mcp_servers", name))
        servers.append(server)
    return servers


def from_json_file(file: Path) -> list[Server]:
    """Return the servers in a JSON file (`--mcp-config`). Raises `UserError` for an invalid file."""
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.") from None
    servers = from_json(raw, file)
    if servers is None:
        raise UsageError(f'{file} has no "mcpServers" object.')
    return servers


def from_json(raw: bytes, file: Path, roots: Sequence[str] = ROOTS) -> list[Server] | None:
    """Return the servers in a JSON file, listed below the first of the keys `roots` that exists.

    None if none of the keys exists, or if the value of the first existing key is not an object.

    Comments and trailing commas are accepted. Raises `UserError` if the content is not valid JSON.
    """
    data, lines, repeated = load_json(raw, file)
    root = next((key for key in roots if isinstance(data, dict) and key in data), None)
    if root is None or not isinstance(data[root], dict):
        return None
    return from_entries(data[root], file, lines, (root,), repeated)


def from_claude_code(raw: bytes, file: Path) -> list[tuple[Server, str]]:
    """Return the servers in Claude Code's own file, each with the path of the project it is limited to.

    The path is "" for a server that is available in all projects. Raises `UserError` if the content is not
    valid JSON.
    """
    data, lines, repeated = load_json(raw, file)
    places: list[tuple[str, ...]] = [("mcpServers",)]
    places += [("projects", name, "mcpServers") for name in _object_at(data, ("projects",)) or ()]
    found: list[tuple[Server, str]] = []
    for path in places:
        project = path[1] if len(path) > 1 else ""
        entries = _object_at(data, path) or {}
        found += [(server, project) for server in from_entries(entries, file, lines, path, repeated)]
    return found


def _object_at(data: Any, path: tuple[str, ...]) -> dict[str, Any] | None:
    for key in path:
        data = data.get(key) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else None


def load_json(raw: bytes, file: Path) -> tuple[Any, dict[tuple[str, ...], int], Collection[tuple[str, ...]]]:
    """Return the value in a JSON file, the line of each key, and the repeated keys; see `key_lines`.

    Raises `UserError` for invalid JSON.
    """
    try:
        text = without_comments(raw.decode("utf-8-sig"))
        data = json.loads(text)
        lines, repeated = key_lines(text)
    except UnicodeDecodeError:
        raise UsageError(f"{file} is not UTF-8 text.") from None
    except json.JSONDecodeError as error:
        raise UsageError(f"{file}:{error.lineno}: not valid JSON: {error.msg}.") from None
    except ValueError as error:  # a number with thousands of digits
        raise UsageError(f"{file} is not valid JSON: {error}.") from None
    except RecursionError:
        raise UsageError(f"{file} is nested too deeply.") from None
    return data, lines, repeated


def from_entries(
    entries: dict[str, Any],
    file: Path,
    lines: Mapping[tuple[str, ...], int],
    path: tuple[str, ...],
    repeated: Collection[tuple[str, ...]],
) -> list[Server]:
    """Return the servers defined in `entries`, which is the object at `path` in a JSON file.

    `repeated` contains the paths of the keys that occur more than once.
    """
    servers = []
    for name, entry in entries.items():
        server = parse(name, entry, file, lines.get((*path, name)), is_json=True)
        if (*path, name) in repeated:  # then the keys of the definitions are repeated, too
            server.faults.append(("", "the file defines it more than once; remove the other definitions"))
        else:
            start = (*path, name)
            twice = [".".join(one[len(start) :]) for one in repeated if one[: len(start)] == start]
            server.faults += [(key, "the key occurs more than once") for key in sorted(twice)]
        set_lines(server, entry, lambda *keys, start=(*path, name): lines.get((*start, *keys)))
        servers.append(server)
    return servers


def keys_looked_for(file: Path) -> str:
    """Return the keys that can contain servers in a file, for a message."""
    return TOML_ROOT if _is_toml(file) else ", ".join(".".join(path) for path in JSON_ROOTS)


def servers_in(raw: bytes, file: Path) -> list[Server] | None:
    """Return the servers in a file of another program; None if no key of the file contains servers.

    Raises `UserError` if the file is invalid.
    """
    if _is_toml(file):
        return _codex_servers(file)
    data, lines, repeated = load_json(raw, file)
    for path in JSON_ROOTS:
        if (entries := _object_at(data, path)) is not None:
            translated = {name: _translated(entry) for name, entry in entries.items()}
            return from_entries(translated, file, lines, path, repeated)
    return None


def _is_toml(file: Path) -> bool:
    return file.suffix.lower() == ".toml"


# --------------------------------------------------------------------------- Codex


def _codex_servers(file: Path) -> list[Server] | None:
    document = toml_document.read(file)
    if document.problems:
        raise UserError(f"{document.problems[0]}.", exit_code=1)
    entries = document.data.get(TOML_ROOT)
    if not isinstance(entries, dict):
        return None
    return [
        parse(name, _codex_entry(entry), file, document.line(TOML_ROOT, name))
        for name, entry in entries.items()
    ]


def _codex_entry(entry: Any) -> Any:
    """Return an entry of Codex with acp-tui's keys."""
    if not isinstance(entry, dict):
        return entry
    names = {
        "http_headers": "headers",
        "tool_timeout_sec": "timeout",
        "startup_timeout_sec": "connect_timeout",
        "enabled_tools": "include_tools",
        "disabled_tools": "exclude_tools",
    }
    own = {names.get(key, key): value for key, value in entry.items()}
    own.pop("env_vars", None)  # names of variables to pass on; acp-tui passes all
    headers = own.get("headers", {})
    variables = own.pop("env_http_headers", {})
    if isinstance(headers, dict) and isinstance(variables, dict):
        headers = headers | {name: f"${{{variable}}}" for name, variable in variables.items()}
        if isinstance(token := own.pop("bearer_token_env_var", None), str):
            headers = {**headers, "Authorization": f"Bearer ${{{token}}}"}
        if headers:
            own["headers"] = headers
    return own


# --------------------------------------------------------------------------- JSON


def _translated(entry: Any) -> Any:
    """Return an entry of OpenCode, Zed, VS Code or Windsurf with the keys of `.mcp.json`."""
    if not isinstance(entry, dict):
        return entry
    own = _with_variables(entry)
    if own.get("source") == "extension" and "command" not in own and "url" not in own:
        return {"source": "extension"}  # Zed's extension knows the command
    if own.get("source") in ("custom", "extension"):
        del own["source"]
    if isinstance(program := own.get("command"), dict):  # older settings of Zed
        del own["command"]
        own |= {"command" if key == "path" else key: value for key, value in program.items()}
    if own.get("type") == "remote":  # OpenCode: http, or sse if the server does not support http
        del own["type"]
    for name, other in (("env", "environment"), ("url", "serverUrl"), ("excludeTools", "disabledTools")):
        if other in own and name not in own:
            own[name] = own.pop(other)
    if own.get("env") is None:
        own.pop("env", None)
    if own.get("oauth") in ({}, False):
        del own["oauth"]  # OpenCode's own sign-in
    return own


def _with_variables(value: Any) -> Any:
    """Return a value with OpenCode's `{env:NAME}` as `${NAME}`."""
    if isinstance(value, str):
        return _OPENCODE_VARIABLE.sub(r"${\1}", value)
    if isinstance(value, list):
        return [_with_variables(item) for item in value]
    return {key: _with_variables(item) for key, item in value.items()} if isinstance(value, dict) else value


PROJECT_FILES = {
    ".mcp.json": "mcpServers",
    ".cursor/mcp.json": "mcpServers",
    ".vscode/mcp.json": "servers",
    ".gemini/settings.json": "mcpServers",
}
"""The files in which a project can define MCP servers, each with the key that contains them.

If two files define a server of the same name, the file that comes first here takes precedence.
"""
MAX_SERVERS = 20
"""The maximum number of servers that a project may define. It is low: the user is asked about each one."""
MAX_DEFINITION_CHARACTERS = 4_000
"""The maximum length of a server's definition, which the user reads before allowing the server."""
MAX_NAME_CHARACTERS = 100

_GEMINI_VARIABLE = re.compile(r"\$(\w+)")


@dataclass(frozen=True, slots=True)
class ProjectServers:
    """The MCP servers of a project, and why other servers of the project are missing."""

    servers: list[Server] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)  # sentences


def read_project_servers(cwd: Path) -> ProjectServers:
    """Return the MCP servers that the files of a project define. Blocks: call it in a thread.

    `cwd` is the absolute path of the project's folder.
    """
    found = ProjectServers()
    count = 0
    for name, root in PROJECT_FILES.items():
        file = cwd / name
        try:
            raw = read_small_file_inside(cwd, name)
            servers = from_json(raw, file, (root,)) if raw is not None else None
        except OSError as error:
            found.problems.append(f"{file} is not read: {error.strerror}.")
        except UserError as error:
            found.problems.append(str(error))
        else:
            count = max(count, len(servers or []))
            found.servers.extend(_checked(server, cwd) for server in (servers or [])[: MAX_SERVERS + 1])
    count = max(count, len({server.definition() for server in found.servers}))
    if count > MAX_SERVERS:
        sentence = f"{cwd} defines {count:,} MCP servers; none is used, because the limit is {MAX_SERVERS}."
        return ProjectServers([], [*found.problems, sentence])
    return found


def _checked(server: Server, cwd: Path) -> Server:
    """Return the server, marked as defined by the project.

    The server gets a fault if its definition or its name is too long, or if its name is empty or contains
    control or invisible characters.
    """
    if len(server.definition()) > MAX_DEFINITION_CHARACTERS:
        limit = f"{MAX_DEFINITION_CHARACTERS:,}"
        fault = ("", f"its definition has more than {limit} characters")
        return Server(_shorten(server.name), server.file, server.line, faults=[fault], project=cwd)
    faults = [(key, _shorten(sentence)) for key, sentence in server.faults]  # they may quote the file
    server = replace(server, project=cwd, faults=faults)
    if server.file == cwd / ".gemini/settings.json":
        server = with_braces(server)
    if escape_invisible(server.name) != server.name or "\n" in server.name or "\t" in server.name:
        server.faults.append(("", "its name contains control or invisible characters"))
    if len(server.name) > MAX_NAME_CHARACTERS:
        server.faults.append(("", f"its name has more than {MAX_NAME_CHARACTERS} characters"))
        server.name = _shorten(server.name)
    return server


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_NAME_CHARACTERS else text[: MAX_NAME_CHARACTERS - 1] + "…"


def with_braces(server: Server) -> Server:
    """Return the server with `$VAR` replaced by `${VAR}` in command, arguments, variables, URL and headers.

    Gemini's settings accept both notations.
    """

    def braces(text: str) -> str:
        return _GEMINI_VARIABLE.sub(r"${\1}", text)

    def values(texts: dict[str, str]) -> dict[str, Any]:
        return {name: braces(text) for name, text in texts.items()}

    return replace(
        server,
        command=braces(server.command),
        args=[braces(word) for word in server.args],
        env=values(server.env),
        url=braces(server.url),
        headers=values(server.headers),
    )


DEMO_AGENT = "demo"
"""The name of the demo agent, and also of its MCP server."""


def demo_server(states: Mapping[str, ServerState]) -> Server:
    """Return the demo agent's MCP server. `states` says, by the server's name, whether the server is on."""
    program = Path(acp_tui.__file__).parent / "demo" / "mcp_server.py"
    args = ["-P", "-m", "acp_tui.demo.mcp_server"]
    server = Server(DEMO_AGENT, program, None, command=sys.executable, args=args, agents=[DEMO_AGENT])
    return with_states([server], states)[0]
