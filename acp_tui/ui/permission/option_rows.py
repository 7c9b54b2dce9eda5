"""The rows for the options of a permission dialog."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.session.text.invisible import reveal_line
from acp_tui.ui.keys import bound_keys
from acp_tui.ui.permission.option_wording import option_wording
from acp_tui.ui.widgets.select_list import Row

if TYPE_CHECKING:
    from textual.dom import DOMNode

    from acp_tui.controller.requests.user_questions import Question
    from acp_tui.session.state import PermissionOption
    from acp_tui.ui.theme.palette import Palette

_LETTERS = {
    "allow_once": "permission.allow",
    "allow_always": "permission.allow_always",
    "reject_once": "permission.reject",
    "reject_always": "permission.reject_always",
}


def all_options(question: Question) -> list[PermissionOption]:
    """Return the agent's options, then those that acp-tui adds."""
    return [*question.options, *question.own_options]


def option_rows(question: Question, node: DOMNode, palette: Palette) -> list[Row]:
    """Return a row for each option, with the option's effect, number (up to 9) and letter.

    The letter of a kind answers only if there is one option of this kind, so it is shown only then.
    """
    rows: list[Row] = []
    options = all_options(question)
    kinds = [option.kind for option in options]
    for number, option in enumerate(options, 1):
        digit = str(number) if number < 10 else " "
        has_letter = option.kind in _LETTERS and kinds.count(option.kind) == 1
        letter = bound_keys(node, _LETTERS[option.kind]) if has_letter else " "
        lead = [Segment(f"{digit} ", palette.key), Segment(f"{letter}  ", palette.key)]
        words, note = option_wording(option, question)
        text = [Segment(reveal_line(words), palette.text)]
        kind = reveal_line(option.kind.replace("_", " "))
        if not option.kind.endswith("_always") and kind != option.name.lower().replace("_", " "):
            text.append(Segment(f"  {kind}", palette.dim))
        rows.append(Row(lead, text, [Segment(reveal_line(note), palette.dim)] if note else None))
    return rows


def initial_selection(question: Question) -> int:
    """Return the index of the option to select first; -1 for none.

    Options that apply always are never selected. No option that allows a dangerous call is selected.
    """
    kinds: list[str] = [option.kind for option in all_options(question)]
    wanted = ["reject_once"] if question.subject.dangerous else ["allow_once", "reject_once"]
    return next((kinds.index(kind) for kind in wanted if kind in kinds), -1)
