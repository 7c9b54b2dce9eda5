"""Texts that are too long to draw are truncated, with a note."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from acp_tui.permissions.commands.command_line import MAX_COMMAND_LENGTH
from acp_tui.permissions.commands.command_reader import NotPlainError, plain_words
from acp_tui.session.growing_text import GrowingText
from acp_tui.session.state import AgentMessage, Content, Diff, Notice, Session, TerminalRef, ToolCall
from acp_tui.ui.dialogs.detail import STEP_LINES, MeasuredBody
from acp_tui.ui.drawing.wrap import MAX_LINE_LENGTH
from acp_tui.ui.entries.renderers import GuardedBody
from acp_tui.ui.permission.dialog import PermissionScreen
from acp_tui.ui.widgets.body_scroller import BodyScroller
from tests.support.bodies import call, context, lines, terminal
from tests.support.looks import Show
from tests.ui.screens.questions import permission

LINE = "words " * 500_000
MISSING = f"{len(LINE) - MAX_LINE_LENGTH:,} more characters"
if TYPE_CHECKING:
    from textual.screen import Screen

    from acp_tui.ui.drawing.body import LongBody

FEW = 2 * MAX_LINE_LENGTH // 80 + 40
"""Lines that a cut line fills, and what may stand around it."""


def test_a_notice_truncates_a_line_of_megabytes() -> None:
    body = GuardedBody(Notice(id=1, at=0.0, text=LINE), context(full=True))
    assert body.height < FEW
    assert MISSING in " ".join(lines(body))


def test_command_output_truncates_a_line_of_megabytes() -> None:
    session = Session(cwd="/p")
    terminal(session, LINE, terminal_id="a", command="cat", cwd="/p", exit_code=0, ended_at=1.0)
    run = call(session, title="cat", kind="execute", status="completed", content=[TerminalRef("a")])
    body = GuardedBody(run, context(session, full=True))
    assert body.height < FEW
    assert "more characters" in " ".join(lines(body))


def test_a_diff_truncates_a_line_of_megabytes_but_shows_that_it_changed() -> None:
    diff = Diff("/p/a.py", LINE + "a\n", LINE + "b\n")
    edit = ToolCall(id=1, at=0.0, call_id="c", title="Edit", kind="edit", content=[diff])
    body = GuardedBody(edit, context(full=True))
    text = "".join(lines(body)).replace(" ", "")
    assert body.height < FEW
    assert "+1" in text
    assert text.count("morecharacters(checksum") == 2


def test_the_full_view_limits_the_lines_of_a_text() -> None:
    read = ToolCall(
        id=1, at=0.0, call_id="c", title="Read", kind="read", content=[Content("text", "line\n" * 200_000)]
    )
    body = GuardedBody(read, context(full=True))
    assert body.height < 6_000
    assert "more lines" in lines(body)[-1]


def test_a_very_long_table_is_measured_in_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_tui.ui.dialogs.detail.STEP_SECONDS", 0.0)
    rows = "| a | b |\n|---|---|\n" + "".join(f"| {number} | x |\n" for number in range(1_000))
    message = GuardedBody(AgentMessage(id=1, at=0.0, parts=[GrowingText(rows)]), context(full=True))
    body = MeasuredBody(cast("LongBody", message))
    assert body.height <= STEP_LINES
    steps = 0
    while not body.complete:
        body._measure_step()
        steps += 1
    assert steps > 5
    assert body.height > 1_000


async def test_the_permission_dialog_omits_the_middle_of_a_command_of_megabytes() -> None:
    sent = f"echo begin {LINE} ; echo end"
    question = permission(sent, "execute", raw_input={"command": sent})

    def screen() -> Screen[object]:
        return cast("Screen[object]", PermissionScreen(question, agent="A"))

    app = Show("dark", screen=screen)
    async with app.run_test(size=(100, 40)) as pilot:
        await pilot.press("i")
        await pilot.pause()
        page = app.screen.query_one(BodyScroller)
        assert page.height_at(90) < 3_000
        shown = "\n".join(page._line(row).text for row in range(page.height_at(90)))
        assert "characters in the middle of this command are not shown" in " ".join(shown.split())
        assert "echo begin" in shown
        assert "echo end" in shown


def test_a_command_of_megabytes_is_not_parsed() -> None:
    with pytest.raises(NotPlainError, match="longer than"):
        plain_words("echo " + "x" * MAX_COMMAND_LENGTH)


def test_a_command_of_very_many_lines_is_cut() -> None:
    run = ToolCall(id=1, at=0.0, call_id="c", title="Run", kind="execute", command="echo a\n" * 300_000)
    assert lines(GuardedBody(run, context()))[-1].strip() == "▸ more"
    assert GuardedBody(run, context(full=True)).height < 6_000
