"""Readers for MCP servers in `[mcp_servers.NAME]` of `config.toml` and in JSON files of other programs."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from acp_tui.config import validators
from acp_tui.config.mcp import jsonc
from acp_tui.config.mcp.server import Server, parse, set_lines
from acp_tui.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from acp_tui.config.toml_document import TomlDocument

ROOTS = ("mcpServers", "servers")
"""The keys that may contain the servers: the first in most programs, the second in VS Code."""

OWN_KEYS = (
    *("command", "args", "env", "cwd", "url", "type", "headers", "sign_in"),
    *("enabled", "agents", "timeout", "connect_timeout", "include_tools", "exclude_tools", "connection"),
)
"""The documented keys of a server in `config.toml`. Equivalent keys of other programs are accepted, too."""


def from_document(config: TomlDocument, *, report_unknown_keys: bool = True) -> list[Server]:
    """Return the servers in a TOML file. Errors are added to the problems of the document.

    `report_unknown_keys` is False for files with imported definitions: the definitions can contain keys
    of other programs.
    """
    entries = config.data.get("mcp_servers", {})
    if not isinstance(entries, dict):
        config.report(("mcp_servers",), str(validators.invalid_value("tables, [mcp_servers.NAME]", entries)))
        return []
    servers = []
    for name, entry in entries.items():
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
        raise UserError(f"{file} cannot be read: {error.strerror}.", exit_code=2) from None
    servers = from_json(raw, file)
    if servers is None:
        raise UserError(f'{file} has no "mcpServers" object.', exit_code=2)
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
    if not isinstance(data, dict):
        return []
    projects = data.get("projects")
    places: list[tuple[str, ...]] = [("mcpServers",)]
    places += [("projects", name, "mcpServers") for name in (projects if isinstance(projects, dict) else ())]
    found: list[tuple[Server, str]] = []
    for path in places:
        entries: Any = data
        for key in path:
            entries = entries.get(key) if isinstance(entries, dict) else None
        project = path[1] if len(path) > 1 else ""
        if isinstance(entries, dict):
            found += [(server, project) for server in from_entries(entries, file, lines, path, repeated)]
    return found


def load_json(raw: bytes, file: Path) -> tuple[Any, dict[tuple[str, ...], int], Collection[tuple[str, ...]]]:
    """Return the value in a JSON file, the line of each key, and the repeated keys; see `jsonc.key_lines`.

    Raises `UserError` for invalid JSON.
    """
    try:
        text = jsonc.without_comments(raw.decode("utf-8-sig"))
        data = json.loads(text)
        lines, repeated = jsonc.key_lines(text)
    except UnicodeDecodeError:
        raise UserError(f"{file} is not UTF-8 text.", exit_code=2) from None
    except json.JSONDecodeError as error:
        raise UserError(f"{file}:{error.lineno}: not valid JSON: {error.msg}.", exit_code=2) from None
    except ValueError as error:  # a number with thousands of digits
        raise UserError(f"{file} is not valid JSON: {error}.", exit_code=2) from None
    except RecursionError:
        raise UserError(f"{file} is nested too deeply.", exit_code=2) from None
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
        set_lines(server, entry, partial(_line, lines, *path, name))
        servers.append(server)
    return servers


def _line(lines: Mapping[tuple[str, ...], int], *path: str) -> int | None:
    return lines.get(path)
