"""The base class of panes: their data source, updates and keys."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from textual.message import Message

from acp_tui.ui import keys
from acp_tui.ui.drawing.body import DrawContext
from acp_tui.ui.panes.pane_list import PaneItem, PaneList

if TYPE_CHECKING:
    from textual import events

    from acp_tui.controller import Conversation
    from acp_tui.session.record import Change
    from acp_tui.session.state import Session


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


@dataclass(slots=True)
class PaneSource:
    """The data that panes show."""

    session: Session
    cwd: str = ""
    conversation: Conversation | None = None  # None for a recorded session


class Pane(PaneList):
    """A list of items about the session. Its keys work while it has the focus."""

    BINDINGS: ClassVar = keys.bindings("pane")
    TITLE: ClassVar = ""
    ACTIONS: ClassVar[frozenset[str]] = frozenset()
    """The optional actions that this pane offers; see `OPTIONAL_ACTIONS`."""

    class Switched(Message):
        """The user switches to the pane at `index` or, if `relative` is set, moves on by `index` panes."""

        def __init__(self, index: int, *, relative: bool = False) -> None:
            super().__init__()
            self.index = index
            self.relative = relative

    def __init__(self, source: PaneSource) -> None:
        super().__init__()
        self.source = source

    # ------------------------------------------------------------------------- content

    def refresh_items(self) -> None:
        self.show(self.build_items())

    def apply_changes(self, changes: Sequence[Change]) -> None:
        """Rebuild the items if the changes affect this pane."""
        if self.is_affected(changes):
            self.refresh_items()

    @abstractmethod
    def build_items(self) -> Sequence[PaneItem]:
        """Return the items to show."""

    @abstractmethod
    def is_affected(self, changes: Iterable[Change]) -> bool:
        """Return True if the changes affect this pane. Must be fast: it can be called for every frame."""

    def draw_context(self, width: int) -> DrawContext:
        """Return the context for drawing parts of transcript entries."""
        source = self.source
        return DrawContext(width=max(20, width), session=source.session, cwd=source.cwd, full=True)

    # ------------------------------------------------------------------------- keys

    def label_of(self, key_id: str) -> str | None:
        """Return "choose" or "scroll" as the footer's label for the arrow keys; None for all other keys."""
        if key_id != "pane.down":
            return None
        return "scroll" if self.chosen is None else "choose"

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:  # noqa: ARG002  # Textual's signature
        """Disable optional actions that this pane does not offer."""
        return action not in OPTIONAL_ACTIONS or action in self.ACTIONS

    def on_click(self, event: events.Click) -> None:
        """Open an item on a double click."""
        event.stop()
        if event.chain == 2 and self.key_at(event.y) is not None:
            self.action_open()

    def request(self, action: ItemActionName, line: int | None = None) -> None:
        """Ask the screen to do something with the chosen item."""
        if self.chosen is not None:
            self.post_message(PaneItemAction(action, self.chosen, line))

    def action_move(self, step: int) -> None:
        self.move(step)

    def action_page(self, step: int) -> None:
        self.page(step)

    def action_home(self) -> None:
        self.scroll_home(animate=False)

    def action_end(self) -> None:
        self.scroll_end(animate=False)

    def action_turn(self, step: int) -> None:
        """Switch to the next (1) or the previous (-1) pane."""
        self.post_message(self.Switched(step, relative=True))

    def action_tab(self, number: int) -> None:
        """Switch to a pane by its number, from 1."""
        self.post_message(self.Switched(number - 1))

    def action_zoom(self) -> None:
        self.post_message(PanesAction("zoom"))

    def action_leave(self) -> None:
        self.post_message(PanesAction("leave"))

    def action_open(self) -> None:
        """Open the chosen item. Panes whose items can be opened override this method."""

    def action_diff(self) -> None:
        self.request("diff")

    def action_revert(self) -> None:
        self.request("revert")

    def action_accept(self) -> None:
        self.request("accept")

    def action_undo(self) -> None:
        self.post_message(PaneItemAction("undo"))  # even if no item is chosen

    def action_kill(self) -> None:
        self.request("kill")

    def action_follow(self) -> None:
        """Start or stop following the agent. Panes that can follow the agent override this method."""

    def action_look(self) -> None:
        """Ask the screen to check which files on the disk have changed."""
        # While an ancestor handles a message, a message posted here would not bubble beyond that ancestor.
        self.call_later(lambda: self.post_message(PaneItemAction("look")))


OPTIONAL_ACTIONS = frozenset({"open", "diff", "revert", "accept", "undo", "kill", "follow", "look"})
"""Actions that only some panes offer."""
