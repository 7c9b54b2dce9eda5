"""Pictures of the list of files that a rewind would restore."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from acp_tui.controller.rewind import FileTexts
from acp_tui.ui.conversation.rewind import RewindDialog
from acp_tui.workspace.baseline.turn_history import RewindStep
from tests.support.looks import Show, two_looks

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.pilot import Pilot
    from textual.screen import Screen


STEPS = [
    RewindStep(Path("src/login.py"), "restore"),
    RewindStep(Path("src/errors.py"), "delete"),
    RewindStep(Path("docs/old-notes.md"), "create", edited_between_turns=True, changed_by_agent=False),
    RewindStep(Path("src/users.py"), "restore", edited_between_turns=True),
    RewindStep(Path("data.bin"), "restore", obstacle="it was larger than 5 MB"),
]


async def texts(step: RewindStep) -> FileTexts:
    return FileTexts("def find(name):\n", "def find(name: str):\n", (STEPS.index(step) * 3, 1))


def dialog() -> Screen[object]:
    title = "Before prompt 3: restore which files?"
    return cast("Screen[object]", RewindDialog(title, STEPS, str, texts, cwd="/"))


@two_looks
def test_the_files_of_a_rewind(snap_compare: Callable[..., bool], theme: str, size: tuple[int, int]) -> None:
    async def choose(pilot: Pilot[Any]) -> None:
        await pilot.press("down", "down", "down", "space")
        await pilot.pause()

    assert snap_compare(Show(theme, screen=dialog), terminal_size=size, run_before=choose)
