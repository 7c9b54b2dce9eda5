"""Commands: those that run, and those that have ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment

from acp_tui.entry_display import STATUS_ICONS, terminal_command
from acp_tui.session.state import Terminal
from acp_tui.session.text import visible_line
from acp_tui.ui.drawing.wrap import make_strip, shorten, shorten_path
from acp_tui.ui.entries.terminal.terminal import exit_text, runs_elsewhere, status_name
from acp_tui.ui.entries.tool_call.headline import elapsed, relative_path
from acp_tui.ui.panes.listing import Item
from acp_tui.ui.panes.pane import Pane
from acp_tui.ui.panes.pieces import EDGE, heading, row, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from textual.strip import Strip

    from acp_tui.session.change import Change
    from acp_tui.session.state import ToolCall
    from acp_tui.ui.panes.pane import PaneSource
    from acp_tui.ui.theme.palette import Palette


class TerminalsPane(Pane):
    """The newest first. How much they print does not matter here."""

    TITLE: ClassVar = "Terminals"
    ACTIONS: ClassVar = frozenset({"open", "kill"})

    def __init__(self, source: PaneSource, palette: Palette) -> None:
        super().__init__(source, palette)
        self._shown: dict[str, tuple[object, ...]] = {}  # what is seen of each

    def concerned(self, changes: Iterable[Change]) -> bool:
        """Is there another terminal, or has one ended?"""
        return any(
            isinstance(change.entry, Terminal)
            and (change.kind == "added" or self._shown.get(change.entry.terminal_id) != _state(change.entry))
            for change in changes
        )

    def items(self) -> Sequence[Item]:
        """Those that run are above those that have ended."""
        terminals = list(reversed(self.source.session.terminals.values()))
        self._shown = {terminal.terminal_id: _state(terminal) for terminal in terminals}
        if not terminals:
            return [words("No command has been run in a terminal.", self.palette.dim)]
        items: list[Item] = []
        for title, group in (
            ("Running", [one for one in terminals if one.ended_at is None]),
            ("Ended", [one for one in terminals if one.ended_at is not None]),
        ):
            if group:
                items.append(heading(title, self.palette, f"{len(group):,}", first=not items))
                items += map(self._item, group)
        return items

    def _item(self, terminal: Terminal) -> Item:
        height = 2 if self._note(terminal) else 1
        return Item(lambda width: self._row(terminal, width), terminal.terminal_id, height)

    def _row(self, terminal: Terminal, width: int) -> list[Strip]:
        palette, call = self.palette, self._call(terminal)
        state, began = status_name(terminal), terminal.at
        if call is not None:
            began = max(began, call.began)
            if terminal.ended_at is not None and terminal.exit_code is None and call.status in palette.signs:
                state = call.status  # nobody told how the command ended, but how the call did
        facts = [
            (exit_text(terminal), palette.error),
            (elapsed(began, terminal.ended_at, None), palette.dim),
        ]
        right = [Segment(f"  {text}", style) for text, style in facts if text]
        left = [Segment(f"{STATUS_ICONS[state]} ", palette.signs[state])]
        room = width - EDGE - 2 - sum(span.cell_length for span in right)
        left.append(Segment(shorten(self._command(terminal), max(4, room)), palette.text))
        lines = [row(left, right, width)]
        if note := self._note(terminal):
            lines.append(make_strip([Segment(f"  {shorten_path(note, width - EDGE - 2)}", palette.dim)]))
        return lines

    def _command(self, terminal: Terminal) -> str:
        if command := visible_line(terminal_command(terminal, self.source.cwd)):
            return command
        call = self._call(terminal)
        return visible_line(call.title) if call is not None and call.title else "a command of the agent"

    def _call(self, terminal: Terminal) -> ToolCall | None:
        return self.source.session.terminal_calls.get(terminal.terminal_id)

    def _note(self, terminal: Terminal) -> str:
        where = (
            relative_path(terminal.cwd, self.source.cwd) if runs_elsewhere(terminal, self.context(20)) else ""
        )
        whose = {"agent": "run by the agent itself", "user": "yours"}.get(terminal.owner, "")
        return " · ".join(filter(None, (whose, f"in {visible_line(where)}" if where else "")))

    # ------------------------------------------------------------------------- keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:
        """Only what runs here can be ended from here."""
        if action == "kill":
            terminal = self.source.session.terminals.get(self.chosen or "")
            if terminal is None or self.source.conversation is None:
                return False
            return terminal.owner != "agent" and terminal.ended_at is None
        return super().check_action(action, parameters)

    def action_open(self) -> None:
        """All of its output."""
        self.want("output")


def _state(terminal: Terminal) -> tuple[object, ...]:
    return terminal.command, terminal.cwd, terminal.owner, terminal.ended_at
