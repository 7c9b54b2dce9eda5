"""The interface of the app for modules that cannot import the app, because the app imports them.

The interface lists what these modules use besides Textual's own methods.
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

    def redraw(self) -> None:
        """Draw the whole screen again, for example after another program wrote on the terminal."""

    keymap: dict[str, str]
    """The user's own keys, by key id."""

    exit_signal: int | None
    """The number of the signal that made the app exit, or None."""

    @property
    def window_title(self) -> WindowTitle:
        """The title of the terminal's window."""

    @property
    def tab_progress(self) -> TabProgress:
        """Shows progress in the terminal's tab or in the task bar."""

    def rename_session(self, session: str, name: str) -> bool:
        """Rename the session with the id `session`. Return False if no tab has this session open."""

    def open_conversations(self) -> list[Conversation]:
        """Return the conversations that are open in tabs."""

    @property
    def key_sequencer(self) -> KeySequencer:
        """Passes keys and pastes to the screen in order, once the screen can handle them."""

    def show_session(self, session: str, place: TextPlace | None = None) -> bool:
        """Show the tab of the recorded session with the id `session`, scrolled to `place`.

        Return False if no tab shows this session.
        """


def app_of(node: DOMNode) -> AppInterface:
    """Return the running app, given any of its widgets or screens."""
    return cast("AppInterface", node.app)
