"""Runs a conversation without a UI for `exec` and `doctor`: sign-in, timeout and signals."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.cli.conversation_setup import ConversationSetup
from acp_tui.cli.options import is_interactive, print_problems
from acp_tui.cli.project_trust import mcp_servers_named, wide_workspace
from acp_tui.console import discard_stdout, print_message
from acp_tui.controller import Conversation, SignInNeeded, sign_in_command
from acp_tui.errors import UsageError, UserError

if TYPE_CHECKING:
    import argparse


CANCEL_GRACE_SECONDS = 5.0
"""Seconds an agent has to end the turn after Ctrl+C or SIGINT, if nobody can press Ctrl+C again."""
TIMEOUT_GRACE_SECONDS = 2.0
"""Seconds an agent has to end the turn after the turn was cancelled because of --timeout."""


MAX_UNREST_SECONDS = 3.0
"""The longest wait for an agent to become quiet before the prompt is sent."""


def _require_narrow_workspace(cwd: Path) -> None:
    """Raise `UserError` for the home directory and folders above: the user must confirm these with --cwd."""
    if what := wide_workspace(cwd):
        raise UsageError(
            f"The workspace would be {what}; change to a project folder, or confirm with --cwd {cwd}."
        )


class OutputBlockedError(OSError):
    """A signal interrupted a write, which may have been blocked because nobody reads the output."""


class HeadlessRun:
    """One conversation without a UI, with timeout and signal handling."""

    def __init__(
        self,
        args: argparse.Namespace,
        agent: str | None,
        *,
        terminal_sign_in: bool | None = None,
        own_tools: bool = True,
        say: Callable[[str], None] = print_message,
    ) -> None:
        """Create the conversation.

        Args:
            args: The arguments of the command.
            agent: The agent's name; None if the arguments name it otherwise.
            terminal_sign_in: Whether sign-in methods that need a terminal can be used.
            own_tools: If False, the agent never gets acp-tui's own MCP server.
            say: Prints a sentence about the settings or the workspace.
        """
        self._args = args
        if args.cwd is None and not getattr(args, "resume", None):
            _require_narrow_workspace(Path.cwd())
        declared = is_interactive() if terminal_sign_in is None else terminal_sign_in
        self._setup = ConversationSetup(args, agent, policy="deny", terminal_sign_in=declared)
        if not own_tools:
            self._setup.app_context.settings.own_server.enabled = False
        self.conversation: Conversation = self._setup.conversation
        self.failure: str | None = None
        self.stderr_tail: list[str] = []
        """The last lines of the agent's stderr before a failure, safe to display."""
        self.stopped_by: int | None = None  # the signal that ended the run
        self.who = "the agent"
        """What messages call the agent."""
        self.before_message: Callable[[], None] = lambda: None
        """Called before a message is printed during the run."""
        self.printing = False
        """True while output is being written, so that a signal can interrupt a write that blocks."""
        self._interruptions = 0
        self._work: asyncio.Task[None] | None = None
        self._cancelling: asyncio.Task[None] | None = None
        self._timers: list[asyncio.TimerHandle] = []
        print_problems(self._setup.app_context.settings, say)
        for notice in [*self._setup.app_context.notices, *self._setup.take_notices()]:
            say(notice)
        if not args.trust_folder:
            self._leave_out_servers(say)

    def _leave_out_servers(self, say: Callable[[str], None]) -> None:
        """Leave out the folder's MCP servers, because the folder is not trusted."""
        if names := self._setup.project.trust_nothing():
            self._setup.use_project_servers()
            left_out = mcp_servers_named(names)
            say(f"Left out because this folder is not trusted: {left_out} (use --trust-folder).")

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

    async def wait_until_quiet(self, seconds: float) -> None:
        """Wait until the agent has sent nothing for so long, for at most `MAX_UNREST_SECONDS`."""
        clock = asyncio.get_running_loop().time
        session, end = self.conversation.session, clock() + MAX_UNREST_SECONDS
        heard_at: float | None = None
        while heard_at != session.heard_at and clock() < end:
            heard_at = session.heard_at
            await asyncio.sleep(seconds)

    async def apply_options(self) -> None:
        """Set the mode and options given on the command line."""
        await self._setup.apply_options()

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
        command, env = sign_in_command(self.conversation.launch, method)
        ended = await asyncio.to_thread(
            subprocess.run, command, env={**os.environ, **env}, cwd=self.conversation.cwd, check=False
        )
        if ended.returncode != 0:
            raise UserError(f'Sign-in method "{method.name}" failed (exit code {ended.returncode}).')
        await self.conversation.reconnect()

    # ---- running

    async def run(self, work: Coroutine[None, None, None], *, handle_signals: bool = True) -> None:
        """Await `work` with timeout and signal handlers. A `UserError` is stored in `failure`, not raised.

        If `handle_signals` is False, the caller has created `EndSignals`.
        """
        if handle_signals:
            EndSignals([self])
        if self._args.timeout is not None:
            self._call_later(self._args.timeout, self._on_timeout)
        await self.finish(work)

    async def finish(self, work: Coroutine[None, None, None]) -> None:
        """Await `work` without a timeout. Signals can still interrupt `work`."""
        self._work = asyncio.create_task(work)
        try:
            await self._work
        except UserError as error:
            self.failure = self.failure or str(error)
            self.stderr_tail = getattr(error, "stderr_tail", [])
        except asyncio.CancelledError:
            self.failure = self.failure or "Stopped."
        for timer in self._timers:
            timer.cancel()

    def handle_output_error(self, error: OSError) -> None:
        """Stop the run because the output cannot be written."""
        if isinstance(error, OutputBlockedError):  # the loop's signal handler stops the run
            _, writable, _ = select.select([], [sys.stdout], [], 0)
            if not writable:  # otherwise the result can still be printed
                discard_stdout()
            return
        discard_stdout()
        if isinstance(error, BrokenPipeError):
            self.stopped_by = signal.SIGPIPE
        else:
            self.failure = self.failure or f"Cannot write the output: {error.strerror}."
        self._abort()

    async def close(self) -> None:
        """Close the conversation and prune old sessions."""
        await self.conversation.close()
        if self._setup.worktree_lock is not None:
            self._setup.worktree_lock.release()
        self._setup.app_context.prune()

    # ---- stopping

    def unblock(self, number: int) -> None:
        """Interrupt a blocked write, during which the loop's own handlers cannot run."""
        self._interruptions += number == signal.SIGINT
        if self.printing and (number != signal.SIGINT or self._interruptions > 1):
            raise OutputBlockedError

    def interrupt(self) -> None:
        """Cancel the running turn. If there is none, or on a second interrupt, stop at once."""
        first = self.stopped_by is None
        self.stopped_by = signal.SIGINT
        if first and self.conversation.session.working:
            self._cancelling = asyncio.create_task(self._cancel())
            self.before_message()
            if sys.stdin.isatty():
                print_message(f"Asked {self.who} to stop; Ctrl+C again ends it.")
            else:
                print_message(f"Asked {self.who} to stop; it has {CANCEL_GRACE_SECONDS:g} s.")
                self._call_later(CANCEL_GRACE_SECONDS, self._on_ignored_cancel)
        else:
            self._abort()

    def _on_ignored_cancel(self) -> None:
        self.failure = f"The agent did not stop within {CANCEL_GRACE_SECONDS:g} s."
        self._abort()

    def end(self, number: int) -> None:
        """Stop at once, because of a signal."""
        self.stopped_by = number
        self._abort()

    def _on_timeout(self) -> None:
        silence = self.conversation.explain_silence()
        self.failure = f"Timed out after {self._args.timeout:g} s. {silence}".rstrip()
        if self.conversation.session.working:
            self._cancelling = asyncio.create_task(self._cancel())
            self.before_message()
            print_message(f"Asked {self.who} to stop after {self._args.timeout:g} s (--timeout).")
            self._call_later(TIMEOUT_GRACE_SECONDS, self._abort)
        else:
            self._abort()

    def _call_later(self, seconds: float, call: Callable[[], None]) -> None:
        self._timers.append(asyncio.get_running_loop().call_later(seconds, call))

    def _abort(self) -> None:
        if self._work is not None:
            self._work.cancel()

    async def _cancel(self) -> None:
        """Ask the agent to stop the turn. Errors are ignored: their cause makes the turn itself fail, too."""
        with suppress(UserError):
            await self.conversation.cancel()


class EndSignals:
    """Handles SIGINT, SIGTERM and SIGHUP for one or several runs until the process ends."""

    def __init__(self, runs: Sequence[HeadlessRun]) -> None:
        """`runs` may grow later. Call this in the event loop."""
        self._runs = runs
        self.received: int | None = None
        """The last signal."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._on_signal, number)
            signal.signal(number, self._unblock)  # the loop gets signals through its wakeup fd as well

    def _on_signal(self, number: int) -> None:
        self.received = number
        for run in self._runs:
            if number == signal.SIGINT:
                run.interrupt()
            else:
                run.end(number)

    def _unblock(self, number: int, _frame: object) -> None:
        for run in self._runs:
            run.unblock(number)
