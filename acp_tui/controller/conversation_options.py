"""What the user chose for a conversation before it starts. See `agent_options` for an agent's options."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from acp_tui.config.mcp import Server, UnsentServer
    from acp_tui.config.policies import Policy
    from acp_tui.controller.requests.user_questions import QuestionHandler
    from acp_tui.permissions.rules import Rule
    from acp_tui.workspace.git.worktrees.worktree import Worktree


@dataclass(slots=True)
class Options:
    """What the user chose for a conversation before it starts."""

    cwd: Path
    directories: list[Path] = field(default_factory=list)
    policy: Policy = "ask"
    run_rules: list[Rule] = field(default_factory=list)
    servers: list[Server] = field(default_factory=list)  # read each time a session is opened
    withheld_servers: list[UnsentServer] = field(default_factory=list)  # shown with the reason
    question_handler: QuestionHandler | None = None
    can_rewind: bool = False  # files may change between turns: look at them before each turn
    terminal_sign_in: bool = False  # the agent's sign-in command can be run in a terminal
    worktree: Worktree | None = None  # `cwd` is in it
