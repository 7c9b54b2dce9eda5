"""Signs in to the agent, and then repeats the requests that it refused because of the missing sign-in.

The dialogs, including the one to choose a method, are in `acp_tui/ui/screens/sign_in/sign_in_dialogs.py`.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from acp_tui.connection.errors import AgentGone
from acp_tui.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from acp_tui.connection.errors import SignInNeeded
    from acp_tui.controller import Conversation
    from acp_tui.session.state import AuthMethod
    from acp_tui.ui.conversation.interfaces import ConversationView


class SignInFlow:
    """The sign-ins of one conversation. The user chooses the method of each attempt."""

    def __init__(
        self,
        view: ConversationView,
        conversation: Callable[[], Conversation],
        *,
        reopen: Callable[[], Awaitable[bool]],
        restart: Callable[[], Awaitable[bool]],
        resend: Callable[[], None],
    ) -> None:
        """Create the flow.

        Args:
            view: Asks the user to choose a method.
            conversation: Returns the conversation.
            reopen: Opens the session unless it is open. Returns True if it is open afterwards.
            restart: Restarts the agent and reopens the session. Returns True if the session is open.
            resend: Sends the refused prompt again, if there is one.
        """
        self._view = view
        self._conversation = conversation
        self._reopen = reopen
        self._restart = restart
        self._resend = resend
        self._login: asyncio.Task[None] | None = None
        self._refused: list[Callable[[], None]] = []  # repeat the refused requests, apart from prompts
        self._last_attempt: tuple[str, int] | None = None  # the method's name, and the turn at the time
        self._cancelled: str | None = None  # the name of the method that the user cancelled

    def required(self, need: SignInNeeded, repeat: Callable[[], None] | None = None) -> None:
        """Let the user choose a sign-in method, unless the agent is already performing a sign-in.

        `repeat` repeats the refused request after the sign-in.
        """
        if repeat is not None:
            self._refused.append(repeat)
        if self._login is None:
            self._view.sign_in_required(need.methods, self._reason(need))

    def _reason(self, need: SignInNeeded) -> str:
        conversation = self._conversation()
        title, said = conversation.launch.title, need.error.message
        attempt, self._last_attempt = self._last_attempt, None
        if attempt is not None and conversation.session.turn <= attempt[1] + 1:
            return f'You signed in with "{attempt[0]}", but {title} still requires a sign-in: {said}'
        return f"{title}: {said}"

    # ------------------------------------------------------------------------- attempts

    @property
    def waiting(self) -> bool:
        """True while the agent performs a sign-in."""
        return self._login is not None

    async def by_agent(self, method: AuthMethod) -> None:
        """Sign in by a method that the agent performs. `cancel` ends the wait."""
        conversation = self._conversation()
        self._cancelled = None
        self._login = login = asyncio.create_task(conversation.sign_in(method.id))
        try:
            await login
        except asyncio.CancelledError:
            if not login.cancelled():
                raise
            self._cancelled = method.name
            self._view.show_error(UserError("Sign-in cancelled."))
            self.abandon()
            return
        except AgentGone as error:
            self.abandon()
            if not error.exit.expected:
                self._view.show_error(error)
            return
        except UserError as error:
            self.failed(str(error))
            return
        finally:
            self._login = None
        await self._succeeded(method.name, self._reopen)

    def cancel(self) -> None:
        """Stop waiting for the agent's sign-in."""
        if self._login is not None:
            self._login.cancel()

    async def by_program(self, method: AuthMethod) -> None:
        """Restart the agent after the program of `method` has signed in: a running agent would not notice."""
        self._cancelled = None
        await self._succeeded(method.name, self._restart)

    def failed(self, reason: str) -> None:
        """Let the user choose a method again after a failed sign-in."""
        agent = self._conversation().session.agent
        self._view.sign_in_required(agent.auth_methods if agent is not None else [], reason)

    def abandon(self) -> None:
        """Forget the refused requests, except the prompt, which stays in the queue."""
        self._refused.clear()
        self._view.sign_in_abandoned()

    async def notice_late_success(self) -> None:
        """Open the session if the user cancelled the last sign-in.

        Called when the agent stops requiring a sign-in: the cancelled sign-in has succeeded after all.
        """
        name, self._cancelled = self._cancelled, None
        if name is not None:
            await self._reopen()

    async def _succeeded(self, name: str, proceed: Callable[[], Awaitable[bool]]) -> None:
        self._last_attempt = name, self._conversation().session.turn
        if await proceed():
            refused, self._refused = self._refused, []
            self._resend()
            for repeat in refused:
                repeat()
