"""Extracts what goes into the index from a session: the entries' texts, and facts for the session list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from acp_tui.entry_kinds.registry import kind_of
from acp_tui.entry_kinds.tool_call import changed_paths
from acp_tui.protocol.fold import fold
from acp_tui.session.text.safe_text import visible, visible_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acp_tui.session.record import Record
    from acp_tui.session.state import Entry, Session

MAX_ENTRY_CHARACTERS = 40_000
"""The maximum length of an entry's text in the index. The middle of a longer text is omitted."""
MAX_PROMPT_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class SessionTexts:
    """The indexed content of a session."""

    turns: int
    changed_files: int
    first_prompt: str  # on one line, shortened
    can_fork: bool  # the agent offers to fork sessions
    texts: list[tuple[int, str]]  # the entries' positions in the session, with their texts


def session_texts(records: Iterable[Record]) -> SessionTexts:
    """Rebuild a session from its log records, as a replay does, and return what goes into the index."""
    session = fold(records)
    texts = ((entry.id, _shortened(_text(entry, session))) for entry in session.entries)
    prompts = session.prompts
    return SessionTexts(
        turns=len(prompts),
        changed_files=len({path for call in session.tool_calls.values() for path in changed_paths(call)}),
        first_prompt=visible_line(prompts[0].text[:MAX_PROMPT_CHARACTERS]) if prompts else "",
        can_fork=session.agent is not None and session.agent.can("sessionCapabilities", "fork"),
        texts=[(position, text) for position, text in texts if text],
    )


def _text(entry: Entry, session: Session) -> str:
    return visible(kind_of(entry).searched_text(entry, session)).strip()


def _shortened(text: str) -> str:
    if len(text) <= MAX_ENTRY_CHARACTERS:
        return text
    half = MAX_ENTRY_CHARACTERS // 2
    return f"{text[:half]}\n{text[-half:]}"
