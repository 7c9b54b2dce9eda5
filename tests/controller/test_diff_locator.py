"""Line numbers of diffs that agents send without a position."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.session.diff_position import first_line
from acp_tui.session.state import Diff, ToolCall
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    from acp_tui.session.state import Session
    from tests.controller.conftest import Converse

TEXT = "# Sample\n\nalpha\n\nlast line\n"


def edit(path: Path, old: str, new: str, status: str = "in_progress") -> list[Any]:
    """Return a step with a tool call with one diff, as Codex sends it."""
    content = [{"type": "diff", "path": str(path), "oldText": old, "newText": new}]
    update = {"toolCallId": "edit", "title": "Editing files", "kind": "edit", "status": status}
    return ["update", {"sessionUpdate": "tool_call", **update, "content": content}]


def line_of_edit(session: Session) -> int:
    call = session.tool_calls["edit"]
    (diff,) = [item for item in call.content if isinstance(item, Diff)]
    return first_line(call, diff)


@pytest.mark.parametrize(
    ("text_of_file", "old", "line"),
    [
        (TEXT, "\nalpha\n\n", 2),
        (TEXT, TEXT, 1),
        (TEXT + "alpha\n", "alpha", 0),
        (TEXT.replace("alpha", "omega"), "\nalpha\n\n", 2),
    ],
    ids=["snippet", "whole file", "found twice", "already written"],
)
async def test_a_diff_gets_its_line_number_from_the_file(
    tmp_path: Path, converse: Converse, text_of_file: str, old: str, line: int
) -> None:
    path = tmp_path / "project" / "README.md"
    path.write_text(text_of_file)
    chat = converse()
    await chat.open()
    await chat.prompt(edit(path, old, old.replace("alpha", "omega")))
    await until(lambda: line_of_edit(chat.session) == line)
    path.write_text("something else\n" * 5)
    assert line_of_edit(chat.session) == line
    assert line_of_edit(chat.replayed()) == line


async def test_files_outside_the_workspace_are_not_searched(tmp_path: Path, converse: Converse) -> None:
    (tmp_path / "outside").write_text(TEXT)
    (tmp_path / "project" / "inside").write_text(TEXT)
    chat = converse()
    await chat.open()
    await chat.prompt(edit(tmp_path / "outside", "\nalpha\n\n", "\nomega\n\n"))
    await chat.prompt(edit(tmp_path / "project" / "inside", "\nalpha\n\n", "\nomega\n\n"))
    await until(lambda: line_of_edit(chat.session) == 2)
    first = next(entry for entry in chat.session.entries if isinstance(entry, ToolCall))
    assert [item.line for item in first.content if isinstance(item, Diff)] == [None]
