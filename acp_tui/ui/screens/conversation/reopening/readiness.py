"""The text of the status line while the agent is not ready, with the key to press, if any."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.ui import keys

if TYPE_CHECKING:
    from acp_tui.ui.conversation.runner import ConversationRunner
    from acp_tui.ui.conversation.status_tracker import StatusTracker
    from acp_tui.ui.screens.session.session_screen import SessionScreen


class AgentReadiness:
    """Tells the status line why the agent accepts no prompt, for example that the agent has ended."""

    def __init__(self, screen: SessionScreen, status: StatusTracker, runner: ConversationRunner) -> None:
        self._screen = screen
        self._status = status
        self._runner = runner

    @property
    def _restart_key(self) -> str:
        return keys.bound_keys(self._screen, "agent.restart")

    def open_failed(self) -> None:
        """Show that no session was opened, and which key restarts the agent."""
        self._status.stuck = f"not ready · {self._restart_key} tries again"
        self._update()

    def not_reopened(self) -> None:
        """Show that the session can only be read."""
        self._status.stuck = "read-only"
        self._update()

    def sign_in_required(self) -> None:
        """Show that the user has to sign in first."""
        self._status.stuck = f"not signed in · {self._restart_key} to sign in"
        self._update()

    def work_started(self) -> None:
        """Clear the text in the status line: a sign-in or the opening of a session has begun."""
        self._status.stuck = ""
        self._update()

    def _update(self) -> None:
        if self._screen.is_attached:
            self._screen.update_status()

    def awaited(self) -> str:
        """Return a status text: what the session waits for, or what the user can do; "" if there is none."""
        session = self._screen.session
        if self._runner.sign_in.waiting:
            return f"signing in · {keys.bound_keys(self._screen, 'turn.stop')} cancels"
        if session.phase == "dead":
            return "starting" if self._runner.opening else f"ended · {self._restart_key} restarts it"
        if session.cancelling:
            return f"not responding · {self._restart_key} restarts the agent"
        return ""
