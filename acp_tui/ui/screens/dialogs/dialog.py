"""Base class of the dialogs."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual import events, on
from textual.screen import ModalScreen

from acp_tui.ui import keys
from acp_tui.ui.app_interface import app_of

if TYPE_CHECKING:
    from acp_tui.ui.theme.palette import Palette

Result = TypeVar("Result")


class Dialog(ModalScreen[Result]):
    """A modal screen. Ctrl+C copies the selection; without a selection, Ctrl+C does the same as Esc."""

    BINDINGS: ClassVar = keys.bindings("dialog")

    _is_obsolete = False

    @on(events.Mount)
    def _follow_theme(self) -> None:
        """Follow the theme, which can change with the terminal's background at any time."""
        self.app.theme_changed_signal.subscribe(self, lambda _: self.use_palette(app_of(self).palette))

    def use_palette(self, palette: Palette) -> None:
        """Apply the colours of a new theme. Dialogs that draw their own lines override this method."""

    def close_when_shown(self) -> None:
        """Close without a result as soon as the dialog is on the screen: its tab is not in front now."""
        self._is_obsolete = True

    @on(events.ScreenResume)
    def _close_if_obsolete(self) -> None:
        if self._is_obsolete:
            self.dismiss(None)

    def action_close(self) -> None:
        """Close without a result."""
        self.dismiss(None)

    def action_interrupt(self) -> None:
        """Copy the selection; call `action_close` if nothing is selected."""
        if (selected := self.get_selected_text()) is None:
            self.action_close()
        else:
            self.app.copy_to_clipboard(selected)
            self.clear_selection()
