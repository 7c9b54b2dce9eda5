"""Runs `doctor`: starts an agent, opens a session, runs one turn if wanted, and builds the report.

The time limits of single steps are the settings `timeouts`; `--timeout` limits the whole run.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from acp_tui.cli.headless import HeadlessRun
from acp_tui.console.messages import print_message
from acp_tui.doctor.report import build_report

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from acp_tui.session.change import Change
    from acp_tui.session.events import Event
    from acp_tui.session.record import Record

PROGRESS_INTERVAL_SECONDS = 3.0
"""Seconds between messages that say which request is still unanswered."""


async def examine(args: argparse.Namespace, agent: str | None, prompt: str | None) -> dict[str, Any]:
    """Run the agent and return the report as JSON data."""
    # Agents list their terminal sign-in only if the client declares it. It runs only with --sign-in.
    headless = HeadlessRun(args, agent, terminal_sign_in=True, own_tools=False)
    conversation = headless.conversation
    records: list[Record] = []
    seconds: dict[str, float] = {}

    def keep(record: Record, _events: Sequence[Event], _changes: Sequence[Change]) -> None:
        records.append(record)

    async def run() -> None:
        with _timed("initialize", seconds, "initialize"):
            await conversation.start()
        with _timed("session/new", seconds, "session"):
            await headless.open()
        if prompt is not None:
            with _timed("session/prompt", seconds, "turn"):
                await conversation.prompt([{"type": "text", "text": prompt}])

    conversation.listen(keep)
    try:
        await headless.run(run())
    finally:
        await headless.close()
    return build_report(conversation, records, seconds, failure=headless.failure)


@contextmanager
def _timed(method: str, seconds: dict[str, float], key: str) -> Iterator[None]:
    """Print progress while the block runs. If the block succeeds, store its duration in `seconds[key]`."""
    began = time.monotonic()
    progress = asyncio.create_task(_print_progress(method, began))
    try:
        yield
        seconds[key] = time.monotonic() - began
    finally:
        progress.cancel()


async def _print_progress(method: str, began: float) -> None:
    while True:
        await asyncio.sleep(PROGRESS_INTERVAL_SECONDS)
        waited = time.monotonic() - began
        print_message(f"Still waiting for the answer to {method}, after {waited:.0f} s")
