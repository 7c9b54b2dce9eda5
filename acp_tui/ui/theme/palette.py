"""The styles that acp-tui draws with. Themes define them: nothing else names colours.

The app sets the palette of its theme. Whoever draws calls `current_palette` at that moment and does not keep
the result. Widgets, screens and dialogs that draw ahead have a method `apply_theme`, which is called when the
theme changes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style

if TYPE_CHECKING:
    from textual.widget import Widget


NO_STYLE = Style()

Spans = list[Segment]
"""A line as styled segments, without control segments."""


@dataclass(frozen=True, slots=True)
class Palette:
    """The styles that are made from a theme. Only styles that should stand out have a background."""

    dark: bool = True
    text: Style = NO_STYLE
    dim: Style = NO_STYLE  # labels, durations, line numbers
    faint: Style = NO_STYLE  # rules and guides
    accent: Style = NO_STYLE
    success: Style = NO_STYLE
    warning: Style = NO_STYLE
    error: Style = NO_STYLE
    loud: Style = NO_STYLE  # the most important warnings, with a background
    key: Style = NO_STYLE  # the name of a key
    selected: Style = NO_STYLE  # the selected row of a list
    user: Style = NO_STYLE  # the user's messages
    user_bar: Style = NO_STYLE  # the bar beside the user's messages
    thought: Style = NO_STYLE
    tool: Style = NO_STYLE  # a tool call's title
    icon: Style = NO_STYLE
    cursor: Style = NO_STYLE  # the bar beside the entry the cursor is on
    match: Style = NO_STYLE  # a search match
    match_current: Style = NO_STYLE
    withdrawn: Style = NO_STYLE  # messages that are no longer in the agent's context

    heading1: Style = NO_STYLE
    heading2: Style = NO_STYLE
    heading3: Style = NO_STYLE
    strong: Style = NO_STYLE
    emphasis: Style = NO_STYLE
    strike: Style = NO_STYLE
    link: Style = NO_STYLE
    inline_code: Style = NO_STYLE
    code: Style = NO_STYLE  # a code block, with its background
    code_label: Style = NO_STYLE  # the name of the language above a code block
    quote: Style = NO_STYLE
    quote_bar: Style = NO_STYLE
    bullet: Style = NO_STYLE
    rule: Style = NO_STYLE
    table_head: Style = NO_STYLE
    table_border: Style = NO_STYLE

    diff_number: Style = NO_STYLE
    diff_context: Style = NO_STYLE
    diff_added: Style = NO_STYLE  # an added line, with its background
    diff_added_mark: Style = NO_STYLE  # the `+` and the line number
    diff_added_word: Style = NO_STYLE  # the changed words in the line
    diff_removed: Style = NO_STYLE
    diff_removed_mark: Style = NO_STYLE
    diff_removed_word: Style = NO_STYLE
    diff_fold: Style = NO_STYLE  # "⋯ 120 unchanged lines"

    syntax: dict[str, Style] = field(default_factory=dict)
    """Styles for code, without backgrounds, by kind of token (see `SYNTAX`)."""
    terminal: tuple[str, ...] = ()
    """The 16 colours of terminal output, in Rich's notation."""

    @property
    def signs(self) -> dict[str, Style]:
        """The styles of status icons, by the status of a tool call or of a plan's step."""
        return {
            "pending": self.dim,
            "in_progress": self.accent,
            "completed": self.success,
            "failed": self.error,
            "cancelled": self.warning,
            "unfinished": self.warning,
        }


_current = Palette()


def current_palette() -> Palette:
    """Return the palette of the current theme; before an app has set one, a palette without colours."""
    return _current


def set_current_palette(palette: Palette) -> None:
    """Draw with this palette from now on."""
    global _current  # one app runs in a process, with one theme at a time
    _current = palette


SYNTAX = (
    "keyword",
    "name",
    "function",
    "class",
    "builtin",
    "decorator",
    "string",
    "number",
    "comment",
    "operator",
    "punctuation",
    "constant",
    "variable",
    "attribute",
    "tag",
    "type",
    "error",
    "inserted",
    "deleted",
    "heading",
)
"""The kinds of tokens for which a theme may define a style in `Palette.syntax`."""


NOT_DIM = Style(dim=False)
"""Removes dimming when added to a style."""


def foreground_style(widget: Widget, name: str) -> Style:
    """Return the style of the component class `name` without its background, for use on any background."""
    style = widget.get_component_rich_style(name)
    return Style(color=style.color, bold=style.bold, italic=style.italic, underline=style.underline)
