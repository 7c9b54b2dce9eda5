"""Makes the bodies that draw entries. Each kind of entry has its own renderer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.entry_kinds.registry import kind_of, kinds

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.session.state import Entry
    from acp_tui.ui.drawing.body import Body, DrawContext


def make_body(entry: Entry, context: DrawContext, replaced: Callable[[int], object] | None = None) -> Body:
    """Make the body that draws an entry. If drawing fails, the body shows the entry's raw content.

    `replaced` is called with the entry's id if drawing fails later, because then the height changes.
    """
    from acp_tui.ui.entries.guarded_body import GuardedBody

    return GuardedBody(lambda: kind_of(entry).renderer(entry, context), entry, context, replaced)


def import_renderers() -> None:
    """Import all renderers ahead of time, so that the first answer of an agent is drawn without delay."""
    from acp_tui.entry_kinds.imported import Imported
    from acp_tui.ui.markdown.parser import parser
    from acp_tui.ui.theme.syntax import lexer_of

    for kind in kinds().values():
        if isinstance(kind.renderer, Imported):
            kind.renderer.load()
    parser()
    lexer_of("python")
