"""Compares agents without a screen, and prints what each has done as one JSON object."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from acp_tui.cli.exec_run import MAX_STDERR_LINES, JsonOutput, OutputListener, RunLog, build_result, run_turn
from acp_tui.cli.headless import EndSignals, HeadlessRun
from acp_tui.cli.options import CANCELLED, FAILED, OK, OTHER_STOP
from acp_tui.console import content_stream, print_json, print_message
from acp_tui.controller.comparison import ComparedAgent, work_of
from acp_tui.entry_kinds.plain_text import last_output_lines
from acp_tui.errors import UserError
from acp_tui.workspace.git.worktree_finishing import remove_worktree, worktree_status

if TYPE_CHECKING:
    import argparse

    from acp_tui.session.state import Terminal
    from acp_tui.workspace.git.worktree import Worktree


class AgentRun:
    """The turn of one agent, the check of its work, and the end of its worktree."""

    def __init__(self, name: str, headless: HeadlessRun, check: str, check_seconds: float | None) -> None:
        self.name = headless.who = name
        self.headless = headless
        self._conversation = headless.conversation
        self._compared = ComparedAgent(name, check, check_seconds)
        self._compared.attach(self._conversation)
        self._run_log = RunLog()
        output = JsonOutput(content_stream(), self._conversation.session, f"{name}: ")
        self._conversation.listen(OutputListener(output, self._run_log, headless))
        self._result: dict[str, Any] = {"error": {"message": "Stopped."}}  # if it ends before there is one

    async def carry_out(self, prompt: str) -> None:
        """Send the prompt, and wait until the turn has ended and its result is known."""
        headless = self.headless
        await headless.run(run_turn(headless, prompt), handle_signals=False)
        if headless.failure is not None:
            print_message(f"{self.name}: {headless.failure}", headless.stderr_tail[-MAX_STDERR_LINES:])
        if headless.stopped_by != signal.SIGPIPE:
            await headless.finish(self._inspect(headless.failure))

    async def _inspect(self, failure: str | None) -> None:
        self._result = await build_result(self._conversation, self._run_log, failure)
        await self._compared.inspected()

    async def close(self, *, keep: bool) -> dict[str, Any]:
        """End the agent, keep or remove the worktree, and return what the agent has done."""
        work = work_of(self._conversation.session, time.time())
        await self.headless.close()
        worktree = self._conversation.options.worktree
        assert worktree is not None
        is_kept = await asyncio.to_thread(self._is_kept, worktree, keep=keep)
        return {
            "name": self.name,
            **self._result,
            "seconds": round(work.seconds, 3),
            "questions": work.questions,
            "check": _check(self._compared.check_result),
            "worktree": {
                "path": str(worktree.path),
                "branch": worktree.branch,
                "commit": worktree.base,
                "kept": is_kept,
            },
        }

    def _is_kept(self, worktree: Worktree, *, keep: bool) -> bool:
        """Remove the worktree if it is unchanged or not to be kept. Return whether it was kept."""
        try:
            status = worktree_status(worktree)
            if not (keep and not status.is_unchanged):
                remove_worktree(worktree, finished=not status.is_unchanged)
                return False
        except UserError as error:
            print_message(f"{self.name}: {error}")
        session = self._conversation.folder.id
        resume = f"; resume with `acp-tui --resume {session}`" if session is not None else ""
        print_message(f"{self.name}: kept the worktree {worktree.path}{resume}")
        return True


def _check(result: Terminal | None) -> dict[str, Any] | None:
    if result is None:
        return None
    return {
        "exitCode": result.exit_code,
        "signal": result.signal,
        "output": "\n".join(last_output_lines(result.output)),
    }


async def execute(
    contestants: Sequence[tuple[str, str | None, argparse.Namespace]],
    prompt: str,
    *,
    check: str,
    keeps: Callable[[str], bool],
) -> int:
    """Compare agents and return the exit code.

    Args:
        contestants: For each agent a unique name, its name in the catalogue, and the arguments.
        prompt: The prompt for all of them.
        check: The command that checks their work; empty for none.
        keeps: Called with the name of an agent: whether its worktree is to be kept.
    """
    headless: list[HeadlessRun] = []
    runs: list[AgentRun] = []
    said: set[str] = set()

    def say(sentence: str) -> None:
        """Print a sentence, unless it was printed for another agent."""
        if sentence not in said:
            said.add(sentence)
            print_message(sentence)

    signals = EndSignals(headless)
    try:
        for name, agent, args in contestants:
            made = await asyncio.to_thread(HeadlessRun, args, agent, say=say)
            headless.append(made)
            runs.append(AgentRun(name, made, check, args.timeout))
            if signals.received is not None:
                break
        else:
            await asyncio.gather(*(run.carry_out(prompt) for run in runs))
    finally:
        rows = await asyncio.gather(*(run.close(keep=keeps(run.name)) for run in runs))
    if any(run.stopped_by == signal.SIGPIPE for run in headless):
        return 128 + signal.SIGPIPE
    print_json({"prompt": prompt, "check": check or None, "agents": rows})
    if signals.received is not None:
        return CANCELLED if signals.received == signal.SIGINT else 128 + signals.received
    if any(run.failure is not None for run in headless):
        return FAILED
    reasons = {run.conversation.session.stop_reason for run in headless}
    return OK if reasons == {"end_turn"} else OTHER_STOP
