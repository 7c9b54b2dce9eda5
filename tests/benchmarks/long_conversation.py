"""What a keystroke, a scroll step, a chunk, a resize and a change of theme cost, by length of conversation.

    python -m tests.benchmarks.long_conversation

Prints CPU milliseconds of each at 50 and at 5,000 entries, and the ratio. The first should not depend on the
length at all; resize and theme touch every entry once.
"""

from __future__ import annotations

import asyncio
import gc
import statistics
import time
from typing import TYPE_CHECKING

from textual.app import App

from acp_tui.session import events as ev
from acp_tui.session.reduce import reduce
from acp_tui.session.state import Content, Diff, Location, Session
from acp_tui.ui.prompt import Prompt
from acp_tui.ui.transcript.transcript import Transcript
from tests.support.looks import use_theme

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual.app import ComposeResult
    from textual.pilot import Pilot

ANSWER = (
    "The parser keeps **one token** of look-ahead, so `the fallback` never runs twice.\n\n- one\n- two\n\n"
    * 3
)
SHORT, LONG = 50, 5000
REPEATS = 40


def conversation(entries: int) -> Session:
    """A session with so many entries: prompts, answers and edits."""
    session = Session(session_id="s", phase="idle")
    turn = 0
    while len(session.entries) < entries:
        turn += 1
        reduce(session, ev.PromptSent([Content("text", f"Please look at module {turn}.")]), turn)
        reduce(session, ev.TextChunk("agent", ANSWER), turn)
        path = f"/project/src/module_{turn}.py"
        diff = Diff(path, "a = 1\nb = 2\n", "a = 1\nb = 3\n")
        call = ev.ToolCallChanged(
            f"call-{turn}",
            announced=True,
            title=f"Edit {path}",
            kind="edit",
            status="completed",
            content=[diff],
            locations=[Location(path, 2)],
        )
        reduce(session, call, turn)
        reduce(session, ev.TextChunk("agent", "Done.\n"), turn)
        reduce(session, ev.TurnEnded("end_turn"), turn)
    reduce(session, ev.PromptSent([Content("text", "And now?")]), turn)
    reduce(session, ev.TextChunk("agent", ANSWER), turn)
    return session


class Bench(App[None]):
    """A transcript and a prompt."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        use_theme(self, "dark")

    def compose(self) -> ComposeResult:
        """Both."""
        yield Transcript(self.session)
        yield Prompt()

    def on_mount(self) -> None:
        """Show the session."""
        self.query_one(Transcript).use_session(self.session, "/project")
        self.query_one(Prompt).focus()


async def measured(
    pilot: Pilot[None], step: Callable[[int], Awaitable[None]], repeats: int = REPEATS
) -> float:
    """The median CPU milliseconds of a step, drawing included."""
    found = []
    for number in range(repeats):
        began = time.process_time()
        await step(number)
        await pilot.pause()
        found.append((time.process_time() - began) * 1000)
    return statistics.median(found)


async def costs(entries: int) -> dict[str, float]:
    """What everything costs in a conversation of that length."""
    app = Bench(conversation(entries))
    async with app.run_test(size=(120, 40)) as pilot:
        view = app.query_one(Transcript)
        await pilot.pause()
        gc.collect()

        async def key(_: int) -> None:
            await pilot.press("x")

        async def scroll(number: int) -> None:
            view.scroll_lines(-3 if number < REPEATS // 2 else 3)

        async def chunk(_: int) -> None:
            event = ev.TextChunk("agent", "Forty characters of an answer go on … ")
            view.show_changes(reduce(app.session, event, 0))

        async def resize(number: int) -> None:
            await pilot.resize_terminal(120 - number % 2 * 20, 40)

        async def theme(number: int) -> None:
            use_theme(app, "light" if number % 2 == 0 else "dark")
            view.apply_theme()

        return {
            "keystroke": await measured(pilot, key),
            "chunk": await measured(pilot, chunk),
            "scroll step": await measured(pilot, scroll),
            "resize": await measured(pilot, resize, 10),
            "theme": await measured(pilot, theme, 10),
        }


def main() -> None:
    """Print the table."""
    short, long = asyncio.run(costs(SHORT)), asyncio.run(costs(LONG))
    print(f"{'CPU ms':12} {SHORT:>8} {LONG:>8}    ratio")
    for name, cost in short.items():
        print(f"{name:12} {cost:8.2f} {long[name]:8.2f} {long[name] / cost:8.2f}")


if __name__ == "__main__":
    main()
