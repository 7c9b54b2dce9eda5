"""The decorator that turns a function into a slash command, and the table of all slash commands."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from acp.schema import AvailableCommand, AvailableCommandInput, UnstructuredCommandInput

if TYPE_CHECKING:
    from acp.schema import StopReason

    from acp_tui.demo.turn import Turn

CommandFunction = Callable[["Turn"], Awaitable["StopReason | None"]]
"""Runs a command and returns the stop reason of the turn; None means `end_turn`."""


@dataclass(frozen=True)
class SlashCommand:
    """A slash command and its description for the client's menu."""

    name: str
    description: str
    hint: str | None  # describes the argument
    run: CommandFunction


COMMANDS: dict[str, SlashCommand] = {}
"""All commands by name, in menu order."""

FEW_COMMANDS = ("help", "tour", "commands")
"""The commands that are still offered after `/commands few`."""


def available_commands(*, few: bool = False) -> list[AvailableCommand]:
    """Return the commands to offer to the client; if `few`, only `FEW_COMMANDS`."""
    return [
        AvailableCommand(
            name=command.name,
            description=command.description,
            input=AvailableCommandInput(UnstructuredCommandInput(hint=command.hint))
            if command.hint
            else None,
        )
        for command in COMMANDS.values()
        if not few or command.name in FEW_COMMANDS
    ]


def slash_command(
    name: str, description: str, hint: str | None = None
) -> Callable[[CommandFunction], SlashCommand]:
    """Turn the decorated function into a slash command, which `acp_tui.demo.commands` adds to `COMMANDS`."""
    return lambda run: SlashCommand(name, description, hint, run)


def parse_number(argument: str, default: int, *, maximum: int) -> int:
    """Return the first word as a number, at most `maximum`; the default if it does not consist of digits."""
    word = argument.split()[0] if argument.split() else ""
    return min(int(word), maximum) if word.isascii() and word.isdigit() else default
