"""The question whether to run the command that an agent suggests for signing in."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from acp_tui.ui.drawing.wrap import shorten

if TYPE_CHECKING:
    from acp_tui.session.state import AuthMethod

MAX_AGENT_WIDTH = 40


@dataclass(frozen=True, slots=True)
class CommandAnswer:
    """An answer to a `CommandQuestion`. Implements `GuardedAnswer`."""

    label: str
    grants: bool = True


REFUSE = CommandAnswer("Do not run the command", grants=False)
RUN = CommandAnswer("Run the command in this terminal")
AUTHENTICATE = CommandAnswer("Let the agent sign in by itself")


@dataclass(frozen=True, slots=True)
class CommandQuestion:
    """What the dialog shows: the question whether to run a command. Implements `GuardedQuestion`."""

    title: str
    facts: tuple[tuple[str, str], ...]
    text: str = (
        "The agent suggests this command. It is a separate program that runs with your "
        "permissions. No permission rule applies to it."
    )
    answers: tuple[CommandAnswer, ...] = (REFUSE, RUN, AUTHENTICATE)
    warnings: tuple[str, ...] = ()
    position: tuple[int, int] = (1, 1)
    main_fact: str = "command"
    close_label: str = "close"


def command_question(agent: str, method: AuthMethod, cwd: str) -> CommandQuestion:
    """Return the question whether to run the command that an agent suggests for a sign-in method."""
    assert method.suggested is not None
    suggested = method.suggested
    facts = [("command", shlex.join([suggested.command, *suggested.args])), ("folder", cwd)]
    facts += [("environment", f"{name}={value}") for name, value in suggested.env.items()]
    title = f"Run a command to sign in to {shorten(agent, MAX_AGENT_WIDTH)}?"
    return CommandQuestion(title, (("method", suggested.label or method.name), *facts))
