"""The steps of signing in to an agent, and of signing out."""

from __future__ import annotations

import codecs
import os
import shlex
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.app_context import AppContext
from acp_tui.cli.line_reader import LineReader, print_safely
from acp_tui.cli.options import CANCELLED, apply_remote_options
from acp_tui.connection.agent_connection import AgentConnection
from acp_tui.connection.errors import SignInNeeded
from acp_tui.connection.params import SessionSetup
from acp_tui.controller import failed_program_sentence, sign_in_command, unusable_method_sentence
from acp_tui.controller.recorder import Recorder
from acp_tui.errors import Refusal, UsageError, UserError
from acp_tui.session.events import Event, Noise, TextChunk
from acp_tui.session.record import METHOD_NOT_FOUND, Change, Record
from acp_tui.session.safe_text import escape_invisible_line, escape_line
from acp_tui.store.log_file import log_to_file
from acp_tui.store.session_folder import NullFolder
from acp_tui.ui.terminal.suspend import run_program

if TYPE_CHECKING:
    import argparse

    from acp_tui.config.agent_catalogue import Launch
    from acp_tui.session.state import AuthMethod, RequestId, Session

INITIALIZE_SECONDS = 300.0
"""Seconds that the agent may take to start. This is long because the agent may have to be downloaded."""
OPEN_SECONDS = 60.0
DECLINED: dict[str, dict[str, Any]] = {
    "session/request_permission": {"outcome": {"outcome": "cancelled"}},
    "elicitation/create": {"action": "decline"},
}
"""Results, by method, that decline an agent's questions to the user during a sign-in or sign-out.

Requests with other methods are answered with an error.
"""


def has_terminal() -> bool:
    """Return True if stdin, stdout and stderr are terminals, as questions and sign-in programs require."""
    return sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty()


def method_named(wanted: str, methods: Sequence[AuthMethod], title: str) -> AuthMethod:
    """Return the method with `wanted` as its id, or else as its name. Raises `UserError` if none matches."""
    found = [method for method in methods if method.id == wanted]
    found += [method for method in methods if method.name == wanted]
    if found:
        return found[0]
    listed = "; ".join(f"{escape_line(method.id)} ({method.name})" for method in methods)
    raise UsageError(f'{title} has no sign-in method "{wanted}". It offers: {listed}.')


class SignInDialogue:
    """Asks the user on the terminal how to sign in, and prints what the agent says."""

    def __init__(self) -> None:
        self._lines = LineReader()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")  # of the agent's stderr
        self._within_line = False  # the last line of the agent's text or stderr is not complete
        self._within_stderr = False  # the agent's last output was on its stderr

    def agent_stderr(self, block: bytes) -> None:
        """Print a block of the agent's stderr.

        An unfinished line is printed at once, because it can be a question.
        """
        self._print_agent(self._decoder.decode(block), is_stderr=True)

    def agent_text(self, text: str) -> None:
        """Print text from the agent. Continue an unfinished line of earlier text, but not one of stderr."""
        self._print_agent(text, is_stderr=False)

    def _print_agent(self, text: str, *, is_stderr: bool) -> None:
        if is_stderr is not self._within_stderr:
            self.say("")
        self._within_stderr = is_stderr
        for piece in text.splitlines(keepends=True):
            lead = "" if self._within_line else "  │ "
            print_safely(lead + escape_line(piece.rstrip("\r\n")), end="")
            self._within_line = True
            if piece.endswith("\n"):
                self.say("")

    def say(self, sentence: str) -> None:
        """End the agent's unfinished line, if any, then print the sentence unless it is empty."""
        if self._within_line:
            print_safely("")
        self._within_line = False
        if sentence:
            print_safely(sentence)

    async def choose(self, methods: Sequence[AuthMethod], title: str) -> AuthMethod:
        """List the methods and let the user choose one. Raises `UserError` if there is no terminal."""
        self.say(f"{title} offers:")
        for number, method in enumerate(methods, 1):
            print_safely(f"  {number}. {method.name}  ({escape_line(method.id)})")
            if note := _note(method):
                print_safely(f"     {note}")
        if not has_terminal():
            raise UsageError("Not a terminal: choose a method with --method ID.")
        while True:
            answer = await self._ask(f"Sign in with which method? [1-{len(methods)}] ")
            if answer.isdecimal() and 1 <= int(answer) <= len(methods):
                return methods[int(answer) - 1]

    async def may_run(self, method: AuthMethod, cwd: str) -> bool:
        """Show the complete command that the agent suggests, and ask whether to run the command.

        Return True to run the command, False if the agent should sign in by itself. Raises `UserError` if the
        user wants neither.
        """
        assert method.suggested is not None
        suggested = method.suggested
        self.say(
            "The agent suggests this command. It runs with your rights, and no permission rule applies to it."
        )
        print_safely(
            f"  command      {escape_invisible_line(shlex.join([suggested.command, *suggested.args]))}"
        )
        print_safely(f"  folder       {escape_invisible_line(cwd)}")
        for name, value in suggested.env.items():
            print_safely(f"  environment  {escape_invisible_line(f'{name}={value}')}")
        prompt = 'Run it in this terminal? [y/N], or "a" to let the agent sign in by itself: '
        answer = (await self._ask(prompt)).lower()
        if answer not in ("y", "yes", "a"):
            raise UserError("Not run. You are not signed in.")
        return answer != "a"

    async def _ask(self, prompt: str) -> str:
        self.say("")
        print_safely(prompt, end="")
        line = await self._lines.read_line()
        if line is None:
            print_safely("")
            raise UserError("The sign-in was cancelled.", exit_code=CANCELLED)
        return line.strip()


def _note(method: AuthMethod) -> str:
    parts = [escape_line(" ".join((method.description or "").split()))]
    if method.way == "terminal":
        parts.append("in this terminal")
    elif method.way == "suggested":
        parts.append("suggests a command, which you see before it runs")
    elif method.way == "unknown":
        parts.append(f"the type {method.kind} is not supported by acp-tui")
    return " · ".join(filter(None, parts))


class AgentAccount:
    """The user's account with one agent. The messages to and from the agent are not recorded."""

    def __init__(self, launch: Launch, cwd: str, dialogue: SignInDialogue) -> None:
        self.launch = launch
        self.cwd = cwd
        self._dialogue = dialogue
        self._recorder = Recorder(NullFolder())
        self._recorder.listen(self._show_text)
        self._agent: AgentConnection | None = None

    @property
    def session(self) -> Session:
        """The state reported by the agent so far, such as its sign-in methods."""
        return self._recorder.session

    @property
    def methods(self) -> list[AuthMethod]:
        return self.session.agent.auth_methods if self.session.agent is not None else []

    @property
    def _connection(self) -> AgentConnection:
        assert self._agent is not None, "not started"
        return self._agent

    async def start(self) -> None:
        """Start the agent, or start it again."""
        await self.close()
        self._agent = await AgentConnection.start(
            self.launch,
            self.cwd,
            session=self.session,
            observe=self._recorder.observe,
            serve=_serve,
            on_exit=lambda _: None,
            stderr=self._dialogue.agent_stderr,
        )
        capabilities: dict[str, Any] = {}
        if has_terminal() and not self.launch.is_remote:
            capabilities = {"auth": {"terminal": True}, "_meta": {"terminal-auth": True}}
        await self._agent.initialize(capabilities, timeout=INITIALIZE_SECONDS)
        reported = self.session.agent
        if reported is not None and self.launch.title == self.launch.name:  # only the program's name is known
            self.launch.title = self._agent.title = reported.title or reported.name or self.launch.title

    async def sign_in(self, method: AuthMethod) -> None:
        """Let the agent sign in, without a timeout.

        If this call is cancelled, the request to the agent is cancelled, too.
        """
        await self._connection.authenticate(method.id)

    async def sign_out(self) -> None:
        """Sign out. Raises `NotSupported` if the agent does not support signing out."""
        await self._connection.logout()

    async def opens_session(self) -> bool:
        """Open a session as a test. Return False if the agent still requires a sign-in.

        Some agents answer that a sign-in succeeded although it did not.
        """
        try:
            await self._connection.new_session(SessionSetup(self.cwd), timeout=OPEN_SECONDS)
        except SignInNeeded:
            return False
        return True

    def _show_text(self, _record: Record, events: Sequence[Event], _changes: Sequence[Change]) -> None:
        for event in events:
            if isinstance(event, TextChunk):
                self._dialogue.agent_text(event.text)
            elif isinstance(event, Noise):
                self._dialogue.agent_text(f"{event.text}\n")

    async def close(self) -> None:
        """End the agent if it is running. `start` may be called again."""
        if self._agent is not None:
            agent, self._agent = self._agent, None
            await agent.close()


async def _serve(method: str, _params: Any, _request_id: RequestId) -> dict[str, Any]:
    with suppress(KeyError):
        return DECLINED[method]
    raise Refusal(METHOD_NOT_FOUND, f"{method} is not available while signing in")


async def sign_in(args: argparse.Namespace) -> tuple[AgentAccount, AuthMethod]:
    """Sign in to an agent, by the method `args.method` if given. Raises `UserError` if the sign-in fails."""
    dialogue, wanted = SignInDialogue(), args.method
    async with _running(args, dialogue) as account:
        title = account.launch.title
        if not account.methods:
            more = "" if has_terminal() else " Some agents offer methods only on a terminal."
            raise UserError(f"{title} offers no sign-in method. Its documentation says how to sign in.{more}")
        if wanted is not None:
            method = method_named(wanted, account.methods, title)
        else:
            method = await dialogue.choose(account.methods, title)
        await _perform(account, method, dialogue)
        if not await account.opens_session():
            raise UserError(
                f'The sign-in with "{method.name}" had no effect: {title} still requires a sign-in.'
            )
        return account, method


async def sign_out(args: argparse.Namespace) -> AgentAccount:
    """Sign out of an agent. Raises `UserError` if the sign-out fails or the agent does not offer one."""
    async with _running(args, SignInDialogue()) as account:
        await account.sign_out()
        return account


@asynccontextmanager
async def _running(args: argparse.Namespace, dialogue: SignInDialogue) -> AsyncIterator[AgentAccount]:
    log_to_file()
    cwd = Path.cwd()
    launch = AppContext.open(cwd).launch(args.agent, args.program)
    apply_remote_options(args, launch)
    account = AgentAccount(launch, str(cwd), dialogue)
    try:
        await account.start()
        yield account
    finally:
        await account.close()
        dialogue.say("")


async def _perform(account: AgentAccount, method: AuthMethod, dialogue: SignInDialogue) -> None:
    if method.way == "unknown":
        raise UserError(unusable_method_sentence(method))
    if method.way == "terminal" and not has_terminal():
        raise UsageError(f'Sign-in method "{method.name}" needs a terminal.')
    if method.way == "terminal" or (
        method.way == "suggested" and has_terminal() and await dialogue.may_run(method, account.cwd)
    ):
        dialogue.say("")
        await _run(account, method)
        await account.start()  # the agent notices the sign-in only when it starts
        return
    dialogue.say(f"Waiting for {account.launch.title}. Press Ctrl+C to cancel.")
    await account.sign_in(method)


async def _run(account: AgentAccount, method: AuthMethod) -> None:
    command, environment = sign_in_command(account.launch, method)
    try:
        code = await run_program(command, {**os.environ, **environment}, cwd=account.cwd)
    except OSError as error:
        raise UserError(f"{escape_line(command[0])}: {error.strerror or error}") from None
    if code != 0:
        raise UserError(failed_program_sentence(method, code))
