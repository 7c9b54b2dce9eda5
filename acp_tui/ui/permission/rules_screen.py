"""The screen that lists the permission rules, to edit and revoke them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import PurePath
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.widgets import Input, Static

from acp_tui.errors import UserError
from acp_tui.permissions.rule_proposals import wider_rules
from acp_tui.permissions.rules import AgentIdentity, Rule, describe_choice, describe_effect, describe_rule
from acp_tui.session.safe_text import escape_invisible_line
from acp_tui.text_format import format_time
from acp_tui.ui import keys
from acp_tui.ui.dialogs.dialog import BoxDialog, Dialog
from acp_tui.ui.permission.rule_editor import RuleEditor
from acp_tui.ui.theme.palette import Spans, current_palette
from acp_tui.ui.widgets.bar import Bar, KeyHints
from acp_tui.ui.widgets.input_line import InputLine
from acp_tui.ui.widgets.select_list import SelectList, SelectRow, word_rank

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from acp_tui.controller.rule_book import ListedRule, RuleBook
    from acp_tui.ui.widgets.bar import Hint


GROUPS = ("This run", "This session", "This project", "Everywhere", "Other projects")
_LEAD_CELLS = 8
NO_RULES = 'No rules. An answer with "always" in a permission dialog becomes a rule.'


class RulesScreen(Dialog[None]):
    """Lists the permission rules, including those of other projects and agents. Typing filters the list."""

    CSS = """
    RulesScreen { background: $background; layout: vertical; }
    RulesScreen Bar { padding: 0 1; background: $surface; }
    RulesScreen InputLine { margin: 0 1 1 1; }
    RulesScreen SelectList { height: 1fr; padding: 0 1; }
    RulesScreen #about { height: auto; min-height: 2; max-height: 4; padding: 0 1; margin-top: 1; }
    """
    BINDINGS: ClassVar = keys.bindings("rules")
    AUTO_FOCUS = "InputLine"

    def __init__(
        self,
        rule_book: RuleBook,
        *,
        policy: str,
        rule_id: str | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Create the screen. `rule_id` is the id of the rule to select at first, if that rule exists."""
        super().__init__()
        self._rule_book = rule_book
        self._policy = policy
        self._rule_id = rule_id
        self._clock = clock
        self._all: list[ListedRule] = []
        self._shown: list[ListedRule] = []
        self._message = ""  # what the last key did

    def compose(self) -> ComposeResult:
        yield Bar(self._title(), id="head")
        yield InputLine(placeholder="type to filter", id="filter")
        yield SelectList([], id="rules")
        yield Static(markup=False, id="about")
        yield KeyHints(self._hints(), id="keys")

    def on_mount(self) -> None:
        """Show the rules, and select the rule whose id was passed to the screen, if any."""
        self._load()
        if self._rule_id is not None and not self._select(self._rule_id):
            self._tell("That rule no longer exists.")

    def _title(self) -> Spans:
        palette = current_palette()
        policy = Segment(f"  policy: {self._policy}", palette.dim)
        return [Segment("Permission rules", palette.strong), policy]

    def _hints(self) -> Sequence[Hint]:
        names = ("edit", "revoke", "undo", "close")
        return [(keys.bound_keys(self, f"rules.{name}").split()[0], name) for name in names]

    def apply_theme(self) -> None:
        self.query_one("#head", Bar).show(self._title())
        self._show(self._list.selected)

    # ------------------------------------------------------------------------- the list

    @property
    def _list(self) -> SelectList:
        return self.query_one(SelectList)

    @property
    def _selected(self) -> Rule | None:
        index = self._list.selected
        return self._shown[index].rule if 0 <= index < len(self._shown) else None

    def _load(self, selected: int = 0) -> None:
        """Read the rules again, show them, and select the row with the index `selected`."""
        self._all = sorted_rules(self._rule_book.rules(), self._rule_book.project)
        self._show(selected)

    def _show(self, selected: int = 0) -> None:
        """Show the rules that match the filter."""
        self._shown = filtered_rules(self._all, self.query_one(InputLine).value)
        rows = [*rule_rows(self._shown, self._rule_book.project, self._clock())]
        self._list.empty_text = "No matches" if self._all else NO_RULES
        self._list.show(rows, selected)
        shown, count = len(self._shown), len(self._all)
        text = f" {shown} of {count}" if shown < count else f" {count}"
        self.query_one("#head", Bar).show(right=[Segment(text, current_palette().dim)])
        self._show_about()

    def _select(self, rule_id: str) -> bool:
        """Select the rule with this id. Return False if the rule is not in the list."""
        ids = [each.rule.id for each in self._shown]
        if rule_id not in ids:
            return False
        self._list.selected = ids.index(rule_id)
        self._show_about()
        return True

    def _tell(self, message: str) -> None:
        self._message = message
        self._show_about()

    def _show_about(self) -> None:
        """Show the current message or, if there is none, the effect of the selected rule."""
        rule = self._selected
        self.query_one("#about", Static).update(self._message or (describe_effect(rule) if rule else ""))

    # ------------------------------------------------------------------------- messages and keys

    def on_input_changed(self, _: Input.Changed) -> None:
        """Show only the rules that match the typed text."""
        self._message = ""
        self._show()

    def on_select_list_chosen(self, _: SelectList.Chosen) -> None:
        """Show what the clicked rule does."""
        self._tell("")

    def action_move(self, step: int) -> None:
        """Select another rule. At the ends, a single step wraps around and a longer one stops."""
        self._list.move(step)
        self._tell("")

    def action_edit(self) -> None:
        """Open the dialog that edits the selected rule."""

        if (rule := self._selected) is not None:
            book = self._rule_book
            dialog = RuleEditDialog(rule, agent=book.agent, project=book.project)
            self.app.push_screen(dialog, lambda new: self._save(rule, new))

    def _save(self, rule: Rule, new: Rule | None) -> None:
        """Replace a rule by its edited version `new`, unless nothing changed or the user cancelled (None)."""
        if new is None or new.same_as(rule):
            return
        undo = keys.bound_keys(self, "rules.undo").split()[0]
        self._change(
            lambda: self._rule_book.edit(rule, new), f"Changed: {describe_rule(new)}. Undo with {undo}."
        )
        self._select(rule.id)

    def action_revoke(self) -> None:
        """Revoke the selected rule."""
        if (rule := self._selected) is None:
            return
        undo = keys.bound_keys(self, "rules.undo").split()[0]
        self._change(
            lambda: self._rule_book.revoke(rule), f"Revoked: {describe_rule(rule)}. {undo} restores it."
        )

    def action_undo(self) -> None:
        """Undo the last change of a rule."""
        try:
            rule = self._rule_book.undo()
        except UserError as error:
            self._load(self._list.selected)
            self._tell(str(error))
            return
        self._load(self._list.selected)
        self._select(rule.id)
        self._tell(f"Restored: {describe_rule(rule)}.")

    def _change(self, change: Callable[[], object], message: str) -> None:
        """Run `change`, show the rules again, and show the message, or the error if the change failed."""
        try:
            change()
        except UserError as error:
            message = str(error)
        self._load(self._list.selected)
        self._tell(message)

    def action_close(self) -> None:
        """Clear the filter; if it is already empty, close the screen."""
        if self.query_one(InputLine).value:
            self.query_one(InputLine).value = ""
        else:
            self.dismiss(None)


class RuleEditDialog(BoxDialog[Rule | None]):
    """Edits what a rule matches, its scope and its agent. Returns the edited rule, or None if cancelled."""

    CSS = """
    RuleEditDialog #head, RuleEditDialog #editor { margin-bottom: 1; }
    """
    AUTO_FOCUS = "RuleEditor"

    def __init__(self, rule: Rule, *, agent: AgentIdentity, project: str) -> None:
        """`agent` and `project` are the conversation's. The editor gets each only if the rule has none."""
        super().__init__("Edit rule")
        self._elsewhere = rule.project if rule.project != project else None
        if rule.agent is not None:
            agent = AgentIdentity(rule.agent, rule.agent_line, rule.agent_name)
        self._editor = RuleEditor(
            [wider_rules(rule)], agent=agent, project=rule.project or project, id="editor"
        )

    def content(self) -> ComposeResult:
        yield self._editor

    def fit(self) -> None:
        self._editor.styles.height = min(self._editor.height_at(self.inner_width), self.room)

    def head(self) -> tuple[Spans, Spans]:
        title, right = super().head()
        # The editor says "this project" even if the rule is for another project.
        if self._elsewhere is not None:
            elsewhere = f" for the project {escape_invisible_line(self._elsewhere)}"
            title.append(Segment(elsewhere, current_palette().dim))
        return title, right

    def hints(self) -> Sequence[Hint]:
        names = ("before", "after", "up", "down", "take", "close")
        before, after, up, down, take, close = (keys.bound_keys(self, f"rule.{name}") for name in names)
        return [(f"{before}{after}", "part"), (f"{up}{down}", "change"), (take, "save"), (close, "cancel")]

    def on_rule_editor_changed(self) -> None:
        """Set the height of the editor, because a changed sentence can have more or fewer lines."""
        self.fit()

    def on_rule_editor_confirmed(self, event: RuleEditor.Confirmed) -> None:
        """Close the dialog with the edited rule as its result."""
        self.dismiss(event.rules[0])

    def on_rule_editor_cancelled(self) -> None:
        """Close the dialog with None as its result."""
        self.dismiss(None)


# --------------------------------------------------------------------------- rows


def sorted_rules(listed: Sequence[ListedRule], project: str) -> list[ListedRule]:
    """Return the rules in the order of `GROUPS`, and from newest to oldest within each group."""
    newest = [*reversed(listed)]
    return sorted(newest, key=lambda each: GROUPS.index(_group(each.rule, project)))


def filtered_rules(listed: Sequence[ListedRule], query: str) -> list[ListedRule]:
    """Return the rules whose texts contain all words of the query. The order of the rules is kept."""
    if not query.strip():
        return list(listed)
    return [each for each in listed if word_rank(query, *_words(each)) is not None]


def _words(listed: ListedRule) -> tuple[str, ...]:
    rule = listed.rule
    return describe_rule(rule), describe_choice(rule), rule.kind, rule.scope, rule.id


def rule_rows(listed: Sequence[ListedRule], project: str, now: float) -> Iterator[SelectRow]:
    """Yield one row for each rule; the first row of each group has a heading."""
    first = True
    for group, members in groupby(listed, key=lambda each: _group(each.rule, project)):
        heading = [Segment(group, current_palette().strong)]
        above = [heading] if first else [[], heading]
        for each in members:
            yield _row(each, project, now, above)
            above, first = [], False


def _row(listed: ListedRule, project: str, now: float, above: Sequence[list[Segment]]) -> SelectRow:
    palette = current_palette()
    rule = listed.rule
    allows = rule.decision == "allow"
    lead = Segment(f"{rule.decision:{_LEAD_CELLS}}", palette.success if allows else palette.error)
    text = Segment(describe_choice(rule), palette.text if listed.applies else palette.dim)
    return SelectRow(
        [lead],
        [text],
        note=[Segment(" · ".join(_notes(listed, project, now)), palette.dim)],
        tail=[Segment(_count(listed.matches.count), palette.dim)],
        above=above,
    )


def _count(matches: int) -> str:
    return "no match yet" if not matches else "1 match" if matches == 1 else f"{matches:,} matches"


def _notes(listed: ListedRule, project: str, now: float) -> Iterator[str]:
    rule = listed.rule
    if rule.project is not None and rule.project != project:
        yield escape_invisible_line(PurePath(rule.project).name or rule.project)
    if rule.agent is None:
        yield "any agent"
    else:
        yield escape_invisible_line(AgentIdentity(rule.agent, rule.agent_line, rule.agent_name).label)
    if listed.unused:
        yield "no longer used: its agent cannot be identified"
    if listed.matches.count:
        yield f"last match {format_time(listed.matches.last, now)}"
    if rule.scope == "run":
        yield escape_invisible_line(rule.origin)
    elif rule.created:
        yield f"since {format_time(rule.created, now)}"


def _group(rule: Rule, project: str) -> str:
    if rule.scope == "project" and rule.project != project:
        return "Other projects"
    return {"run": "This run", "session": "This session", "project": "This project"}.get(
        rule.scope, "Everywhere"
    )
