"""The panes of a session screen: opening, zooming and closing them, and keeping them up to date."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.state import Diff

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from acp_tui.session.change import Change
    from acp_tui.ui.panes.messages import PanesActionName
    from acp_tui.ui.panes.panes import Panes
    from acp_tui.ui.panes.side_panes_layout import SidePanesLayout
    from acp_tui.ui.screens.base import BaseScreen
    from acp_tui.ui.screens.session.context import SessionContext
    from acp_tui.ui.theme.palette import Palette
    from acp_tui.ui.transcript.transcript import Transcript


class SidePanes:
    """Shows the panes beside the transcript, or over the transcript on a narrow terminal.

    The panes are created on first use.
    """

    def __init__(
        self,
        screen: BaseScreen,
        transcript: Transcript,
        context: SessionContext,
        focus_prompt: Callable[[], None],
    ) -> None:
        """`focus_prompt` focuses the prompt or the line in its place, if there is one."""
        self._screen = screen
        self._transcript = transcript
        self._context = context
        self._focus_prompt = focus_prompt
        self._panes: Panes | None = None
        self._was_wide = False
        self._hidden_by_resize = False
        self.layout: SidePanesLayout | None = None
        """The layout of the screen with panes; None until they are opened for the first time."""

    @property
    def visible(self) -> Panes | None:
        """The panes, or None while they are closed."""
        return self._panes if self._panes is not None and self._panes.display else None

    @property
    def created(self) -> Panes | None:
        """The panes, even while they are closed; None until they are opened for the first time."""
        return self._panes

    @property
    def _is_wide(self) -> bool:
        from acp_tui.ui.panes.side_panes_layout import fits_beside

        return fits_beside(self._screen.size.width)

    @property
    def _has_focus(self) -> bool:
        panes = self.visible
        return panes is not None and (panes.zoomed or panes.current.has_focus)

    @property
    def is_overlay(self) -> bool:
        """True if the panes cover the transcript."""
        panes = self.visible
        return panes is not None and (panes.zoomed or not self._is_wide)

    # ------------------------------------------------------------------------- opening and closing

    def resize(self) -> None:
        """Hide the panes when the terminal becomes narrow, unless they are focused or zoomed.

        When the terminal becomes wide again, show the panes that were hidden in this way.
        """
        if self._is_wide == self._was_wide:
            return
        self._was_wide = self._is_wide
        if self._is_wide and self._hidden_by_resize:
            self.open(focus=False)
        elif not self._is_wide and self.visible is not None and not self._has_focus:
            self.close()
            self._hidden_by_resize = True
        self._screen.refresh_bindings()

    def toggle(self) -> None:
        """Open and focus the panes, or close them."""
        if self.visible is not None:
            self.close()
        else:
            self.open(focus=True)

    def toggle_focus(self) -> None:
        """Open and focus the panes; if they have the focus, do what `leave` does."""
        panes = self.visible
        if panes is not None and panes.current.has_focus:
            self.leave()
        else:
            self.open(focus=True)

    def open_initially(self, name: str) -> None:
        """Open the pane named `name` if there is room beside the transcript; "none" opens no pane.

        Does nothing if the panes have been opened before.
        """
        if self._panes is None and name != "none" and self._is_wide:
            self.open(focus=False, first=name)

    def open(self, *, focus: bool, first: str | None = None) -> None:
        """Show the panes.

        When they are shown for the first time, the pane named `first` is selected; without `first`, a pane
        that has content is selected. Later, `first` has no effect.
        """
        panes = self._panes
        if panes is None:
            from acp_tui.ui.panes.pane import PaneSource
            from acp_tui.ui.panes.panes import Panes
            from acp_tui.ui.panes.side_panes_layout import SidePanesLayout

            context = self._context
            source = PaneSource(context.session, context.cwd, context.conversation)
            panes = self._panes = Panes(source, context.palette, first or self._first_pane())
            self.layout = SidePanesLayout(self._transcript, panes)
            self._screen.mount(panes, after=self._transcript)
        elif not panes.display:
            panes.display = True
            self._reload(panes)
        self._hidden_by_resize = False
        self._screen.refresh_bindings()
        if focus:
            panes.call_after_refresh(panes.current.focus)

    def _first_pane(self) -> str:
        session = self._context.session
        if session.plan is not None:
            return "plan"
        contents = [part for call in session.tool_calls.values() for part in call.content]
        if any(isinstance(part, Diff) for part in contents):
            return "files"
        return "terminals" if session.terminals else "session"

    def close(self) -> None:
        """Hide the panes. They keep their content."""
        panes = self.visible
        if panes is None:
            return
        had_focus = panes.current.has_focus
        self._zoom(on=False)
        panes.display = False
        self._hidden_by_resize = False
        self._screen.refresh_bindings()
        if had_focus:
            self._focus_back()

    def close_overlay(self) -> bool:
        """If the panes cover the transcript, unzoom or close them; return False if they do not cover it."""
        is_overlay = self.is_overlay
        if is_overlay:
            self.leave()
        return is_overlay

    def leave(self) -> None:
        """Unzoom the panes if they are zoomed.

        Otherwise, close them on a narrow terminal, and focus the prompt on a wide terminal.
        """
        if self.visible is not None and self.visible.zoomed:
            self._zoom(on=False)
        elif not self._is_wide:
            self.close()
        else:
            self._focus_back()

    def _focus_back(self) -> None:
        self._transcript.focus()
        self._focus_prompt()

    def _zoom(self, *, on: bool) -> None:
        if self._panes is not None and self.layout is not None:
            self.layout.zoomed = on
            self._panes.set_zoomed(on=on)
            self._screen.refresh_bindings()
            self._panes.refresh(layout=True)  # makes the screen arrange its widgets anew

    def run(self, action: PanesActionName) -> None:
        """Run the action that a key of the panes requested."""
        match action:
            case "leave":
                self.leave()
            case "close":
                self.close()
            case "zoom":
                self._zoom(on=not (self._panes is not None and self._panes.zoomed))

    # ------------------------------------------------------------------------- content

    def show_changes(self, changes: Sequence[Change]) -> None:
        """Apply changes of the session, if the panes are visible."""
        panes = self.visible
        if panes is None:
            return
        context, source = self._context, panes.source
        if source.session is not context.session or source.conversation is not context.conversation:
            self._reload(panes)
        else:
            source.cwd = context.cwd
            panes.apply_changes(changes)

    def reload(self) -> None:
        """Rebuild the selected pane, such as the list of changed files, if the panes are visible."""
        if (panes := self.visible) is not None:
            self._reload(panes)

    def _reload(self, panes: Panes) -> None:
        context, source = self._context, panes.source
        source.session, source.cwd, source.conversation = context.session, context.cwd, context.conversation
        panes.refresh_items()

    def use_palette(self, palette: Palette) -> None:
        """Apply the colours of a new theme."""
        if self._panes is not None:
            self._panes.use_palette(palette)
