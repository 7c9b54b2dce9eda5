"""What a screen reports to its tab. `Tab.mark` derives the mark in the tab strip from this state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from acp_tui.session.text.safe_text import visible_line

if TYPE_CHECKING:
    from acp_tui.controller import Conversation
    from acp_tui.session.state import Session
    from acp_tui.ui.widgets.status.status_facts import StatusFacts

Activity = Literal["connecting", "loading", "idle", "working", "background", "asking", "cancelling", "dead"]

BUSY: frozenset[Activity] = frozenset({"working", "cancelling", "asking"})
"""The activities during which a turn is running."""
MAX_TITLE_CHARACTERS = 100
"""The maximum length of a title. A longer one, such as a whole prompt, is cut."""


@dataclass(frozen=True, slots=True)
class TabState:
    """What a tab shows of its conversation. Texts are safe to display."""

    agent: str = ""  # the agent's title
    title: str = ""  # the session's title
    name: str = ""  # chosen by the user
    activity: Activity = "idle"
    question: str = ""  # what the agent asks about; may be empty while it asks
    entries: int = 0  # the number of entries of the conversation
    session: str = ""  # the id of the recorded session, once it contains a prompt

    @property
    def label(self) -> str:
        """The name by which the user knows the conversation."""
        return self.name or self.title or self.agent or "acp-tui"


def conversation_state(
    facts: StatusFacts, session: Session, conversation: Conversation | None, question: str
) -> TabState:
    """Return the state of a conversation. `conversation` is None until it has been created."""
    is_recorded = conversation is not None and bool(session.turn or session.queue)
    return TabState(
        facts.agent,
        " ".join(visible_line(session.title or "").split())[:MAX_TITLE_CHARACTERS],
        conversation.name if conversation is not None else "",
        facts.phase,
        visible_line(question),
        len(session.entries),
        (conversation.folder.id or "") if conversation is not None and is_recorded else "",
    )
