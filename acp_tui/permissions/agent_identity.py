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
"""The prefix of the id of an agent that is not in the catalogue. No catalogue id begins with it."""


@dataclass(frozen=True, slots=True)
class AgentIdentity:
    """An agent, as rules refer to it. For an agent in the catalogue, only `id` is set."""

    id: str  # its catalogue id, or `command:` and a digest, because its command may contain secrets
    line: str = ""  # the command without secrets, for display
    name: str | None = None  # the name that the agent reports
    program: str | None = None  # the program's name, by which rules of earlier versions refer to the agent

    @property
    def label(self) -> str:
        """The agent as shown to the user: its catalogue id, or else its reported name and its command."""
        if not self.line:
            return self.id
        return f"{self.name} (`{self.line}`)" if self.name else f"`{self.line}`"


def identity_of(launch: Launch, own_name: str | None = None) -> AgentIdentity:
    """Return the identity of a launched agent. `own_name` is the name in the answer to `initialize`."""
    if not launch.ad_hoc:
        return AgentIdentity(launch.name)
    return identity_of_command(launch.command, own_name, program=launch.name)


def identity_of_command(
    command: Sequence[str], own_name: str | None = None, *, program: str | None = None
) -> AgentIdentity:
    """Return the identity of an agent that is started by a command, not from the catalogue."""
    digest = hashlib.sha256(json.dumps(list(command)).encode()).hexdigest()[:32]
    return AgentIdentity(f"{AD_HOC}{digest}", redact_text(shlex.join(command)), own_name, program)
