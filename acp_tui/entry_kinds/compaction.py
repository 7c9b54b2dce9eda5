"""The entry kind for compactions of the agent's context: one line, and the summary of the old context."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from acp_tui.entry_kinds.blocks import Aside, Block, FoldBlock, Headline
from acp_tui.entry_kinds.messages import message_parts, text_height
from acp_tui.entry_kinds.plain_text import indented
from acp_tui.entry_labels import compaction_words
from acp_tui.session.safe_text import escape_line

if TYPE_CHECKING:
    from acp_tui.entry_kinds.kind import TextContext
    from acp_tui.session.state import Compaction, Session

MAX_OPEN_CHARACTERS, MAX_OPEN_LINES = 300, 4
"""A finished summary that exceeds either of these limits starts folded."""


def starts_folded(compaction: Compaction) -> bool:
    """Return True if the compaction is over and its summary is long."""
    if compaction.status == "in_progress":
        return False
    text = compaction.text
    return len(text) > MAX_OPEN_CHARACTERS or text.count("\n") >= MAX_OPEN_LINES


def has_failed(compaction: Compaction) -> bool:
    return compaction.status == "failed"


def estimated_height(compaction: Compaction, width: int) -> int:
    return 1 + (text_height(compaction.parts, width) if compaction.parts else 0)


def progress(compaction: Compaction) -> str:
    words = compaction_words(compaction)
    return f"{words}: {compaction.error}" if compaction.error else words


def blocks(compaction: Compaction, _context: TextContext) -> Iterator[Block]:
    words = escape_line(compaction_words(compaction))
    if compaction.error or not compaction.parts:
        detail = compaction.error or ""
        yield Aside("error" if has_failed(compaction) else "info", "·", f"the agent: {words}", detail)
    if compaction.parts:
        title = "its summary" if compaction.error else f"the agent: {words}"
        yield FoldBlock(Headline(title), message_parts(compaction.parts), starts_folded(compaction))


def plain_text(compaction: Compaction, _context: TextContext) -> Iterator[str]:
    yield f"- The agent: {compaction_words(compaction)}"
    yield from indented([*(compaction.error or "").splitlines(), *compaction.text.splitlines()])


def search_text(compaction: Compaction, _session: Session) -> Iterable[str]:
    return [compaction.error or "", compaction.text]
