"""Searching what was asked before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import on
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static

from acp_tui.session.text import visible_line
from acp_tui.ui.keys import bindings
from acp_tui.ui.prompt.completion_list import CompletionItem, CompletionList
from acp_tui.ui.prompt.popup import Popup
from acp_tui.ui.widgets.input_line import InputLine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

MAX_HITS = 200
"""More hits than anybody looks through."""
EXCERPT_CHARS = 300
"""Characters of a prompt that can show in a line."""


class SearchLine(InputLine):
    """What is searched for. The keys of the search are bound here, because it has keys of its own."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("history")

    @dataclass
    class Pressed(Message):
        """A key of the search."""

        what: Literal["older", "newer", "take", "close"]

    def action_history(self, what: Literal["older", "newer", "take", "close"]) -> None:
        """Pass it on to the search."""
        self.post_message(self.Pressed(what))


class HistorySearch(Popup):
    """A line to search with, and above it what was found, the latest nearest."""

    DEFAULT_CSS = """
    HistorySearch {
        & > Horizontal { height: 1; }
        & Static { width: auto; padding: 0 1; color: $text-accent; }
        & Input { width: 1fr; background: $surface; padding: 0; }
    }
    """
    EXTRA_ROWS = 1
    TITLE = "history"

    @dataclass
    class Taken(Message):
        """This one is wanted."""

        text: str

    class Closed(Message):
        """None is wanted."""

    def __init__(self, entries: Sequence[str]) -> None:
        super().__init__()
        self._entries = [(text, text.lower()) for text in reversed(entries)]
        self._found: list[str] = []

    def compose(self) -> ComposeResult:
        """The list and the line."""
        yield CompletionList()
        with Horizontal():
            yield Static("search ❯", markup=False)
            yield SearchLine(select_on_focus=False)

    def on_mount(self) -> None:
        """Begin with everything."""
        self.screen.set_focus(self.query_one(SearchLine))  # at once: the next key is for it
        self._search("")

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._search(event.value)

    def _search(self, typed: str) -> None:
        words = typed.lower().split()
        found: list[str] = []
        for text, low in self._entries:
            if all(word in low for word in words):
                found.append(text)
                if len(found) == MAX_HITS:
                    break
        self._found = found[::-1]
        choices = [_choice(text, words) for text in self._found]
        self.show(choices, max(0, len(choices) - 1))

    @on(SearchLine.Pressed)
    def _pressed(self, event: SearchLine.Pressed) -> None:
        event.stop()
        if event.what == "close":
            self.post_message(self.Closed())
        elif event.what == "take":
            self._take(self.choices.current)
        else:
            self.choices.move(-1 if event.what == "older" else 1)

    def _take(self, index: int) -> None:
        if self._found:
            self.post_message(self.Taken(self._found[index]))

    @on(CompletionList.Clicked)
    def _clicked(self, event: CompletionList.Clicked) -> None:
        event.stop()
        self._take(event.index)


def _choice(text: str, words: list[str]) -> CompletionItem:
    line = visible_line(text[:EXCERPT_CHARS].strip().replace("\n", " ⏎ "))
    low = line.lower()
    places = (at + offset for word in words if (at := low.find(word)) >= 0 for offset in range(len(word)))
    return CompletionItem(line, matched=frozenset(places))
