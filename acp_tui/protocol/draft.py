"""The 0.1.0 draft of the protocol. Some agents still use this draft.

A prompt is a plain string. The answer `{"success": true}` begins the turn; an `end_turn` notification ends
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from acp_tui.protocol import request_readers, updates, values
from acp_tui.protocol.field_faults import SHAPES
from acp_tui.protocol.token_usage import model_tokens, turn_tokens
from acp_tui.session import events as ev
from acp_tui.session.state import RequestId, RpcError

if TYPE_CHECKING:
    from acp_tui.session.state import Dialect

VERSION = "0.1.0"
"""The version with which acp-tui asks for the draft."""


class V1:
    """The dialect of version 1: only the answer to a prompt ends the turn."""

    name: Dialect = "v1"
    has_batches = False  # a message can be a JSON-RPC batch
    shapes = SHAPES

    def prompt_answered(self, result: Any) -> list[ev.Event]:
        """Return the events for the answer to `session/prompt`."""
        answer = values.obj(result)
        reason = values.line(answer, "stopReason")
        if reason is not None:
            return [ev.TurnEnded(reason, turn_tokens(answer), model_tokens(answer))]
        fault = ev.ProtocolFault("The answer to the prompt has no stopReason; assuming end_turn", result)
        return [fault, ev.TurnEnded("end_turn", turn_tokens(answer), model_tokens(answer))]

    def prompt_refused(self) -> list[ev.Event]:
        """Return the events for an error as the answer to `session/prompt`, besides the end of the turn."""
        return []

    def read_update(self, update: dict[str, Any], session_id: str, *, is_own: bool) -> list[ev.Event]:  # noqa: ARG002 - see `V2`
        """Return the events for the `update` object of a `session/update` of this session."""
        if update.get("sessionUpdate") == "end_turn":
            return self.end_turn(update)
        return updates.read_update(update)

    def permission_events(
        self, params: dict[str, Any], request_id: RequestId, made_up: str, *, other_session: str = ""
    ) -> list[ev.Event]:
        """Return the events for a permission request. A tool call without an id gets the id `made_up`."""
        return request_readers.permission_events(params, request_id, made_up, other_session=other_session)

    def end_turn(self, _update: dict[str, Any], /) -> list[ev.Event]:
        """Ignore the 0.1.0 draft's `end_turn` notification, which some agents send besides the answer."""
        return [ev.IgnoredMessage("the end of the turn")]


class Draft(V1):
    """The dialect of the 0.1.0 draft: a notification ends the turn."""

    name: Dialect = "0.1.0"

    def prompt_answered(self, result: Any) -> list[ev.Event]:
        """Return the event for a prompt that was accepted or refused.

        If an agent mixes the draft with version 1, the answer can also end the turn.
        """
        answer = values.obj(result)
        if values.line(answer, "stopReason") is not None:
            return super().prompt_answered(result)
        if answer.get("success") is False:
            reason = (
                values.text(answer, "error", "message", "reason") or "The agent did not accept the prompt"
            )
            return [ev.TurnFailed(RpcError(0, reason, raw=result))]
        return [ev.TurnAccepted()]

    def end_turn(self, update: dict[str, Any], /) -> list[ev.Event]:
        """Return the event for `end_turn`, the notification that ends the turn."""
        reason = values.line(update, "stopReason", "reason") or "end_turn"
        return [ev.TurnEnded(reason, turn_tokens(update), model_tokens(update))]


# --------------------------------------------------------------------------- choosing the dialect


def is_draft(version: Any) -> bool:
    """Return True if an agent that answers with this version uses the draft."""
    return isinstance(version, str) and version.startswith("0.")


def wants_draft(error: RpcError) -> bool:
    """Return True if this error can mean that the agent supports only the draft."""
    return "unsupported protocol version" in error.message.lower()


# --------------------------------------------------------------------------- what is sent


def prompt_text(blocks: Iterable[Mapping[str, Any]]) -> str:
    """Convert a prompt to the plain string of the draft. Links become their URIs."""
    pieces: list[str] = []
    for block in blocks:
        resource = values.obj(block.get("resource"))
        piece = block.get("text") or resource.get("text") or block.get("uri") or resource.get("uri")
        if isinstance(piece, str):
            pieces.append(piece)
    return "\n".join(pieces)
