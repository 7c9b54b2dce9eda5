"""The launcher, shown by `acp-tui` without arguments: agents to start and sessions to resume."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

from rich.cells import cell_len
from rich.segment import Segment
from textual import work

from acp_tui import __version__
from acp_tui.session.text import visible_line
from acp_tui.ui import keys
from acp_tui.ui.conversation import gc_control
from acp_tui.ui.conversation.toasts import notify_problems
from acp_tui.ui.screens.base import BaseScreen
from acp_tui.ui.widgets.bar import Bar
from acp_tui.ui.widgets.input_line import InputLine
from acp_tui.ui.widgets.key_bar import KeyBar
from acp_tui.ui.widgets.select_list import Row, SelectList
from acp_tui.ui.widgets.word_match import word_rank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from textual import events
    from textual.app import ComposeResult
    from textual.widgets import Input

    from acp_tui.launcher_choices import AgentChoice, LauncherChoices, SessionChoice
    from acp_tui.ui.app import AcpTui
    from acp_tui.ui.drawing.body import Body, DrawContext, Spans
    from acp_tui.ui.theme.palette import Palette

    Start = Callable[[Palette, str | None, str | None], BaseScreen]
    """Makes the conversation with an agent, or with the session to go on with."""

MAX_DIGIT_KEYS = 9
MAX_TITLE_WIDTH = 20
MAX_RECENT_SESSIONS = 6
"""Sessions that are shown before anything is typed."""


class Filter(InputLine):
    """What narrows the list. As long as it is empty, digits are keys of the launcher.

    That is decided here, where keys arrive one after the other: decided by the app, a digit typed right
    after a letter would come before the letter was taken in.
    """

    def on_key(self, event: events.Key) -> None:
        """Leave the key to the launcher's bindings, or take it as text."""
        if not self.value and self._is_number(event.key):
            event.prevent_default()

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Does a key write something here?"""
        return (bool(self.value) or not self._is_number(key)) and super().check_consume_key(key, character)

    def _is_number(self, key: str) -> bool:
        bound = self.screen._bindings.key_to_bindings.get(key, [])
        return any(binding.action.startswith("number(") for binding in bound)


class LauncherScreen(BaseScreen):
    """Lists agents and sessions; the chosen conversation replaces it."""

    is_launcher = True
    BINDINGS: ClassVar = keys.bindings("launcher")
    DEFAULT_CSS = """
    LauncherScreen { layout: vertical; }
    LauncherScreen #head { padding: 0 1; background: $surface; }
    LauncherScreen Filter {
        height: 1; border: none; padding: 0 1; margin: 1 1 0 1; background: $panel;
    }
    LauncherScreen SelectList { height: 1fr; margin: 1 1 0 1; }
    """
    AUTO_FOCUS = "Filter"

    def __init__(
        self, palette: Palette, read: Callable[[], LauncherChoices], start: Start, folder: Path
    ) -> None:
        super().__init__()
        self._palette = palette
        self._read = read
        self._start = start
        self._folder = folder
        self._offers: LauncherChoices | None = None  # until it is known
        self._shown: list[AgentChoice | SessionChoice] = []
        self._query = ""
        self._column = 0  # cells for the titles of agents

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield Bar(*self._head(), id="head")
        yield Filter(placeholder="type to filter agents and sessions")
        yield SelectList([], self._palette)
        yield KeyBar()

    def on_mount(self) -> None:
        """The first frame comes first."""
        self.app.theme_changed_signal.subscribe(self, lambda _: self._use_palette())
        self.call_after_refresh(self._after_first_frame)

    def _after_first_frame(self) -> None:
        gc_control.resume()
        self.action_look_again()

    def action_look_again(self) -> None:
        """Read everything once more: something may have been installed meanwhile."""
        self._look()

    @work(exclusive=True)
    async def _look(self) -> None:
        first = self._offers is None
        self._offers = await asyncio.to_thread(self._read)
        self._column = min(MAX_TITLE_WIDTH, max(cell_len(agent.title) for agent in self._offers.agents))
        self._show()
        if first:
            notify_problems(self.app, self._offers.problems)

    # ------------------------------------------------------------------------- what is shown

    def _head(self) -> tuple[Spans, Spans]:
        palette = self._palette
        name = [Segment("acp-tui ", palette.strong), Segment(__version__, palette.dim)]
        return name, [Segment(f" {_homely(str(self._folder))}", palette.dim)]

    def _show(self) -> None:
        self._shown = []
        rows: list[Row] = []
        for heading, found in self._found() if self._query else self._groups():
            title: list[Spans] = [[Segment(heading, self._palette.heading2)]] if heading else []
            above: Sequence[Spans] = ([], *title) if rows else title
            for one in found:
                rows.append(self._row(one, above))
                self._shown.append(one)
                above = ()
        list_ = self.query_one(SelectList)
        list_.empty_text = self._nothing()
        list_.show(rows)

    def _nothing(self) -> str:
        if self._offers is None:
            return ""
        key = keys.bound_keys(self, "launcher.close")
        return f'No matches for "{visible_line(self._query)}". {key} shows all.'

    def _groups(self) -> Iterator[tuple[str, Sequence[AgentChoice | SessionChoice]]]:
        """Everything; of the sessions only the last ones, so that the agents stay in sight."""
        if self._offers is None:
            return
        agents = self._offers.agents
        yield "Agents", [one for one in agents if one.near]
        yield "Resume", self._offers.sessions[:MAX_RECENT_SESSIONS]
        far = [one for one in agents if one.state == "fetched" and not one.near]
        yield "Downloaded on first start", far
        yield "Not installed", [one for one in agents if one.state == "missing"]

    def _found(self) -> Iterator[tuple[str, Sequence[AgentChoice | SessionChoice]]]:
        """What fits, the best first: names count for more than what is said about them."""
        from acp_tui.launcher_choices import AgentChoice

        if self._offers is None:
            return

        def fields(one: AgentChoice | SessionChoice) -> list[str]:
            if isinstance(one, AgentChoice):
                return [one.title, one.name, one.about]
            return [one.title, one.agent, one.folder]

        every: list[AgentChoice | SessionChoice] = [*self._offers.agents, *self._offers.sessions]
        ranks = {one: rank for one in every if (rank := word_rank(self._query, *fields(one))) is not None}
        yield "", sorted(ranks, key=lambda one: ranks[one])

    def _row(self, one: AgentChoice | SessionChoice, above: Sequence[Spans]) -> Row:
        from acp_tui.launcher_choices import AgentChoice

        number = len(self._shown) + 1
        digit = (
            keys.bound_keys(self, f"launcher.{number}")
            if number <= MAX_DIGIT_KEYS and not self._query
            else ""
        )
        lead = [Segment(f"{digit:2}", self._palette.key)]
        if isinstance(one, AgentChoice):
            text, tail, note = _agent_row(one, self._palette, self._column)
        else:
            text, tail, note = _recorded_row(one, self._palette)
        return Row(lead, text, note, tail, above, cut=True)

    def _use_palette(self) -> None:
        self._palette = cast("AcpTui", self.app).palette
        self.query_one("#head", Bar).show(*self._head())
        rows = self.query_one(SelectList)
        rows.use_palette(self._palette)
        at = rows.selected
        self._show()
        rows.selected = at

    # ------------------------------------------------------------------------- keys

    def on_input_changed(self, event: Input.Changed) -> None:
        """Only what fits."""
        self._query = event.value.strip()
        self._show()
        self.refresh_bindings()

    def on_select_list_chosen(self, event: SelectList.Chosen) -> None:
        """A click."""
        self._take(event.index)

    def action_move(self, step: int) -> None:
        """Up and down; long steps stop at the ends."""
        rows = self.query_one(SelectList)
        if abs(step) == 1:
            rows.move(step)
        elif self._shown:
            rows.selected = max(0, min(len(self._shown) - 1, rows.selected + step))

    def action_take(self) -> None:
        """The chosen one."""
        self._take(self.query_one(SelectList).selected)

    def action_number(self, number: int) -> None:
        """The one with that number."""
        self._take(number - 1)

    def label_of(self, key_id: str) -> str | None:
        """For the footer: over a conversation Esc goes back to it."""
        return "back" if key_id == "launcher.close" and self._over else None

    @property
    def _over(self) -> BaseScreen | None:
        """The conversation that this was opened over."""
        bottom = getattr(self.app, "bottom", None)
        return bottom if bottom is not self else None

    def action_close(self) -> None:
        """Clear the filter, else go back to the conversation, else quit."""
        filtering = self.query_one(Filter)
        if filtering.value:
            filtering.value = ""
        elif self._over is not None:
            self.app.pop_screen()
        else:
            self.app.exit()

    def _take(self, index: int) -> None:
        from acp_tui.launcher_choices import AgentChoice

        one = self._shown[index] if 0 <= index < len(self._shown) else None
        if one is None:
            self.app.bell()
        elif not isinstance(one, AgentChoice):
            self._go(None, one.id)
        elif one.state == "missing":
            self._tell_how_to_install(one)
        else:
            self._go(one.name, None)

    def _go(self, agent: str | None, session: str | None) -> None:
        app, before = cast("AcpTui", self.app), self._over
        if before is not None and session is not None and before.shows_session(session):
            self.app.pop_screen()
            return
        if before is not None and (reason := before.busy_reason()):
            self.notify(reason, markup=False)
            return
        app.run_worker(app.replace_screen(self._start(self._palette, agent, session)))

    def _tell_how_to_install(self, agent: AgentChoice) -> None:
        from acp_tui.ui.screens.detail import DetailScreen

        title = f"{agent.title} is not installed"
        self.app.push_screen(
            DetailScreen(title, lambda context: _how_to_install(agent, context), self._palette)
        )


# --------------------------------------------------------------------------- rows


def _agent_row(agent: AgentChoice, palette: Palette, column: int) -> tuple[Spans, Spans, Spans | None]:
    missing = agent.state == "missing"
    text = [
        Segment(agent.title, palette.dim if missing else palette.strong),
        Segment(" " * (column + 2 - cell_len(agent.title))),
        Segment(agent.about, palette.dim),
    ]
    tried = "" if agent.tried or missing else "untested · "
    tail = [Segment(f"{tried}{agent.how}", palette.warning if missing else palette.dim)]
    note = [Segment(agent.install, palette.faint)] if missing and agent.install else None
    return text, tail, note


def _recorded_row(one: SessionChoice, palette: Palette) -> tuple[Spans, Spans, Spans | None]:
    text = [Segment(one.title, palette.text)]
    gone = "" if one.there else " (gone)"
    note = [Segment(f"{one.agent} · {_homely(one.folder)}{gone}", palette.dim)]
    return text, [Segment(one.when, palette.dim)], note


def _homely(path: str) -> str:
    """A path as people write it."""
    home = str(Path.home())
    return f"~{path[len(home) :]}" if path == home or path.startswith(f"{home}/") else path


def _how_to_install(agent: AgentChoice, context: DrawContext) -> Sequence[Body]:
    """Why it does not start, and the command: what a copy gives is the command alone."""
    from acp_tui.ui.drawing.body import LinesBody
    from acp_tui.ui.drawing.text_layout import wrapped_lines
    from acp_tui.ui.widgets.long_text import LongText

    palette, width = context.palette, context.width
    words = [*wrapped_lines(f"\n{agent.missing}.", palette.text, width, 0)]
    look = keys.KEYS["launcher.look"].key_names(context.keymap)
    after = [*wrapped_lines(f"\nThen press {look} in the launcher to refresh.", palette.dim, width, 0)]
    if agent.install is None:
        return [LinesBody([*words, *after], "")]
    blank = wrapped_lines(" ", palette.text, width, 0)
    return [
        LinesBody([*words, *blank], ""),
        LongText(agent.install, palette.key, width),
        LinesBody(after, ""),
    ]
