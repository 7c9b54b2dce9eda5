"""The panes: tabs, and the one of them that is looked at. The others cost nothing meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from textual import on
from textual.containers import Vertical

from acp_tui.ui.panes.files import FilesPane
from acp_tui.ui.panes.messages import PaneStep
from acp_tui.ui.panes.pane import Pane
from acp_tui.ui.panes.plan import PlanPane
from acp_tui.ui.panes.session import SessionPane
from acp_tui.ui.panes.tabs import PaneTabs
from acp_tui.ui.panes.terminals import TerminalsPane

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from acp_tui.session.change import Change
    from acp_tui.ui.panes.pane import PaneSource
    from acp_tui.ui.theme.palette import Palette

Kind = TypeVar("Kind", bound=Pane)


class Panes(Vertical):
    """Where they are is the layout's to say; see `beside`."""

    DEFAULT_CSS = """
    Panes { background: $surface; }
    Panes > Pane { margin: 1 0 0 0; display: none; }
    """

    def __init__(self, source: PaneSource, palette: Palette, first: str = "plan") -> None:
        """`first`: the one to begin with, by its title."""
        super().__init__()
        self.source = source
        self._palette = palette
        self._panes: list[Pane] = [
            kind(source, palette) for kind in (PlanPane, FilesPane, TerminalsPane, SessionPane)
        ]
        self._tabs = PaneTabs([pane.TITLE for pane in self._panes], palette)
        self._current = next(at for at, pane in enumerate(self._panes) if pane.TITLE.lower() == first)
        self.zoomed = False

    def compose(self) -> ComposeResult:
        """The tabs above the panes."""
        yield self._tabs
        yield from self._panes

    def on_mount(self) -> None:
        """Begin with that one."""
        self.turn_to(self._current)

    # ------------------------------------------------------------------------- what is shown

    @property
    def current(self) -> Pane:
        """The one that is looked at."""
        return self._panes[self._current]

    def pane(self, kind: type[Kind]) -> Kind:
        """The one of that kind."""
        return next(pane for pane in self._panes if isinstance(pane, kind))

    def take(self, changes: Sequence[Change]) -> None:
        """One frame."""
        if any(change.kind == "reset" for change in changes):
            self.current.renew()
        else:
            self.current.take(changes)

    def renew(self) -> None:
        """They were out of sight, or there is another session."""
        self.current.renew()

    def use_palette(self, palette: Palette) -> None:
        """The theme has changed."""
        self._palette = palette
        for pane in self._panes:
            pane.palette = palette
        self.current.renew()
        self._show_tabs()

    def turn_to(self, number: int) -> None:
        """Look at another one."""
        had_focus = self.current.has_focus
        self._current = number % len(self._panes)
        self.current.renew()
        for pane in self._panes:
            pane.display = pane is self.current
        if had_focus:
            self.current.focus()
        self._show_tabs()

    def zoom(self, *, on: bool) -> None:
        """Say so in the tabs."""
        self.zoomed = on
        self._show_tabs()

    def _show_tabs(self) -> None:
        self._tabs.show(self._current, self._palette, zoomed=self.zoomed)

    # ------------------------------------------------------------------------- keys and clicks

    @on(Pane.Turned)
    def _turned(self, event: Pane.Turned) -> None:
        event.stop()
        self.turn_to(self._current + event.to if event.relative else event.to)

    @on(PaneTabs.Turned)
    def _clicked_tab(self, event: PaneTabs.Turned) -> None:
        event.stop()
        self.turn_to(event.to)
        self.current.focus()

    @on(PaneTabs.Clicked)
    def _clicked_sign(self, event: PaneTabs.Clicked) -> None:
        event.stop()
        self.post_message(PaneStep(event.step))
