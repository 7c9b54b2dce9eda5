"""A list that follows what is typed, and can write the chosen one out."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, NamedTuple

from acp_tui.ui.prompt.popup import Popup

if TYPE_CHECKING:
    from textual.widgets.text_area import Location


class Completion(NamedTuple):
    """What is to stand from a place up to the cursor."""

    start: Location
    text: str


class Menu(Popup):
    """What the keys of the menu act on while it is open."""

    @property
    @abstractmethod
    def is_complete(self) -> bool:
        """Is the chosen one written out already?"""

    @abstractmethod
    def completion(self, *, taking: bool) -> Completion | None:
        """What writes the chosen one out; None when it cannot be taken. `taking`: it is the last word."""

    @abstractmethod
    def dismiss(self) -> None:
        """The user does not want it for what is being written."""

    def move(self, step: int) -> None:
        """Move the mark."""
        self.choices.move(step)
