"""Which of the agent's commands are meant by what was typed, the likeliest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acp_tui.session.state import SlashCommand


class Match(NamedTuple):
    """A command, and which characters of its name were hit."""

    command: SlashCommand
    places: frozenset[int]


def match_commands(commands: Iterable[SlashCommand], typed: str) -> list[Match]:
    """The commands that fit; those that fit equally well stay in the agent's order."""
    found = []
    commands = list(commands)
    if any(typed.startswith(f"{command.name} ") for command in commands):
        # an argument is being written, unless a longer name begins with it
        commands = [command for command in commands if command.name.startswith(typed)]
    for command in commands:
        fit = _fit(command.name, typed)
        if fit is not None:
            found.append((fit[0], Match(command, frozenset(fit[1]))))
    found.sort(key=lambda scored: scored[0])
    return [match for _, match in found]


def _fit(name: str, typed: str) -> tuple[tuple[int, int], Iterable[int]] | None:
    """How well a name fits (smaller is better), and where. It costs no more than the name is long."""
    low, wanted = name.lower(), typed.lower()
    if not wanted:
        return (0, 0), ()
    if low == wanted:
        return (0, 0), range(len(name))
    at = low.find(wanted)
    if at == 0:
        return (1, len(name)), range(len(wanted))
    if at > 0:
        begins_word = not low[at - 1].isalnum()
        return (2 if begins_word else 3, len(name)), range(at, at + len(wanted))
    places = _in_order(low, wanted)
    return ((4, places[-1] - places[0]), places) if places else None


def _in_order(name: str, wanted: str) -> list[int]:
    """Where the characters occur one after another, or nothing."""
    places: list[int] = []
    at = -1
    for char in wanted:
        at = name.find(char, at + 1)
        if at < 0:
            return []
        places.append(at)
    return places
