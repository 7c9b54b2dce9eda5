"""Questions before an agent starts: a very wide workspace, or an agent chosen by project settings."""

from __future__ import annotations

import shlex
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.config.paths import paths
from acp_tui.config.settings import project_file
from acp_tui.store.folder_trust import FolderTrust

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.agents.launch import Launch


@dataclass(frozen=True, slots=True)
class StartQuestion:
    """A yes-or-no question that has to be answered before an agent starts."""

    text: str
    yes: str
    no: str
    declined: str  # shown when the answer is no
    accept: Callable[[], None] = lambda: None


def workspace_question(cwd: Path) -> StartQuestion | None:
    """Ask whether the root or the home directory is meant to be the workspace."""
    what = wide_workspace(cwd)
    if what is None:
        return None
    return StartQuestion(
        text=f"The workspace would be {what}: the agent could read every file in it without asking.",
        yes="Use it as the workspace",
        no="Do not start",
        declined=f"Not started: the workspace would be {what}. Change to a project folder, or use --cwd DIR",
    )


def wide_workspace(cwd: Path) -> str | None:
    """Name a folder that holds far more than a project; None for any other folder."""
    real = cwd.resolve()
    if real == Path(real.anchor):
        return "/, the whole file system"
    with suppress(RuntimeError):  # there is no home directory
        if real == Path.home().resolve():
            return f"your home directory {real}"
    return None


def project_agent_question(cwd: Path, launch: Launch) -> StartQuestion | None:
    """Ask before an agent starts only because the project's settings name it; once per folder and agent."""
    trust = FolderTrust(paths().state)
    if trust.allows(cwd, launch.name):
        return None

    def accept() -> None:
        with suppress(OSError):  # it is asked again next time
            trust.allow(cwd, launch.name)

    return StartQuestion(
        text=f"{project_file(cwd)} chooses the agent: {launch.title}\n\n  {shlex.join(launch.command)}",
        yes=f"Always start {launch.title} in this folder",
        no="Do not start",
        declined=f"Not started: {launch.title}. `acp-tui --choose` lists all agents",
        accept=accept,
    )
