"""Messages with which certain agents extend the protocol, and which say nothing to the user.

Every other extension is shown as unrecognised, with the name that was probably meant. The log has these, too.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_NAME_CHARACTERS = 40
"""The longest name to look for; the names of the protocol are shorter."""
_REQUESTS = frozenset(
    {
        # Qwen Code asks for prompts that were queued during the turn. acp-tui sends these prompts itself, so
        # it answers with the error -32601.
        "craft/drainMidTurnQueue",
        # Qwen Code announces a turn that it begins by itself when a background agent has ended. The turn's
        # updates are shown as they come.
        "_qwencode/start_turn",
    }
)
_NOTIFICATIONS = (
    # Claude Code and Codex: whether the user is signed in, before every session.
    "_auth/status_update",
    # Qwen Code: a suggestion for the next prompt, and the like.
    "qwen/notify/",
    "_qwencode/",
)


def is_known_request(method: str) -> bool:
    """Return True if a request of this method is refused without telling the user."""
    return method in _REQUESTS


def is_known_notification(method: str) -> bool:
    """Return True if a notification of this method is ignored without telling the user."""
    return method.startswith(_NOTIFICATIONS)


def similar_name(name: Any, known: Iterable[str]) -> str:
    """Return " (did you mean X?)" with the known name most similar to `name`; empty if none is similar."""
    if not isinstance(name, str) or len(name) > MAX_NAME_CHARACTERS:
        return ""
    near = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.8)
    return f" (did you mean {near[0]}?)" if near else ""
