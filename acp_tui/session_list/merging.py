"""Merges two lists: the sessions that acp-tui recorded, and the sessions that agents list."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from acp_tui.session_list.saved_session import SavedSession

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from acp_tui.controller.agent_sessions import ListedSession


@dataclass(frozen=True, slots=True)
class AgentList:
    """The sessions that an agent lists."""

    agent: str  # its name in the list of known agents
    agent_title: str
    program: str  # its command line if it is not a known agent, else empty
    sessions: Sequence[ListedSession]


def merge(recorded: Sequence[SavedSession], lists: Iterable[AgentList]) -> list[SavedSession]:
    """Return all recorded sessions, and the listed sessions that are not recorded; most recently used first.

    A listed session counts as recorded if a recorded session has the same agent and agent session id.
    """
    merged: dict[tuple[str, str | None], SavedSession] = {}
    others: list[SavedSession] = []
    for one in recorded:
        own_key = one.agent, one.agent_session_id
        if one.agent_session_id and own_key not in merged:
            merged[own_key] = one
        else:
            others.append(one)
    for agent_list in lists:
        for listed in agent_list.sessions:
            key = agent_list.agent, listed.session_id
            if key not in merged:
                merged[key] = _only_listed(agent_list, listed)
            elif not merged[key].title and listed.title:
                merged[key] = replace(merged[key], title=listed.title)
    return sorted([*merged.values(), *others], key=lambda one: one.updated, reverse=True)


def _only_listed(agent_list: AgentList, listed: ListedSession) -> SavedSession:
    return SavedSession(
        id="",
        title=listed.title,
        name="",
        agent=agent_list.agent,
        agent_title=agent_list.agent_title,
        folder=listed.folder,
        agent_folder=listed.folder,
        updated=listed.updated,
        agent_session_id=listed.session_id,
        program=agent_list.program,
    )
