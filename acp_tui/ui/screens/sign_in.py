"""Sign-in: the user chooses one of the agent's methods."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from acp_tui.errors import UserError
from acp_tui.session.state import Choice
from acp_tui.session.text import visible_line

if TYPE_CHECKING:
    from acp_tui.session.state import AuthMethod
    from acp_tui.ui.conversation.runner import ConversationRunner
    from acp_tui.ui.conversation.status_tracker import StatusTracker
    from acp_tui.ui.screens.session import SessionScreen
    from acp_tui.ui.theme.palette import Palette

    Base = SessionScreen
else:
    Base = object


class SignIn(Base):
    """A part of the conversation's screen."""

    runner: ConversationRunner
    _palette: Palette
    _status: StatusTracker

    def sign_in_required(self, methods: list[AuthMethod]) -> None:
        """The agent wants the user to sign in first."""
        if methods:
            self.run_worker(self._sign_in(methods), group="sign in", exclusive=True)

    async def _sign_in(self, methods: list[AuthMethod]) -> None:
        from acp_tui.ui.screens.choose import ChooseScreen

        choices = [Choice(str(n), _words(method), _note(method)) for n, method in enumerate(methods)]
        chosen = await self.app.push_screen_wait(
            ChooseScreen("Choose a sign-in method", choices, self._palette)
        )
        if chosen is None:
            return
        method = methods[int(chosen)]
        if method.kind == "env_var":
            names = ", ".join(map(visible_line, method.vars)) or "what it names"
            self.notify(f"Set {names} in the environment and restart acp-tui.", timeout=10, markup=False)
        elif method.kind == "terminal" or method.command:
            await self._sign_in_on_terminal(method)
        else:
            self._status.stuck = ""  # the status line says that it waits, and for as long as it does
            self.call_later(self._update_status)
            await self.runner.sign_in(method)

    async def _sign_in_on_terminal(self, method: AuthMethod) -> None:
        from acp_tui.controller import terminal_command
        from acp_tui.ui.terminal.suspend import release_terminal, run_program

        assert self.runner.conversation is not None
        command, environment = terminal_command(self.runner.conversation.launch, method)
        try:
            with release_terminal(self.app):
                code = await run_program(command, {**os.environ, **environment})
        except SuspendNotSupported:
            self.notify(
                "Cannot sign in here: this terminal does not support it.", severity="error", markup=False
            )
        except OSError as error:
            self.notify(f"{command[0]}: {error.strerror or error}", severity="error", markup=False)
        else:
            if code == 0:
                await self.runner.restart()
            else:
                failed = UserError(f'Sign-in "{method.name}" failed (exit code {code}).')
                self.runner.view.show_error(failed)
                self.runner.view.open_failed(session_lost=False)


def _words(method: AuthMethod) -> str:
    return method.label or method.name or visible_line(method.id)


def _note(method: AuthMethod) -> str | None:
    if method.kind == "env_var":
        return f"by environment variables: {', '.join(map(visible_line, method.vars))}"
    where = "in this terminal" if method.kind == "terminal" or method.command else None
    return " · ".join(filter(None, (method.description, where))) or None
