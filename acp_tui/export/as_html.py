"""Export a conversation as a single HTML file, without scripts or external resources.

Entries that are folded on the screen become closed `<details>` elements.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from acp_tui import __version__
from acp_tui.diffing.diff_text import diff_lines
from acp_tui.entry_display import KIND_ICONS, OTHER_ICON, STATUS_ICONS, call_title, default_folded
from acp_tui.export import html_text
from acp_tui.export.pieces import (
    Piece,
    call_facts,
    call_pieces,
    content_facts,
    document_title,
    exit_fact,
    header_facts,
    is_cleared,
    short_entry,
    terminal_title,
    thought_title,
    working_folder,
)
from acp_tui.export.style_sheet import style_sheet
from acp_tui.export.terminal_output import output_lines
from acp_tui.session.raw_entry import failure_note, raw_text
from acp_tui.session.state import (
    AgentMessage,
    Content,
    Diff,
    Message,
    Plan,
    Terminal,
    Thought,
    ToolCall,
    TurnEnd,
    UserMessage,
)
from acp_tui.session.text import GrowingText, visible_json, visible_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acp_tui.export.metadata import SessionMetadata
    from acp_tui.session.state import Entry, Session

_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]*={0,2}\s*")
_STATUS_STYLES = {
    "completed": "success",
    "failed": "error",
    "in_progress": "accent",
    "cancelled": "warning",
    "unfinished": "warning",
}


def as_html(session: Session, metadata: SessionMetadata, theme: str) -> str:
    """Return the HTML document in the colours of `theme`."""
    name = escape(document_title(session, metadata))
    known = "".join(
        f"<dt>{label}</dt><dd>{escape(text)}</dd>" for label, text in header_facts(session, metadata)
    )
    writer = _Writer(session, working_folder(session, metadata))
    body = "\n".join(block for entry in session.entries for block in _blocks_of(entry, writer))
    return _PAGE.format(
        title=name, style=style_sheet(theme), facts=known, body=body, version=escape(__version__)
    )


def _blocks_of(entry: Entry, writer: _Writer) -> list[str]:
    try:
        return list(writer.blocks(entry))
    except Exception as error:  # one entry must not cost the whole document
        note, text = escape(failure_note(entry, error)), escape(raw_text(entry))
        return [f'<section class="entry"><p>{note}</p><pre>{text}</pre></section>']


_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>
{style}
</style>
</head>
<body>
<header><h1>{title}</h1><dl>{facts}</dl></header>
<main>
{body}
</main>
<footer>Exported by acp-tui {version}. Recognised secrets have been removed.</footer>
</body>
</html>
"""


class _Writer:
    """Renders the entries of one session."""

    def __init__(self, session: Session, cwd: str) -> None:
        self._session = session
        self._cwd = cwd

    def blocks(self, entry: Entry) -> Iterator[str]:
        """Yield the HTML of one entry; nothing for entries that are not shown."""
        dimmed = entry.withdrawn and not isinstance(entry, TurnEnd)  # it says so in words
        classes = f"entry{' withdrawn' if dimmed else ''}"
        match entry:
            case UserMessage():
                yield f'<section class="{classes} user">{self._parts(entry, typed=True)}</section>'
            case AgentMessage():
                yield f'<section class="{classes} agent">{self._parts(entry)}</section>'
            case Thought():
                first = f'<span class="thought">{escape(thought_title(entry))}</span>'
                yield _details(classes, first, self._parts(entry), opened=not default_folded(entry))
            case ToolCall():
                yield self._call(entry, classes)
            case Plan():
                yield f'<section class="{classes}">{_plan(entry)}</section>'
            case Terminal():
                if entry.terminal_id not in self._session.terminal_calls:
                    whose = '<span class="label">Your command</span>' * (entry.owner == "user")
                    shown = _terminal(entry, terminal_title(entry, self._cwd))
                    yield f'<section class="{classes}">{whose}{shown}</section>'
            case _:
                yield from self._short_entry(entry, classes)

    def _parts(self, message: Message, *, typed: bool = False) -> str:
        pieces: list[str] = []
        for part in message.parts:
            if not isinstance(part, GrowingText):
                pieces.append(_content(part))
            elif typed:
                pieces.append(f'<p class="typed">{escape(str(part).strip(chr(10)))}</p>')
            else:
                pieces.append(html_text.markdown(str(part)))
        return "".join(pieces)

    def _call(self, call: ToolCall, classes: str) -> str:
        sign = STATUS_ICONS.get(call.status) or visible_line(call.status)
        look = _STATUS_STYLES.get(call.status, "dim")
        beside = [*_changed(call), *(f"<span>{escape(fact)}</span>" for fact in call_facts(call))]
        beside.append(f'<span class="{look}" title="{escape(call.status)}">{escape(sign)}</span>')
        first = (
            f'<span class="beside">{"".join(beside)}</span>'
            f'<span class="icon">{KIND_ICONS.get(call.kind, OTHER_ICON)}</span>'
            f'<span class="tool">{escape(call_title(call, self._cwd))}</span>'
        )
        inner = "".join(map(_piece, call_pieces(call, self._session, self._cwd)))
        return _details(f"{classes} call", first, inner, opened=not default_folded(call))

    def _short_entry(self, entry: Entry, classes: str) -> Iterator[str]:
        found = short_entry(entry, self._session, self._cwd)
        if found is None:
            return
        look = "dim" if found.level == "info" else found.level
        first = f'<span class="{look}">{escape(found.sign)} {escape(found.text)}</span>'
        if found.detail:
            yield _details(f"{classes} aside", first, html_text.plain(found.detail), opened=False)
        else:
            yield f'<p class="{classes} aside">{first}</p>'


def _changed(call: ToolCall) -> list[str]:
    lines = [line for item in call.content if isinstance(item, Diff) for line in diff_lines(item)]
    added, removed = (sum(line.startswith(sign) for line in lines) for sign in "+-")
    counts = (("success", "+", added), ("diff-gone", "−", removed))
    return [f'<span class="{look}">{sign}{count:,}</span>' for look, sign, count in counts if count]


def _details(classes: str, first: str, inner: str, *, opened: bool) -> str:
    if not inner:
        return f'<div class="{classes}">{first}</div>'
    state = " open" if opened else ""
    return (
        f'<details class="{classes}"{state}><summary>{first}</summary>'
        f'<div class="inner">{inner}</div></details>'
    )


def _piece(piece: Piece) -> str:
    match piece.sort:
        case "places":
            return "".join(f'<span class="label">↳ {escape(place)}</span>' for place in piece.what)
        case "command":
            return html_text.code(piece.what, "sh")
        case "diff":
            lines = html_text.diff(diff_lines(piece.what, piece.first))
            return f'<span class="label">{escape(piece.label)}</span>{lines}'
        case "terminal":
            return _terminal(piece.what, piece.label)
        case "raw":
            return f'<span class="label">{escape(piece.label)}</span>{html_text.plain(piece.what)}'
    return _content(piece.what)


def _terminal(terminal: Terminal, name: str) -> str:
    return html_text.terminal(
        output_lines(terminal.output),
        re.sub(r"^\$ ", '<span class="dim">$</span> ', escape(name)),
        f'<span class="dim">[{escape(exit_fact(terminal))}]</span>',
    )


def _content(content: Content) -> str:
    """Embed images in the file; describe other content that is not text."""
    if content.kind == "text":
        return html_text.markdown(content.text) if "```" in content.text else html_text.plain(content.text)
    name = escape(content_facts(content))
    if content.kind == "image" and content.mime in _PICTURES and _BASE64.fullmatch(content.data or "-"):
        source = re.sub(r"\s", "", content.data or "")
        return f'<p><img alt="{name}" src="data:{content.mime};base64,{source}"></p>'
    where = f" {html_text.link(content.uri, content.uri)}" if content.uri else ""
    text = html_text.plain(content.text) if content.text else ""
    raw = html_text.plain(visible_json(content.raw)) if content.raw is not None else ""
    return f'<span class="label">[{name}]{where}</span>{text}{raw}'


def _plan(plan: Plan) -> str:
    if is_cleared(plan):
        return '<p class="aside">The plan was cleared</p>'
    rows = "".join(
        f'<li><span class="{_STATUS_STYLES.get(item.status, "dim")}">'
        f"{escape(STATUS_ICONS.get(item.status, visible_line(item.status)))}</span>"
        f" {escape(item.content)}</li>"
        for item in plan.items
    )
    steps = f'<ul class="plan">{rows}</ul>' if rows else ""
    text = html_text.markdown(plan.markdown) if plan.markdown else ""
    where = html_text.link(plan.uri, plan.uri) if plan.uri else ""
    return f'<span class="label">Plan</span>{steps}{text}{where}'
