"""Takes the terminal's replies to queries of acp-tui out of the input; Textual's parser gets the rest.

Textual 8.2.8 knows neither OSC replies nor reports of the colour scheme, and would type them into the prompt.
It also gives up on an escape sequence that is interrupted for a tenth of a second. Over SSH, such
interruptions happen.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from textual import constants

from acp_tui.ui.terminal.background import BackgroundReply, is_dark

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from textual._xterm_parser import XTermParser  # Textual 8.2.8: the parser has no public name
    from textual.message import Message

GARBAGE_SECONDS = 1.0
"""Seconds until an incomplete OSC reply is dropped, if it reports no background colour."""

_REPLY = re.compile(
    r"\x1b\](?P<number>\d{1,4});(?P<answer>[ -~]{0,64})(?:\x07|\x1b\\)"
    r"|\x1b\]11;(?P<open_answer>rgba?:[0-9a-fA-F]+(?:/[0-9a-fA-F]+){2,3})(?=[^0-9a-fA-F/\x07\x1b]|\x1b[^\\])"
    r"|\x1b\[\?997;(?P<scheme>[12])n"
)
"""Matches a whole reply.

If the terminator of a colour is missing, the colour ends before the first character that is not part of it.
"""
_BEGINNING = re.compile(
    r"\x1b(?:\](?:\d{0,4}|\d{1,4};[ -~]{0,64}\x1b?)|\[(?:\?(?:9(?:9(?:7(?:;[12]?)?)?)?)?)?)?\Z"
)
"""Matches the last characters of a chunk of input if they may be the beginning of a reply."""
_UNMISTAKABLE = re.compile(
    r"\x1b(?:\]\d{1,4}|\]11;(?:r|rg|rgb|rgba|rgba?:[0-9a-fA-F/]*\x1b?)?|\[\?9?9?7?;?[12]?)"
)
"""Matches the beginning of a reply if it cannot belong to a key. There is no time limit for the rest."""
_LATE_REPLY = re.compile(r"\x1b(?:\]11;rgb|\[\?997;[12]n)")
"""Matches a late reply, including its first characters, which have already been passed on as a key."""


class ReplyParser:
    """Yields a message for each reply about the background.

    Other OSC replies are dropped. Textual's parser gets the rest of the input.
    """

    def __init__(self, parser: XTermParser, clock: Callable[[], float] = time.monotonic) -> None:
        self._parser = parser
        self._clock = clock
        self._held = ""  # the beginning of a reply, or of a key
        self._held_until: float | None = None  # None: without a limit
        self._passed_key = ""  # Escape, Alt+] or Alt+[, if nothing has been passed on since

    def feed(self, data: str) -> Iterator[Message]:
        """Yield the events in the next chunk of input. A chunk may begin and end anywhere."""
        text = self._held + data
        if self._passed_key and _LATE_REPLY.match(self._passed_key + text):
            text = self._passed_key + text
        self._held = self._passed_key = ""
        while reply := _REPLY.search(text):
            yield from self._pass(text[: reply.start()])
            yield from _messages(reply)
            text = text[reply.end() :]
        if beginning := _BEGINNING.search(text):
            self._hold(beginning[0])
            text = text[: beginning.start()]
        yield from self._pass(text)

    def tick(self) -> Iterator[Message]:
        """Yield events that are due without new input, such as Escape if nothing has followed it in time."""
        if self._held and self._held_until is not None and self._clock() >= self._held_until:
            held, self._held = self._held, ""
            if ";" not in held:
                self._passed_key = held
                yield from self._parser.feed(held)
                # Textual 8.2.8: end the parser's own wait for the rest of the key.
                self._parser._timeout_time = 0.0
        yield from self._parser.tick()

    def _hold(self, beginning: str) -> None:
        self._held = beginning
        wait = GARBAGE_SECONDS if ";" in beginning else constants.ESCAPE_DELAY
        self._held_until = None if _UNMISTAKABLE.fullmatch(beginning) else self._clock() + wait

    def _pass(self, text: str) -> Iterator[Message]:
        if text:  # Textual's parser takes an empty text as the end of the input
            yield from self._parser.feed(text)


def _messages(reply: re.Match[str]) -> Iterator[BackgroundReply]:
    """Yield the background that a reply reports; nothing if the reply is garbled or about something else."""
    if scheme := reply["scheme"]:
        yield BackgroundReply(dark=scheme == "1", from_colour=False)
        return
    colour = reply["answer"] if reply["number"] == "11" else reply["open_answer"]
    if colour is not None and (dark := is_dark(colour)) is not None:
        yield BackgroundReply(dark=dark, from_colour=True)
