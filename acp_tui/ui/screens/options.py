"""The dialog that shows the agent's options by category and changes them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.segment import Segment

from acp_tui.errors import UserError
from acp_tui.session.offered_options import options_by_category, value_name
from acp_tui.session.safe_text import escape_line
from acp_tui.ui import keys
from acp_tui.ui.dialogs.dialog import BoxDialog
from acp_tui.ui.drawing.body import Body, LinesBody
from acp_tui.ui.drawing.wrap import make_strip, shorten, wrap
from acp_tui.ui.theme.palette import Spans, current_palette
from acp_tui.ui.widgets.body_scroller import BodyScroller
from acp_tui.ui.widgets.input_line import InputLine
from acp_tui.ui.widgets.select_list import SelectList, SelectRow, best_matches

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.widgets import Input

    from acp_tui.session.state import Choice, ConfigOption, Session
    from acp_tui.ui.widgets.bar import Hint


if TYPE_CHECKING:
    OptionValue = str | bool
MAX_TITLE_WIDTH, MAX_NAME_WIDTH = 16, 24
GAP = 2
OTHER_ROWS = 5
"""The rows of the filter and the description, with a blank row."""


class OptionsScreen(BoxDialog[None]):
    """Lists the options with their values. The dialog stays open while values are changed."""

    CSS = """
    OptionsScreen InputLine { margin-bottom: 1; }
    OptionsScreen #description { height: 4; margin-top: 1; }
    """
    WIDTH = 72
    BINDINGS: ClassVar = keys.bindings("options")
    AUTO_FOCUS = "InputLine"

    def __init__(
        self,
        session: Session,
        changes: OptionChanges,
        *,
        change: Callable[[str, str | bool], None],
        choose: Callable[[ConfigOption], None],
    ) -> None:
        """Create the dialog.

        Args:
            session: The session whose options are shown.
            changes: The changes that the agent has not confirmed, and those that failed.
            change: Called with an option id and a value to set.
            choose: Opens the list of values of an option.
        """
        super().__init__("Agent options")
        self._session = session
        self._changes = changes
        self._change = change
        self._choose = choose
        self._query = ""
        self._options = matching_options(session, "")

    def content(self) -> ComposeResult:
        yield OptionsFilter(placeholder="type to filter", id="filter")
        rows = SelectList([], id="options")
        rows.empty_text = "No matches"
        yield rows
        yield BodyScroller(self._description, id="description")

    def on_mount(self) -> None:
        """Show the options. From now on, show the description of the selected option."""
        self.refresh_options()
        self.watch(self.query_one(SelectList), "selected", self._show_description)

    def refresh_options(self) -> None:
        """Show the options as they are now. The agent may have added, removed or changed some."""
        rows = next(iter(self.query(SelectList)), None)
        if rows is None:  # not composed yet, or already removed
            return
        selected = self._selected
        self._options = matching_options(self._session, self._query)
        ids = [option.id for _, option in self._options]
        position = ids.index(selected.id) if selected is not None and selected.id in ids else rows.selected
        built = build_rows(self._options, self._changes.wanted)
        rows.show(built, max(0, position))
        self.fit()
        self._show_description()

    def apply_theme(self) -> None:
        super().apply_theme()
        self.refresh_options()

    def fit(self) -> None:
        self.fit_list(self.query_one(SelectList), other_rows=OTHER_ROWS)

    def hints(self) -> Sequence[Hint]:
        take, switch, close = (
            keys.bound_keys(self, name) for name in ("options.take", "options.switch", "options.close")
        )
        change = [] if self._is_filtered else [(f"←→ {switch}", "change")]
        return [*change, (take, "list of values"), ("↑↓", "option"), (close, "close")]

    # ------------------------------------------------------------------------- the description

    def _show_description(self) -> None:
        self.query_one("#description", BodyScroller).show(self._description)

    def _description(self, width: int) -> list[Body]:
        option = self._selected
        if option is None:
            return []
        palette = current_palette()
        texts: list[Spans] = []
        if (failure := self._changes.failures.get(option.id)) is not None:
            texts.append([Segment(" ".join(failure.split()), palette.error)])
        if option.description:
            texts.append([Segment(" ".join(option.description.split()), palette.text)])
        choice = choice_of(option, self._value(option))
        if choice is not None and choice.description:
            about = " ".join(choice.description.split())
            texts.append([Segment(f"{choice.name}: ", palette.accent), Segment(about, palette.dim)])
        lines = [make_strip(line) for text in texts for line in wrap(text, width)]
        return [LinesBody(lines, "\n".join(line.text for line in lines))]

    # ------------------------------------------------------------------------- keys

    @property
    def _selected(self) -> ConfigOption | None:
        index = self.query_one(SelectList).selected
        return self._options[index][1] if 0 <= index < len(self._options) else None

    def _value(self, option: ConfigOption) -> str | bool | None:
        return self._changes.wanted.get(option.id, option.current)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show the options that match the filter, best match first; all options if the filter is empty."""
        self._query = event.value.strip()
        self.update_hints()
        self.query_one(SelectList).selected = 0
        self._options = []
        self.refresh_options()

    @property
    def _is_filtered(self) -> bool:
        return any(line.value for line in self.query(OptionsFilter))  # none before the dialog is composed

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Leave the keys that change a value to the filter while it has text."""
        return not (action == "switch" and self._is_filtered)

    def action_switch(self, step: int) -> None:
        """Set the selected option to its next (1) or previous (-1) value."""
        option = self._selected
        if option is None:
            return
        value = next_value(option, self._value(option), step)
        if value is not None:
            self._change(option.id, value)

    def action_choose(self) -> None:
        """Open the list of values of the selected option; toggle an option that is only on or off."""
        option = self._selected
        if option is not None and option.kind == "boolean":
            self.action_switch(1)
        elif option is not None:
            self._choose(option)


class OptionsFilter(InputLine):
    """The filter. While it is empty, it leaves the space bar to the dialog, which binds this key."""

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Return False for a space bar that is left to the dialog. Bindings of consumed keys do not work."""
        return (character != " " or bool(self.value)) and super().check_consume_key(key, character)


class OptionChanges:
    """Sets agent options. A value requested before the agent has answered is sent after the answer."""

    def __init__(
        self, send: Callable[[str, OptionValue], Awaitable[None]], changed: Callable[[], None]
    ) -> None:
        """`send` raises `UserError` if the agent refuses. `changed` is called before and after a change."""
        self._send = send
        self._changed = changed
        self._sending: set[str] = set()
        self.wanted: dict[str, OptionValue] = {}
        """The requested values that the agent has not confirmed yet, by option id."""
        self.failures: dict[str, str] = {}
        """Why the last change of an option failed, as a sentence, by option id."""

    async def change(self, option_id: str, value: OptionValue) -> None:
        """Set an option and wait for the agent.

        If an earlier call for this option still waits, that call handles the new value, and this call returns
        at once.
        """
        self.wanted[option_id] = value
        self.failures.pop(option_id, None)
        self._changed()
        if option_id in self._sending:
            return
        self._sending.add(option_id)
        try:
            await self._send_last(option_id)
        finally:
            self._sending.discard(option_id)
            self.wanted.pop(option_id, None)
            self._changed()

    async def _send_last(self, option_id: str) -> None:
        """Send the requested value to the agent; repeat if another value was requested meanwhile."""
        sent = None
        while sent != (value := self.wanted[option_id]):
            sent = value
            try:
                await self._send(option_id, value)
            except UserError as error:
                self.failures[option_id] = str(error)
            else:
                self.failures.pop(option_id, None)


# --------------------------------------------------------------------------- rows


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


def build_rows(options: list[tuple[str, ConfigOption]], wanted: Mapping[str, str | bool]) -> list[SelectRow]:
    """Return a row for each option.

    A row begins with the title of the option's category, unless the row above has the same category. `wanted`
    are the values that the agent has not confirmed yet.
    """
    palette = current_palette()
    titles = [title for title, _ in options]
    names = [escape_line(option.name) for _, option in options]
    title_width, name_width = _width(titles, MAX_TITLE_WIDTH), _width(names, MAX_NAME_WIDTH)
    rows: list[SelectRow] = []
    for (title, option), name, before in zip(options, names, [None, *titles], strict=False):
        pending = option.id in wanted
        value = wanted.get(option.id, option.current)
        text = [
            Segment(_cell("" if title == before else title, title_width), palette.dim),
            Segment(_cell(name, name_width), palette.text),
            *_value(option, value, pending=pending),
        ]
        rows.append(SelectRow([], text, cut=True))
    return rows


def _width(texts: list[str], maximum: int) -> int:
    return min(maximum, max(map(cell_len, texts), default=0))


def _cell(text: str, width: int) -> str:
    words = shorten(text, width)
    return words + " " * (width - cell_len(words) + GAP)


def _value(option: ConfigOption, value: str | bool | None, *, pending: bool) -> Spans:
    palette = current_palette()
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
