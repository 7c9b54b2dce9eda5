"""A transcript in a small app."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from textual.app import App

from acp_tui.ui.transcript.search import TranscriptSearch
from acp_tui.ui.transcript.transcript import Transcript
from tests.support.looks import use_theme
from tests.support.talk import Talk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from textual.app import ComposeResult
    from textual.message import Message
    from textual.pilot import Pilot

    from acp_tui.session.record import Change

SIZE = (60, 12)


class Live(Talk):
    """A scripted conversation that collects its changes until the app shows them."""

    def __init__(self) -> None:
        super().__init__()
        self.pending: list[Change] = []

    def record(self, direction, frame):  # type: ignore[no-untyped-def]  # as it is there
        changes = super().record(direction, frame)
        self.pending += changes
        return changes


class Host(App[None]):
    """An app with nothing but a transcript."""

    CSS = "Screen { background: $background; }"
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, talk: Live, theme: str = "dark") -> None:
        super().__init__()
        use_theme(self, theme)
        self.talk = talk
        self.told: list[Message] = []
        self.view = Transcript(talk.session)
        self.finder = TranscriptSearch(self.view)
        talk.pending.clear()

    def compose(self) -> ComposeResult:
        yield self.view

    def on_mount(self) -> None:
        self.view.use_session(self.talk.session, "/project")
        self.view.focus()

    def _tell(self, message: Message) -> None:
        self.told.append(message)

    on_transcript_action_requested = on_transcript_typed = on_transcript_view_link_clicked = _tell

    # ---- what is seen

    def lines(self) -> list[str]:
        """The rows on the screen, without the margin and the scrollbar."""
        return [self.view.render_line(y).text[1:].rstrip() for y in range(self.view.size.height)]

    def row_of(self, text: str) -> int:
        """The first row that holds the text."""
        return next(y for y, line in enumerate(self.lines()) if text in line)

    def sees(self, text: str) -> bool:
        return any(text in line for line in self.lines())

    # ---- what happens

    def show(self) -> None:
        """Show what has happened in the talk, as one frame does."""
        changes, self.talk.pending[:] = list(self.talk.pending), []
        self.view.show_changes(changes)

    def say(self, text: str) -> None:
        """The agent goes on with its message."""
        self.talk.says(text)
        self.show()

    def entry(self, number: int) -> int:
        """The id of an entry by its place; negative from the end."""
        return self.talk.session.entries[number].id


@asynccontextmanager
async def shown(
    talk: Live, *, size: tuple[int, int] = SIZE, theme: str = "dark"
) -> AsyncIterator[tuple[Host, Pilot[None]]]:
    """Run the app with this conversation."""
    app = Host(talk, theme)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield app, pilot


def messages(count: int, lines: int = 3) -> Live:
    """Return a conversation of `count` prompts and answers, in which every line is unique."""
    talk = Live()
    talk.opened()
    for number in range(count):
        prompt = talk.prompt(f"prompt {number}")
        for line in range(lines):
            talk.says(f"answer {number} line {line}\n\n")
        talk.end(prompt)
    return talk


def run(check: Callable[[Host, Pilot[None]], object], talk: Live, size: tuple[int, int] = SIZE) -> None:
    """Run an app from a test that cannot be a coroutine, such as a Hypothesis property."""

    async def go() -> None:
        async with shown(talk, size=size) as (app, pilot):
            await check(app, pilot)  # type: ignore[misc]  # a coroutine function

    asyncio.run(go())
