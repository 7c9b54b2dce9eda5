"""The permission dialog of a request that describes its edit by a patch in the raw input."""

from __future__ import annotations

import pytest

from acp_tui.protocol.translator import fold
from acp_tui.session.state import ToolCall
from tests.support.recordings import WIRELOGS, records
from tests.ui.permission.test_permission import shown
from tests.ui.screens.questions import permission


@pytest.mark.parametrize(
    ("name", "path"),
    [("cline-patch", "/ws/other.txt"), ("cline-patch-outside", "/ws/project/.git/hooks/pre-commit")],
)
async def test_a_recorded_patch_is_shown_as_a_diff_of_its_file(name: str, path: str) -> None:
    recorded = fold(records(next(log for log in WIRELOGS if log.stem == name)))
    calls = [entry for entry in recorded.entries if isinstance(entry, ToolCall)]
    call = next(call for call in calls if "apply_patch" in call.title)
    asked = permission(call.title, call.kind, content=call.content, raw_input=call.raw_input)
    async with shown(asked) as dialog:
        text = dialog.text()
    assert "asks to change a file" in text
    assert f"! {path} is outside the workspace" in text
    lines = [line.strip() for line in text.splitlines()]
    assert lines[lines.index("- alpha") + 1] == "+ omega"
    assert "raw input" not in text
