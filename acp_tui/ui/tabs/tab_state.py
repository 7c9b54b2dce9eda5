"""What a screen reports to its tab. `Tab.mark` derives the mark in the tab strip from this state."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from acp_tui.session.text.safe_text import visible_line
from acp_tui.workspace.git.worktrees.worktree import BRANCH_PREFIX

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
    session: str = ""  # the id of the recorded session
    branch: str = ""  # of the git worktree made for the session

    @property
    def label(self) -> str:
        """The name by which the user knows the conversation."""
        return self.name or self.title or self.branch or self.agent or "acp-tui"


def conversation_state(
    facts: StatusFacts,
    session: Session,
    conversation: Conversation | None,
    question: str,
    earlier: TabState,
) -> TabState:
    """Return the state of a conversation. `conversation` is None until it has been created.

    `earlier` is the tab's state until now. Its title is kept until the session has one.
    """
    title = " ".join(visible_line(session.title or "").split())[:MAX_TITLE_CHARACTERS]
    if conversation is None:
        return replace(earlier, agent=facts.agent or earlier.agent, activity=facts.phase)
    worktree = conversation.options.worktree
    return TabState(
        facts.agent,
        title or earlier.title,
        conversation.name,
        facts.phase,
        visible_line(question),
        len(session.entries),
        conversation.folder.id or "",
        visible_line(worktree.branch.removeprefix(BRANCH_PREFIX)) if worktree is not None else "",
    )
