"""Shows the newest toast first, suppresses duplicates, and shows problems with the settings as toasts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from textual.layouts.vertical import VerticalLayout

if TYPE_CHECKING:
    from textual.app import App
    from textual.geometry import Size
    from textual.layout import ArrangeResult
    from textual.screen import Screen
    from textual.widget import Widget


MAX_SHOWN = 2
"""The maximum number of problems shown in full."""


def notify_problems(app: App[Any], problems: Sequence[object]) -> None:
    """Show the first few settings problems, and how to list the rest."""
    if not problems:
        return
    lines = [str(problem) for problem in problems[:MAX_SHOWN]]
    if rest := len(problems[MAX_SHOWN:]):
        lines.append(f"{rest} more problem{'' if rest == 1 else 's'}; run `acp-tui config check`.")
    app.notify("\n".join(lines), severity="warning", timeout=10, markup=False)


class NewestFirst(VerticalLayout):
    """Places the newest toast at the top. Otherwise a new toast can be below the edge of the toast area."""

    def arrange(
        self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True
    ) -> ArrangeResult:
        """Place the children from the last to the first."""
        return super().arrange(parent, children[::-1], size, greedy)


def show_newest_first(screen: Screen[Any]) -> None:
    """Order the toasts of a screen so that a new one is always visible."""
    for toasts in screen.query("ToastRack"):
        if not isinstance(toasts.styles.layout, NewestFirst):
            toasts.styles.set_rule("layout", NewestFirst())  # the property accepts Textual's layouts only


def place_toasts(screen: Screen[Any]) -> None:
    """Place the toasts of a screen where they cover nothing, or as little as possible.

    A screen can have a `place_toasts` of its own. Other pages get shorter while toasts are shown below them.
    On a dialog, which is in the middle of the screen, the toasts are at the top.
    """
    show_newest_first(screen)
    if (place := getattr(screen, "place_toasts", None)) is not None:
        place()
    elif screen.styles.align_vertical != "middle":
        for rack in screen.query("ToastRack"):
            rack.styles.layer = "default"  # on the same layer, a docked widget takes space from the others
            rack.styles.dock, rack.styles.align_vertical = "bottom", "bottom"
            rack.styles.margin = 0


class VisibleToasts:
    """Suppresses a toast until the time of an equal earlier one is over, as when a key is held down."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}

    def admit(self, message: str, seconds: float) -> bool:
        """Return True and count the message as visible for `seconds`, unless it is visible already."""
        now = time.monotonic()
        self._until = {shown: end for shown, end in self._until.items() if end > now}
        if message in self._until:
            return False
        self._until[message] = now + seconds
        return True
