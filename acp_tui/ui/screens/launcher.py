"""The launcher, shown by `acp-tui` without arguments: agents to start and sessions to resume."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual import events, work

from acp_tui import __version__
from acp_tui.session.safe_text import escape_line
from acp_tui.text_format import display_path
from acp_tui.ui import keys
from acp_tui.ui.dialogs.base_screen import BaseScreen
from acp_tui.ui.dialogs.toasts import notify_problems
from acp_tui.ui.screens.sessions.session_actions import open_conversation
from acp_tui.ui.terminal import gc_control
from acp_tui.ui.theme.palette import Spans, current_palette
from acp_tui.ui.widgets.bar import Bar, KeyBar
from acp_tui.ui.widgets.input_line import InputLine
from acp_tui.ui.widgets.select_list import SelectList, SelectRow, word_rank

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.widgets import Input

    from acp_tui.config.mcp import Server, UnsentServer
    from acp_tui.session_list.launcher_choices import AgentChoice, LauncherChoices, SessionChoice
    from acp_tui.ui.drawing.body import Body, DrawContext
    from acp_tui.ui.screens.mcp.live_servers import LiveServers

    MakeScreen = Callable[[str | None, str | None, bool], BaseScreen]
    """Makes the screen of a conversation.

    The arguments are the name of the agent to start, the id of the session to resume (one of the two is
    None), and whether a new conversation gets a git worktree of its own.
    """


MAX_DIGIT_KEYS = 9
MAX_TITLE_WIDTH = 20
MAX_RECENT_SESSIONS = 6
"""The maximum number of sessions listed before the user types."""


class LauncherScreen(BaseScreen):
    """Lists agents and sessions. The chosen conversation replaces the launcher, or opens in a new tab."""

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
        self,
        load: Callable[[], LauncherChoices],
        make_screen: MakeScreen,
        folder: Path,
        load_servers: Callable[[], tuple[Sequence[Server], Sequence[UnsentServer]]],
        *,
        over: BaseScreen | None = None,
        in_worktree: bool = False,
    ) -> None:
        """Create the launcher.

        Args:
            load: Finds the agents and sessions; called in a thread.
            make_screen: Makes the screen of the chosen conversation.
            folder: The folder for new conversations.
            load_servers: Reads the MCP servers that may be started, and the others; called in a thread.
            over: The screen that the launcher is opened over; the chosen conversation then opens in a new
                tab, unless a tab already shows it. None if the launcher is the base screen.
            in_worktree: Whether new conversations get a git worktree, until the user changes the choice.
        """
        super().__init__()
        self._load = load
        self._make_screen = make_screen
        self._folder = folder
        self._load_servers = load_servers
        self._over = over
        self._live_servers: LiveServers | None = None
        self._in_worktree = in_worktree
        self._choices: LauncherChoices | None = None  # None until they have been found
        self._shown: list[AgentChoice | SessionChoice | None] = []  # None: find more agents
        self._query = ""
        self._title_width = 0  # the width, in cells, of the column with the agents' titles

    def compose(self) -> ComposeResult:
        """Create the widgets from top to bottom."""
        yield Bar(*self._head(), id="head")
        yield Filter(placeholder="type to filter agents and sessions")
        yield SelectList([])
        yield KeyBar()

    def on_mount(self) -> None:
        """Find the agents once the first frame is complete."""
        self.call_after_refresh(self._after_first_frame)

    def _after_first_frame(self) -> None:
        gc_control.resume()
        self.action_refresh_agents()

    def action_refresh_agents(self) -> None:
        """Find agents and sessions again, for example after an agent was installed."""
        self._find_choices()

    @work(exclusive=True)
    async def _find_choices(self) -> None:
        is_first = self._choices is None
        self._choices = await asyncio.to_thread(self._load)
        self._title_width = min(
            MAX_TITLE_WIDTH, max((cell_len(agent.title) for agent in self._choices.agents), default=0)
        )
        self._show()
        self.refresh_bindings()
        if is_first:
            notify_problems(self.app, self._choices.problems)

    # ------------------------------------------------------------------------- what is shown

    def _head(self) -> tuple[Spans, Spans]:
        palette = current_palette()
        name = [Segment("acp-tui ", palette.strong), Segment(__version__, palette.dim)]
        if self._over is not None:
            name = [Segment("New tab", palette.strong)]
        where: Spans = [Segment(" in a new worktree of", palette.accent)] if self._in_worktree else []
        return name, [*where, Segment(f" {display_path(str(self._folder))}", palette.dim)]

    def _show(self) -> None:
        self._shown = []
        rows: list[SelectRow] = []
        for heading, found in self._matches() if self._query else self._groups():
            title: list[Spans] = [[Segment(heading, current_palette().heading2)]] if heading else []
            above: Sequence[Spans] = ([], *title) if rows else title
            for one in found:
                rows.append(self._row(one, above))
                self._shown.append(one)
                above = ()
        if self._choices is not None:
            rows.append(_more_agents_row(self._query, [[]] if rows else self._no_matches()))
            self._shown.append(None)
        for list_ in self.query(SelectList):  # none while the screen closes
            list_.show(rows)

    def _no_matches(self) -> list[Spans]:
        key = keys.bound_keys(self, "launcher.close")
        sentence = f'No matches for "{escape_line(self._query)}". {key} shows all.'
        return [[Segment(sentence, current_palette().dim)], []]

    def _groups(self) -> Iterator[tuple[str, Sequence[AgentChoice | SessionChoice]]]:
        """Yield each heading with its agents, or with the first sessions of the list."""
        if self._choices is None:
            return
        agents = self._choices.agents
        yield "Agents", [one for one in agents if one.is_ready]
        yield "Resume", self._choices.sessions[:MAX_RECENT_SESSIONS]
        downloaded = [one for one in agents if one.state == "downloaded" and not one.is_ready]
        yield "Will be downloaded on first start", downloaded
        yield "Not installed", [one for one in agents if one.state == "missing"]

    def _matches(self) -> Iterator[tuple[str, Sequence[AgentChoice | SessionChoice]]]:
        """Yield one group without a heading: what matches the filter, best match first.

        Names count more than descriptions.
        """
        from acp_tui.session_list.launcher_choices import AgentChoice

        if self._choices is None:
            return

        def fields(one: AgentChoice | SessionChoice) -> list[str]:
            if isinstance(one, AgentChoice):
                return [one.title, one.name, one.about]
            return [one.title, one.agent, one.folder]

        every: list[AgentChoice | SessionChoice] = [*self._choices.agents, *self._choices.sessions]
        ranks = {one: rank for one in every if (rank := word_rank(self._query, *fields(one))) is not None}
        yield "", sorted(ranks, key=lambda one: ranks[one])

    def _row(self, one: AgentChoice | SessionChoice, above: Sequence[Spans]) -> SelectRow:
        from acp_tui.session_list.launcher_choices import AgentChoice

        number = len(self._shown) + 1
        digit = (
            keys.bound_keys(self, f"launcher.{number}")
            if number <= MAX_DIGIT_KEYS and not self._query
            else ""
        )
        lead = [Segment(f"{digit:2}", current_palette().key)]
        if isinstance(one, AgentChoice):
            text, tail, note = _agent_row(one, self._title_width)
        else:
            text, tail, note = _session_row(one)
        return SelectRow(lead, text, note, tail, above, cut=True)

    def apply_theme(self) -> None:
        """Draw again what was drawn in the colours of the old theme."""
        self.query_one("#head", Bar).show(*self._head())
        rows = self.query_one(SelectList)
        at = rows.selected
        self._show()
        rows.selected = at

    # ------------------------------------------------------------------------- keys

    def on_input_changed(self, event: Input.Changed) -> None:
        self._query = event.value.strip()
        self._show()
        self.refresh_bindings()

    def on_select_list_chosen(self, event: SelectList.Chosen) -> None:
        """Choose an item after a double click. A single click only selects it: choosing starts an agent."""
        if event.clicks > 1:
            self._choose(event.index)

    def action_move(self, step: int) -> None:
        """Move the selection. At the ends, a single step wraps around and a longer one stops."""
        self.query_one(SelectList).move(step)

    def action_choose(self) -> None:
        """Choose the selected item."""
        self._choose(self.query_one(SelectList).selected)

    def action_number(self, number: int) -> None:
        """Choose the item with this number, counted from 1."""
        self._choose(number - 1)

    async def leave(self, *, close_session: bool = False) -> None:  # noqa: ARG002  # there is no session
        """End the connections that the user has made on the MCP screen."""
        if self._live_servers is not None:
            await self._live_servers.close()

    def action_mcp_servers(self) -> None:
        """Show the MCP servers."""
        from acp_tui.session.state import Session
        from acp_tui.ui.screens.mcp.live_servers import LiveServers, McpContext, known_servers
        from acp_tui.ui.screens.mcp.mcp_screen import McpScreen

        if self._live_servers is None:
            self._live_servers = LiveServers(self._folder)
        context = McpContext(
            lambda: known_servers(*self._load_servers(), []), self._folder, self._live_servers, Session()
        )
        self.open_dialog(McpScreen(context))

    def action_find_agents(self) -> None:
        """Show the agents of the registry, filtered like the launcher, and start the chosen one."""
        from acp_tui.config.settings import load
        from acp_tui.ui.screens.more_agents import MoreAgentsScreen

        def start(agent: str | None) -> None:
            self._find_choices()
            if agent is not None:
                self._open(agent, None)

        self.open_dialog(MoreAgentsScreen(lambda: load(self._folder), self._query), start)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether an action is available now. Worktrees are available only in a git repository."""
        if action == "toggle_worktree":
            return self._choices is not None and self._choices.in_repository
        return super().check_action(action, parameters)

    def action_toggle_worktree(self) -> None:
        """Turn git worktrees for new conversations on or off."""
        self._in_worktree = not self._in_worktree
        self.query_one("#head", Bar).show(*self._head())
        self.refresh_bindings()

    def label_of(self, key_id: str) -> str | None:
        """Return the footer's label of a key if the label depends on the state; None for the usual label."""
        if key_id == "launcher.worktree" and self._in_worktree:
            return "in the folder"
        return "back" if key_id == "launcher.close" and self._over else None

    def action_close(self) -> None:
        """Clear the filter. If the filter is empty already, go back to the screen below the launcher.

        If there is no screen below, close the tab, or quit if there is no other tab.
        """
        filtering = self.query_one(Filter)
        if filtering.value:
            filtering.value = ""
        elif self._over is not None:
            self.app.pop_screen()
        else:
            self.post_message(self.CloseRequested(self))

    def _choose(self, index: int) -> None:
        from acp_tui.session_list.launcher_choices import AgentChoice

        if not 0 <= index < len(self._shown):
            self.app.bell()
            return
        one = self._shown[index]
        if one is None:
            self.action_find_agents()
        elif not isinstance(one, AgentChoice):
            self._open(None, one.id)
        elif one.state == "missing":
            self._show_install_help(one)
        else:
            self._open(one.name, None)

    def _open(self, agent: str | None, session: str | None) -> None:
        def make() -> BaseScreen:
            return self._make_screen(agent, session, self._in_worktree)

        open_conversation(self, self._over, make, session=session)

    def _show_install_help(self, agent: AgentChoice) -> None:
        from acp_tui.ui.dialogs.detail import DetailScreen

        title = f"{agent.title} is not {'set up' if agent.is_own else 'installed'}"
        self.open_dialog(DetailScreen(title, lambda context: _install_help(agent, context)))


class Filter(InputLine):
    """The filter of the launcher's list. While the filter is empty, 1 to 9 choose an item of the list.

    The filter itself decides whether a digit is text, because the launcher's bindings are checked too early:
    when a digit is typed right after a letter, the letter is not in the filter yet.
    """

    def on_key(self, event: events.Key) -> None:
        """Leave the digits 1 to 9 to the launcher's bindings while the filter is empty."""
        if not self.value and self._is_number(event.key):
            event.prevent_default()

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Return True if a key types text into the filter, so that no binding handles the key."""
        return (bool(self.value) or not self._is_number(key)) and super().check_consume_key(key, character)

    def _is_number(self, key: str) -> bool:
        return any(key in keys.active_keys(self, f"launcher.{n}") for n in range(1, MAX_DIGIT_KEYS + 1))


# --------------------------------------------------------------------------- rows


def _agent_row(agent: AgentChoice, title_width: int) -> tuple[Spans, Spans, Spans | None]:
    palette = current_palette()
    missing = agent.state == "missing"
    text = [
        Segment(agent.title, palette.dim if missing else palette.strong),
        Segment(" " * (title_width + 2 - cell_len(agent.title))),
        Segment(agent.about, palette.dim),
    ]
    untested = "" if agent.is_tested or missing else "untested · "
    tail = [Segment(f"{untested}{agent.state_label}", palette.warning if missing else palette.dim)]
    note = [Segment(agent.install_command, palette.faint)] if missing and agent.install_command else None
    return text, tail, note


def _more_agents_row(query: str, above: Sequence[Spans]) -> SelectRow:
    palette = current_palette()
    what = f'Find "{escape_line(query)}" in the ACP registry …' if query else "Find more agents …"
    return SelectRow([Segment("  ", palette.key)], [Segment(what, palette.text)], above=above, cut=True)


def _session_row(one: SessionChoice) -> tuple[Spans, Spans, Spans | None]:
    palette = current_palette()
    text = [Segment(one.title, palette.text)]
    gone = "" if one.folder_exists else " (gone)"
    note = [Segment(f"{one.agent} · {display_path(one.folder)}{gone}", palette.dim)]
    return text, [Segment(one.last_used, palette.dim)], note


def _install_help(agent: AgentChoice, context: DrawContext) -> Sequence[Body]:
    """Draw the reason why the agent cannot start, and the command that installs the agent, if known.

    The copy key of the view copies only the command.
    """
    from acp_tui.ui.drawing.body import LinesBody
    from acp_tui.ui.drawing.text_layout import wrapped_lines
    from acp_tui.ui.widgets.body_scroller import LongText

    palette, width = context.palette, context.width
    words = [*wrapped_lines(f"\n{agent.missing_reason}.", palette.text, width, 0)]
    look = keys.KEYS["launcher.look"].key_names(context.keymap)
    more = keys.KEYS["launcher.more"].key_names(context.keymap)
    after = [*wrapped_lines(f"\nThen press {look} in the launcher to refresh.", palette.dim, width, 0)]
    if not agent.is_own:
        hint = f"Or press {more} there to look in the ACP registry."
        after += wrapped_lines(hint, palette.dim, width, 0)
    if agent.install_command is None:
        return [LinesBody([*words, *after], "")]
    blank = wrapped_lines(" ", palette.text, width, 0)
    return [
        LinesBody([*words, *blank], ""),
        LongText(agent.install_command, palette.key, width),
        LinesBody(after, ""),
    ]
