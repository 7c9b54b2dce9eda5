"""Texts that the Markdown and HTML exports share: the header, and descriptions of content blocks."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from acp_tui.session.text.safe_text import visible_line
from acp_tui.session.usage_text import format_money, tokens_words, total_tokens

if TYPE_CHECKING:
    from acp_tui.export.metadata import SessionMetadata
    from acp_tui.session.state import Content, Session


def header_facts(session: Session, metadata: SessionMetadata) -> list[tuple[str, str]]:
    """Return the lines of the header above the conversation, each as a label and a value."""
    agent = session.agent
    name = metadata.agent or (agent and (agent.title or agent.name)) or ""
    version = f" {agent.version}" if agent is not None and agent.version else ""
    at = next((entry.at for entry in session.entries), None)
    facts = [
        ("Agent", visible_line(f"{name}{version}" if name else "")),
        ("Folder", visible_line(working_folder(session, metadata))),
        ("Started", _minute(at) if at is not None else ""),
        ("Usage", _usage(session)),
        ("Session", visible_line(metadata.id)),
    ]
    return [(label, text) for label, text in facts if text]


def _usage(session: Session) -> str:
    cost = session.usage.cost
    spent = [format_money(cost.amount, visible_line(cost.currency))] if cost is not None else []
    tokens = tokens_words(total_tokens(turn.tokens for turn in session.turn_usages))
    return " · ".join(filter(None, (tokens, *spent)))


def agent_name(session: Session, metadata: SessionMetadata) -> str:
    """Return the name of the agent for headings."""
    agent = session.agent
    return visible_line(metadata.agent or (agent and (agent.title or agent.name)) or "Agent")


def document_title(session: Session, metadata: SessionMetadata) -> str:
    """Return the title of the document."""
    return visible_line(metadata.name or session.title or metadata.title) or "Conversation with an agent"


def working_folder(session: Session, metadata: SessionMetadata) -> str:
    """Return the working folder of the session."""
    return session.cwd or metadata.cwd


def _minute(at: float) -> str:
    # UTC, so that the same session gives the same document everywhere
    try:
        return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, ValueError, OSError):
        return ""


def content_label(content: Content) -> str:
    """Return a one-line description of a content block."""
    parts = [content.title or content.name or "", content.mime or "", content.description or ""]
    if content.data is not None:
        parts.append(f"{len(content.data.rstrip('=')) * 3 // 4:,} bytes")
    elif content.size is not None:
        parts.append(f"{content.size:,} bytes")
    return visible_line(f"{content.kind}: {', '.join(part for part in parts if part)}".rstrip(": "))
