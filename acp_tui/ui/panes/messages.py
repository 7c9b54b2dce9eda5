"""What panes ask of their screen. Apart from the panes, which are loaded only when they are opened."""

from __future__ import annotations

from typing import Literal

from textual.message import Message

What = Literal["edit", "diff", "revert", "look", "output", "kill", "set"]
Step = Literal["leave", "zoom", "close"]


class Wanted(Message):
    """The user wants something done that is not a pane's to do."""

    def __init__(self, what: What, key: str = "", line: int | None = None) -> None:
        super().__init__()
        self.what = what
        self.key = key  # a path, the id of a terminal or of an option
        self.line = line


class Frame(Message):
    """Something about the panes as a whole."""

    def __init__(self, step: Step) -> None:
        super().__init__()
        self.step = step
