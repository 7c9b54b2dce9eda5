"""Asking the user: the mode and the remembered answers first, then the client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp.schema import AllowedOutcome, PermissionOption, ToolCallUpdate

from acp_tui.demo.turn import EndTurn, Turn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acp.schema import ToolKind


def standard_options(kind: ToolKind) -> list[PermissionOption]:
    """One option of each kind. "Always" is for all calls of this kind, and says so."""
    what = {"edit": "edits", "execute": "commands"}.get(kind, f"calls of kind {kind}")
    return [
        PermissionOption(option_id="allow", name="Allow", kind="allow_once"),
        PermissionOption(
            option_id="allow-always", name=f"Allow all {what} in this session", kind="allow_always"
        ),
        PermissionOption(option_id="reject", name="Reject", kind="reject_once"),
        PermissionOption(
            option_id="reject-always", name=f"Reject all {what} in this session", kind="reject_always"
        ),
    ]


async def request_permission(turn: Turn, call: ToolCallUpdate) -> str | None:
    """May this tool call go ahead? None: yes, else the reason why not, in words."""
    mode = turn.stored.settings.mode
    if mode == "plan":
        return "Refused: in plan mode the demo changes nothing. Switch to another mode first."
    if mode == "auto":
        return None
    kind: ToolKind = call.kind or "other"
    remembered = turn.stored.remembered.get(kind)
    if remembered is None:
        option = await ask_client(turn, call, standard_options(kind))
        remembered = option.kind.startswith("allow")
        if option.kind.endswith("always"):
            turn.stored.remembered[kind] = remembered
    return None if remembered else "Rejected by the user."


async def ask_client(
    turn: Turn, call: ToolCallUpdate, options: Sequence[PermissionOption]
) -> PermissionOption:
    """Ask the client, and return the option that was chosen.

    A client answers `cancelled` when the turn was cancelled, so there is nothing left to do then.
    """
    answer = await turn.client.request_permission(turn.session_id, call, list(options))
    if not isinstance(answer.outcome, AllowedOutcome):
        raise EndTurn("cancelled")
    for option in options:
        if option.option_id == answer.outcome.option_id:
            return option
    await turn.say(f"Your client chose `{answer.outcome.option_id}`, which was not among the options.")
    raise EndTurn("end_turn")
