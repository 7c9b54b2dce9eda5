"""What happened in a session, condensed: what `session/load` replays."""

from __future__ import annotations

from typing import Any

Update = dict[str, Any]

_REPLAYED = frozenset(
    {
        "user_message_chunk",
        "agent_message_chunk",
        "agent_thought_chunk",
        "tool_call",
        "tool_call_update",
        "plan",
    }
)
"""The rest (commands, modes, usage …) is state: it is sent as it is now, not as it was."""


class History:
    """Session updates as they went over the wire, merged: whole messages, one entry for a tool call."""

    def __init__(self, updates: list[Update] | None = None) -> None:
        self.updates = updates or []

    def add(self, update: Update) -> None:
        """Take one in, unless it is of a kind that is not replayed."""
        kind = update["sessionUpdate"]
        if kind not in _REPLAYED:
            return
        earlier = self._earlier(update)
        if kind.endswith("_chunk") and earlier is not None:
            earlier["content"]["text"] += update["content"]["text"]
        elif kind == "tool_call_update" and earlier is not None:
            earlier.update({key: value for key, value in update.items() if key != "sessionUpdate"})
        elif kind == "plan" and earlier is not None:
            earlier["entries"] = update["entries"]
        else:
            # A copy down to the text of a chunk, the only part that grows in place.
            self.updates.append(
                update | {"content": dict(update["content"])} if "_chunk" in kind else {**update}
            )

    def _earlier(self, update: Update) -> Update | None:
        """What this update continues."""
        kind = update["sessionUpdate"]
        last = self.updates[-1] if self.updates else None
        if kind.endswith("_chunk"):
            return last if last is not None and _same_message(last, update) else None
        if kind == "plan":
            return last if last is not None and last["sessionUpdate"] == "plan" else None
        for candidate in reversed(self.updates):
            if candidate.get("toolCallId") == update["toolCallId"]:
                return candidate
        return None

    def mark(self) -> int:
        """A point to come back to."""
        return len(self.updates)

    def drop(self, mark: int) -> None:
        """Forget what happened since: a refused prompt is not part of the conversation."""
        del self.updates[mark:]

    def close_calls(self) -> None:
        """Nothing is still running when a turn is over: a replay must not say so."""
        for update in self.updates:
            if "toolCallId" in update and update.get("status") in ("pending", "in_progress"):
                update["status"] = "failed"


def _same_message(one: Update, other: Update) -> bool:
    return (
        one["sessionUpdate"] == other["sessionUpdate"]
        and one.get("messageId") == other.get("messageId")
        and _plain_text(one["content"])
        and _plain_text(other["content"])
    )


def _plain_text(content: dict[str, Any]) -> bool:
    return content.keys() == {"type", "text"}
