"""Going back to an earlier prompt: a new session gets the conversation before that prompt as text.

The protocol cannot remove turns from a session, and a forked session begins with all of them.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from acp_tui.session.attachment import CONVERSATION_URI
from acp_tui.session.text.safe_text import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acp_tui.session.state import Entry, Session
    from acp_tui.ui.screens.base import BaseScreen
    from acp_tui.ui.theme.palette import Palette
    from acp_tui.workspace.baseline.replaced_files import ReplacedFile

MAX_CHARACTERS = 200_000
"""The maximum number of characters of the attached conversation.

The beginning of a longer conversation is cut off, to leave room in the agent's context.
"""
CONTINUED = (
    "This is a new session: the agent knows only what the prompt and its attachments say. "
    "The earlier session is kept and can be resumed."
)
_OMITTED = "(The beginning of the conversation is omitted.)\n\n"


class PromptDraft(NamedTuple):
    """An unsent prompt for a new session."""

    text: str
    blocks: list[dict[str, Any]]  # the content of its attachments
    replaced: Sequence[ReplacedFile] = ()  # by the rewind that led to the new session


class NewSession(Protocol):
    """Creates the screen of a new session with the same agent in the same folder."""

    def __call__(self, palette: Palette, draft: PromptDraft | None) -> BaseScreen:
        """Return the screen of the new session, with the draft, if any, in the prompt."""


def prompt_with_earlier_conversation(session: Session, number: int) -> PromptDraft:
    """Return a draft: prompt `number` (from 1), with everything before that prompt attached as Markdown."""
    from acp_tui.ui.entries.message.user_message import attachment_blocks, prompt_text

    prompt = session.prompts[number - 1]
    text, blocks = visible(prompt_text(prompt)), attachment_blocks(prompt)
    if number == 1:
        return PromptDraft(text, blocks)
    resource = {"uri": CONVERSATION_URI, "text": _markdown(session, session.entries[: prompt.id])}
    earlier = {"type": "resource", "resource": resource}
    return PromptDraft(f"{text}\n\n[earlier conversation]", [earlier, *blocks])


def _markdown(session: Session, entries: list[Entry]) -> str:
    from acp_tui.export.as_markdown import as_markdown
    from acp_tui.export.metadata import SessionMetadata

    kept = copy.copy(session)
    kept.entries = entries
    text = as_markdown(kept, SessionMetadata())
    return text if len(text) <= MAX_CHARACTERS else _OMITTED + text[-MAX_CHARACTERS:]
