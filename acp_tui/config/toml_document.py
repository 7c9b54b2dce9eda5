"""A TOML file with the line of every key. Errors in the file are collected, so that acp-tui still starts."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from acp_tui.config.own_files import read_small_file
from acp_tui.config.validators import InvalidValueError, Problem, invalid_value, unknown_key_sentence

KeyPath = tuple[str | int, ...]
"""The keys, and the positions in arrays, that lead to a value."""

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"""(?:"(?!"")){0,2}|'  # a closing """ may be preceded by one or two quotes
    r"'''.*?'''(?:'(?!'')){0,2}|"
    r'"(?:\\.|[^"\\\n])*"|'
    r"'[^'\n]*'",
    re.DOTALL,
)
_KEY = re.compile(r"""(?:"(?:\\.|[^"\\])*"|'[^']*'|[A-Za-z0-9_\-]+|[ \t]*\.[ \t]*)+""")
_BARE_KEY = re.compile(r"[A-Za-z0-9_\-]+")
_BARE = re.compile(r"[^,\]}#\n]+")
MAX_UNKNOWN_KEYS = 20
_POSITION = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)$")


def key_lines(text: str) -> dict[KeyPath, int]:
    """Return the line on which each key or table first appears, counted from 1."""
    return _Scanner(text).scan()


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[KeyPath, int] = {}
        self._counted = (0, 1)  # a position and its line, so that lines are counted only once
        self._lengths: dict[KeyPath, int] = {}  # of arrays of tables

    def scan(self) -> dict[KeyPath, int]:
        table: KeyPath = ()
        self._skip(_BLANK)
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                table = self._header()
            else:
                self._pair(table)
            self._skip(_BLANK)
        return self.lines

    def _header(self) -> KeyPath:
        """Scan a `[table]` or `[[array]]` header, and return the path of its table."""
        line = self._line()
        is_array = self.text.startswith("[[", self.at)
        self.at += 2 if is_array else 1
        self._skip(_BLANK)
        path: KeyPath = ()
        names = self._key()
        for name in names[:-1]:
            self.lines.setdefault((*path, name), line)
            path = self._into_last((*path, name))
        path = (*path, names[-1])
        self.lines.setdefault(path, line)
        if is_array:
            self._lengths[path] = self._lengths.get(path, 0) + 1
            path = self._into_last(path)
            self.lines[path] = line
        self.at = self.text.index("]", self.at) + (2 if is_array else 1)
        return path

    def _into_last(self, path: KeyPath) -> KeyPath:
        """Return the path of the last table if `path` is an array of tables, otherwise `path` itself."""
        return (*path, self._lengths[path] - 1) if path in self._lengths else path

    def _pair(self, table: KeyPath) -> None:
        line = self._line()
        path = table
        for name in self._key():
            path = (*path, name)
            self.lines.setdefault(path, line)
        self.at = self.text.index("=", self.at) + 1
        self._value(path)

    def _value(self, path: KeyPath) -> None:
        self._skip(_BLANK)
        opening = self.text[self.at]
        if opening in "[{":
            self.at += 1
            self._items(path, "]" if opening == "[" else "}")
        elif opening in "\"'":
            self._skip(_STRING)
        else:
            self._skip(_BARE)

    def _items(self, path: KeyPath, closing: str) -> None:
        position = 0
        while True:
            self._skip(_BLANK)
            if self.text[self.at] == closing:
                self.at += 1
                return
            if self.text[self.at] == ",":
                self.at += 1
            elif closing == "}":
                self._pair(path)
            else:
                self.lines[*path, position] = self._line()
                self._value((*path, position))
                position += 1

    def _key(self) -> list[str]:
        """Scan a dotted key and return its parts. Quotes and escapes are decoded with `tomllib`."""
        match = _KEY.match(self.text, self.at)
        assert match is not None, "the text is valid TOML"
        self.at = match.end()
        if _BARE_KEY.fullmatch(match[0]):
            return [match[0]]
        node: Any = tomllib.loads(f"{match[0]} = 0")
        names: list[str] = []
        while isinstance(node, dict):
            name, node = next(iter(node.items()))
            names.append(name)
        return names

    def _skip(self, pattern: re.Pattern[str]) -> None:
        match = pattern.match(self.text, self.at)
        assert match is not None, "the text is valid TOML"
        self.at = match.end()

    def _line(self) -> int:
        position, line = self._counted
        line += self.text.count("\n", position, self.at)
        self._counted = (self.at, line)
        return line


@dataclass(slots=True)
class TomlDocument:
    """The content and the problems of a file. `data` is empty if the file is missing or cannot be read."""

    file: Path
    data: dict[str, Any] = field(default_factory=dict)
    lines: dict[KeyPath, int] = field(default_factory=dict)
    _problems: list[Problem] = field(default_factory=list)
    _unknown_keys: int = 0

    def line(self, *path: str | int) -> int | None:
        """Return the line of a key, or else of the innermost table around the key.

        Return None if neither line is known.
        """
        while path:
            if path in self.lines:
                return self.lines[path]
            path = path[:-1]
        return None

    def report(self, path: tuple[str | int, ...], sentence: str) -> None:
        """Add a problem that concerns the key at `path`."""
        key = ".".join(str(part) for part in path)
        self._problems.append(Problem(self.file, self.line(*path), key, sentence))

    def report_unknown_key(self, path: tuple[str | int, ...], known: Iterable[str]) -> None:
        """Add a problem for an unknown key. The problem suggests a similar key, or lists the valid keys.

        Finding a similar key takes 0.1 ms and a file can contain 200,000 keys. So only the first
        `MAX_UNKNOWN_KEYS` unknown keys are reported one by one.
        """
        self._unknown_keys += 1
        if self._unknown_keys <= MAX_UNKNOWN_KEYS:
            self.report(path, unknown_key_sentence(str(path[-1]), known))

    def table(self, path: tuple[str, ...], value: Any) -> dict[str, Any]:
        """Return a value that must be a table. Any other value is reported, and counts as empty."""
        if isinstance(value, dict):
            return value
        self.report(path, str(invalid_value(f"a table, [{'.'.join(path)}]", value)))
        return {}

    def tables(self, name: str) -> dict[str, Any]:
        """Return the values in the table `name`, which should be tables. Any other value is reported."""
        value = self.data.get(name, {})
        if isinstance(value, dict):
            return value
        self.report((name,), str(invalid_value(f"tables, [{name}.NAME]", value)))
        return {}

    def checked(
        self,
        path: tuple[str, ...],
        table: dict[str, Any],
        checks: Mapping[str, Callable[[Any], Any]],
        remark: str = "",
    ) -> tuple[dict[str, Any], list[str]]:
        """Return the valid values of a table, and the keys of its invalid values.

        Unknown keys and invalid values are reported, the latter with `remark` after the sentence.
        """
        valid: dict[str, Any] = {}
        invalid: list[str] = []
        for key, value in table.items():
            if key not in checks:
                self.report_unknown_key((*path, key), checks)
                continue
            try:
                valid[key] = checks[key](value)
            except InvalidValueError as error:
                self.report((*path, key), f"{error}{remark}")
                invalid.append(key)
        return valid, invalid

    def reject(self, line: int | None, reason: str) -> TomlDocument:
        """Add a problem that says why the whole file is ignored, and return the document."""
        self._problems.append(Problem(self.file, line, "", f"{reason}; the whole file is ignored"))
        return self

    @property
    def problems(self) -> list[Problem]:
        """The problems of the file. Unknown keys after the first `MAX_UNKNOWN_KEYS` are only counted."""
        more = self._unknown_keys - MAX_UNKNOWN_KEYS
        if more <= 0:
            return self._problems
        summary = f"{more:,} more unknown {'key' if more == 1 else 'keys'}"
        return [*self._problems, Problem(self.file, None, "", summary)]


def read(file: Path) -> TomlDocument:
    """Read a file. A missing file counts as empty."""
    document = TomlDocument(file)
    try:
        raw = read_small_file(file)
    except OSError as error:
        return document.reject(None, f"cannot be read: {error.strerror}")
    if raw is None:
        return document
    try:
        text = raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        return document.reject(raw.count(b"\n", 0, error.start) + 1, "the file is not UTF-8 text")
    try:
        document.data = tomllib.loads(text)
        document.lines = key_lines(text)
    except ValueError as error:  # TOMLDecodeError, or a number with thousands of digits
        reason = _POSITION.sub("", str(error))
        return document.reject(_line(error, text), f"not valid TOML: {reason[:1].lower()}{reason[1:]}")
    except RecursionError:
        document.data = {}
        return document.reject(None, "nested too deeply")
    return document


def _line(error: ValueError, text: str) -> int | None:
    """Return the line that the parser's error names."""
    position = _POSITION.search(str(error))
    if position is None:
        return None
    return int(position[1]) if position[1] else text.rstrip().count("\n") + 1
