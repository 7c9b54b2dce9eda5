"""The dialog for editing a rule. It shows the rule as a sentence with choices for each part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.containers import Vertical

from acp_tui.permissions.agent_identity import AgentIdentity
from acp_tui.permissions.rule_proposals import wider_rules
from acp_tui.permissions.rules import Rule
from acp_tui.session.text.invisible import reveal_line
from acp_tui.ui import keys
from acp_tui.ui.permission.rule_editor import RuleEditor
from acp_tui.ui.screens.dialogs.dialog import Dialog
from acp_tui.ui.widgets.bar import Bar, KeyHints

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from acp_tui.ui.drawing.body import Spans
    from acp_tui.ui.theme.palette import Palette
    from acp_tui.ui.widgets.bar import Hint

CHROME_ROWS = 6
"""Rows of the dialog besides the editor: borders, title, two blank rows, keys."""


class RuleEditDialog(Dialog[Rule | None]):
    """Edits what a rule matches, its scope and its agent. Returns the edited rule, or None if cancelled."""

    CSS = """
    RuleEditDialog { align: center middle; background: transparent; }
    RuleEditDialog #dialog {
        width: 92; max-width: 100%; height: auto; padding: 0 1;
        background: $surface; border: round $primary;
    }
    RuleEditDialog #head, RuleEditDialog #editor { margin-bottom: 1; }
    """
    AUTO_FOCUS = "RuleEditor"

    def __init__(self, rule: Rule, palette: Palette, *, agent: AgentIdentity, project: str) -> None:
        """`agent` and `project` are the conversation's. The editor gets each only if the rule has none."""
        super().__init__()
        self._palette = palette
        self._elsewhere = rule.project if rule.project != project else None
        if rule.agent is not None:
            agent = AgentIdentity(rule.agent, rule.agent_line, rule.agent_name)
        self._editor = RuleEditor(
            [wider_rules(rule)], palette, agent=agent, project=rule.project or project, id="editor"
        )

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog"):
            yield Bar(self._title(), id="head")
            yield self._editor
            yield KeyHints(self._hints(), self._palette, id="keys")

    def on_mount(self) -> None:
        """Set the height of the editor."""
        self._fit()

    def on_resize(self) -> None:
        """Set the height of the editor."""
        self._fit()

    def on_rule_editor_changed(self) -> None:
        """Set the height of the editor, because a changed sentence can have more or fewer lines."""
        self._fit()

    def on_rule_editor_confirmed(self, event: RuleEditor.Confirmed) -> None:
        """Close the dialog with the edited rule as its result."""
        self.dismiss(event.rules[0])

    def on_rule_editor_cancelled(self) -> None:
        """Close the dialog with None as its result."""
        self.dismiss(None)

    def _fit(self) -> None:
        width = min(self.app.size.width, 92) - 4
        self._editor.styles.height = min(self._editor.height_at(width), self.app.size.height - CHROME_ROWS)

    def _title(self) -> Spans:
        title = [Segment("Edit rule", self._palette.strong)]
        # The editor says "this project" even if the rule is for another project.
        if self._elsewhere is not None:
            title.append(Segment(f" for the project {reveal_line(self._elsewhere)}", self._palette.dim))
        return title

    def _hints(self) -> Sequence[Hint]:
        names = ("before", "after", "up", "down", "take", "close")
        before, after, up, down, take, close = (keys.bound_keys(self, f"rule.{name}") for name in names)
        return [(f"{before}{after}", "part"), (f"{up}{down}", "change"), (take, "save"), (close, "cancel")]

    def use_palette(self, palette: Palette) -> None:
        self._palette = palette
        self._editor.use_palette(palette)
        self.query_one("#head", Bar).show(self._title())
        self.query_one("#keys", KeyHints).use_palette(palette)
