"""Strips above the prompt: queued prompts, waiting questions, and that there is new text below."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual.geometry import Offset
from textual.message import Message
from textual.reactive import Reactive, reactive
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from acp_tui.session.safe_text import escape_line
from acp_tui.ui.drawing.wrap import shorten
from acp_tui.ui.keys import bindings, bound_keys
from acp_tui.ui.theme.palette import current_palette, foreground_style
from acp_tui.ui.widgets.bar import Bar
from acp_tui.ui.widgets.select_list import SELECTED_SIGN, draw_row, first_visible_row

if TYPE_CHECKING:
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
        shown = [(prompt.id, escape_line(prompt.text[:EXCERPT_CHARS].strip())) for prompt in queue]
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


RIGHT_MARGIN = 2
"""Empty cells to the right of the mark, for the scrollbar and a gap."""


class NewBelow(Static):
    """A mark at the right end of the transcript's last visible line. A click on it scrolls to the end."""

    DEFAULT_CSS = """
    NewBelow {
        layer: above; dock: top; width: auto; height: 1; padding: 0 1; display: none;
        background: $panel; color: $accent;
    }
    """

    class Clicked(Message):
        """The user clicked the mark."""

    def __init__(self, over: Widget, covered: Callable[[], bool]) -> None:
        """`covered` returns True while something else covers the transcript."""
        super().__init__()
        self._over = over
        self._covered = covered
        self._position = Offset()

    def on_mount(self) -> None:
        """Move the mark whenever the layout of the screen changes."""
        self.screen.screen_layout_refresh_signal.subscribe(self, lambda _: self._reposition())

    def show(self, lines: int) -> None:
        """Show the number of new lines; hide the mark if there are none."""
        self.display = lines > 0
        if lines > 0:
            self.update(f"↓ {lines} new · {bound_keys(self, 'conversation.end')}")
            self._reposition()

    def _reposition(self) -> None:
        self.visible = not self._covered()
        region = self._over.region
        width = self.content_size.width + 2 if self.content_size.width else len(str(self.render())) + 2
        position = Offset(max(region.x, region.right - width - RIGHT_MARGIN), max(0, region.bottom - 1))
        if self.display and position != self._position:
            self._position = position
            self.styles.offset = (position.x, position.y)

    def on_click(self) -> None:
        self.post_message(self.Clicked())


class QuestionStrip(Bar):
    """Shows a question and the key to answer it. Hidden until `show_question` is called."""

    DEFAULT_CSS = """
    QuestionStrip { height: 1; display: none; padding: 0 1; }
    """

    class Clicked(Message):
        """The user clicked the line, in order to answer the question."""

    def __init__(self) -> None:
        super().__init__([])

    def show_question(self, question: str, key: str, position: str) -> None:
        """Show a question and the key to answer it. `position`, such as "1 of 3", can be empty."""
        palette = current_palette()
        self.show(
            [Segment("? ", palette.warning), Segment(question, palette.warning)],
            [
                Segment(f" {position}  " if position else "  ", palette.dim),
                Segment(f"{key} ", palette.key),
                Segment("answer", palette.dim),
            ],
        )
        self.display = True

    def hide(self) -> None:
        self.display = False

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.post_message(self.Clicked())
