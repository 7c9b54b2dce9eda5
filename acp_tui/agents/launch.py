"""How an agent is started: from the catalogue, or from a command line."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.errors import UserError
from acp_tui.session.text.safe_text import visible_line

if TYPE_CHECKING:
    from collections.abc import Sequence

_RUNNERS = re.compile(r"(python|pypy|node|deno|bun|bunx|npx|uv|uvx|pipx|ruby|perl|bash|zsh|sh)[\d.]*")
_RUN_WORDS = ("run", "x", "tool")
_CODE_OPTIONS = ("-c", "-e", "--eval")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_VERSION = re.compile(r"(?<=.)@.*")


@dataclass(slots=True)
class Launch:
    """A command that speaks ACP on its standard input and output."""

    name: str  # the short name; for a command line, the program's name
    title: str
    command: list[str]
    env: dict[str, str] = field(default_factory=dict)  # added to our own environment
    install_hint: str | None = None  # a command that installs the agent
    ad_hoc: bool = False  # given as a command line, so the name does not identify the agent
    missing_file_is_empty: bool = False  # reads of missing files return an empty text; see catalogue.toml
    once_option: str = ""  # the id of the permission option that means "this once"; see catalogue.toml
    has_qwen_questions: bool = False  # it asks the user as Qwen Code does; see `protocol/qwen_questions.py`
    instead_of_mode: dict[str, str] = field(default_factory=dict)  # as in `KnownAgent`
    project_mcp: tuple[str, ...] = ()  # a project's files from which the agent itself reads MCP servers


def launch_from_command(line: str) -> Launch:
    """Return the `Launch` for a command line. Raises `UserError` if the line is empty or malformed."""
    try:
        command = shlex.split(line)
    except ValueError as error:
        raise UserError(f"--command cannot be split into words: {str(error).lower()}", exit_code=2) from None
    if not command or not command[0]:
        raise UserError("--command is empty: give it a program and its arguments", exit_code=2)
    if is_url(command[0]):
        raise UserError(
            f"{visible_line(command[0])} is a URL, not a command that starts an agent.", exit_code=2
        )
    name = program_name(command)
    return Launch(name=name, title=name, command=command, ad_hoc=True)


def is_url(text: str) -> bool:
    """Return True for what starts with a scheme, such as `https://` or `ws://`."""
    return _URL.match(text) is not None


def program_name(command: Sequence[str]) -> str:
    """Return the program's name; for an interpreter or package runner, the name of its script or package."""
    program = Path(command[0]).name or command[0]
    if not _RUNNERS.fullmatch(program):
        return program
    for before, word in pairwise(command):
        if word in _CODE_OPTIONS:
            return program
        if not word or word.startswith("-") or word in _RUN_WORDS:
            continue
        return word if before == "-m" else _VERSION.sub("", Path(word).name) or program
    return program
