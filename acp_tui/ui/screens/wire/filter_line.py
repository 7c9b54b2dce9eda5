"""The line for the filter of the wire screen, with completions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual import events, on
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input, Static

from acp_tui.session.safe_text import escape_line
from acp_tui.ui import keys
from acp_tui.ui.prompt.completion_list import CompletionItem, CompletionList
from acp_tui.ui.theme.palette import current_palette
from acp_tui.ui.widgets.bar import Bar
from acp_tui.ui.widgets.input_line import InputLine
from acp_tui.wire.frame_filter import KEYS, FilterError, completions, parse_filter

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from acp_tui.wire.frame_filter import FrameFilter

    Values = Callable[[], dict[str, list[str]]]


MAX_COMPLETIONS = 50


class FilterLine(Vertical):
    """A filter input, below it an error or the completions of the word that is being typed."""

    BINDINGS: ClassVar = keys.bindings("wire_filter")
    DEFAULT_CSS = """
    FilterLine { height: auto; padding: 0 1; }
    FilterLine Horizontal { height: 1; }
    FilterLine Static { width: auto; color: $text-muted; }
    FilterLine InputLine { width: 1fr; }
    FilterLine Bar { display: none; }
    FilterLine CompletionList { display: none; }
    """

    class Changed(Message):
        """The filter changed."""

        def __init__(self, frame_filter: FrameFilter | None) -> None:
            super().__init__()
            self.filter = frame_filter

    class Left(Message):
        """The user is done with the filter."""

    def __init__(self, values: Values) -> None:
        """`values` returns the values that occur in the log, by the key of the filter."""
        super().__init__()
        self._values = values
        self._offered: list[str] = []

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Static("Filter ")
            yield InputLine(placeholder="method: kind: dir: session: type: or text", select_on_focus=False)
        yield Bar([], id="error")
        yield CompletionList()

    @property
    def _input(self) -> InputLine:
        return self.query_one(InputLine)

    @property
    def text(self) -> str:
        """What is typed."""
        return self._input.value

    @text.setter
    def text(self, text: str) -> None:
        self._input.value = text
        self._input.cursor_position = len(text)

    def start(self) -> None:
        """Focus the input."""
        self.screen.set_focus(self._input)

    @on(Input.Changed)
    def _filter(self, event: Input.Changed) -> None:
        event.stop()
        self._show_completions()
        error = ""
        try:
            frame_filter = parse_filter(event.value) if event.value.strip() else None
        except FilterError as problem:
            if self._offered:  # a key without a value yet
                return
            error = str(problem)
        else:
            self.post_message(self.Changed(frame_filter or None))
        self._show_error(error)

    def _show_error(self, error: str) -> None:
        line = self.query_one("#error", Bar)
        line.display = bool(error)
        line.show([Segment(escape_line(error), current_palette().error)])

    @on(events.DescendantFocus)
    @on(events.DescendantBlur)
    def _show_completions(self) -> None:
        text = self.text
        is_open = self._input.has_focus and self._input.cursor_position >= len(text)
        self._offered = self._completions(text) if is_open else []
        choices = self.query_one(CompletionList)
        choices.display = bool(self._offered)
        start = len(text) - len(text.split(" ")[-1])
        choices.show(
            [
                CompletionItem(escape_line(one[start:]), description=_help(one[start:]))
                for one in self._offered
            ]
        )

    def _completions(self, text: str) -> list[str]:
        if not text or text.endswith(" "):
            return [f"{text}{key}:" for key in KEYS]
        return completions(text, self._values())[:MAX_COMPLETIONS]

    def apply_theme(self) -> None:
        """Draw again what was drawn in the colours of the old theme."""
        self._filter(Input.Changed(self._input, self.text))

    @on(CompletionList.Clicked)
    def _take_clicked(self, event: CompletionList.Clicked) -> None:
        self.text = self._offered[event.index]
        self.start()

    def action_move(self, step: int) -> None:
        """Select another completion; without any, go to the list."""
        if self._offered:
            self.query_one(CompletionList).move(step)
        elif step > 0:
            self.post_message(self.Left())

    def action_complete(self) -> None:
        """Use the selected completion; without any, go to the list."""
        if not self._offered:
            self.post_message(self.Left())
            return
        word = self._offered[self.query_one(CompletionList).current]
        self.text = word if word.endswith(":") else f"{word} "

    def action_accept(self) -> None:
        """Keep the filter and go to the list."""
        self.post_message(self.Left())

    def action_close(self) -> None:
        """Clear the filter; if it is empty, go to the list."""
        if self.text:
            self.text = ""
        else:
            self.post_message(self.Left())


def _help(word: str) -> str:
    return KEYS.get(word.removeprefix("-").removesuffix(":"), "") if word.endswith(":") else ""
