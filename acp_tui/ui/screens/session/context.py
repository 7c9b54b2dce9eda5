"""The state that the parts of a session screen share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp_tui.controller import Conversation
    from acp_tui.session.state import Session
    from acp_tui.ui.theme.palette import Palette


@dataclass(slots=True)
class SessionContext:
    """The session on the screen, and how to draw the session. The screen keeps the attributes up to date."""

    session: Session
    palette: Palette
    cwd: str = ""
    conversation: Conversation | None = None  # None for a recording, and before it has been created
