"""Signing in: the user chooses one of the agent's methods."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from acp_tui.errors import UserError
from acp_tui.session.state import Choice
from acp_tui.session.text import visible_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.session.state import AuthMethod
    from acp_tui.ui.conversation.runner import ConversationRunner
    from acp_tui.ui.screens.base import BaseScreen
    from acp_tui.ui.screens.session.context import SessionContext


class SignIn:
    """Asks for a sign-in method and signs in with it."""

    def __init__(
        self,
        screen: BaseScreen,
        runner: ConversationRunner,
        context: SessionContext,
        on_start: Callable[[], None],
    ) -> None:
        """`on_start` is called when the agent starts to sign in by itself, for example in a browser."""
        self._screen = screen
        self._runner = runner
        self._context = context
        self._on_start = on_start

    def offer(self, methods: list[AuthMethod]) -> None:
        """Let the user choose one of these methods, and sign in with it."""
        if methods:
            self._screen.run_worker(self._choose(methods), group="sign in", exclusive=True)

    async def _choose(self, methods: list[AuthMethod]) -> None:
        from acp_tui.ui.screens.dialogs.choose import ChooseScreen

        choices = [Choice(str(n), _title(method), _description(method)) for n, method in enumerate(methods)]
        dialog = ChooseScreen("Choose a sign-in method", choices, self._context.palette)
        chosen = await self._screen.ask(dialog)
        if chosen is None:
            return
        method = methods[int(chosen)]
        if method.kind == "env_var":
            names = ", ".join(map(visible_line, method.vars)) or "the required variables"
            self._screen.notify(
                f"Set {names} in the environment and restart acp-tui.", timeout=10, markup=False
            )
        elif method.kind == "terminal" or method.command:
            await self._run_on_terminal(method)
        else:
            self._screen.call_later(self._on_start)
            await self._runner.sign_in(method)

    async def _run_on_terminal(self, method: AuthMethod) -> None:
        from acp_tui.controller import terminal_command
        from acp_tui.ui.terminal.suspend import release_terminal, run_program

        assert self._runner.conversation is not None
        command, environment = terminal_command(self._runner.conversation.launch, method)
        try:
            with release_terminal(self._screen.app):
                code = await run_program(command, {**os.environ, **environment})
        except SuspendNotSupported:
            self._screen.notify(
                "Cannot sign in here: this terminal does not support it.", severity="error", markup=False
            )
        except OSError as error:
            self._screen.notify(f"{command[0]}: {error.strerror or error}", severity="error", markup=False)
        else:
            if code == 0:
                await self._runner.restart()
            else:
                self._runner.fail_sign_in(UserError(f'Sign-in "{method.name}" failed (exit code {code}).'))


def _title(method: AuthMethod) -> str:
    return method.label or method.name or visible_line(method.id)


def _description(method: AuthMethod) -> str | None:
    if method.kind == "env_var":
        return f"by environment variables: {', '.join(map(visible_line, method.vars))}"
    where = "in this terminal" if method.kind == "terminal" or method.command else None
    return " · ".join(filter(None, (method.description, where))) or None
