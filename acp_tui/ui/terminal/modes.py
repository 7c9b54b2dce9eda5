"""Terminal modes that are on while acp-tui draws, and off while another program uses the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class TerminalModes:
    """The terminal modes that are on, each with the escape sequences that turn it on and off.

    The driver turns all modes on when it takes the terminal, and off when it releases the terminal.
    """

    def __init__(self, send: Callable[[str], None]) -> None:
        """`send` writes to the terminal. It must do nothing while another program uses the terminal."""
        self._send = send
        self._modes: dict[str, tuple[str, str]] = {}

    def set(self, name: str, on: str, off: str) -> None:
        """Turn a mode on. `on` is written now and whenever acp-tui gets the terminal back.

        `off` is written whenever acp-tui releases the terminal.
        """
        self._modes[name] = (on, off)
        self._send(on)

    def unset(self, name: str) -> None:
        """Turn a mode off, if it is on. It stays off until `set` turns it on again."""
        if name in self._modes:
            self._send(self._modes.pop(name)[1])

    @property
    def all_on(self) -> str:
        """The sequences that turn all modes on."""
        return "".join(on for on, _ in self._modes.values())

    @property
    def all_off(self) -> str:
        """The sequences that turn all modes off."""
        return "".join(off for _, off in self._modes.values())
