"""Messages with which certain agents extend the protocol, and which the client can ignore.

The names of extensions should begin with an underscore, so that clients can ignore such messages. The names
below have no underscore, so the messages would be shown as unrecognised in every turn.
"""

from __future__ import annotations

_REQUESTS = frozenset(
    {
        # Qwen Code asks for prompts that were queued during the turn. acp-tui sends these prompts itself, so
        # it answers with the error -32601.
        "craft/drainMidTurnQueue",
    }
)
_NOTIFICATIONS = (
    # Qwen Code: a suggestion for the next prompt, and the like.
    "qwen/notify/",
)


def is_known_request(method: str) -> bool:
    """Return True if a request of this method is refused without telling the user."""
    return method in _REQUESTS


def is_known_notification(method: str) -> bool:
    """Return True if a notification of this method is ignored without telling the user."""
    return method.startswith(("_", "$/", *_NOTIFICATIONS))
