"""What comes from the terminal, as events: keys and the mouse as Textual reads them, pastes as we do.

Textual goes on looking for keys in what is pasted, so an escape character in it turns the rest into
keystrokes, with an Enter at each line end; and it takes a long paste apart character by character.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from textual._xterm_parser import XTermParser
    from textual.message import Message

BEGIN, END = "\x1b[200~", "\x1b[201~"
MAX_PARTIAL_MARK = len(BEGIN) - 1
"""Characters that may be the first part of a mark."""


class PasteParser:
    """Reads keys with the parser, and what stands between the marks of a paste without it."""

    def __init__(self, parser: XTermParser) -> None:
        self._parser = parser
        self._last = ""  # the end of what the parser was given
        self._pasted: list[str] | None = None

    def feed(self, text: str) -> Iterator[Message]:
        """Events of more text, which may be cut anywhere."""
        while text:
            text = yield from (self._keys(text) if self._pasted is None else self._paste(text, self._pasted))

    def tick(self) -> Iterable[Message]:
        """To be called now and then: a lone Esc is a key when nothing follows it."""
        return self._parser.tick()

    def _keys(self, text: str) -> Generator[Message, None, str]:
        """Up to the beginning of a paste; returns the rest."""
        seen = self._last + text
        begins = seen.find(BEGIN)
        end = len(text) if begins < 0 else begins + len(BEGIN) - len(self._last)
        yield from self._parser.feed(text[:end])
        self._last = seen[-MAX_PARTIAL_MARK:]
        if begins >= 0:
            self._last, self._pasted = "", []
        return text[end:]

    def _paste(self, text: str, pasted: list[str]) -> Generator[Message, None, str]:
        """Up to its end; returns the rest."""
        before = "".join(pasted[-MAX_PARTIAL_MARK:])[-MAX_PARTIAL_MARK:]
        ends = (before + text).find(END)
        if ends < 0:
            pasted.append(text)
            return ""
        rest = text[ends + len(END) - len(before) :]
        whole = "".join([*pasted, text])
        self._pasted = None
        for event in self._parser.feed(END):  # which says that there was an empty paste
            if isinstance(event, events.Paste):
                yield events.Paste(whole[: len(whole) - len(rest) - len(END)])
            else:
                yield event
        return rest
