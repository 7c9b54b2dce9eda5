"""The dialogue of `acp-tui login` on stderr: the list of methods, questions, and what the agent says."""

from __future__ import annotations

import codecs
import shlex
import sys
from typing import TYPE_CHECKING

from acp_tui.cli.mcp_client.line_reader import LineReader
from acp_tui.cli.options import CANCELLED, USAGE
from acp_tui.errors import UserError
from acp_tui.session.text.invisible import reveal_line
from acp_tui.session.text.safe_text import visible, visible_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acp_tui.session.state import AuthMethod


def has_terminal() -> bool:
    """Return True if stdin, stdout and stderr are terminals, as questions and sign-in programs require."""
    return sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty()


def method_named(wanted: str, methods: Sequence[AuthMethod], title: str) -> AuthMethod:
    """Return the method with `wanted` as its id, or else as its name. Raises `UserError` if none matches."""
    found = [method for method in methods if method.id == wanted]
    found += [method for method in methods if method.name == wanted]
    if found:
        return found[0]
    listed = "; ".join(f"{visible_line(method.id)} ({method.name})" for method in methods)
    raise UserError(f'{title} has no sign-in method "{wanted}". It offers: {listed}.', exit_code=USAGE)


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
            _print(lead + visible_line(piece.rstrip("\r\n")), end="")
            self._within_line = True
            if piece.endswith("\n"):
                self.say("")

    def say(self, sentence: str) -> None:
        """End the agent's unfinished line, if any, then print the sentence unless it is empty."""
        if self._within_line:
            _print("")
        self._within_line = False
        if sentence:
            _print(sentence)

    async def choose(self, methods: Sequence[AuthMethod], title: str) -> AuthMethod:
        """List the methods and let the user choose one. Raises `UserError` if there is no terminal."""
        self.say(f"{title} offers:")
        for number, method in enumerate(methods, 1):
            _print(f"  {number}. {method.name}  ({visible_line(method.id)})")
            if note := _note(method):
                _print(f"     {note}")
        if not has_terminal():
            raise UserError("Not a terminal: choose a method with --method ID.", exit_code=USAGE)
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
        _print(f"  command      {reveal_line(shlex.join([suggested.command, *suggested.args]))}")
        _print(f"  folder       {reveal_line(cwd)}")
        for name, value in suggested.env.items():
            _print(f"  environment  {reveal_line(f'{name}={value}')}")
        prompt = 'Run it in this terminal? [y/N], or "a" to let the agent sign in by itself: '
        answer = (await self._ask(prompt)).lower()
        if answer not in ("y", "yes", "a"):
            raise UserError("Not run. You are not signed in.")
        return answer != "a"

    async def _ask(self, prompt: str) -> str:
        self.say("")
        _print(prompt, end="")
        line = await self._lines.read_line()
        if line is None:
            _print("")
            raise UserError("The sign-in was cancelled.", exit_code=CANCELLED)
        return line.strip()


def _note(method: AuthMethod) -> str:
    parts = [visible_line(" ".join((method.description or "").split()))]
    if method.way == "terminal":
        parts.append("in this terminal")
    elif method.way == "suggested":
        parts.append("suggests a command, which you see before it runs")
    elif method.way == "unknown":
        parts.append(f"the type {method.kind} is not supported by acp-tui")
    return " · ".join(filter(None, parts))


def _print(text: str, end: str = "\n") -> None:
    print(visible(text), end=end, file=sys.stderr, flush=True)
