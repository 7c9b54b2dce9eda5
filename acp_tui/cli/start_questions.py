"""Questions that the user must answer before an agent starts."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class StartAnswer:
    """One of the possible answers to a question."""

    label: str
    accept: Callable[[], None] = lambda: None
    grants: bool = False  # the answer allows something, so the user must have seen the whole question
    refusal: str = ""  # printed instead of starting the agent; empty: the agent starts


@dataclass(frozen=True, slots=True)
class StartQuestion:
    """A question that has to be answered before an agent starts. Its texts can contain control characters."""

    title: str
    text: str
    answers: tuple[StartAnswer, ...]  # the first is the safe one
    facts: tuple[tuple[str, str], ...] = ()  # label and value; shown in full
    warnings: tuple[str, ...] = field(default=())
    position: tuple[int, int] = (1, 1)  # the number of this question, and how many there are
    main_fact: str = ""  # the label of the value to highlight
    close_label: str = "no"


def workspace_question(cwd: Path) -> StartQuestion | None:
    """Return a question if `wide_workspace` describes the folder; otherwise None."""
    what = wide_workspace(cwd)
    if what is None:
        return None
    refusal = f"Not started: the workspace would be {what}. Change to a project folder, or use --cwd DIR"
    return StartQuestion(
        title="Use this folder as the workspace?",
        text=f"The workspace would be {what}: the agent could read every file in it without asking.",
        answers=(
            StartAnswer("Do not start", refusal=refusal),
            StartAnswer("Use it as the workspace", grants=True),
        ),
    )


def wide_workspace(cwd: Path) -> str | None:
    """Describe the root, the home directory or a folder above it; return None for any other folder."""
    real = cwd.resolve()
    if real == Path(real.anchor):
        return "/, the whole file system"
    with suppress(RuntimeError):  # there is no home directory
        home = Path.home().resolve()
        if real == home:
            return f"your home directory {real}"
        if real in home.parents:
            return f"{real}, which contains your home directory"
    return None
