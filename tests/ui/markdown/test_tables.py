"""Drawing of tables."""

from __future__ import annotations

import pytest

from tests.support.markdown import lines

SMALL = "| Name | Size |\n|:--|--:|\n| a | 1 |\n| **bcd** | 22 |\n"


def test_columns_are_as_wide_as_their_cells_and_aligned() -> None:
    assert lines(SMALL) == ["Name │ Size", "─────┼─────", "a    │    1", "bcd  │   22"]


def test_a_table_has_blank_lines_around_it() -> None:
    drawn = lines(f"Above\n\n{SMALL}\nbelow")
    assert drawn[:3] == ["Above", "", "Name │ Size"]
    assert drawn[-2:] == ["", "below"]


def test_a_table_may_follow_text_directly() -> None:
    assert lines(f"Above\n{SMALL}")[:3] == ["Above", "", "Name │ Size"]


def test_a_table_in_a_list_is_indented() -> None:
    assert lines("- a\n\n  | x | y |\n  |---|---|\n  | 1 | 2 |\n- b") == [
        "• a", "", "  x │ y", "  ──┼──", "  1 │ 2", "", "• b",
    ]  # fmt: skip


def test_wide_characters_are_aligned() -> None:
    assert lines("| 名前 | x |\n|---|---|\n| a | y |\n| ❤️ | z |") == [
        "名前 │ x", "─────┼──", "a    │ y", "❤️   │ z",
    ]  # fmt: skip


@pytest.mark.parametrize("width", [24, 30, 40, 60])
def test_wide_columns_shrink_and_wrap(width: int) -> None:
    words = [f"word{number}" for number in range(30)]
    drawn = lines(f"| key | text | more |\n|---|---|---|\n| k | {' '.join(words)} | short |\n", width)
    assert all(len(line) <= width for line in drawn)
    column = " ".join(line.split("│")[1].strip() for line in drawn[2:])
    assert column.split() == words


def test_wrapped_rows_are_separated_by_lines() -> None:
    drawn = lines("| a | b |\n|---|---|\n" + f"| x | {'long ' * 20} |\n" * 2, 30)
    assert sum("┼" in line for line in drawn) == 2


def test_rows_become_records_if_columns_do_not_fit() -> None:
    names = [f"column{number}" for number in range(8)]
    row = f"| {' | '.join(names)} |\n{'|---' * 8}|\n" + f"| {' | '.join('abcdefgh')} |\n" * 2
    record = [f"{name}: {cell}" for name, cell in zip(names, "abcdefgh", strict=True)]
    assert lines(row, 40) == [*record, "─" * 40, *record]


def test_cells_may_contain_escaped_pipes_and_breaks() -> None:
    assert lines("| a | b |\n|---|---|\n| x\\|y | one<br>two |") == [
        "a   │ b", "────┼────", "x|y │ one", "    │ two",
    ]  # fmt: skip


def test_incomplete_tables_are_text() -> None:
    assert lines("| a | b |\n|---|") == ["| a | b | |---|"]
    assert lines("a | b\nc | d") == ["a | b c | d"]


def test_the_columns_of_a_long_table_do_not_change() -> None:
    rows = [f"| {number} | {'w' * (30 if number == 300 else 5)} |\n" for number in range(400)]
    drawn = lines("| n | text |\n|---|---|\n" + "".join(rows))
    places = {line.index("│") for line in drawn if "│" in line}
    assert len(places) == 1
    assert sum(line.count("w") for line in drawn) == 399 * 5 + 30
