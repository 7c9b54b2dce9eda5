"""`/plan`: the plan that an agent follows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.demo.commands.slash_command import slash_command

if TYPE_CHECKING:
    from acp_tui.demo.turn import Turn

STEPS = ("Understand the task", "Find the code", "Change it", "Test the change", "Document it")


@slash_command(
    "plan", "A plan that progresses, an empty plan, or plans from the unstable schema", "[clear|kinds]"
)
async def plan(turn: Turn) -> None:
    """Send the plan before the first step and after each step.

    Each update contains the whole plan, as the protocol requires. With the argument `clear`, send an empty
    plan; with `kinds`, send plans with ids.
    """
    if turn.argument == "clear":
        await turn.send_plan((), 0)
        await turn.say("I sent an empty plan; your client should now show none.")
        return
    if turn.argument == "kinds":
        await _send_unstable_kinds(turn)
        return
    for done in range(len(STEPS) + 1):
        await turn.send_plan(STEPS, done)
    await turn.say("Five steps in six updates, each with the whole plan.")


async def _send_unstable_kinds(turn: Turn) -> None:
    """Send plans with ids. Such plans are only allowed if the client advertises `plan`."""
    if turn.capabilities.plan is None:
        await turn.say("Your client does not advertise `plan`, so I cannot send plans with ids.")
        return
    entries = [{"content": "A plan with an id", "priority": "high", "status": "in_progress"}]
    for plan in (
        {"type": "items", "planId": "demo-items", "entries": entries},
        {"type": "markdown", "planId": "demo-markdown", "content": "# A plan\n\n- in *Markdown*\n"},
        {"type": "file", "planId": "demo-file", "uri": (turn.cwd / "PLAN.md").as_uri()},
    ):
        await turn.send_raw_update({"sessionUpdate": "plan_update", "plan": plan})
        await turn.pause(20)
    await turn.send_raw_update({"sessionUpdate": "plan_removed", "planId": "demo-items"})
    await turn.say("I sent three plans of different kinds and removed the first one.")
