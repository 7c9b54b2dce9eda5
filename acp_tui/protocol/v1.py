"""Version 1 of the protocol: what it does in its own way. What dialects share is in the readers."""

from __future__ import annotations

from typing import Any, Literal

from acp_tui.protocol import values
from acp_tui.session import events as ev

VERSIONS = (1, "1", "1.0")
"""The answers to `initialize` that mean this version."""


class V1:
    """A prompt ends with its answer, and with nothing else."""

    name: Literal["v1", "0.1.0"] = "v1"

    def prompt_answered(self, result: Any) -> list[ev.Event]:
        """The answer to `session/prompt`."""
        answer = values.obj(result)
        reason = values.line(answer, "stopReason")
        if reason is not None:
            return [ev.TurnEnded(reason, tokens(answer))]
        fault = ev.ProtocolFault("The answer to the prompt has no stopReason; assuming end_turn", result)
        return [fault, ev.TurnEnded("end_turn", tokens(answer))]

    def end_turn(self, _update: dict[str, Any], /) -> list[ev.Event]:
        """The `end_turn` notification of the draft, which some agents send beside their answer."""
        return [ev.Nothing("the end of the turn")]


def tokens(answer: dict[str, Any]) -> dict[str, int]:
    """The usage that came with the answer to a prompt, in the protocol's names."""
    usage = values.obj(answer.get("usage"))
    return {name: count for name in usage if (count := values.integer(usage, name)) is not None}
