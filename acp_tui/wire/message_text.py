"""Checks the JSON text of params that a user wrote, and says in which line each fault is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from acp_tui.session.safe_text import escape_line
from acp_tui.store.secret_patterns import MASK
from acp_tui.wire.client_methods import fault_sentence, params_faults

if TYPE_CHECKING:
    from acp_tui.wire.schema_check import Fault

MASKED = f"a secret was replaced by {MASK} when the message was saved; write it again"


class TextFault(NamedTuple):
    """A fault in a text: the line, counted from 0, and a sentence."""

    line: int
    sentence: str


@dataclass(slots=True)
class CheckedText:
    """The params that a text stands for, with their faults."""

    params: Any = None
    faults: list[TextFault] = field(default_factory=list)
    is_json: bool = True  # otherwise, it cannot be sent


def check_text(method: str, text: str, *, is_request: bool) -> CheckedText:
    """Read and check params. Nothing but blanks means that the message has none."""
    if not text.strip():
        params = None
        places: list[_Place] = []
    else:
        try:
            params = json.loads(text, parse_constant=_refuse_constant)
        except json.JSONDecodeError as error:
            sentence = f"not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
            return CheckedText(None, [TextFault(error.lineno - 1, sentence)], is_json=False)
        except (ValueError, RecursionError) as error:
            return CheckedText(None, [TextFault(0, f"not JSON: {error}")], is_json=False)
        places = list(_places(text))
    found = params_faults(method, params, is_request=is_request)
    faults = [
        TextFault(_line_of(fault, places), escape_line(fault_sentence(method, fault))) for fault in found
    ]
    faults += [
        TextFault(place.line, MASKED)
        for place in places
        if isinstance(place.value, str) and MASK in place.value
    ]
    return CheckedText(params, sorted(faults))


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON value")


# --------------------------------------------------------------------------- where a value is


class _Place(NamedTuple):
    """A value of a JSON text, with its path as in `Fault`, and the line on which it begins."""

    path: str
    value: Any
    line: int


def _line_of(fault: Fault, places: list[_Place]) -> int:
    """Return the line of a faulty value; of a missing field, the line where its object begins."""
    parent, _, name = fault.path.rpartition(".")
    for place in places:
        if place.path == fault.path and place.value == fault.value:
            return place.line
        is_object = isinstance(place.value, dict)
        if fault.predicate == "is missing" and is_object and place.path == parent and name not in place.value:
            return place.line
    return 0


_TOKEN = re.compile(r'[ \t\r\n]*("(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+)')


def _places(text: str) -> Iterator[_Place]:
    """Yield all values of a valid JSON text, each object and array before what is in it."""
    decoder = json.JSONDecoder()
    paths: list[tuple[str, bool]] = []  # of the objects and arrays around the current token; True for objects
    key: str | None = None
    at = 0
    while (match := _TOKEN.match(text, at)) is not None:
        sign, start, at = match[1], match.start(1), match.end()
        around, in_object = paths[-1] if paths else ("", False)
        if sign in "]}":
            paths.pop()
            key = None
        elif sign == ",":
            key = None
        elif sign != ":":
            if in_object and key is None:
                key = json.loads(sign)
                continue
            path = around
            if in_object:
                path = f"{around}.{key}" if around else str(key)
            elif paths:
                path = f"{around}[]"
            yield _Place(path, decoder.raw_decode(text, start)[0], text.count("\n", 0, start))
            if sign in "[{":
                paths.append((path, sign == "{"))
                key = None
