"""The terminal's replies about its background, in the middle of other input."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual._xterm_parser import XTermParser

from acp_tui.ui.terminal.driver import BEGIN, END, PasteParser, ReplyParser
from acp_tui.ui.terminal.passthrough import BackgroundReply
from tests.support.talk import properties

LIGHT = "\x1b]11;rgb:ffff/ffff/dfdf\x1b\\"
NOW_LIGHT = "\x1b[?997;2n"
BRACKETS = ("right_square_bracket", "left_square_bracket")
"""What Textual calls Alt with a bracket."""
LATER = 10.0
"""Seconds: longer than any wait."""


class Input:
    """The parsers of the driver, with a clock that the test sets."""

    def __init__(self) -> None:
        self.now = 0.0
        self.found: list[str] = []
        self._parser = PasteParser(ReplyParser(XTermParser(), lambda: self.now))

    def feed(self, *pieces: str, pause: float = 0.0) -> list[str]:
        """Feed pieces, with a pause after each, and return all that has been found so far."""
        for piece in pieces:
            self._keep(self._parser.feed(piece))
            self.now += pause
            if pause:
                self._keep(self._parser.tick())
        return self.found

    def _keep(self, found: object) -> None:
        for event in found:  # type: ignore[attr-defined]  # an iterable of messages
            if isinstance(event, BackgroundReply):
                source = "colour" if event.from_colour else "scheme"
                self.found.append(f"{source}: {'dark' if event.dark else 'light'}")
            elif isinstance(event, events.Key):
                self.found.append(event.key)


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        (LIGHT, ["colour: light"]),
        ("\x1b]11;rgb:1e1e/1e1e/2e2e\x07", ["colour: dark"]),
        ("\x1b]11;rgb:ff/ff/ff\x07", ["colour: light"]),
        ("\x1b]11;rgba:0000/0000/0000/ffff\x1b\\", ["colour: dark"]),
        ("\x1b[?997;1n", ["scheme: dark"]),
        (NOW_LIGHT, ["scheme: light"]),
        ("\x1b]11;?\x07", []),
        ("\x1b]11;rgb:zz\x1b\\", []),
        ("\x1b]11;rgb:ffff\x1b\\", []),
        ("\x1b]10;rgb:ffff/ffff/ffff\x07", []),
    ],
)
def test_replies_are_not_typed(reply: str, found: list[str]) -> None:
    assert Input().feed(f"a{reply}b") == ["a", *found, "b"]


@pytest.mark.parametrize("reply", [LIGHT, NOW_LIGHT, "\x1b]11;rgb:ff/ff/ff\x07"])
def test_a_reply_may_pause_anywhere(reply: str) -> None:
    for cut in range(2, len(reply)):
        found = Input().feed("x", reply[:cut], reply[cut:], "y", pause=LATER)
        assert [each for each in found if each not in BRACKETS][1:] in (
            ["colour: light", "y"],
            ["scheme: light", "y"],
        ), cut


def test_a_reply_whose_first_character_was_taken_for_escape_is_not_typed() -> None:
    assert Input().feed("\x1b", LIGHT[1:], "y", pause=LATER) == ["escape", "colour: light", "y"]


@properties
@given(st.lists(st.integers(0, 70), max_size=8))
def test_input_may_be_cut_anywhere(cuts: list[int]) -> None:
    whole = f"a\x1b[A{LIGHT}b{NOW_LIGHT}\x1b[1;3C\x1b\x1b{BEGIN}{LIGHT}{END}{LIGHT}{LIGHT}c"
    edges = [0, *sorted(min(cut, len(whole)) for cut in cuts), len(whole)]
    pieces = [whole[start:end] for start, end in pairwise(edges) if start < end]
    assert Input().feed(*pieces) == Input().feed(whole) == Input().feed(*whole)


def test_escape_and_alt_with_a_bracket_remain_keys() -> None:
    assert Input().feed("\x1b", "\x1b]", "\x1b[", "\x1bOP", pause=LATER) == ["escape", *BRACKETS, "f1"]


def test_what_follows_a_reply_without_an_end_is_typed() -> None:
    assert Input().feed("\x1b]11;rgb:ff/ff/ff", "hello", pause=LATER) == ["colour: light", *"hello"]
    assert Input().feed("\x1b]11;black", "hello", pause=LATER) == [*"hello"]
