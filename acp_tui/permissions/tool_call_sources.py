"""Reads, from each source in a tool call, what the call is about, so that the sources can be compared.

The sources are the raw input, texts that are JSON, diffs, locations, the tool's name and `_meta`.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from acp_tui.permissions.subject import MAX_PATH, PATH_KINDS, McpCallKey, PathContext, Subject, Target
from acp_tui.protocol.json_rpc import decode
from acp_tui.protocol.raw_patches import RawPatches, RawText, read_patches, texts_in
from acp_tui.protocol.raw_values import (
    ARGUMENT_KEYS,
    COMMAND_KEYS,
    COMMAND_LIST_KEYS,
    DIRECTORY_KEYS,
    ENVIRONMENT_KEYS,
    PATH_KEYS,
    PATH_LIST_KEYS,
    PATTERN_KEYS,
    TEXT_KEYS,
)
from acp_tui.session.mcp_tool import McpTool, fold_mcp_name, tool_names
from acp_tui.session.state import Content, Diff, ToolCall

MAX_NESTING = 4
_EDITOR_COMMANDS = frozenset({"view", "create", "str_replace", "insert", "undo_edit"})
"""Operations of Anthropic's text editor tool (OpenHands' `file_editor`), passed under the key `command`."""
FILE_KINDS = frozenset({"read", "edit", "delete", "move"})
"""Kinds of tool calls whose text may be the content of a file."""


_MORE_ARGUMENTS = ("arguments", "argv")
"""Keys besides `args` that may hold words of a command. Where in the command they belong is unknown."""
_DIFFERENT_TOOLS = "it names different tools in different places"
_UNCLEAR_SERVER = "it is unclear where the server's name ends and the tool's name begins"
_MCP_CALL_TEXT = re.compile(r"Requesting approval to perform: Call MCP tool `(.+)`\.")
"""What kimi-cli says when it asks about a call of an MCP tool. Another text of the call has the arguments."""
MAX_PATHS = 200
"""The maximum number of paths to check. Each check costs calls to the file system."""
MAX_TEXT = 256 * 1024
"""How many characters of text are searched for paths."""
_ADDRESS = re.compile(r"(?<![A-Za-z0-9+.-])(?!file:)[A-Za-z][A-Za-z0-9+.-]*://\S*")
_HOME = re.compile(r"\$HOME\b|\$\{HOME\}")
_PATH_IN_TEXT = re.compile(
    r"(?<![\w/.~$%})-])(?:file://|\]\()?(?:~?/|\.\.?/|\.(?=\w)|[\w.-]+/)[^\s'\"`<>|;,(){}\[\]\\]*"
)
_PLAIN_PATH = re.compile(r"[\w./~+-]+")
_REVISION = re.compile(r"(?:[\w.-]+/)*(?:[A-Z]+_)?HEAD", re.IGNORECASE)
_FILE_ADDRESS = re.compile(r"file://(?:localhost)?(?=/)")
_TOP_FOLDERS = frozenset({
    *("bin", "boot", "data", "dev", "efi", "etc", "home", "lib", "lib32", "lib64", "media", "mnt", "nix"),
    *("opt", "private", "proc", "root", "run", "sbin", "srv", "sys", "tmp", "usr", "var"),
    *("Applications", "Library", "System", "Users", "Volumes"),
})  # fmt: skip
"""The usual folders in `/`. An absolute path within prose must begin with one: `/api/users` is no file."""


@dataclass(slots=True)
class FoundCommands:
    """The commands that a tool call names, and where they would run."""

    commands: list[str | tuple[str, ...]] = field(default_factory=list)
    cwd: str | None = None
    env: dict[str, str] = field(default_factory=dict)
    doubt: str | None = None


@dataclass(frozen=True, slots=True)
class FoundTool:
    """The MCP server and tool of a call. Both are None if no tool is named, or if `doubt` is set."""

    server: str | None = None
    name: str | None = None
    doubt: str | None = None


def commands_of(call: ToolCall) -> FoundCommands:
    """Return the commands in the raw input, and in text that is complete JSON.

    In calls about files, text is ignored, because it can be the content of a JSON file. In calls of other
    kinds than `execute`, the key `command` is ignored if it holds an operation of an editor tool, such as
    `view`, next to a path.
    """
    found = FoundCommands()
    about_files = call.kind in FILE_KINDS
    inputs = [
        {key: value for key, value in source.items() if key != "command"}
        if call.kind != "execute" and _is_editor_command(source)
        else source
        for source in _nested(_raw_inputs(call) if about_files else _inputs(call))
    ]
    for source in inputs:
        _add_commands(found, source)
    if found.commands or call.kind == "execute":  # otherwise `env` and `directory` may mean anything
        for source in inputs:
            _add_directory(found, source)
            _add_environment(found, source)
    return found


def _add_commands(found: FoundCommands, source: Mapping[str, Any]) -> None:
    for key in COMMAND_KEYS:
        value = source.get(key)
        if value in (None, "", []):
            continue
        command = _command(value, source.get("args"))
        if command is None:
            found.doubt = f"`{key}` or `args` in the raw input has an unexpected type"
        else:
            found.commands.append(command)
            more = ((name, source.get(name)) for name in _MORE_ARGUMENTS)
            added = next((name for name, words in more if words and isinstance(words, (str, list))), None)
            if added is not None:
                found.doubt = f"`{added}` in the raw input may add to the command"
    for key in COMMAND_LIST_KEYS:
        value = source.get(key)
        if value in (None, "", []):
            continue
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            found.commands += value
        else:
            found.doubt = f"`{key}` in the raw input is not a list of strings"


def _add_environment(found: FoundCommands, source: Mapping[str, Any]) -> None:
    """Add the environment variables in `source` to `found`.

    They have the form `{"A": "1"}`, or `[{"name": "A", "value": "1"}]` as in `terminal/create`.
    """
    for key in ENVIRONMENT_KEYS:
        value = source.get(key)
        pairs: Iterable[tuple[object, object]] = ()
        if isinstance(value, dict):
            pairs = value.items()
        elif isinstance(value, list) and all(isinstance(one, dict) and "name" in one for one in value):
            pairs = [(one["name"], one.get("value", "")) for one in value]
        elif value not in (None, "", []):
            found.doubt = f"`{key}` in the raw input is not a list of environment variables"
        found.env |= {str(name): str(content) for name, content in pairs}


def _is_editor_command(source: Mapping[str, Any]) -> bool:
    command = source.get("command")
    if not isinstance(command, str) or command not in _EDITOR_COMMANDS:
        return False
    return any(isinstance(source.get(key), str) for key in PATH_KEYS)


def paths_of(call: ToolCall) -> list[list[str]]:
    """Return one list of paths for each source that contains paths: diffs, locations, arguments, patches."""
    changed = [part for part in call.content if isinstance(part, Diff) and not part.from_input]
    diffs = [path for diff in changed for path in (diff.old_path, diff.path) if path]
    locations = [location.path for location in call.locations]
    inputs = [list(dict.fromkeys(_paths(source))) for source in _inputs(call)]
    known = {path for source in (diffs, locations, *inputs) for path in source}
    # Copilot's patches have the header `--- a/ws/x` for the file /ws/x.
    patched = [f"/{path}" if f"/{path}" in known else path for path in patches_of(call).paths]
    return [source for source in (diffs, locations, *inputs, patched) if source]


def patches_of(call: ToolCall) -> RawPatches:
    """Return the files that patches in the raw input change."""
    return read_patches(call.raw_input)


def mcp_tool_of(call: ToolCall) -> FoundTool:
    """Return the MCP server and tool in the call's name or `_meta`.

    A name without `mcp__` counts if it begins with the name of one of the agent's servers.
    """
    names = set(tool_names(call.name, call.meta))
    found = {name for name in names if name.startswith("mcp__")}
    named = call.mcp_tool if call.mcp_tool is not None and call.mcp_tool.source == "name" else None
    if not found:
        return _named_tool(named, names)
    full = found.pop()
    if any(name != full and not full.endswith(f"__{name}") for name in names):
        return FoundTool(doubt=_DIFFERENT_TOOLS)
    parts = full.removeprefix("mcp__").split("__")
    if len(parts) != 2 or not all(parts):
        return FoundTool(doubt=_UNCLEAR_SERVER)
    if named is None:
        return FoundTool(*parts)
    if named.is_ambiguous or fold_mcp_name(named.server) != fold_mcp_name(parts[0]):
        return FoundTool(doubt=_UNCLEAR_SERVER)
    return FoundTool(named.server, named.name)  # not `parts`: agents replace characters in the server's name


def _named_tool(named: McpTool | None, names: Collection[str]) -> FoundTool:
    """Convert `named` to a `FoundTool`. If the tool is unclear, only the `doubt` of the result is set.

    The tool is unclear if `named` is ambiguous, or if one of `names` does not end with the name of the tool.
    The caller ensures that none of `names` begins with `mcp__`.
    """
    if named is None:
        return FoundTool()
    if not all(name.endswith(named.name) for name in names):
        return FoundTool(doubt=_DIFFERENT_TOOLS)
    return FoundTool(doubt=_UNCLEAR_SERVER) if named.is_ambiguous else FoundTool(named.server, named.name)


def mcp_call_of(call: ToolCall, tool: FoundTool) -> McpCallKey | None:
    """Return the key of an MCP call; None if its server, tool or arguments are unclear or unknown.

    `tool` is the result of `mcp_tool_of`.
    """
    named = call.mcp_tool
    server, name = (tool.server, tool.name) if named is None else (named.server, named.name)
    if named is None and tool == FoundTool():
        return _mcp_call_in_texts(call)
    if tool.doubt or server is None or name is None:
        return None
    if not isinstance(call.raw_input, dict | None):
        return None
    return mcp_call_key(server, name, _mcp_arguments(call.raw_input or {}))


def _mcp_call_in_texts(call: ToolCall) -> McpCallKey | None:
    """Return the key of a call that only the texts of the call name; the server is not known then."""
    texts = [part.text.strip() for part in call.content if isinstance(part, Content) and part.kind == "text"]
    names = {found[1] for text in texts if (found := _MCP_CALL_TEXT.fullmatch(text))}
    arguments = [source for text in texts if (source := _object(text)) is not None]
    if len(names) != 1 or len(arguments) != 1 or call.raw_input is not None:
        return None
    return mcp_call_key("", names.pop(), arguments[0])


def mcp_call_key(server: str, tool: str, arguments: Any) -> McpCallKey:
    """Return the key of a call. The key is the same whether `arguments` is None or empty."""
    return McpCallKey(server, tool, json.dumps(arguments or {}, sort_keys=True))


def _mcp_arguments(raw_input: dict[str, Any]) -> Any:
    """Return the arguments: `raw_input` itself or, in the form that Codex sends, `raw_input["arguments"]`."""
    inner = raw_input.get("arguments")
    if isinstance(inner, dict) and set(raw_input) <= {"server", "tool", "arguments"}:
        return inner
    return raw_input


def url_of(call: ToolCall) -> str | None:
    """Return the URL of a fetch; None unless the call has exactly one URL."""
    urls = {source["url"] for source in _inputs(call) if isinstance(source.get("url"), str)}
    return urls.pop() if len(urls) == 1 else None


def texts_of(call: ToolCall) -> list[str]:
    """Return texts that may mention a command: the titles, the content, and raw input that is a string."""
    raw = [call.raw_input] if isinstance(call.raw_input, str) else []
    return [
        call.title,
        call.permission_title,
        *raw,
        *(part.text for part in call.content if isinstance(part, Content)),
    ]


def _inputs(call: ToolCall) -> Iterator[Mapping[str, Any]]:
    """Yield the arguments of the call: its raw input, and each of its texts that is a JSON object."""
    yield from _raw_inputs(call)
    for part in call.content:
        if isinstance(part, Content) and part.kind == "text" and (source := _object(part.text)):
            yield source


def _raw_inputs(call: ToolCall) -> Iterator[Mapping[str, Any]]:
    if isinstance(call.raw_input, dict):
        yield call.raw_input
    elif isinstance(call.raw_input, str) and (source := _object(call.raw_input)):
        yield source


def _nested(inputs: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield the objects, and those nested in them under keys such as `args`."""
    level = list(inputs)
    for _ in range(MAX_NESTING):
        yield from level
        level = [
            source[key] for source in level for key in ARGUMENT_KEYS if isinstance(source.get(key), dict)
        ]


def _object(text: str) -> dict[str, Any] | None:
    """Return the JSON object in the text; None if the text is not a JSON object."""
    text = text.strip()
    if not (text.startswith("{") and text.endswith("}")):
        return None
    value = decode(text)
    return value if isinstance(value, dict) else None


def _command(value: Any, args: Any) -> str | tuple[str, ...] | None:
    if isinstance(value, str) and not args:
        return value
    words = value if isinstance(value, list) else [value]
    words = [*words, *args] if isinstance(args, list) else words
    if not all(isinstance(word, str) for word in words) or not (args is None or isinstance(args, list)):
        return None
    return tuple(words)


def _add_directory(found: FoundCommands, source: Mapping[str, Any]) -> None:
    for key in DIRECTORY_KEYS:
        value = source.get(key)
        if isinstance(value, str) and value:
            if found.cwd not in (None, value):
                found.doubt = "it names several different working directories"
            found.cwd = value
        elif value:
            found.doubt = f"`{key}` in the raw input is not a directory"


def _paths(source: Mapping[str, Any]) -> Iterator[str]:
    for key in PATH_KEYS:
        if isinstance(source.get(key), str) and source[key]:
            yield source[key]
    for key in PATH_LIST_KEYS:
        for item in (
            source[key] if isinstance(source.get(key), (list, dict)) else ()
        ):  # a dict has paths as keys
            if isinstance(item, str) and item:
                yield item
            elif isinstance(item, dict):
                yield from (item[key] for key in PATH_KEYS if isinstance(item.get(key), str) and item[key])


def input_concerns(call: ToolCall, subject: Subject, context: PathContext) -> Iterator[str]:
    """Yield a clause for each path in the raw input that is outside the workspace or sensitive.

    Paths that `subject` contains anyway are left out. If it is clear which files or which command the request
    is about, only arguments that are paths as a whole count, and not the texts that an edit writes.
    """
    known = subject.certain and subject.kind in PATH_KINDS
    if subject.certain and subject.kind == "execute":
        return  # the analysis of the command finds what it names
    reported = {target.real for target in subject.targets}
    search = _Search(context, within=not known)
    texts, complete = texts_in(call.raw_input)
    for each in texts:
        if known and (each.is_key or each.key in TEXT_KEYS | PATTERN_KEYS):
            continue
        for path, target in search.paths(each):
            if target.real not in reported:
                reported.add(target.real)
                yield f"its raw input names {path}, which {target.sensitive or 'is outside the workspace'}"
    if not complete or search.room < 0:
        yield "its raw input is too large to be checked"


class _Search:
    """A search for paths that are outside the workspace or sensitive."""

    def __init__(self, context: PathContext, *, within: bool) -> None:
        self.room = MAX_PATHS
        self._context = context
        self._within = within
        roots = [posixpath.normpath(root) for root in (context.cwd, *context.roots)]
        self._top = _TOP_FOLDERS | {root.split("/")[1] for root in roots if root.startswith("/")}
        self._seen: set[str] = set()

    def paths(self, given: RawText) -> Iterator[tuple[str, Target]]:
        """Yield the paths that the text is or, if the search looks within texts, contains."""
        whole = _HOME.sub("~", _FILE_ADDRESS.sub("", given.text.strip()[: MAX_PATH + 1], count=1))
        is_pattern = given.key in PATTERN_KEYS
        if not given.is_key and self._is_path(whole) and not (is_pattern and not self._is_usual(whole)):
            yield from self._check(whole, resolve=True)
            if _PLAIN_PATH.fullmatch(whole):
                return
        if self._within and ("/" in given.text or "." in given.text):
            for found in _PATH_IN_TEXT.finditer(_ADDRESS.sub(" ", _HOME.sub("~", given.text[:MAX_TEXT]))):
                path = _FILE_ADDRESS.sub("", found[0].removeprefix("](")).rstrip(".:!?*")
                if self._is_usual(path):
                    yield from self._check(path, resolve=path.startswith(("/", "~/", "../")))

    def _check(self, path: str, *, resolve: bool) -> Iterator[tuple[str, Target]]:
        """Yield the path if it is outside the workspace or sensitive.

        Without `resolve`, links are not followed: words of text such as "and/or" are rarely paths.
        """
        if path in self._seen or len(path) > MAX_PATH or _REVISION.fullmatch(path):
            return
        self._seen.add(path)
        resolve = resolve and "/" in path
        if not resolve and not self._context.sensitive(path):
            return
        self.room -= 1
        if self.room >= 0:
            target = self._context.target(path)
            if target.sensitive or not target.inside:
                yield path, target

    def _is_path(self, text: str) -> bool:
        if not text or not text.isprintable() or len(text) > MAX_PATH or _ADDRESS.match(text):
            return False
        if text.startswith("/"):  # `/review` may be the name of anything
            return "/" in text.strip("/") or "." in text or self._is_usual(text)
        return " " not in text and (not text.startswith("~") or "/" in text)

    def _is_usual(self, path: str) -> bool:
        """Return False for absolute paths in no usual folder, such as `/api/users`."""
        return not path.startswith("/") or path.split("/")[1] in self._top
