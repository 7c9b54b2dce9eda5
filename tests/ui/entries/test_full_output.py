"""The full output of a terminal, followed while the command runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from acp_tui.session.state import Session, Terminal
from acp_tui.session.terminal_text import MAX_KEPT_PER_END
from acp_tui.ui.drawing.body import DrawContext
from acp_tui.ui.entries import terminal as full_output
from acp_tui.ui.entries.terminal import FullOutput

if TYPE_CHECKING:
    import pytest

CONTEXT = DrawContext(width=20, session=Session())
PIECES = st.sampled_from(
    ["a word", "\r\n", "\r\n" * 30, "\r", "\x1b[2K", "\x1b[5A", "\x1b[31mred\x1b[m", "wide 漢字 " * 9, "\t"]
)


def terminal() -> Terminal:
    return Terminal(id=0, at=0.0, terminal_id="t")


def drawn(body: FullOutput) -> list[str]:
    return [body.line(number).text for number in range(body.height)]


@settings(max_examples=60)
@given(st.lists(PIECES, max_size=60))
def test_following_output_shows_the_same_as_reading_it_again(pieces: list[str]) -> None:
    one = terminal()
    followed = FullOutput(one, CONTEXT)
    for piece in pieces:
        one.output.append(piece)
        followed.update()
    fresh = FullOutput(one, CONTEXT)
    assert drawn(followed) == drawn(fresh)
    assert followed.copy_text() == fresh.copy_text()


def test_a_line_marks_omitted_output() -> None:
    one = terminal()
    body = FullOutput(one, CONTEXT)
    for number in range(MAX_KEPT_PER_END // 4):
        one.output.append(f"line {number:06}\r\n")
    body.update()
    assert "omitted" in body.copy_text()
    assert drawn(body)[-1].strip() == f"line {MAX_KEPT_PER_END // 4 - 1:06}"


def test_output_sent_again_replaces_the_old_output() -> None:
    one = terminal()
    one.output.append("first\r\n")
    body = FullOutput(one, CONTEXT)
    one.output = type(one.output)()
    one.output.append("second\r\n")
    body.update()
    assert drawn(body) == ["second"]


def test_lines_beyond_the_limit_are_read_again_from_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(full_output, "MAX_LINES", 200)
    one = terminal()
    body = FullOutput(one, CONTEXT)
    for number in range(500):
        one.output.append(f"{number}\r\n")
        body.update()
    assert drawn(body) == [str(number) for number in range(500)]
