"""The checks of the conformance suite, with an agent that conforms, and with the same agent with a fault."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from acp_tui.config.agent_catalogue import Launch
from acp_tui.doctor.suite.bench import Bench, read_prompts
from acp_tui.doctor.suite.check_table import CHECKS, STORED
from acp_tui.doctor.suite.runner import run_checks, select_checks
from tests.fake_agents import conformant

if TYPE_CHECKING:
    from acp_tui.doctor.suite.runner import Result

REPOSITORY = Path(__file__).parents[2]
PROMPTS = Path(conformant.__file__).with_name("conformant_prompts.toml")
CHECK_SECONDS = 30.0
SHORT_SECONDS = 2.0
"""For faults by which the agent does not answer."""
GROUPS = (
    "messages",
    "handshake",
    "sessions",
    "prompt content",
    "tool calls",
    "permissions",
    "cancel",
    "files",
    "terminals",
    "modes and options",
    STORED,
)
"""The groups of checks that the agent for the faults knows."""
NAMES = [check.name for check in select_checks(GROUPS)]
SILENT_FAULTS = frozenset({"refused-write", "close-cancels"})


def run_suite(folder: Path, fault: str, *names: str, timeout: float = CHECK_SECONDS) -> dict[str, Result]:
    """Return the results of these checks, or of all, by name."""
    (folder / "agent").mkdir()
    (folder / "scratch").mkdir()
    command = [sys.executable, "-m", "tests.fake_agents.conformant", fault]
    launch = Launch("conformant", "conformant", command, env={"PYTHONPATH": str(REPOSITORY)})

    async def run() -> list[Result]:
        bench = Bench(
            launch,
            cwd=str(folder / "agent"),
            scratch=(folder / "scratch").resolve(),
            timeout=timeout,
            prompts=read_prompts(PROMPTS),
        )
        try:
            return await run_checks(bench, select_checks(names), lambda *_: None)
        finally:
            await bench.close()

    return {result.check.name: result for result in asyncio.run(run())}


def test_names_are_unique_and_every_check_has_a_sentence() -> None:
    names = [check.name for check in CHECKS]
    assert len(names) == len(set(names))
    assert len(names) >= 60
    assert all(check.sentence and check.address.startswith("https://") for check in CHECKS)


@pytest.mark.parametrize("check", NAMES)
def test_each_check_fails_on_an_agent_with_the_fault(check: str, tmp_path: Path) -> None:
    timeout = SHORT_SECONDS if check in SILENT_FAULTS else CHECK_SECONDS
    result = run_suite(tmp_path, check, check, timeout=timeout)[check]
    assert (result.status, bool(result.detail)) == ("fail", True), result.detail


def test_an_agent_without_a_fault_passes_every_check(tmp_path: Path) -> None:
    results = run_suite(tmp_path, "", *NAMES).values()
    others = {result.check.name: result.detail for result in results if result.status != "pass"}
    assert others == {"error-object": "the agent sent no error"}
