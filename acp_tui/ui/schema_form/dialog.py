"""The dialog with a form made from a JSON schema."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from rich.segment import Segment
from rich.text import Text
from textual.containers import VerticalScroll
from textual.widgets import Static

from acp_tui.schema_form.values import FormAnswer, SchemaFault
from acp_tui.session.safe_text import escape_invisible, escape_invisible_line, visible_json
from acp_tui.session.state import Session
from acp_tui.ui import keys
from acp_tui.ui.dialogs.dialog import GuardedDialog, scroll_page
from acp_tui.ui.drawing.body import Body, DrawContext
from acp_tui.ui.drawing.text_layout import json_body
from acp_tui.ui.drawing.wrap import shorten
from acp_tui.ui.schema_form.editors import ChoiceList, ChoicePicker, TextEditor
from acp_tui.ui.schema_form.form_pages import FieldsPage, FormPages
from acp_tui.ui.theme.palette import Spans, current_palette
from acp_tui.ui.widgets.body_scroller import BodyScroller

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from acp_tui.ui.schema_form.form_pages import Validate
    from acp_tui.ui.widgets.bar import Hint


MAX_JSON_ROWS = 20
"""The maximum height of the text area for JSON."""
MAX_NOTE_ROWS = 5
"""The maximum height of the message above the text area for JSON. A longer message scrolls."""
MAX_ASKER_WIDTH = 40
MAX_MESSAGE = 4_000
"""The maximum number of characters shown of the message above the fields."""
MASK = "••••••"


def _no_faults(_: object) -> Sequence[SchemaFault]:
    return ()


class _Scroller(VerticalScroll, can_focus=False, inherit_bindings=False):
    """The scrolling area with the note and the fields. The dialog binds the keys."""


class SchemaFormDialog(GuardedDialog[FormAnswer]):
    """A form to fill in and review. Returns the user's answer.

    If a schema cannot be shown as a form, the value is edited as JSON. The user can also choose JSON.
    """

    CSS = """
    SchemaFormDialog #scroll { height: auto; margin-top: 1; scrollbar-size-vertical: 1; }
    SchemaFormDialog #note { height: auto; }
    SchemaFormDialog #problem { height: 1; }
    """
    BINDINGS: ClassVar = keys.bindings("form")

    def __init__(
        self,
        title: str,
        schema: object,
        *,
        asked_by: str,
        purpose: str = "",
        position: tuple[int, int] = (1, 1),
        message: str = "",
        values: Mapping[str, Any] | None = None,
        validate: Validate = _no_faults,
        allow_decline: bool = False,
        interrupts: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Create the dialog.

        Args:
            title: What the form is for, such as `Call read_file`. Can come from a server.
            schema: The JSON schema of the object to make, as it was received.
            asked_by: The recipient of the answer, such as `MCP server "files"`.
            purpose: What the question belongs to, such as a tool call. Can come from an agent.
            position: The number of this question among the waiting questions, and how many questions wait,
                as in "2 of 3".
            message: Text above the fields. Can come from a server.
            values: Initial values by name of the field. Other fields start with the default of the schema.
            validate: Returns what is wrong with a whole object, the most important fault first.
            allow_decline: Whether the recipient distinguishes declining from closing the form; true for
                questions of servers and agents. If true, fields that seem to ask for a secret are marked.
            interrupts: Whether the dialog opens without an action of the user. Keys are then ignored until
                typing pauses.
            clock: Returns the time in seconds.
        """
        super().__init__(title, clock=clock)
        self._schema = schema
        self._asked_by = asked_by
        self._purpose = purpose
        self._position = position
        self._message = message
        self._values = dict(values or {})
        self._allow_decline = allow_decline
        self.is_guarded = interrupts
        self._problem = ""
        self._pages = FormPages(
            self,
            schema,
            validate=validate,
            show_problem=self._show_problem,
            switched=self._page_switched,
            warn_of_secrets=allow_decline,
        )

    def content(self) -> ComposeResult:
        with _Scroller(id="scroll"):
            yield Static(self._note(), markup=False, id="note")
        yield Static("", markup=False, id="problem")

    async def on_mount(self) -> None:
        """Show the fields, or the text area for JSON."""
        self.show_head()  # the position can change while the widgets are mounted
        await self._pages.open(self._values)
        if self.is_guarded:
            self.set_focus(None)
            self.ignore_keys()
            self._wait_for_pause()

    def _wait_for_pause(self) -> None:
        """Give the focus to the first field, or to the text area, as soon as keys are accepted."""
        if self.accepts_keys:
            self.is_guarded = False
            self._pages.current.take_focus()
            self.update_hints()
        else:
            self.set_timer(0.05, self._wait_for_pause)

    def on_resize(self) -> None:
        self._update_problem()

    def fit(self) -> None:
        """Give the fields the rows they need. If there are not enough rows, the fields scroll."""
        room = max(3, self.room)
        box = self.query_one("#scroll")
        if (json := self._pages.json) is None:
            box.styles.max_height = room
        else:
            box.styles.max_height = MAX_NOTE_ROWS
            notes = min(MAX_NOTE_ROWS, box.virtual_size.height)
            json.styles.height = max(3, min(MAX_JSON_ROWS, room - notes))

    # ------------------------------------------------------------------------- what is shown

    def head(self) -> tuple[Spans, Spans]:
        number, count = self._position
        place = f"  {number} of {count}" if count > 1 else ""
        asker = shorten(escape_invisible_line(self._asked_by), MAX_ASKER_WIDTH)
        return super().head()[0], [Segment(f"  {asker}{place}", current_palette().dim)]

    def show_position(self, position: tuple[int, int]) -> None:
        """Show the number of this question among the waiting questions, and how many questions wait."""
        self._position = position
        self.show_head()

    def _note(self) -> Text:
        """Return the text above the fields."""
        palette = current_palette()
        message = escape_invisible(self._message[:MAX_MESSAGE].strip())
        message += "…" if len(self._message) > MAX_MESSAGE else ""
        form = self._pages.form
        described = escape_invisible(form.description[:MAX_MESSAGE].strip()) if form is not None else ""
        empty = "There is nothing to fill in." if form is not None and not form.fields else ""
        purpose = f"For {escape_invisible_line(self._purpose)}" if self._purpose else ""
        parts = [
            (purpose, palette.dim),
            (message, palette.text),
            (described, palette.dim),
            (empty, palette.dim),
        ]
        if self._pages.json is not None:
            parts.append((self._pages.why_json, palette.dim))
        text = Text()
        for words, style in parts:
            if words:
                text.append(f"{words}\n", style)
        return text

    def hints(self) -> list[Hint]:
        """Return the keys that work now; none before a field has the focus."""

        def key(name: str) -> str:
            return keys.bound_keys(self, f"form.{name}").split()[0]

        if self.is_guarded:
            return []
        review, take = (key("review"), "review"), key("take")
        decline = [(key("decline"), "decline")] if self._allow_decline else []
        rest = [*decline, (key("close"), "cancel")]
        schema = (key("schema"), "schema")
        page = self._pages.current
        if not isinstance(page, FieldsPage):
            back = [(key("json"), "fields")] if self._pages.form is not None else []
            return [review, *rest, *back, schema]
        first = [(take, "review")] if page.is_at_end else [(take, "next"), review]
        if isinstance(self.focused, ChoiceList | ChoicePicker):
            first.insert(1, (key("choose"), "choose"))
        return [*first, *rest, (key("json"), "as JSON"), schema]

    def on_descendant_focus(self) -> None:
        """Show the keys of the field that has the focus now."""
        self.update_hints()

    def _show_problem(self, problem: str) -> None:
        if problem != self._problem:
            self._problem = problem
            self._update_problem()

    def _update_problem(self) -> None:
        problem = self._problem
        text = Text(f"✘ {escape_invisible_line(problem)}" if problem else "", current_palette().error)
        text.truncate(max(20, self.query_one("#problem").size.width), overflow="ellipsis")
        self.query_one("#problem", Static).update(text, layout=False)

    def apply_theme(self) -> None:
        super().apply_theme()
        self.query_one("#note", Static).update(self._note())
        self._update_problem()

    def _page_switched(self) -> None:
        self.query_one("#note", Static).update(self._note())
        self._show_problem("")
        self._pages.current.take_focus()
        self.update_hints()
        self.fit()
        self.call_after_refresh(self.fit)  # the height of the note is known now

    # ------------------------------------------------------------------------- keys

    def action_json(self) -> None:
        """Edit the value as JSON, or go back to the fields if they can show the value."""
        # Deferred, because a text area cannot be removed while it handles the key.
        self.call_later(self._pages.switch)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Disable declining if the recipient does not distinguish declining from closing the form."""
        return self._allow_decline if action == "decline" else True

    def action_move(self, step: int) -> None:
        """Go to the next (1) or previous (-1) field."""
        if isinstance(page := self._pages.current, FieldsPage):
            page.move(step)

    def action_rows(self, step: int) -> None:
        """Move the cursor down (1) or up (-1) by one row, within a field or to the neighbouring field."""
        if isinstance(page := self._pages.current, FieldsPage):
            page.move_rows(step)
        else:
            page.editor.move_rows(step)

    def action_page(self, step: int) -> None:
        """Scroll by a page."""
        box = self.query_one("#scroll") if (json := self._pages.json) is None else json.editor
        scroll_page(box, step)

    def action_newline(self) -> None:
        """Insert a line break into text that may have several lines."""
        if not (isinstance(self.focused, TextEditor) and self.focused.newline()):
            self.app.bell()

    def action_take(self) -> None:
        """Go to the next field; after the last one, show the values for review."""
        if not isinstance(page := self._pages.current, FieldsPage):
            return
        page.take_choice()
        if page.is_at_end:
            self.action_review()
        else:
            page.move(1)

    def action_schema(self) -> None:
        """Show the whole schema."""
        from acp_tui.ui.dialogs.detail import DetailScreen

        title = f"Schema of {shorten(escape_invisible_line(self._title), MAX_ASKER_WIDTH)}"
        self.app.push_screen(DetailScreen(title, visible_json(self._schema)))

    # ------------------------------------------------------------------------- answers

    def action_review(self) -> None:
        """Show what would be sent, or the first problem."""
        content = self._pages.current.value()
        if content is None:
            return

        title = f"Send this to {shorten(escape_invisible_line(self._asked_by), MAX_ASKER_WIDTH)}?"
        shown = content | dict.fromkeys(self._masked & content.keys(), MASK)
        dialog = FormReviewDialog(title, shown, clock=self.clock)
        self.app.push_screen(dialog, lambda send: self._finish_review(content, send=bool(send)))

    @property
    def _masked(self) -> set[str]:
        form = self._pages.form
        fields = form.fields if form is not None else ()
        return {field.name for field in fields if field.limits.format == "password"}

    def _finish_review(self, content: dict[str, Any], *, send: bool) -> None:
        if send:
            self.dismiss(FormAnswer("accept", content))

    def action_decline(self) -> None:
        """Close the form and answer that the user declines."""
        self.dismiss(FormAnswer("decline"))

    def action_close(self) -> None:
        """Close the form with the answer "cancel". If the user has filled in something, ask first."""
        if not self._pages.have_changed:
            self.dismiss(FormAnswer("cancel"))
            return
        from acp_tui.ui.dialogs.confirm import ConfirmScreen

        question = "Close the form? Your entries will be lost."
        dialog = ConfirmScreen(question, yes="Close the form", no="Go back")
        self.app.push_screen(dialog, lambda closes: self._finish_close(closes=bool(closes)))

    def _finish_close(self, *, closes: bool) -> None:
        if closes:
            self.dismiss(FormAnswer("cancel"))


class FormReviewDialog(GuardedDialog[bool]):
    """Shows the values of a form for confirmation. Returns True to send them.

    Keys are ignored until typing has paused.
    """

    CSS = """
    FormReviewDialog #values { margin: 1 0; }
    """
    DEFAULT_CLASSES = "warning"
    BINDINGS: ClassVar = keys.bindings("choose")

    def __init__(
        self,
        title: str,
        content: Mapping[str, Any],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`content` is shown as JSON, with secrets masked by the caller."""
        super().__init__(title, clock=clock)
        self._content = dict(content)

    def content(self) -> ComposeResult:
        yield BodyScroller(self._bodies, id="values")

    def fit(self) -> None:
        page = self.query_one(BodyScroller)
        page.styles.height = max(1, min(page.height_at(self.inner_width - 1), self.room))

    def _bodies(self, width: int) -> Sequence[Body]:
        context = DrawContext(width=width, session=Session(), full=True)
        return [json_body(self._content, context)]

    def hints(self) -> list[Hint]:
        names = ("choose.take", "choose.close", "choose.page_down")
        take, close, page = (keys.bound_keys(self, name) for name in names)
        values = self.query(BodyScroller)  # none before the dialog is composed
        scroll = [(page, "scroll")] if values and values.first().max_scroll_y else []
        return [(take, "send"), (close, "back"), *scroll]

    def action_move(self, step: int) -> None:
        """Scroll by a line if `step` is 1 or -1, else by a page."""
        page = self.query_one(BodyScroller)
        if abs(step) == 1:
            page.scroll_relative(y=step, animate=False)
        else:
            scroll_page(page, step)

    def action_choose(self) -> None:
        """Send the values."""
        self.dismiss(True)

    def action_close(self) -> None:
        """Go back to the form."""
        self.dismiss(False)
