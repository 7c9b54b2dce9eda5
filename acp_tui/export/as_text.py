"""A session as plain text, for pipes, pagers and bug reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.entry_kinds.kind import TextContext
from acp_tui.entry_kinds.plain_lines import indented
from acp_tui.entry_kinds.registry import kind_of
from acp_tui.session.raw_entry import failure_note, raw_text
from acp_tui.session.text.safe_text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acp_tui.session.state import Entry, Session


def transcript_lines(session: Session, *, thoughts: bool = False) -> Iterator[str]:
    """Yield the lines of the transcript, safe for a terminal.

    Thoughts are shown as a line count unless `thoughts` is true.
    """
    context = TextContext(session, session.cwd or "", thoughts)
    for entry in session.entries:
        try:
            lines = list(kind_of(entry).plain_text(entry, context))
        except Exception as error:  # a fault in one entry must not lose the others
            lines = [failure_note(entry, error), *indented(raw_text(entry).split("\n"))]
        if lines:
            # Make every line safe here, including the ones that come from `raw_*` fields.
            for line in [*_marks(entry), *lines, ""]:
                first, *others = visible(line).split("\n")
                yield first
                yield from indented(others)  # so that a newline in a name cannot forge an entry


def _marks(entry: Entry) -> Iterator[str]:
    if entry.withdrawn:
        yield "~ no longer in the agent's context:"
    if entry.stray:
        yield "~ arrived outside a turn, or after the turn was stopped:"
