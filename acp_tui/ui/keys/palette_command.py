"""A command in the command palette."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class PaletteCommand:
    """One line of the command palette. Texts are drawn without markup, because some come from agents."""

    title: str
    run: Callable[[], Any]  # may return an awaitable
    group: str = ""  # the part of the program that the command belongs to
    keys: str = ""
    word: str = ""  # search word and footer label
    preview: Callable[[], None] | None = None  # shows the effect while the line is selected
    current: bool = False  # whether this is the option's current value
    is_value: bool = False  # sets one value of an option; listed after the commands
