"""Makes the bodies that draw entries. Each kind of entry has its own renderer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from acp_tui.entry_kinds.kind_table import KINDS, kind_of
from acp_tui.session.raw_entry import failure_note, raw_text
from acp_tui.ui.drawing.body import Body, DrawContext, LinesBody
from acp_tui.ui.drawing.text_layout import hard_wrapped_lines, limit_lines, wrapped_lines
from acp_tui.ui.terminal.error_containment import record

if TYPE_CHECKING:
    from textual.strip import Strip

    from acp_tui.session.state import Entry


def import_renderers() -> None:
    """Import all renderers ahead of time, so that the first answer of an agent is drawn without delay."""
    from acp_tui.entry_kinds.kind import Imported
    from acp_tui.ui.markdown.inline import parser
    from acp_tui.ui.theme.syntax import lexer_of

    for kind in KINDS.values():
        if isinstance(kind.renderer, Imported):
            kind.renderer.load()
    parser()
    lexer_of("python")


_counts: Counter[tuple[str, int, str]] = Counter()


class GuardedBody:
    """Delegates to the body of an entry. If that raises an error, shows the entry's raw content instead."""

    def __init__(
        self, entry: Entry, context: DrawContext, replaced: Callable[[int], object] | None = None
    ) -> None:
        """`replaced` is called with the entry's id if drawing fails later: the height changes then."""
        self._entry = entry
        self._context = context
        self._replaced = replaced
        try:
            self._body: Body = kind_of(entry).renderer(entry, context)
        except Exception as error:
            self._replace(error)

    def _replace(self, error: Exception) -> None:
        record(error, _counts, f"while drawing a {type(self._entry).__name__}")
        context, text = self._context, raw_text(self._entry)
        note = wrapped_lines(failure_note(self._entry, error), context.palette.error, context.width)
        content = hard_wrapped_lines(text, context.palette.dim, context.width)
        self._body = LinesBody([*note, *limit_lines(content, context)], text)

    def _call(self, name: str, *arguments: Any) -> Any:
        """Call a method of the body. Return None if the body has no such method or the call fails."""
        try:
            method = getattr(self._body, name, None)
            return method(*arguments) if method is not None else None
        except Exception as error:
            self._replace(error)
            if self._replaced is not None:
                self._replaced(self._entry.id)
            return None

    @property
    def height(self) -> int:
        try:
            return self._body.height
        except Exception as error:
            self._replace(error)
            return self._body.height

    def line(self, number: int) -> Strip:
        strip: Strip | None = self._call("line", number)
        return strip if strip is not None else self._body.line(min(number, self._body.height - 1))

    def copy_text(self) -> str:
        text: str | None = self._call("copy_text")
        return text if text is not None else self._body.copy_text()

    def update(self) -> bool:
        """Update the body. Return False if the caller must make a new body, for example after a failure."""
        return bool(self._call("update"))

    def can_fold(self) -> bool | None:
        """Return whether folding changes the body; None if the body cannot tell without being drawn."""
        found: bool | None = self._call("can_fold")
        return found

    def settle(self, first: int, last: int) -> None:
        """Compute the exact heights of lines `first` to `last` if the body is a `LongBody`."""
        self._call("settle", first, last)

    def position_at(self, line: int) -> Any:
        """Return the position of a line in a `LongBody`; None for other bodies."""
        return self._call("position_at", line)

    def line_at(self, place: Any) -> int:
        """Return the current line number of a position in a `LongBody`; 0 for other bodies."""
        line: int | None = self._call("line_at", place)
        return line if line is not None else 0
