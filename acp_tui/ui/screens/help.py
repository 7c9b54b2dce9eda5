"""F1: the keys, those of the focused widget first."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

from rich.table import Table
from rich.text import Text
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from acp_tui.ui.keys import KEYS, SCOPES, TABLE, ScopeName, bindings
from acp_tui.ui.screens.dialog import Dialog
from acp_tui.ui.theme.component_style import foreground_style

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.screen import Screen

KEY_COLUMN = 24


class HelpScreen(Dialog[None]):
    """A page made from the table of keys."""

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

    def __init__(self, here: Iterable[ScopeName] = (), keymap: Mapping[str, str] | None = None) -> None:
        super().__init__()
        here = set(here)
        self._places = sorted(SCOPES, key=lambda place: place not in here)  # else in the order of the table
        self._keymap = keymap or {}

    @classmethod
    def over(cls, screen: Screen[object], keymap: Mapping[str, str] | None = None) -> Self:
        """The help for where the user is on that screen."""
        active = (KEYS.get(active.binding.id or "") for active in screen.active_bindings.values())
        return cls((key.where for key in active if key is not None), keymap)

    def compose(self) -> ComposeResult:
        """A section for each place."""
        with VerticalScroll() as page:
            page.border_title = "keys"
            page.border_subtitle = Content(
                f"{KEYS['help.close'].key_names(self._keymap)} close"
            )  # a str is markup
            for place in self._places:
                yield Static(SCOPES[place].title, classes="help--title", markup=False)
                yield Static(SCOPES[place].help, classes="help--words", markup=False)
                yield Static(self._table(place))

    def _table(self, place: ScopeName) -> Table:
        """Keys that do the same in two directions share a row."""
        rows: dict[str, list[str]] = {}
        for key in TABLE:
            if key.where == place:
                rows.setdefault(key.help, []).append(key.key_names(self._keymap))
        look = foreground_style(self, "help--key")
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(width=KEY_COLUMN)
        table.add_column(ratio=1)
        for words, keys in rows.items():
            table.add_row(Text(" ".join(keys), style=look), Text(words))
        return table
