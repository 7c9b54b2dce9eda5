"""Filters for a list of frames, as an expression that fits on one line.

    method:session/update kind:tool_call,tool_call_update dir:in session:abc -type:mcp some text

All parts must match. A part with several values matches any of them, `*` stands for any characters, and `-`
in front of a part excludes what it matches. Words without a key are searched in the raw JSON, ignoring case;
single or double quotes keep words together.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, get_args

from acp_tui.errors import UsageError
from acp_tui.session.safe_text import escape_line
from acp_tui.wire.frame_index import FrameDirection, FrameType

if TYPE_CHECKING:
    from acp_tui.wire.frame_index import Shape

DIRECTIONS: dict[str, FrameDirection] = {
    "in": "received",
    "out": "sent",
    "client": "client",
    "stderr": "stderr",
    "log": "log",
}
"""The directions as they are typed."""
TYPES: tuple[FrameType, ...] = get_args(FrameType)
KEYS = {
    "method": "method of a request, its answer or a notification, name of an event of acp-tui",
    "kind": "kind of a session/update",
    "dir": "in (from the agent), out (to the agent), client (acp-tui), stderr or log",
    "session": "beginning or end of a session id",
    "type": "request, answer, error, notification, noise, event, mcp, stderr, damaged, …",
    "id": "id of a request and its answer",
}
"""The keys of an expression with what they stand for."""
_WORD = re.compile(r"""\s*(-?)(?:([A-Za-z]+):)?("[^"]*"?|'[^']*'?|\S*)""")


class FilterError(UsageError):
    """An expression is not a filter. The message is one sentence."""


@dataclass(frozen=True, slots=True)
class _Part:
    """One part of an expression."""

    key: str  # empty for text
    values: tuple[str, ...]
    is_excluded: bool = False

    def matches(self, value: str) -> bool:
        """Return True if the value of a row is one that is wanted."""
        return any(self._fits(value, one) for one in self.values) != self.is_excluded

    def _fits(self, value: str, wanted: str) -> bool:
        if self.key == "session":
            return fnmatchcase(value, f"{_literal(wanted)}*") or fnmatchcase(value, f"*{_literal(wanted)}")
        return fnmatchcase(value, _literal(wanted))


@dataclass(frozen=True, slots=True)
class FrameFilter:
    """A parsed expression. Without parts it matches every row."""

    parts: tuple[_Part, ...] = ()
    text: str = field(default="", compare=False)
    """The expression as it was typed."""

    def __bool__(self) -> bool:
        return bool(self.parts)

    def matches_shape(self, shape: Shape) -> bool:
        """Return True if a row can match, as far as direction, type, method and kind tell."""
        values: dict[str, str] = {
            "dir": shape.direction,
            "type": shape.type,
            "method": shape.method,
            "kind": shape.kind,
        }
        return all(part.matches(values[part.key]) for part in self.parts if part.key in values)

    def matches_session(self, session: str) -> bool:
        """Return True if a row can match, as far as its session tells."""
        return all(part.matches(session) for part in self.parts if part.key == "session")

    def matches_id(self, identity: str) -> bool:
        """Return True if a row can match, as far as its id tells, which is empty if it has none."""
        return all(part.matches(identity) for part in self.parts if part.key == "id")

    def has(self, *keys: str) -> bool:
        """Return True if the expression has a part with one of these keys; the key of text is empty."""
        return any(part.key in keys for part in self.parts)

    @property
    def texts(self) -> Iterable[tuple[bool, list[bytes]]]:
        """For each text: whether it is excluded, and the bytes of which lower-case JSON has one.

        Letters outside ASCII are found as they were typed, in lower and in upper case, as they are or as
        escapes.
        """
        for part in self.parts:
            if not part.key:
                yield part.is_excluded, _needles(part.values[0])


def parse_filter(text: str) -> FrameFilter:
    """Parse an expression. Raises `FilterError`."""
    parts = []
    position = 0
    while position < len(text) and (word := _WORD.match(text, position)):
        position = word.end()
        sign, key, value = word.groups()
        if key or value.strip("\"'"):
            parts.append(_part(bool(sign), (key or "").lower(), value))
    return FrameFilter(tuple(parts), text)


def _part(is_excluded: bool, key: str, value: str) -> _Part:
    is_quoted = value[:1] in ('"', "'")
    value = value.strip(value[0]) if is_quoted else value
    if key and key not in KEYS:
        near = difflib.get_close_matches(key, KEYS, 1)
        hint = f"did you mean {near[0]}:?" if near else "put text that contains a colon in quotes."
        raise FilterError(f'There is no filter "{escape_line(key)}:"; {hint}')
    if not value:
        raise FilterError(f"A value is missing after {key}:.")
    if not key:
        return _Part("", (value,), is_excluded)
    values = [value] if is_quoted else [one for one in value.split(",") if one]
    if not values:
        raise FilterError(f"A value is missing after {key}:.")
    if key == "dir":
        values = [_direction(one) for one in values]
    elif key == "type" and (
        wrong := next((one for one in values if one not in TYPES and "*" not in one), "")
    ):
        raise FilterError(f'There is no type "{escape_line(wrong)}"; the types are {", ".join(TYPES)}.')
    return _Part(key, tuple(values), is_excluded)


def _direction(value: str) -> str:
    if value in DIRECTIONS.values():
        return value
    if value not in DIRECTIONS:
        names = ", ".join(DIRECTIONS)
        raise FilterError(f'There is no direction "{escape_line(value)}"; the directions are {names}.')
    return DIRECTIONS[value]


def _literal(pattern: str) -> str:
    """Return a pattern for `fnmatch` in which only `*` is special."""
    return re.sub(r"[?\[]", r"[\g<0>]", pattern)


def _needles(text: str) -> list[bytes]:
    if text.isascii():
        return [text.lower().encode()]
    found: dict[bytes, None] = {}
    for variant in (text, text.lower(), text.upper(), text.title()):
        for written in (variant, json.dumps(variant)[1:-1]):
            found[written.encode(errors="replace").lower()] = None
    return list(found)


def completions(text: str, values: Mapping[str, Sequence[str]]) -> list[str]:
    """Return how the last word of an expression may go on: the whole expressions.

    `values` are the values that occur, by key: see `FrameLog.values`.
    """
    start = len(text) - len(re.split(r"\s", text)[-1])
    before, word = text[:start], text[start:]
    sign = "-" if word.startswith("-") else ""
    key, colon, value = word.removeprefix("-").partition(":")
    if not colon:
        return [f"{before}{sign}{name}:" for name in KEYS if name.startswith(key.lower()) and key]
    *done, last = value.split(",")
    chosen = "".join(f"{one}," for one in done)
    fitting = [one for one in values.get(key.lower(), ()) if one.startswith(last) and one != last]
    return [f"{before}{sign}{key}:{chosen}{_quoted(one) if not chosen else one}" for one in fitting]


def _quoted(value: str) -> str:
    return f'"{value}"' if re.search(r"[\s,]", value) else value
