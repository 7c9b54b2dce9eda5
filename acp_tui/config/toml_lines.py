"""Finds the line of each key in a TOML document; `tomllib` does not report lines.

The text must have been accepted by `tomllib`: the scanner relies on valid TOML.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

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
