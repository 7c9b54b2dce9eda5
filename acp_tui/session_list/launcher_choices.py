"""The choices on the launcher, as plain data: known agents, and sessions that can be resumed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from acp_tui.config import agent_catalogue
from acp_tui.config.agent_catalogue import PACKAGE_RUNNERS, KnownAgent, missing_agent_message
from acp_tui.config.paths import paths
from acp_tui.config.settings import load
from acp_tui.console import format_moment
from acp_tui.session.safe_text import escape_line
from acp_tui.store.secret_patterns import redact_text
from acp_tui.store.session_title import UnsentWork, session_title
from acp_tui.store.stored_sessions import StoredSession, list_sessions
from acp_tui.workspace.git.repository import find_repository

MAX_SESSIONS = 50
"""The maximum number of sessions from the current folder. All other folders together have the same limit."""
MAX_TITLE_CHARACTERS = 200
"""Longer titles are truncated: a title may be a whole prompt."""


@dataclass(frozen=True, slots=True)
class AgentChoice:
    """A known agent, and whether it can be started here."""

    name: str
    title: str
    about: str
    state: Literal["installed", "downloaded", "missing"]  # downloaded: when it is started, by npx or uvx
    state_label: str
    install_command: str | None
    missing_reason: str  # a sentence; empty unless the agent is missing
    is_tested: bool  # with acp-tui; also True for the user's own commands
    was_used: bool  # in a recorded session
    is_own: bool = False  # it comes with acp-tui, so nothing has to be installed

    @property
    def is_ready(self) -> bool:
        """Whether the agent probably starts without a download."""
        return self.state == "installed" or (self.state == "downloaded" and self.was_used)


@dataclass(frozen=True, slots=True)
class SessionChoice:
    id: str
    title: str
    agent: str
    folder: str
    folder_exists: bool
    last_used: str
    in_current_folder: bool = False


@dataclass(frozen=True, slots=True)
class LauncherChoices:
    """The agents and sessions that the launcher offers, in its order: the most likely choices first."""

    agents: list[AgentChoice] = field(default_factory=list)
    sessions: list[SessionChoice] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)  # of the settings, in sentences
    in_repository: bool = False  # the folder is in a git repository, so that agents can get a worktree


def load_choices(cwd: Path) -> LauncherChoices:
    """Return the agents and sessions to offer, from the settings, PATH and the session store."""
    settings = load(cwd)
    recorded = list_sessions(paths().data)
    last_used = {session.text("agent") or "": session.updated for session in reversed(recorded)}
    agents = [
        _agent_choice(known, known.name in last_used)
        for known in agent_catalogue.known_agents(settings).values()
    ]
    agents.sort(key=lambda agent: _sort_key(agent, last_used))
    problems = [str(problem) for problem in agent_catalogue.settings_problems(settings)]
    sessions = sorted(_session_choices(recorded, cwd), key=lambda session: not session.in_current_folder)
    return LauncherChoices(agents, sessions, problems, find_repository(cwd.absolute()) is not None)


def _sort_key(agent: AgentChoice, last_used: Mapping[str, float]) -> tuple[bool, float, bool, bool, bool]:
    """Return a sort key: the most recently used agents first, then installed, downloadable and missing ones.

    Missing agents come last even if they were used. Until it is used, the demo agent is the last of the
    installed ones; but as long as there is no recorded session, it comes before all others, because it needs
    no setup.
    """
    demo = agent.name == "demo"
    return (
        agent.state == "missing",
        -last_used.get(agent.name, 0.0),
        not (demo and not last_used),
        agent.state == "downloaded",
        demo,
    )


def _agent_choice(known: KnownAgent, was_used: bool) -> AgentChoice:
    command = known.find_command()
    state: Literal["installed", "downloaded", "missing"] = "missing"
    state_label = "not set up" if known.obstacle else "missing"
    if command is not None:
        runner = Path(command[0]).name
        if runner in PACKAGE_RUNNERS:
            state, state_label = "downloaded", f"via {runner}"
        else:
            version = f" {known.installed.version}" if known.installed else ""
            state, state_label = "installed", escape_line(f"installed{version}")
    return AgentChoice(
        known.name,
        escape_line(known.title),
        escape_line(known.about),
        state,
        state_label,
        escape_line(redact_text(known.install)) if known.install else None,
        escape_line(missing_agent_message(known)) if command is None else "",
        bool(known.tested_version) or known.is_custom,
        was_used,
        is_own=known.name == agent_catalogue.LOCAL_AGENT and not known.is_custom,
    )


def _session_choices(recorded: list[StoredSession], cwd: Path) -> Iterator[SessionChoice]:
    """Yield the latest sessions that can be resumed, from the folder `cwd` and from other folders."""
    now, current_folder = datetime.now(UTC), os.path.realpath(cwd)
    unsent, counts = UnsentWork(paths().state), {True: 0, False: 0}
    for session in recorded:
        folder = session.project_folder
        in_current_folder = bool(folder) and os.path.realpath(folder) == current_folder
        if counts[in_current_folder] == MAX_SESSIONS:
            continue
        title = session_title(session, unsent)
        if not title.strip():
            continue  # nothing was done in the session
        counts[in_current_folder] += 1
        yield SessionChoice(
            session.id,
            escape_line(" ".join(title[:MAX_TITLE_CHARACTERS].split())),
            escape_line(session.text("agent_title") or session.text("agent") or "?"),
            escape_line(folder),
            Path(folder).is_dir(),
            format_moment(session.updated, now),
            in_current_folder,
        )
