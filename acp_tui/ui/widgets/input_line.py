"""A one-line text input, for searches and filters."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static

from acp_tui.session.safe_text import strip_controls
from acp_tui.ui import keys

EDITING_BINDINGS: list[BindingType] = [
    binding for binding in Input.BINDINGS if isinstance(binding, Binding) and binding.key != "enter"
]
"""Textual's editing keys without Enter, which the parent widget binds to its own action."""


class InputLine(Input, inherit_bindings=False):
    """An input that removes unsafe control characters from its value. Its cursor does not blink."""

    DEFAULT_CSS = """
    InputLine { background: $panel; }
    """
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


class FindLine(Horizontal):
    """A search input, and beside it a position such as "3 of 17". Hidden until `open` or `show` is called."""

    BINDINGS: ClassVar = keys.bindings("find")
    DEFAULT_CSS = """
    FindLine { height: 1; background: $surface; display: none; padding: 0 1; }
    FindLine.shown { display: block; }
    FindLine Static { width: auto; color: $text-muted; }
    FindLine #hits { padding-left: 2; min-width: 14; }
    FindLine Input { width: 1fr; background: $surface; }
    """

    class Changed(Message):
        """The search text changed."""

        def __init__(self, needle: str) -> None:
            super().__init__()
            self.needle = needle

    class Moved(Message):
        """The user asked for the next (1) or previous (-1) match."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    class Closed(Message):
        """The user closed the search."""

    def open(self) -> None:
        """Show the line with the previous search text, and focus the input.

        The children of the line are created at first use, because creating them would slow down every start.
        """
        self._create_children()
        if not self.shown and self.needle:
            self.post_message(self.Changed(self.needle))
        self.show()
        self.screen.set_focus(self.query_one(InputLine))  # immediately, because the next key belongs to it

    def _create_children(self) -> None:
        if not self.children:
            self.mount(Static("Search "), InputLine(), Static("", id="hits"))

    def show_needle(self, needle: str) -> None:
        """Show the line with a search text. The line is not focused, and `Changed` is not posted."""
        self._create_children()
        line = self.query_one(InputLine)
        with line.prevent(InputLine.Changed):
            line.value = needle
        self.show()

    def show(self) -> None:
        """Show the line without focusing it."""
        self.add_class("shown")

    @property
    def needle(self) -> str:
        """The search text, which is kept while the line is hidden."""
        return self.query_one(InputLine).value if self.children else ""

    @property
    def shown(self) -> bool:
        """True while the line is visible."""
        return self.has_class("shown")

    def show_position(self, number: int, total: int) -> None:
        """Show a position such as "3 of 17". `number` is 0 if no match is current."""
        if not self.children:
            return
        if not self.needle:
            position = ""
        elif not total:
            position = "no matches"
        else:
            position = f"{number} of {total}" if number else f"{total} found"
        self.query_one("#hits", Static).update(position)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Changed(event.value))

    def action_find_next(self, step: int) -> None:
        self.post_message(self.Moved(step))

    def action_close(self) -> None:
        self.remove_class("shown")
        self.post_message(self.Closed())
