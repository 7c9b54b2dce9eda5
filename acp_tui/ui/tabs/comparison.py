"""The tab with the table of a comparison: several agents with the same prompt, each in a tab of its own."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from textual import work

from acp_tui.console import pluralize
from acp_tui.controller.comparison import stop_words, work_of
from acp_tui.entry_kinds.plain_text import last_output_lines
from acp_tui.errors import UserError
from acp_tui.session.safe_text import escape_line
from acp_tui.session.state import AgentMessage, Notice, TurnEnd
from acp_tui.session.usage_text import format_money, short_count
from acp_tui.ui import keys
from acp_tui.ui.dialogs.base_screen import BaseScreen, TabState, TextPlace
from acp_tui.ui.dialogs.dialog import scroll_page
from acp_tui.ui.drawing.body import LinesBody
from acp_tui.ui.drawing.text_layout import hanging_lines
from acp_tui.ui.drawing.wrap import make_strip, shorten
from acp_tui.ui.tabs.overview import STYLES
from acp_tui.ui.theme.palette import Spans, current_palette
from acp_tui.ui.widgets.bar import Bar, KeyBar
from acp_tui.ui.widgets.body_scroller import BodyScroller
from acp_tui.ui.widgets.select_list import MARKER_WIDTH, RIGHT_MARGIN, SelectList, SelectRow
from acp_tui.ui.widgets.status_line import format_clock

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.strip import Strip

    from acp_tui.controller.comparison import ComparedAgent
    from acp_tui.session.state import Session, Terminal
    from acp_tui.ui.drawing.body import Body
    from acp_tui.ui.screens.worktree import Loss
    from acp_tui.ui.tabs.tab_strip import Mark, Tab
    from acp_tui.ui.tabs.tabs import Tabs
    from acp_tui.workspace.git.worktree import Worktree
    from acp_tui.workspace.git.worktree_finishing import WorktreeStatus

REFRESH_SECONDS = 0.5
MIN_NAME, MAX_NAME = 8, 32
"""The limits of the width of an agent's name, in cells."""
MAX_ANSWER_LINES, MAX_OUTPUT_LINES = 3, 8
"""How many of the last lines of the agent's last message and of the check's output are shown."""
MAX_ANSWER_CHARS = 2000
LABEL_WIDTH = 10
NONE = "–"


class Column(NamedTuple):
    """A column of the table, right of the agent's name."""

    title: str
    width: int
    left: bool = False  # aligned to the left


COLUMNS = (
    Column("state", 11, left=True),
    Column("time", 7),
    Column("tokens", 6),
    Column("cost", 7),
    Column("calls", 5),
    Column("asked", 5),
    Column("files", 5),
)
CHECK = Column("check", 6)
UNFINISHED = ("starting", "working", "asking")
_WORDS: dict[Mark, str] = {
    "starting": "starting",
    "working": "working",
    "asking": "asks you",
    "dead": "ended",
}


class AgentRow(NamedTuple):
    """An agent as the table shows it. Texts are safe to display."""

    name: str
    mark: Mark
    cells: Sequence[str]  # one for each column
    check_failed: bool = False


def table_line(cells: Sequence[str], width: int) -> list[str]:
    """Return the cells of a row, the name first, padded or shortened so that they fill `width` cells."""
    columns = [*COLUMNS, CHECK][: len(cells) - 1]
    room = width - sum(column.width + 1 for column in columns)
    room = max(MIN_NAME, min(MAX_NAME, room))
    padded = [_padded(cells[0], room, left=True)]
    for column, cell in zip(columns, cells[1:], strict=True):
        padded.append(f" {_padded(cell, column.width, left=column.left)}")
    return padded


def _padded(text: str, width: int, *, left: bool) -> str:
    text = shorten(text, width)
    gap = " " * (width - cell_len(text))
    return text + gap if left else gap + text


class State(NamedTuple):
    """What an agent is doing, in one or two words, and its mark."""

    mark: Mark
    words: str


class ComparisonScreen(BaseScreen):
    """Opens a tab for each agent, shows their figures in a table, and keeps the work of one of them."""

    DEFAULT_CSS = """
    ComparisonScreen #head, ComparisonScreen #columns { padding: 0 1; }
    ComparisonScreen #head { background: $surface; }
    ComparisonScreen #columns { margin: 1 0 0 0; }
    ComparisonScreen SelectList { margin: 0 1; max-height: 60%; }
    ComparisonScreen BodyScroller { height: 1fr; margin: 1 1 0 1; padding: 0 0 0 2; }
    """
    BINDINGS: ClassVar = keys.bindings("comparison")
    AUTO_FOCUS = ""
    shows_other_tabs = True

    def __init__(
        self,
        prompt: str,
        check: str,
        agents: Sequence[ComparedAgent],
        screens: Sequence[Callable[[], BaseScreen]],
        tabs: Tabs,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`screens` make the screens of the agents' conversations. `check` is empty if there is none."""
        super().__init__()
        self._prompt = escape_line(" ".join(prompt.split()))
        self._check = check
        self._agents = agents
        self._make_screens = screens
        self._tabs = tabs
        self._clock = clock
        self._rows: list[AgentRow] = []  # as drawn
        self._output: tuple[object, list[str]] = (None, [])  # the check shown with its length; its last lines
        self._opened: list[Tab] = []  # the agents' first tabs
        self._merged: set[str] = set()  # names of the agents whose work was merged
        self._kept = ""  # the name of the agent whose work was kept
        self.tab_state = TabState(title="Compare")

    def compose(self) -> ComposeResult:
        """Create the widgets from top to bottom."""
        yield Bar([], id="head")
        yield Bar([], id="columns")
        yield SelectList([])
        yield BodyScroller(self._details)
        yield KeyBar()

    def on_mount(self) -> None:
        """Open the agents' tabs behind this one, and keep the table up to date."""
        self.post_message(self.StateChanged(self))
        self.watch(self.query_one(SelectList), "selected", self._show_other_details, init=False)
        self.set_interval(REFRESH_SECONDS, self._update)
        self._draw()
        self.call_after_refresh(self._open_tabs)

    @work
    async def _open_tabs(self) -> None:
        """Open the tabs, the others once the first has asked whether to trust the folder.

        So this is asked once: the other conversations read the saved answers when they are created.
        """
        for make in self._make_screens:
            self._opened.append(await self._tabs.open_behind(make()))
            await self._opened[0].screen.questions_answered()

    def on_resize(self) -> None:
        """Fit the columns to the new width."""
        self._draw()

    def on_screen_resume(self) -> None:
        """Show what has happened while another tab or a dialog was in front."""
        self._draw()

    def apply_theme(self) -> None:
        """Draw again what was drawn in the colours of the old theme."""
        self._draw()

    # ------------------------------------------------------------------------- what is shown

    def _update(self) -> None:
        """Draw what has changed. Once all agents have ended and the table shows that, this costs little."""
        if self.is_current and (
            self._is_working or self._rows != [self._row(agent) for agent in self._agents]
        ):
            self._draw()

    @property
    def _is_working(self) -> bool:
        return any(row.mark in UNFINISHED for row in self._rows)

    def _draw(self) -> None:
        if not self.is_mounted:
            return
        self._rows = rows = [self._row(agent) for agent in self._agents]
        width = self.size.width - 2 - MARKER_WIDTH - RIGHT_MARGIN
        palette = current_palette()
        working = sum(row.mark in UNFINISHED for row in rows)
        state = f"{working} of {len(rows)} working" if working else "all have ended"
        self.query_one("#head", Bar).show(
            [Segment("Compare", palette.strong), Segment(f"  {self._prompt}", palette.text)],
            [Segment(f"  {state}", palette.dim)],
        )
        titles = ["agent", *(column.title for column in self._columns)]
        heading = " " * MARKER_WIDTH + "".join(table_line(titles, width))
        self.query_one("#columns", Bar).show([Segment(heading, palette.dim)])
        table = self.query_one(SelectList)
        table.show([_drawn(row, width) for row in rows], table.selected)
        self._show_details()

    @property
    def _columns(self) -> Sequence[Column]:
        return [*COLUMNS, CHECK] if self._check else COLUMNS

    def _row(self, agent: ComparedAgent) -> AgentRow:
        conversation, now, name = agent.conversation, self._clock(), escape_line(agent.name)
        mark, state = self._state(agent)
        if conversation is None:
            return AgentRow(name, mark, [state, *[NONE] * (len(self._columns) - 1)])
        done, result = work_of(conversation.session, now), agent.check_result
        cells = [
            state,
            format_clock(done.seconds),
            NONE if done.tokens is None else short_count(done.tokens),
            NONE if done.cost is None else format_money(done.cost.amount, escape_line(done.cost.currency)),
            f"{done.tool_calls}",
            f"{done.questions}",
            NONE if agent.changed_files is None else f"{agent.changed_files}",
        ]
        failed = result is not None and bool(result.signal or result.exit_code)
        return AgentRow(name, mark, [*cells, _exit(result)] if self._check else cells, failed)

    def _state(self, agent: ComparedAgent) -> State:
        tab, conversation, result = self._tab_of(agent), agent.conversation, agent.check_result
        if tab is not None and tab not in self._tabs:
            return self._state_of_closed(agent, tab)
        if tab is not None and tab.state.question:
            return State("asking", "asks you")
        if tab is None or conversation is None:
            return State("starting", "starting")
        if conversation.session.auth_required:
            return State("asking", "sign in")
        if result is not None and result.ended_at is None:
            return State("working", "checking")
        if tab.mark in _WORDS:
            return State(tab.mark, _WORDS[tab.mark])
        ended = stop_words(conversation.session)
        if not ended:
            return State("starting", "waiting")
        return State("dead" if ended == "failed" else "done", "kept" if agent.name == self._kept else ended)

    def _state_of_closed(self, agent: ComparedAgent, tab: Tab) -> State:
        worktree = _worktree(agent)
        if tab.screen.failure:
            return State("dead", "not started")
        if worktree is not None and worktree.path.is_dir():
            return State("", "closed")
        return State("", "merged" if agent.name in self._merged else "discarded")

    def _details(self, width: int) -> Sequence[Body]:
        agent = self._selected
        lines = [] if agent is None else list(self._detail_lines(agent, width))
        return [LinesBody(lines, "\n".join(strip.text.rstrip() for strip in lines))]

    def _detail_lines(self, agent: ComparedAgent, width: int) -> Iterator[Strip]:
        """Yield where the agent works, what it does or has said, and the end of the check's output."""
        palette, tab, state = current_palette(), self._tab_of(agent), self._state(agent)

        def fact(label: str, text: str) -> list[Strip]:
            lead = [Segment(label.ljust(LABEL_WIDTH), palette.dim)]
            return hanging_lines(lead, [Segment(text, palette.text)], width, LABEL_WIDTH)

        if tab is not None and tab.screen.failure:
            yield from fact("failed", escape_line(tab.screen.failure))
        if (worktree := _worktree(agent)) is not None:
            yield from fact("branch", escape_line(worktree.branch))
            yield from fact("worktree", escape_line(str(worktree.path)))
        facts = tab.screen.conversation_facts() if tab is not None and tab in self._tabs else None
        if tab is not None and tab.state.question:
            yield from fact("asks", tab.state.question)
        elif facts is not None and facts.status.phase not in ("idle", "background"):
            doing = escape_line(facts.activity) or facts.status.phase_detail
            if doing:
                yield from fact("now", doing)
        if agent.conversation is not None:
            session = agent.conversation.session
            if (error := _error(session)) and state.mark == "dead":
                yield from fact("error", error)
            for number, line in enumerate(_answer(session)):
                yield from fact("" if number else "answer", line)
        if (result := agent.check_result) is not None:
            yield make_strip([])
            yield from fact("check", f"{escape_line(self._check)} · {_exit_words(result)}")
            for line in self._last_lines(result):
                yield from fact("", line)

    def _last_lines(self, result: Terminal) -> list[str]:
        """Return the last lines of the check's output. They are read again only if there is more."""
        if self._output[0] != (result, result.output.total):
            lines = [*last_output_lines(result.output)]
            self._output = (result, result.output.total), lines[-MAX_OUTPUT_LINES:]
        return self._output[1]

    def _show_details(self) -> None:
        self.query_one(BodyScroller).update()

    def _show_other_details(self) -> None:
        details = self.query_one(BodyScroller)
        details.scroll_home(animate=False)
        details.show(self._details)

    def action_page(self, step: int) -> None:
        """Scroll what is shown of the selected agent by a page."""
        scroll_page(self.query_one(BodyScroller), step)

    # ------------------------------------------------------------------------- tabs

    @property
    def _selected(self) -> ComparedAgent | None:
        index = self.query_one(SelectList).selected
        return self._agents[index] if 0 <= index < len(self._agents) else None

    def _tab_of(self, agent: ComparedAgent) -> Tab | None:
        """Return the tab of an agent, which may be closed; None before it is opened."""
        if agent.conversation is not None:
            for tab in self._tabs:
                if tab.screen.open_conversation is agent.conversation:
                    return tab
        index = self._agents.index(agent)
        return self._opened[index] if index < len(self._opened) else None

    def _open_tab_of(self, agent: ComparedAgent | None) -> Tab | None:
        """Return the tab of an agent; ring the bell and return None if it is not open."""
        tab = self._tab_of(agent) if agent is not None else None
        if tab is None or tab not in self._tabs:
            self.app.bell()
            return None
        return tab

    def on_select_list_chosen(self, event: SelectList.Chosen) -> None:
        """Go to the tab of an agent after a double click."""
        if event.clicks > 1:
            self.action_open()

    def action_move(self, step: int) -> None:
        """Move the selection."""
        self.query_one(SelectList).move(step)

    def action_open(self) -> None:
        """Go to the tab of the selected agent. Scroll to the output of the check, or open its question."""
        agent = self._selected
        if agent is None or (tab := self._open_tab_of(agent)) is None:
            return
        self._tabs.show(tab)
        tab.screen.answer_question()
        if (result := agent.check_result) is not None:
            tab.screen.show_place(TextPlace(result.id, ""))

    def action_review(self) -> None:
        """Go to the tab of the selected agent, and open the review of its changes."""
        if (tab := self._open_tab_of(self._selected)) is not None:
            self._tabs.show(tab)
            self.app.call_later(tab.screen.run_action, "review")

    def action_check(self) -> None:
        """Show all output of the check."""
        from acp_tui.ui.dialogs.detail import OutputScreen

        agent = self._selected
        if agent is None or agent.conversation is None or (result := agent.check_result) is None:
            self.app.bell()
        else:
            session, cwd = agent.conversation.session, str(agent.conversation.cwd)
            self.open_dialog(OutputScreen(result, session=session, cwd=cwd))

    # ------------------------------------------------------------------------- stopping

    def _working(self) -> list[ComparedAgent]:
        return [agent for agent in self._agents if agent.is_working]

    def action_stop(self) -> None:
        """Stop the turn or the check of the selected agent."""
        if (agent := self._selected) is not None and agent.is_working:
            self._stop([agent])
        else:
            self.app.bell()

    async def action_interrupt(self) -> None:
        """Stop all agents. If none of them is working, quit."""
        if working := self._working():
            self._stop(working)
        else:
            await self.app.action_quit()

    @work
    async def _stop(self, agents: Sequence[ComparedAgent]) -> None:
        await self._stop_all(agents)

    async def _stop_all(self, agents: Sequence[ComparedAgent]) -> bool:
        """Stop agents and wait for them. Return False, and show why, if one does not stop."""
        results = await asyncio.gather(*(agent.stop() for agent in agents), return_exceptions=True)
        for error in results:
            if isinstance(error, UserError):
                self.notify_error(error)
            elif isinstance(error, BaseException):
                raise error
        return not any(results)

    # ------------------------------------------------------------------------- keeping one

    def action_keep(self) -> None:
        """Keep or merge the work of the selected agent, and discard that of the others, after questions."""
        agent = self._selected
        if agent is not None and self._open_tab_of(agent) is not None:
            self.run_worker(self._discard_all_but(agent), group="keep", exclusive=True)

    def action_discard(self) -> None:
        """Discard the work of all agents, after a question."""
        self.run_worker(self._discard_all_but(None), group="keep", exclusive=True)

    async def _discard_all_but(self, kept: ComparedAgent | None) -> None:
        if not await self._may_stop():
            return
        try:
            losses = await self._losses(kept)
            if losses and not await self._confirm(kept, losses):
                return
            if kept is not None and not await self._finish(kept):
                return
        except UserError as error:
            self.notify_error(error)
            return
        confirmed = {loss.agent: loss for loss in losses}
        for other in self._agents:
            tab = self._tab_of(other)
            if other is not kept and tab is not None and tab in self._tabs:
                if (loss := confirmed.get(other.name)) is not None:
                    tab.screen.discard_worktree(await asyncio.to_thread(_status_to_remove, loss))
                await self._tabs.remove(tab)
        self._draw()

    async def _may_stop(self) -> bool:
        """Stop the agents that are working, after a question. Return False if they go on."""
        from acp_tui.ui.dialogs.confirm import ConfirmScreen

        working = self._working()
        if not working:
            return True
        several = len(working) > 1
        question = f"{pluralize(len(working), 'agent')} {'are' if several else 'is'} still working."
        yes, no = f"Stop {'them' if several else 'it'}", "Wait"
        confirmed = await self.ask(ConfirmScreen(question, yes=yes, no=no))
        return confirmed is True and await self._stop_all(working)

    async def _losses(self, kept: ComparedAgent | None) -> list[Loss]:
        """Return what the worktrees of the other agents hold. Raises `UserError`."""
        from acp_tui.ui.screens.worktree import Loss, current_status

        losses = []
        for agent in self._agents:
            worktree, tab = _worktree(agent), self._tab_of(agent)
            if agent is not kept and worktree is not None and tab is not None and tab in self._tabs:
                status = await asyncio.to_thread(current_status, worktree)
                losses.append(Loss(agent.name, worktree, status))
        return losses

    async def _confirm(self, kept: ComparedAgent | None, losses: Sequence[Loss]) -> bool:
        from acp_tui.ui.dialogs.guarded_question import GuardedQuestionScreen
        from acp_tui.ui.screens.worktree import discard_several_question

        question = discard_several_question(escape_line(kept.name) if kept is not None else "", losses)
        index = await self.ask(GuardedQuestionScreen(question))
        return index is not None and question.answers[index].grants

    async def _finish(self, agent: ComparedAgent) -> bool:
        """Ask whether to keep, merge or discard the work of an agent. Return False if the user goes back.

        The agent's tab is closed unless its worktree is kept.
        """
        from acp_tui.ui.screens.worktree import FinishDialogs, current_status

        worktree, tab = _worktree(agent), self._tab_of(agent)
        if worktree is None or tab is None:
            return False
        status = await asyncio.to_thread(current_status, worktree)
        decision = None
        if not status.is_unchanged:
            # The tab stays open if the worktree is kept, so the dialogs must not say that it is closed.
            dialogs = FinishDialogs(self, worktree, proposal=self._prompt, is_open=False)
            decision = await dialogs.ask(status)
            if decision is None:
                return False
        if decision is None or decision.to_remove is None:
            self._kept = agent.name
            return True
        if decision.merged:
            self._merged.add(agent.name)
        tab.screen.discard_worktree(decision.to_remove, merged=decision.merged)
        await self._tabs.remove(tab)
        return True


def _drawn(row: AgentRow, width: int) -> SelectRow:
    palette = current_palette()
    name, state, *figures = table_line([row.name, *row.cells], width)
    style = getattr(palette, STYLES[row.mark])
    spans: Spans = [Segment(name, palette.strong), Segment(state, style)]
    spans += [Segment(cell, palette.text) for cell in figures]
    if row.check_failed:
        spans[-1] = Segment(figures[-1], palette.error)
    return SelectRow([], spans, cut=True)


def _worktree(agent: ComparedAgent) -> Worktree | None:
    return agent.conversation.options.worktree if agent.conversation is not None else None


def _status_to_remove(loss: Loss) -> WorktreeStatus:
    """Return the status with which a worktree may be removed. It is not removed with any other.

    This is the current status if only the target branch has moved, because other work was merged into it.
    """
    from acp_tui.ui.screens.worktree import current_status

    try:
        status = current_status(loss.worktree)
    except UserError:  # reported when the tab is closed
        return loss.status
    return status if status.has_same_work(loss.status) else loss.status


def _exit(result: Terminal | None) -> str:
    """Return the exit code of the check in at most six cells."""
    if result is None:
        return NONE
    if result.ended_at is None:
        return "…"
    return "killed" if result.exit_code is None else f"{result.exit_code}"


def _exit_words(result: Terminal) -> str:
    if result.ended_at is None:
        return "running"
    if result.exit_code is None:
        return f"ended by {escape_line(result.signal)}" if result.signal else "ended"
    return f"exit code {result.exit_code}"


def _error(session: Session) -> str:
    """Return the last error in the conversation; empty if there is none."""
    for entry in reversed(session.entries):
        if isinstance(entry, Notice) and entry.level == "error":
            return escape_line(entry.text)
        if isinstance(entry, TurnEnd) and entry.error is not None:
            return escape_line(entry.error.message)
    return ""


def _answer(session: Session) -> list[str]:
    """Return the last lines of the agent's last message in the last turn."""
    for entry in reversed(session.entries):
        if isinstance(entry, AgentMessage) and entry.turn == session.turn and entry.text.strip():
            lines = [line for line in entry.text[-MAX_ANSWER_CHARS:].splitlines() if line.strip()]
            return [escape_line(line) for line in lines[-MAX_ANSWER_LINES:]]
    return []
