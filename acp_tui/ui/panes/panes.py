"""The container of all panes. Only the visible pane is kept up to date."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from textual import on
from textual.containers import Vertical

from acp_tui.ui.panes.files import FilesPane
from acp_tui.ui.panes.messages import PanesAction
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
    """All panes, below a row of tabs. `SidePanesLayout` places this container on the screen."""

    DEFAULT_CSS = """
    Panes { background: $surface; }
    Panes > Pane { margin: 1 0 0 0; display: none; }
    """

    def __init__(self, source: PaneSource, palette: Palette, first: str = "plan") -> None:
        """`first` is the lower-case title of the pane to show first."""
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

    def use_palette(self, palette: Palette) -> None:
        """Use the colours of another theme."""
        self._palette = palette
        for pane in self._panes:
            pane.palette = palette
        self.current.refresh_items()
        self._show_tabs()

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
        self._tabs.show(self._current, self._palette, zoomed=self.zoomed)

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
