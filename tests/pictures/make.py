"""Makes the pictures: `make screenshots` writes `screenshots/*.svg`, with the same bytes on every machine."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.cli.recordings import read_recording
from acp_tui.protocol.translator import fold
from acp_tui.ui.app import AcpTui
from acp_tui.ui.conversation.session_screen import SessionScreen
from acp_tui.ui.conversation.status_tracker import StatusTracker
from acp_tui.ui.prompt import Prompt
from acp_tui.ui.theme.themes import BUILT_IN
from acp_tui.ui.transcript.transcript import Transcript
from tests.pictures.record import RECORDING
from tests.ui.screens.review.sample_review import sample_review, sample_screen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.widget import Widget

    from acp_tui.session.record import Record

FOLDER = Path(__file__).parents[2] / "screenshots"
SIZE = (104, 38)
REVIEW_SIZE = (104, 32)
LINES_UP = 13
"""Lines to scroll up from the end, so that the picture shows the first thought to the table."""


class StillScreen(SessionScreen):
    """A session screen with a recorded session and a prompt, without an agent."""

    AUTO_FOCUS = "Prompt PromptEditor"

    def __init__(self, records: list[Record]) -> None:
        session = fold(records)
        facts = StatusTracker("Demo agent")
        facts.project, facts.branch, facts.policy = "basket", "main", "ask"
        super().__init__(session, facts)
        self._at = records[-1].at

    def compose_bottom(self) -> Iterable[Widget]:
        return (Prompt(),)

    def on_mount(self) -> None:
        """Show the whole session."""
        self.show_session(self.session, self.session.cwd or "")
        self.query_one(Prompt).agent_title = "Demo agent"

    def now(self) -> float:
        """Return the time of the last record."""
        return self._at


async def picture(theme: str, *keys: str, up: int = LINES_UP) -> str:
    """Return the picture of a theme as SVG, after some keys were pressed."""
    records = [record for record in read_recording(RECORDING) if _is_shown(record)]
    app = AcpTui(lambda: StillScreen(records), theme=theme)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        await pilot.press(*keys)
        await pilot.pause()
        app.screen.query_one(Transcript).scroll_lines(-up)
        await pilot.pause()
        return _without_fonts(app.export_screenshot(title="acp-tui"))


def _is_shown(record: Record) -> bool:
    """Leave out the end of the agent: the picture shows a running conversation."""
    return not (isinstance(record.frame, dict) and record.frame.get("event") == "agent_exited")


def _without_fonts(svg: str) -> str:
    """Remove web fonts, so that the picture loads nothing."""
    return re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL)


async def review_picture() -> str:
    """Return the picture of the review of sample changes as SVG."""
    records = read_recording(RECORDING)
    app = AcpTui(lambda: StillScreen(list(records)), theme="dark")
    async with app.run_test(size=REVIEW_SIZE) as pilot:
        await app.push_screen(sample_screen(sample_review(), "src/login.py"))
        await pilot.pause()
        return _without_fonts(app.export_screenshot(title="acp-tui"))


async def pictures() -> dict[str, str]:
    """Return all pictures by name."""
    by_theme = {theme: await picture(theme) for theme in BUILT_IN}
    panes = await picture("dark", "ctrl+b", up=LINES_UP + 3)
    return by_theme | {"panes": panes, "review": await review_picture()}


def main() -> None:
    """Write all pictures to `screenshots/`."""
    FOLDER.mkdir(exist_ok=True)
    for name, svg in asyncio.run(pictures()).items():
        (FOLDER / f"{name}.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
