"""The run of one `exec`: from the agent's start to the result."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING, Any

from acp_tui.cli.exec_output import OUTPUTS
from acp_tui.cli.exec_result import Decisions, result_of
from acp_tui.cli.headless import Headless, complain
from acp_tui.cli.options import CANCELLED, FAILED, OK, OTHER_STOP
from acp_tui.cli.streams import content_stream

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from acp_tui.cli.exec_output import Output
    from acp_tui.session.change import Change
    from acp_tui.session.events import Event
    from acp_tui.session.record import Record

LAST_WORDS = 10
"""Lines of the agent's stderr that are shown with a failure."""
FLUSHED_AFTER = 0.05
"""Seconds after which text that came is brought out, however it comes."""


async def execute(args: argparse.Namespace, agent: str | None, prompt: str) -> int:
    """All of it; the exit code."""
    headless = Headless(args, agent)
    conversation = headless.conversation
    output = OUTPUTS[args.output](content_stream())
    decisions = Decisions()
    printing = Printing(output, decisions, headless)
    conversation.listen(printing)

    async def end() -> None:
        told = headless.failure
        if told is not None:
            printing.flush()
            complain(told, headless.last_words[-LAST_WORDS:])
        printing.end(await result_of(conversation, decisions, told))
        if headless.failure is not None and told is None:  # it is the printing that failed
            complain(headless.failure)

    try:
        await headless.work(_turn(headless, prompt))
        if headless.stopped_by != signal.SIGPIPE:
            await headless.finish(end())
    finally:
        await headless.close()
    if headless.stopped_by is not None:
        return CANCELLED if headless.stopped_by == signal.SIGINT else 128 + headless.stopped_by
    if headless.failure is not None:
        return FAILED
    return OK if conversation.session.stop_reason == "end_turn" else OTHER_STOP


async def _turn(headless: Headless, prompt: str) -> None:
    conversation = headless.conversation
    await conversation.start()
    await headless.open()
    await headless.choose()
    await conversation.prompt([{"type": "text", "text": prompt}])


class Printing:
    """Prints what happens; text is brought out soon, but not for every chunk of it."""

    def __init__(self, output: Output, decisions: Decisions, headless: Headless) -> None:
        self._output = output
        self._decisions = decisions
        self._headless = headless
        self._flushing: asyncio.TimerHandle | None = None
        self._stopped = False

    def __call__(self, record: Record, events: Sequence[Event], changes: Sequence[Change]) -> None:
        """Something happened."""
        for event in events:
            self._decisions.see(event)
        history = self._headless.conversation.session.replaying
        if self._stopped or (history and not self._output.shows_history):
            return
        self._print(self._output.see, record, events, changes)
        if self._flushing is None:
            self._flushing = asyncio.get_running_loop().call_later(FLUSHED_AFTER, self.flush)

    def flush(self) -> None:
        """Bring out what is held back."""
        self._flushing = None
        if not self._stopped:
            self._print(self._output.flush)

    def end(self, result: dict[str, Any]) -> None:
        """The last words. What comes from now on is not worth one: the result is what ends the output."""
        self._stopped = True
        self._print(self._output.end, result)

    def _print(self, act: Callable[..., None], *args: Any) -> None:
        self._headless.printing = True
        try:
            act(*args)
        except OSError as error:
            self._stopped = True
            self._headless.output_lost(error)
        finally:
            self._headless.printing = False
