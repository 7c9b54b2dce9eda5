"""What panes ask of their screen. Apart from the panes, which are loaded only when they are opened."""

from __future__ import annotations

from typing import Literal

from textual.message import Message

ActionName = Literal["edit", "diff", "revert", "look", "output", "kill", "set"]
StepName = Literal["leave", "zoom", "close"]


class PaneAction(Message):
    """The user wants something done that is not a pane's to do."""

    def __init__(self, what: ActionName, key: str = "", line: int | None = None) -> None:
        super().__init__()
        self.what = what
        self.key = key  # a path, the id of a terminal or of an option
        self.line = line


class PaneStep(Message):
    """Something about the panes as a whole."""

    def __init__(self, step: StepName) -> None:
        super().__init__()
        self.step = step
