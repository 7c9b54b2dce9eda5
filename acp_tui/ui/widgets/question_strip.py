"""A reminder of an open question, shown above the prompt while the user continues to write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.message import Message

from acp_tui.ui.widgets.bar import Bar

if TYPE_CHECKING:
    from textual import events

    from acp_tui.ui.theme.palette import Palette


class QuestionStrip(Bar):
    """Shows a question and the key to answer it. Hidden until `show_question` is called."""

    DEFAULT_CSS = """
    QuestionStrip { height: 1; display: none; padding: 0 1; }
    """

    class Clicked(Message):
        """The user clicked the line, in order to answer the question."""

    def __init__(self) -> None:
        super().__init__([])

    def show_question(self, question: str, key: str, position: str, palette: Palette) -> None:
        """Show a question and the key to answer it. `position`, such as "1 of 3", can be empty."""
        self.show(
            [Segment("? ", palette.warning), Segment(question, palette.warning)],
            [
                Segment(f" {position}  " if position else "  ", palette.dim),
                Segment(f"{key} ", palette.key),
                Segment("answer", palette.dim),
            ],
        )
        self.display = True

    def hide(self) -> None:
        self.display = False

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.post_message(self.Clicked())
