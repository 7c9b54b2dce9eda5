"""The help page: all keys, in sections. Sections with keys that currently work come first; typing filters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, ClassVar, Self

from rich.table import Table
from rich.text import Text
from textual import on
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from acp_tui.ui.dialogs.dialog import Dialog, scroll_page
from acp_tui.ui.keys import KEYS, SCOPES, ScopeName, bindings
from acp_tui.ui.theme.palette import foreground_style
from acp_tui.ui.widgets.input_line import InputLine
from acp_tui.ui.widgets.select_list import word_rank

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.screen import Screen


KEY_COLUMN = 24


class HelpScreen(Dialog[None]):
    """Lists all keys. Each section lists the keys that work in one part of the app."""

    DEFAULT_CSS = """
    HelpScreen {
        align: center middle;
        & > Vertical {
            width: 90;
            max-width: 96%;
            height: auto;
            max-height: 94%;
            padding: 1 0 1 2;
            background: $surface;
            border: round $primary;
            border-title-color: $text-accent;
            border-subtitle-color: $text-muted;
        }
        & InputLine { margin: 0 2 1 0; }
        & VerticalScroll { height: auto; max-height: 100%; scrollbar-size-vertical: 1; }
        & Static { height: auto; margin-bottom: 1; padding-right: 1; }
        & .help--title { color: $text-accent; text-style: bold; margin-bottom: 0; }
        & .help--words { color: $text-muted; margin-bottom: 0; }
        & > .help--key { color: $footer-key-foreground; text-style: bold; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"help--key"}
    BINDINGS: ClassVar[list[BindingType]] = bindings("help")
    AUTO_FOCUS = "Input"

    def __init__(self, first: Iterable[ScopeName] = (), keymap: Mapping[str, str] | None = None) -> None:
        super().__init__()
        first = set(first)
        self._scopes = sorted(SCOPES, key=lambda scope: scope not in first)  # both groups keep their order
        self._keymap = keymap or {}
        self._query = ""

    @classmethod
    def for_screen(cls, screen: Screen[object], keymap: Mapping[str, str] | None = None) -> Self:
        """Return the help for a screen. Sections with keys that currently work on the screen come first."""
        active = (KEYS.get(active.binding.id or "") for active in screen.active_bindings.values())
        return cls((key.scope for key in active if key is not None), keymap)

    def compose(self) -> ComposeResult:
        with Vertical() as page:
            page.border_title = "keys"
            page.border_subtitle = Content(
                f"{KEYS['help.close'].key_names(self._keymap)} close"
            )  # a str would be parsed as markup
            yield InputLine(placeholder="type to search")
            with VerticalScroll(can_focus=False):
                for scope in self._scopes:
                    yield Static(SCOPES[scope].title, classes="help--title", markup=False)
                    yield Static(SCOPES[scope].help, classes="help--words", markup=False)
                    yield Static(self._table(self._rows(scope)), classes="help--keys")
                yield Static("No key matches.", id="none")

    def on_mount(self) -> None:
        self._show_matches()

    def apply_theme(self) -> None:
        """Draw the keys again, in a style of the new theme's CSS."""
        self._show_matches()

    @on(Input.Changed)
    def _filter(self, event: Input.Changed) -> None:
        event.stop()
        self._query = event.value
        self._show_matches()
        self.query_one(VerticalScroll).scroll_home(animate=False)

    def _show_matches(self) -> None:
        """Show the keys that match the query, with the titles of their sections."""
        found = False
        parts = (list(self.query(f".help--{name}").results(Static)) for name in ("title", "words", "keys"))
        for scope, title, words, keys in zip(self._scopes, *parts, strict=True):
            rows = self._rows(scope)
            title.display = keys.display = bool(rows)
            words.display = bool(rows) and not self._query.strip()
            found = found or bool(rows)
            keys.update(self._table(rows))
        self.query_one("#none", Static).display = not found

    def _rows(self, scope: ScopeName) -> dict[str, list[str]]:
        """Return the keys of a scope that match the query, by what they do. Digits share a row."""
        rows: dict[str, list[str]] = {}
        for key in SCOPES[scope].keys:
            names = key.key_names(self._keymap)
            words = key.row_title or key.title
            if not self._query.strip() or word_rank(self._query, words, names, SCOPES[scope].title):
                rows.setdefault(words, []).append(names)
        return rows

    def _table(self, rows: Mapping[str, list[str]]) -> Table:
        style = foreground_style(self, "help--key")
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(width=KEY_COLUMN)
        table.add_column(ratio=1)
        for words, keys in rows.items():
            table.add_row(Text(" ".join(keys), style=style), Text(words))
        return table

    # ------------------------------------------------------------------------- keys

    def action_scroll(self, step: int) -> None:
        """Scroll by lines."""
        self.query_one(VerticalScroll).scroll_relative(y=step, animate=False)

    def action_page(self, step: int) -> None:
        """Scroll by pages."""
        scroll_page(self.query_one(VerticalScroll), step)

    def action_close(self) -> None:
        """Clear the search; if it is empty, close the page."""
        line = self.query_one(InputLine)
        if line.value:
            line.value = ""
        else:
            self.dismiss(None)

    def action_close_page(self) -> None:
        """Close the page, whatever the search is."""
        self.dismiss(None)
