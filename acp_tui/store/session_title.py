"""The title under which a recorded session is listed. A session without a title holds nothing."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from acp_tui.session.safe_text import escape_line
from acp_tui.store.drafts_and_history import Drafts, SavedComments
from acp_tui.store.stored_sessions import StoredSession, save_meta

MAX_NAME_CHARACTERS = 100
MAX_RECORDS_SEARCHED = 2_000
"""The number of records to search for a prompt or command if a session has no title."""
MAX_TITLE_CHARACTERS = 200
"""The maximum length of a title that is made of text such as a draft."""


def rename_stored_session(session: StoredSession, name: str) -> None:
    """Save the name of a session that is not open. An empty string removes the name. Raises `OSError`."""
    save_meta(session, name=clean_session_name(name) or None)


def session_name(meta: Mapping[str, Any]) -> str:
    """Return the name in a session's metadata, safe to display; empty if the user gave none."""
    name = meta.get("name")
    return clean_session_name(name) if isinstance(name, str) else ""


def clean_session_name(name: str) -> str:
    """Return a name on one line, safe to display and of limited length."""
    return " ".join(escape_line(name).split())[:MAX_NAME_CHARACTERS]


class UnsentWork:
    """What users have left in the prompts and reviews of sessions, read once for a list of sessions."""

    def __init__(self, state_dir: Path) -> None:
        self.drafts = Drafts(state_dir).load_all()
        """The drafts by session id."""
        self.commented = SavedComments(state_dir).sessions()
        """The ids of the sessions with unsent review comments."""


def session_title(session: StoredSession, unsent: UnsentWork, first_prompt: str = "") -> str:
    """Return a title on one line; an empty string only if nothing was done in the session.

    It is the user's name for the session, the session's own title, its first prompt, or what was not sent to
    the agent: a queued prompt, a command of the user, a draft, the branch of a worktree, review comments.
    For a session that cannot be read, it is the reason in brackets.

    Args:
        session: The session.
        unsent: What all sessions hold that was not sent.
        first_prompt: The first prompt, if the caller knows it; otherwise it is read from the log.
    """
    if session.fault:
        return escape_line(f"({session.fault})")
    title = recorded_title(session, first_prompt)
    if not title.strip():
        from acp_tui.store.secret_patterns import redact_text  # its patterns take time to load

        title = redact_text(unsent.drafts.get(session.id, "").strip()[:MAX_TITLE_CHARACTERS])
    if not title and session.has_worktree:
        title = session.branch
    if not title and session.id in unsent.commented:
        title = "Review comments"
    return escape_line(title)


def recorded_title(session: StoredSession, first_prompt: str = "") -> str:
    """Return the user's name for the session, its own title, or its first prompt, or ""."""
    return session_name(session.meta) or session.text("title") or first_prompt or _title_from_log(session)


def _title_from_log(session: StoredSession) -> str:
    """Return the first prompt; if there is none, the first queued prompt or command; "" without these."""
    waiting = ""
    with suppress(OSError):
        for record in islice(session.records(), MAX_RECORDS_SEARCHED):
            match record.frame:
                case {"method": "session/prompt", "params": {"prompt": prompt}} if title := _prompt_title(
                    prompt
                ):
                    return title
                case {
                    "method": "session/update",
                    "params": {"update": {"sessionUpdate": "user_message_chunk", "content": content}},
                } if title := _prompt_title([content]):  # replayed: the session was not begun here
                    return title
                case {"event": "queued", "text": str() as text} if not waiting:
                    waiting = text.strip()
                case {"event": "terminal_created", "owner": "user", "command": str() as command} if (
                    not waiting
                ):
                    waiting = f"!{command}"
    return waiting[:MAX_TITLE_CHARACTERS]


def _prompt_title(prompt: Any) -> str:
    """Return the text of a prompt in a log, or "(attachments)"; "" for a blank prompt."""
    if isinstance(prompt, str):
        return prompt.strip()
    blocks = [block for block in prompt if isinstance(block, dict)] if isinstance(prompt, list) else []
    text = " ".join(str(block.get("text") or "") for block in blocks).strip()
    attached = any(block.get("type") != "text" for block in blocks)
    return text or ("(attachments)" if attached else "")
