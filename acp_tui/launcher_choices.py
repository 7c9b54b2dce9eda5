"""What can be started, as plain data: the agents known by name, and the sessions one can go on with."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from acp_tui.agents import catalogue
from acp_tui.config.paths import paths
from acp_tui.config.settings import load
from acp_tui.session.text import visible_line
from acp_tui.store.folders import list_sessions
from acp_tui.store.secret_patterns import redact_text
from acp_tui.store.session_labels import format_moment, session_title

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from acp_tui.agents.catalogue import KnownAgent
    from acp_tui.store.folders import StoredSession

MAX_SESSIONS = 50
"""Sessions of this folder that are offered, and as many of others; `acp-tui sessions` lists all."""
MAX_TITLE_CHARACTERS = 200
"""Characters of a title, which may be a prompt of many pages."""


@dataclass(frozen=True, slots=True)
class AgentChoice:
    """One that is known by name."""

    name: str
    title: str
    about: str
    state: Literal["installed", "fetched", "missing"]
    how: str  # the state in a word or two
    install: str | None  # the command that installs it
    missing: str  # why it cannot be started, in a sentence; empty when it can
    tried: bool  # or the user's own, of which there is nothing to say
    used: bool  # has a session been held with it?

    @property
    def near(self) -> bool:
        """Is it there already, as far as one can tell?"""
        return self.state == "installed" or (self.state == "fetched" and self.used)


@dataclass(frozen=True, slots=True)
class SessionChoice:
    """A session that an agent may go on with."""

    id: str
    title: str
    agent: str
    folder: str
    there: bool  # does the folder still exist?
    when: str
    here: bool = False  # was it held in the folder that acp-tui was started in?


@dataclass(frozen=True, slots=True)
class LauncherChoices:
    """Everything, the likeliest first."""

    agents: list[AgentChoice] = field(default_factory=list)
    sessions: list[SessionChoice] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)  # of the settings, in sentences


def load_choices(cwd: Path) -> LauncherChoices:
    """What there is now: reads the settings, the search path and the store."""
    settings = load(cwd)
    recorded = list_sessions(paths().data)
    used = {session.text("agent") or "": session.updated for session in reversed(recorded)}
    agents = [_agent(known, used) for known in catalogue.known_agents(settings).values()]
    agents.sort(key=lambda agent: _place(agent, used))
    problems = [str(problem) for problem in catalogue.settings_problems(settings)]
    sessions = sorted(_sessions(recorded, cwd), key=lambda session: not session.here)
    return LauncherChoices(agents, sessions, problems)


def _place(agent: AgentChoice, used: Mapping[str, float]) -> tuple[bool, float, bool, bool, bool]:
    """Those that can be started first: the last used one, those on the disk, those that are fetched.

    The demo comes after others like it, but before all for who has never used any: it needs nothing.
    """
    demo = agent.name == "demo"
    last_used = -used.get(agent.name, 0.0)
    return (agent.state == "missing", last_used, not (demo and not used), agent.state == "fetched", demo)


def _agent(known: KnownAgent, used: Mapping[str, float]) -> AgentChoice:
    command = known.found()
    state: Literal["installed", "fetched", "missing"] = "missing"
    how = "missing"
    if command is not None:
        runner = Path(command[0]).name
        fetched = runner in catalogue.RUNNERS
        state, how = ("fetched", f"via {runner}") if fetched else ("installed", "installed")
    return AgentChoice(
        known.name,
        visible_line(known.title),
        visible_line(known.about),
        state,
        how,
        visible_line(redact_text(known.install)) if known.install else None,
        visible_line(catalogue.missing_agent_message(known)) if command is None else "",
        bool(known.tried) or known.own,
        known.name in used,
    )


def _sessions(recorded: list[StoredSession], cwd: Path) -> Iterator[SessionChoice]:
    """The latest ones of this folder, and of all others."""
    now, here = datetime.now(UTC), os.path.realpath(cwd)
    found = {True: 0, False: 0}
    for session in recorded:
        folder = session.text("cwd") or ""
        is_here = bool(folder) and os.path.realpath(folder) == here
        if found[is_here] == MAX_SESSIONS:
            continue
        title = session_title(session) if session.text("session_id") else ""
        if not title.strip():
            continue  # it never began, or nothing was said: there is nothing to go on with
        found[is_here] += 1
        yield SessionChoice(
            session.id,
            visible_line(" ".join(title[:MAX_TITLE_CHARACTERS].split())),
            visible_line(session.text("agent_title") or session.text("agent") or "?"),
            visible_line(folder),
            Path(folder).is_dir(),
            format_moment(session.updated, now),
            is_here,
        )
