"""A conversation as a single HTML file, without scripts or external resources.

Entries that are folded on the screen become closed `<details>` elements.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from acp_tui import __version__
from acp_tui.diffing.unified_diff import diff_lines
from acp_tui.entry_kinds.blocks import (
    Aside,
    Code,
    ContentBlock,
    DiffBlock,
    FileList,
    FoldBlock,
    Link,
    MarkdownText,
    PlainText,
    SectionBlock,
    Speech,
    Steps,
    TerminalBlock,
)
from acp_tui.entry_kinds.kind import TextContext
from acp_tui.entry_kinds.kind_table import kind_of
from acp_tui.entry_labels import STATUS_ICONS
from acp_tui.export import html_text
from acp_tui.export.document import content_label, document_title, header_facts, working_folder
from acp_tui.export.style_sheet import style_sheet
from acp_tui.session.raw_entry import failure_note, raw_text
from acp_tui.session.safe_text import escape_line, visible_json
from acp_tui.store.secret_patterns import redact_text
from acp_tui.workspace.terminals.screen_buffer import PLAIN
from acp_tui.workspace.terminals.terminal_emulator import TerminalEmulator

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from acp_tui.entry_kinds.blocks import Block, Headline, Part
    from acp_tui.export.document import SessionMetadata
    from acp_tui.session.state import Content, Entry, PlanItem, Session
    from acp_tui.session.terminal_text import TerminalText
    from acp_tui.workspace.terminals.terminal_emulator import Line


def output_lines(output: TerminalText, *, styles: bool = True) -> Iterator[Line]:
    """Yield the lines of the output, redacted again, because a secret may have been split between chunks."""
    if not output.skipped:
        yield from _lines(output.head + output.tail, styles=styles)
        return
    yield from _lines(output.head, styles=styles)
    yield ((f"… {output.skipped:,} characters omitted …", PLAIN),)
    yield from _lines(output.tail, styles=styles)


def output_text(output: TerminalText) -> str:
    """Return the output as plain text."""
    lines = output_lines(output, styles=False)
    return "".join("".join(text for text, _ in line) + "\n" for line in lines)


def _lines(raw: str, *, styles: bool) -> Iterator[Line]:
    emulator = TerminalEmulator(styles=styles, head=1 << 62)  # keep all lines
    emulator.feed(raw)
    lines = emulator.lines
    while lines and not any(text.strip() for text, _ in lines[-1]):
        lines.pop()
    for line in lines:
        text = "".join(piece for piece, _ in line)
        redacted = redact_text(text)
        yield line if redacted == text else ((redacted, PLAIN),)


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
    facts = "".join(
        f"<dt>{label}</dt><dd>{escape(text)}</dd>" for label, text in header_facts(session, metadata)
    )
    context = TextContext(session, working_folder(session, metadata))
    body = "\n".join(element for entry in session.entries for element in _elements(entry, context))
    return _PAGE.format(
        title=name, style=style_sheet(theme), facts=facts, body=body, version=escape(__version__)
    )


def _elements(entry: Entry, context: TextContext) -> list[str]:
    kind = kind_of(entry)
    classes = "entry withdrawn" if entry.withdrawn and kind.dims_when_withdrawn else "entry"
    try:
        return [_block(block, classes) for block in kind.export_blocks(entry, context)]
    except Exception as error:  # an error in one entry must not prevent the export
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


def _block(block: Block, classes: str) -> str:
    match block:
        case Speech(speaker, parts):
            return f'<section class="{classes} {speaker}">{_parts(parts)}</section>'
        case FoldBlock(headline, parts, folded):
            if headline.icon:
                classes = f"{classes} call"
            return _details(classes, _headline(headline), _parts(parts), opened=not folded)
        case SectionBlock(title, parts):
            return f'<section class="{classes}">{_label(title)}{_parts(parts)}</section>'
        case Aside(level, sign, text, detail):
            style = "dim" if level == "info" else level
            first = f'<span class="{style}">{escape(sign)} {escape(text)}</span>'
            if detail:
                return _details(f"{classes} aside", first, html_text.plain(detail), opened=False)
            return f'<p class="{classes} aside">{first}</p>'


def _headline(headline: Headline) -> str:
    if not headline.icon:
        return f'<span class="thought">{escape(headline.title)}</span>'
    beside = _changed_lines(*headline.changed_lines)
    beside += [f"<span>{escape(fact)}</span>" for fact in headline.facts]
    if status := headline.status:
        sign = STATUS_ICONS.get(status) or escape_line(status)
        style = _STATUS_STYLES.get(status, "dim")
        beside.append(f'<span class="{style}" title="{escape(status)}">{escape(sign)}</span>')
    return (
        f'<span class="beside">{"".join(beside)}</span>'
        f'<span class="icon">{headline.icon}</span>'
        f'<span class="tool">{escape(headline.title)}</span>'
    )


def _changed_lines(added: int, removed: int) -> list[str]:
    counts = (("success", "+", added), ("diff-gone", "−", removed))
    return [f'<span class="{style}">{sign}{count:,}</span>' for style, sign, count in counts if count]


def _details(classes: str, first: str, inner: str, *, opened: bool) -> str:
    if not inner:
        return f'<div class="{classes}">{first}</div>'
    state = " open" if opened else ""
    return (
        f'<details class="{classes}"{state}><summary>{first}</summary>'
        f'<div class="inner">{inner}</div></details>'
    )


def _parts(parts: Sequence[Part]) -> str:
    return "".join(map(_part, parts))


def _part(part: Part) -> str:
    match part:
        case PlainText(text):
            return f'<p class="typed">{escape(text.strip(chr(10)))}</p>'
        case MarkdownText(text):
            return html_text.markdown(text)
        case ContentBlock(content):
            return _content(content)
        case Code(text, language, label):
            return _label(label) + (html_text.code(text, language) if language else html_text.plain(text))
        case DiffBlock(diff, label, first_line):
            return _label(label) + html_text.diff(diff_lines(diff, first_line))
        case TerminalBlock(output, command, end):
            prompt = re.sub(r"^\$ ", '<span class="dim">$</span> ', escape(command))
            return html_text.terminal(
                output_lines(output), prompt, f'<span class="dim">[{escape(end)}]</span>'
            )
        case FileList(files):
            return "".join(_label(f"↳ {file}") for file in files)
        case Steps(items):
            return f'<ul class="plan">{"".join(map(_step, items))}</ul>'
        case Link(uri):
            return html_text.link(uri, uri)


def _label(text: str) -> str:
    return f'<span class="label">{escape(text)}</span>' if text else ""


def _content(content: Content) -> str:
    """Return the HTML of a content block. Texts and images are embedded; any other content is described."""
    if content.kind == "text":
        return html_text.markdown(content.text) if "```" in content.text else html_text.plain(content.text)
    name = escape(content_label(content))
    if content.kind == "image" and content.mime in _PICTURES and _BASE64.fullmatch(content.data or "-"):
        source = re.sub(r"\s", "", content.data or "")
        return f'<p><img alt="{name}" src="data:{content.mime};base64,{source}"></p>'
    where = f" {html_text.link(content.uri, content.uri)}" if content.uri else ""
    text = html_text.plain(content.text) if content.text else ""
    raw = html_text.plain(visible_json(content.raw)) if content.raw is not None else ""
    return f'<span class="label">[{name}]{where}</span>{text}{raw}'


def _step(item: PlanItem) -> str:
    sign = STATUS_ICONS.get(item.status, escape_line(item.status))
    style = _STATUS_STYLES.get(item.status, "dim")
    return f'<li><span class="{style}">{escape(sign)}</span> {escape(item.content)}</li>'
