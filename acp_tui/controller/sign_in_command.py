"""The commands that sign in on a terminal, and messages about sign-in methods that are unusable or failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.errors import UserError
from acp_tui.session.safe_text import escape_line

if TYPE_CHECKING:
    from acp_tui.config.agent_catalogue import Launch
    from acp_tui.session.state import AuthMethod


def sign_in_command(launch: Launch, method: AuthMethod) -> tuple[list[str], dict[str, str]]:
    """Return the command that signs in on a terminal, and the variables to add to its environment.

    For a method of the type "terminal", the command is the agent's own program with the method's arguments.
    For another method, the agent suggests the command, which must not be run before the user has agreed.
    Raises `UserError` if the agent runs on another machine: it must not choose programs of this one.
    """
    if launch.is_remote:
        raise UserError(f'Sign-in method "{method.name}" needs a program on the machine of {launch.title}.')
    if method.kind == "terminal" or method.suggested is None:
        return [*launch.command, *method.args], {**launch.env, **method.env}
    suggested = method.suggested
    return [suggested.command, *suggested.args], {**launch.env, **suggested.env}


def unusable_method_sentence(method: AuthMethod) -> str:
    """Return why acp-tui cannot sign in with a method of an unsupported type, and what to do instead."""
    if method.kind == "env_var":
        names = ", ".join(map(escape_line, method.vars)) or "the required variables"
        return f'"{method.name}" needs no sign-in: set {names} in the environment and restart acp-tui.'
    described = " ".join((method.description or "").split())
    sentence = f'acp-tui does not support sign-in method "{method.name}" (unknown type {method.kind}).'
    return f"{sentence} {described}".strip()


def failed_program_sentence(method: AuthMethod, code: int) -> str:
    """Return why a method's program did not sign in. A negative `code` is a negated signal number."""
    how = f"exit code {code}" if code > 0 else f"ended by signal {-code}"
    return f'Sign-in method "{method.name}" failed ({how}).'
