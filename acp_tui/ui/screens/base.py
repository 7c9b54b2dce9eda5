"""The base of the screen stack: a conversation, a replay or the launcher."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.screen import Screen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acp_tui.ui.keys.palette_commands import PaletteCommand


class BaseScreen(Screen[None]):
    """A screen at the base of the stack, replaceable by another one."""

    BLANK: ClassVar[bool] = True  # its widgets cover it: Textual need not paint it below them in every frame

    is_launcher: ClassVar[bool] = False
    """True for the launcher, which leads to other screens."""

    def on_mount(self) -> None:
        """Deliver the keys typed before the screen was mounted."""
        if (catch_up := getattr(self.app, "catch_up", None)) is not None:
            self.app.call_later(catch_up)

    async def leave(self) -> None:
        """Shut down what the screen owns. Called when it is replaced or the app ends."""

    def busy_reason(self) -> str | None:
        """A sentence why the screen should not be left now; None if it may be."""
        return None

    def shows_session(self, session: str) -> bool:  # noqa: ARG002  # for screens that do
        """Return True if this is the screen of the recorded session with that id."""
        return False

    def commands(self) -> Iterable[PaletteCommand]:
        """Commands for the palette that have no key."""
        return ()
