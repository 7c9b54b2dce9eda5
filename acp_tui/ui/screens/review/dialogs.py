"""The questions that the review screen asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.console.quantities import pluralize
from acp_tui.ui import keys
from acp_tui.ui.screens.dialogs.choose import ChooseScreen
from acp_tui.ui.screens.dialogs.confirm import ConfirmScreen
from acp_tui.ui.screens.review.selection import filter_choices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.screen import Screen

    from acp_tui.controller.changes.review import ConversationReview
    from acp_tui.ui.screens.review.review_state import ReviewState
    from acp_tui.ui.screens.review.selection import ReviewFilter
    from acp_tui.ui.theme.palette import Palette


async def confirm_revert(screen: Screen[None], counts: Sequence[int], palette: Palette) -> bool:
    """Ask whether to revert all changes that are shown. Call this in a worker.

    `counts` has the number of these changes in each file.
    """
    question = f"Revert {pluralize(sum(counts), 'change')} in {pluralize(len(counts), 'file')} on disk?"
    undo = keys.bound_keys(screen, "review.undo")
    dialog = ConfirmScreen(
        f"{question} You can undo this with {undo}.", palette, yes="Revert everything shown", no="Cancel"
    )
    return await screen.app.push_screen_wait(dialog)


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
