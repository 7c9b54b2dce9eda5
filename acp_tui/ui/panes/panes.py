"""The side panes: plan, files, terminals, session, and the tabs between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal, TypeVar

from rich.segment import Segment
from rich.style import Style
from textual import events, on
from textual.containers import Vertical
from textual.geometry import NULL_OFFSET, NULL_SPACING, Region, Size
from textual.layout import ArrangeResult, WidgetPlacement
from textual.layouts.vertical import VerticalLayout
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from acp_tui.entry_labels import STATUS_ICONS, terminal_command
from acp_tui.session.safe_text import escape_line
from acp_tui.session.state import Plan, Terminal, ToolCall
from acp_tui.text_format import relative_path
from acp_tui.ui.drawing.wrap import make_strip, shorten, shorten_path
from acp_tui.ui.entries.headline import elapsed
from acp_tui.ui.entries.terminal import exit_text, runs_elsewhere, status_name
from acp_tui.ui.panes.files import FilesPane
from acp_tui.ui.panes.pane import Pane, PanesAction, PaneSource
from acp_tui.ui.panes.pane_list import RIGHT_MARGIN, PaneItem, heading_item, justified_line, text_item
from acp_tui.ui.panes.session import SessionPane
from acp_tui.ui.theme.palette import current_palette

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from acp_tui.session.record import Change


class PlanPane(Pane):
    """Shows a progress bar and the steps of the plan."""

    TITLE: ClassVar = "Plan"

    def is_affected(self, changes: Iterable[Change]) -> bool:
        """Return True if the plan changed."""
        return any(change.fact == "plan" for change in changes)

    def build_items(self) -> Sequence[PaneItem]:
        """Return the progress bar and the steps of the plan."""
        plan = self.source.session.plan
        if plan is None:
            return [text_item("The agent has no plan.", current_palette().dim)]
        progress = [PaneItem(lambda width: self._progress(plan, width), height=3)] if plan.items else []
        return [*progress, PaneItem(lambda width: self._steps(plan, width), height=None)]

    def _progress(self, plan: Plan, width: int) -> list[Strip]:
        palette = current_palette()
        done, total = sum(item.status == "completed" for item in plan.items), len(plan.items)
        cells = width - RIGHT_MARGIN
        filled = cells * done // total
        bar = [
            Segment("━" * filled, palette.success),
            Segment("━" * (cells - filled), palette.faint),
        ]
        summary = Segment(f"{done} of {total} done", palette.strong if done < total else palette.success)
        return [Strip([summary]), Strip(bar), Strip([])]

    def _steps(self, plan: Plan, width: int) -> list[Strip]:
        from acp_tui.ui.entries.plan import steps

        return steps(plan, self.draw_context(width - RIGHT_MARGIN))


ZOOM_SIGN, UNZOOM_SIGN, CLOSE_SIGN = "□", "▫", "×"


class PaneTabs(Widget):
    """Shows the titles of the panes and marks the title of the current pane."""

    DEFAULT_CSS = """
    PaneTabs { height: 1; background: $panel; color: $foreground; }
    """
    ALLOW_SELECT = False

    class TabClicked(Message):
        """The user clicked the tab with this index."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    class ButtonClicked(Message):
        """The user clicked a button at the right."""

        def __init__(self, action: Literal["zoom", "close"]) -> None:
            super().__init__()
            self.action = action

    def __init__(self, titles: Sequence[str]) -> None:
        super().__init__()
        self._titles = titles
        self._current = 0
        self._zoomed = False

    def show(self, current: int, *, zoomed: bool) -> None:
        """Set the current tab and the zoom button."""
        self._current, self._zoomed = current, zoomed
        self.refresh()

    def render_line(self, y: int) -> Strip:  # noqa: ARG002  # there is one line only
        palette, width, base = current_palette(), self.size.width, self.rich_style
        left = [
            Segment(
                f" {title} ", (palette.selected if at == self._current else palette.dim) + _meta(f"tab {at}")
            )
            for at, title in enumerate(self._titles)
        ]
        zoom = Segment(f" {UNZOOM_SIGN if self._zoomed else ZOOM_SIGN} ", palette.dim + _meta("zoom"))
        right = [zoom, Segment(f"{CLOSE_SIGN} ", palette.dim + _meta("close"))]
        room = width - Segment.get_line_length(right)
        line = Strip([*Strip(left).crop_extend(0, max(0, room), None), *right])
        return line.apply_style(base).adjust_cell_length(width, base)

    def on_click(self, event: events.Click) -> None:
        part = str(event.style.meta.get("part", ""))
        event.stop()
        if part.startswith("tab "):
            self.post_message(self.TabClicked(int(part[4:])))
        elif part == "zoom":
            self.post_message(self.ButtonClicked("zoom"))
        elif part == "close":
            self.post_message(self.ButtonClicked("close"))


def _meta(part: str) -> Style:
    return Style.from_meta({"part": part})


class TerminalsPane(Pane):
    """Lists running terminals, then ended ones, both newest first. New output does not update the list."""

    TITLE: ClassVar = "Terminals"
    ACTIONS: ClassVar = frozenset({"open", "kill"})

    def __init__(self, source: PaneSource) -> None:
        super().__init__(source)
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
            return [text_item("No commands yet.", current_palette().dim)]
        items: list[PaneItem] = []
        for title, group in (
            ("Running", [terminal for terminal in terminals if terminal.ended_at is None]),
            ("Ended", [terminal for terminal in terminals if terminal.ended_at is not None]),
        ):
            if group:
                items.append(heading_item(title, f"{len(group):,}", first=not items))
                items += map(self._item, group)
        return items

    def _item(self, terminal: Terminal) -> PaneItem:
        height = 2 if self._note(terminal) else 1
        return PaneItem(lambda width: self._row(terminal, width), terminal.terminal_id, height)

    def _row(self, terminal: Terminal, width: int) -> list[Strip]:
        palette, call = current_palette(), self._call(terminal)
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
        room = width - RIGHT_MARGIN - 2 - Segment.get_line_length(right)
        left.append(Segment(shorten(self._command(terminal), max(4, room)), palette.text))
        lines = [justified_line(left, right, width)]
        if note := self._note(terminal):
            shown = shorten_path(note, width - RIGHT_MARGIN - 2)
            lines.append(make_strip([Segment(f"  {shown}", palette.dim)]))
        return lines

    def _command(self, terminal: Terminal) -> str:
        if command := escape_line(terminal_command(terminal, self.source.cwd)):
            return command
        call = self._call(terminal)
        return escape_line(call.title) if call is not None and call.title else "command"

    def _call(self, terminal: Terminal) -> ToolCall | None:
        return self.source.session.terminal_calls.get(terminal.terminal_id)

    def _note(self, terminal: Terminal) -> str:
        where = (
            relative_path(terminal.cwd, self.source.cwd)
            if runs_elsewhere(terminal, self.draw_context(20))
            else ""
        )
        whose = {"agent": "run by the agent itself", "user": "yours"}.get(terminal.owner, "")
        return " · ".join(filter(None, (whose, f"in {escape_line(where)}" if where else "")))

    # ------------------------------------------------------------------------- keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:
        """Allow stopping only running commands that acp-tui started, or that the agent can stop."""
        if action == "kill":
            terminal = self.source.session.terminals.get(self.chosen or "")
            if terminal is None or self.source.conversation is None:
                return False
            return (terminal.owner != "agent" or terminal.can_cancel) and terminal.ended_at is None
        return super().check_action(action, parameters)

    def action_open(self) -> None:
        """Show the whole output of the chosen terminal."""
        self.request("output")


def _displayed_state(terminal: Terminal) -> tuple[object, ...]:
    return terminal.command, terminal.cwd, terminal.owner, terminal.ended_at


Kind = TypeVar("Kind", bound=Pane)


class Panes(Vertical):
    """All panes, below a row of tabs. `SidePanesLayout` places this container on the screen."""

    DEFAULT_CSS = """
    Panes { background: $surface; }
    Panes > Pane { margin: 1 0 0 0; display: none; }
    """

    def __init__(self, source: PaneSource, first: str = "plan") -> None:
        """`first` is the lower-case title of the pane to show first."""
        super().__init__()
        self.source = source
        self._panes: list[Pane] = [kind(source) for kind in (PlanPane, FilesPane, TerminalsPane, SessionPane)]
        self._tabs = PaneTabs([pane.TITLE for pane in self._panes])
        self._current = next(at for at, pane in enumerate(self._panes) if pane.TITLE.lower() == first)
        self.zoomed = False

    def compose(self) -> ComposeResult:
        yield self._tabs
        yield from self._panes

    def on_mount(self) -> None:
        """Show the pane that was chosen as the first one to show."""
        self.switch_to(self._current)

    # ------------------------------------------------------------------------- content

    @property
    def current(self) -> Pane:
        return self._panes[self._current]

    def pane(self, kind: type[Kind]) -> Kind:
        """Return the pane of class `kind`."""
        return next(pane for pane in self._panes if isinstance(pane, kind))

    def apply_changes(self, changes: Sequence[Change]) -> None:
        """Update the visible pane after changes to the session."""
        if any(change.kind == "reset" for change in changes):
            self.current.refresh_items()
        else:
            self.current.apply_changes(changes)

    def refresh_items(self) -> None:
        """Rebuild the visible pane, for example when it is shown again or the session was replaced."""
        self.current.refresh_items()

    def apply_theme(self) -> None:
        """Draw again what was drawn in the colours of the old theme."""
        self.current.refresh_items()

    def switch_to(self, index: int) -> None:
        """Show another pane; the index wraps around."""
        had_focus = self.current.has_focus
        self._current = index % len(self._panes)
        self.current.refresh_items()
        for pane in self._panes:
            pane.display = pane is self.current
        if had_focus:
            self.current.focus()
        self._show_tabs()

    def set_zoomed(self, *, on: bool) -> None:
        """Show in the tabs whether the panes are zoomed."""
        self.zoomed = on
        self._show_tabs()

    def _show_tabs(self) -> None:
        self._tabs.show(self._current, zoomed=self.zoomed)

    # ------------------------------------------------------------------------- messages

    @on(Pane.Switched)
    def _switch(self, event: Pane.Switched) -> None:
        event.stop()
        self.switch_to(self._current + event.index if event.relative else event.index)

    @on(PaneTabs.TabClicked)
    def _tab_clicked(self, event: PaneTabs.TabClicked) -> None:
        event.stop()
        self.switch_to(event.index)
        self.current.focus()

    @on(PaneTabs.ButtonClicked)
    def _button_clicked(self, event: PaneTabs.ButtonClicked) -> None:
        event.stop()
        self.post_message(PanesAction(event.action))


MIN_SIDE_COLUMNS = 100
"""The minimum screen width, in columns, for panes beside the transcript."""
MIN_PANE_COLUMNS, MAX_PANE_COLUMNS = 40, 64
"""Limits of the width of panes beside the transcript."""


def fits_beside(columns: int) -> bool:
    """Return True if panes fit beside the transcript on a screen that is `columns` wide."""
    return columns >= MIN_SIDE_COLUMNS


def pane_columns(columns: int) -> int:
    """Return the width of the panes: the whole screen width if they do not fit beside the transcript."""
    return max(MIN_PANE_COLUMNS, min(MAX_PANE_COLUMNS, columns * 2 // 5)) if fits_beside(columns) else columns


class SidePanesLayout(VerticalLayout):
    """A vertical layout with panes over the transcript, or in a part of the transcript's region."""

    def __init__(self, transcript: Widget, panes: Widget) -> None:
        super().__init__()
        self.zoomed = False
        self._transcript = transcript
        self._panes = panes

    def arrange(
        self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True
    ) -> ArrangeResult:
        """Arrange all widgets in one pass, so that none moves twice."""
        others = [child for child in children if child is not self._panes]
        placements = super().arrange(parent, others, size, greedy)
        index = next((n for n, placed in enumerate(placements) if placed.widget is self._transcript), None)
        if index is None or len(others) == len(children):
            return placements
        full = placements[index].region
        width = pane_columns(size.width)
        if fits_beside(size.width):
            narrow = Region(full.x, full.y, full.width - width, full.height)
            placements[index] = placements[index]._replace(region=narrow)
        region = Region(full.right - width, full.y, width, full.height)
        if self.zoomed:
            last_row = max(
                (placed.region.y for placed in placements if placed.region.height), default=size.height
            )
            region = Region(0, full.y, size.width, max(full.height, last_row - full.y))
        placements.append(WidgetPlacement(region, NULL_OFFSET, NULL_SPACING, self._panes, 1))
        return placements
