"""The identity of an agent in rules: its catalogue id, otherwise its command and the name it reports."""

from __future__ import annotations

import hashlib
import json
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from acp_tui.store.secret_patterns import redact_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acp_tui.agents.launch import Launch

AD_HOC = "command:"
"""What identities of commands begin with; ids of the catalogue do not."""


@dataclass(frozen=True, slots=True)
class AgentIdentity:
    """An agent as rules know it."""

    id: str  # of the catalogue, or `command:` and a digest of the arguments, which may hold secrets
    line: str = ""  # of a command: for display, without secrets
    name: str | None = None  # of a command: what the agent calls itself
    program: str | None = None  # of a command: what rules of earlier versions knew it by

    @property
    def label(self) -> str:
        """The identity for a person."""
        if not self.line:
            return self.id
        return f"{self.name} (`{self.line}`)" if self.name else f"`{self.line}`"


def identity_of(launch: Launch, own_name: str | None = None) -> AgentIdentity:
    """Return who is started so. `own_name`: what it said in its answer to `initialize`."""
    if not launch.ad_hoc:
        return AgentIdentity(launch.name)
    return identity_of_command(launch.command, own_name, program=launch.name)


def identity_of_command(
    command: Sequence[str], own_name: str | None = None, *, program: str | None = None
) -> AgentIdentity:
    """Return the identity of an agent that is in no catalogue."""
    digest = hashlib.sha256(json.dumps(list(command)).encode()).hexdigest()[:32]
    return AgentIdentity(f"{AD_HOC}{digest}", redact_text(shlex.join(command)), own_name, program)
