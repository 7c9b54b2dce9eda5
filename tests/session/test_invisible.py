"""Stand-ins and names of invisible characters."""

from __future__ import annotations

import pytest

from acp_tui.session.safe_text import escape_invisible, escape_invisible_line, invisible_characters


@pytest.mark.parametrize(
    "char",
    [
        *("\u00ad", "\u034f", "\u115f", "\u1160", "\u180e", "\u200b", "\u200c", "\u200d", "\u202e", "\u2060"),
        *("\u2800", "\u3164", "\ufe0f", "\ufeff", "\uffa0", "\ufff9", "\U000e0041", "\U000e0100", "\u00a0"),
    ],
)
def test_each_character_has_a_stand_in_and_a_name(char: str) -> None:
    assert escape_invisible(f"rm a{char}b") == f"rm a‹{ord(char):02x}›b"
    assert escape_invisible_line(f"rm a{char}b") == f"rm a‹{ord(char):02x}›b"
    assert invisible_characters(f"rm a{char}b")


@pytest.mark.parametrize("text", ["echo hi", "touch größe.txt", "echo 漢字 🙂 שלום", "a\n\tb"])
def test_visible_text_is_unchanged(text: str) -> None:
    assert escape_invisible(text) == text
    assert invisible_characters(text) == ""


def test_the_most_frequent_are_named_and_the_rest_counted() -> None:
    hidden = "\u200b" * 2 + "".join(chr(0xE0000 + ord(char)) for char in "rm -rf") + "\u3164\ufe0f\u2060"
    assert invisible_characters("echo hi", hidden) == (
        "6 × tag character (U+E0000 block), 2 × ZERO WIDTH SPACE (U+200B), HANGUL FILLER (U+3164),"
        " 2 other kinds"
    )
