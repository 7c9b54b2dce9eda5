"""The entry kind for plans: their plain text, searched text and exports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.entry_kinds.blocks import Aside, Link, MarkdownText, SectionBlock, Steps, indented

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acp_tui.entry_kinds.blocks import Block, Part
    from acp_tui.entry_kinds.kind import TextContext
    from acp_tui.session.state import Plan, Session

CHECKBOXES = {"completed": "[x]", "in_progress": "[~]", "pending": "[ ]"}


def plain_text(plan: Plan, _context: TextContext) -> Iterable[str]:
    """Return a plan as plain text: its steps, Markdown and URI; one line if the plan is removed or empty."""
    if plan.removed:
        return ["Plan removed"]
    lines = [f"  {CHECKBOXES.get(item.status, f'[{item.status}]')} {item.content}" for item in plan.items]
    lines += indented((plan.markdown or "").splitlines(), "  ")
    lines += [f"  {plan.uri}"] if plan.uri else []
    return ["Plan", *lines] if lines else ["Plan cleared"]


def search_text(plan: Plan, _session: Session) -> Iterable[str]:
    """Return the searchable texts of a plan: its steps and its Markdown."""
    return [*(item.content for item in plan.items), plan.markdown or ""]


def blocks(plan: Plan, _context: TextContext) -> Iterable[Block]:
    """Return the blocks that show a plan in an export."""
    parts: list[Part] = []
    if plan.items:
        parts.append(Steps(plan.items))
    if plan.markdown:
        parts.append(MarkdownText(plan.markdown))
    if plan.uri:
        parts.append(Link(plan.uri))
    return (
        [SectionBlock("Plan", parts)]
        if parts and not plan.removed
        else [Aside("info", "·", "the plan was cleared")]
    )


def progress(plan: Plan) -> str:
    """Return the line that `acp-tui exec` prints: the number of completed steps. Empty without steps."""
    done = sum(item.status == "completed" for item in plan.items)
    return f"plan: {done} of {len(plan.items)} steps done" if plan.items else ""
