"""The line of the search in the transcript: what is looked for, and which hit is looked at."""

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
    """Hidden until it is wanted."""

    BINDINGS: ClassVar = keys.bindings("find")
    DEFAULT_CSS = """
    FindLine { height: 1; background: $surface; display: none; padding: 0 1; }
    FindLine.shown { display: block; }
    FindLine Static { width: auto; color: $text-muted; }
    FindLine #hits { padding-left: 2; min-width: 14; }
    FindLine Input { width: 1fr; height: 1; border: none; padding: 0; background: $surface; }
    """

    class Changed(Message):
        """Something else is looked for."""

        def __init__(self, needle: str) -> None:
            super().__init__()
            self.needle = needle

    class Moved(Message):
        """The next or the previous hit is wanted."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    class Closed(Message):
        """The search is over."""

    def open(self) -> None:
        """Show it, with what was looked for before. Until the first time it has nothing in it: that would
        cost every start."""
        if not self.children:
            self.mount(Static("Search "), InputLine(), Static("", id="hits"))
        if not self.shown and self.needle:
            self.post_message(self.Changed(self.needle))
        self.show()
        self.screen.set_focus(self.query_one(InputLine))  # at once: the next key is for it

    def show(self) -> None:
        """Have it there, while the user stays elsewhere."""
        self.add_class("shown")

    @property
    def needle(self) -> str:
        """What is or was looked for."""
        return self.query_one(InputLine).value if self.children else ""

    @property
    def shown(self) -> bool:
        """Is it there?"""
        return self.has_class("shown")

    def tell(self, number: int, total: int) -> None:
        """Which hit of how many."""
        if not self.children:
            return
        if not self.needle:
            words = ""
        elif not total:
            words = "no matches"
        else:
            words = f"{number} of {total}" if number else f"{total} found"
        self.query_one("#hits", Static).update(words)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Looked for while it is typed."""
        event.stop()
        self.post_message(self.Changed(event.value))

    def action_find_next(self, step: int) -> None:
        """On, or back."""
        self.post_message(self.Moved(step))

    def action_close(self) -> None:
        """Enough."""
        self.remove_class("shown")
        self.post_message(self.Closed())
