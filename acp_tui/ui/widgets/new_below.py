"""Says how much has come below what is on the screen."""

from __future__ import annotations

from textual.widgets import Static


class NewBelow(Static):
    """A mark over the last line of the transcript; a click goes to the end."""

    DEFAULT_CSS = """
    NewBelow {
        layer: above; dock: bottom; width: auto; height: 1; offset: 2 0; padding: 0 1; display: none;
        background: $panel; color: $accent;
    }
    """

    def show(self, lines: int) -> None:
        """So many lines."""
        self.display = lines > 0
        if lines > 0:
            self.update(f"↓ {lines} new")
