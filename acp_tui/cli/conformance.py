"""`acp-tui doctor AGENT --suite`: runs the conformance suite and prints its report."""

from __future__ import annotations

import asyncio
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.app_context import AppContext
from acp_tui.cli.options import FAILED, OK, print_problems
from acp_tui.console import ConsoleStatusLine, print_json
from acp_tui.doctor.suite.bench import Bench, read_prompts
from acp_tui.doctor.suite.comparison import compare_reports, comparison_lines, read_report
from acp_tui.doctor.suite.junit import junit_xml
from acp_tui.doctor.suite.reports import markdown_lines, suite_report, text_lines
from acp_tui.doctor.suite.runner import FAIL, Result, run_checks, select_checks, write_evidence
from acp_tui.errors import UsageError, UserError, os_errors_reported
from acp_tui.store.log_file import log_to_file

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from acp_tui.config.agent_catalogue import Launch
    from acp_tui.doctor.suite.check_table import Check

UNUSED_OPTIONS = ("prompt", "policy", "allow", "reject", "mcp_config", "add_dir", "trust_folder", "strict")
TIMEOUT_SECONDS = 60.0
"""How long to wait for one answer of the agent, unless --timeout says otherwise."""


def run_suite(args: argparse.Namespace, agent: str | None) -> int:
    """Run the checks and print the report. Return 1 if a check failed."""
    if given := [name for name in UNUSED_OPTIONS if getattr(args, name)]:
        option = given[0].replace("_", "-")
        raise UsageError(f"--{option} cannot be used with --suite, which answers requests itself.")
    if args.protocol not in (None, "1"):
        raise UsageError("--suite checks version 1 of the protocol: leave out --protocol.")
    log_to_file()
    checks = select_checks(args.check)
    earlier = read_report(args.compare) if args.compare else None
    if args.junit and not args.junit.parent.is_dir():  # rather than after the run
        raise UserError(f"{args.junit} cannot be written: there is no folder {args.junit.parent}.")
    prompts = read_prompts(args.prompts) if args.prompts else {}
    context = AppContext.open(Path(args.cwd or "."))
    print_problems(context.settings)
    launch = context.launch(agent, args.program)
    if launch.address is not None:
        raise UsageError("--suite starts the agent again and again: run it on the agent's machine.")
    # Resolved, because agents report real paths.
    scratch = Path(tempfile.mkdtemp(prefix="acp-tui-suite-")).resolve()
    bench = Bench(
        launch,
        cwd=str(Path(args.cwd or ".").absolute()),
        scratch=scratch,
        timeout=args.timeout or TIMEOUT_SECONDS,
        prompts=prompts,
        sign_in=args.sign_in,
    )
    signals: list[int] = []
    try:
        results = asyncio.run(_run(bench, checks, launch, signals))
    except asyncio.CancelledError:
        return 128 + signals[0]
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    if args.evidence:
        write_evidence(results, args.evidence)
    report = suite_report(launch, bench.agent, results, str(args.evidence) if args.evidence else None)
    if args.junit:
        with os_errors_reported(f"{args.junit} cannot be written"):
            args.junit.write_bytes(junit_xml(report))
    changes = compare_reports(earlier, report) if earlier else None
    if args.json:
        print_json({**report, "comparison": changes} if changes else report)
    else:
        lines = markdown_lines(report) if args.markdown else text_lines(report)
        if changes:
            compared = comparison_lines(changes, args.compare)
            lines += ["", "```text", *compared, "```"] if args.markdown else ["", *compared]
        print("\n".join(lines))
    return FAILED if any(result.status == FAIL for result in results) else OK


async def _run(bench: Bench, checks: Sequence[Check], launch: Launch, signals: list[int]) -> list[Result]:
    """Run the checks. A signal to end is appended to `signals`, and raises `CancelledError`."""
    status = ConsoleStatusLine()
    loop, this = asyncio.get_running_loop(), asyncio.current_task()
    began = loop.time()
    assert this is not None

    def stop(number: int) -> None:
        signals.append(number)
        this.cancel()

    for number in (signal.SIGTERM, signal.SIGHUP):  # the event loop itself handles SIGINT
        loop.add_signal_handler(number, stop, number)

    def show(done: int, check: Check) -> None:
        if sys.stderr.isatty():
            place = f"check {done + 1} of {len(checks)}"
            status.show(f"{launch.title}: {place}, {check.name} …", loop.time() - began)

    try:
        return await run_checks(bench, checks, show)
    finally:
        await bench.close()
        status.clear()
