"""Types for opening a session: which session to open, and the function that makes the session's screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from acp_tui.ui.dialogs.base_screen import app_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.ui.dialogs.base_screen import BaseScreen, TextPlace
    from acp_tui.workspace.git.worktree import Worktree


class SessionToOpen(NamedTuple):
    """A session to open, and the place in it to scroll to."""

    session: str  # the id of the recording, or the agent's id of the session; empty: a new session
    agent: str | None = None  # its agent; None if the recording names it
    program: str | None = None  # the command line of an agent that has no name
    title: str = ""  # in the agent's list; safe to display
    folder: str | None = None  # where the agent starts; None for the folder of the recording
    place: TextPlace | None = None
    fork: bool = False  # open a copy of the recorded session; the agent makes the copy
    worktree: Worktree | None = None  # in which to open a new session


if TYPE_CHECKING:
    MakeSessionScreen = Callable[[SessionToOpen], BaseScreen]
    """Makes the conversation screen for the session to open."""


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
        place: Text in that session to scroll to.
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
