"""The row of tabs, as text."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from acp_tui.ui.tabs.tab_strip import StripTab, layout


def row(tabs: list[StripTab], current: int, width: int = 80) -> str:
    return "".join(piece.text for piece in layout(tabs, current, width))


def test_each_tab_has_its_number_mark_title_and_unread_count() -> None:
    tabs = [StripTab("Fix it", "working", 3), StripTab("Docs"), StripTab("Tests", "asking", 200)]
    assert row(tabs, 1) == " 1 ● Fix it +3  2 Docs  3 ? Tests +99 "


def test_the_current_tab_counts_nothing_as_unread() -> None:
    assert row([StripTab("Fix it", "done", 3), StripTab("Docs")], 0) == " 1 ✔ Fix it  2 Docs "


def test_titles_are_shortened_before_tabs_are_left_out() -> None:
    tabs = [StripTab(f"A rather long title, number {n}") for n in range(4)]
    found = row(tabs, 0, 60)
    assert found == " 1 A rather l…  2 A rather l…  3 A rather l…  4 A rather l… "


@pytest.mark.parametrize("current", [0, 11, 19])
@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_the_current_one_of_many_tabs_is_shown_and_the_others_are_counted(current: int, width: int) -> None:
    tabs = [StripTab(f"Conversation {n + 1}") for n in range(20)]
    pieces = layout(tabs, current, width)
    shown = [piece for piece in pieces if not piece.is_omission]
    assert [piece.index for piece in shown if piece.is_current] == [current]
    assert sum(cell_len(piece.text) for piece in pieces) <= width
    omitted = sum(int(piece.text.strip(" ‹›?")) for piece in pieces if piece.is_omission)
    assert omitted + len(shown) == 20


def test_a_question_in_a_tab_that_does_not_fit_is_marked() -> None:
    tabs = [StripTab(f"Conversation {n + 1}", "asking" if n == 19 else "") for n in range(20)]
    assert row(tabs, 0).endswith("? 14› ")
    pieces = layout(tabs, 0, 80)
    assert (pieces[-1].index, pieces[-1].mark) == (6, "asking")


@pytest.mark.parametrize("width", range(1, 12))
def test_no_width_is_too_small(width: int) -> None:
    assert layout([StripTab("宽宽宽宽宽", "working"), StripTab("b")], 0, width)
