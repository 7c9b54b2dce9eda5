"""`acp-tui doctor`: starts an agent, or reads a log, and reports capabilities and protocol violations."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.cli.headless import HeadlessRun
from acp_tui.cli.options import (
    FAILED,
    OK,
    REPEATABLE,
    add_agent_options,
    add_unattended_options,
    agent_and_prompt,
)
from acp_tui.cli.recordings import find_recording, read_records
from acp_tui.config.agent_catalogue import PACKAGE_RUNNERS
from acp_tui.console import ConsoleStatusLine, print_json
from acp_tui.doctor.report import build_log_report, build_report, report_lines
from acp_tui.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from acp_tui.session.events import Event
    from acp_tui.session.record import Change, Record

PROGRESS_DELAY_SECONDS = 3.0
"""Seconds before a line says what doctor waits for."""
SUITE_OPTIONS = ("check", "prompts", "evidence", "markdown", "junit", "compare")
QUIET_SECONDS = 0.5
"""Seconds without a message after which the session counts as open: some agents send a banner right after."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="*", metavar="AGENT", help="name of the agent")
    add_agent_options(parser)
    add_unattended_options(parser)
    parser.add_argument("--prompt", metavar="TEXT", help="also run one turn and check it")
    parser.add_argument(
        "--strict", action="store_true", help="exit with 1 if the agent violates the protocol"
    )
    parser.set_defaults(resume=None)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    about = "check what was recorded instead of starting an agent: a session's id or folder, or a file"
    parser.add_argument("--log", metavar="SESSION", help=about)
    suite = parser.add_argument_group("conformance suite")
    suite.add_argument("--suite", action="store_true", help="run the named checks of the conformance suite")
    about = "run only this check or this group of checks (repeatable)"
    suite.add_argument("--check", **REPEATABLE, metavar="NAME", help=about)
    suite.add_argument(
        "--prompts", type=Path, metavar="FILE", help="TOML file with a prompt for each purpose"
    )
    about = "write the messages that each check has seen into this folder"
    suite.add_argument("--evidence", type=Path, metavar="DIR", help=about)
    suite.add_argument("--markdown", action="store_true", help="print the report as Markdown")
    suite.add_argument("--junit", type=Path, metavar="FILE", help="also write the report as JUnit XML")
    about = "also say what has changed since an earlier report, which --json has printed"
    suite.add_argument("--compare", type=Path, metavar="FILE", help=about)


def run(args: argparse.Namespace) -> int:
    """Print the report. Return 1 if the agent failed or, with --strict, violates the protocol."""
    agent, extra = agent_and_prompt(args.words, args.program, needed=args.log is None)
    if args.log is not None:
        if agent is not None or args.program is not None or args.suite or args.prompt is not None:
            raise UsageError("--log starts no agent: leave out the agent, --command, --prompt and --suite.")
        return _print_report(args, examine_log(args.log))
    if args.suite:
        from acp_tui.cli.conformance import run_suite

        if extra is not None:
            raise UsageError("--suite has prompts of its own; use --prompts FILE to replace them.")
        return run_suite(args, agent)
    if given := [name for name in SUITE_OPTIONS if getattr(args, name)]:
        raise UsageError(f"--{given[0]} is for the conformance suite; use it with --suite.")
    prompt = args.prompt if args.prompt is not None else extra

    return _print_report(args, asyncio.run(examine(args, agent, prompt)))


def examine_log(reference: str) -> dict[str, Any]:
    """Return the report on a recorded session as JSON data. Raises `UserError`."""
    path = find_recording(reference)
    records, problems = read_records(path)
    return build_log_report(records, str(path), problems)


def _print_report(args: argparse.Namespace, report: dict[str, Any]) -> int:
    """Print the report and return the exit code."""
    if args.json:
        print_json(report)
    else:
        print("\n".join(report_lines(report)))
    failed = report["error"] or (args.strict and report["deviations"])
    return FAILED if failed else OK


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
    status = ConsoleStatusLine()
    progress = asyncio.create_task(_show_progress(status, sentence, note, began))
    try:
        yield
        seconds[key] = time.monotonic() - began
    finally:
        progress.cancel()
        status.clear()


async def _show_progress(status: ConsoleStatusLine, sentence: str, note: str, began: float) -> None:
    await asyncio.sleep(PROGRESS_DELAY_SECONDS)
    while True:
        status.show(sentence, time.monotonic() - began, note)
        await asyncio.sleep(1.0)
