"""The rule editor: a sentence that says what is allowed or rejected, where, and for which agent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.containers import Vertical
from textual.message import Message

from acp_tui.permissions.rule_proposals import scoped_rule
from acp_tui.permissions.rules import AgentIdentity, Rule, Scope, describe_choice, describe_effect
from acp_tui.session.safe_text import escape_invisible_line
from acp_tui.ui import keys
from acp_tui.ui.drawing.body import Body, LinesBody
from acp_tui.ui.drawing.text_layout import hanging_lines
from acp_tui.ui.drawing.wrap import shorten
from acp_tui.ui.theme.palette import Spans, current_palette
from acp_tui.ui.widgets.body_scroller import BodyScroller
from acp_tui.ui.widgets.select_list import SelectList, SelectRow

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.strip import Strip


SCOPE_WORDS: dict[Scope, str] = {
    "run": "in this run",
    "session": "in this session",
    "project": "in this project",
    "everywhere": "everywhere",
}
MAX_CHOICE_WIDTH = 60
"""The maximum width of a part of the sentence, in cells. The list of choices shows each choice in full."""
MIN_EFFECT_ROWS = 2
"""The minimum height of the text about the effect, so that the editor seldom changes its height."""
MAX_EFFECT_ROWS = 6
"""The maximum height of the text that says what will happen without asking. A longer text scrolls."""
BLANK_ROWS = 2
"""The number of blank rows: one above and one below the list of choices."""


class RuleEditor(Vertical, can_focus=True):
    """Shows rules as a sentence, and the choices for the current part. ←→ change the part, ↑↓ the choice.

    The user can change the scope and the agent of a rule, and what the rule matches; the rest, such as the
    id, stays. All rules get the same scope and agent.
    """

    DEFAULT_CSS = """
    RuleEditor { height: auto; background: transparent; }
    RuleEditor #choices { margin: 1 0; }
    """
    BINDINGS: ClassVar = keys.bindings("rule")

    class Confirmed(Message):
        """The user confirmed the rules."""

        def __init__(self, rules: tuple[Rule, ...]) -> None:
            super().__init__()
            self.rules = rules

    class Cancelled(Message):
        """The user closed the editor."""

    class Changed(Message):
        """The editor was redrawn; its height may have changed."""

    def __init__(
        self,
        ladders: Sequence[Sequence[Rule]],
        *,
        agent: AgentIdentity | None,
        project: str | None,
        scopes: Sequence[Scope] = ("session", "project", "everywhere"),
        id: str | None = None,  # noqa: A002  # as in Textual
    ) -> None:
        """Create the editor.

        Args:
            ladders: For each rule to be made, its variants from exact to wide. The first is preselected.
            agent: The agent that a rule can be restricted to; None if rules can only apply to all agents.
            project: The folder that a rule can be restricted to; None to offer no restriction to a folder.
            scopes: The scopes to choose from. The scope of the first rule is added.
            id: The id of the widget.
        """
        super().__init__(id=id)
        self._ladders = ladders
        self._project = project
        self._scopes = [scope for scope in scopes if project is not None or scope != "project"]
        self._agents = [None] if agent is None else [agent, None]
        first = ladders[0][0]
        if first.scope not in self._scopes:
            self._scopes.insert(0, first.scope)
        restricted = first.agent is not None or agent is None
        # The chosen index of each part of the sentence: one per ladder, then the scope and the agent.
        self._chosen = [0] * len(ladders) + [self._scopes.index(first.scope), 0 if restricted else 1]
        self._part = 0

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules with the choices that the user has made so far."""
        *rungs, scope, agent = self._chosen
        return tuple(
            scoped_rule(ladder[rung], self._scopes[scope], self._agents[agent], self._project)
            for ladder, rung in zip(self._ladders, rungs, strict=True)
        )

    def compose(self) -> ComposeResult:
        """Create the sentence, the choices for the current part, and the text about the effect."""
        yield BodyScroller(self._sentence, id="sentence")
        yield SelectList(self._rows(), selected=self._chosen[self._part], id="choices")
        yield BodyScroller(self._effect, id="effect")

    def on_mount(self) -> None:
        """Make the children unfocusable: the focus stays on this widget, which has the key bindings."""
        for page in self.query(BodyScroller):
            page.can_focus = False
        self.query_one(SelectList).can_focus = False

    def on_resize(self) -> None:
        self._resize_parts()

    def apply_theme(self) -> None:
        """Draw again what was drawn in the colours of the old theme."""
        self._show()

    # ------------------------------------------------------------------------- heights

    def height_at(self, width: int) -> int:
        """Return the height of the editor at a width, in rows, with room for the longest list of choices."""
        inner = width - 1  # for the scrollbars
        most = max(len(self._words_of(part)) for part in range(len(self._chosen)))
        wrapped = sum(len(row.lines(width - 4)) for row in self._rows())
        effect = max(MIN_EFFECT_ROWS, min(MAX_EFFECT_ROWS, self._effect(inner)[0].height))
        return self._sentence(inner)[0].height + max(most, wrapped) + effect + BLANK_ROWS

    def _resize_parts(self) -> None:
        """Set the heights: sentence and effect get the rows they need, and the choices get the rest."""
        width, height = self.size
        if not (width and self.is_mounted):
            return
        sentence, effect = self.query_one("#sentence", BodyScroller), self.query_one("#effect", BodyScroller)
        sentence.styles.height = rows = sentence.height_at(width - 1)
        effect.styles.height = below = min(MAX_EFFECT_ROWS, effect.height_at(width - 1))
        self.query_one(SelectList).styles.height = max(1, height - rows - below - BLANK_ROWS)

    # ------------------------------------------------------------------------- what is shown

    def _words_of(self, part: int) -> list[str]:
        """Return the choices for a part of the sentence."""
        if part < len(self._ladders):
            return [describe_choice(rule) for rule in self._ladders[part]]
        if part == len(self._ladders):
            return [SCOPE_WORDS[scope] for scope in self._scopes]
        return [
            f"for {escape_invisible_line(_short_name(agent))}" if agent else "for any agent"
            for agent in self._agents
        ]

    def _rows(self) -> list[SelectRow]:
        return [
            SelectRow([], [Segment(words, current_palette().text)]) for words in self._words_of(self._part)
        ]

    def _sentence(self, width: int) -> Sequence[Body]:
        """Draw the sentence, with a line for each rule.

        The scope and the agent are on the line of a single rule, or on an extra line below several rules.
        """
        palette, count = current_palette(), len(self._ladders)
        verb = f"Always {self._ladders[0][0].decision} "
        where = [*self._slot(count), Segment(" "), *self._slot(count + 1)]
        lines: list[Strip] = []
        for part in range(count):
            lead = verb if part == 0 else "and ".rjust(len(verb))
            words = self._slot(part) if count > 1 else [*self._slot(part), Segment(" "), *where]
            lines += hanging_lines([Segment(lead, palette.strong)], words, width, indent=len(verb))
        if count > 1:
            lines += hanging_lines([Segment(" " * len(verb))], where, width, indent=len(verb))
        return [LinesBody(lines, "")]

    def _slot_words(self, part: int) -> str:
        return shorten(self._words_of(part)[self._chosen[part]], MAX_CHOICE_WIDTH)

    def _slot(self, part: int) -> Spans:
        """Return a part of the sentence. The current part is in brackets, to mark it even without colours."""
        palette = current_palette()
        words = self._slot_words(part)
        if part == self._part:
            return [Segment(f"[{words}]", palette.selected)]
        return [Segment(words, palette.accent)]

    def _effect(self, width: int) -> Sequence[Body]:
        """Draw the text that says what the current rule will allow or reject without asking.

        If the current part is the scope or the agent, the text is about all rules.
        """
        rules = self.rules
        if len(rules) > 1 and self._part >= len(rules):
            verb = "allowed" if rules[0].decision == "allow" else "rejected"
            scope, agent = (self._slot_words(part) for part in (len(rules), len(rules) + 1))
            sentence = f"These {len(rules)} actions will be {verb} without asking {scope}, {agent}."
        else:
            sentence = describe_effect(rules[min(self._part, len(rules) - 1)])
        lines = hanging_lines([], [Segment(sentence, current_palette().dim)], width, indent=0)
        return [LinesBody(lines, "")]

    def _show(self) -> None:
        self.query_one("#sentence", BodyScroller).show(self._sentence)
        self.query_one(SelectList).show(self._rows(), self._chosen[self._part])
        self.query_one("#effect", BodyScroller).show(self._effect)
        self._resize_parts()
        self.post_message(self.Changed())

    # ------------------------------------------------------------------------- keys

    def action_part(self, step: int) -> None:
        """Go to the next (1) or previous (-1) part of the sentence."""
        self._part = (self._part + step) % len(self._chosen)
        self._show()

    def action_change(self, step: int) -> None:
        """Choose the next (1) or previous (-1) value of the current part; stops at the ends."""
        last = len(self._words_of(self._part)) - 1
        self._choose(max(0, min(last, self._chosen[self._part] + step)))

    def on_select_list_chosen(self, event: SelectList.Chosen) -> None:
        """Use the choice that was clicked."""
        event.stop()
        self._choose(event.index)

    def _choose(self, index: int) -> None:
        self._chosen[self._part] = index
        self._show()

    def action_confirm(self) -> None:
        self.post_message(self.Confirmed(self.rules))

    def action_cancel(self) -> None:
        self.post_message(self.Cancelled())


def _short_name(agent: AgentIdentity) -> str:
    """Return the first text that is not empty: the agent's name, the command line, or the id."""
    return agent.name or agent.line or agent.id
