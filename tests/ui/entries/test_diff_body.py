"""A diff on the screen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_tui.session.safe_text import escape_controls
from acp_tui.session.state import Diff
from acp_tui.ui.entries.diff import PREVIEW_ROWS, DiffBody
from tests.support.bodies import PALETTE, colour_of, context, lines, strips
from tests.support.talk import properties

OLD = "def login(name):\n    user = find(name)\n    if user = None:\n        return\n"
NEW = OLD.replace("user = None", "user is None")


def test_line_numbers_signs_and_texts_are_in_columns() -> None:
    assert lines(DiffBody(Diff("login.py", OLD, NEW), context())) == [
        "     1   def login(name):",
        "     2       user = find(name)",
        "     3 -     if user = None:",
        "     3 +     if user is None:",
        "     4           return",
    ]


def test_wide_diffs_are_shown_side_by_side() -> None:
    body = DiffBody(Diff("login.py", OLD, NEW), context(width=120))
    assert body.height == 4
    left, right = lines(body)[2].split("│")
    assert left.strip() == "3 -     if user = None:"
    assert right.strip() == "3 +     if user is None:"


def test_a_new_file_is_not_shown_side_by_side() -> None:
    body = DiffBody(Diff("new.py", None, "a\nb\n"), context(width=120))
    assert lines(body) == ["     1 + a", "     2 + b"]


def test_background_colours_reach_the_right_edge() -> None:
    body = DiffBody(Diff("login.py", OLD, NEW), context())
    for number, style in ((2, PALETTE.diff_removed), (3, PALETTE.diff_added)):
        strip = body.line(number)
        assert strip.cell_length == 80
        last = strip._segments[-1].style
        assert last is not None
        assert last.bgcolor == style.bgcolor


def test_changed_words_and_syntax_are_coloured() -> None:
    body = DiffBody(Diff("login.py", OLD, NEW), context())
    keyword = PALETTE.syntax["keyword"].color
    assert keyword is not None
    assert colour_of(body.line(0), "def") == (keyword.name, None)
    assert colour_of(body.line(3), "if") == (keyword.name, "#002200")
    assert colour_of(body.line(3), "is")[1] == "#005500"


def test_an_unknown_language_has_no_syntax_colours() -> None:
    assert lines(DiffBody(Diff("x.unheardof", "def a\n", "def b\n"), context())) == [
        "     1 - def a",
        "     1 + def b",
    ]


def test_a_multi_line_string_is_coloured_although_it_began_earlier() -> None:
    old = '"""A long text.\n\n' + "for word in text\n" * 12 + '"""\n'
    new = old.replace('text\n"""', 'texts\n"""')
    body = DiffBody(Diff("x.py", old, new), context())
    keyword = PALETTE.syntax["keyword"].color
    for strip in strips(body)[:3]:
        assert keyword is not None
        assert colour_of(strip, "for")[0] != keyword.name


def test_wrapped_lines_are_indented_to_the_text_column() -> None:
    text = "abcdefghijklmnopq" * 7
    body = DiffBody(Diff("a.txt", None, f"{text}\nshort\n"), context(width=60))
    shown = lines(body)
    assert len(shown) == body.height == 4
    assert shown[0].startswith("     1 + abcd")
    assert shown[1].startswith("         " + text[51:60])
    assert "".join(line[9:] for line in shown[:3]) == text


def test_tabs_become_spaces_and_changed_tabs_become_arrows() -> None:
    body = DiffBody(Diff("Makefile", "\tcc a.c\n\tx\n", "    cc a.c\n\tx\n"), context())
    assert lines(body) == ["     1 - →   cc a.c", "     1 +     cc a.c", "     2       x"]


def test_a_long_diff_is_truncated_except_in_the_full_view() -> None:
    diff = Diff("a.txt", None, "".join(f"{number}\n" for number in range(100)))
    short = lines(DiffBody(diff, context()))
    assert len(short) == PREVIEW_ROWS
    assert short[-1].strip() == f"▸ {100 - (PREVIEW_ROWS - 1)} more lines"
    assert DiffBody(diff, context(full=True)).height == 100


def test_a_heading_is_shown_above_the_rows() -> None:
    body = DiffBody(Diff("src/a.py", "a\n", "b\n"), context(), heading="src/a.py")
    assert lines(body)[0].strip() == "src/a.py"


def test_notes_about_the_file_are_shown() -> None:
    assert lines(DiffBody(Diff("a", "x\n", "x\n"), context())) == ["    no text changes"]
    assert lines(DiffBody(Diff("a", None, ""), context())) == ["    an empty file"]
    ends = DiffBody(Diff("a", "x\n", "x\n", line_ends=("CRLF", "LF")), context())
    assert lines(ends) == ["    line endings: CRLF → LF"]
    assert lines(DiffBody(Diff("a", "x\n", "x"), context()))[-1].strip() == "\\ No newline at end of file"


def test_a_patch_is_drawn_like_a_diff_of_two_texts() -> None:
    patch = "--- a/x.py\n+++ b/x.py\n@@ -7,2 +7,2 @@\n-a = 1\n+a = 2\n b\n"
    body = DiffBody(Diff("x.py", None, None, patch=patch), context())
    assert lines(body) == ["     7 - a = 1", "     7 + a = 2", "     8   b"]
    assert body.copy_text() == patch


def test_text_after_the_last_hunk_of_a_patch_is_shown_below_it() -> None:
    patch = "@@ -1,1 +1,1 @@\n-a\n+b\nThat is all.\n"
    shown = lines(DiffBody(Diff("x.txt", None, None, patch=patch), context()))
    assert [line.strip() for line in shown] == ["1 - a", "1 + b", "That is all."]


def test_copying_gives_a_unified_diff() -> None:
    assert DiffBody(Diff("a.py", "a\nb\n", "a\nc\n"), context()).copy_text().split("\n") == [
        "--- a.py",
        "+++ a.py",
        " a",
        "-b",
        "+c",
    ]


def test_only_drawn_lines_are_coloured(monkeypatch: pytest.MonkeyPatch) -> None:
    from acp_tui.ui.theme import syntax

    coloured: list[int] = []
    real = syntax.highlight

    def counted(code: str, *other: object) -> object:
        coloured.append(code.count("\n"))
        return real(code, *other)  # type: ignore[arg-type]

    monkeypatch.setattr(syntax, "highlight", counted)
    old = "".join(f"a_{number} = {number}\n" for number in range(20_000))
    body = DiffBody(Diff("a.py", old, old.replace("5 = ", "5 = -")), context(full=True))
    assert body.height > 10_000
    assert not coloured
    for number in range(5000, 5030):
        body.line(number)
    assert sum(coloured) < 500


INVISIBLE = {"\u00ad": "‹ad›", "\u200c": "‹200c›", "\u200d": "‹200d›", "\ufe0f": "‹fe0f›", "\u00a0": "‹a0›"}


@pytest.mark.parametrize("char", INVISIBLE)
def test_lines_that_differ_in_an_invisible_character_only_look_different(char: str) -> None:
    old, new = 'name = "admin♥"\n', f'name = "adm{char}in♥{char}"\n'
    stand_in = INVISIBLE[char]
    body = DiffBody(Diff("a.py", old, new), context())
    assert lines(body) == ['     1 - name = "admin♥"', f'     1 + name = "adm{stand_in}in♥{stand_in}"']
    assert new in f"{body.copy_text()}\n"
    patch = DiffBody(Diff("a.py", None, "", f"@@ -1 +1 @@ x{char}y\n-{old}+{new}"), context())
    assert [stand_in in line for line in lines(patch)] == [True, False, True]


TEXTS = st.text(st.sampled_from("ab \t{}漢é👩‍👧\u0301\n\n\r\x1b\u202e"), max_size=200).map(escape_controls)


@properties
@given(TEXTS, TEXTS, st.sampled_from([20, 41, 80, 120, 131]))
def test_any_diff_fits_the_width(old: str, new: str, width: int) -> None:
    body = DiffBody(Diff("a.py", old, new), context(width=width, full=True))
    for strip in strips(body):
        assert strip.cell_length <= width
        assert strip.text.isprintable()


def test_long_lines_break_after_spaces_and_keep_every_character_and_the_gutter() -> None:
    text = "    quick-brown-fox jumps-over-the-lazy dog-again\n"
    assert lines(DiffBody(Diff("a.txt", text, text + "\tx y\n"), context(width=36))) == [
        "     1       quick-brown-fox",
        "         jumps-over-the-lazy",
        "         dog-again",
        "     2 +     x y",
    ]


def test_a_word_wider_than_the_column_is_broken() -> None:
    assert lines(DiffBody(Diff("a.txt", None, f"    {'x' * 40}\n"), context(width=36))) == [
        f"     1 +     {'x' * 23}",
        f"         {'x' * 17}",
    ]


@properties
@given(st.text("ab \t→漢é", max_size=60), st.text("ab \t→漢é", max_size=60))
def test_wrapped_lines_show_every_character(old: str, new: str) -> None:
    body = DiffBody(Diff("a.txt", f"{old}\n", f"{new}!\n"), context(width=24))
    shown = "".join(strip.text[9:] for strip in strips(body))
    assert _without_blanks(shown) == _without_blanks(f"{old}{new}!")


def _without_blanks(text: str) -> str:
    return "".join(char for char in text if char not in " \t→")
