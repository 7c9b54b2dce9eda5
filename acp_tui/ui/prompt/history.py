"""The history of prompts: recalling and searching earlier ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol

from textual import on
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static

from acp_tui.session.safe_text import escape_line
from acp_tui.ui.keys import bindings
from acp_tui.ui.prompt.completion_list import CompletionItem, CompletionList, Popup
from acp_tui.ui.widgets.input_line import InputLine

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType


MAX_HITS = 200
"""Maximum number of matches in the list."""
EXCERPT_CHARS = 300
"""The number of characters of a prompt that are read to draw its line, which shows only the beginning."""


class HistoryInput(InputLine):
    """The input of the search. The search keys are bound here, to take precedence over the editing keys."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("history")

    @dataclass
    class KeyPressed(Message):
        """The user pressed a key of the search."""

        action: Literal["older", "newer", "take", "close"]

    def action_history(self, action: Literal["older", "newer", "take", "close"]) -> None:
        """Send the action of the pressed key to the search."""
        self.post_message(self.KeyPressed(action))


class HistorySearch(Popup):
    """An input with the matching prompts above it, the latest at the bottom."""

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
    class Chosen(Message):
        """The user chose a prompt."""

        text: str

    class Closed(Message):
        """The user closed the search."""

    def __init__(self, entries: Sequence[str]) -> None:
        super().__init__()
        self._entries = [(text, text.lower()) for text in reversed(entries)]
        self._found: list[str] = []

    def compose(self) -> ComposeResult:
        yield CompletionList()
        with Horizontal():
            yield Static("search ❯", markup=False)
            yield HistoryInput(select_on_focus=False)

    def on_mount(self) -> None:
        """Focus the input, and list the latest prompts."""
        self.screen.set_focus(self.query_one(HistoryInput))  # immediately, because the next key belongs to it
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
        items = [_completion_item(text, words) for text in self._found]
        self.show(items, max(0, len(items) - 1))

    @on(HistoryInput.KeyPressed)
    def _key_pressed(self, event: HistoryInput.KeyPressed) -> None:
        event.stop()
        if event.action == "close":
            self.post_message(self.Closed())
        elif event.action == "take":
            self._choose(self.choices.current)
        else:
            self.choices.move(-1 if event.action == "older" else 1)

    def _choose(self, index: int) -> None:
        if self._found:
            self.post_message(self.Chosen(self._found[index]))

    @on(CompletionList.Clicked)
    def _clicked(self, event: CompletionList.Clicked) -> None:
        event.stop()
        self._choose(event.index)


def _completion_item(text: str, words: list[str]) -> CompletionItem:
    line = escape_line(text[:EXCERPT_CHARS].strip().replace("\n", " ⏎ "))
    low = line.lower()
    indexes = (at + offset for word in words if (at := low.find(word)) >= 0 for offset in range(len(word)))
    return CompletionItem(line, matched=frozenset(indexes))


class HistoryRecall(Protocol):
    """The prompt history of a project."""

    def entries(self) -> Sequence[str]:
        """Return the prompts, the latest last."""

    def add(self, text: str) -> object:
        """Add a prompt that was sent."""


class Recall:
    """Goes through the history. Edits of recalled prompts are kept until `reset` is called."""

    def __init__(self, entries: Callable[[], Sequence[str]]) -> None:
        self._get_entries = entries
        self._texts: list[str] = []  # the last one is the text written before the recall
        self._index = 0

    @property
    def active(self) -> bool:
        """True while an earlier prompt is shown."""
        return self._index < len(self._texts) - 1

    def move(self, step: int, current: str) -> str | None:
        """Move to the previous (-1) or next (1) prompt and return it; None if there is none.

        `current` is the text in the editor. It is kept, and returned again when the user moves back to it.
        """
        if not self._texts:
            self._texts = [*self._get_entries(), current]
            self._index = len(self._texts) - 1
        index = self._index + step
        if not 0 <= index < len(self._texts):
            return None
        self._texts[self._index] = current
        self._index = index
        return self._texts[index]

    def reset(self) -> None:
        """Start over at the end of the history, after a prompt was sent or replaced."""
        self._texts = []
        self._index = 0
