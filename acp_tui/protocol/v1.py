"""Version 1 of the protocol: the parts that differ between dialects."""

from __future__ import annotations

from typing import Any, Literal

from acp_tui.protocol.readers import values
from acp_tui.protocol.readers.token_usage import model_tokens, turn_tokens
from acp_tui.session import events as ev


class V1:
    """The dialect of version 1: only the answer to a prompt ends the turn."""

    name: Literal["v1", "0.1.0"] = "v1"

    def prompt_answered(self, result: Any) -> list[ev.Event]:
        """Return the events for the answer to `session/prompt`."""
        answer = values.obj(result)
        reason = values.line(answer, "stopReason")
        if reason is not None:
            return [ev.TurnEnded(reason, turn_tokens(answer), model_tokens(answer))]
        fault = ev.ProtocolFault("The answer to the prompt has no stopReason; assuming end_turn", result)
        return [fault, ev.TurnEnded("end_turn", turn_tokens(answer), model_tokens(answer))]

    def end_turn(self, _update: dict[str, Any], /) -> list[ev.Event]:
        """Ignore the 0.1.0 draft's `end_turn` notification, which some agents send besides the answer."""
        return [ev.Nothing("the end of the turn")]
