"""What the agent means to do, and how far it has come."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.strip import Strip

from acp_tui.ui.panes.listing import Item
from acp_tui.ui.panes.pane import Pane
from acp_tui.ui.panes.pieces import EDGE, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from acp_tui.session.change import Change
    from acp_tui.session.state import Plan


class PlanPane(Pane):
    """The current plan; it is replaced as a whole."""

    TITLE: ClassVar = "Plan"

    def concerned(self, changes: Iterable[Change]) -> bool:
        """Is there another plan, or the same in another state?"""
        return any(change.fact == "plan" for change in changes)

    def items(self) -> Sequence[Item]:
        """Progress, then the steps."""
        plan = self.source.session.plan
        if plan is None:
            return [words("The agent has no plan at the moment.", self.palette.dim)]
        progress = [Item(lambda width: self._progress(plan, width), height=3)] if plan.items else []
        return [*progress, Item(lambda width: self._steps(plan, width), height=None)]

    def _progress(self, plan: Plan, width: int) -> list[Strip]:
        done, total = sum(item.status == "completed" for item in plan.items), len(plan.items)
        cells = width - EDGE
        filled = cells * done // total
        bar = [
            Segment("━" * filled, self.palette.success),
            Segment("━" * (cells - filled), self.palette.faint),
        ]
        said = Segment(
            f"{done} of {total} done", self.palette.strong if done < total else self.palette.success
        )
        return [Strip([said]), Strip(bar), Strip([])]

    def _steps(self, plan: Plan, width: int) -> list[Strip]:
        from acp_tui.ui.entries.plan import steps

        return steps(plan, self.context(width - EDGE))
