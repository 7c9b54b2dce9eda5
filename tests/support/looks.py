"""Apps that show one thing without animation, for snapshots in several themes and sizes."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import pytest
from rich.style import Style
from textual.app import App

from acp_tui.session.state import Session
from acp_tui.ui.drawing.body import DrawContext, LinesBody
from acp_tui.ui.entries.renderers import GuardedBody
from acp_tui.ui.theme.palette import set_current_palette
from acp_tui.ui.theme.themes import load_theme
from acp_tui.ui.widgets.body_scroller import BodyScroller

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.color import Color
    from textual.app import ComposeResult
    from textual.screen import Screen
    from textual.strip import Strip
    from textual.widget import Widget

    from acp_tui.session.state import Entry
    from acp_tui.ui.drawing.body import Body
    from acp_tui.ui.theme.palette import Palette

THEMES = ("dark", "light", "ansi")
SMALL, LARGE = (80, 24), (120, 40)
every_look = pytest.mark.parametrize("theme", THEMES)
every_width = pytest.mark.parametrize("width", [SMALL[0], LARGE[0]])
look = pytest.mark.parametrize(
    ("theme", "size"),
    [("dark", SMALL), ("light", LARGE), ("ansi", SMALL)],
    ids=["dark-80x24", "light-120x40", "ansi-80x24"],
)
"""Each theme and each size, but not all combinations."""
two_looks = pytest.mark.parametrize(
    ("theme", "size"), [("dark", SMALL), ("light", LARGE)], ids=["dark-80x24", "light-120x40"]
)
"""For a variation of what has all looks in another test."""


def use_theme(app: App[Any], name: str) -> None:
    """Let an app that is not acp-tui itself draw in one of our themes."""
    loaded = load_theme(name)
    set_current_palette(loaded.palette)
    app.register_theme(loaded.theme)
    app.theme = loaded.theme.name


def shown_colours(app: App[Any]) -> set[Color | None]:
    """Return the colours of all text on the screen."""
    strips = app.screen._compositor.render_strips()
    return {part.style.color for strip in strips for part in strip if part.text.strip() and part.style}


def _colours_of(palette: Palette) -> set[Color | None]:
    styles = (getattr(palette, part.name) for part in fields(palette))
    return {style.color for style in styles if isinstance(style, Style)}


DARK_ONLY = _colours_of(load_theme("dark").palette) - _colours_of(load_theme("light").palette)
"""Colours that are not on the screen in the theme `light`."""


class Show(App[None]):
    """An app in one of our themes that shows widgets or a screen."""

    ENABLE_COMMAND_PALETTE = False
    CSS = "Screen { background: $background; }"

    def __init__(
        self,
        theme: str,
        *,
        widgets: Callable[[], Sequence[Widget]] | None = None,
        screen: Callable[[], Screen[object]] | None = None,
    ) -> None:
        super().__init__()
        self.answers: list[object] = []
        """The results with which the screen was dismissed."""
        self._widgets = widgets
        self._first = screen
        use_theme(self, theme)

    def compose(self) -> ComposeResult:
        """Yield the widgets."""
        if self._widgets is not None:
            yield from self._widgets()

    def on_mount(self) -> None:
        """Push the screen."""
        if self._first is not None:
            self.push_screen(self._first(), self.answers.append)


def entries_app(theme: str, entries: Sequence[tuple[Entry, bool]], session: Session | None = None) -> Show:
    """Return an app that shows entries, each folded or not, as the transcript does."""

    def widgets() -> list[Widget]:
        page = BodyScroller(lambda width: _bodies(entries, session, width))
        page.styles.height = "1fr"
        page.styles.padding = (0, 0, 0, 1)
        return [page]

    return Show(theme, widgets=widgets)


def shows_all(
    snap_compare: Callable[..., bool],
    theme: str,
    width: int,
    entries: Sequence[tuple[Entry, bool]],
    session: Session | None = None,
) -> bool:
    """Compare a snapshot that is high enough for all entries."""
    bodies = _bodies(entries, session, width - 2)
    height = sum(body.height for body in bodies)
    return snap_compare(entries_app(theme, entries, session), terminal_size=(width, height))


def _bodies(entries: Sequence[tuple[Entry, bool]], session: Session | None, width: int) -> list[Body]:
    bodies: list[Body] = []
    for entry, folded in entries:
        context = DrawContext(width=width - 1, session=session or Session(), folded=folded, cwd="/project")
        bodies += [settled(GuardedBody(entry, context)), LinesBody([_blank()], "")]
    return bodies


def settled(body: Body) -> Body:
    """Return the body after drawing all of it: long ones are normally drawn only where visible."""
    settle = getattr(body, "settle", None)
    if settle is not None:
        settle(0, 1 << 20)
    return body


def _blank() -> Strip:
    from textual.strip import Strip

    return Strip.blank(1)


def drawn(
    entry: Entry, *, width: int = 80, folded: bool = False, session: Session | None = None
) -> list[str]:
    """Return the lines of an entry as text."""
    palette = load_theme("dark").palette
    context = DrawContext(width, session or Session(), palette=palette, folded=folded)
    body = settled(GuardedBody(entry, context))
    lines = [body.line(number) for number in range(body.height)]
    assert all(line.cell_length <= width for line in lines)
    return [line.text.rstrip() for line in lines]
