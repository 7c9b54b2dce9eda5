"""Questions that must not be answered by accident, such as whether a folder is trusted, as plain data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar


@dataclass(frozen=True, slots=True)
class GuardedAnswer:
    """One of the possible answers."""

    label: str
    grants: bool = field(default=False, kw_only=True)
    """True if the answer allows something, so the user must have seen the whole question."""


@dataclass(frozen=True, slots=True)
class StartAnswer(GuardedAnswer):
    """An answer to a question that is asked before an agent starts."""

    accept: Callable[[], None] = lambda: None
    """To be called when the user has chosen the answer."""
    refusal: str = ""
    """Why the agent does not start after this answer, in a sentence; empty if it starts."""


Answer = TypeVar("Answer", bound=GuardedAnswer)


@dataclass(frozen=True, slots=True)
class GuardedQuestion(Generic[Answer]):
    """What the dialog shows. The texts can contain control characters: the dialog replaces them."""

    title: str
    text: str
    """What the user should know before answering, in sentences."""
    answers: tuple[Answer, ...]
    """The first is the safe one."""
    facts: tuple[tuple[str, str], ...] = ()
    """Pairs of a label and a value, shown below the text in full."""
    warnings: tuple[str, ...] = ()
    """Reasons for caution, in sentences."""
    position: tuple[int, int] = (1, 1)
    """The number of this question, and how many there are, as in "2 of 3"."""
    main_fact: str = ""
    """The label of the value to highlight."""
    close_label: str = "no"
    """What closing the dialog means, shown beside the key that closes it."""
