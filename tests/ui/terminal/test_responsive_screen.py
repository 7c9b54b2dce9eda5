"""What is typed is drawn without waiting for Textual's next frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual._compositor import ChopsUpdate
from textual.app import App
from textual.widgets import Input, Static

from acp_tui.ui.terminal.responsive_screen import ResponsiveScreen
from tests.support.waiting import until

if TYPE_CHECKING:
    from rich.console import RenderableType
    from textual.app import ComposeResult
    from textual.screen import Screen


class TypingScreen(ResponsiveScreen[None]):
    def compose(self) -> ComposeResult:
        yield Static("above")
        yield Input()


class RecordingApp(App[None]):
    """Keeps the text of every partial frame."""

    frames: str = ""

    def on_mount(self) -> None:
        self.push_screen(TypingScreen())

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        if isinstance(renderable, ChopsUpdate):
            self.frames += renderable.render_segments(self.console)
        super()._display(screen, renderable)


async def test_typed_text_is_drawn_before_the_next_regular_frame() -> None:
    app = RecordingApp()
    async with app.run_test() as pilot:
        await until(lambda: isinstance(app.screen.focused, Input))
        await pilot.pause()
        app.screen._update_timer.stop()  # there are no regular frames any more
        app.screen.query_one(Input).insert_text_at_cursor("typed")
        await until(lambda: "typed" in app.frames)
