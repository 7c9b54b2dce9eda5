"""Raw terminal output in, safe styled lines out: as a terminal would show it, however it is cut."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_tui.workspace.terminals.sgr import PLAIN, Style
from acp_tui.workspace.terminals.terminal_emulator import TerminalEmulator, parse_styled_text

ESC = "\x1b"
RED, GREEN = Style(fg=1), Style(fg=2)


def model_of(
    *pieces: str, width: int = 20, height: int = 5, head: int = 10_000, tail: int = 10_000
) -> TerminalEmulator:
    model = TerminalEmulator(width, height, head=head, tail=tail)
    for piece in pieces:
        model.feed(piece)
    return model


def shown(*pieces: str) -> str:
    return model_of(*pieces).text()


# --------------------------------------------------------------------------- plain text


def test_line_ends_of_a_terminal_become_line_feeds() -> None:
    assert shown("one\r\ntwo\r\n") == "one\ntwo\n"
    assert shown("one\ntwo") == "one\ntwo"


def test_a_line_longer_than_the_screen_stays_one_line() -> None:
    long = "0123456789" * 30
    model = model_of(long + "\r\nnext")
    assert model.text() == long + "\nnext"
    assert [text for line in model.lines for text, _ in line] == [long, "next"]


def test_tabs_of_printed_files_survive_in_the_text_and_are_laid_out_in_the_lines() -> None:
    model = model_of("all:\r\n\tcc -o x\r\nab\tc\r\n")
    assert model.text() == "all:\n\tcc -o x\nab\tc\n"
    assert model.lines[1:3] == [((" " * 8 + "cc -o x", PLAIN),), (("ab      c", PLAIN),)]


def test_trailing_blanks_that_were_written_stay() -> None:
    assert shown("a  \r\n  \r\nb") == "a  \n  \nb"


# --------------------------------------------------------------------------- what programs do


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("10%\r50%\r100%\r\ndone", "100%\ndone"),  # a progress bar
        ("downloading…\r\x1b[Kdone", "done"),
        ("abc\b\bX", "aXc"),
        ("password\x07!", "password!"),
        ("one\r\ntwo\r\n\x1b[2A\x1b[2KONE\r\n\nthree", "ONE\ntwo\nthree"),  # bars in several lines
        ("one\r\ntwo\x1b[A\x1b[Gx", "xne\ntwo"),
        ("one\r\ntwo\x1b[Fx", "xne\ntwo"),
        ("ab\x1b[3Cc", "ab   c"),
        ("abcdef\x1b[3D\x1b[P", "abcef"),
        ("abcdef\x1b[3D\x1b[2@", "abc  def"),
        ("abcdef\x1b[4D\x1b[2X", "ab  ef"),
        ("abcdef\x1b[3D\x1b[1K", "    ef"),
        ("a\r\nb\r\nc\x1b[2;1H\x1b[L-", "a\n-\nb\nc"),
        ("a\r\nb\r\nc\x1b[2;1H\x1b[M", "a\nc"),
        ("a\r\nb\r\nc\x1b[2;1H\x1b[J", "a\n"),
        ("a\r\nb\x1b[2J\x1b[Hnew", "new"),
        ("abc\x1b7def\x1b8X", "abcXef"),
        ("x\x1b[4b", "xxxxx"),
        ("\x1b(0lqk\x1b(B|", "┌─┐|"),
        ("a\r\x1bM-", "-\na"),
        ("abcd\rx\ty", "xbcd    y"),  # over what is there a tab only moves
        ("0123456789012345678\x1b[?7labc", "0123456789012345678c"),
    ],
)
def test_controls_change_the_last_screen(output: str, expected: str) -> None:
    assert shown(output).rstrip(" ") == expected


@pytest.mark.parametrize(
    "sequence",
    [
        "\x1b]0;a title\x07",
        "\x1b]8;;https://example.org\x1b\\",
        "\x1bP1$r0m\x1b\\",
        "\x1b_G…\x1b\\",
        "\x1b[?25l",
        "\x1b[?2004h",
        "\x1b[6n",
        "\x1b[>4;2m",
        "\x1b[2 q",
        "\x1b=",
        "\x1b#8",
        "\x1b)0",
        "\x00",
        "\x7f",
        "\x0e",
    ],
)
def test_other_sequences_leave_no_trace(sequence: str) -> None:
    assert shown(f"a{sequence}b") == "ab"
    assert shown(*f"a{sequence}b") == "ab"


def test_a_title_without_an_end_does_not_swallow_what_follows() -> None:
    assert shown("\x1b]0;no end\r\nseen") == "\nseen"
    assert shown("\x1bP" + "x" * 5_000_000 + "\r\nseen").endswith("\nseen")


def test_a_broken_sequence_does_not_swallow_the_line_after_it() -> None:
    assert shown("a\x1b[31\r\nb") == "a\nb"
    assert shown("a\x1b[" + "1" * 1000 + "mb").endswith("b")


def test_a_row_is_filled_before_the_text_goes_on_in_the_next() -> None:
    model = model_of("x" * 20, "\x1b[K", "y")
    assert model.text() == "x" * 20 + "y"


def test_a_scroll_region_keeps_its_status_line_in_place() -> None:
    model = model_of("\x1b[1;4r\x1b[5;1Hstatus\x1b[1;1H", *(f"line {n}\r\n" for n in range(6)))
    assert model.text() == "line 0\nline 1\nline 2\nline 3\nline 4\nline 5\n\nstatus"


def test_the_alternate_screen_is_shown_while_it_is_there_and_then_gone() -> None:
    model = model_of("before\r\n")
    model.feed("\x1b[?1049h\x1b[2J\x1b[H~ editor")
    assert "before" in model.text()
    assert "~ editor" in model.text()
    model.feed("\x1b[?1049lafter")
    assert model.text() == "before\nafter"


def test_a_reset_clears_the_screen_but_not_what_has_scrolled_off() -> None:
    model = model_of("".join(f"{n}\r\n" for n in range(10)) + "\x1b[31m\x1bcnew")
    assert model.text().startswith("0\n1\n")
    assert model.text().endswith("\nnew")
    assert model.lines[-1] == (("new", PLAIN),)


# --------------------------------------------------------------------------- cells


def test_wide_characters_take_two_columns() -> None:
    assert shown("日本\b\bx") == "日x "  # half of a character cannot stay
    assert shown("日本\r\x1b[1Cx") == " x本"
    assert shown("日本\r\x1b[2Cx").startswith("日x")


def test_a_wide_character_that_does_not_fit_goes_to_the_next_row_of_the_same_line() -> None:
    model = model_of("x" * 19 + "日本")
    assert model.text() == "x" * 19 + "日本"
    model.feed("\r-")
    assert model.text() == "x" * 19 + "- 本"


def test_combining_marks_stay_with_their_character() -> None:
    assert shown("e\u0301a\b\bx") == "xa"
    assert shown("e\u0301\b\x1b[1Cx") == "e\u0301x"


def test_no_cell_grows_without_end() -> None:
    model = model_of("e" + "\u0301" * 3000, height=5, head=0, tail=100)
    assert len(model.text()) < 100 + 5 * 20 * 20


# --------------------------------------------------------------------------- colours


@pytest.mark.parametrize(
    ("parameters", "style"),
    [
        ("1;31", Style(fg=1, bold=True)),
        ("92;104", Style(fg=10, bg=12)),
        ("38;5;208", Style(fg=208)),
        ("48;2;1;2;3", Style(bg=(1, 2, 3))),
        ("38:2::1:2:3", Style(fg=(1, 2, 3))),
        ("38:5:9;4", Style(fg=9, underline=True)),
        ("2;3;7;9", Style(dim=True, italic=True, reverse=True, strike=True)),
        ("4:3", Style(underline=True)),
        ("4;4:0", PLAIN),
        ("1;2;22", PLAIN),
        ("31;", PLAIN),
        ("58;5;1;32", GREEN),
        ("8;5;999", PLAIN),  # concealed text is shown
        ("38;5;999", PLAIN),
        ("38;5", PLAIN),
    ],
)
def test_colours_and_attributes_become_styles(parameters: str, style: Style) -> None:
    assert model_of(f"{ESC}[{parameters}mtext").lines == [(("text", style),)]


def test_each_piece_of_a_line_has_its_style_also_after_it_was_overwritten() -> None:
    model = model_of("\x1b[31mred\x1b[32mgreen\x1b[0m plain")
    assert model.lines == [(("red", RED), ("green", GREEN), (" plain", PLAIN))]
    model.feed("\r\x1b[2C\x1b[32mDG")
    assert model.lines == [(("re", RED), ("DGreen", GREEN), (" plain", PLAIN))]


def test_styles_are_kept_for_what_has_scrolled_off() -> None:
    model = model_of("\x1b[31mred\x1b[0m x\r\n" * 100)
    assert model.lines[:-1] == [(("red", RED), (" x", PLAIN))] * 100


def test_without_styles_the_text_is_the_same() -> None:
    output = "\x1b[31mred\x1b[0m\r\n" * 100 + "10%\r\x1b[1m20%\x1b[K\x1b]0;t\x1b[31m\x07"
    plain = TerminalEmulator(20, 5, styles=False)
    plain.feed(output)
    assert plain.text() == shown(output)
    assert {style for line in plain.lines for _, style in line} == {PLAIN}


def test_a_finished_text_becomes_lines_of_its_own_width() -> None:
    long = "x" * 500
    assert parse_styled_text(f"\x1b[31m{long}\x1b[0m\nok\x1b]0;t\x07") == [((long, RED),), (("ok", PLAIN),)]
    assert parse_styled_text("") == [()]


# --------------------------------------------------------------------------- what is kept


def test_the_beginning_and_the_end_are_kept_to_the_character() -> None:
    output = "".join(f"{number:05}\r\n" for number in range(10_000))
    text = output.replace("\r", "")
    model = model_of(output, head=100, tail=1000)
    settled = text[: -6 * 4]  # the screen of five rows holds the last four lines and the cursor
    assert model.dropped == len(settled) - 1100
    head, cut, tail = model.text().partition(f"… {model.dropped:,} characters omitted …\n")
    assert cut
    assert head.rstrip("\n") == settled[:100].rstrip("\n")
    assert tail == settled[-1000:] + text[-6 * 4 :]
    assert any("omitted" in line[0][0] for line in model.lines if line)


def test_only_the_end_is_kept_where_no_beginning_is_wanted() -> None:
    model = model_of("0123456789\n" * 1000, head=0, tail=25)
    assert model.text().startswith("89\n0123456789\n0123456789\n0123")


def test_nothing_that_scrolled_off_is_kept_with_a_size_of_zero() -> None:
    model = model_of("a\nb\nc\nd\ne\nf\ng", head=0, tail=0)
    assert model.text() == "c\nd\ne\nf\ng"
    assert model.dropped == 4


def test_a_reader_needs_each_line_only_once() -> None:
    model = model_of(head=50, tail=100_000)
    known: list[object] = []
    for number in range(300):
        model.feed(f"\x1b[3{number % 8}mline {number}\x1b[0m\r\n{number}%\r")
        settled = len(known)
        first, lines = model.lines_from(settled)
        assert first == settled
        assert model.line_count == first + len(lines)
        if number % 7 == 0:
            known += lines[: model.final_lines - settled]
    assert [*known, *model.lines_from(len(known))[1]] == model.lines


def test_a_reader_that_was_too_slow_is_told_where_the_lines_begin() -> None:
    model = model_of("0123456789\n" * 1000, head=11, tail=110)
    first, lines = model.lines_from(1)
    assert first == model.line_count - len(lines)
    assert 10 < len(lines) < 20
    assert model.lines_from(first + 3) == (first + 3, lines[3:])


# --------------------------------------------------------------------------- whatever comes

numbers = st.integers(0, 30)
sequences = st.one_of(
    st.builds(
        "\x1b[{}{}".format, st.one_of(st.just(""), numbers), st.sampled_from("ABCDEFGHJKLMPSTX@abdefrsu`")
    ),
    st.builds("\x1b[{};{}{}".format, numbers, numbers, st.sampled_from("Hfr")),
    st.builds("\x1b[{};{}m".format, numbers, numbers),
    st.sampled_from(
        ["\x1b7", "\x1b8", "\x1bM", "\x1bD", "\x1bE", "\x1bc", "\x1b[?7l", "\x1b[?7h", "\x1b(0", "\x1b(B"]
    ),
    st.sampled_from(["\x1b[?1049h", "\x1b[?1049l", "\x1b]0;title\x07", "\x1b]8;;x\x1b\\", "\x1bPq#0\x1b\\"]),
    st.sampled_from(["\x1b", "\x1b[", "\x1b[3", "\x1b]0;open", "\x1b(", "\x1b[" + "1" * 300]),
)
words = st.text(alphabet="ab 日é\u0301─👍\ud83d\u202e\x85\t", max_size=25)
breaks = st.sampled_from(["\r\n", "\n", "\r", "\b", "\r\n" * 12, "line\r\n" * 9])
outputs = st.lists(st.one_of(sequences, words, breaks, st.text(max_size=8)), max_size=30).map("".join)
cuts = st.lists(st.integers(0, 400), max_size=12)


@given(outputs, cuts, st.integers(0, 40), st.integers(0, 60))
def test_it_does_not_matter_where_output_is_cut(output: str, cuts: list[int], head: int, tail: int) -> None:
    whole = model_of(output, head=head, tail=tail)
    places = sorted({0, len(output), *(cut for cut in cuts if cut < len(output))})
    pieces = [output[start:stop] for start, stop in pairwise(places)]
    cut = model_of(*pieces, head=head, tail=tail)
    single = model_of(*output, head=head, tail=tail)
    assert whole.lines == cut.lines == single.lines
    assert whole.text() == cut.text() == single.text()
    assert (whole.final_lines, whole.line_count, whole.dropped) == (
        cut.final_lines,
        cut.line_count,
        cut.dropped,
    )


@given(st.one_of(outputs, st.text()))
def test_no_span_ever_holds_a_control_character(output: str) -> None:
    for line in model_of(output).lines:
        for text, _ in line:
            assert text
            assert not [
                c for c in text if unicodedata.category(c) in ("Cc", "Cs") or c in "\u202e\u2066\u2028"
            ]


@given(st.text(alphabet="ab 日é\u0301─\t\n", max_size=300), cuts)
def test_text_without_controls_comes_out_as_it_went_in(text: str, cuts: list[int]) -> None:
    assert shown(text) == text
    assert shown(text.replace("\n", "\r\n")) == text


@given(outputs, st.integers(0, 60))
def test_reading_from_a_line_on_is_the_end_of_reading_all(output: str, number: int) -> None:
    model = model_of(output)
    first, lines = model.lines_from(number)
    assert model.lines[min(number, model.line_count) :] == lines
    assert first == number
    assert len(model.lines) == model.line_count
