"""Types for opening a session: which session to open, and the function that makes the session's screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.ui.screens.base import BaseScreen
    from acp_tui.ui.screens.session.text_place import TextPlace
    from acp_tui.ui.theme.palette import Palette
    from acp_tui.workspace.git.worktrees.worktree import Worktree


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
    MakeSessionScreen = Callable[[Palette, SessionToOpen], BaseScreen]
    """Makes the conversation screen for the session to open."""
