"""Finds the agent's commands that match the typed text, best first."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acp_tui.session.state import SlashCommand


class Match(NamedTuple):
    """A command, and the indexes of the matched characters in its name."""

    command: SlashCommand
    positions: frozenset[int]


def match_commands(commands: Iterable[SlashCommand], typed: str) -> list[Match]:
    """Return the matching commands, best first; equally good ones stay in the agent's order."""
    found = []
    commands = list(commands)
    if any(typed.startswith(f"{command.name} ") for command in commands):
        # The user is typing an argument, unless a longer command name starts with the typed text.
        commands = [command for command in commands if command.name.startswith(typed)]
    for command in commands:
        match = _match_name(command.name, typed)
        if match is not None:
            found.append((match[0], Match(command, frozenset(match[1]))))
    found.sort(key=lambda scored: scored[0])
    return [matched for _, matched in found]


def _match_name(name: str, typed: str) -> tuple[tuple[int, int], Iterable[int]] | None:
    """Return the rank of a match (smaller is better) and the matched positions in the name.

    Return None if there is no match. Takes linear time.
    """
    low, wanted = name.lower(), typed.lower()
    if not wanted:
        return (0, 0), ()
    if low == wanted:
        return (0, 0), range(len(name))
    at = low.find(wanted)
    if at == 0:
        return (1, len(name)), range(len(wanted))
    if at > 0:
        starts_word = not low[at - 1].isalnum()
        return (2 if starts_word else 3, len(name)), range(at, at + len(wanted))
    positions = _positions_in_order(low, wanted)
    return ((4, positions[-1] - positions[0]), positions) if positions else None


def _positions_in_order(name: str, wanted: str) -> list[int]:
    """Return where the characters of `wanted` occur in the name, in order; empty if one is not found."""
    positions: list[int] = []
    at = -1
    for char in wanted:
        at = name.find(char, at + 1)
        if at < 0:
            return []
        positions.append(at)
    return positions
