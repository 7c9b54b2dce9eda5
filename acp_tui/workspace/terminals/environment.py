"""The environment of the client's terminals."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_TERMINAL = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
# Nobody turns the pages of `git log` here; it would wait for ever.
_NO_PAGER = {"PAGER": "cat", "GIT_PAGER": "cat"}
# Ours speak of our own terminal.
_OURS = {"COLUMNS", "LINES", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TERMCAP", "WINDOWID", "TMUX", "STY"}


def terminal_environment(wished: Mapping[str, str]) -> dict[str, str]:
    """Our own environment, made fit for a terminal of the client, and what the agent wishes beside it."""
    ours = {name: value for name, value in os.environ.items() if name not in _OURS}
    return {**ours, **_TERMINAL, **_NO_PAGER, **wished}
