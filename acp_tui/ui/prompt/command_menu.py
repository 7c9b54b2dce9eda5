"""The menu of the agent's slash commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.text import visible_line
from acp_tui.ui.prompt.completion_list import CompletionItem
from acp_tui.ui.prompt.matching import match_commands
from acp_tui.ui.prompt.menu import Completion, Menu

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acp_tui.session.state import SlashCommand


class CommandMenu(Menu):
    """Follows what is typed: open while that can be the beginning of a command."""

    TITLE = "commands"

    def __init__(self) -> None:
        super().__init__()
        self._commands: Sequence[SlashCommand] = ()
        self._found: list[SlashCommand] = []
        self._typed: str | None = None  # what was looked for; None: nothing of these commands yet
        self._dismissed = False  # until another command is begun

    @property
    def commands(self) -> Sequence[SlashCommand]:
        """What the agent offers."""
        return self._commands

    @commands.setter
    def commands(self, commands: Sequence[SlashCommand]) -> None:
        self._commands = commands
        self._typed = None

    @property
    def selected(self) -> SlashCommand | None:
        """The command at the mark."""
        return self._found[self.choices.current] if self.is_open else None

    @property
    def is_complete(self) -> bool:
        """Is nothing left to be completed?"""
        if self.choices.current == 0 and any(command.name == self._typed for command in self._found):
            return True  # the first one may differ in its capitals only
        return self.selected is not None and self.selected.name == self._typed

    def command(self, text: str) -> SlashCommand | None:
        """The command that a prompt consists of so far, without arguments."""
        name = text[1:].removesuffix(" ") if text.startswith("/") else ""
        return next((command for command in self.commands if command.name == name), None)

    def follow(self, text: str) -> None:
        """The prompt up to the cursor has changed."""
        if not text.startswith("/") or "\n" in text:
            self._dismissed = False
            self.close()
        elif not self._dismissed and not (self.is_open and self._typed == text[1:]):
            self._look_for(text[1:])

    def _look_for(self, typed: str) -> None:
        self._typed = typed
        matches = match_commands(self.commands, typed)
        self._found = [match.command for match in matches]
        if matches:
            self.show([_choice(match.command, match.places) for match in matches])
        else:
            self.close()

    def dismiss(self) -> None:
        """The user does not want it for this command."""
        self._dismissed = True
        self.close()

    def completion(self, *, taking: bool) -> Completion | None:  # noqa: ARG002  a command has no parts
        """The command, ready for its argument."""
        return Completion((0, 0), f"/{self.selected.name} ") if self.selected is not None else None


def _choice(command: SlashCommand, places: frozenset[int]) -> CompletionItem:
    """Agents' texts are on one line here, whatever they are."""
    return CompletionItem(
        f"/{visible_line(command.name)}",
        visible_line(command.hint or ""),
        visible_line(command.description),
        frozenset(place + 1 for place in places),
    )
