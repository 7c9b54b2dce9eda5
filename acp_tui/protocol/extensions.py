"""Extensions of single agents that are known to need nothing from the client.

Names of extensions begin with an underscore, which the client may ignore. These do not, and would be shown as
unrecognised with every turn.
"""

from __future__ import annotations

_REQUESTS = frozenset(
    {
        # Qwen Code asks for prompts that were queued during the turn. acp-tui sends those itself: -32601.
        "craft/drainMidTurnQueue",
    }
)
_NOTIFICATIONS = (
    # Qwen Code: a suggestion for the next prompt, and the like.
    "qwen/notify/",
)


def is_known_request(method: str) -> bool:
    """Return True for a request that is refused without a word."""
    return method in _REQUESTS


def is_known_notification(method: str) -> bool:
    """Return True for a notification that is a sign of life and nothing else."""
    return method.startswith(("_", "$/", *_NOTIFICATIONS))
