"""Validators of settings. Each returns the value to use, or raises `InvalidValueError`."""

from __future__ import annotations

import difflib
import os
import re
import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Policy = Literal["deny", "read-only", "ask", "accept-edits", "yolo"]
POLICIES: tuple[Policy, ...] = ("deny", "read-only", "ask", "accept-edits", "yolo")
ProtocolChoice = Literal["1", "2", "newest"]
"""The version of the protocol that an agent is asked for. An agent without it answers with its own."""
PROTOCOLS: tuple[ProtocolChoice, ...] = ("1", "2", "newest")

POLICY_SUMMARIES: dict[Policy, str] = {
    "deny": "Allow only what a rule allows; reject everything else",
    "read-only": "Allow reading and searching in the workspace; reject the rest",
    "ask": "Ask before everything that no rule allows",
    "accept-edits": "Allow reading and edits in the workspace; ask about the rest",
    "yolo": "Allow everything; ask only about what is dangerous, sensitive or outside the workspace",
}
"""One sentence about each policy."""


MAX_VALUE_CHARACTERS = 40
"""Longer values are truncated in error messages."""
_SIZE = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,15})?)\s*([kMG]?)B", re.IGNORECASE)
_FACTORS = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}


@dataclass(frozen=True, slots=True)
class Problem:
    """A part of the settings that is invalid and therefore ignored."""

    file: Path | None  # None: an environment variable
    line: int | None
    key: str
    sentence: str

    @property
    def location(self) -> str:
        """`FILE:LINE`, `FILE` if the line is unknown, or `environment`."""
        if self.file is None:
            return "environment"
        return str(self.file) if self.line is None else f"{self.file}:{self.line}"

    def __str__(self) -> str:
        """Return location, key and sentence on one line."""
        return ": ".join(part for part in (self.location, self.key, self.sentence) if part)


def closest_match(word: str, known: Iterable[str]) -> str | None:
    """Return the known word most similar to `word`; None if none is similar enough."""
    found = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return found[0] if found else None


def unknown_key_sentence(word: str, known: Iterable[str]) -> str:
    """Return the error for an unknown key. The error suggests a similar key, or lists the valid keys."""
    names = sorted(known)
    if meant := closest_match(word, names):
        return f"unknown key; did you mean {meant!r}?"
    return f"unknown key; valid keys: {', '.join(names)}"


def format_value(value: Any) -> str:
    if isinstance(value, dict):
        return "a table"
    text = repr(value)
    return text if len(text) <= MAX_VALUE_CHARACTERS else text[: MAX_VALUE_CHARACTERS - 1] + "…"


class InvalidValueError(ValueError):
    """A value that cannot be used. The message is a sentence for the user."""


def invalid_value(expected: str, value: Any) -> InvalidValueError:
    return InvalidValueError(f"expected {expected}, got {format_value(value)}")


def text(value: Any) -> str:
    """Validate a string that is not blank."""
    if isinstance(value, str) and value.strip():
        return value
    raise invalid_value("a string that is not empty", value)


def boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise invalid_value("true or false", value)


def seconds(value: Any) -> float:
    """Validate a positive number of seconds."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e9:
        return float(value)
    raise invalid_value("a number of seconds above 0", value)


def count(value: Any) -> int:
    """Validate an integer that is not negative."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise invalid_value("a whole number, 0 or above", value)


def percentage(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 100:
        return value
    raise invalid_value("a whole number from 0 to 100", value)


def size(value: Any) -> int:
    """Validate a number of bytes, or a string such as `"500 MB"`, and return the number."""
    if isinstance(value, str) and (match := _SIZE.fullmatch(value.strip())):
        return int(float(match[1]) * _FACTORS[match[2].lower()])
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise invalid_value('a number of bytes or a size such as "500 MB"', value)


def one_of(*names: str) -> Callable[[Any], str]:
    """Return a validator that accepts only these names."""

    def validate(value: Any) -> str:
        if value in names:
            return str(value)
        meant = closest_match(value, names) if isinstance(value, str) else None
        hint = f"; did you mean {meant!r}?" if meant else ""
        raise InvalidValueError(f"expected one of {', '.join(names)}, got {format_value(value)}{hint}")

    return validate


protocol = one_of(*PROTOCOLS)
"""Validator of the version of the protocol to ask an agent for."""
policy = one_of(*POLICIES)
"""Validator of the policy for permission requests that match no rule."""
notify = one_of("off", "bell", "terminal", "all")
"""Validator of the way in which the user is notified when the window is unfocused."""
panes = one_of("none", "plan", "files", "terminals", "session")
"""Validator of the pane that is open when a conversation begins."""


_TRACEPARENT = re.compile("(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")


def traceparent(value: Any) -> str:
    """Validate `telemetry.traceparent`: a word, or a `traceparent` as W3C trace context has it."""
    if value in ("environment", "off", "random") or (
        isinstance(value, str) and _TRACEPARENT.fullmatch(value)
    ):
        return str(value)
    expected = "environment, off, random, or a value such as 00-<32 hex digits>-<16 hex digits>-01"
    raise InvalidValueError(f"expected {expected}, got {format_value(value)}")


def terminal_progress(value: Any) -> str:
    """Validate the setting `terminal_progress`: `auto`, `on` or `off`, or a boolean for `on` or `off`."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return one_of("auto", "on", "off")(value)


def registry_address(value: Any) -> str:
    """Validate the address of a list of agents, or the absolute path of a file with one."""
    if isinstance(value, str) and value.startswith(
        ("https://", "http://127.0.0.1", "http://localhost", "/", "~/")
    ):
        return value
    raise invalid_value("an https:// address or an absolute path", value)


def strings(value: Any) -> list[str]:
    """Validate a list of strings that are not empty."""
    if isinstance(value, list) and all(isinstance(item, str) and item for item in value):
        return list(value)
    raise invalid_value("a list of strings", value)


def command(value: Any) -> list[str]:
    """Validate a program and its arguments: a list of strings, or a line to split by a shell's rules."""
    if isinstance(value, str):
        try:
            words = shlex.split(value)
        except ValueError as error:
            raise InvalidValueError(f"cannot be split into words ({str(error).lower()})") from None
        if words and words[0]:
            return words
    elif isinstance(value, list) and value and all(isinstance(word, str) for word in value) and value[0]:
        return list(value)
    raise invalid_value("a program and its arguments", value)


def mapping(value: Any) -> dict[str, str]:
    """Validate a table of strings. Numbers and booleans are converted.

    The error does not contain the value, because the value can be a secret.
    """
    if not isinstance(value, dict):
        raise InvalidValueError("expected a table of strings")
    found = {}
    for name, item in value.items():
        if isinstance(item, bool):
            found[name] = "true" if item else "false"
        elif isinstance(item, str | int | float):
            found[name] = str(item)
        else:
            raise InvalidValueError(f"expected a string for {name!r}")
    return found


def resolve_program(program: str, folder: Path) -> str:
    """Return the absolute path of a program, resolved from `folder`. A bare name is returned unchanged."""
    return str(resolve_path(folder, program)) if "/" in program else program


def resolve_path(folder: Path, path: str) -> Path:
    """Return the absolute form of a path, resolved from `folder`. `~` is the home directory."""
    return folder.absolute() / os.path.expanduser(path)  # noqa: PTH111 - leaves an unknown `~user` as it is
