"""Paragraphs that are cut into sections because they are long."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_tui.session.growing_text import GrowingText
from acp_tui.ui.drawing import wrap
from acp_tui.ui.markdown import scanner, section
from acp_tui.ui.markdown.document import Document
from tests.support.markdown import PALETTE, document, grown, strips

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.strip import Strip

SENTENCE = "A `code span`, **two bold words**, a [link here](https://a.b/c), 日本語 and *more* of it."
SHAPES = {  # what stands before the first line and the others, and after the last
    "paragraph": ("", "", ""),
    "list item": ("- first\n- ", "  ", "\n- last"),
    "nested item": ("1. first\n   - ", "     ", "\n2. last"),
    "quote": ("first\n\n> ", "> ", "\n\nlast"),
    "list item in a quote": ("> - first\n> - ", ">   ", "\n>\n> last"),
}
WORDS = st.sampled_from(
    [
        *(
            "a",
            "word",
            "日本",
            "é\u0301",
            "x" * 25,
            "https://a.b/c",
            "`code it`",
            "**bo ld**",
            "*em*",
            "<br>",
        ),
        *("[li nk](http://x.y)", "end.", "1984", "snake_case", "\\*"),
    ]
)
SPACES = st.sampled_from([" "] * 12 + ["\n"] * 3 + ["  \n", "\\\n", "  "])
PARAGRAPHS = st.lists(st.tuples(WORDS, SPACES).map("".join), max_size=200).map("".join).map(str.strip)


def prose(length: int) -> str:
    """Markdown in which no two lines look the same."""
    sentences = (f"Number {number}: {SENTENCE} " for number in range(length // len(SENTENCE) + 1))
    return "".join(sentences)[:length].rstrip()


def in_lines(text: str) -> str:
    words = text.split(" ")
    return "\n".join(" ".join(words[start : start + 9]) for start in range(0, len(words), 9))


def shaped(text: str, shape: str) -> str:
    first, others, end = SHAPES[shape]
    return first + text.replace("\n", f"\n{others}") + end


def chunks(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


@contextmanager
def section_size(characters: int) -> Iterator[None]:
    """Change the length at which paragraphs are cut."""
    with ExitStack() as stack:
        for module in (scanner, section, scanner):
            stack.enter_context(patch.object(module, "SECTION_SIZE", characters))
        stack.enter_context(patch.object(scanner, "MAX_SECTION_SIZE", 2 * characters))
        stack.enter_context(patch.object(wrap, "MAX_LINE_LENGTH", 1 << 40))
        yield


def uncut(text: str, width: int, *, plain: bool = False) -> list[Strip]:
    """The lines of a text of which no paragraph is cut."""
    with section_size(1 << 40):
        return strips(Document(GrowingText(text), PALETTE, width, plain=plain))


@pytest.mark.parametrize(
    ("shape", "width"), [("paragraph", 40), ("paragraph", 200), *((shape, 80) for shape in SHAPES)]
)
def test_a_long_line_is_wrapped_as_one_paragraph(shape: str, width: int) -> None:
    text = shaped(prose(15_000), shape)
    expected = uncut(text, width)
    assert strips(document(text, width)) == expected
    assert strips(grown(chunks(text, 700), width, draw_each_chunk=True)) == expected


@pytest.mark.parametrize("shape", SHAPES)
def test_many_lines_are_wrapped_as_one_paragraph(shape: str) -> None:
    text = shaped(in_lines(prose(15_000)), shape)
    expected = uncut(text, 80)
    assert strips(document(text, 80)) == expected
    assert strips(grown(chunks(text, 700), 80, draw_each_chunk=True)) == expected


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_paragraph_of_many_sections_is_wrapped_as_one(width: int) -> None:
    text = prose(100_000)
    assert strips(document(text, width)) == uncut(text, width)


@settings(derandomize=True, database=None)
@given(
    text=PARAGRAPHS,
    shape=st.sampled_from(sorted(SHAPES)),
    chunk=st.integers(1, 60),
    width=st.sampled_from([20, 40, 80]),
    draw_each_chunk=st.booleans(),
)
def test_cuts_change_no_line(text: str, shape: str, chunk: int, width: int, draw_each_chunk: bool) -> None:
    text = shaped(text, shape)
    with section_size(200):
        drawn = strips(grown(chunks(text, chunk), width, draw_each_chunk=draw_each_chunk))
    assert [strip.text.rstrip() for strip in drawn] == [strip.text.rstrip() for strip in uncut(text, width)]


@pytest.mark.parametrize("text", ["word " * 4_000, "日本語。" * 5_000, "x" * 30_000])
def test_long_text_without_places_to_break_fills_its_lines(text: str) -> None:
    widths = [len(line.text.rstrip()) for line in strips(document(text, 39))]
    assert len(set(widths[:-1])) == 1


def test_a_long_heading_keeps_its_style() -> None:
    text = f"## {prose(30_000)}\n\nlast"
    assert strips(document(text, 80)) == uncut(text, 80)


def test_hard_breaks_at_cuts_are_kept() -> None:
    text = "".join(f"word{number}  \n" for number in range(4_000))
    assert [strip.text for strip in strips(document(text))] == [f"word{number}" for number in range(4_000)]


def test_a_long_quote_is_drawn_as_one() -> None:
    blocks = ["A paragraph\nin two lines.", "- an item\n- another", "# A heading", "```\ncode\n\nmore\n```"]
    text = "> " + "\n\n".join(blocks * 200).replace("\n", "\n> ")
    assert [strip.text for strip in strips(document(text))] == [strip.text for strip in uncut(text, 60)]


def test_a_long_line_of_plain_text_is_wrapped_as_a_whole() -> None:
    text = f"first\n{prose(30_000)}\n\n  last"
    assert strips(grown(chunks(text, 700), 80, plain=True)) == uncut(text, 80, plain=True)


def test_a_long_line_of_code_fills_its_rows() -> None:
    text = f"```\nfirst\n{'0123456789' * 3_000}\nlast\n```"
    rows = [strip.text.strip() for strip in strips(grown(chunks(text, 700), 45, draw_each_chunk=True))]
    assert (rows[0], rows[-1]) == ("first", "last")
    assert {len(row) for row in rows[1:-2]} == {43}


def test_the_end_of_a_long_paragraph_is_drawn_without_its_beginning() -> None:
    text = prose(500_000)
    made = document(text, 80)
    made.settle(made.height - 40, made.height)
    assert made.line(made.height - 1).text.endswith(text[-10:])
    assert made.in_memory < 4


def test_the_lines_of_a_long_paragraph_are_exact_once_all_is_drawn() -> None:
    text = "word " * 60_000
    made = document(text, 81)
    made.settle(made.height - 40, made.height)
    assert strips(made) == uncut(text, 81)


def test_a_link_defined_later_changes_the_wrapping_of_a_long_paragraph() -> None:
    text = "See [one][1]. " * 2_000 + "\n\n[1]: https://a.b\n"
    assert strips(grown([text[:-20], text[-20:]], 80, draw_each_chunk=True)) == uncut(text, 80)
