"""What other modules may use of the app, besides Textual's own methods.

They cannot import the app, because the app imports them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from textual.dom import DOMNode

    from acp_tui.controller import Conversation
    from acp_tui.ui.keys.key_sequencer import KeySequencer
    from acp_tui.ui.screens.session.text_place import TextPlace
    from acp_tui.ui.terminal.tab_progress import TabProgress
    from acp_tui.ui.terminal.window_title import WindowTitle
    from acp_tui.ui.theme.palette import Palette


class AppInterface(Protocol):
    """The app as screens see it."""

    @property
    def palette(self) -> Palette:
        """The colours of the current theme."""

    @property
    def theme_name(self) -> str:
        """The name of the chosen theme, as in the settings."""

    def use_theme(self, name: str, *, preview: bool = False) -> None:
        """Switch to another theme. Problems with the theme are shown, except in a preview."""

    keymap: dict[str, str]
    """The user's own keys, by key id."""

    exit_signal: int | None
    """The number of the signal that ends the app; None if none does."""

    @property
    def window_title(self) -> WindowTitle:
        """The title of the terminal's window."""

    @property
    def tab_progress(self) -> TabProgress:
        """The progress in the terminal's tab."""

    def rename_session(self, session: str, name: str) -> bool:
        """Rename the recorded session with this id if a tab has it. Return False if none does."""

    def open_conversations(self) -> list[Conversation]:
        """Return the conversations of this app."""

    @property
    def key_sequencer(self) -> KeySequencer:
        """Dispatches keys and pastes."""

    def show_session(self, session: str, place: TextPlace | None = None) -> bool:
        """Show the tab of a recorded session, and a place in it. Return False if no tab has the session."""


def app_of(node: DOMNode) -> AppInterface:
    """Return the running app."""
    return cast("AppInterface", node.app)
