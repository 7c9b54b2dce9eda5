"""Exports of a recorded session: Markdown, a single HTML file, JSON, or plain text.

`export` rebuilds a session from its wire log and redacts the session. What an entry shows comes from
`entry_kinds`; the modules here do not depend on kinds of entries. May import `entry_kinds` and the
packages below it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Literal

from acp_tui.config.sensitive_files import holds_secrets
from acp_tui.export.document import SessionMetadata, build_redacted_session

if TYPE_CHECKING:
    from acp_tui.session.record import Record

Format = Literal["md", "html", "json"]
FORMATS: dict[Format, str] = {"md": "Markdown", "html": "HTML, a single file", "json": "JSON"}


def export(
    records: Iterable[Record],
    form: str,
    metadata: SessionMetadata | None = None,
    *,
    theme: str = "dark",
    is_sensitive: Callable[[str], object] = holds_secrets,
) -> str:
    """Return the whole conversation as a document.

    Args:
        records: The records of the session's log.
        form: One of `FORMATS`.
        metadata: What the header shows but the log does not contain.
        theme: The colours of an HTML document.
        is_sensitive: Called with the path of a file. If the result is true, the file's contents are left out.
    """
    session = build_redacted_session(records, is_sensitive)
    metadata = metadata or SessionMetadata()
    if form == "json":
        from acp_tui.export.as_json import as_json

        return as_json(session, metadata)
    if form == "html":
        from acp_tui.export.as_html import as_html

        return as_html(session, metadata, theme)
    from acp_tui.export.as_markdown import as_markdown

    return as_markdown(session, metadata)
