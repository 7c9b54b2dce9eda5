"""Opens the conversation that the user chose in a list of agents or sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.ui.app_interface import app_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.ui.screens.base import BaseScreen
    from acp_tui.ui.screens.session.text_place import TextPlace


def open_conversation(
    chooser: BaseScreen,
    over: BaseScreen | None,
    make: Callable[[], BaseScreen],
    *,
    session: str | None = None,
    place: TextPlace | None = None,
) -> None:
    """Show the chosen conversation, in a tab of its own or in place of the chooser.

    Args:
        chooser: The screen on which the user chose the conversation.
        over: The screen that the chooser covers; None if the chooser covers no screen. A chooser that covers
            a screen is closed.
        make: Makes the screen of the conversation. The screen opens in a new tab if `over` is given;
            otherwise the screen replaces the chooser.
        session: The id of a recorded session. If a tab already has this session open, show that tab instead.
        place: A text in that session to scroll to.
    """
    if over is not None:
        chooser.app.pop_screen()
    if session is not None and app_of(chooser).show_session(session, place):
        return
    screen = make()
    if over is not None:
        over.post_message(over.TabRequested(screen))
    else:
        chooser.post_message(chooser.SwitchRequested(chooser, screen))
