"""Validators of settings: each returns the value to use or raises `WrongValueError`."""

from __future__ import annotations

import os
import re
import shlex
from typing import TYPE_CHECKING, Any

from acp_tui.config.policies import POLICIES
from acp_tui.config.problems import closest_match, format_value

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_SIZE = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,15})?)\s*([kMG]?)B", re.IGNORECASE)
_FACTORS = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}


class WrongValueError(ValueError):
    """A value that cannot be used; the message is a sentence for the user."""


def wrong_value(expected: str, value: Any) -> WrongValueError:
    """Build the error for a value of the wrong kind."""
    return WrongValueError(f"expected {expected}, got {format_value(value)}")


def text(value: Any) -> str:
    """Check for a string that is not empty."""
    if isinstance(value, str) and value.strip():
        return value
    raise wrong_value("a string", value)


def boolean(value: Any) -> bool:
    """`true` or `false`."""
    if isinstance(value, bool):
        return value
    raise wrong_value("true or false", value)


def seconds(value: Any) -> float:
    """Check for a positive number of seconds."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e9:
        return float(value)
    raise wrong_value("a number of seconds above 0", value)


def count(value: Any) -> int:
    """Check for an integer that is not negative."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise wrong_value("a whole number, 0 or above", value)


def size(value: Any) -> int:
    """Bytes, or a text such as `"500 MB"`."""
    if isinstance(value, str) and (match := _SIZE.fullmatch(value.strip())):
        return int(float(match[1]) * _FACTORS[match[2].lower()])
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise wrong_value('a number of bytes or a size such as "500 MB"', value)


def one_of(*names: str) -> Callable[[Any], str]:
    """Return a check for one of these names."""

    def check(value: Any) -> str:
        if value in names:
            return str(value)
        meant = closest_match(value, names) if isinstance(value, str) else None
        hint = f"; did you mean {meant!r}?" if meant else ""
        raise WrongValueError(f"expected one of {', '.join(names)}, got {format_value(value)}{hint}")

    return check


policy = one_of(*POLICIES)
"""How permission requests are answered when no rule does, from the strictest on."""
notify = one_of("off", "bell", "terminal", "all")
"""How the user is notified when the window is unfocused."""
panes = one_of("none", "plan", "files", "terminals", "session")
"""What is open beside the conversation when it begins."""


def strings(value: Any) -> list[str]:
    """Check for a list of strings that are not empty."""
    if isinstance(value, list) and all(isinstance(item, str) and item for item in value):
        return list(value)
    raise wrong_value("a list of strings", value)


def command(value: Any) -> list[str]:
    """A program and its arguments: a list of strings, or one line as a shell would split it."""
    if isinstance(value, str):
        try:
            words = shlex.split(value)
        except ValueError as error:
            raise WrongValueError(f"cannot be split into words ({str(error).lower()})") from None
        if words:
            return words
    elif isinstance(value, list) and value and all(isinstance(word, str) for word in value) and value[0]:
        return list(value)
    raise wrong_value("a program and its arguments", value)


def mapping(value: Any) -> dict[str, str]:
    """Check for a table of strings. Numbers and booleans are converted.

    A wrong value is not shown: it may be a secret.
    """
    if not isinstance(value, dict):
        raise WrongValueError("expected a table of strings")
    found = {}
    for name, item in value.items():
        if isinstance(item, bool):
            found[name] = "true" if item else "false"
        elif isinstance(item, str | int | float):
            found[name] = str(item)
        else:
            raise WrongValueError(f"expected a string for {name!r}")
    return found


def resolve_program(program: str, folder: Path) -> str:
    """A program as written in a file of that folder: a bare name is looked up, a path counts from there."""
    return str(resolve_path(folder, program)) if "/" in program else program


def resolve_path(folder: Path, path: str) -> Path:
    """A path as written in a file of that folder, made absolute."""
    return folder.absolute() / os.path.expanduser(path)  # noqa: PTH111 - leaves an unknown `~user` as it is
