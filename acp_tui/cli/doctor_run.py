"""Runs `doctor`: starts an agent, opens a session, runs one turn if wanted, and builds the report.

The time limits of single steps are the settings `timeouts`; `--timeout` limits the whole run.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.agents.known_agent import PACKAGE_RUNNERS
from acp_tui.cli.headless import HeadlessRun
from acp_tui.console.messages import StatusLine
from acp_tui.doctor.report import build_report

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from acp_tui.session.change import Change
    from acp_tui.session.events import Event
    from acp_tui.session.record import Record

PROGRESS_DELAY_SECONDS = 3.0
"""Seconds before a line says what doctor waits for."""
QUIET_SECONDS = 0.5
"""Seconds without a message after which the session counts as open: some agents send a banner right after."""


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
        launch = conversation.launch
        is_package = Path(launch.command[0]).name in PACKAGE_RUNNERS
        note = " (the first start downloads it)" if is_package else ""
        with _timed(f"Starting {launch.title} …", seconds, "initialize", note):
            await conversation.start()
        with _timed(f"Opening a session with {launch.title} …", seconds, "session"):
            await headless.open()
        await headless.wait_until_quiet(QUIET_SECONDS)
        if prompt is not None:
            with _timed(f"{launch.title} is working on the prompt …", seconds, "turn"):
                await conversation.prompt([{"type": "text", "text": prompt}])

    conversation.listen(keep)
    try:
        await headless.run(run())
    finally:
        await headless.close()
    return build_report(conversation, records, seconds, failure=headless.failure)


@contextmanager
def _timed(sentence: str, seconds: dict[str, float], key: str, note: str = "") -> Iterator[None]:
    """Say what a slow block waits for. If the block succeeds, store its duration in `seconds[key]`."""
    began = time.monotonic()
    status = StatusLine()
    progress = asyncio.create_task(_show_progress(status, sentence, note, began))
    try:
        yield
        seconds[key] = time.monotonic() - began
    finally:
        progress.cancel()
        status.clear()


async def _show_progress(status: StatusLine, sentence: str, note: str, began: float) -> None:
    await asyncio.sleep(PROGRESS_DELAY_SECONDS)
    while True:
        status.show(sentence, time.monotonic() - began, note)
        await asyncio.sleep(1.0)
