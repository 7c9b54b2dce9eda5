"""A TOML file with the line of every key. Errors in the file are collected, so that acp-tui still starts."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from acp_tui.config import toml_lines
from acp_tui.config.problems import Problem, unknown_key_sentence
from acp_tui.config.small_file import read_small_file

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

MAX_UNKNOWN_KEYS = 20

_POSITION = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)$")


@dataclass(slots=True)
class TomlDocument:
    """The content and the problems of a file. `data` is empty if the file is missing or cannot be read."""

    file: Path
    data: dict[str, Any] = field(default_factory=dict)
    lines: dict[toml_lines.KeyPath, int] = field(default_factory=dict)
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
        document.lines = toml_lines.key_lines(text)
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
