"""Decides whether a tool call may run: by the mode, by a remembered answer, or by asking the client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp.schema import AllowedOutcome, PermissionOption, ToolCallUpdate

from acp_tui.demo.turn import EndTurn, Turn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acp.schema import ToolKind


def standard_options(kind: ToolKind) -> list[PermissionOption]:
    """Return options to allow or reject, once or always. "Always" means all tool calls of this kind."""
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
    """Ask for permission, unless the mode or a remembered answer decides.

    Returns None if the call is allowed, otherwise why it is not.
    """
    mode = turn.stored.settings.mode
    if mode == "plan":
        return "Refused: the demo changes nothing in plan mode. Switch to another mode first."
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
    """Ask the client and return the option that was chosen.

    Raises `EndTurn` if the client answers `cancelled`, because the turn was cancelled. Also raises `EndTurn`
    if the client chooses an option that was not offered.
    """
    answer = await turn.client.request_permission(turn.session_id, call, list(options))
    if not isinstance(answer.outcome, AllowedOutcome):
        raise EndTurn("cancelled")
    for option in options:
        if option.option_id == answer.outcome.option_id:
            return option
    await turn.say(f"Your client chose `{answer.outcome.option_id}`, which is not one of the options.")
    raise EndTurn("end_turn")
