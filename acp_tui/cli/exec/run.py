"""Runs `exec`: starts the agent, runs one turn, prints the result."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING, Any

from acp_tui.cli.exec.json_output import RunLog, build_result
from acp_tui.cli.exec.text_output import OUTPUTS, TextOutput
from acp_tui.cli.headless import HeadlessRun
from acp_tui.cli.options import CANCELLED, FAILED, OK, OTHER_STOP
from acp_tui.console.messages import print_message
from acp_tui.console.quantities import pluralize
from acp_tui.console.streams import content_stream

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from acp_tui.cli.exec.text_output import Output
    from acp_tui.session.change import Change
    from acp_tui.session.events import Event
    from acp_tui.session.record import Record

MAX_STDERR_LINES = 10
"""The maximum number of lines of the agent's stderr to print after a failure."""
QUIET_SECONDS = 0.15
"""Seconds without a message before the prompt is sent: some agents greet right after the session is open."""
FLUSH_SECONDS = 0.05
"""Seconds between flushes of the output."""


async def execute(args: argparse.Namespace, agent: str | None, prompt: str) -> int:
    """Run one prompt and return the exit code."""
    headless = HeadlessRun(args, agent)
    conversation = headless.conversation
    output = OUTPUTS[args.output](content_stream(), conversation.session)
    run_log = RunLog()
    listener = OutputListener(output, run_log, headless)
    conversation.listen(listener)
    headless.before_message = listener.break_line

    async def end() -> None:
        failure = headless.failure
        if failure is not None:
            listener.flush()
            listener.break_line()
            print_message(failure, headless.stderr_tail[-MAX_STDERR_LINES:])
        listener.end(await build_result(conversation, run_log, failure))
        if headless.failure is not None and failure is None:  # printing itself failed
            print_message(headless.failure)

    try:
        await headless.run(_turn(headless, prompt))
        if headless.stopped_by != signal.SIGPIPE:
            await headless.finish(end())
    finally:
        await headless.close()
    if headless.stopped_by is not None:
        return CANCELLED if headless.stopped_by == signal.SIGINT else 128 + headless.stopped_by
    if headless.failure is not None:
        return FAILED
    if args.strict and (warnings := len(run_log.warnings)):
        print_message(
            f"Failed because of {pluralize(warnings, 'warning')} about what the agent sent (--strict)."
        )
        return FAILED
    return OK if conversation.session.stop_reason == "end_turn" else OTHER_STOP


async def _turn(headless: HeadlessRun, prompt: str) -> None:
    conversation = headless.conversation
    await conversation.start()
    await headless.open()
    await headless.apply_options()
    await headless.wait_until_quiet(QUIET_SECONDS)
    await conversation.prompt([{"type": "text", "text": prompt}])


class OutputListener:
    """Prints the events of a run, and flushes the output at intervals rather than per chunk."""

    def __init__(self, output: Output, run_log: RunLog, headless: HeadlessRun) -> None:
        self._output = output
        self._run_log = run_log
        self._headless = headless
        self._flush_timer: asyncio.TimerHandle | None = None
        self._stopped = False

    def __call__(self, record: Record, events: Sequence[Event], changes: Sequence[Change]) -> None:
        """Print one record's events and changes."""
        self._run_log.add(events, changes)
        history = self._headless.conversation.session.replaying
        if self._stopped or (history and not self._output.shows_history):
            return
        self._print(self._output.print_record, record, events, changes)
        if self._flush_timer is None:
            self._flush_timer = asyncio.get_running_loop().call_later(FLUSH_SECONDS, self.flush)

    def flush(self) -> None:
        self._flush_timer = None
        if not self._stopped:
            self._print(self._output.flush)

    def break_line(self) -> None:
        """On a terminal, end an unfinished line of the answer."""
        if isinstance(self._output, TextOutput) and not self._stopped:
            self._print(self._output.break_line)

    def end(self, result: dict[str, Any]) -> None:
        """Print the result. Nothing is printed after it."""
        self._stopped = True
        self._print(self._output.end, result)

    def _print(self, call: Callable[..., None], *args: Any) -> None:
        self._headless.printing = True
        try:
            call(*args)
        except OSError as error:
            self._stopped = True
            self._headless.handle_output_error(error)
        finally:
            self._headless.printing = False
