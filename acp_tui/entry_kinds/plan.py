"""The entry kind for plans."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from acp_tui.entry_kinds.blocks import Aside, Block, Link, MarkdownText, Part, SectionBlock, Steps
from acp_tui.entry_kinds.plain_text import text_lines

if TYPE_CHECKING:
    from acp_tui.entry_kinds.kind import TextContext
    from acp_tui.session.state import Plan, Session


def blocks(plan: Plan, _context: TextContext) -> Iterable[Block]:
    parts: list[Part] = []
    if plan.items:
        parts.append(Steps(plan.items))
    if plan.markdown:
        parts.append(MarkdownText(plan.markdown))
    if plan.uri:
        parts.append(Link(plan.uri))
    if parts and not plan.removed:
        return [SectionBlock("Plan", parts)]
    return [Aside("info", "·", "the plan was cleared")]


def plain_text(plan: Plan, context: TextContext) -> Iterable[str]:
    """Return a plan as plain text. Unlike an export, it tells a removed plan from an empty one."""
    if plan.removed:
        return ["Plan removed"]
    has_content = plan.items or plan.markdown or plan.uri
    return text_lines(blocks(plan, context)) if has_content else ["Plan cleared"]


def search_text(plan: Plan, _session: Session) -> Iterable[str]:
    return [*(item.content for item in plan.items), plan.markdown or ""]


def progress(plan: Plan) -> str:
    """Return the number of completed steps. Empty without steps."""
    done = sum(item.status == "completed" for item in plan.items)
    return f"plan: {done} of {len(plan.items)} steps done" if plan.items else ""
