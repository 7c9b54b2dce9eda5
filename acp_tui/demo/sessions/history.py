"""A session's history, which `session/load` replays."""

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
"""The kinds of updates that are replayed.

The other kinds describe state. When a session is loaded, its current state is sent instead.
"""
RAW = "raw"
"""Marks an update that is replayed as it was sent: the SDK has no model for it."""


class History:
    """Session updates in wire format, merged into whole messages and one entry per tool call."""

    def __init__(self, updates: list[Update] | None = None) -> None:
        self.updates = updates or []

    def add(self, update: Update) -> None:
        """Append an update or merge it into an earlier one. Kinds that are not replayed are ignored."""
        kind = update["sessionUpdate"]
        if kind not in _REPLAYED:
            return
        earlier = self._merge_target(update)
        if kind.endswith("_chunk") and earlier is not None:
            earlier["content"]["text"] += update["content"]["text"]
        elif kind == "tool_call_update" and earlier is not None:
            earlier.update({key: value for key, value in update.items() if key != "sessionUpdate"})
        elif kind == "plan" and earlier is not None:
            earlier["entries"] = update["entries"]
        else:
            # Copy the content of a chunk too: its text is extended in place.
            self.updates.append(
                update | {"content": dict(update["content"])} if "_chunk" in kind else {**update}
            )

    def add_raw(self, params: dict[str, Any]) -> None:
        """Append the parameters of a `session/update`. The update can belong to a subagent's session."""
        self.updates.append({"sessionUpdate": RAW, "params": params})

    def _merge_target(self, update: Update) -> Update | None:
        """Return the earlier update that `update` continues; None if there is none."""
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

    def position(self) -> int:
        """Return the current length, which can be passed to `truncate` later."""
        return len(self.updates)

    def truncate(self, position: int) -> None:
        """Remove the updates after a position, for example those of a refused prompt."""
        del self.updates[position:]

    def fail_open_calls(self) -> None:
        """Mark unfinished tool calls as failed, so that a replay does not show them as running."""
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
