"""Every colour that the transcript draws with, made from the theme. Nothing else names a colour."""

from __future__ import annotations

from dataclasses import dataclass, field

from rich.style import Style

NO_STYLE = Style()


@dataclass(frozen=True, slots=True)
class Palette:
    """Ready-made styles. Backgrounds are set only where something stands out from the page."""

    dark: bool = True
    text: Style = NO_STYLE
    dim: Style = NO_STYLE  # labels, durations, line numbers: legible, not loud
    faint: Style = NO_STYLE  # rules, guides, what may be overlooked
    accent: Style = NO_STYLE
    success: Style = NO_STYLE
    warning: Style = NO_STYLE
    error: Style = NO_STYLE
    loud: Style = NO_STYLE  # what must not be overlooked, on a background of its own
    key: Style = NO_STYLE  # a key, where keys are told
    selected: Style = NO_STYLE  # the row that Enter takes
    user: Style = NO_STYLE  # the user's words
    user_bar: Style = NO_STYLE  # the bar before them
    thought: Style = NO_STYLE
    tool: Style = NO_STYLE  # a tool call's title
    icon: Style = NO_STYLE
    cursor: Style = NO_STYLE  # the bar beside the entry the cursor is on
    match: Style = NO_STYLE  # a hit of the search
    match_current: Style = NO_STYLE
    withdrawn: Style = NO_STYLE  # no longer in the agent's context

    heading1: Style = NO_STYLE
    heading2: Style = NO_STYLE
    heading3: Style = NO_STYLE
    strong: Style = NO_STYLE
    emphasis: Style = NO_STYLE
    strike: Style = NO_STYLE
    link: Style = NO_STYLE
    inline_code: Style = NO_STYLE
    code: Style = NO_STYLE  # code without a colour of its own, with the block's background
    code_label: Style = NO_STYLE  # the language
    quote: Style = NO_STYLE
    quote_bar: Style = NO_STYLE
    bullet: Style = NO_STYLE
    rule: Style = NO_STYLE
    table_head: Style = NO_STYLE
    table_border: Style = NO_STYLE

    diff_number: Style = NO_STYLE
    diff_context: Style = NO_STYLE
    diff_added: Style = NO_STYLE  # a whole line, with background
    diff_added_mark: Style = NO_STYLE  # the sign and the number
    diff_added_word: Style = NO_STYLE  # laid over what changed within the line
    diff_removed: Style = NO_STYLE
    diff_removed_mark: Style = NO_STYLE
    diff_removed_word: Style = NO_STYLE
    diff_fold: Style = NO_STYLE  # "⋯ 120 unchanged lines"

    syntax: dict[str, Style] = field(default_factory=dict)
    """By the short names of `SYNTAX`; foregrounds and attributes only."""
    terminal: tuple[str, ...] = ()
    """The 16 colours of terminal output, as colours that Rich understands."""

    @property
    def signs(self) -> dict[str, Style]:
        """By the status of a tool call or of a step of a plan."""
        return {
            "pending": self.dim,
            "in_progress": self.accent,
            "completed": self.success,
            "failed": self.error,
            "cancelled": self.warning,
            "unfinished": self.warning,
        }


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
"""The names of `Palette.syntax`; a theme gives a colour for any of them."""
