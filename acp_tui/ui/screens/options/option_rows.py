"""The rows of the options dialog: by category, each with the option's name and value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment

from acp_tui.session.offered_options import options_by_category, value_name
from acp_tui.session.text.safe_text import visible_line
from acp_tui.ui.drawing.wrap import shorten
from acp_tui.ui.widgets.select_list import Row
from acp_tui.ui.widgets.word_match import best_matches

if TYPE_CHECKING:
    from collections.abc import Mapping

    from acp_tui.session.state import Choice, ConfigOption, Session
    from acp_tui.ui.drawing.body import Spans
    from acp_tui.ui.theme.palette import Palette

MAX_TITLE_WIDTH, MAX_NAME_WIDTH = 16, 24
GAP = 2


def matching_options(session: Session, query: str) -> list[tuple[str, ConfigOption]]:
    """Return the options that match `query`, each with its category's title, best match first.

    If `query` is empty, return all options in the order of the dialog.
    """
    found = [(title, option) for title, options in options_by_category(session) for option in options]
    if not query:
        return found
    return best_matches(query, found, lambda item: [item[1].name, item[0], *_value_names(item[1])])


def _value_names(option: ConfigOption) -> list[str]:
    return [choice.name for choice in option.choices]


def build_rows(
    options: list[tuple[str, ConfigOption]], wanted: Mapping[str, str | bool], palette: Palette
) -> list[Row]:
    """Return a row for each option.

    A row begins with the title of the option's category, unless the row above has the same category. `wanted`
    are the values that the agent has not confirmed yet.
    """
    titles = [title for title, _ in options]
    names = [visible_line(option.name) for _, option in options]
    title_width, name_width = _width(titles, MAX_TITLE_WIDTH), _width(names, MAX_NAME_WIDTH)
    rows: list[Row] = []
    for (title, option), name, before in zip(options, names, [None, *titles], strict=False):
        pending = option.id in wanted
        value = wanted.get(option.id, option.current)
        text = [
            Segment(_cell("" if title == before else title, title_width), palette.dim),
            Segment(_cell(name, name_width), palette.text),
            *_value(option, value, palette, pending=pending),
        ]
        rows.append(Row([], text, cut=True))
    return rows


def _width(texts: list[str], maximum: int) -> int:
    return min(maximum, max(map(cell_len, texts), default=0))


def _cell(text: str, width: int) -> str:
    words = shorten(text, width)
    return words + " " * (width - cell_len(words) + GAP)


def _value(option: ConfigOption, value: str | bool | None, palette: Palette, *, pending: bool) -> Spans:
    style = palette.warning if pending else palette.accent
    if isinstance(value, bool):
        spans = [Segment("[x] on" if value else "[ ] off", style)]
    else:
        choice = choice_of(option, value)
        name = value_name(option) if choice is None else choice.name
        group = f"  {choice.group}" if choice is not None and choice.group else ""
        spans = [Segment(name, style), Segment(group, palette.faint)]
    return [*spans, Segment(" …", style)] if pending else spans


def choice_of(option: ConfigOption, value: str | bool | None) -> Choice | None:
    """Return the choice that has this value; None if the option has no such choice."""
    return next((choice for choice in option.choices if choice.value == value), None)


def next_value(option: ConfigOption, value: str | bool | None, step: int) -> str | bool | None:
    """Return the value after `value`, or before `value` if `step` is -1; None if there is no other value.

    The order wraps around. If `value` is none of the choices, return the first choice.
    """
    if option.kind == "boolean":
        return not value
    values = [choice.value for choice in option.choices]
    if not values or values == [value]:
        return None
    if value not in values:
        return values[0]
    return values[(values.index(str(value)) + step) % len(values)]
