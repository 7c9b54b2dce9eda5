"""A one-line text input, for searches and filters."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.widgets import Input

from acp_tui.session.text.safe_text import strip_controls

if TYPE_CHECKING:
    from textual.binding import BindingType

EDITING_BINDINGS: list[BindingType] = [
    binding for binding in Input.BINDINGS if isinstance(binding, Binding) and binding.key != "enter"
]
"""Textual's editing keys without Enter, which the parent widget binds to its own action."""


class InputLine(Input, inherit_bindings=False):
    """An input that removes unsafe control characters from its value. Its cursor does not blink."""

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
        """Remove control characters, which pasted text can contain."""
        return strip_controls(value)
