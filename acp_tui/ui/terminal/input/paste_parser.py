"""Parses terminal input: pastes here, everything else with another parser.

Textual 8.2.8 looks for keys in pasted text, too. An escape character in it turns the rest into keystrokes,
with an Enter at each line end. It also parses a long paste character by character.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from textual import events

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from textual.message import Message

BEGIN, END = "\x1b[200~", "\x1b[201~"
MAX_PARTIAL_MARKER = len(BEGIN) - 1
"""The maximum number of characters at the end of a chunk that may be the beginning of a paste marker."""


class InputParser(Protocol):
    """Turns the characters that a terminal sends into events."""

    def feed(self, data: str) -> Iterable[Message]:
        """Yield the events in the next chunk of input."""

    def tick(self) -> Iterable[Message]:
        """Yield events that are due without input."""


class PasteParser:
    """Passes everything except pasted text to another parser."""

    def __init__(self, parser: InputParser) -> None:
        self._parser = parser
        self._tail = ""  # the last characters passed to the parser
        self._pasted: list[str] | None = None  # None outside of a paste

    def feed(self, text: str) -> Iterator[Message]:
        """Yield the events in the next chunk of input. A chunk may begin and end anywhere."""
        while text:
            text = yield from (self._keys(text) if self._pasted is None else self._paste(text, self._pasted))

    def tick(self) -> Iterable[Message]:
        """Yield events that are due without input: Escape is a key if nothing follows it for a moment."""
        return self._parser.tick()

    def _keys(self, text: str) -> Generator[Message, None, str]:
        """Yield events up to the beginning of a paste; return the rest of the text."""
        joined = self._tail + text
        begin = joined.find(BEGIN)
        end = len(text) if begin < 0 else begin + len(BEGIN) - len(self._tail)
        yield from self._parser.feed(text[:end])
        self._tail = joined[-MAX_PARTIAL_MARKER:]
        if begin >= 0:
            self._tail, self._pasted = "", []
        return text[end:]

    def _paste(self, text: str, pasted: list[str]) -> Generator[Message, None, str]:
        """Yield the paste once its end has arrived; return the rest of the text."""
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
