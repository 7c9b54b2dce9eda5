"""A TOML file the user wrote, with the line of every key. Whatever is wrong with it, acp-tui still starts."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from acp_tui.config import toml_lines
from acp_tui.config.problems import Problem

if TYPE_CHECKING:
    from pathlib import Path

_POSITION = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)$")


@dataclass(slots=True)
class Document:
    """What a file says; empty when it is missing or cannot be read."""

    file: Path
    data: dict[str, Any] = field(default_factory=dict)
    lines: dict[toml_lines.Path, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def line(self, *path: str | int) -> int | None:
        """The line of a key, or of the nearest thing around it."""
        while path:
            if path in self.lines:
                return self.lines[path]
            path = path[:-1]
        return None

    def complain(self, path: tuple[str | int, ...], sentence: str) -> None:
        """Note what is wrong with the value at this path."""
        key = ".".join(str(part) for part in path)
        self.problems.append(Problem(self.file, self.line(*path), key, sentence))


def read(file: Path) -> Document:
    """Read a file; a missing one is an empty one."""
    document = Document(file)
    try:
        # A fifo or a device in a folder that somebody else made must not hold up the start.
        if not file.is_file():
            return document
        raw = file.read_bytes()
    except OSError as error:
        return _unusable(document, None, f"cannot be read: {error.strerror}")
    try:
        text = raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        return _unusable(document, raw.count(b"\n", 0, error.start) + 1, "the file is not UTF-8 text")
    try:
        document.data = tomllib.loads(text)
        document.lines = toml_lines.key_lines(text)
    except ValueError as error:  # TOMLDecodeError, or a number of thousands of digits
        reason = _POSITION.sub("", str(error))
        return _unusable(document, _line(error, text), f"not valid TOML: {reason[:1].lower()}{reason[1:]}")
    except RecursionError:
        document.data = {}
        return _unusable(document, None, "nested too deeply")
    return document


def _line(error: ValueError, text: str) -> int | None:
    """The line that the parser's message names."""
    position = _POSITION.search(str(error))
    if position is None:
        return None
    return int(position[1]) if position[1] else text.rstrip().count("\n") + 1


def _unusable(document: Document, line: int | None, reason: str) -> Document:
    document.problems.append(Problem(document.file, line, "", f"{reason}; nothing in this file is used"))
    return document
