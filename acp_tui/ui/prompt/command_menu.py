"""The menu of the agent's slash commands and the prompts of MCP servers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from acp_tui.session.safe_text import escape_line
from acp_tui.ui.prompt.completion_list import Completion, CompletionItem, Menu

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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


class CommandMenu(Menu):
    """A menu that is open while the typed text may be the start of a command, unless the user closes it."""

    TITLE = "commands"

    def __init__(self) -> None:
        super().__init__()
        self._commands: Sequence[SlashCommand] = ()
        self._server_prompts: Sequence[SlashCommand] = ()
        self._found: list[SlashCommand] = []
        self._typed: str | None = None  # the last search; None if the commands changed since
        self._dismissed = False  # the user closed the menu for the current command

    @property
    def commands(self) -> Sequence[SlashCommand]:
        """The commands of the agent, and after them the prompts of MCP servers."""
        return [*self._commands, *self._server_prompts] if self._server_prompts else self._commands

    @commands.setter
    def commands(self, commands: Sequence[SlashCommand]) -> None:
        self._commands = commands
        self._typed = None

    def set_server_prompts(self, prompts: Sequence[SlashCommand]) -> None:
        """Set the prompts of MCP servers. The name of each prompt is `SERVER:PROMPT`."""
        self._server_prompts = prompts
        self._typed = None

    def server_prompt(self, text: str) -> SlashCommand | None:
        """If the text is the command for an MCP prompt, with or without an argument, return that prompt."""
        typed = f"{text} "
        found = [command for command in self._server_prompts if typed.startswith(f"/{command.name} ")]
        return max(found, key=lambda command: len(command.name), default=None)

    @property
    def selected(self) -> SlashCommand | None:
        """The selected command, if the menu is open."""
        return self._found[self.choices.current] if self.is_open else None

    @property
    def is_complete(self) -> bool:
        """True if a command is typed in full and the user has not selected another command."""
        if self.choices.current == 0 and any(command.name == self._typed for command in self._found):
            return True  # the selected command may differ from the typed one in case only
        return self.selected is not None and self.selected.name == self._typed

    def find_command(self, text: str) -> SlashCommand | None:
        """Return the command if the text is only a slash and the command's name; otherwise None.

        One space after the name is allowed.
        """
        name = text[1:].removesuffix(" ") if text.startswith("/") else ""
        return next((command for command in self.commands if command.name == name), None)

    def update(self, text: str) -> None:
        """Open, narrow or close the menu for the text before the cursor."""
        if not text.startswith("/") or "\n" in text:
            self._dismissed = False
            self.close()
        elif not self._dismissed and not (self.is_open and self._typed == text[1:]):
            self._search(text[1:])

    def _search(self, typed: str) -> None:
        self._typed = typed
        matches = match_commands(self.commands, typed)
        self._found = [match.command for match in matches]
        if matches:
            self.show([_completion_item(match.command, match.positions) for match in matches])
        else:
            self.close()

    def dismiss(self) -> None:
        """Close the menu, and keep it closed while the text is a single line that begins with a slash."""
        self._dismissed = True
        self.close()

    def completion(self, *, final: bool) -> Completion | None:  # noqa: ARG002  # only folders have parts
        """Return the selected command, followed by a space."""
        return Completion((0, 0), f"/{self.selected.name} ") if self.selected is not None else None


def _completion_item(command: SlashCommand, positions: frozenset[int]) -> CompletionItem:
    """Return the command as an item; texts with several lines are put on one line."""
    return CompletionItem(
        f"/{escape_line(command.name)}",
        escape_line(command.hint or ""),
        escape_line(command.description),
        frozenset(position + 1 for position in positions),
    )
