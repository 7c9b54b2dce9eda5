"""Diffs that change line endings, which the displayed texts do not show."""

from __future__ import annotations

import pytest

from acp_tui.protocol.content import read_tool_content
from acp_tui.session.state import Diff


@pytest.mark.parametrize(
    ("old", "new", "ends"),
    [
        ("a\r\nb\r\n", "a\nb\n", ("CRLF", "LF")),
        ("a\nb\n", "a\r\nb\n", ("LF", "mixed")),
        ("a\r\n", "b\r\n", None),
        ("a\n", "b\n", None),
        ("a", "a\r\n", None),
        (None, "a\r\n", None),
        ("a\r\n", None, None),
    ],
)
def test_changed_line_endings_are_recognised(
    old: str | None, new: str | None, ends: tuple[str, str] | None
) -> None:
    found = read_tool_content({"type": "diff", "path": "/a", "oldText": old, "newText": new})
    assert found is not None
    (diff,) = found
    assert isinstance(diff, Diff)
    assert diff.line_ends == ends
    assert "\r" not in (diff.old or "") + (diff.new or "")
