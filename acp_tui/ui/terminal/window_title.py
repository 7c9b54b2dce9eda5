"""The title of the terminal's window, shared by all conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.ui.terminal.passthrough import osc

if TYPE_CHECKING:
    from collections.abc import Callable

SAVE_TITLE, RESTORE_TITLE = "\x1b[22;2t", "\x1b[23;2t"


class WindowTitle:
    """Sets the window's title on behalf of a conversation. `release` restores the original title."""

    def __init__(self, send: Callable[[str], None]) -> None:
        """`send` writes an escape sequence to the terminal."""
        self._send = send
        self._title = ""
        self._owner: object | None = None

    def show(self, owner: object, title: str) -> None:
        """Show a title on behalf of `owner`. It replaces the current title, even that of another owner."""
        if title != self._title:
            self._send(f"{'' if self._title else SAVE_TITLE}{osc('2', title)}")
        self._owner, self._title = owner, title

    def release(self, owner: object) -> None:
        """Restore the title that the window had before acp-tui, if the current title belongs to `owner`."""
        if self._owner is owner:
            self._send(RESTORE_TITLE)
            self._owner, self._title = None, ""
