"""Runs checks of the conformance suite on an agent that follows the protocol except for one fault."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from acp_tui.config.agent_catalogue import Launch
from acp_tui.doctor.suite.bench import Bench
from acp_tui.doctor.suite.runner import run_checks, select_checks
from tests.fake_agents.concurrent_agent import PROMPTS
from tests.support.connection import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from acp_tui.doctor.suite.runner import Result


def check_agent(
    names: list[str],
    folder: Path,
    *faults: str,
    module: str = "concurrent_agent",
    prompts: Mapping[str, str] = PROMPTS,
    timeout: float = 30,
    sign_in: str | None = None,
) -> list[Result]:
    """Return the results of some checks. Faults of the agent are named after the checks that they break."""
    command = [sys.executable, "-m", f"tests.fake_agents.{module}", *faults]
    launch = Launch(module, module, command, {"PYTHONPATH": str(REPOSITORY)})
    scratch = folder.resolve() / "scratch"
    scratch.mkdir()
    bench = Bench(launch, cwd=str(folder), scratch=scratch, timeout=timeout, prompts=prompts, sign_in=sign_in)

    async def run() -> list[Result]:
        try:
            return await run_checks(bench, select_checks(names), lambda *_: None)
        finally:
            await bench.close()

    return asyncio.run(run())
