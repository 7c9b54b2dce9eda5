"""The screen that lists the agents of the ACP registry, and installs, upgrades and removes them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import urlsplit

from rich.cells import cell_len
from rich.segment import Segment
from textual import work
from textual.widgets import Static

from acp_tui.agent_registry import installation, registry
from acp_tui.config.installed_agents import InstalledAgent, installed_agents
from acp_tui.console import format_moment, pluralize
from acp_tui.errors import UserError
from acp_tui.guarded_question import GuardedAnswer, GuardedQuestion
from acp_tui.session.safe_text import escape_invisible_line
from acp_tui.ui import keys
from acp_tui.ui.dialogs.confirm import ConfirmScreen
from acp_tui.ui.dialogs.dialog import Dialog
from acp_tui.ui.dialogs.guarded_question import GuardedQuestionScreen
from acp_tui.ui.dialogs.rename_dialog import RenameDialog
from acp_tui.ui.drawing.wrap import shorten
from acp_tui.ui.theme.palette import Spans, current_palette
from acp_tui.ui.widgets.bar import Bar, KeyBar
from acp_tui.ui.widgets.input_line import InputLine
from acp_tui.ui.widgets.select_list import SelectList, SelectRow, best_matches

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.widgets import Input
    from textual.worker import Worker

    from acp_tui.agent_registry.registry import Registry, RegistryAgent
    from acp_tui.config.settings import Settings


MAX_NAME_CELLS = 24


@dataclass(frozen=True, slots=True)
class ListedAgent:
    """An agent of the registry, an installed agent, or both. Its texts are safe to display."""

    id: str
    name: str
    about: str
    details: str
    version: str  # in the registry; empty if it is not there
    installed: InstalledAgent | None
    unusable: bool  # it cannot be installed on this machine

    @property
    def is_outdated(self) -> bool:
        """Whether the registry has a newer version than the installed one."""
        return self.installed is not None and registry.is_newer(self.version, self.installed.version)

    @property
    def state(self) -> str:
        """What the list says about the installation."""
        if self.installed is None:
            return "not available here" if self.unusable else ""
        if self.is_outdated:
            return f"{self.installed.version} → {self.version}"
        return f"installed {self.installed.version}"


class MoreAgentsScreen(Dialog[str | None]):
    """Returns the name of the agent to start, or None. Nothing is fetched until the user asks for it."""

    CSS = """
    MoreAgentsScreen { background: $background; layout: vertical; }
    MoreAgentsScreen Bar { padding: 0 1; background: $surface; }
    MoreAgentsScreen InputLine { padding: 0 1; margin: 1 1 0 1; background: $panel; }
    MoreAgentsScreen SelectList { height: 1fr; margin: 1 1 0 1; }
    MoreAgentsScreen #about { height: 3; padding: 0 1; margin-top: 1; color: $text-muted; }
    """
    BINDINGS: ClassVar = keys.bindings("registry")
    AUTO_FOCUS = "InputLine"

    def __init__(self, load_settings: Callable[[], Settings], query: str = "") -> None:
        """Create the screen.

        Args:
            load_settings: Reads the settings; called in a thread.
            query: The text that the filter contains at first.
        """
        super().__init__()
        self._load_settings = load_settings
        self._query = query
        self._settings: Settings | None = None  # None until they have been read
        self._registry: Registry | None = None
        self._agents: list[ListedAgent] = []
        self._shown: list[ListedAgent] = []
        self._working: Worker[None] | None = None
        self._progress = ""  # what is being done, safe to display
        self._started = 0.0  # when that began

    def compose(self) -> ComposeResult:
        yield Bar([], id="head")
        yield InputLine(placeholder="type to search for agents", select_on_focus=False, id="filter")
        yield SelectList([])
        yield Static(markup=False, id="about")
        yield KeyBar()

    def on_mount(self) -> None:
        """Read the list that was fetched last."""
        self.watch(self.query_one(SelectList), "selected", lambda _: self._show_about(), init=False)
        self.query_one(InputLine).value = self._query
        self.set_interval(1.0, self._show_progress)
        self._reload()

    @work(exclusive=True, group="load")
    async def _reload(self) -> None:
        await self._load()

    async def _load(self) -> None:
        def load() -> tuple[Settings, Registry | None, list[ListedAgent]]:
            settings = self._load_settings()
            listed = registry.load(settings.registry.url)
            return settings, listed, listed_agents(listed, installed_agents())

        self._settings, self._registry, self._agents = await asyncio.to_thread(load)
        self._show(keep_selection=True)

    # ------------------------------------------------------------------------- what is shown

    @property
    def _selected(self) -> ListedAgent | None:
        for rows in self.query(SelectList):  # none while the screen closes
            if 0 <= rows.selected < len(self._shown):
                return self._shown[rows.selected]
        return None

    def _show(self, *, keep_selection: bool = False) -> None:
        before = self._selected if keep_selection else None
        self._shown = (
            best_matches(self._query, self._agents, lambda agent: (agent.name, agent.id, agent.about))
            if self._query
            else self._agents
        )
        ids = [agent.id for agent in self._shown]
        selected = ids.index(before.id) if before is not None and before.id in ids else 0
        width = min(MAX_NAME_CELLS, max((cell_len(agent.name) for agent in self._agents), default=0))
        for rows in self.query(SelectList):
            rows.empty_text = self._empty_text()
            rows.show([_row(agent, width) for agent in self._shown], selected)
            self._show_head()
            self._show_about()

    def _empty_text(self) -> str:
        if self._settings is None:
            return ""
        key = keys.bound_keys(self, "registry.update")
        if self._registry is None:
            return f"No list of agents yet. {key} fetches it from {_source(self._settings)}."
        return f'No matches for "{escape_invisible_line(self._query)}".'

    def _show_head(self) -> None:
        palette = current_palette()
        right = ""
        if self._registry is not None:
            date = format_moment(self._registry.fetched_at, datetime.now(UTC))
            right = f" {pluralize(len(self._agents), 'agent')} · list of {date}"
        elif self._settings is not None:
            right = f" no list yet · {keys.bound_keys(self, 'registry.update')} fetches it"
        head = [Segment("More agents", palette.strong)]
        self.query_one("#head", Bar).show(head, [Segment(right, palette.dim)])

    def _show_about(self) -> None:
        agent = self._selected
        text = f"{agent.about}\n{agent.details}" if agent is not None else ""
        if self._progress:
            text = f"{self._progress} … {time.monotonic() - self._started:.0f} s"
        for about in self.query("#about").results(Static):
            about.update(text, layout=False)  # its height is fixed
        self.refresh_bindings()

    def _show_progress(self) -> None:
        if self._progress:
            self._show_about()

    def apply_theme(self) -> None:
        """Draw again what was drawn in the colours of the old theme."""
        self._show(keep_selection=True)

    def label_of(self, key_id: str) -> str | None:
        """Return the footer's label of a key if the label depends on the state; None for the usual label."""
        if (
            key_id == "registry.take"
            and (agent := self._selected) is not None
            and agent.installed is not None
        ):
            return "upgrade" if agent.is_outdated else "start"
        if key_id == "registry.close" and self._is_working:
            return "cancel"
        return None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether an action is available now."""
        agent = self._selected
        if action in ("choose", "version", "update", "remove") and self._is_working:
            return False
        if action == "choose":
            return agent is not None
        if action == "version":
            return agent is not None and bool(agent.version) and not agent.unusable
        if action == "remove":
            return agent is not None and agent.installed is not None
        return super().check_action(action, parameters)

    # ------------------------------------------------------------------------- keys

    def on_input_changed(self, event: Input.Changed) -> None:
        self._query = event.value.strip()
        self._show()

    def on_select_list_chosen(self, event: SelectList.Chosen) -> None:
        """Choose an agent after a double click. A single click only selects it."""
        if event.clicks > 1:
            self.action_choose()

    def action_move(self, step: int) -> None:
        """Move the selection. At the ends, a single step wraps around and a longer one stops."""
        self.query_one(SelectList).move(step)

    def action_choose(self) -> None:
        """Start the selected agent if it is installed in the listed version. Otherwise ask to install it."""
        agent = self._selected
        if agent is None or self._is_working:
            return
        if agent.installed is not None and not agent.is_outdated:
            self.dismiss(agent.id)
        else:
            self._start(lambda: self._install(agent.id))

    def action_version(self) -> None:
        """Ask for a version of the selected agent, and install it."""
        if (agent := self._selected) is not None:
            self._start(lambda: self._install_version(agent))

    def action_update(self) -> None:
        """Fetch the list of agents."""
        self._start(self._update)

    def action_remove(self) -> None:
        """Remove the selected agent after a confirmation."""
        if (agent := self._selected) is not None and (record := agent.installed) is not None:
            self._start(lambda: self._remove(record))

    def action_close(self) -> None:
        """Cancel what is being done, clear the filter, or close the screen: the first that applies."""
        filtering = self.query_one(InputLine)
        if self._working is not None and self._is_working:
            self._working.cancel()
        elif filtering.value:
            filtering.value = ""
        else:
            self.dismiss(None)

    # ------------------------------------------------------------------------- work

    @property
    def _is_working(self) -> bool:
        return self._working is not None and not self._working.is_finished

    def _start(self, do: Callable[[], Awaitable[None]]) -> None:
        """Do something in a worker, which Esc cancels. Errors are shown."""

        async def run() -> None:
            try:
                await do()
            except UserError as error:
                self._notify_error(error)
            finally:
                self._report("")
            await self._load()

        self._started = time.monotonic()
        self._working = self.run_worker(run(), group="change")
        self.refresh_bindings()

    def _report(self, sentence: str) -> None:
        self._progress = escape_invisible_line(sentence)
        if self.is_attached:
            self._show_about()

    async def _update(self) -> None:
        if self._settings is not None:
            address = self._settings.registry.url
            self._report(f"Fetching the list of agents from {address}")
            listed = await registry.update(address)
            if count := len(listed.problems):
                parts = pluralize(count, "part")
                sentence = f"The list has {parts} that cannot be used, for example: {listed.problems[0]}"
                self.notify(sentence, timeout=10, markup=False)

    async def _install_version(self, agent: ListedAgent) -> None:
        dialog = RenameDialog("", agent.version, heading=f"Version of {agent.name}", save="go on")
        if version := await self.app.push_screen_wait(dialog):
            await self._install(agent.id, version)

    async def _install(self, name: str, version: str | None = None) -> None:
        """Show what will be downloaded and run, ask, and install it."""
        listed, settings = self._registry, self._settings
        if listed is None or settings is None:
            return
        plan = installation.plan_installation(listed, name, settings, version=version)
        verb = plan.title.partition(" ")[0]
        question = GuardedQuestion(
            plan.title,
            installation.WHAT_HAPPENS,
            (GuardedAnswer("Cancel"), GuardedAnswer(verb, grants=True)),
            facts=tuple(plan.facts()),
            warnings=tuple(plan.warnings()),
        )
        if not await self.app.push_screen_wait(GuardedQuestionScreen(question)):
            return
        self._started = time.monotonic()
        done = await installation.install(plan, self._report, start_timeout=settings.timeouts.initialize)
        title = f"{done.agent.name} {done.agent.version}"
        if done.problem:
            sentence = f"{title} is installed, but does not work yet: {done.problem}"
            self.notify(sentence, severity="warning", timeout=20, markup=False)
        else:
            key = keys.bound_keys(self, "registry.take")
            self.notify(f"{title} is installed. {key} starts it.", markup=False)

    async def _remove(self, agent: InstalledAgent) -> None:
        question = f"Remove {agent.name} {agent.version}?\n\nIts folder is deleted: {agent.path}"
        if await self.app.push_screen_wait(ConfirmScreen(question, yes="Remove it", no="Keep it")):
            deleted = await installation.remove(agent)
            later = "" if deleted else " Its files are still in use, and will be deleted later."
            self.notify(f"{agent.name} {agent.version} was removed.{later}", markup=False)

    def _notify_error(self, error: UserError) -> None:
        self.notify(str(error), severity="error", timeout=15, markup=False)


def listed_agents(listed: Registry | None, installed: dict[str, InstalledAgent]) -> list[ListedAgent]:
    """Return the installed agents, and then the others of the registry."""
    agents = dict(listed.agents) if listed is not None else {}
    ids = [*sorted(installed), *(name for name in sorted(agents) if name not in installed)]
    gone = "no longer in the registry" if listed is not None else ""
    return [_listed_agent(name, agents.get(name), installed.get(name), gone) for name in ids]


def _listed_agent(
    name: str, agent: RegistryAgent | None, record: InstalledAgent | None, gone: str
) -> ListedAgent:
    """Return an agent that is listed, installed, or both. `gone` describes one that is not listed."""
    title = agent.name if agent is not None else record.name if record is not None else name
    about = agent.about if agent is not None else record.about if record is not None else ""
    details = [name]
    if agent is None:
        details.append(gone)
    elif agent.distributions:
        details += [f"version {agent.version}", ", ".join(one.kind for one in agent.distributions)]
        details += [agent.license, agent.authors and f"by {agent.authors}", agent.homepage]
    else:
        details.append(agent.unusable)
    return ListedAgent(
        name,
        escape_invisible_line(title),
        escape_invisible_line(about),
        escape_invisible_line(" · ".join(filter(None, details))),
        agent.version if agent is not None else "",
        record,
        agent is not None and not agent.distributions,
    )


def _row(agent: ListedAgent, name_width: int) -> SelectRow:
    palette = current_palette()
    name = shorten(agent.name, name_width)
    text: Spans = [
        Segment(name, palette.dim if agent.unusable else palette.strong),
        Segment(" " * (name_width + 2 - cell_len(name))),
        Segment(agent.about, palette.dim),
    ]
    style = palette.accent if agent.is_outdated else palette.success if agent.installed else palette.dim
    tail = [Segment(agent.state, style)] if agent.state else None
    return SelectRow([], text, tail=tail, cut=True)


def _source(settings: Settings) -> str:
    """Return where the list comes from, in short."""
    address = settings.registry.url
    return urlsplit(address).hostname or escape_invisible_line(address)
