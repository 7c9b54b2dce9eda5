"""A terminal in the transcript while it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import App

from acp_tui.session import events as ev
from acp_tui.session.reduce import reduce
from acp_tui.session.state import Session, TerminalRef
from acp_tui.ui.transcript.view import TranscriptView
from tests.support.bodies import CWD

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from acp_tui.session.events import Event


class Transcript(App[None]):
    """Nothing but a transcript."""

    def __init__(self) -> None:
        super().__init__()
        self.session = Session(cwd=CWD)
        self.view = TranscriptView(self.session, cwd=CWD)

    def compose(self) -> ComposeResult:
        yield self.view

    def happens(self, *events: Event) -> None:
        """One frame with these events."""
        self.view.show_changes([change for event in events for change in reduce(self.session, event, 1.0)])

    @property
    def shown(self) -> list[str]:
        """What can be read."""
        texts = (self.view.render_line(y).text.strip() for y in range(self.view.size.height))
        return [text for text in texts if text]


async def test_new_output_appears_only_in_the_call_that_shows_the_terminal() -> None:
    app = Transcript()
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        app.happens(
            ev.PromptSent([]),
            ev.TerminalCreated("t", command="make", cwd=CWD),
            ev.TerminalOutput("t", "one\n"),
        )
        assert [text.split()[:3] for text in app.shown] == [["▾", "❯", "make"], ["one"]]
        app.happens(
            ev.ToolCallChanged("c", announced=True, title="Build", kind="execute", status="in_progress")
        )
        app.happens(ev.ToolCallChanged("c", content=[TerminalRef("t")]))
        assert [text.split()[:3] for text in app.shown] == [["▾", "❯", "Build"], ["$", "make"], ["one"]]
        app.happens(ev.TerminalOutput("t", "two 1 %"))
        app.happens(ev.TerminalOutput("t", "\rtwo 9 %"))
        assert app.shown[2:] == ["one", "two 9 %"]
        app.happens(ev.TerminalExited("t", 3))
        assert "exit 3" in app.shown[0]
