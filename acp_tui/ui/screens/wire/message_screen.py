"""The page on which the user writes a message to the agent. The agent's answer is shown beside it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.containers import Container, Vertical
from textual.widgets import Static, TextArea

from acp_tui.entry_kinds.notices import hand_message_end
from acp_tui.session.safe_text import escape_invisible_line, escape_line, visible_json
from acp_tui.session.state import Choice, HandMessage, Session
from acp_tui.text_format import format_duration
from acp_tui.ui import keys
from acp_tui.ui.dialogs.choose import ChooseScreen
from acp_tui.ui.dialogs.dialog import Dialog, scroll_page
from acp_tui.ui.drawing.body import Body, DrawContext, LinesBody
from acp_tui.ui.drawing.text_layout import json_body, wrapped_lines
from acp_tui.ui.schema_form.editors import JsonEditor
from acp_tui.ui.theme.palette import Spans, current_palette
from acp_tui.ui.widgets.bar import Bar, KeyHints
from acp_tui.ui.widgets.body_scroller import BodyScroller
from acp_tui.wire.client_methods import (
    client_methods,
    known_values,
    method_named,
    optional_fields,
    skeleton,
    with_session,
)
from acp_tui.wire.message_text import CheckedText, check_text
from acp_tui.wire.schema_check import VERSIONS, Version, frame_violations

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from acp_tui.app_context import SentMessages
    from acp_tui.controller import Conversation
    from acp_tui.ui.widgets.bar import Hint

UPDATE_SECONDS = 0.1
"""Seconds between two looks at whether the answer has come."""
MIN_WIDTH_BESIDE = 100
"""The width of the screen, in cells, from which the answer is beside the message instead of below it."""
MAX_FAULTS = 4
"""The maximum number of faults to list. The lines of all faults are marked."""
MAX_LINE_CHARACTERS = 200
"""How much of an earlier message is shown in the list."""


class MessageDraft(NamedTuple):
    """What is on the page."""

    method: str
    is_request: bool
    text: str


class SendByHand(Protocol):
    """Sends a message. The session then has an entry for it."""

    def __call__(self, method: str, params: Any, *, is_request: bool, faults: Sequence[str]) -> None: ...


class MethodChooser(ChooseScreen):
    """Lists the methods that a client can call, and accepts any other name."""

    def _matches(self, query: str) -> list[Choice]:
        found = super()._matches(query)
        is_known = any(choice.value == query for choice in found)
        own = [] if is_known else [Choice(query, query, "a method that is not in the schema")]
        return [*own, *found] if query.startswith("_") else [*found, *own]


class MessageScreen(Dialog[MessageDraft]):
    """An editor for a message, the faults in it, and the answer to it."""

    CSS = """
    MessageScreen { background: $background; layout: vertical; }
    MessageScreen Bar { padding: 0 1; background: $surface; }
    MessageScreen #parts { height: 1fr; layout: vertical; }
    MessageScreen.-beside #parts { layout: horizontal; }
    MessageScreen #parts > Vertical { width: 1fr; height: 1fr; }
    MessageScreen #params { height: 1fr; padding: 0 1; background: $panel; scrollbar-size-vertical: 1; }
    MessageScreen #answer { height: 1fr; padding: 0 0 0 1; }
    MessageScreen #faults { height: auto; padding: 0 1; }
    """
    BINDINGS: ClassVar = keys.bindings("message")
    AUTO_FOCUS = ""

    def __init__(
        self,
        conversation: Conversation,
        history: SentMessages,
        send: SendByHand,
        draft: MessageDraft | None = None,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`draft` is what was on the page when it was closed; None opens the list of methods."""
        super().__init__()
        self._conversation = conversation
        self._history = history
        self._send = send
        self._first = draft
        self._clock = clock
        self._method, self._is_request, text = draft or MessageDraft("", True, "")
        self._editor = ParamsEditor(text)
        self._checked = CheckedText()
        self._refusal = ""  # why the message was not sent; if it has faults only, the next press sends it
        self._sent: tuple[int, str] | None = None  # the number of entries before the last message; its method
        self._shown: tuple[HandMessage | None, int] = (None, -1)  # in the answer part; its version

    @property
    def _session(self) -> Session:
        return self._conversation.session

    def compose(self) -> ComposeResult:
        yield Bar([], id="head")
        with Container(id="parts"):
            with Vertical():
                yield Bar([], id="label")
                yield self._editor
            with Vertical():
                yield Bar([], id="state")
                yield BodyScroller(self._bodies, id="answer")
        yield Static("", markup=False, id="faults")
        yield KeyHints(self._hints(), id="keys")

    def on_mount(self) -> None:
        """Check the text, and let the user choose a method unless there is one."""
        self.set_focus(self._editor)
        self._check()
        self._show_answer()
        self.set_interval(UPDATE_SECONDS, self._update)
        if self._first is None:
            self.action_choose_method()

    def on_resize(self) -> None:
        """Put the answer beside the message, or below it if there is not enough room."""
        self.set_class(self.size.width >= MIN_WIDTH_BESIDE, "-beside")

    # ------------------------------------------------------------------------- the message

    @property
    def _version(self) -> Version | None:
        """The version of the protocol that the agent speaks; None if it has no schema."""
        return VERSIONS.get(self._session.dialect)

    def action_choose_method(self) -> None:
        """Let the user choose a method, and write the skeleton of its params."""
        groups = {True: "The agent offers", False: "Other methods of the protocol"}
        choices = [
            Choice(
                method.name,
                method.name,
                None if method.is_request else "notification",
                groups[method.is_offered],
            )
            for method in client_methods(self._session)
        ]
        note = "Methods of your own begin with an underscore: _example.org/method"
        dialog = MethodChooser("Send a message to the agent", choices, current=self._method, note=note)
        self.app.push_screen(dialog, self._use_method)

    def _use_method(self, name: str | None) -> None:
        if name is None:
            if not self._method:
                self.dismiss(None)
            return
        known = method_named(name, self._version)
        values = known_values(self._session, str(self._conversation.cwd))
        filled = skeleton(name, values, self._version)
        text = json.dumps(filled, indent=2, ensure_ascii=False)
        self._write(MessageDraft(name, known is None or known.is_request, text))

    def action_history(self) -> None:
        """Let the user choose an earlier message."""
        frames = self._history.entries()[::-1]
        choices = [
            Choice(str(number), escape_line(frame["method"]), _excerpt(frame))
            for number, frame in enumerate(frames)
        ]
        if not choices:
            self.notify("No messages have been sent yet.", timeout=3)
            return

        def use(number: str | None) -> None:
            if number is not None:
                self._write_earlier(frames[int(number)])

        self.app.push_screen(ChooseScreen("Earlier messages", choices), use)

    def _write_earlier(self, frame: dict[str, Any]) -> None:
        params = with_session(frame.get("params"), self._session.session_id or "")
        text = "" if params is None else json.dumps(params, indent=2, ensure_ascii=False)
        self._write(MessageDraft(frame["method"], "id" in frame, text))

    def _write(self, draft: MessageDraft) -> None:
        self._method, self._is_request, text = draft
        self._editor.text = text
        self._editor.move_to_gap()
        self.set_focus(self._editor)
        self._check()

    def action_switch_kind(self) -> None:
        """Switch between a request and a notification."""
        self._is_request = not self._is_request
        self._check()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Check the text."""
        event.stop()
        self._check()

    def _check(self) -> None:
        self._refusal = ""
        self._checked = check_text(
            self._method,
            self._editor.text,
            is_request=self._is_request,
            version=self._version,
        )
        self._editor.mark({fault.line for fault in self._checked.faults})
        self._show_message()

    # ------------------------------------------------------------------------- sending

    def action_send(self) -> None:
        """Send the message. If it has faults, say so; then a second press sends it nevertheless."""
        if not self._method:
            self.action_choose_method()
        elif not self._checked.is_json:
            self._refuse("Not sent: the params are not JSON.")
        elif self._checked.faults and not self._refusal:
            key = keys.bound_keys(self, "message.send").split()[0]
            self._refuse(f"Not sent: it does not follow the schema. {key} again sends it anyway.")
        else:
            self._send_now()

    def _refuse(self, reason: str) -> None:
        self._refusal = reason
        self._show_message()

    def _send_now(self) -> None:
        params, faults = self._checked.params, [fault.sentence for fault in self._checked.faults]
        self._refusal = ""
        self._sent = len(self._session.entries), self._method
        identity = {"id": 0} if self._is_request else {}
        frame = {"jsonrpc": "2.0", **identity, "method": self._method, "params": params}
        self._history.add(frame, self._session.session_id)
        self._send(self._method, params, is_request=self._is_request, faults=faults)
        self._show_message()

    def action_cancel_request(self) -> None:
        """Ask the agent to cancel the request that it has not answered."""
        if (entry := self._entry) is not None and entry.status == "sent" and entry.request_id is not None:
            self._send("$/cancel_request", {"requestId": entry.request_id}, is_request=False, faults=())
        else:
            self.notify("No request waits for an answer.", timeout=3)

    @property
    def _entry(self) -> HandMessage | None:
        """The entry of the message that was sent last from this page."""
        if self._sent is None:
            return None
        first, method = self._sent
        entries = (entry for entry in self._session.entries[first:] if isinstance(entry, HandMessage))
        return next((entry for entry in entries if entry.method == method), None)

    # ------------------------------------------------------------------------- what is shown

    def apply_theme(self) -> None:
        """Draw again what was drawn in the colours of the old theme."""
        self._show_message()
        self._show_answer()

    def _show_message(self) -> None:
        palette = current_palette()
        kind = "request" if self._is_request else "notification"
        title = [Segment(escape_invisible_line(self._method) or "Message to the agent", palette.strong)]
        agent = escape_line(self._conversation.launch.title)
        self.query_one("#head", Bar).show(
            [*title, Segment(f"  {kind}", palette.dim)], [Segment(f"to {agent}", palette.dim)]
        )
        optional = optional_fields(self._method, self._version)
        rest = [Segment(f"  optional: {', '.join(optional)}", palette.faint)] if optional else []
        self.query_one("#label", Bar).show([Segment("params", palette.dim), *rest])
        self.query_one("#faults", Static).update(self._fault_text())
        self.query_one("#keys", KeyHints).set_hints(self._hints())

    def _fault_text(self) -> Text:
        palette, faults = current_palette(), self._checked.faults
        text = Text()
        for fault in faults[:MAX_FAULTS]:
            style = palette.warning if self._checked.is_json else palette.error
            text.append(f"line {fault.line + 1}: {fault.sentence}\n", style)
        if len(faults) > MAX_FAULTS:
            text.append(f"and {len(faults) - MAX_FAULTS} more\n", palette.dim)
        text.append(self._refusal, palette.strong)
        text.rstrip()
        return text

    def _update(self) -> None:
        entry = self._entry
        if entry is not None and entry.status == "sent":
            self._show_state()
        if (entry, entry.version if entry is not None else -1) != self._shown:
            self._show_answer()

    def _show_answer(self) -> None:
        entry = self._entry
        self._shown = entry, entry.version if entry is not None else -1
        self._show_state()
        self.query_one("#answer", BodyScroller).show(self._bodies)
        self.query_one("#keys", KeyHints).set_hints(self._hints())

    def _show_state(self) -> None:
        palette, entry = current_palette(), self._entry
        spans: Spans = [Segment("answer", palette.dim)]
        if entry is not None and entry.request_id is not None:
            spans.append(Segment(f" to {escape_line(entry.method)}", palette.dim))
            words = hand_message_end(entry)
            if entry.status == "sent":
                words = f"{words} · {format_duration(self._clock() - entry.at)}"
            style = palette.error if entry.error is not None else palette.dim
            spans.append(Segment(f"  {words}", style))
        self.query_one("#state", Bar).show(spans)

    def _bodies(self, width: int) -> Sequence[Body]:
        entry, palette = self._entry, current_palette()
        if entry is None or entry.request_id is None:
            key = keys.bound_keys(self, "message.send").split()[0]
            words = (
                "Sent. Notifications are not answered." if entry is not None else f"{key} sends the message."
            )
            return [LinesBody([*wrapped_lines(words, palette.dim, width, 0)], words)]
        if entry.status not in ("answered", "failed"):
            return []
        answer = entry.error.raw if entry.error is not None else entry.raw_result
        faults = "\n".join(f"! {sentence}" for sentence in _faults_of_answer(entry, self._session))
        bodies: list[Body] = []
        if faults:
            bodies.append(LinesBody([*wrapped_lines(faults, palette.warning, width, 0)], ""))
        context = DrawContext(width=width, session=self._session, full=True)
        return [*bodies, json_body(answer, context)]

    def _hints(self) -> list[Hint]:
        def key(name: str) -> str:
            return keys.bound_keys(self, f"message.{name}").split()[0]

        send = "send anyway" if self._refusal and self._checked.is_json else "send"
        waits = (entry := self._entry) is not None and entry.status == "sent" and entry.request_id is not None
        cancel = [(key("cancel"), "cancel request")] if waits else []
        other = "notification" if self._is_request else "request"
        return [
            (key("send"), send),
            *cancel,
            (key("method"), "method"),
            (key("history"), "history"),
            (key("close"), "close"),
            (key("kind"), f"as {other}"),
            (key("copy"), "copy answer"),
        ]

    # ------------------------------------------------------------------------- keys

    def action_rows(self, step: int) -> None:
        """Move the cursor up (-1) or down (1) by a line."""
        self._editor.move_rows(step)

    def action_page(self, step: int) -> None:
        """Scroll the answer by a page."""
        scroll_page(self.query_one("#answer", BodyScroller), step)

    def action_copy_answer(self) -> None:
        """Copy the answer as JSON."""
        entry = self._entry
        if entry is not None and entry.status in ("answered", "failed"):
            answer = entry.error.raw if entry.error is not None else entry.raw_result
            self.app.copy_to_clipboard(visible_json(answer))
            self.notify("The answer was copied.", timeout=3)

    def action_close(self) -> None:
        """Close the page. The conversation keeps what is on it."""
        self.dismiss(
            MessageDraft(self._method, self._is_request, self._editor.text) if self._method else None
        )


class ParamsEditor(JsonEditor):
    """The editor of the params. It underlines the lines with faults."""

    def __init__(self, text: str) -> None:
        super().__init__(text, multiline=True)
        self.id = "params"
        self.show_line_numbers = True
        self._marked: set[int] = set()

    def move_to_gap(self) -> None:
        """Move the cursor into the first empty string, which is there to be filled in; else to the start."""
        lines = self.text.split("\n")
        gaps = ((row, line.find(': ""') + len(': "')) for row, line in enumerate(lines) if ': ""' in line)
        self.move_cursor(next(gaps, (0, 0)))

    def mark(self, lines: set[int]) -> None:
        """Mark the lines with these numbers, counted from 0, and no others."""
        if lines != self._marked:
            self._marked = lines
            self.refresh()

    def get_line(self, line_index: int) -> Text:
        """Return a line, highlighted as JSON and underlined if it has a fault."""
        line = super().get_line(line_index)
        if line_index in self._marked:
            start = len(line.plain) - len(line.plain.lstrip())
            line.stylize(current_palette().warning + Style(underline=True), start)
        return line


def _excerpt(frame: dict[str, Any]) -> str:
    kind = "" if "id" in frame else "notification  "
    params = json.dumps(frame.get("params"), ensure_ascii=False)
    return f"{kind}{params[:MAX_LINE_CHARACTERS]}"


def _faults_of_answer(entry: HandMessage, session: Session) -> list[str]:
    """Return what the schema does not allow in an answer, as doctor says it."""
    if (version := VERSIONS.get(session.dialect)) is None:
        return []
    answer = {"error": entry.error.raw} if entry.error is not None else {"result": entry.raw_result}
    frame = {"jsonrpc": "2.0", "id": 0, **answer}
    violations = frame_violations(frame, entry.method, version=version)
    return [escape_line(violation.sentence) for violation in violations]
