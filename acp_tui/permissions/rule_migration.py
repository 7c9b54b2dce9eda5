"""Rules of earlier versions, which knew an agent that is in no catalogue by the name of its program.

`python3 launch.py claude-code` and `python3 launch.py kimi-code` were both "launch.py". A rule moves to the
command where all recorded sessions of that name had the same one. Else an allow rule is no longer used,
which is said, and a reject rule goes on to count for every command with that program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_tui.permissions.agent_identity import AD_HOC, identity_of_command
from acp_tui.store.secret_patterns import MASK

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from acp_tui.permissions.rules import Rule


def names_agent_by_program(rule: Rule, known: Collection[str]) -> bool:
    """Return True if the rule names an agent as earlier versions did. `known`: ids of the catalogue."""
    return rule.agent is not None and rule.agent not in known and not rule.agent.startswith(AD_HOC)


def migrate(rule: Rule, sessions: Iterable[Mapping[str, Any]]) -> Rule | None:
    """Return the rule for the one command that the sessions' meta data has for its agent, if it is one."""
    held = [meta for meta in sessions if meta.get("agent") == rule.agent]
    if any(meta.get("ad_hoc") is False for meta in held):  # an agent that the settings no longer have
        return None
    commands = {_command(meta) for meta in held}
    command = commands.pop() if len(commands) == 1 else None
    if command is None:
        return None
    identity = identity_of_command(command)
    return rule.evolve(agent=identity.id, agent_line=identity.line)


def _command(meta: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The arguments that were recorded; None when they are not known for certain."""
    command = meta.get("command")
    if not isinstance(command, list) or not command or not all(isinstance(word, str) for word in command):
        return None
    return None if any(MASK in word for word in command) else tuple(command)
