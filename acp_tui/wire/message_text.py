"""Checks the JSON text of params that a user wrote, and says in which line each fault is."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from acp_tui.session.safe_text import escape_line
from acp_tui.store.secret_patterns import MASK
from acp_tui.wire.client_methods import fault_sentence, params_faults

if TYPE_CHECKING:
    from acp_tui.wire.schema_check import Fault, Place, Version

MAX_DIGITS = 40
"""How much of a number a sentence shows."""
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


def check_text(method: str, text: str, *, is_request: bool, version: Version | None = 1) -> CheckedText:
    """Read and check params. Nothing but blanks means that the message has none.

    `version` is None for a version of the protocol without a schema.
    """
    if not text.strip():
        params = None
        values: list[_Value] = []
    else:
        try:
            params = decode_json(text)
        except json.JSONDecodeError as error:
            sentence = f"not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
            return CheckedText(None, [TextFault(error.lineno - 1, sentence)], is_json=False)
        except (ValueError, RecursionError) as error:
            return CheckedText(None, [TextFault(0, f"not JSON: {error}")], is_json=False)
        values = list(_values(text))
    found = params_faults(method, params, is_request=is_request, version=version)
    lines = {value.place: value.line for value in values}
    faults = [
        TextFault(_line_of(fault, lines), escape_line(fault_sentence(method, fault))) for fault in found
    ]
    faults += [
        TextFault(value.line, MASKED)
        for value in values
        if isinstance(value.value, str) and MASK in value.value
    ]
    return CheckedText(params, sorted(faults))


def decode_json(text: str) -> Any:
    """Decode a JSON text that can be sent as it is read. Raises `ValueError` or `RecursionError`."""
    return json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON value")


def _finite(digits: str) -> float:
    if math.isinf(number := float(digits)):
        raise ValueError(f"{digits[:MAX_DIGITS]} is too large a number")
    return number


# --------------------------------------------------------------------------- where a value is


class _Value(NamedTuple):
    """A value of a JSON text: its place, and the line on which it begins."""

    place: Place
    value: Any
    line: int


def _line_of(fault: Fault, lines: dict[Place, int]) -> int:
    """Return the line of a faulty value; of a missing field, the line where its object begins."""
    return lines.get(fault.place, lines.get(fault.place[:-1], 0))


_TOKEN = re.compile(r'[ \t\r\n]*("(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+)')


def _values(text: str) -> Iterator[_Value]:
    """Yield all values of a valid JSON text, each object and array before what is in it."""
    decoder = json.JSONDecoder()
    around: list[Place] = []  # the objects and arrays around the current sign
    steps: list[str | int | None] = []  # where in each of them; None in an object before a key
    at = line = counted = 0
    while (match := _TOKEN.match(text, at)) is not None:
        sign, start, at = match[1], match.start(1), match.end()
        if sign in "]}":
            around.pop()
            steps.pop()
        elif sign == ",":
            steps[-1] = step + 1 if isinstance(step := steps[-1], int) else None
        elif sign != ":":
            if steps and steps[-1] is None:
                steps[-1] = json.loads(sign)
                continue
            place = (*around[-1], steps[-1]) if around and steps[-1] is not None else ()
            line, counted = line + text.count("\n", counted, start), start
            yield _Value(place, decoder.raw_decode(text, start)[0], line)
            if sign in "[{":
                around.append(place)
                steps.append(0 if sign == "[" else None)
