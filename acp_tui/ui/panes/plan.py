"""The plan pane: the agent's current plan and its progress."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.strip import Strip

from acp_tui.ui.panes.item_builders import RIGHT_MARGIN, text_item
from acp_tui.ui.panes.pane import Pane
from acp_tui.ui.panes.pane_list import PaneItem

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from acp_tui.session.change import Change
    from acp_tui.session.state import Plan


class PlanPane(Pane):
    """Shows a progress bar and the steps of the plan."""

    TITLE: ClassVar = "Plan"

    def is_affected(self, changes: Iterable[Change]) -> bool:
        """Return True if the plan changed."""
        return any(change.fact == "plan" for change in changes)

    def build_items(self) -> Sequence[PaneItem]:
        """Return the progress bar and the steps of the plan."""
        plan = self.source.session.plan
        if plan is None:
            return [text_item("The agent has no plan.", self.palette.dim)]
        progress = [PaneItem(lambda width: self._progress(plan, width), height=3)] if plan.items else []
        return [*progress, PaneItem(lambda width: self._steps(plan, width), height=None)]

    def _progress(self, plan: Plan, width: int) -> list[Strip]:
        done, total = sum(item.status == "completed" for item in plan.items), len(plan.items)
        cells = width - RIGHT_MARGIN
        filled = cells * done // total
        bar = [
            Segment("━" * filled, self.palette.success),
            Segment("━" * (cells - filled), self.palette.faint),
        ]
        summary = Segment(
            f"{done} of {total} done", self.palette.strong if done < total else self.palette.success
        )
        return [Strip([summary]), Strip(bar), Strip([])]

    def _steps(self, plan: Plan, width: int) -> list[Strip]:
        from acp_tui.ui.entries.plan import steps

        return steps(plan, self.draw_context(width - RIGHT_MARGIN))
