"""A tool call after the check of its arguments, and before the user is asked to allow the call."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from acp_tui.controller.own_server.tool_result import ToolResult
    from acp_tui.permissions.subject import Target


@dataclass(frozen=True, slots=True)
class PreparedCall:
    """A tool call with checked arguments: what the user is shown before allowing it, and how to run it."""

    run: Callable[[str], Awaitable[ToolResult]]  # called with the id of the call
    text: str = ""  # the question, message or address from the agent
    path: str | None = None
    line: int | None = None
    diffs: list[dict[str, Any]] = field(default_factory=list)  # each with `path`, `old` and `new`
    target: Target | None = None  # the file, for the permission
    facts: tuple[tuple[str, str], ...] = ()  # labels and values to show with the question
    hands_over_text: bool = False  # a permission that the agent obtained before does not cover the call
    always_ask: str | None = None  # why no rule and no policy may allow it, as a clause about "it"


class InvalidCallError(Exception):
    """A call that cannot be run. The message is a sentence for the agent."""
