"""The result of a form, and what is wrong with a value that does not match the schema."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class FormAnswer:
    """The answer to a form or a web page. The actions are those of `elicitation/create` in MCP and ACP.

    Only `accept` can have content. `decline` is an explicit no. `cancel` means that no answer was given.
    """

    action: Literal["accept", "decline", "cancel"]
    content: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class SchemaFault:
    """A mismatch between a part of a value and the schema."""

    path: tuple[str | int, ...]
    """The path to the part: keys of objects and indexes of arrays, the outermost first."""
    problem: str
    """What is wrong with the part, such as "must be a number"."""

    @property
    def sentence(self) -> str:
        """The path and the problem: "filters[0].size must be a number"."""
        return f"{path_text(self.path) or 'The value'} {self.problem}"


def path_text(path: tuple[str | int, ...]) -> str:
    """Return a path as programmers write it: `filters[0].size`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text
