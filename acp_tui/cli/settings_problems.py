"""Prints the problems in the settings files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.agents.catalogue import settings_problems
from acp_tui.console.messages import print_message
from acp_tui.console.quantities import pluralize

if TYPE_CHECKING:
    from acp_tui.config.settings import Settings

MAX_PROBLEMS = 5
"""The maximum number of problems printed before a run; `config check` prints all."""


def print_problems(settings: Settings) -> None:
    """Print the first `MAX_PROBLEMS` problems, and how many more there are."""
    problems = settings_problems(settings)
    for problem in problems[:MAX_PROBLEMS]:
        print_message(str(problem))
    if (more := len(problems) - MAX_PROBLEMS) > 0:
        print_message(f"{pluralize(more, 'more problem')} in the settings; run `acp-tui config check`.")


def print_problem_count(settings: Settings) -> None:
    """Print how many problems there are, if any."""
    if problems := settings_problems(settings):
        print_message(f"{pluralize(len(problems), 'problem')} in the settings; run `acp-tui config check`.")
