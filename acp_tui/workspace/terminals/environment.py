"""The environment of commands in acp-tui's terminals: variables, and the size of the terminal."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

WIDTH, HEIGHT = 120, 40
"""The number of columns and rows of each terminal."""

_TERMINAL = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
# A pager would wait for keys that nobody can press.
_NO_PAGER = {"PAGER": "cat", "GIT_PAGER": "cat"}
# These describe the terminal in which acp-tui itself runs.
_EXCLUDED = {
    *("COLUMNS", "LINES", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TERMCAP", "WINDOWID", "TMUX", "STY"),
}


def terminal_environment(requested: Mapping[str, str]) -> dict[str, str]:
    """Return acp-tui's environment, adapted for acp-tui's terminals, with the `requested` variables added."""
    inherited = {name: value for name, value in os.environ.items() if name not in _EXCLUDED}
    return {**inherited, **_TERMINAL, **_NO_PAGER, **requested}
