"""The user's own shell commands, which start with `!` in the prompt."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from acp_tui.session.state import Terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acp_tui.session.change import Change
    from acp_tui.session.state import Entry
    from acp_tui.ui.conversation.runner import ConversationRunner
    from acp_tui.ui.prompt import Prompt
    from acp_tui.ui.screens.base import BaseScreen


class UserCommands:
    """Keeps track of the running commands, stops them, and attaches their output to the prompt."""

    def __init__(self, screen: BaseScreen, prompt: Prompt, runner: ConversationRunner) -> None:
        self._screen = screen
        self._prompt = prompt
        self._runner = runner
        self._running: list[Terminal] = []

    @property
    def any_running(self) -> bool:
        """True while a command runs."""
        return bool(self._running)

    def show_changes(self, changes: Sequence[Change]) -> None:
        """Note which commands have started, and offer to attach the output of those that have ended."""
        for change in changes:
            entry = change.entry
            if not isinstance(entry, Terminal) or entry.owner != "user":
                continue
            if change.kind == "added":
                self._running.append(entry)
                self._screen.refresh_bindings()  # Esc now stops the command
            if entry.ended_at is not None and any(each is entry for each in self._running):
                self._running = [each for each in self._running if each is not entry]
                self._screen.refresh_bindings()
                self._prompt.offer_output(entry.command or "", partial(_output, entry))

    def stop_last(self) -> bool:
        """Stop the running command that was started last; return False if no command is running."""
        if self._running:
            self._runner.kill_command(self._running[-1].terminal_id)
        return bool(self._running)

    def run_entry_action(self, action: str, entry: Entry) -> bool:
        """Run "kill" or "attach" on an entry of the transcript. For other actions, return False."""
        match action:
            case "kill":
                self._stop(entry)
            case "attach":
                self._attach_output(entry)
            case _:
                return False
        return True

    def _stop(self, entry: Entry) -> None:
        if isinstance(entry, Terminal) and entry.owner == "user" and entry.ended_at is None:
            self._runner.kill_command(entry.terminal_id)
        else:
            self._screen.notify("This is not one of your running commands.", timeout=3)

    def _attach_output(self, entry: Entry) -> None:
        if isinstance(entry, Terminal):
            self._prompt.attach_output(entry.command or "", _output(entry))
            self._prompt.focus()
        else:
            self._screen.notify("Only command output can be attached.", timeout=3)


def _output(terminal: Terminal) -> str:
    from acp_tui.ui.entries.terminal.attached_output import command_output

    return command_output(terminal)
