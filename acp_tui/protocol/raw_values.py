"""Reads commands, paths, output, exit codes and hunks from `rawInput` and `rawOutput`.

The protocol does not define the structure of either. Real agents use the keys below.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from acp_tui.protocol import values
from acp_tui.protocol.json_rpc import decode
from acp_tui.session.safe_text import escape_controls, escape_line
from acp_tui.session.state import PatchHunk

COMMAND_KEYS = (
    *("command", "cmd", "commandLine", "command_line", "shell_command", "shellCommand"),
    *("bash_command", "bashCommand", "script"),
)
COMMAND_LIST_KEYS = ("commands", "cmds")
ENVIRONMENT_KEYS = ("env", "environment", "envVars", "env_vars", "environmentVariables")
DIRECTORY_KEYS = (
    *("cwd", "workdir", "workingDir", "working_dir", "working_directory", "workingDirectory", "directory"),
    "dir_path",
)
"""Keys of the directory that a command runs in."""
FILE_KEYS = (
    *("path", "file_path", "filePath", "filepath", "fileName", "file_name", "filename", "file"),
    *("abs_path", "absolute_path", "absolutePath", "notebook_path", "notebookPath", "target_file"),
)
PATH_KEYS = (
    *FILE_KEYS,
    *("dir_path", "directory", "source", "destination", "source_path", "destination_path"),
    *("old_path", "new_path", "oldPath", "newPath"),
)
PATH_LIST_KEYS = ("paths", "files", "file_paths", "edits", "changes")
TEXT_KEYS = frozenset({
    *("content", "contents", "text", "body", "code", "code_edit", "file_text", "insert_text", "insert_line"),
    *("new_content", "newContent", "new_text", "newText", "new_string", "newString", "new_str", "newStr"),
    *("old_content", "oldContent", "old_text", "oldText", "old_string", "oldString", "old_str", "oldStr"),
    *("replacement", "replace", "new_source", "newSource"),
})  # fmt: skip
"""Keys of the text that an edit writes or replaces, beside the key of the file."""
PATTERN_KEYS = frozenset({"pattern", "query", "regex", "search", "search_term", "searchTerm", "find"})
"""Keys of what a search looks for."""
ARGUMENT_KEYS = ("input", "args", "arguments", "params", "parameters", "tool_input", "toolInput", "action")
"""Keys of nested objects in which some agents put a tool's arguments."""


MAX_DEPTH = 8
"""Maximum depth to which raw values are searched for hunks."""
MAX_HUNKS = 200
MAX_COMMAND_WORDS = 10_000

_OUTPUTS = ("formatted_output", "aggregated_output", "output", "stdout", "text", "content")
_EXIT_CODES = ("exit_code", "exitCode", "exit")
_INNER = ("metadata", "observation", "result")
"""Keys in `rawOutput` under which some agents nest an object that contains the output."""
_EXIT_LINE = re.compile(r"^<?[^\n<>]*\b(?:completed|exited) with exit code (\d{1,3})>?\.?\s*\Z", re.MULTILINE)
"""The last line that Copilot adds to a command's output. Its status is "completed" nevertheless."""
MAX_EXIT_LINE = 200
MAX_RESULTS = 100
MAX_JSON_CHARACTERS = 100_000
_SHELLS = frozenset({"sh", "bash", "dash", "zsh"})


# --------------------------------------------------------------------------- raw input


def read_command(raw_input: Any) -> str | None:
    """Return the command as a user would type it, safe to display. The command can have several lines.

    Words under a separate key such as `args` are not included. A very long command is truncated.
    `ToolCall.raw_input` contains all of it.
    """
    given = values.first(values.obj(raw_input), *COMMAND_KEYS)
    if isinstance(given, list):
        omitted = len(given) - MAX_COMMAND_WORDS
        given = command_line([str(word) for word in given[:MAX_COMMAND_WORDS]])
        if omitted > 0:
            given += f" … {omitted:,} more words"
    return escape_controls(values.limit_length(given)) if isinstance(given, str) and given else None


def command_line(words: list[str]) -> str:
    """Join a program and its arguments into a line for the shell. For `bash -lc LINE`, return `LINE`."""
    if len(words) == 3 and words[0].rpartition("/")[2] in _SHELLS and words[1] in ("-c", "-lc"):
        return words[2]
    return shlex.join(words)


def read_paths(raw_input: Any) -> list[str]:
    """Return the paths of the files in a tool call's raw input."""
    source = values.obj(raw_input)
    named = (values.line(source, name) for name in FILE_KEYS if isinstance(source.get(name), str))
    return list(dict.fromkeys(path for path in named if path))


# --------------------------------------------------------------------------- raw output


@dataclass(frozen=True, slots=True)
class RawResult:
    """The result of a tool call according to its `rawOutput`."""

    output: str = ""  # as sent
    exit_code: int | None = None
    failed: bool = False


_NO_RESULT = RawResult()


def read_result(raw_output: Any) -> RawResult:
    """Read a `rawOutput` of any shape."""
    if raw_output is None:
        return _NO_RESULT
    structure = _structure(raw_output)
    source = values.obj(structure)
    results = map(values.obj, values.items(structure)[:MAX_RESULTS])  # of several commands in one call
    places = [source, *(values.obj(source.get(name)) for name in _INNER), *results]
    codes = (values.integer(place, name) for place in places for name in _EXIT_CODES)
    exit_code = next((code for code in codes if code is not None), None)
    failed = any(
        place.get("is_error") is True or place.get("isError") is True or place.get("success") is False
        for place in places
    )
    output = _output(raw_output, places)
    if exit_code is None and (stated := _EXIT_LINE.search(output[-MAX_EXIT_LINE:])):
        exit_code = int(stated[1])
    return RawResult(output, exit_code, failed or bool(exit_code))


def _structure(raw_output: Any) -> Any:
    """Return the raw output, or the results in a string if Cline has encoded them as JSON.

    Only these are decoded: the output of a command can be any JSON.
    """
    if not isinstance(raw_output, str) or not 0 < len(raw_output) <= MAX_JSON_CHARACTERS:
        return raw_output
    if raw_output[0] not in "[{" or '"success"' not in raw_output:
        return raw_output
    decoded = decode(raw_output)
    results = decoded if isinstance(decoded, list) else [decoded]
    is_results = all({"query", "success"} <= values.obj(result).keys() for result in results)
    return decoded if is_results else raw_output


def _output(raw_output: Any, places: list[dict[str, Any]]) -> str:
    if isinstance(raw_output, (str, list)):
        return _text(raw_output)
    for place in places:
        for name in _OUTPUTS:
            text = _text(place.get(name))
            if name == "stdout":
                text = "\n".join(filter(None, (text.rstrip("\n"), _text(place.get("stderr")))))
            if text.strip():
                return text
    error = places[0].get("error")
    return _text(error) or _text(values.obj(error).get("message"))


def _text(value: Any) -> str:
    """Return the text of a string or of a list of content blocks; empty for other values."""
    if isinstance(value, str):
        return value
    texts = (block.get("text") if isinstance(block, dict) else None for block in values.items(value))
    return "\n".join(text for text in texts if isinstance(text, str))


# --------------------------------------------------------------------------- hunks

_HUNK = re.compile(r"^@@ -(\d{1,9})(?:,\d{1,9})? \+\d{1,9}(?:,\d{1,9})? @@.*\n?", re.MULTILINE)
_FILE_HEADER = re.compile(r"^(?:diff --git |Index: |--- |\+\+\+ |index [0-9a-f]+\.\.)")


def read_hunks(*raw_values: Any) -> list[PatchHunk]:
    """Return up to `MAX_HUNKS` hunks of patches in these values. Hunks without old lines are left out.

    A hunk tells where in a file a diff starts.
    """
    found: list[PatchHunk] = []
    for value in raw_values:
        if value is not None:
            for hunk in _search(value, "", MAX_DEPTH):
                if len(found) == MAX_HUNKS:
                    return found
                found.append(hunk)
    return found


def _search(value: Any, path: str, depth: int) -> Iterator[PatchHunk]:
    if isinstance(value, str):
        if "@@ -" in value:
            yield from _of_patch(value, path)
    elif depth and isinstance(value, list):
        for item in value:
            if isinstance(item, (str, dict, list)):
                yield from _search(item, path, depth - 1)
    elif depth and isinstance(value, dict):
        start, lines = value.get("oldStart"), value.get("lines")
        if isinstance(start, int) and isinstance(lines, list):
            yield from _hunk(start, values.strings(lines), path)
            return
        for name, item in value.items():
            if isinstance(item, (str, dict, list)):
                yield from _search(item, name if name.startswith("/") else path, depth - 1)


def _of_patch(patch: str, path: str) -> Iterator[PatchHunk]:
    headers = list(_HUNK.finditer(patch))
    for number, header in enumerate(headers):
        end = headers[number + 1].start() if number + 1 < len(headers) else len(patch)
        yield from _hunk(int(header[1]), patch[header.end() : end].split("\n"), path)


def _hunk(start: int, lines: list[str], path: str) -> Iterator[PatchHunk]:
    old: list[str] = []
    for line in lines:
        if _FILE_HEADER.match(line) and not line.startswith(("--- ", "+++ ")):
            break  # the rest belongs to the next file
        if line[:1] in (" ", "-"):
            old.append(line[1:])
    if start > 0 and old:
        yield PatchHunk(escape_line(path), start, escape_controls("\n".join(old)))
