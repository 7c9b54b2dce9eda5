"""Base class of the dialogs."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from textual.screen import ModalScreen

from acp_tui.ui import keys

Result = TypeVar("Result")


class Dialog(ModalScreen[Result]):
    """A modal screen. Ctrl+C copies the selection; without a selection it does the same as Esc."""

    BINDINGS: ClassVar = keys.bindings("dialog")

    def action_close(self) -> None:
        """Close without a result."""
        self.dismiss(None)

    def action_interrupt(self) -> None:
        """Copy the selection; close if nothing is selected."""
        if (selected := self.get_selected_text()) is None:
            self.action_close()
        else:
            self.app.copy_to_clipboard(selected)
            self.clear_selection()
