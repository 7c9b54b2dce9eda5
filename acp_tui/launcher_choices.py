"""What the launcher offers, as plain data: the known agents and the sessions that can be resumed."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from acp_tui.agents import catalogue
from acp_tui.agents.known_agent import PACKAGE_RUNNERS, missing_agent_message
from acp_tui.config.paths import paths
from acp_tui.config.settings import load
from acp_tui.session.text import visible_line
from acp_tui.store.secret_patterns import redact_text
from acp_tui.store.session_labels import format_moment, session_title
from acp_tui.store.stored_sessions import list_sessions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from acp_tui.agents.known_agent import KnownAgent
    from acp_tui.store.stored_sessions import StoredSession

MAX_SESSIONS = 50
"""Sessions offered from this folder, and as many from others; `acp-tui sessions` lists all."""
MAX_TITLE_CHARACTERS = 200
"""Longer titles are cut: a title may be a prompt of many pages."""


@dataclass(frozen=True, slots=True)
class AgentChoice:
    """A known agent."""

    name: str
    title: str
    about: str
    state: Literal["installed", "fetched", "missing"]
    how: str  # the state in a word or two
    install: str | None  # the command that installs it
    missing: str  # why it cannot be started, in a sentence; empty when it can
    tried: bool  # tested with acp-tui, or the user's own command
    used: bool  # in a recorded session

    @property
    def near(self) -> bool:
        """Whether the agent probably starts without a download."""
        return self.state == "installed" or (self.state == "fetched" and self.used)


@dataclass(frozen=True, slots=True)
class SessionChoice:
    """A session that can be resumed."""

    id: str
    title: str
    agent: str
    folder: str
    there: bool  # the folder still exists
    when: str
    here: bool = False  # in the folder that acp-tui was started in


@dataclass(frozen=True, slots=True)
class LauncherChoices:
    """The agents and sessions to choose from, the most likely first."""

    agents: list[AgentChoice] = field(default_factory=list)
    sessions: list[SessionChoice] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)  # of the settings, in sentences


def load_choices(cwd: Path) -> LauncherChoices:
    """Read the settings, PATH and the session store."""
    settings = load(cwd)
    recorded = list_sessions(paths().data)
    used = {session.text("agent") or "": session.updated for session in reversed(recorded)}
    agents = [_agent(known, used) for known in catalogue.known_agents(settings).values()]
    agents.sort(key=lambda agent: _place(agent, used))
    problems = [str(problem) for problem in catalogue.settings_problems(settings)]
    sessions = sorted(_sessions(recorded, cwd), key=lambda session: not session.here)
    return LauncherChoices(agents, sessions, problems)


def _place(agent: AgentChoice, used: Mapping[str, float]) -> tuple[bool, float, bool, bool, bool]:
    """Sort key: last used, then installed, then downloaded on start, then missing.

    The demo comes last in its group, but first for users without any session: it needs no setup.
    """
    demo = agent.name == "demo"
    last_used = -used.get(agent.name, 0.0)
    return (agent.state == "missing", last_used, not (demo and not used), agent.state == "fetched", demo)


def _agent(known: KnownAgent, used: Mapping[str, float]) -> AgentChoice:
    command = known.find_command()
    state: Literal["installed", "fetched", "missing"] = "missing"
    how = "missing"
    if command is not None:
        runner = Path(command[0]).name
        fetched = runner in PACKAGE_RUNNERS
        state, how = ("fetched", f"via {runner}") if fetched else ("installed", "installed")
    return AgentChoice(
        known.name,
        visible_line(known.title),
        visible_line(known.about),
        state,
        how,
        visible_line(redact_text(known.install)) if known.install else None,
        visible_line(missing_agent_message(known)) if command is None else "",
        bool(known.tested_version) or known.is_custom,
        known.name in used,
    )


def _sessions(recorded: list[StoredSession], cwd: Path) -> Iterator[SessionChoice]:
    """Yield the latest sessions of this folder and of other folders."""
    now, here = datetime.now(UTC), os.path.realpath(cwd)
    found = {True: 0, False: 0}
    for session in recorded:
        folder = session.text("cwd") or ""
        is_here = bool(folder) and os.path.realpath(folder) == here
        if found[is_here] == MAX_SESSIONS:
            continue
        title = session_title(session) if session.text("session_id") else ""
        if not title.strip():
            continue  # nothing to resume
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
