"""Harmless environment variables, such as those that change only the look of a command's output.

The variables are an allow-list, because a list of dangerous variables is never complete: `CC` runs a program
under `make`, `GIT_TRACE` writes a file, `XDG_CONFIG_HOME` makes git read another configuration. Every other
variable is significant unless it has its usual value: it is shown, and allow rules for particular commands do
not match a command that sets it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

# Values contain no slash: some programs take a path in `TERM`, `LANG` or `LANGUAGE`.
_VALUE = re.compile(r"[\w.@:,+=-]{0,64}", re.ASCII)
_NAMES = re.compile(
    r"TERM|COLORTERM|COLUMNS|LINES|LANG|LANGUAGE|LC_\w+|NO_COLOR|FORCE_COLOR|CLICOLOR(?:_FORCE)?"
    r"|CI|DEBIAN_FRONTEND|PYTHONUNBUFFERED|GIT_TERMINAL_PROMPT|GIT_OPTIONAL_LOCKS"
)
_TIME_ZONE = re.compile(r"[A-Za-z0-9_+-]+(?:/[A-Za-z0-9_+-]+)*")
_SHELL = re.compile(r"(?:/usr)?/bin/(?:ba|z|da|k|fi)?sh")

# Variables that name a program. Agents use the values in `_NO_PROGRAM` to prevent pagers and editors.
_PROGRAMS = re.compile(
    r"(?:GIT_|GH_|AWS_|MAN|SYSTEMD_|BAT_)?PAGER|(?:GIT_|GIT_SEQUENCE_)?EDITOR|VISUAL|GIT_ASKPASS|SSH_ASKPASS"
)
_NO_PROGRAM = frozenset({"", "cat", "true", ":"})


def is_harmless(name: str, value: str) -> bool:
    """Return True if the allow-list contains the variable with this value."""
    if _PROGRAMS.fullmatch(name):
        return value in _NO_PROGRAM
    if name == "TZ":
        return _TIME_ZONE.fullmatch(value) is not None
    if name == "SHELL":
        return _SHELL.fullmatch(value) is not None
    return _NAMES.fullmatch(name) is not None and _VALUE.fullmatch(value) is not None


def significant_variables(wanted: Mapping[str, str], usual: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return names and values of the variables in `wanted` that are not harmless and differ from `usual`."""
    return tuple(
        sorted(
            (name, value)
            for name, value in wanted.items()
            if not is_harmless(name, value) and usual.get(name) != value
        )
    )
