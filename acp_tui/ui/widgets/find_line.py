"""The search line of the transcript: the search text and the position among the matches."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Static

from acp_tui.ui import keys
from acp_tui.ui.widgets.input_line import InputLine

if TYPE_CHECKING:
    from textual.widgets import Input


class FindLine(Horizontal):
    """A search input, and beside it a position such as "3 of 17". Hidden until `open` or `show` is called."""

    BINDINGS: ClassVar = keys.bindings("find")
    DEFAULT_CSS = """
    FindLine { height: 1; background: $surface; display: none; padding: 0 1; }
    FindLine.shown { display: block; }
    FindLine Static { width: auto; color: $text-muted; }
    FindLine #hits { padding-left: 2; min-width: 14; }
    FindLine Input { width: 1fr; height: 1; border: none; padding: 0; background: $surface; }
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
