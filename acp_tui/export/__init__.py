"""A recorded session as a document to give away: Markdown, one HTML file, or plain JSON.

It is folded from the log again, so an export holds what the record holds, and its secrets are out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from acp_tui.config.sensitive_files import holds_secrets
from acp_tui.export.gather import gathered
from acp_tui.session.text import visible_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from acp_tui.session.record import Record
    from acp_tui.store.folders import StoredSession

Format = Literal["md", "html", "json"]
FORMATS: dict[Format, str] = {"md": "Markdown", "html": "HTML, in one file", "json": "JSON"}


@dataclass(frozen=True, slots=True)
class About:
    """What the folder of a session knows of it beside its log."""

    id: str = ""
    agent: str = ""
    title: str = ""
    cwd: str = ""

    @classmethod
    def of(cls, stored: StoredSession) -> About:
        """What its folder says."""
        return cls(
            stored.id,
            visible_line(stored.text("agent_title") or stored.text("agent") or ""),
            visible_line(stored.text("title") or ""),
            stored.text("cwd") or "",
        )


def export(
    records: Iterable[Record],
    form: str,
    about: About | None = None,
    *,
    theme: str = "dark",
    is_sensitive: Callable[[str], object] = holds_secrets,
) -> str:
    """The whole conversation as one text, in one of `FORMATS`; `theme` matters to HTML.

    The contents of files that `is_sensitive` names are left out.
    """
    session = gathered(records, is_sensitive)
    about = about or About()
    if form == "json":
        from acp_tui.export.as_json import as_json

        return as_json(session, about)
    if form == "html":
        from acp_tui.export.as_html import as_html

        return as_html(session, about, theme)
    from acp_tui.export.as_markdown import as_markdown

    return as_markdown(session, about)
