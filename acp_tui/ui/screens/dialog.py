"""Base class of everything that opens over a conversation."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from textual.screen import ModalScreen

from acp_tui.ui import keys

Result = TypeVar("Result")


class Dialog(ModalScreen[Result]):
    """Ctrl+C does here what Esc does, as everywhere; with a selection it copies."""

    BINDINGS: ClassVar = keys.bindings("dialog")

    def action_close(self) -> None:
        """What Esc does: nothing has been decided."""
        self.dismiss(None)

    def action_interrupt(self) -> None:
        """Copy what is selected, else close."""
        if (selected := self.get_selected_text()) is None:
            self.action_close()
        else:
            self.app.copy_to_clipboard(selected)
            self.clear_selection()
