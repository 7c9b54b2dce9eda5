"""The list of queued prompts, shown above the input."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual.message import Message
from textual.reactive import Reactive, reactive
from textual.strip import Strip
from textual.widget import Widget

from acp_tui.session.text.safe_text import visible_line
from acp_tui.ui.drawing.wrap import shorten
from acp_tui.ui.keys import bindings
from acp_tui.ui.theme.component_style import foreground_style
from acp_tui.ui.widgets.list_row import SELECTED_SIGN, draw_row, first_visible_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events
    from textual.binding import BindingType

    from acp_tui.session.state import QueuedPrompt

MAX_ROWS = 5
"""The maximum number of prompts to show at once. Longer queues scroll."""
EXCERPT_CHARS = 400
"""The number of characters at the beginning of a prompt that are read to draw its line."""

EDIT_HINT = "Tab to edit one"


class QueueStrip(Widget, can_focus=True):
    """Shows a line for each queued prompt; hidden if the queue is empty. Disabled in a read-only session."""

    DEFAULT_CSS = """
    QueueStrip {
        height: auto;
        display: none;
        color: $text-muted;
        & > .queue--label { color: $text-muted; }
        & > .queue--paused { color: $text-warning; text-style: bold; }
        & > .queue--current {
            background: $selected-background; color: $selected-foreground; text-style: bold;
        }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"queue--label", "queue--paused", "queue--current"}
    BINDINGS: ClassVar[list[BindingType]] = bindings("queue")

    tab_is_taken: Reactive[bool] = reactive(False)
    """True while `Tab` opens or leaves a question, instead of moving to the queue."""

    class PromptAction(Message):
        """A request to do something with a queued prompt."""

        def __init__(self, queued: str) -> None:
            super().__init__()
            self.queued = queued  # the id of the prompt

    class SendNow(PromptAction):
        """Send this prompt now, before the turn ends."""

    class Edit(PromptAction):
        """Move this prompt back into the input, to edit it."""

    class Remove(PromptAction):
        """Remove this prompt from the queue."""

    class Leave(Message):
        """The user left the queue for the input, or the focused queue became empty."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  as in Textual
        super().__init__(id=id)
        self.send_now_stops = False
        """True if sending a queued prompt now would stop the turn."""
        self._shown: list[tuple[str, str]] = []  # the id and the line of each prompt
        self._paused = 0  # the number of paused prompts
        self._current = 0
        self._first = 0

    def show(self, queue: Sequence[QueuedPrompt]) -> None:
        """Show these prompts, and how many of them are paused."""
        paused = sum(prompt.paused for prompt in queue)
        shown = [(prompt.id, visible_line(prompt.text[:EXCERPT_CHARS].strip())) for prompt in queue]
        if (shown, paused) == (self._shown, self._paused):
            return
        current = self._shown[self._current][0] if self._shown else None
        layout = len(shown) != len(self._shown)
        self._shown, self._paused = shown, paused
        indexes = [index for index, (prompt_id, _) in enumerate(shown) if prompt_id == current]
        self._select(indexes[0] if indexes else min(self._current, len(shown) - 1))
        if self.has_focus and not shown:
            self.post_message(self.Leave())
        self.display = bool(shown)
        self.refresh(layout=layout)

    def _select(self, index: int) -> None:
        self._current = max(0, index)
        rows = min(MAX_ROWS, len(self._shown))
        self._first = first_visible_row(self._first, self._current, rows, len(self._shown))

    def get_content_height(self, *_: object) -> int:
        """Return one line per prompt, up to `MAX_ROWS`."""
        return min(MAX_ROWS, len(self._shown))

    def render_line(self, y: int) -> Strip:
        """Draw the number and the text of a prompt; the first line also shows the state of the queue."""
        width, index = self.size.width, self._first + y
        if index >= len(self._shown):
            return Strip.blank(width, self.rich_style)
        current = self.has_focus and index == self._current
        lead = f"{SELECTED_SIGN if current else ' '}{index + 1} "  # aligns the text with the input's text
        segments = [Segment(lead, foreground_style(self, "queue--label"))]
        state = self._state() if y == 0 else ""
        room = width - len(lead) - 2 - cell_len(state)
        text = shorten(self._shown[index][1], room)
        segments.append(Segment(text))
        if state:
            name = "queue--paused" if self._paused else "queue--label"
            style = foreground_style(self, name)
            segments.append(Segment(" " * (room - cell_len(text) + 1)))
            segments.append(Segment(state, style))
        selected = self.get_component_rich_style("queue--current") if current else None
        return draw_row(segments, width, self.rich_style, selected)

    def _state(self) -> str:
        count = len(self._shown)
        waiting = f"{count} queued" if count > 1 else "queued"
        if not self._paused:
            is_hint = count > 1 and not (self.has_focus or self.disabled or self.tab_is_taken)
            return f"{waiting}: {EDIT_HINT}" if is_hint else waiting
        which = f" {self._paused}" if self._paused < count else ""
        paused = f"{waiting},{which} paused"
        return paused if self.disabled else f"{paused}: press Enter in an empty prompt to continue"

    # ------------------------------------------------------------------------- keys

    def action_move(self, step: int) -> None:
        """Select the next (1) or previous (-1) prompt. Below the last one, go back to the input."""
        if self._current + step >= len(self._shown):
            self.post_message(self.Leave())
        else:
            self._select(self._current + step)
            self.refresh()

    def label_of(self, key_id: str) -> str | None:
        """Return "stop and send" for the "send now" key if sending would stop the turn; else None."""
        return "stop and send" if key_id == "queue.send_now" and self.send_now_stops else None

    def action_edit(self) -> None:
        self._post(self.Edit)

    def action_send_now(self) -> None:
        self._post(self.SendNow)

    def action_remove(self) -> None:
        self._post(self.Remove)

    def action_leave(self) -> None:
        self.post_message(self.Leave())

    def _post(self, message: type[SendNow | Edit | Remove]) -> None:
        if self._shown:
            self.post_message(message(self._shown[self._current][0]))

    def on_focus(self) -> None:
        """Select the last prompt, which is next to the input."""
        self._select(len(self._shown) - 1)
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Select the prompt that was clicked."""
        if self._first + event.y < len(self._shown):
            self._select(self._first + event.y)
            self.refresh()
