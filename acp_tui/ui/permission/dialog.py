"""The permission dialog: shows the agent's requests, and asks before acp-tui does something for the agent."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.containers import Horizontal
from textual.widgets import Static

from acp_tui.permissions.rules import Rule, describe_match
from acp_tui.session.raw_entry import failure_note, raw_text
from acp_tui.session.safe_text import escape_invisible_line
from acp_tui.session.state import PermissionOption, Session, ToolCall
from acp_tui.ui import keys
from acp_tui.ui.dialogs.dialog import GuardedDialog, scroll_page
from acp_tui.ui.drawing.body import Body, DrawContext, LinesBody
from acp_tui.ui.drawing.text_layout import wrapped_lines
from acp_tui.ui.drawing.wrap import make_strip, shorten, wrap
from acp_tui.ui.permission.question import QuestionContent, action_phrase, names_nothing, question_content
from acp_tui.ui.permission.rule_editor import RuleEditor
from acp_tui.ui.terminal.error_containment import report_error
from acp_tui.ui.terminal.responsive_screen import SeeThroughScreen
from acp_tui.ui.theme.palette import Spans, current_palette
from acp_tui.ui.widgets.bar import Bar
from acp_tui.ui.widgets.body_scroller import BodyScroller, LongText
from acp_tui.ui.widgets.input_line import InputLine
from acp_tui.ui.widgets.select_list import SelectList, SelectRow

if TYPE_CHECKING:
    from textual import events
    from textual.app import ComposeResult
    from textual.dom import DOMNode
    from textual.widget import Widget

    from acp_tui.controller.user_questions import Question
    from acp_tui.session.record import Change
    from acp_tui.ui.widgets.bar import Hint


MAX_NAMED_PARTS = 2
"""If a command has more parts than this, an option gives their number instead of naming them."""
_VERBS = {"allow_always": "Always allow", "reject_always": "Always reject"}
_AGENT_ALONE = {
    "allow_always": "the agent decides what this covers, and may stop asking",
    "reject_always": "the agent decides what this covers, and may always refuse",
}
_LETTERS = {
    "allow_once": "permission.allow",
    "allow_always": "permission.allow_always",
    "reject_once": "permission.reject",
    "reject_always": "permission.reject_always",
}
CHROME_ROWS = 5
"""The rows that are neither content nor options: borders, heading, a blank row, key hints."""
ROOMY_HEIGHT = 30
"""From this screen height on, the dialog has an extra blank row and leaves a quarter of the screen free."""
INTERRUPT_SECONDS = 2.0
"""The maximum number of seconds between two presses of Ctrl+C that stop the turn."""
MIN_REQUEST_ROWS = 4
"""The minimum number of rows for the request while the rule editor is open."""
MIN_DETAIL_ROWS = 4
"""The dialog uses the whole screen rather than show fewer rows of the details below the facts."""
HEAD_MARGIN = 9
"""The cells of the top row that its right part needs, such as " 12 of 40"."""
MIN_OPTION_ROWS = 4
"""The minimum number of rows for the options, if there are that many."""
MAX_SESSION_WIDTH = 24
"""The maximum width of the id of another session, such as a subagent's."""
MIN_CONVERSATION_ROWS = 2
"""On a screen with fewer rows than `ROOMY_HEIGHT`, the dialog leaves this many rows free."""


@dataclass(frozen=True, slots=True)
class PermissionAnswer:
    """The option the user chose, the rules to save, and the reason for a rejection."""

    option: PermissionOption
    rules: tuple[Rule, ...] = ()
    reason: str = ""


class Later(Enum):
    """The result if the user left the dialog to write a prompt. The question still waits for an answer."""

    PUT_OFF = "put off"


class PermissionScreen(
    GuardedDialog[PermissionAnswer | Later | None], SeeThroughScreen[PermissionAnswer | Later | None]
):
    """Shows one question. The result None of `action_close` allows nothing and stops the turn."""

    CSS = """
    PermissionScreen { align: center bottom; }
    PermissionScreen.dangerous #dialog { border: heavy $error; }
    PermissionScreen #what { margin-bottom: 1; }
    PermissionScreen .roomy #options { margin-bottom: 1; }
    PermissionScreen #more { display: none; }
    """
    DEFAULT_CLASSES = "warning"
    WIDTH = None
    BINDINGS: ClassVar = keys.bindings("permission")

    def __init__(
        self,
        question: Question,
        *,
        agent: str,
        position: tuple[int, int] = (1, 1),
        session: Session | None = None,
        cwd: str = "",
        replaces_another: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`replaces_another` means that the user was about to answer a question that has been withdrawn."""
        super().__init__(replaces_another=replaces_another, clock=clock)
        self.set_class(bool(question.subject.dangerous), "dangerous")
        self.question = question
        self._agent = agent
        self._position = position
        self._options = all_options(question)
        self._editor: RuleEditor | None = None  # open while the user edits the rules of an "always" option
        self._edited: PermissionOption | None = None  # the option whose rules or reason the user writes
        self._reason_line: ReasonLine | None = None  # open while the user writes a reason
        self._session = session or Session()
        self._cwd = cwd
        self._raw = False
        self._full = False
        self._content = QuestionContent([], [])
        self._pages = FactPages()
        self._choice_needed = ""  # a hint, if the last key did not answer the question
        self._interrupted_at = -math.inf  # when Ctrl+C was pressed with nothing to copy or close
        self._pressed = ""  # the kind whose letter was pressed last
        self._overflows = False  # the request has more rows than are shown
        self._more_options = False  # the options have more rows than are shown
        self._answered = False

    # ------------------------------------------------------------------------- content

    def content(self) -> ComposeResult:
        yield BodyScroller(self._bodies, id="what")
        yield Bar([], id="more")
        selected = initial_selection(self.question)
        yield SelectList(self._rows(), selected=selected, id="options")

    def on_mount(self) -> None:
        self.show_head()  # the position can change while the widgets are mounted

    def show_position(self, position: tuple[int, int]) -> None:
        """Show the number of this question and the count of all waiting questions."""
        self._position = position
        self.show_head()

    def head(self) -> tuple[Spans, Spans]:
        number, count = self._position
        position = [Segment(f" {number} of {count}", current_palette().dim)] if count > 1 else []
        return self._request_line(), position

    def _request_line(self) -> Spans:
        palette = current_palette()
        who = [Segment(escape_invisible_line(self._agent), palette.strong)]
        if self.question.subagent:
            name = shorten(escape_invisible_line(self.question.subagent), MAX_SESSION_WIDTH)
            who.append(Segment(f" (subagent: {name})", palette.text))
        elif self.question.other_session:
            name = shorten(escape_invisible_line(self.question.other_session), MAX_SESSION_WIDTH)
            who.append(Segment(f" (session {name})", palette.text))
        return [*who, Segment(f" asks to {action_phrase(self.question)}", palette.warning)]

    def _bodies(self, width: int) -> Sequence[Body]:
        palette = current_palette()
        try:
            content = question_content(self.question, self._drawing_context(width), raw=self._raw)
            if len(head := wrap(self._request_line(), width - HEAD_MARGIN)) > 1:  # the top row cuts it off
                content.facts.insert(0, LinesBody([make_strip(line) for line in head], ""))
            self._content = content
        except Exception as error:  # show the request as it was sent, so that nothing is hidden
            report_error(self.app, error)
            asks = self.question.call if self.question.call is not None else self.question.subject
            note = wrapped_lines(failure_note(asks, error), palette.error, width, 0)
            as_sent: list[Body] = [
                LinesBody([*note], ""),
                LongText(raw_text(asks), palette.text, width),
            ]
            self._content = QuestionContent(as_sent, [])
        return self._content.bodies

    def _drawing_context(self, width: int) -> DrawContext:
        return DrawContext(width=width, session=self._session, cwd=self._cwd, full=True)

    def follow(self, changes: Sequence[Change]) -> None:
        """Show the tool calls that are running, if the question itself does not say what will be done.

        A new call restarts the pause before keys work, because the user has not read the call yet.
        """
        calls = [change for change in changes if isinstance(change.entry, ToolCall)]
        if not (calls and self.is_mounted and names_nothing(self.question)):
            return
        page = self.query_one("#what", BodyScroller)
        page.show(self._bodies)
        if any(change.kind == "added" for change in calls):
            self._pages.restart()
            page.scroll_home(animate=False)
            self.ignore_keys()
        self.fit()

    @property
    def _option_list(self) -> SelectList:
        return self.query_one("#options", SelectList)

    def _rows(self) -> list[SelectRow]:
        return option_rows(self.question, self)

    def hints(self) -> Sequence[Hint]:
        scroll = scroll_hints(self, overflows=self._overflows)
        if self._editor is not None:
            rejects = self._edited is not None and self._edited.kind == "reject_always"
            return [*editor_hints(self, rejects=rejects), *scroll]
        if self._reason_line is not None:
            return [*reason_hints(self), *scroll]
        if self.clock() - self._interrupted_at < INTERRUPT_SECONDS:
            return [(keys.bound_keys(self, "dialog.interrupt"), "again to stop the turn")]
        if not self._pages.all_seen:
            return page_hints(self, can_reject=bool(self._rejections))
        if self._choice_needed:
            return choice_hints(self, self._choice_needed)
        return option_hints(
            self,
            scroll,
            raw=self._raw,
            full=self._full,
            can_reject=bool(self._rejections),
            more_options=self._more_options,
        )

    def fit(self) -> None:
        """Set the heights of the request and the options.

        If the facts and some options do not fit on the screen, the facts are shown page by page, and the
        options below the last page. Otherwise, the request gets the rows it needs, if there is room. Some
        rows above the dialog stay free, so that the conversation is visible, unless the facts, a few rows of
        the details and all options need these rows, or the dialog has its full size.
        """
        if not self.is_mounted:
            return
        width, height = self.app.size
        roomy = height >= ROOMY_HEIGHT
        self.query_one("#dialog").set_class(roomy, "roomy")
        page, options = self.query_one("#what", BodyScroller), self._editor or self._option_list
        inner = width - 4  # border and padding
        largest = max(2, height - CHROME_ROWS - roomy)
        wanted = page.height_at(inner - 1)
        facts = page.height_of(len(self._content.facts))
        choices = 1 if self._reason_line is not None else options.height_at(inner)
        fewest_choices = min(choices, MIN_OPTION_ROWS, largest - 1)
        if facts > largest - fewest_choices:  # below the last page, there is room for more options
            fewest_choices = min(choices, max(fewest_choices, largest // 2))
        is_answering = self._editor is None and self._reason_line is None
        if is_answering:
            self._pages.fit(facts, page=largest - 1, last_page=largest - fewest_choices)
        pages_on = is_answering and not self._pages.all_seen
        self._option_list.display = is_answering and not pages_on
        self._show_pages_left(pages_on)
        if pages_on:
            page.styles.height = largest - 1  # without the row that says how many pages are below
            self._overflows = False
            self.update_hints()
            return
        needed = min(wanted, facts + MIN_DETAIL_ROWS)
        spared = height // 4 if roomy else MIN_CONVERSATION_ROWS
        room = largest - spared
        if self._full or (is_answering and needed + choices > room):
            room = largest
        least = room - MIN_REQUEST_ROWS if self._editor is not None else fewest_choices
        wanted_choices = choices
        choices = min(choices, max(least, room - (needed if is_answering else wanted)))
        self._more_options = choices < wanted_choices
        options.styles.height = choices
        page.styles.height = room - choices if self._full else min(wanted, room - choices)
        self._overflows = wanted > room - choices
        self.update_hints()

    def _show_pages_left(self, pages_on: bool) -> None:
        count = self._pages.left
        bar = self.query_one("#more", Bar)
        bar.display = pages_on
        bar.show(
            [Segment(f"▼ {count} more part{'' if count == 1 else 's'} below", current_palette().warning)]
        )

    # ------------------------------------------------------------------------- answering

    def filter_key(self, event: events.Key) -> None:
        self._choice_needed = ""
        if self._editor is not None and event.key not in keys.active_keys(self, "rule.take"):
            return  # in the editor, only the key `rule.take` answers the question
        super().filter_key(event)

    def action_answer(self, kind: str) -> None:
        """Answer with the option of this kind; if there are several of this kind, only select the next."""
        fitting = [n for n, option in enumerate(self._options) if option.kind == kind]
        if not self._pages.all_seen and not (kind.startswith("reject") and len(fitting) == 1):
            self._show_next_page()
        elif len(fitting) == 1:
            self._answer(fitting[0])
        elif fitting:
            rows = self._option_list
            after = [n for n in fitting if n > rows.selected]
            again = rows.selected in fitting and self._pressed == kind
            rows.selected = (after or fitting)[0] if again else fitting[0]
            self._pressed = kind
            self._choice_needed = f'choose one of the {len(fitting)} "{kind.replace("_", " ")}" options'
            self.update_hints()
        else:
            self.app.bell()

    def action_option(self, number: int) -> None:
        """Answer with the option that has this number, counted from 1."""
        if not self._pages.all_seen:
            self._show_next_page()
        elif number <= len(self._options):
            self._answer(number - 1)
        else:
            self.app.bell()

    def action_choose(self) -> None:
        """Answer with the selected option, or reject with the reason that was written."""
        if self._reason_line is not None and self._edited is not None:
            self._close(PermissionAnswer(self._edited, reason=self._reason_line.value))
            return
        selected = self._option_list.selected
        if not self._pages.all_seen:
            self._show_next_page()
        elif selected >= 0:
            self._answer(selected)
        else:
            self._choice_needed = "choose an option first"
            self.update_hints()

    def action_move(self, step: int) -> None:
        """Move the selection among the options by `step` rows, or scroll while there are no options."""
        if self._pages.all_seen:
            self._option_list.move(step)
        else:
            self.query_one("#what", BodyScroller).scroll_relative(y=step, animate=False)

    def _show_next_page(self) -> None:
        """Show the next page of the facts; with the last page, show the options."""
        self._pages.advance()
        self.fit()
        self._scroll_to_page()
        self.ignore_keys()

    def _scroll_to_page(self) -> None:
        self.query_one("#what", BodyScroller).go_to_row(self._pages.top)

    def action_close(self) -> None:
        """Undo one step: close the editor, hide the raw input, restore the size, or close the dialog."""
        if self._editor is not None:
            self.on_rule_editor_cancelled()
        elif self._reason_line is not None:
            self._show_options()
        elif self._raw:
            self.action_raw()
        elif self._full:
            self.action_view_diff()
        else:
            self._close(None)

    def action_interrupt(self) -> None:
        """Copy the selection here or below. Without one, close what `action_close` closes.

        The question itself is closed only by a second press, because that stops the turn.
        """
        if (selected := self.get_selected_text()) is not None:
            self.app.copy_to_clipboard(selected)
            self.clear_selection()
        elif (selected := self.selected_below()) is not None:
            self.app.copy_to_clipboard(selected)
        elif self._editor is not None or self._reason_line is not None or self._raw or self._full:
            self.action_close()
        elif self.clock() - self._interrupted_at < INTERRUPT_SECONDS:
            self._close(None)
        else:
            self._interrupted_at = self.clock()
            self.update_hints()
            self.set_timer(INTERRUPT_SECONDS, self.update_hints)

    def _answer(self, index: int) -> None:
        """Answer with an option. If the answer would be saved as rules, open the editor for them first."""
        if not 0 <= index < len(self._options):
            return
        option = self._options[index]
        if self.question.ladders(option.kind):
            self._open_editor(option)
        else:
            self._close(PermissionAnswer(option))

    def action_write(self) -> None:
        """Close the dialog so that the user can write a prompt. The question still waits for an answer."""
        self._close(Later.PUT_OFF)

    def _close(self, answer: PermissionAnswer | Later | None) -> None:
        """Close the dialog with this answer. Further answers are ignored."""
        if not self._answered:
            self._answered = True
            self.dismiss(answer)

    # ------------------------------------------------------------------------- rules

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Disable most of the dialog's keys while the rule editor or the input for the reason is open."""
        if self._reason_line is not None:
            return action in ("choose", "close", "page", "interrupt")
        return self._editor is None or action in ("page", "interrupt")

    def _open_editor(self, option: PermissionOption) -> None:
        """Show the rule editor in place of the options, with the rules that an "always" option would save."""
        offer = self.question.offer
        assert offer is not None
        self._edited = option
        self._editor = RuleEditor(offer.ladders[option.kind], agent=offer.agent, project=offer.project)
        self._replace_options(self._editor)

    def _replace_options(self, widget: Widget) -> None:
        """Show a widget in place of the options."""
        self.query_one("#dialog").mount(widget, before="#keys")
        self.set_focus(
            widget.input if isinstance(widget, ReasonLine) else widget
        )  # immediately, so that the next key goes to the widget
        self.fit()
        self.ignore_keys()

    def _show_options(self) -> None:
        """Show the options again, and close the rule editor or the input for the reason."""
        for widget in (self._editor, self._reason_line):
            if widget is not None:
                widget.remove()
        self._editor = self._reason_line = self._edited = None
        self.set_focus(None)
        self.fit()

    def on_rule_editor_changed(self) -> None:
        self.fit()

    def on_rule_editor_cancelled(self) -> None:
        """Go back to the options."""
        self._show_options()

    def on_rule_editor_confirmed(self, event: RuleEditor.Confirmed) -> None:
        """Close the dialog with the rules to save and the option that the user chose."""
        assert self._edited is not None
        self._close(PermissionAnswer(self._edited, event.rules))

    # ------------------------------------------------------------------------- reject with a reason

    @property
    def _rejections(self) -> list[PermissionOption]:
        return [option for option in self._options if option.kind == "reject_once"]

    def action_reason(self) -> None:
        """Let the user write a reason for the rejection.

        If several options reject, use the selected one. If none of them is selected, use the first.
        """
        found = self._rejections
        if not found:
            self.app.bell()
            return
        chosen = self._options[self._option_list.selected]
        self._edited = chosen if chosen in found else found[0]
        self._reason_line = ReasonLine()
        self._replace_options(self._reason_line)

    # ------------------------------------------------------------------------- view

    def action_view_diff(self) -> None:
        """Toggle between the full and the normal size of the dialog."""
        self._full = not self._full
        self.fit()

    def action_raw(self) -> None:
        """Show or hide the raw input."""
        self._raw = not self._raw
        page = self.query_one("#what", BodyScroller)
        page.show(self._bodies)
        self.fit()
        if self._raw and self._content.raw_input is not None:
            row = page.height_of(self._content.bodies.index(self._content.raw_input))
            self.call_after_refresh(page.scroll_to, y=row, animate=False, force=True)
        else:
            self._scroll_to_page()

    def action_page(self, step: int) -> None:
        """Scroll the content by pages. While facts are unseen, go to the next or previous page of them."""
        if not self._pages.all_seen and not self._raw:
            if step > 0:
                self._show_next_page()
            else:
                self._pages.go_back()
                self.fit()
                self._scroll_to_page()
            return
        scroll_page(self.query_one("#what"), step)

    def apply_theme(self) -> None:
        """Redraw in the colours of a new theme."""
        super().apply_theme()
        options = self._option_list
        options.show(self._rows(), options.selected)


class FactPages:
    """Which page of the facts is shown, and whether all pages have been on the screen.

    The options are below the last page, so it has fewer rows than the others.
    """

    def __init__(self) -> None:
        self._rows = 0
        self._page_rows = 1
        self._last_page_rows = 1
        self._number = 0  # of the page that is shown
        self._was_last = False

    def restart(self) -> None:
        """Begin with the first page: there are new facts."""
        self._number, self._was_last = 0, False

    def fit(self, rows: int, *, page: int, last_page: int) -> None:
        """Divide the facts, which have so many rows, into pages of these heights.

        If the pages change before all of them have been shown, the first page is next.
        """
        sizes = (rows, max(1, page), max(1, last_page))
        if sizes != (self._rows, self._page_rows, self._last_page_rows) and not self._was_last:
            self._number = 0
        self._rows, self._page_rows, self._last_page_rows = sizes
        self._was_last = self.all_seen

    @property
    def all_seen(self) -> bool:
        """Whether the last page has been shown."""
        return self._was_last or self.left == 0

    @property
    def left(self) -> int:
        """The number of pages after the page that is shown."""
        rest = self._rows - self._last_page_rows
        return max(0, -(-rest // self._page_rows) - self._number)

    @property
    def top(self) -> int:
        """The first row of the page that is shown."""
        if self.all_seen:
            return max(0, self._rows - self._last_page_rows) if self._number else 0
        return self._number * self._page_rows

    def advance(self) -> None:
        """Show the next page."""
        self._number += 1
        self._was_last = self.all_seen

    def go_back(self) -> None:
        """Show the page before."""
        self._number = max(0, self._number - 1)


class ReasonLine(Horizontal):
    """A labelled input for the reason for a rejection. The screen handles Enter."""

    DEFAULT_CSS = """
    ReasonLine { height: 1; }
    ReasonLine Static { width: auto; text-style: bold; }
    ReasonLine InputLine { width: 1fr; background: $surface; }
    """

    def __init__(self) -> None:
        super().__init__(id="reason")
        self.input = InputLine(placeholder="…")
        """The input, which takes the focus."""

    def compose(self) -> ComposeResult:
        yield Static("Tell the agent why: ", markup=False)
        yield self.input

    @property
    def value(self) -> str:
        """The reason as written so far."""
        return self.input.value.strip()


# ------------------------------------------------------------------------- options


def all_options(question: Question) -> list[PermissionOption]:
    """Return the agent's options, then those that acp-tui adds."""
    return [*question.options, *question.own_options]


def initial_selection(question: Question) -> int:
    """Return the index of the option to select first; -1 for none.

    Options that apply always are never selected. No option that allows a dangerous call is selected.
    """
    kinds: list[str] = [option.kind for option in all_options(question)]
    wanted = ["reject_once"] if question.subject.dangerous else ["allow_once", "reject_once"]
    return next((kinds.index(kind) for kind in wanted if kind in kinds), -1)


def option_rows(question: Question, node: DOMNode) -> list[SelectRow]:
    """Return a row for each option, with the option's effect, number (up to 9) and letter.

    The letter of a kind answers only if there is one option of this kind, so it is shown only then.
    """
    palette = current_palette()
    rows: list[SelectRow] = []
    options = all_options(question)
    kinds = [option.kind for option in options]
    for number, option in enumerate(options, 1):
        digit = str(number) if number < 10 else " "
        has_letter = option.kind in _LETTERS and kinds.count(option.kind) == 1
        letter = keys.bound_keys(node, _LETTERS[option.kind]) if has_letter else " "
        lead = [Segment(f"{digit} ", palette.key), Segment(f"{letter}  ", palette.key)]
        words, note = option_wording(option, question)
        text = [Segment(escape_invisible_line(words), palette.text)]
        kind = escape_invisible_line(option.kind.replace("_", " "))
        if not option.kind.endswith("_always") and kind != option.name.lower().replace("_", " "):
            text.append(Segment(f"  {kind}", palette.dim))
        rows.append(
            SelectRow(lead, text, [Segment(escape_invisible_line(note), palette.dim)] if note else None)
        )
    return rows


def option_wording(option: PermissionOption, question: Question) -> tuple[str, str]:
    """Return the option's words, and a note or "". The words and the note can contain text from the agent.

    For "always", acp-tui usually saves a rule and answers the agent with "once". The agent's words for
    "always" would then be wrong, so the rule is shown instead. Otherwise the agent's words are shown, and the
    note of an "always" option says what the option does.
    """
    verb, rule = _VERBS.get(option.kind), _rules_in_words(question, option.kind)
    if verb is None:
        return option.name, ""
    if question.kind != "permission":
        return (
            (f"{verb} {rule}", "")
            if rule
            else (option.name, "cannot be remembered; applies to this request only")
        )
    alone = _AGENT_ALONE[option.kind]
    if not rule:
        return option.name, alone
    if question.option_once(allow=option.kind == "allow_always") is None:
        return option.name, f"{alone}; acp-tui remembers: {rule}"
    if option in question.own_options:
        return f"{verb} {rule}", "added by acp-tui"
    return f"{verb} {rule}", f'(replaces the agent\'s option "{option.name}")'


def _rules_in_words(question: Question, kind: str) -> str:
    """Return a phrase that says what the proposed rules match; empty if no rules are proposed."""
    ladders = question.ladders(kind)
    named = " and ".join(describe_match(ladder[0]) for ladder in ladders)
    if len(ladders) > MAX_NAMED_PARTS:
        named = f"the {len(ladders)} new parts"
    elif ladders and question.parts and kind == "reject_always":
        named = "one of the new parts"  # the user chooses the part in the editor
    return f"{named}, in this project …" if named else ""


# ------------------------------------------------------------------------- key hints


def scroll_hints(node: DOMNode, *, overflows: bool) -> list[Hint]:
    """Return the hint for scrolling, if `overflows` says that the request has more rows than are shown."""
    return [(keys.bound_keys(node, "permission.page_down"), "scroll")] if overflows else []


def option_hints(
    node: DOMNode, scroll: Sequence[Hint], *, raw: bool, full: bool, can_reject: bool, more_options: bool
) -> list[Hint]:
    """Return the hints to show while the user chooses an option.

    `raw` is true while the raw input is shown, and `full` is true while the dialog has its full size.
    `more_options` is true if some options are scrolled out of view. `scroll` is what `scroll_hints` returns.
    The hint for scrolling comes before the keys for the view, because in 80 columns the last hints are not
    shown.
    """
    names = ("take", "reason", "cancel", "write", "diff", "raw")
    take, reason, cancel, write, size, input_key = (
        keys.bound_keys(node, f"permission.{name}") for name in names
    )
    reject = [(reason, "reject with reason")] if can_reject else []
    views = [
        (size, "smaller" if full else "full size"),
        (input_key, "hide raw input" if raw else "raw input"),
    ]
    return [
        *([("↑↓", "more options"), (take, "answer")] if more_options else [(f"↑↓ {take}", "answer")]),
        *reject,
        (cancel, "close" if raw or full else "stop"),
        (write, "prompt"),
        *scroll,
        *(reversed(views) if raw else views),  # first the key that leaves the current view
    ]


def page_hints(node: DOMNode, *, can_reject: bool) -> list[Hint]:
    """Return the hints to show while a page of the facts is shown that is not the last."""
    names = ("allow", "take", "reject", "cancel", "write", "raw")
    allow, take, reject, cancel, write, raw = (keys.bound_keys(node, f"permission.{name}") for name in names)
    rejects = [(reject, "reject")] if can_reject else []
    return [
        (f"{allow} {take}", "next part"),
        *rejects,
        (cancel, "stop"),
        (write, "prompt"),
        (raw, "raw input"),
    ]


def choice_hints(node: DOMNode, why: str) -> list[Hint]:
    """Return the hints to show after a key press that did not answer the question.

    `why` says what the user has to choose first.
    """
    take, cancel = (keys.bound_keys(node, name) for name in ("permission.take", "permission.cancel"))
    return [(f"↑↓ {take}", why), (cancel, "stop")]


def reason_hints(node: DOMNode) -> list[Hint]:
    """Return the hints to show while the user writes a reason."""
    take, cancel = (keys.bound_keys(node, name) for name in ("permission.take", "permission.cancel"))
    return [(take, "reject with this reason"), (cancel, "back")]


def editor_hints(node: DOMNode, *, rejects: bool) -> list[Hint]:
    """Return the hints to show while the user edits rules. `rejects` is true if these rules reject."""
    names = ("before", "after", "up", "down", "take", "close")
    before, after, up, down, take, close = (keys.bound_keys(node, f"rule.{name}") for name in names)
    answer = "reject and remember" if rejects else "allow and remember"
    return [(f"{before}{after}", "part"), (f"{up}{down}", "change it"), (take, answer), (close, "back")]
