"""Parses pastes in the terminal's input, and passes everything else to another parser.

Textual 8.2.8 looks for keys in pasted text, too. An escape character in a paste turns the rest of the paste
into keystrokes, with an Enter at each line end. Textual is also slow with long pastes: it parses each
character separately.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from textual import events

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from textual.message import Message

BEGIN, END = "\x1b[200~", "\x1b[201~"
MAX_PARTIAL_MARKER = len(BEGIN) - 1
"""The maximum number of characters at the end of a chunk that can be the beginning of a paste marker."""


class InputParser(Protocol):
    """Turns the characters that a terminal sends into events."""

    def feed(self, data: str) -> Iterable[Message]:
        """Yield the events in the next chunk of input."""

    def tick(self) -> Iterable[Message]:
        """Yield events that are due without new input, because some time has passed."""


class PasteParser:
    """Turns a paste into one event, and passes all other input to another parser."""

    def __init__(self, parser: InputParser) -> None:
        self._parser = parser
        self._tail = ""  # the last characters passed to the parser
        self._pasted: list[str] | None = None  # None outside of a paste

    def feed(self, text: str) -> Iterator[Message]:
        """Yield the events in the next chunk of input. A chunk may begin and end anywhere."""
        while text:
            text = yield from (self._keys(text) if self._pasted is None else self._paste(text, self._pasted))

    def tick(self) -> Iterable[Message]:
        """Yield events that are due without new input: Escape is a key if nothing follows it soon."""
        return self._parser.tick()

    def _keys(self, text: str) -> Generator[Message, None, str]:
        """Yield the events up to the marker that begins a paste, and return the text after that marker."""
        joined = self._tail + text
        begin = joined.find(BEGIN)
        end = len(text) if begin < 0 else begin + len(BEGIN) - len(self._tail)
        yield from self._parser.feed(text[:end])
        self._tail = joined[-MAX_PARTIAL_MARKER:]
        if begin >= 0:
            self._tail, self._pasted = "", []
        return text[end:]

    def _paste(self, text: str, pasted: list[str]) -> Generator[Message, None, str]:
        """Yield the paste as an event once the end marker has arrived, and return the text after it."""
        before = "".join(pasted[-MAX_PARTIAL_MARKER:])[-MAX_PARTIAL_MARKER:]
        end = (before + text).find(END)
        if end < 0:
            pasted.append(text)
            return ""
        rest = text[end + len(END) - len(before) :]
        whole = "".join([*pasted, text])
        self._pasted = None
        for event in self._parser.feed(END):  # the parser reports an empty paste
            if isinstance(event, events.Paste):
                yield events.Paste(whole[: len(whole) - len(rest) - len(END)])
            else:
                yield event
        return rest
