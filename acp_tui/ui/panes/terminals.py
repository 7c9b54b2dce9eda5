"""The terminals pane: running commands and commands that have ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment

from acp_tui.entry_labels import STATUS_ICONS, relative_path, terminal_command
from acp_tui.session.state import Terminal
from acp_tui.session.text.safe_text import visible_line
from acp_tui.ui.drawing.wrap import make_strip, shorten, shorten_path
from acp_tui.ui.entries.terminal.terminal import exit_text, runs_elsewhere, status_name
from acp_tui.ui.entries.tool_call.headline import elapsed
from acp_tui.ui.panes.item_builders import RIGHT_MARGIN, heading_item, justified_line, text_item
from acp_tui.ui.panes.pane import Pane
from acp_tui.ui.panes.pane_list import PaneItem

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from textual.strip import Strip

    from acp_tui.session.change import Change
    from acp_tui.session.state import ToolCall
    from acp_tui.ui.panes.pane import PaneSource
    from acp_tui.ui.theme.palette import Palette


class TerminalsPane(Pane):
    """Lists running terminals, then ended ones, both newest first. New output does not update the list."""

    TITLE: ClassVar = "Terminals"
    ACTIONS: ClassVar = frozenset({"open", "kill"})

    def __init__(self, source: PaneSource, palette: Palette) -> None:
        super().__init__(source, palette)
        self._displayed: dict[str, tuple[object, ...]] = {}  # the displayed state of each terminal

    def is_affected(self, changes: Iterable[Change]) -> bool:
        """Return True if a terminal was added, or if a terminal's command, folder, owner or end changed."""
        terminals = [(change, change.entry) for change in changes if isinstance(change.entry, Terminal)]
        return any(
            change.kind == "added" or self._displayed.get(terminal.terminal_id) != _displayed_state(terminal)
            for change, terminal in terminals
        )

    def build_items(self) -> Sequence[PaneItem]:
        """Return running terminals, then those that have ended."""
        terminals = list(reversed(self.source.session.terminals.values()))
        self._displayed = {terminal.terminal_id: _displayed_state(terminal) for terminal in terminals}
        if not terminals:
            return [text_item("No commands yet.", self.palette.dim)]
        items: list[PaneItem] = []
        for title, group in (
            ("Running", [terminal for terminal in terminals if terminal.ended_at is None]),
            ("Ended", [terminal for terminal in terminals if terminal.ended_at is not None]),
        ):
            if group:
                items.append(heading_item(title, self.palette, f"{len(group):,}", first=not items))
                items += map(self._item, group)
        return items

    def _item(self, terminal: Terminal) -> PaneItem:
        height = 2 if self._note(terminal) else 1
        return PaneItem(lambda width: self._row(terminal, width), terminal.terminal_id, height)

    def _row(self, terminal: Terminal, width: int) -> list[Strip]:
        palette, call = self.palette, self._call(terminal)
        state, started = status_name(terminal), terminal.at
        if call is not None:
            started = max(started, call.began)
            if terminal.ended_at is not None and terminal.exit_code is None and call.status in palette.signs:
                state = call.status  # no exit code, so use the status of the tool call
        facts = [
            (exit_text(terminal), palette.error),
            (elapsed(started, terminal.ended_at, None), palette.dim),
        ]
        right = [Segment(f"  {text}", style) for text, style in facts if text]
        left = [Segment(f"{STATUS_ICONS[state]} ", palette.signs[state])]
        room = width - RIGHT_MARGIN - 2 - sum(span.cell_length for span in right)
        left.append(Segment(shorten(self._command(terminal), max(4, room)), palette.text))
        lines = [justified_line(left, right, width)]
        if note := self._note(terminal):
            shown = shorten_path(note, width - RIGHT_MARGIN - 2)
            lines.append(make_strip([Segment(f"  {shown}", palette.dim)]))
        return lines

    def _command(self, terminal: Terminal) -> str:
        if command := visible_line(terminal_command(terminal, self.source.cwd)):
            return command
        call = self._call(terminal)
        return visible_line(call.title) if call is not None and call.title else "command"

    def _call(self, terminal: Terminal) -> ToolCall | None:
        return self.source.session.terminal_calls.get(terminal.terminal_id)

    def _note(self, terminal: Terminal) -> str:
        where = (
            relative_path(terminal.cwd, self.source.cwd)
            if runs_elsewhere(terminal, self.draw_context(20))
            else ""
        )
        whose = {"agent": "run by the agent itself", "user": "yours"}.get(terminal.owner, "")
        return " · ".join(filter(None, (whose, f"in {visible_line(where)}" if where else "")))

    # ------------------------------------------------------------------------- keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:
        """Allow stopping only running commands that acp-tui started."""
        if action == "kill":
            terminal = self.source.session.terminals.get(self.chosen or "")
            if terminal is None or self.source.conversation is None:
                return False
            return terminal.owner != "agent" and terminal.ended_at is None
        return super().check_action(action, parameters)

    def action_open(self) -> None:
        """Show the whole output of the chosen terminal."""
        self.request("output")


def _displayed_state(terminal: Terminal) -> tuple[object, ...]:
    return terminal.command, terminal.cwd, terminal.owner, terminal.ended_at
