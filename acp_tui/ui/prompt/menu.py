"""The base class of completion menus."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, NamedTuple

from acp_tui.ui.prompt.popup import Popup

if TYPE_CHECKING:
    from textual.widgets.text_area import Location


class Completion(NamedTuple):
    """A text that replaces the text between `start` and the cursor."""

    start: Location
    text: str


class Menu(Popup):
    """A popup that offers completions of the typed text. The menu keys act on the popup while it is open."""

    @property
    @abstractmethod
    def is_complete(self) -> bool:
        """True if the typed text needs no completion, such as when the selected item is typed in full."""

    @abstractmethod
    def completion(self, *, final: bool) -> Completion | None:
        """Return the completion for the selected item, followed by a space.

        If `final` is false, a folder gets no space, so that the user can complete the path further. Return
        None if no item is selected, or if the selected item cannot be attached.
        """

    @abstractmethod
    def dismiss(self) -> None:
        """Close the menu until the user starts another word that the menu can complete."""

    def move(self, step: int) -> None:
        """Select another item, `step` positions away."""
        self.choices.move(step)
