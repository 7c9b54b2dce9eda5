"""One line to type into: for a search, or for what narrows a list."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.widgets import Input

from acp_tui.session.text import strip_controls

if TYPE_CHECKING:
    from textual.binding import BindingType

EDITING_BINDINGS: list[BindingType] = [
    binding for binding in Input.BINDINGS if isinstance(binding, Binding) and binding.key != "enter"
]
"""The keys of any such line. Enter is not among them, nor are the arrows that scroll every other widget: they
are for whoever has the line, and stand in the table of keys."""


class InputLine(Input, inherit_bindings=False):
    """It stands still, and what is pasted into it reaches the terminal as nothing but text."""

    BINDINGS: ClassVar[list[BindingType]] = EDITING_BINDINGS

    def __init__(
        self,
        *,
        placeholder: str = "",
        select_on_focus: bool = True,
        id: str | None = None,  # noqa: A002  as in Textual
    ) -> None:
        super().__init__(placeholder=placeholder, select_on_focus=select_on_focus, compact=True, id=id)
        self.cursor_blink = False

    def validate_value(self, value: str) -> str:
        """Without control characters."""
        return strip_controls(value)
