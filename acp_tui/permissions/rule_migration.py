"""Migrates rules of earlier versions. Such a rule identifies its agent by a program instead of a command.

`python3 launch.py claude-code` and `python3 launch.py kimi-code` were both "launch.py". If the recorded
sessions show clearly which command started such an agent, the rule now applies to that command. Otherwise an
allow rule is reported and no longer used, and a reject rule still applies to every command with that program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_tui.permissions.agent_identity import AD_HOC, identity_of_command
from acp_tui.store.secret_patterns import MASK

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from acp_tui.permissions.rules import Rule


def names_agent_by_program(rule: Rule, known: Collection[str]) -> bool:
    """Return True if the rule may identify its agent by a program's name, like rules of earlier versions.

    Today, rules contain the id of an agent in the catalogue or of a whole command. `known` holds the ids in
    the catalogue. The result is also True for an agent that has been removed from the catalogue.
    """
    return rule.agent is not None and rule.agent not in known and not rule.agent.startswith(AD_HOC)


def migrate(rule: Rule, sessions: Iterable[Mapping[str, Any]]) -> Rule | None:
    """Return the rule, changed so that it identifies its agent by the command recorded in the sessions.

    Return None if the sessions do not show clearly which command started the agent.
    """
    held = [meta for meta in sessions if meta.get("agent") == rule.agent]
    if any(meta.get("ad_hoc") is False for meta in held):  # an agent that is no longer in the settings
        return None
    commands = {_command(meta) for meta in held}
    command = commands.pop() if len(commands) == 1 else None
    if command is None:
        return None
    identity = identity_of_command(command)
    return rule.evolve(agent=identity.id, agent_line=identity.line)


def _command(meta: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the recorded command of a session's agent; None if the command is missing or partly redacted."""
    command = meta.get("command")
    if not isinstance(command, list) or not command or not all(isinstance(word, str) for word in command):
        return None
    return None if any(MASK in word for word in command) else tuple(command)
