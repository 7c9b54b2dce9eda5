"""Markdown that grows chunk by chunk."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_tui.session.growing_text import GrowingText
from acp_tui.session.safe_text import escape_controls
from acp_tui.ui.markdown.document import MAX_HIGHLIGHTED_CHARACTERS, Document
from acp_tui.ui.markdown.scanner import MarkdownScanner, code_blocks
from tests.support.markdown import ALL, PALETTE, document, grown, strips

WIDTHS = st.sampled_from([20, 21, 40, 80])
PIECES = st.sampled_from(
    [
        *("# ", "- ", "1. ", "2) ", "> ", "  ", "    ", "\t", "\n", "\n\n", "\r\n", "\r", "```", "```py\n"),
        *("~~~", "~~", "**", "_", "`", "|", "a | b\n|---|---|\n", "| x | y |\n", "---\n", "===\n", "* * *\n"),
        *("[x]", "[x]: http://a.b\n", "[l](http://c.d)", "![i](u)", "- [ ] t\n", "https://q.r/s) ", "<br>"),
        *("&#x202e;", "&lt;", "\\", "\x1b[31m", "\x9b", "日本語", "👨‍👩‍👧", "❤️", "e\u0301", "\u200b"),
        *("word ", "long " * 20, "x" * 200, "s. " * 1500, "y" * 5000, "def f():\n    return 1\n", '"""\n'),
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=8), max_size=30).map("".join)


def chunked(text: str, cuts: list[int]) -> list[str]:
    places = sorted({cut % (len(text) + 1) for cut in cuts} | {0, len(text)})
    return [text[start:end] for start, end in pairwise(places)]


@settings(derandomize=True, database=None)
@given(
    text=TEXTS,
    cuts=st.lists(st.integers(0, 10_000), max_size=30),
    width=WIDTHS,
    draw_each_chunk=st.booleans(),
)
def test_lines_do_not_depend_on_the_chunks(
    text: str, cuts: list[int], width: int, draw_each_chunk: bool
) -> None:
    at_once = [strip.text for strip in strips(document(text, width))]
    piecewise = [
        strip.text for strip in strips(grown(chunked(text, cuts), width, draw_each_chunk=draw_each_chunk))
    ]
    assert piecewise == at_once


@settings(derandomize=True, database=None)
@given(text=TEXTS, width=WIDTHS)
def test_any_text_fits_and_has_no_control_characters(text: str, width: int) -> None:
    for strip in strips(document(text, width)):
        assert strip.cell_length <= width
        assert not any(unicodedata.category(char) == "Cc" for char in strip.text)
        assert escape_controls(strip.text) == strip.text


@settings(derandomize=True, database=None)
@given(words=st.lists(st.sampled_from(["one", "two", "*three*", "`four`", "- five", "> six"]), max_size=200))
def test_no_word_is_lost(words: list[str]) -> None:
    text = "\n".join(words)
    drawn = " ".join(strip.text for strip in strips(document(text, 20))).split()
    assert [word for word in drawn if word.isalpha()] == [word.strip("*`-> ") for word in words]


@pytest.mark.parametrize(
    ("text", "language"),
    [("'''a\nb\n'''\ndef f(): pass\n" * 60, "python"), ("/* a\nb */ let x = 1;\n" * 90, "js")],
)
def test_complete_code_is_highlighted_as_a_whole(text: str, language: str) -> None:
    source = f"```{language}\n{text}```\n"
    chunks = [source[start : start + 7] for start in range(0, len(source), 7)]
    assert strips(grown(chunks, draw_each_chunk=True)) == strips(document(source))


def test_unchanged_lines_stay_the_same_objects() -> None:
    text = GrowingText("One.\n\nTwo.\n\n```py\nx = 1\ny = 2\n")
    made = Document(text, PALETTE, 40)
    before = strips(made)
    text.append("z = 3\n")
    made.update()
    after = strips(made)
    assert len(after) == len(before) + 1
    assert all(old is new for old, new in zip(before[:4], after, strict=False))


@pytest.mark.parametrize(
    "text",
    [
        "word " * 20_000,
        "a line of a paragraph\n" * 4_000,
        "- an item\n" * 4_000,
        "- an item\n  - in an item\n" * 2_000,
        "1. an item\n\n   with more\n\n" * 2_000,
        "| a | b |\n|---|---|\n" + "| c | d |\n" * 4_000,
        "> quoted\n" * 4_000,
        "```py\n" + "x = 1\n" * 4_000,
        "- item\n\n  ```py\n" + "  x = 1\n" * 4_000,
        "text\n\n" + "    code\n" * 4_000,
        "# heading\n" * 4_000,
        "x" * 90_000,
    ],
    ids=lambda text: repr(text[:14]),
)
def test_the_part_that_is_not_final_stays_small(text: str) -> None:
    scanner = MarkdownScanner()
    for start in range(0, len(text), 1000):
        scanner.feed(text[start : start + 1000])
        assert sum(section.size for section in scanner.tail()) < 40_000


def test_only_settled_lines_are_drawn() -> None:
    made = document("A paragraph of *some* words.\n\n" * 5_000)
    middle = made.height // 2
    made.settle(middle, middle + 40)
    assert "A paragraph of some words." in [made.line(middle + row).text for row in range(40)]
    assert made.in_memory < 50


def test_lines_dropped_from_memory_are_drawn_again() -> None:
    made = document("".join(f"Paragraph {number}.\n\n" for number in range(2_000)))
    made.settle(0, ALL)
    assert made.in_memory < 500
    assert [made.line(number * 2).text for number in (0, 999, 1999)] == [
        "Paragraph 0.",
        "Paragraph 999.",
        "Paragraph 1999.",
    ]


def test_a_position_stays_valid_when_heights_above_it_change() -> None:
    made = document("".join(f"- {'word ' * 30}{number}\n- [x](u)\n" for number in range(200)))
    line = made.height // 2
    made.settle(line, line + 10)
    place, text = made.position_at(line), made.line(line).text
    made.settle(0, line)
    assert made.line(made.line_at(place)).text == text


def test_code_blocks_are_returned_as_written() -> None:
    long = "".join(f"line {number}\n" for number in range(500)) + "x" * 9_000 + "\n"
    text = f"a\n```py\nx\n\ty\n```\n- b\n\n  ```\n  z\n  ```\n\n~~~\n{long}~~~\n"
    assert code_blocks(text) == ["x\n\ty\n", "z\n", long]


def test_code_drawn_again_has_the_same_colours() -> None:
    made = document('```py\nx = """\n' + "def f(): pass\n" * 100 + "```\n\n" + "Words.\n\n" * 1_000)
    before = [made.line(number) for number in range(50)]
    made.settle(0, ALL)
    for number in range(made.height):
        made.line(number)
    assert [made.line(number) for number in range(50)] == before


def test_growing_code_keeps_its_colours() -> None:
    text = GrowingText("```js\n/* a comment\ngoes on\n")
    made = Document(text, PALETTE, 40)
    first = made.line(1)
    for _ in range(300):
        text.append("goes on\n")
        made.update()
        made.line(made.height - 1)
    assert made.line(1) is first


@pytest.mark.parametrize("end", ["", "```\n"], ids=["open", "closed"])
def test_the_end_of_a_very_long_code_block_is_plain(end: str) -> None:
    code = "".join(f"return {number:060}\n" for number in range(3000))
    drawn = document(f"```python\n{code}{end}after", 80)
    styles = [
        {segment.style for segment in drawn.line(number) if segment.text.strip() == "return"}
        for number in range(drawn.height)
    ]
    coloured = [number for number, found in enumerate(styles) if found]
    assert MAX_HIGHLIGHTED_CHARACTERS <= 68 * len(coloured) < MAX_HIGHLIGHTED_CHARACTERS * 1.1
    assert coloured == list(range(coloured[0], coloured[-1] + 1))
