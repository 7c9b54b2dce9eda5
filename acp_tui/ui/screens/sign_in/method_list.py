"""The list of an agent's sign-in methods."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from acp_tui.session.state import Choice
from acp_tui.session.text.invisible import reveal_line
from acp_tui.session.text.safe_text import visible_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acp_tui.session.state import AuthMethod


def method_choices(methods: Sequence[AuthMethod]) -> list[Choice]:
    """Return a choice for each method, with the method's index as value, because two ids can be equal."""
    return [Choice(str(n), method.name, _description(method)) for n, method in enumerate(methods)]


def _description(method: AuthMethod) -> str | None:
    parts = [" ".join((method.description or "").split())]
    if method.way == "terminal":
        parts.append("in this terminal")
    elif method.way == "suggested" and method.suggested is not None:
        command = shlex.join([method.suggested.command, *method.suggested.args])
        parts.append(f"suggests running {reveal_line(command)}")
    elif method.way == "unknown":
        parts.append(_why_unusable(method))
    return " · ".join(filter(None, parts)) or None


def _why_unusable(method: AuthMethod) -> str:
    if method.kind == "env_var":
        names = ", ".join(map(visible_line, method.vars))
        return f"needs environment variables: {names}" if names else "needs environment variables"
    return f"unknown type {method.kind}: acp-tui does not support it"
