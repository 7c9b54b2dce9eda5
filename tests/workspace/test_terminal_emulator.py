"""The terminal emulator: raw output becomes text and styled lines, whatever its chunks."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_tui.workspace.terminals.screen_buffer import PLAIN, Style
from acp_tui.workspace.terminals.terminal_emulator import TerminalEmulator, parse_styled_text

ESC = "\x1b"
RED, GREEN = Style(fg=1), Style(fg=2)


def emulate(
    *pieces: str, width: int = 20, height: int = 5, head: int = 10_000, tail: int = 10_000
) -> TerminalEmulator:
    emulator = TerminalEmulator(width, height, head=head, tail=tail)
    for piece in pieces:
        emulator.feed(piece)
    return emulator


def displayed(*pieces: str) -> str:
    return emulate(*pieces).text()


# --------------------------------------------------------------------------- plain text


def test_carriage_returns_before_line_feeds_are_removed() -> None:
    assert displayed("one\r\ntwo\r\n") == "one\ntwo\n"
    assert displayed("one\ntwo") == "one\ntwo"


def test_a_wrapped_line_stays_one_line() -> None:
    long = "0123456789" * 30
    emulator = emulate(long + "\r\nnext")
    assert emulator.text() == long + "\nnext"
    assert [text for line in emulator.lines for text, _ in line] == [long, "next"]


def test_tabs_are_kept_in_the_text_and_expanded_in_the_lines() -> None:
    emulator = emulate("all:\r\n\tcc -o x\r\nab\tc\r\n")
    assert emulator.text() == "all:\n\tcc -o x\nab\tc\n"
    assert emulator.lines[1:3] == [((" " * 8 + "cc -o x", PLAIN),), (("ab      c", PLAIN),)]


def test_trailing_spaces_are_kept() -> None:
    assert displayed("a  \r\n  \r\nb") == "a  \n  \nb"


# --------------------------------------------------------------------------- control sequences


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("10%\r50%\r100%\r\ndone", "100%\ndone"),  # a progress bar
        ("downloading…\r\x1b[Kdone", "done"),
        ("abc\b\bX", "aXc"),
        ("password\x07!", "password!"),
        ("one\r\ntwo\r\n\x1b[2A\x1b[2KONE\r\n\nthree", "ONE\ntwo\nthree"),  # several progress bars
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
        ("abcd\rx\ty", "xbcd    y"),  # a tab over existing text only moves the cursor
        ("0123456789012345678\x1b[?7labc", "0123456789012345678c"),
    ],
)
def test_control_sequences_change_the_screen(output: str, expected: str) -> None:
    assert displayed(output).rstrip(" ") == expected


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
def test_other_sequences_are_removed(sequence: str) -> None:
    assert displayed(f"a{sequence}b") == "ab"
    assert displayed(*f"a{sequence}b") == "ab"


def test_an_unterminated_string_sequence_ends_at_the_line_break() -> None:
    assert displayed("\x1b]0;no end\r\nseen") == "\nseen"
    assert displayed("\x1bP" + "x" * 5_000_000 + "\r\nseen").endswith("\nseen")


def test_a_broken_sequence_does_not_hide_the_next_line() -> None:
    assert displayed("a\x1b[31\r\nb") == "a\nb"
    assert displayed("a\x1b[" + "1" * 1000 + "mb").endswith("b")


def test_a_full_row_wraps_only_when_more_text_follows() -> None:
    emulator = emulate("x" * 20, "\x1b[K", "y")
    assert emulator.text() == "x" * 20 + "y"


def test_a_line_below_the_scroll_region_does_not_scroll() -> None:
    emulator = emulate("\x1b[1;4r\x1b[5;1Hstatus\x1b[1;1H", *(f"line {n}\r\n" for n in range(6)))
    assert emulator.text() == "line 0\nline 1\nline 2\nline 3\nline 4\nline 5\n\nstatus"


def test_the_alternate_screen_is_shown_until_the_program_leaves_it() -> None:
    emulator = emulate("before\r\n")
    emulator.feed("\x1b[?1049h\x1b[2J\x1b[H~ editor")
    assert "before" in emulator.text()
    assert "~ editor" in emulator.text()
    emulator.feed("\x1b[?1049lafter")
    assert emulator.text() == "before\nafter"


def test_a_reset_clears_the_screen_but_not_the_scrollback() -> None:
    emulator = emulate("".join(f"{n}\r\n" for n in range(10)) + "\x1b[31m\x1bcnew")
    assert emulator.text().startswith("0\n1\n")
    assert emulator.text().endswith("\nnew")
    assert emulator.lines[-1] == (("new", PLAIN),)


# --------------------------------------------------------------------------- cells


def test_wide_characters_take_two_columns() -> None:
    assert displayed("日本\b\bx") == "日x "  # the other half of the character is removed
    assert displayed("日本\r\x1b[1Cx") == " x本"
    assert displayed("日本\r\x1b[2Cx").startswith("日x")


def test_a_wide_character_at_the_right_edge_wraps() -> None:
    emulator = emulate("x" * 19 + "日本")
    assert emulator.text() == "x" * 19 + "日本"
    emulator.feed("\r-")
    assert emulator.text() == "x" * 19 + "- 本"


def test_combining_marks_share_the_cell_of_their_character() -> None:
    assert displayed("e\u0301a\b\bx") == "xa"
    assert displayed("e\u0301\b\x1b[1Cx") == "e\u0301x"


def test_combining_marks_per_cell_are_limited() -> None:
    emulator = emulate("e" + "\u0301" * 3000, height=5, head=0, tail=100)
    assert len(emulator.text()) < 100 + 5 * 20 * 20


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
    assert emulate(f"{ESC}[{parameters}mtext").lines == [(("text", style),)]


def test_overwriting_part_of_a_line_keeps_the_style_of_the_rest() -> None:
    emulator = emulate("\x1b[31mred\x1b[32mgreen\x1b[0m plain")
    assert emulator.lines == [(("red", RED), ("green", GREEN), (" plain", PLAIN))]
    emulator.feed("\r\x1b[2C\x1b[32mDG")
    assert emulator.lines == [(("re", RED), ("DGreen", GREEN), (" plain", PLAIN))]


def test_styles_are_kept_in_the_scrollback() -> None:
    emulator = emulate("\x1b[31mred\x1b[0m x\r\n" * 100)
    assert emulator.lines[:-1] == [(("red", RED), (" x", PLAIN))] * 100


def test_the_text_is_the_same_without_styles() -> None:
    output = "\x1b[31mred\x1b[0m\r\n" * 100 + "10%\r\x1b[1m20%\x1b[K\x1b]0;t\x1b[31m\x07"
    plain = TerminalEmulator(20, 5, styles=False)
    plain.feed(output)
    assert plain.text() == displayed(output)
    assert {style for line in plain.lines for _, style in line} == {PLAIN}


def test_parse_styled_text_does_not_wrap_lines() -> None:
    long = "x" * 500
    assert parse_styled_text(f"\x1b[31m{long}\x1b[0m\nok\x1b]0;t\x07") == [((long, RED),), (("ok", PLAIN),)]
    assert parse_styled_text("") == [()]


# --------------------------------------------------------------------------- size limits


def test_head_and_tail_are_kept_to_the_character() -> None:
    output = "".join(f"{number:05}\r\n" for number in range(10_000))
    text = output.replace("\r", "")
    emulator = emulate(output, head=100, tail=1000)
    settled = text[: -6 * 4]  # the screen of five rows holds the last four lines and the cursor
    assert emulator.dropped == len(settled) - 1100
    head, cut, tail = emulator.text().partition(f"… {emulator.dropped:,} characters omitted …\n")
    assert cut
    assert head.rstrip("\n") == settled[:100].rstrip("\n")
    assert tail == settled[-1000:] + text[-6 * 4 :]
    assert any("omitted" in line[0][0] for line in emulator.lines if line)


def test_only_the_tail_is_kept_with_a_head_of_0() -> None:
    emulator = emulate("0123456789\n" * 1000, head=0, tail=25)
    assert emulator.text().startswith("89\n0123456789\n0123456789\n0123")


def test_no_scrollback_is_kept_with_a_size_of_0() -> None:
    emulator = emulate("a\nb\nc\nd\ne\nf\ng", head=0, tail=0)
    assert emulator.text() == "c\nd\ne\nf\ng"
    assert emulator.dropped == 4


def test_lines_from_returns_each_final_line_once() -> None:
    emulator = emulate(head=50, tail=100_000)
    known: list[object] = []
    for number in range(300):
        emulator.feed(f"\x1b[3{number % 8}mline {number}\x1b[0m\r\n{number}%\r")
        settled = len(known)
        first, lines = emulator.lines_from(settled)
        assert first == settled
        assert emulator.line_count == first + len(lines)
        if number % 7 == 0:
            known += lines[: emulator.final_lines - settled]
    assert [*known, *emulator.lines_from(len(known))[1]] == emulator.lines


def test_lines_from_returns_the_first_line_that_is_still_kept() -> None:
    emulator = emulate("0123456789\n" * 1000, head=11, tail=110)
    first, lines = emulator.lines_from(1)
    assert first == emulator.line_count - len(lines)
    assert 10 < len(lines) < 20
    assert emulator.lines_from(first + 3) == (first + 3, lines[3:])


# --------------------------------------------------------------------------- properties

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
def test_the_result_does_not_depend_on_the_chunks(output: str, cuts: list[int], head: int, tail: int) -> None:
    uncut = emulate(output, head=head, tail=tail)
    places = sorted({0, len(output), *(cut for cut in cuts if cut < len(output))})
    pieces = [output[start:stop] for start, stop in pairwise(places)]
    cut = emulate(*pieces, head=head, tail=tail)
    single = emulate(*output, head=head, tail=tail)
    assert uncut.lines == cut.lines == single.lines
    assert uncut.text() == cut.text() == single.text()
    assert (uncut.final_lines, uncut.line_count, uncut.dropped) == (
        cut.final_lines,
        cut.line_count,
        cut.dropped,
    )


@given(st.one_of(outputs, st.text()))
def test_no_span_contains_a_control_character(output: str) -> None:
    for line in emulate(output).lines:
        for text, _ in line:
            assert text
            assert not any(
                unicodedata.category(char) in ("Cc", "Cs") or char in "\u202e\u2066\u2028" for char in text
            )


@given(st.text(alphabet="ab 日é\u0301─\t\n", max_size=300), cuts)
def test_text_without_control_characters_is_unchanged(text: str, cuts: list[int]) -> None:
    assert displayed(text) == text
    assert displayed(text.replace("\n", "\r\n")) == text


@given(outputs, st.integers(0, 60))
def test_lines_from_equals_the_end_of_all_lines(output: str, number: int) -> None:
    emulator = emulate(output)
    first, lines = emulator.lines_from(number)
    assert emulator.lines[min(number, emulator.line_count) :] == lines
    assert first == number
    assert len(emulator.lines) == emulator.line_count
