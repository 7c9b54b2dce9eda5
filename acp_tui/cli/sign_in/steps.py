"""The steps of signing in to an agent, and of signing out."""

from __future__ import annotations

import os
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.app_context import AppContext
from acp_tui.cli.options import USAGE
from acp_tui.cli.sign_in.agent_account import AgentAccount
from acp_tui.cli.sign_in.dialogue import SignInDialogue, has_terminal, method_named
from acp_tui.console.log_file import log_to_file
from acp_tui.controller import failed_program_sentence, sign_in_command, unusable_method_sentence
from acp_tui.errors import UserError
from acp_tui.session.text.safe_text import visible_line
from acp_tui.ui.terminal.suspend import run_program

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from acp_tui.session.state import AuthMethod


async def sign_in(
    agent: str | None, program: str | None, wanted: str | None
) -> tuple[AgentAccount, AuthMethod]:
    """Sign in to an agent, by the method `wanted` if given. Raises `UserError` if the sign-in fails."""
    dialogue = SignInDialogue()
    async with _running(agent, program, dialogue) as account:
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


async def sign_out(agent: str | None, program: str | None) -> AgentAccount:
    """Sign out of an agent. Raises `UserError` if the sign-out fails or the agent does not offer one."""
    async with _running(agent, program, SignInDialogue()) as account:
        await account.sign_out()
        return account


@asynccontextmanager
async def _running(
    agent: str | None, program: str | None, dialogue: SignInDialogue
) -> AsyncIterator[AgentAccount]:
    log_to_file()
    cwd = Path.cwd()
    launch = AppContext.open(cwd).launch(agent, program)
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
        raise UserError(f'Sign-in method "{method.name}" needs a terminal.', exit_code=USAGE)
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
        raise UserError(f"{visible_line(command[0])}: {error.strerror or error}") from None
    if code != 0:
        raise UserError(failed_program_sentence(method, code))
