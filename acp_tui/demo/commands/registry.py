"""How a slash command is declared."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from acp.schema import AvailableCommand, AvailableCommandInput, UnstructuredCommandInput

if TYPE_CHECKING:
    from acp.schema import StopReason

    from acp_tui.demo.turn import Turn

CommandFunction = Callable[["Turn"], Awaitable["StopReason | None"]]
"""Returns why the turn ends; None means that it ended well."""


@dataclass(frozen=True)
class SlashCommand:
    """One slash command."""

    name: str
    description: str
    hint: str | None  # what may follow the name
    run: CommandFunction


COMMANDS: dict[str, SlashCommand] = {}
"""All of them by name, in the order they are offered."""


FEW = ("help", "tour", "commands")
"""What `/commands few` leaves."""


def available_commands(*, few: bool = False) -> list[AvailableCommand]:
    """The commands as they are announced to the client."""
    return [
        AvailableCommand(
            name=command.name,
            description=command.description,
            input=AvailableCommandInput(UnstructuredCommandInput(hint=command.hint))
            if command.hint
            else None,
        )
        for command in COMMANDS.values()
        if not few or command.name in FEW
    ]


def slash_command(
    name: str, description: str, hint: str | None = None
) -> Callable[[CommandFunction], SlashCommand]:
    """Make the function below a slash command."""
    return lambda run: SlashCommand(name, description, hint, run)


def number_argument(argument: str, default: int, *, most: int) -> int:
    """The number at the beginning of an argument, within reason."""
    word = argument.split()[0] if argument.split() else ""
    return min(int(word), most) if word.isascii() and word.isdigit() else default
