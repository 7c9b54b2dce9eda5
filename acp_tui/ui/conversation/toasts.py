"""What is told beside the conversation: in short, and once."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import App

MAX_SHOWN = 2
"""Problems that are told in full."""


def notify_problems(app: App[Any], problems: Sequence[object]) -> None:
    """The first few of those with the settings, and where to read the others: a wall of it helps nobody."""
    if not problems:
        return
    lines = [str(problem) for problem in problems[:MAX_SHOWN]]
    if rest := len(problems[MAX_SHOWN:]):
        lines.append(f"… and {rest} more: `acp-tui config check` tells {'it' if rest == 1 else 'them'}.")
    app.notify("\n".join(lines), severity="warning", timeout=10, markup=False)


class VisibleToasts:
    """What can be read now: a key that is held down does not pile it up."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}

    def admit(self, message: str, seconds: float) -> bool:
        """Is it told from now on for so long? False: it is there already."""
        now = time.monotonic()
        self._until = {told: end for told, end in self._until.items() if end > now}
        if message in self._until:
            return False
        self._until[message] = now + seconds
        return True
