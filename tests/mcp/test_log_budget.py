"""Limits for what servers write to their logs."""

from __future__ import annotations

from acp_tui.mcp.server_recorder import BURST_LINES, MAX_LINE_CHARACTERS, LogBudget


def test_a_flood_is_cut_and_the_gap_is_named() -> None:
    now = [0.0]
    budget = LogBudget(lambda: now[0])
    assert len(budget.pass_lines("x\n" * (BURST_LINES + 5))) == BURST_LINES
    assert budget.pass_lines("y\n\nz") == []
    now[0] = 0.1
    assert budget.pass_lines("a") == ["… 7 lines were not logged: the server wrote too many", "a"]
    assert budget.pass_lines("b" * 100_000) == ["b" * MAX_LINE_CHARACTERS]
