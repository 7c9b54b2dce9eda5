"""Finds out which MCP server and tool a tool call uses, from the tool names and the title in the call."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

OWN_SERVER = "acp-tui"
"""The name of the MCP server with acp-tui's own tools."""
_UNSAFE = re.compile(r"[^a-zA-Z0-9_-]")
"""The characters of a server's name that agents replace with `_`."""
_VIBE_NAME = re.compile(r"mcp_([^.]+)\.(.+)")
_GEMINI_TITLE = re.compile(r"(?P<tool>\S+) \((?P<server>.+) MCP Server\)")
_PREFIX = "Tool: "
"""Codex puts this before the name of a tool in a title."""


@dataclass(frozen=True, slots=True)
class McpTool:
    """An MCP tool that a tool call names. `name` is the tool's name as spelled by the agent."""

    server: str
    name: str
    source: Literal["name", "title"]  # the field of the tool call that contains the name
    is_title: bool = False  # whether the title is only this name
    is_ambiguous: bool = False  # whether the name could also mean another tool, or one of another server

    @property
    def label(self) -> str:
        """The server and the tool, for display."""
        return f"{self.server} › {self.name}"


def find_mcp_tool(names: Iterable[str], title: str, kind: str, servers: Sequence[str]) -> McpTool | None:
    """Return the MCP tool that a tool call names; None if the call names no MCP tool.

    Args:
        names: Names of the tool, from call fields that contain only a name.
        title: The title of the call, which can be a name of the tool.
        kind: The kind of the call.
        servers: The names of the MCP servers that the agent was given.
    """
    bare = title.strip().strip("`")
    # The title of a call of another kind may be a path, such as `server/file.py`.
    may_have_slash = kind == "other" or bare.startswith(_PREFIX)
    titled = _splits(bare.removeprefix(_PREFIX), servers, ("__", "/") if may_have_slash else ("__",))
    if not titled and kind == "other":  # OpenCode joins server and tool with one `_`
        titled = _splits(bare, servers, ("_",))
    for name in names:
        if found := _splits(name, servers, ("__", "/")):
            is_title = bool(titled) or bare in (name, found[0][1], "")
            return McpTool(*found[0], source="name", is_title=is_title, is_ambiguous=len(found) > 1)
    if kind == "other" and (named := _GEMINI_TITLE.fullmatch(bare)) and named["server"] in servers:
        return McpTool(named["server"], named["tool"], source="title", is_title=True)
    if titled:
        return McpTool(*titled[0], source="title", is_title=True, is_ambiguous=len(titled) > 1)
    return None


def mcp_tool_in_input(raw_input: Any, meta: Mapping[str, Any], servers: Sequence[str]) -> McpTool | None:
    """Return the MCP tool that a raw input of the form `{"server", "tool", "arguments"}` names, as in Codex.

    The tool is as certain as one in a field for names if `meta` says that this is a call of an MCP tool.
    """
    if not isinstance(raw_input, dict) or set(raw_input) != {"server", "tool", "arguments"}:
        return None
    server, tool = raw_input["server"], raw_input["tool"]
    if server not in servers or not isinstance(tool, str) or not tool:
        return None
    return McpTool(server, tool, "name" if meta.get("is_mcp_tool_call") is True else "title", is_title=True)


def fold_mcp_name(name: str) -> str:
    """Return the name of a server or tool in a form that is the same however an agent rewrites the name."""
    return _UNSAFE.sub("_", unicodedata.normalize("NFC", name)).casefold()


def tool_names(name: str | None, meta: Mapping[str, Any]) -> Iterator[str]:
    """Yield `name`, then the `toolName` of `meta` itself, and the `toolName` of each object in `meta`.

    A `tool_name` of the form `mcp_SERVER.TOOL`, as in Mistral Vibe, is yielded as `mcp__SERVER__TOOL`.
    """
    if name:
        yield name
    if isinstance(named := meta.get("tool_name"), str) and (parts := _VIBE_NAME.fullmatch(named)):
        yield f"mcp__{parts[1]}__{parts[2]}"
    for source in (meta, *meta.values()):
        if isinstance(source, dict) and isinstance(found := source.get("toolName"), str) and found:
            yield found


def _splits(name: str, servers: Sequence[str], separators: Sequence[str]) -> list[tuple[str, str]]:
    """Return each pair of server and tool that a name such as `mcp__server__tool` or `server/tool` can mean.

    Longer server names come first. Of equally long server names, those that `name` contains unchanged come
    first.
    """
    if not name or any(character.isspace() for character in name):
        return []
    rest = name.removeprefix("mcp__")
    found: list[tuple[str, str]] = []
    for server in sorted(servers, key=lambda server: (len(server), rest.startswith(server)), reverse=True):
        for written in dict.fromkeys((server, _UNSAFE.sub("_", server))):
            for separator in separators:
                tool = rest.removeprefix(f"{written}{separator}")
                if tool.strip("_") and tool != rest and (server, tool) not in found:
                    found.append((server, tool))
    return found
