"""What all panes have in common: where they read, what they ask for, and their keys."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.message import Message

from acp_tui.ui import keys
from acp_tui.ui.drawing.body import DrawContext
from acp_tui.ui.panes.listing import Item, PaneList
from acp_tui.ui.panes.messages import PaneAction, PaneStep
from acp_tui.ui.widgets.abstract import AbstractWidgetMeta

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from textual import events

    from acp_tui.controller import Conversation
    from acp_tui.session.change import Change
    from acp_tui.session.state import Session
    from acp_tui.ui.panes.messages import ActionName
    from acp_tui.ui.theme.palette import Palette


@dataclass(slots=True)
class PaneSource:
    """Where panes read."""

    session: Session
    cwd: str = ""
    conversation: Conversation | None = None  # None: what is shown is only a recording


class Pane(PaneList, metaclass=AbstractWidgetMeta):
    """One pane. Letters act only while it has the focus."""

    BINDINGS: ClassVar = keys.bindings("pane")
    TITLE: ClassVar = ""
    ACTIONS: ClassVar[frozenset[str]] = frozenset()
    """Those of the keys that mean something here, beside moving about."""

    class Turned(Message):
        """To another pane: the next one, the one before, or one by its number."""

        def __init__(self, to: int, *, relative: bool = False) -> None:
            super().__init__()
            self.to = to
            self.relative = relative

    def __init__(self, source: PaneSource, palette: Palette) -> None:
        super().__init__(palette)
        self.source = source

    # ------------------------------------------------------------------------- what is shown

    def renew(self) -> None:
        """Show everything anew: another session, other colours, or it was out of sight."""
        self.show(self.items())

    def take(self, changes: Sequence[Change]) -> None:
        """One frame: drawn anew only where it concerns this pane."""
        if self.concerned(changes):
            self.renew()

    @abstractmethod
    def items(self) -> Sequence[Item]:
        """What there is to see."""

    @abstractmethod
    def concerned(self, changes: Iterable[Change]) -> bool:
        """Do these changes anything that is seen here? Costs no more than there are changes."""

    def context(self, width: int) -> DrawContext:
        """What bodies of the transcript want to know."""
        source = self.source
        return DrawContext(
            width=max(20, width), palette=self.palette, session=source.session, cwd=source.cwd, whole=True
        )

    # ------------------------------------------------------------------------- keys

    def label_of(self, key_id: str) -> str | None:
        """For the footer: arrows choose where there is something to choose, else they scroll."""
        if key_id != "pane.down":
            return None
        return "scroll" if self.chosen is None else "choose"

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:  # noqa: ARG002  # Textual's signature
        """Keys that mean nothing here are not offered."""
        return action not in OFFERED or action in self.ACTIONS

    def on_click(self, event: events.Click) -> None:
        """Twice: what Enter does."""
        event.stop()
        if event.chain == 2 and self.key_at(event.y) is not None:
            self.action_open()

    def want(self, what: ActionName, line: int | None = None) -> None:
        """Ask for something to be done with the chosen item."""
        if self.chosen is not None:
            self.post_message(PaneAction(what, self.chosen, line))

    def action_move(self, step: int) -> None:
        """Up and down."""
        self.move(step)

    def action_page(self, step: int) -> None:
        """A screen up or down."""
        self.page(step)

    def action_home(self) -> None:
        """To the beginning."""
        self.scroll_home(animate=False)

    def action_end(self) -> None:
        """To the end."""
        self.scroll_end(animate=False)

    def action_turn(self, step: int) -> None:
        """The next pane, or the one before."""
        self.post_message(self.Turned(step, relative=True))

    def action_tab(self, number: int) -> None:
        """The pane of that number."""
        self.post_message(self.Turned(number - 1))

    def action_zoom(self) -> None:
        """The full screen, and back."""
        self.post_message(PaneStep("zoom"))

    def action_leave(self) -> None:
        """Back to the prompt."""
        self.post_message(PaneStep("leave"))

    def action_open(self) -> None:
        """What Enter does with the chosen item."""

    def action_diff(self) -> None:
        """Show what changed in the file."""
        self.want("diff")

    def action_revert(self) -> None:
        """Put the file back."""
        self.want("revert")

    def action_kill(self) -> None:
        """End the command."""
        self.want("kill")

    def action_follow(self) -> None:
        """Stay with what the agent is at."""

    def action_look(self) -> None:
        """Look at the disk again."""
        # Whoever makes us ask may be above us, and a message does not rise beyond its maker.
        self.call_later(lambda: self.post_message(PaneAction("look")))


OFFERED = frozenset({"open", "diff", "revert", "kill", "follow", "look"})
"""Actions that each pane offers or not."""
