"""What stands at the bottom of the stack of screens: a conversation, a replay, the launcher."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.screen import Screen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acp_tui.ui.keys.palette_commands import PaletteCommand


class BaseScreen(Screen[None]):
    """A screen that can be replaced by another one of its kind."""

    BLANK: ClassVar[bool] = True  # its widgets cover it: Textual need not paint it below them in every frame

    is_launcher: ClassVar[bool] = False
    """Is it there to go to others?"""

    def on_mount(self) -> None:
        """Now keys can be taken."""
        if (catch_up := getattr(self.app, "catch_up", None)) is not None:
            self.app.call_later(catch_up)

    async def leave(self) -> None:
        """It has ended: end what runs behind it."""

    def busy_reason(self) -> str | None:
        """Why it should not be left just now, in a sentence."""
        return None

    def shows_session(self, session: str) -> bool:  # noqa: ARG002  # for screens that do
        """Return True if this is the screen of the recorded session with that id."""
        return False

    def commands(self) -> Iterable[PaletteCommand]:
        """What it offers in the list of commands, beside its keys."""
        return ()
