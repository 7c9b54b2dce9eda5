"""The commands that sign in on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp_tui.agents.launch import Launch
    from acp_tui.session.state import AuthMethod


def sign_in_command(launch: Launch, method: AuthMethod) -> tuple[list[str], dict[str, str]]:
    """Return the command of a sign-in on a terminal, and the variables to add to its environment.

    For a method of the type "terminal", that is the agent's own program with the method's arguments.
    Otherwise it is the command that the agent suggests, which must not be run before the user has agreed.
    """
    if method.kind == "terminal" or method.suggested is None:
        return [*launch.command, *method.args], {**launch.env, **method.env}
    suggested = method.suggested
    return [suggested.command, *suggested.args], {**launch.env, **suggested.env}
