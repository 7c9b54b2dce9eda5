"""A conversation without a UI: opening, sign-in, timeout and signals. Used by `exec` and `doctor`."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.agents import catalogue
from acp_tui.cli.conversation_setup import ConversationSetup
from acp_tui.cli.options import USAGE, is_interactive
from acp_tui.cli.start_questions import wide_workspace
from acp_tui.console.streams import discard_stdout
from acp_tui.controller import SignInNeeded, terminal_command
from acp_tui.errors import UserError
from acp_tui.session.text import visible_line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Coroutine, Sequence

    from acp_tui.config.settings import Settings
    from acp_tui.controller import Conversation

MAX_PROBLEMS = 5
"""At most so many problems of the settings are printed."""
CANCEL_GRACE_SECONDS = 5.0
"""Seconds an agent has to end its turn after a timeout."""


def _refuse_wide_workspace(cwd: Path) -> None:
    """Raise `UserError` if the root or the home directory would become the workspace without being named."""
    if what := wide_workspace(cwd):
        raise UserError(
            f"the workspace would be {what}; change to a project folder, or confirm with --cwd {cwd}.",
            exit_code=USAGE,
        )


class OutputBlockedError(OSError):
    """A signal ended a write that was blocked because nobody reads the output."""


class HeadlessRun:
    """One conversation without a UI, with timeout and signal handling."""

    def __init__(
        self, args: argparse.Namespace, agent: str | None, *, terminal_sign_in: bool | None = None
    ) -> None:
        self._args = args
        if args.cwd is None and not getattr(args, "resume", None):
            _refuse_wide_workspace(Path.cwd())
        declared = is_interactive() if terminal_sign_in is None else terminal_sign_in
        self._setup = ConversationSetup(args, agent, policy="deny", terminal_sign_in=declared)
        self.conversation: Conversation = self._setup.conversation
        self.failure: str | None = None
        self.last_words: list[str] = []
        """The agent's last lines on stderr before it failed, safe to display."""
        self.stopped_by: int | None = None  # the signal that ended the run
        self.printing = False
        """True while output is written; a write blocks while nobody reads it."""
        self._interruptions = 0
        self._work: asyncio.Task[None] | None = None
        self._cancelling: asyncio.Task[None] | None = None
        self._timers: list[asyncio.TimerHandle] = []
        for sentence in (*_problems(self._setup.workbench.settings), *self._setup.workbench.notices):
            print_error(sentence)

    # ---- opening

    async def open(self) -> None:
        """Open the session. Sign in first if the agent requires it and --sign-in is given."""
        try:
            await self._setup.open()
        except SignInNeeded as need:
            if not self._args.sign_in:
                raise UserError(f"{need} Use --sign-in METHOD.") from None
            await self._sign_in(need)
            await self._setup.open()

    async def choose(self) -> None:
        """Set the mode and options given on the command line."""
        await self._setup.choose()

    async def _sign_in(self, need: SignInNeeded) -> None:
        wanted = self._args.sign_in
        method = next((method for method in need.methods if wanted in (method.id, method.name)), None)
        if method is None:
            raise UserError(f"Unknown sign-in method {wanted!r}. {need}")
        if method.kind != "terminal":
            await self.conversation.sign_in(method.id)
            return
        if not is_interactive():
            raise UserError(f'Sign-in method "{method.name}" needs a terminal.')
        command, env = terminal_command(self.conversation.launch, method)
        ended = await asyncio.to_thread(subprocess.run, command, env={**os.environ, **env}, check=False)
        if ended.returncode != 0:
            raise UserError(f'Sign-in method "{method.name}" failed (exit code {ended.returncode}).')
        await self.conversation.reconnect()

    # ---- working

    async def work(self, work: Coroutine[None, None, None]) -> None:
        """Await `work` with the timeout and signal handlers. Errors are stored in `failure`, not raised."""
        self._listen_to_signals()
        if self._args.timeout is not None:
            self._later(self._args.timeout, self._time_is_up)
        await self.finish(work)

    async def finish(self, work: Coroutine[None, None, None]) -> None:
        """Await `work` without a timeout; signals can still interrupt it."""
        self._work = asyncio.create_task(work)
        try:
            await self._work
        except UserError as error:
            self.failure = self.failure or str(error)
            self.last_words = getattr(error, "stderr_tail", [])
        except asyncio.CancelledError:
            self.failure = self.failure or "Stopped."
        for timer in self._timers:
            timer.cancel()

    def output_lost(self, error: OSError) -> None:
        """Stop the run because the output cannot be written."""
        discard_stdout()
        if isinstance(error, OutputBlockedError):
            return  # the signal handler of the loop runs, too
        if isinstance(error, BrokenPipeError):
            self.stopped_by = signal.SIGPIPE
        else:
            self.failure = self.failure or f"Cannot write the output: {error.strerror}."
        self._give_up()

    async def close(self) -> None:
        """Close the conversation and prune old sessions."""
        await self.conversation.close()
        self._setup.workbench.prune()

    # ---- being stopped

    def _listen_to_signals(self) -> None:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._interrupted)
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._ended, number)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._unblock)  # the loop gets signals through its wakeup fd as well

    def _unblock(self, number: int, _frame: object) -> None:
        """Interrupt a blocked write: the loop's own handlers cannot run meanwhile."""
        self._interruptions += number == signal.SIGINT
        if self.printing and (number != signal.SIGINT or self._interruptions > 1):
            raise OutputBlockedError

    def _interrupted(self) -> None:
        """Handle Ctrl+C: cancel a running turn; stop at once without one, or the second time."""
        first = self.stopped_by is None
        self.stopped_by = signal.SIGINT
        if first and self.conversation.session.working:
            self._cancelling = asyncio.create_task(self._cancel())
        else:
            self._give_up()

    def _ended(self, number: int) -> None:
        self.stopped_by = number
        self._give_up()

    def _time_is_up(self) -> None:
        self.failure = f"Timed out after {self._args.timeout:g} s."
        if self.conversation.session.working:
            self._cancelling = asyncio.create_task(self._cancel())
            self._later(CANCEL_GRACE_SECONDS, self._give_up)
        else:
            self._give_up()

    def _later(self, seconds: float, call: Callable[[], None]) -> None:
        self._timers.append(asyncio.get_running_loop().call_later(seconds, call))

    def _give_up(self) -> None:
        if self._work is not None:
            self._work.cancel()

    async def _cancel(self) -> None:
        """Ask the agent to stop. An agent that is gone is reported elsewhere."""
        with suppress(UserError):
            await self.conversation.cancel()


def print_error(sentence: str, context: Sequence[str] = ()) -> None:
    """Print an error to stderr, followed by indented lines of context."""
    print(f"acp-tui: {visible_line(sentence)}", file=sys.stderr, flush=True)
    for line in context:
        print(f"  │ {visible_line(line)}", file=sys.stderr, flush=True)


def _problems(settings: Settings) -> list[str]:
    found = [str(problem) for problem in catalogue.settings_problems(settings)]
    if len(found) > MAX_PROBLEMS:
        more = len(found) - MAX_PROBLEMS
        noun = "problem" if more == 1 else "problems"
        found[MAX_PROBLEMS:] = [f"{more} more {noun} in the settings; run `acp-tui config check`."]
    return found
