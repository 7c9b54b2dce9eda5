"""The questions that the review screen asks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from acp_tui.console.quantities import pluralize
from acp_tui.review.authorship import is_by_others
from acp_tui.review.changed_file import ChangedFile, Part
from acp_tui.session.state import Choice
from acp_tui.ui import keys
from acp_tui.ui.screens.dialogs.choose import ChooseScreen
from acp_tui.ui.screens.review.selection import filter_choices

if TYPE_CHECKING:
    from textual.screen import Screen

    from acp_tui.controller.changes.review import ConversationReview
    from acp_tui.ui.screens.review.review_state import ReviewState
    from acp_tui.ui.screens.review.selection import ReviewFilter
    from acp_tui.ui.theme.palette import Palette


Chosen = Sequence[tuple[ChangedFile, Sequence[Part]]]
"""Files, each with some of its parts."""


async def confirm_revert(screen: Screen[None], shown: Chosen, palette: Palette) -> Chosen:
    """Ask which of the shown changes to revert; return them, none if the user cancelled.

    Changes that the user has edited are reverted only if the user says so. Call this in a worker.
    """
    possible: Chosen = [(file, parts) for file, parts in shown if file.revert_obstacle() is None]
    agents: Chosen = [
        (file, mine)
        for file, parts in possible
        if (mine := [part for part in parts if not is_by_others(file.authors_of(part))])
    ]
    total, edited = _count(possible), _count(possible) - _count(agents)
    facts = [f"{edited:,} edited by you"] if edited else []
    if stays := _count(shown) - total:
        facts.append(f"{stays:,} cannot be reverted")
    undo = keys.bound_keys(screen, "review.undo").partition(" ")[0]
    question = f"Revert {pluralize(_count(shown), 'change')} in {pluralize(len(shown), 'file')} on disk?"
    choices = [Choice("", "Cancel")]
    if edited and agents:
        words = f"Revert {pluralize(_count(agents), 'change')}, and leave your own edits"
        choices.append(Choice("agents", words))
    if total:
        words = f"Revert {pluralize(total, 'change')}" if edited or stays else "Revert everything shown"
        choices.append(Choice("all", f"{words}, also your own edits" if edited else words))
    note = f"{'; '.join(facts).capitalize()}. " if facts else ""
    dialog = ChooseScreen(question, choices, palette, note=f"{note}You can undo this with {undo}.")
    answer = await screen.app.push_screen_wait(dialog)
    return {"agents": agents, "all": possible}[answer] if answer else []


def _count(chosen: Chosen) -> int:
    return sum(len(parts) for _, parts in chosen)


async def choose_filter(
    screen: Screen[None],
    state: ReviewState,
    review: ConversationReview,
    prompts: Sequence[str],
    palette: Palette,
) -> ReviewFilter | None:
    """Let the user choose a filter, and return it; None if they cancelled. Call this in a worker."""
    choices = filter_choices(review.model.files.values(), prompts, state.commented)
    rows = [choice for _, choice in choices.values()]
    dialog = ChooseScreen("Show which changes?", rows, palette, current=state.filter.value)
    answer = await screen.app.push_screen_wait(dialog)
    return choices[answer][0] if answer in choices else None
