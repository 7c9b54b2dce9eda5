"""`acp-tui mcp sign-in NAME`: signs in to an HTTP server with the browser, or with client credentials."""

from __future__ import annotations

import asyncio
import json
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from acp_tui.cli.line_reader import LineReader, print_safely
from acp_tui.cli.mcp.server_selection import server_named
from acp_tui.cli.options import CANCELLED, add_file_option, is_yes
from acp_tui.console import wrapped
from acp_tui.errors import UserError
from acp_tui.mcp.sign_in.interaction import AuthorizationUrl, SignInCancelled, SignInInteraction
from acp_tui.session.safe_text import escape_line

if TYPE_CHECKING:
    import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the server")
    about = (
        "read the address of the page where the browser ended up (or the code in that address) from "
        "stdin, even if stdin is not a terminal; implies --no-browser"
    )
    parser.add_argument("--paste", action="store_true", help=about)
    about = "print the sign-in address without opening it"
    parser.add_argument("--no-browser", action="store_true", help=about)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    add_file_option(parser)


def run(args: argparse.Namespace) -> int:
    from acp_tui.mcp.sign_in.actions import sign_in
    from acp_tui.mcp.sign_in.token_store import sign_in_state

    server = server_named(args.name, args.mcp_config)
    name = escape_line(server.name)
    before = sign_in_state(server.url)
    terminal = TerminalSignIn(may_open=not (args.no_browser or args.paste), always_read=args.paste)
    try:
        state = asyncio.run(sign_in(server, terminal.interaction()))
    except KeyboardInterrupt:
        raise UserError(f"The sign-in to {name} was cancelled.", exit_code=CANCELLED) from None
    if args.json:
        facts = {"signed_in": state is not None} | (state.as_json() if state is not None else {})
        print(json.dumps({"name": server.name, "url": server.url, **facts}))
    elif state is None:
        print(f"{name} does not require a sign-in.")
    elif before is not None and before.signed_in_at == state.signed_in_at:
        print(f"{name}: already {state.describe()}.\nSign out first to use another account.")
    else:
        print(f"{name}: {state.describe()}.")
    return 0


class TerminalSignIn:
    """The dialogue of one sign-in.

    Args:
        may_open: Whether to offer to open the address in the browser, if stdin is a terminal.
        always_read: Whether to read a pasted answer from stdin even if stdin is not a terminal.
    """

    def __init__(self, *, may_open: bool, always_read: bool) -> None:
        self._is_terminal = sys.stdin.isatty()
        self._may_open = may_open and self._is_terminal
        self._reads = always_read or self._is_terminal
        self._has_explained = False
        self._prompt = ""  # the prompt on the screen while an answer is read
        self._lines = LineReader()

    def interaction(self) -> SignInInteraction:
        return SignInInteraction(
            show=self._show,
            confirm_open=self._confirm_open,
            read_answer=self._read_answer if self._reads else None,
            confirm_address=self._confirm_address,
            report=self._report,
        )

    async def _show(self, url: AuthorizationUrl) -> None:
        print_safely(f"To sign in to {url.server}, open this address of {url.host} in a browser:\n")
        print_safely(f"{url.url}\n")  # not wrapped, so that it can be copied
        for warning in url.warnings:
            print_safely("\n".join(wrapped(f"Warning: {warning}")) + "\n")

    async def _confirm_open(self, url: AuthorizationUrl) -> bool:
        if not self._may_open:
            return False
        default = "y/N" if url.warnings else "Y/n"
        print_safely(f"Open {url.host} in your browser? [{default}] ", end="")
        word = (await self._read_line()).strip()
        return is_yes(word) or (not word and not url.warnings)

    async def _confirm_address(self, sentence: str) -> bool:
        if not self._is_terminal:
            return False
        print_safely("\n".join(wrapped(escape_line(sentence))))
        print_safely("Send requests there? [y/N] ", end="")
        return is_yes(await self._read_line())

    async def _read_answer(self) -> str:
        if not self._is_terminal:
            return await self._read_line()
        if not self._has_explained:
            self._has_explained = True
            print_safely(
                "Waiting for the browser. If it does not run on this computer, the page after\n"
                "the sign-in will not load: copy its address (or the code in the address) from\n"
                "the browser and paste it here."
            )
        self._prompt = "Address or code (not shown): "
        try:
            with _hidden_input():  # before the prompt, because the user may type as soon as it appears
                print_safely(self._prompt, end="")
                return await self._read_line()
        finally:
            self._prompt = ""
            print_safely("")

    def _report(self, sentence: str) -> None:
        if not self._prompt:
            print_safely(escape_line(sentence))
            return
        print_safely(f"\n{escape_line(sentence)}")
        print_safely(self._prompt, end="")

    async def _read_line(self) -> str:
        """Return the next line of stdin. Raises `SignInCancelled` at the end of stdin."""
        line = await self._lines.read_line()
        if line is None:
            raise SignInCancelled("The sign-in was cancelled: there is no more input.")
        return line


@contextmanager
def _hidden_input() -> Iterator[None]:
    """Within the block, turn off echo and line editing. Line editing would limit a line to 4095 bytes."""
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    changed = [*before]
    changed[3] &= ~(termios.ECHO | termios.ICANON)
    termios.tcsetattr(descriptor, termios.TCSADRAIN, changed)
    try:
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
