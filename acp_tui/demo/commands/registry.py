"""How a slash command is declared."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp.schema import StopReason

    from acp_tui.demo.turn import Turn

Run = Callable[["Turn"], Awaitable["StopReason | None"]]
"""Returns why the turn ends; None means that it ended well."""


@dataclass(frozen=True)
class Command:
    """One slash command."""

    name: str
    description: str
    hint: str | None  # what may follow the name
    run: Run


COMMANDS: dict[str, Command] = {}
"""All of them by name, in the order they are offered."""


def command(name: str, description: str, hint: str | None = None) -> Callable[[Run], Command]:
    """Make the function below a slash command."""
    return lambda run: Command(name, description, hint, run)


def number(argument: str, default: int, *, most: int) -> int:
    """The number at the beginning of an argument, within reason."""
    word = argument.split()[0] if argument.split() else ""
    return min(int(word), most) if word.isascii() and word.isdigit() else default
