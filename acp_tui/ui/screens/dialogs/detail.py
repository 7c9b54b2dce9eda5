"""The full-screen view of one text, such as raw JSON, a whole diff or the agent's stderr."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment

from acp_tui.session.state import Session
from acp_tui.ui import keys
from acp_tui.ui.drawing.body import DrawContext
from acp_tui.ui.screens.dialogs.dialog import Dialog
from acp_tui.ui.widgets.bar import Bar, KeyHints
from acp_tui.ui.widgets.body_scroller import BodyScroller
from acp_tui.ui.widgets.long_text import LongText

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult

    from acp_tui.ui.drawing.body import Body
    from acp_tui.ui.theme.palette import Palette
    from acp_tui.ui.widgets.bar import Hint

    Content = str | Callable[[DrawContext], Sequence[Body]]


class DetailScreen(Dialog[None]):
    """Shows a text, which must be safe to display, or the `Body` objects that a function draws."""

    SCOPED_CSS = False  # subclasses use it, too
    CSS = """
    DetailScreen { background: $background; layout: vertical; }
    DetailScreen Bar { padding: 0 1; background: $surface; }
    DetailScreen BodyScroller { height: 1fr; padding: 0 0 0 1; }
    """
    BINDINGS: ClassVar = keys.bindings("detail")
    AUTO_FOCUS = ""

    def __init__(
        self, title: str, content: Content, palette: Palette, *, session: Session | None = None, cwd: str = ""
    ) -> None:
        super().__init__()
        self._title = title
        self._content = content
        self._palette = palette
        self._session = session or Session()
        self._cwd = cwd

    def compose(self) -> ComposeResult:
        yield Bar([Segment(self._title, self._palette.strong)], id="head")
        yield BodyScroller(self._bodies, id="text")
        yield KeyHints(self._hints(), self._palette, id="keys")

    def on_mount(self) -> None:
        """Show the numbers of the visible lines in the title bar, now and while the user scrolls."""
        self.watch(self.query_one(BodyScroller), "scroll_y", self._show_position)
        self.call_after_refresh(self._show_position)

    def on_resize(self) -> None:
        """Update the line range in the title: lines wrap differently at the new width."""
        self.call_after_refresh(self._show_position)

    def use_palette(self, palette: Palette) -> None:
        """Apply the colours of a new theme."""
        self._palette = palette
        self.query_one("#head", Bar).show([Segment(self._title, palette.strong)])
        self.query_one(BodyScroller).show(self._bodies)
        self.query_one("#keys", KeyHints).use_palette(palette)
        self.call_after_refresh(self._show_position)

    def _bodies(self, width: int) -> Sequence[Body]:
        if isinstance(self._content, str):
            return [LongText(self._content, self._palette.text, width)]
        context = DrawContext(
            width=width, palette=self._palette, session=self._session, cwd=self._cwd, full=True
        )
        return self._content(context)

    def _hints(self) -> Sequence[Hint]:
        copy, close = (keys.bound_keys(self, name).split()[0] for name in ("detail.copy", "detail.close"))
        return [(close, "close"), (copy, "copy all"), ("↑↓ PgUp PgDn", "scroll")]

    def _show_position(self) -> None:
        page = self.query_one(BodyScroller)
        height = page.virtual_size.height
        if not page.size.height or not height:
            return
        first = page.scroll_offset.y + 1
        last = min(height, first + page.size.height - 1)
        position = [Segment(f" {first:,}–{last:,} of {height:,}", self._palette.dim)]
        self.query_one("#head", Bar).show(right=position)

    def action_scroll(self, lines: int) -> None:
        """Scroll down by this number of lines; up if negative."""
        self.query_one(BodyScroller).scroll_relative(y=lines, animate=False)

    def action_page(self, step: int) -> None:
        """Scroll by a page, keeping one line in view."""
        page = self.query_one(BodyScroller)
        page.scroll_relative(y=step * max(1, page.size.height - 1), animate=False)

    def action_home(self) -> None:
        """Scroll to the beginning."""
        self.query_one(BodyScroller).scroll_home(animate=False)

    def action_end(self) -> None:
        """Scroll to the end."""
        self.query_one(BodyScroller).scroll_end(animate=False)

    def action_copy(self) -> None:
        """Copy the selection, or everything if nothing is selected."""
        text = self.get_selected_text() or self.query_one(BodyScroller).copy_text()
        self.app.copy_to_clipboard(text)
