"""Messages from the panes to their screen.

The messages are in a separate module, because the screen needs the messages at start but loads the panes on
first use.
"""

from __future__ import annotations

from typing import Literal

from textual.message import Message

ItemActionName = Literal[
    "edit", "diff", "revert", "accept", "undo", "look", "output", "kill", "set", "server"
]
PanesActionName = Literal["leave", "zoom", "close"]


class PaneItemAction(Message):
    """A pane's request to do something with one of its items; `undo` and `look` need no item."""

    def __init__(self, action: ItemActionName, key: str = "", line: int | None = None) -> None:
        super().__init__()
        self.action = action
        self.key = key  # a path, the id of a terminal or an option, or the name of an MCP server
        self.line = line


class PanesAction(Message):
    """A request to leave, close or zoom the panes."""

    def __init__(self, action: PanesActionName) -> None:
        super().__init__()
        self.action = action
