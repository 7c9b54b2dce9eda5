"""Syntax highlighting."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_tui.ui.theme.palette import NO_STYLE
from acp_tui.ui.theme.syntax import MAX_LINE_CHARS, Highlighter, highlight, language_of, lexer_of
from tests.support.bodies import PALETTE

LANGUAGES = [
    "python",
    "js",
    "json",
    "yaml",
    "c",
    "rust",
    "bash",
    "console",
    "html",
    "php",
    "toml",
    "diff",
    "sql",
]


def style_of(code: str, piece: str, language: str) -> object:
    spans = (span for line in highlight(code, language, PALETTE.syntax) for span in line)
    return next(span.style for span in spans if piece in span.text)


@settings(derandomize=True, database=None)
@given(
    language=st.sampled_from(LANGUAGES),
    code=st.text(alphabet="abc 123\n\"'/*#<>{}()=:\\-é名", max_size=200),
)
def test_no_character_of_the_code_is_lost(language: str, code: str) -> None:
    lines = highlight(code, language, PALETTE.syntax)
    assert ["".join(span.text for span in line) for line in lines] == code.removesuffix("\n").split("\n")


@pytest.mark.parametrize(
    ("language", "code", "piece", "name"),
    [
        ("python", "def f(): pass", "def", "keyword"),
        ("python", "def go(): pass", "go", "function"),
        ("py", "x = 'a'", "'a'", "string"),
        ("js", "let x = 12;", "12", "number"),
        ("ts", "// why", "why", "comment"),
        ("yaml", "key: value", "key", "tag"),
        ("diff", "+new", "new", "inserted"),
    ],
)
def test_tokens_have_the_styles_of_the_palette(language: str, code: str, piece: str, name: str) -> None:
    assert style_of(code, piece, language) == PALETTE.syntax[name]


def test_unknown_languages_are_not_highlighted() -> None:
    assert lexer_of("no such language") is None
    assert [span.style for line in highlight("def f()\n", "nope", PALETTE.syntax) for span in line] == [
        NO_STYLE
    ]


def test_each_part_continues_in_the_state_of_the_last() -> None:
    highlighter = Highlighter("python", PALETTE.syntax)
    highlighter.lines('text = """one\n')
    (line,) = highlighter.lines("def two\n")
    assert [span.style for span in line] == [PALETTE.syntax["string"]]


def test_very_long_lines_are_not_highlighted() -> None:
    code = "x = 1; " * MAX_LINE_CHARS
    assert [span.style for span in highlight(code, "python", PALETTE.syntax)[0]] == [NO_STYLE]


@pytest.mark.parametrize(
    ("path", "language"), [("/a/b.py", "python"), ("Makefile", "make"), ("x.unheard-of", ""), ("", "")]
)
def test_the_language_is_found_by_file_name(path: str, language: str) -> None:
    assert language_of(path) == language
