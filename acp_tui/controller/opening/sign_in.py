"""Sign-in: the error that asks for it, and the command of a terminal sign-in."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from acp_tui.connection.errors import RequestFailed
from acp_tui.errors import UserError
from acp_tui.session.text import visible_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acp_tui.agents.launch import Launch
    from acp_tui.session.state import AuthMethod, Session


class SignInNeeded(UserError):  # noqa: N818  # a state rather than an error
    """The agent requires sign-in. The message lists its sign-in methods."""

    def __init__(self, title: str, methods: list[AuthMethod], said: str) -> None:
        ways = "; ".join(f"{visible_line(method.id)} ({method.name})" for method in methods)
        offered = f"Sign-in methods: {ways}." if ways else "It offers no sign-in method."
        super().__init__(f"{title} wants you to sign in first ({said}). {offered}")
        self.methods = methods


@contextmanager
def explain_sign_in_errors(title: str, session: Session) -> Iterator[None]:
    """Replace the agent's "authentication required" error by `SignInNeeded`."""
    try:
        yield
    except RequestFailed as failure:
        if not failure.error.auth_required:
            raise
        known = session.agent.auth_methods if session.agent else []
        methods = failure.error.auth_methods or known
        raise SignInNeeded(title, methods, failure.error.message) from None


def terminal_command(launch: Launch, method: AuthMethod) -> tuple[list[str], dict[str, str]]:
    """Return the command and the additional environment variables that run a sign-in method in a terminal."""
    program = [method.command] if method.command else launch.command
    return [*program, *method.args], {**launch.env, **method.env}
