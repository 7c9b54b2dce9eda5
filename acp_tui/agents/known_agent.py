"""An agent with a short name, and whether it is installed."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path

PACKAGE_RUNNERS = ("npx", "uvx")
"""Programs that download a package and run it."""


@dataclass(frozen=True, slots=True)
class KnownAgent:
    """An agent with a short name, from the catalogue or the user's settings."""

    name: str
    title: str
    about: str = ""
    commands: tuple[tuple[str, ...], ...] = ()  # the first one whose program is found is used
    env: dict[str, str] = field(default_factory=dict)
    install: str | None = None  # a command that installs the agent
    key_variables: tuple[str, ...] = ()  # environment variables, any of which may contain the API key
    sign_in: str | None = None
    project_mcp: tuple[str, ...] = ()  # the project files in which the agent itself looks up MCP servers
    note: str | None = None
    homepage: str | None = None
    tested_version: str | None = None  # the version that acp-tui was tested with
    is_custom: bool = False  # whether the command is from the user's settings
    instead_of_mode: dict[str, str] = field(default_factory=dict)  # the mode for new sessions, by the agent's
    missing_file: str = "error"  # or "empty": how reads of missing files are answered
    once_option: str = ""  # the id of the permission option that means "this once", if several allow once
    question_answers: str = "standard"  # or "qwen": how its questions to the user are answered
    source: str = "built in"  # or the user's file and line

    def find_command(self) -> list[str] | None:
        """Return the first command whose program is found (its path made absolute), or None."""
        for program, *arguments in self.commands:
            if path := shutil.which(program, path=self.env.get("PATH")):
                return [str(Path(path).absolute()), *arguments]
        return None

    @property
    def is_installed(self) -> bool:
        """Whether the agent can be started without being downloaded.

        A command that the user configured counts as installed even if its program is a package
        runner, such as `npx`.
        """
        command = self.find_command()
        return command is not None and (self.is_custom or Path(command[0]).name not in PACKAGE_RUNNERS)


def missing_agent_message(agent: KnownAgent) -> str:
    """Return why an agent cannot be started, and how to install it."""
    programs = [command[0] for command in agent.commands]
    own = [program for program in programs if program not in PACKAGE_RUNNERS]
    ways = [f"`{agent.install}`"] if agent.install else []
    ways += [f"{program} (which downloads it)" for program in programs if program in PACKAGE_RUNNERS]
    state = (
        "is not executable" if any("/" in name and Path(name).exists() for name in own) else "was not found"
    )
    sentence = f"{agent.title} cannot be started: {' or '.join(own or programs)} {state}"
    return f"{sentence}; install it with {', or install '.join(ways)}" if ways else sentence
