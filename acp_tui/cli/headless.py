"""A conversation without a screen: made from the command line, opened, and ended by whatever ends it."""

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
from acp_tui.cli.conversation_setup import Held
from acp_tui.cli.options import USAGE, at_a_terminal
from acp_tui.cli.start_questions import wide_workspace
from acp_tui.cli.streams import forget_output
from acp_tui.controller import SignInNeeded, terminal_command
from acp_tui.errors import UserError
from acp_tui.session.text import visible_line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Coroutine, Sequence

    from acp_tui.config.settings import Settings
    from acp_tui.controller import Conversation

MOST_PROBLEMS = 5
"""… of the settings are told; a file can be wrong from end to end."""
GRACE = 5.0
"""Seconds an agent has to end a turn that took too long."""


def _refuse_wide_workspace(cwd: Path) -> None:
    """Nobody can be asked here, so the root or the home directory must be named to become the workspace."""
    if what := wide_workspace(cwd):
        raise UserError(
            f"the workspace would be {what}; change to a project folder, or give --cwd {cwd} if you mean it.",
            exit_code=USAGE,
        )


class OutputBlockedError(OSError):
    """We were told to end while nobody read what is printed."""


class Headless:
    """One conversation of a command."""

    def __init__(
        self, args: argparse.Namespace, agent: str | None, *, terminal_sign_in: bool | None = None
    ) -> None:
        self._args = args
        if args.cwd is None and not getattr(args, "resume", None):
            _refuse_wide_workspace(Path.cwd())
        declared = at_a_terminal() if terminal_sign_in is None else terminal_sign_in
        self._held = Held(args, agent, policy="deny", terminal_sign_in=declared)
        self.conversation: Conversation = self._held.conversation
        self.failure: str | None = None
        self.last_words: list[str] = []
        """What the agent wrote to stderr before it failed, safe to display."""
        self.stopped_by: int | None = None  # the signal that ends us
        self.printing = False
        """Set while output is written, which may block for as long as nobody reads it."""
        self._interruptions = 0
        self._work: asyncio.Task[None] | None = None
        self._cancelling: asyncio.Task[None] | None = None
        self._timers: list[asyncio.TimerHandle] = []
        for sentence in (*_problems(self._held.workbench.settings), *self._held.workbench.notices):
            complain(sentence)

    # ---- opening

    async def open(self) -> None:
        """Open the session, signing in first when that is asked for and allowed."""
        try:
            await self._held.open()
        except SignInNeeded as need:
            if not self._args.sign_in:
                raise UserError(f"{need} Give one with --sign-in.") from None
            await self._sign_in(need)
            await self._held.open()

    async def choose(self) -> None:
        """Set what the command line names."""
        await self._held.choose()

    async def _sign_in(self, need: SignInNeeded) -> None:
        wanted = self._args.sign_in
        method = next((method for method in need.methods if wanted in (method.id, method.name)), None)
        if method is None:
            raise UserError(f"There is no way to sign in called {wanted!r}. {need}")
        if method.kind != "terminal":
            await self.conversation.sign_in(method.id)
            return
        if not at_a_terminal():
            raise UserError(f"The sign-in “{method.name}” needs a terminal: run this command in one.")
        command, env = terminal_command(self.conversation.launch, method)
        ended = await asyncio.to_thread(subprocess.run, command, env={**os.environ, **env}, check=False)
        if ended.returncode != 0:
            raise UserError(f"The sign-in “{method.name}” did not succeed (exit code {ended.returncode}).")
        await self.conversation.reconnect()

    # ---- working

    async def work(self, work: Coroutine[None, None, None]) -> None:
        """Do it until it is done, fails, takes too long or is interrupted; `failure` says what went wrong."""
        self._listen_to_signals()
        if self._args.timeout is not None:
            self._later(self._args.timeout, self._time_is_up)
        await self.finish(work)

    async def finish(self, work: Coroutine[None, None, None]) -> None:
        """What is left to do after the work, which has no time limit but can be interrupted, too."""
        self._work = asyncio.create_task(work)
        try:
            await self._work
        except UserError as error:
            self.failure = self.failure or str(error)
            self.last_words = getattr(error, "stderr_tail", [])
        except asyncio.CancelledError:
            self.failure = self.failure or "The run was stopped."
        for timer in self._timers:
            timer.cancel()

    def output_lost(self, error: OSError) -> None:
        """Nobody reads what is printed any more, or it has no room: there is nothing left to work for."""
        forget_output()
        if isinstance(error, OutputBlockedError):
            return  # the loop hears of the signal, too
        if isinstance(error, BrokenPipeError):
            self.stopped_by = signal.SIGPIPE
        else:
            self.failure = self.failure or f"The output cannot be written: {error.strerror}."
        self._give_up()

    async def close(self) -> None:
        """End everything; room is made for later sessions."""
        await self.conversation.close()
        self._held.workbench.prune()

    # ---- being stopped

    def _listen_to_signals(self) -> None:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._interrupted)
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._ended, number)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._unblock)  # in addition: the loop hears of signals by another way

    def _unblock(self, number: int, _frame: object) -> None:
        """The loop learns of signals only when it gets a turn, and none comes while a write is blocked."""
        self._interruptions += number == signal.SIGINT
        if self.printing and (number != signal.SIGINT or self._interruptions > 1):
            raise OutputBlockedError

    def _interrupted(self) -> None:
        """Ctrl+C: politely while a turn runs; at once when there is none, or for the second time."""
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
        self.failure = f"It took longer than {self._args.timeout:g} s and was cancelled."
        if self.conversation.session.working:
            self._cancelling = asyncio.create_task(self._cancel())
            self._later(GRACE, self._give_up)
        else:
            self._give_up()

    def _later(self, seconds: float, call: Callable[[], None]) -> None:
        self._timers.append(asyncio.get_running_loop().call_later(seconds, call))

    def _give_up(self) -> None:
        if self._work is not None:
            self._work.cancel()

    async def _cancel(self) -> None:
        """Ask the agent to stop; when it is gone, that is told elsewhere."""
        with suppress(UserError):
            await self.conversation.cancel()


def complain(sentence: str, context: Sequence[str] = ()) -> None:
    """One sentence for the user, beside the output, and lines that led to it."""
    print(f"acp-tui: {visible_line(sentence)}", file=sys.stderr, flush=True)
    for line in context:
        print(f"  │ {visible_line(line)}", file=sys.stderr, flush=True)


def _problems(settings: Settings) -> list[str]:
    found = [str(problem) for problem in catalogue.settings_problems(settings)]
    if len(found) > MOST_PROBLEMS:
        more = f"there are {len(found) - MOST_PROBLEMS} more problems in the settings"
        found[MOST_PROBLEMS:] = [f"{more}: `acp-tui config check` tells."]
    return found
