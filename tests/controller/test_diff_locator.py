"""Diffs that agents send without a place are found in their files, and stay there on replay."""

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
    """A call with one diff, as Codex sends it."""
    content = [{"type": "diff", "path": str(path), "oldText": old, "newText": new}]
    update = {"toolCallId": "edit", "title": "Editing files", "kind": "edit", "status": status}
    return ["update", {"sessionUpdate": "tool_call", **update, "content": content}]


def line_of_edit(session: Session) -> int:
    call = session.tool_calls["edit"]
    (diff,) = [item for item in call.content if isinstance(item, Diff)]
    return first_line(call, diff)


@pytest.mark.parametrize(
    ("held_text", "old", "line"),
    [
        (TEXT, "\nalpha\n\n", 2),
        (TEXT, TEXT, 1),
        (TEXT + "alpha\n", "alpha", 0),
        (TEXT.replace("alpha", "omega"), "\nalpha\n\n", 2),
    ],
    ids=["a snippet", "the whole file", "in two places", "already written"],
)
async def test_a_diff_is_numbered_as_in_its_file(
    tmp_path: Path, converse: Converse, held_text: str, old: str, line: int
) -> None:
    path = tmp_path / "project" / "README.md"
    path.write_text(held_text)
    one = converse()
    await one.open()
    await one.prompt(edit(path, old, old.replace("alpha", "omega")))
    await until(lambda: line_of_edit(one.session) == line)
    path.write_text("something else\n" * 5)
    assert line_of_edit(one.session) == line
    assert line_of_edit(one.replayed()) == line


async def test_files_outside_the_workspace_are_not_read_for_it(tmp_path: Path, converse: Converse) -> None:
    (tmp_path / "outside").write_text(TEXT)
    (tmp_path / "project" / "inside").write_text(TEXT)
    one = converse()
    await one.open()
    await one.prompt(edit(tmp_path / "outside", "\nalpha\n\n", "\nomega\n\n"))
    await one.prompt(edit(tmp_path / "project" / "inside", "\nalpha\n\n", "\nomega\n\n"))
    await until(lambda: line_of_edit(one.session) == 2)
    first = next(entry for entry in one.session.entries if isinstance(entry, ToolCall))
    assert [item.line for item in first.content if isinstance(item, Diff)] == [None]
