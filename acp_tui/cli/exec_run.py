"""The run of one `exec`: from the agent's start to the result."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.cli.config import point_at_problems
from acp_tui.cli.exec import CANCELLED, FAILED, OK, OTHER_STOP
from acp_tui.cli.exec_output import OUTPUTS
from acp_tui.cli.exec_result import Decisions, result_of
from acp_tui.connection.logs import log_to_file
from acp_tui.controller import Conversation, Options, SignInNeeded, set_mode, set_option, terminal_command
from acp_tui.errors import UserError
from acp_tui.permissions.decide import POLICIES
from acp_tui.permissions.spec import parse_spec
from acp_tui.session.text import visible_line
from acp_tui.workbench import Workbench

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from acp_tui.agents.launch import Launch
    from acp_tui.permissions.decide import Policy
    from acp_tui.session.change import Change
    from acp_tui.session.events import Event
    from acp_tui.session.record import Record
    from acp_tui.store.folders import StoredSession

FLUSHED_AFTER = 0.05
"""Seconds after which text that came is brought out, however it comes."""
GRACE = 5.0
"""Seconds an agent has to end a turn that took too long."""


class Run:
    """One prompt to one agent."""

    def __init__(self, args: argparse.Namespace, agent: str | None, prompt: str) -> None:
        self._args = args
        self._agent = agent
        self._prompt = prompt
        self._output = OUTPUTS[args.output](sys.stdout)
        self._decisions = Decisions()
        self._flush: asyncio.TimerHandle | None = None
        self._work: asyncio.Task[None] | None = None
        self._cancelling: asyncio.Task[None] | None = None
        self._stopped_by: int | None = None  # the signal that ends us
        self._failure: str | None = None

    async def main(self) -> int:
        """All of it; the exit code."""
        log_to_file()
        workbench = Workbench.open(Path(self._args.cwd or "."))
        stored = workbench.stored(self._args.resume) if self._args.resume else None
        launch = self._launch(workbench, stored)
        options = self._options(workbench, launch, stored)
        conversation = workbench.conversation(launch, options, keep_log=not self._args.no_log, resumed=stored)
        point_at_problems(workbench.settings)
        for notice in workbench.notices:
            print(f"acp-tui: {visible_line(notice)}", file=sys.stderr)
        conversation.listen(self._see)
        self._listen_to_signals(conversation)
        try:
            await self._until_done(conversation, stored)
            self._output.end(await result_of(conversation, self._decisions, self._failure))
        finally:
            await conversation.close()
            workbench.prune()
        return self._exit_code(conversation)

    # ---- what to run

    def _launch(self, workbench: Workbench, stored: StoredSession | None) -> Launch:
        if self._agent is None and self._args.program is None and stored is not None:
            return workbench.launch(stored.text("agent"))
        return workbench.launch(self._agent, self._args.program)

    def _options(self, workbench: Workbench, launch: Launch, stored: StoredSession | None) -> Options:
        cwd, directories = self._args.cwd, [path.absolute() for path in self._args.add_dir]
        if stored is not None:
            cwd = cwd or stored.text("cwd")
            directories = directories or [Path(path) for path in stored.meta.get("directories") or []]
        elif cwd is None and launch.name == "demo":
            from acp_tui.demo.sample import make_project

            cwd = make_project()
        rules = [parse_spec(text, "allow", agent=launch.name) for text in self._args.allow]
        rules += [parse_spec(text, "reject", agent=launch.name) for text in self._args.reject]
        return Options(
            cwd=Path(cwd or ".").absolute(),
            directories=[*workbench.settings.workspace.additional_directories, *directories],
            policy=self._policy(workbench.settings.policy),
            run_rules=rules,
            servers=workbench.servers(self._args.mcp_config),
            terminal_sign_in=_at_a_terminal(),
        )

    def _policy(self, setting: str | None) -> Policy:
        wanted = self._args.policy or setting
        return next((policy for policy in POLICIES if policy == wanted), "deny")

    # ---- running

    async def _until_done(self, conversation: Conversation, stored: StoredSession | None) -> None:
        self._work = asyncio.create_task(self._turn(conversation, stored))
        if self._args.timeout is not None:
            asyncio.get_running_loop().call_later(self._args.timeout, self._time_is_up, conversation)
        try:
            await self._work
        except UserError as error:
            self._failure = self._failure or str(error)
        except asyncio.CancelledError:
            self._failure = self._failure or "The run was stopped."
        self._output.flush()
        if self._failure:
            print(f"acp-tui: {visible_line(self._failure)}", file=sys.stderr)

    async def _turn(self, conversation: Conversation, stored: StoredSession | None) -> None:
        await conversation.start()
        await self._open(conversation, stored)
        if self._args.mode:
            await set_mode(conversation, self._args.mode)
        for pair in self._args.set:
            key, _, value = pair.partition("=")
            await set_option(conversation, key, value)
        await conversation.prompt([{"type": "text", "text": self._prompt}])

    async def _open(self, conversation: Conversation, stored: StoredSession | None) -> None:
        try:
            await self._open_once(conversation, stored)
        except SignInNeeded as need:
            if not self._args.sign_in:
                raise UserError(f"{need} Give one with --sign-in.") from None
            await self._sign_in(conversation, need)
            await self._open_once(conversation, stored)

    async def _open_once(self, conversation: Conversation, stored: StoredSession | None) -> None:
        known = stored.text("session_id") if stored is not None else self._args.resume
        await (conversation.open_known(known) if known else conversation.open_new())

    async def _sign_in(self, conversation: Conversation, need: SignInNeeded) -> None:
        wanted = self._args.sign_in
        method = next((method for method in need.methods if wanted in (method.id, method.name)), None)
        if method is None:
            raise UserError(f"There is no way to sign in called {wanted!r}. {need}")
        if method.kind != "terminal":
            await conversation.sign_in(method.id)
            return
        if not _at_a_terminal():
            raise UserError(f"{method.name} needs a terminal: run this command in one.")
        command, env = terminal_command(conversation.launch, method)
        ended = await asyncio.to_thread(subprocess.run, command, env={**os.environ, **env}, check=False)
        if ended.returncode != 0:
            raise UserError(f"{method.name} did not succeed (exit code {ended.returncode}).")
        await conversation.reconnect()

    # ---- what comes back

    def _see(self, record: Record, events: Sequence[Event], changes: Sequence[Change]) -> None:
        for event in events:
            self._decisions.see(event)
        self._output.see(record, events, changes)
        if self._flush is None:
            self._flush = asyncio.get_running_loop().call_later(FLUSHED_AFTER, self._flush_now)

    def _flush_now(self) -> None:
        self._flush = None
        self._output.flush()

    # ---- being stopped

    def _listen_to_signals(self, conversation: Conversation) -> None:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._interrupted, conversation)
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._ended, number)

    def _interrupted(self, conversation: Conversation) -> None:
        """Ctrl+C: politely while a turn runs, at once when there is none or for the second time."""
        first = self._stopped_by is None
        self._stopped_by = signal.SIGINT
        if first and conversation.session.working:
            self._cancelling = asyncio.create_task(_cancel(conversation))
        else:
            self._give_up()

    def _ended(self, number: int) -> None:
        self._stopped_by = number
        self._give_up()

    def _time_is_up(self, conversation: Conversation) -> None:
        self._failure = f"The turn took longer than {self._args.timeout:g} s and was cancelled."
        self._cancelling = asyncio.create_task(_cancel(conversation))
        asyncio.get_running_loop().call_later(GRACE, self._give_up)

    def _give_up(self) -> None:
        if self._work is not None:
            self._work.cancel()

    def _exit_code(self, conversation: Conversation) -> int:
        if self._stopped_by is not None:
            return CANCELLED if self._stopped_by == signal.SIGINT else 128 + self._stopped_by
        if self._failure is not None:
            return FAILED
        return OK if conversation.session.stop_reason == "end_turn" else OTHER_STOP


async def _cancel(conversation: Conversation) -> None:
    """Ask the agent to stop; when it is gone, that is told elsewhere."""
    with suppress(UserError):
        await conversation.cancel()


def _at_a_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()
