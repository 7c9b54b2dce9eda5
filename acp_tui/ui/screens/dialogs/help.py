"""The help page: all keys, in sections. Sections with keys that currently work come first."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

from rich.table import Table
from rich.text import Text
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from acp_tui.ui.keys import KEYS, SCOPES, TABLE, ScopeName, bindings
from acp_tui.ui.screens.dialogs.dialog import Dialog
from acp_tui.ui.theme.component_style import foreground_style

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.screen import Screen

    from acp_tui.ui.theme.palette import Palette

KEY_COLUMN = 24


class HelpScreen(Dialog[None]):
    """Lists all keys. Each section lists the keys that work in one part of the app."""

    DEFAULT_CSS = """
    HelpScreen {
        align: center middle;
        & > VerticalScroll {
            width: 90;
            max-width: 96%;
            height: auto;
            max-height: 94%;
            padding: 1 0 1 2;
            background: $surface;
            border: round $primary;
            border-title-color: $text-accent;
            border-subtitle-color: $text-muted;
            scrollbar-size-vertical: 1;
        }
        & Static { height: auto; margin-bottom: 1; padding-right: 1; }
        & .help--title { color: $text-accent; text-style: bold; margin-bottom: 0; }
        & .help--words { color: $text-muted; margin-bottom: 0; }
        & > .help--key { color: $footer-key-foreground; text-style: bold; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"help--key"}
    BINDINGS: ClassVar[list[BindingType]] = bindings("help")

    def __init__(self, first: Iterable[ScopeName] = (), keymap: Mapping[str, str] | None = None) -> None:
        super().__init__()
        first = set(first)
        self._scopes = sorted(SCOPES, key=lambda scope: scope not in first)  # both groups keep their order
        self._keymap = keymap or {}

    @classmethod
    def for_screen(cls, screen: Screen[object], keymap: Mapping[str, str] | None = None) -> Self:
        """Return the help for a screen. Sections with keys that currently work on the screen come first."""
        active = (KEYS.get(active.binding.id or "") for active in screen.active_bindings.values())
        return cls((key.scope for key in active if key is not None), keymap)

    def compose(self) -> ComposeResult:
        with VerticalScroll() as page:
            page.border_title = "keys"
            page.border_subtitle = Content(
                f"{KEYS['help.close'].key_names(self._keymap)} close"
            )  # a str would be parsed as markup
            for scope in self._scopes:
                yield Static(SCOPES[scope].title, classes="help--title", markup=False)
                yield Static(SCOPES[scope].help, classes="help--words", markup=False)
                yield Static(self._table(scope))

    def use_palette(self, palette: Palette) -> None:  # noqa: ARG002  # the keys are drawn in a style of the CSS
        """Apply the colours of a new theme."""
        self.refresh(recompose=True)

    def _table(self, scope: ScopeName) -> Table:
        """Return the keys of a scope. Keys with the same help text share a row."""
        rows: dict[str, list[str]] = {}
        for key in TABLE:
            if key.scope == scope:
                rows.setdefault(key.help, []).append(key.key_names(self._keymap))
        style = foreground_style(self, "help--key")
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(width=KEY_COLUMN)
        table.add_column(ratio=1)
        for words, keys in rows.items():
            table.add_row(Text(" ".join(keys), style=style), Text(words))
        return table
