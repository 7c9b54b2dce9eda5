"""A conversation as a single HTML file, without scripts or external resources.

Entries that are folded on the screen become closed `<details>` elements.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from html import escape
from typing import TYPE_CHECKING, Any

from acp_tui import __version__
from acp_tui.diffing.patch import diff_lines
from acp_tui.entry_kinds.blocks import (
    Aside,
    Block,
    Code,
    ContentBlock,
    DiffBlock,
    FileList,
    FoldBlock,
    Headline,
    Link,
    MarkdownText,
    Part,
    PlainText,
    SectionBlock,
    Speech,
    Steps,
    TerminalBlock,
)
from acp_tui.entry_labels import STATUS_ICONS
from acp_tui.export.document import (
    SessionMetadata,
    content_label,
    document_title,
    header_facts,
    output_lines,
    write_entries,
)
from acp_tui.export.safe_markdown import parse_blocks, parser
from acp_tui.export.style_sheet import style_sheet
from acp_tui.pygments_names import TOKEN_NAMES
from acp_tui.session.safe_text import escape_line, visible_json

if TYPE_CHECKING:
    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token
    from pygments.lexer import Lexer  # type: ignore[import-untyped]
    from pygments.token import _TokenType as TokenType  # type: ignore[import-untyped]

    from acp_tui.session.state import Content, PlanItem, Session
    from acp_tui.workspace.terminals.screen_buffer import Color, Style
    from acp_tui.workspace.terminals.terminal_emulator import Line


SAFE_SCHEMES = ("http://", "https://", "mailto:")
"""The schemes of URLs that are exported as links. Other links become plain text."""
CHECKBOXES = {"[ ] ": "☐", "[x] ": "☑"}
"""The characters shown for the task list markers of Markdown."""
MAX_COLOURED_LINE_LENGTH = 4000
"""Code with a longer line is not coloured: a lexer may take very long on it."""
MAX_COLOURED_CHARACTERS = 200_000
"""Longer code blocks are not coloured."""
MAX_UNSCROLLED_LINES = 40
"""The maximum number of lines of a block without a scrollbar."""
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
    body = "\n".join(write_entries(session, metadata, _block, _failure))
    return _PAGE.format(
        title=name, style=style_sheet(theme), facts=facts, body=body, version=escape(__version__)
    )


def _failure(note: str, text: str) -> str:
    return f'<section class="entry"><p>{escape(note)}</p><pre>{escape(text)}</pre></section>'


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


def _block(block: Block, is_dimmed: bool) -> str:
    classes = "entry withdrawn" if is_dimmed else "entry"
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
                return _details(f"{classes} aside", first, _plain(detail), opened=False)
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
            return _markdown(text)
        case ContentBlock(content):
            return _content(content)
        case Code(text, language, label):
            return _label(label) + (_code(text, language) if language else _plain(text))
        case DiffBlock(diff, label, first_line):
            return _label(label) + _diff(diff_lines(diff, first_line))
        case TerminalBlock(output, command, end):
            prompt = re.sub(r"^\$ ", '<span class="dim">$</span> ', escape(command))
            return _terminal(output_lines(output), prompt, f'<span class="dim">[{escape(end)}]</span>')
        case FileList(files):
            return "".join(_label(f"↳ {file}") for file in files)
        case Steps(items):
            return f'<ul class="plan">{"".join(map(_step, items))}</ul>'
        case Link(uri):
            return _link(uri, uri)


def _label(text: str) -> str:
    return f'<span class="label">{escape(text)}</span>' if text else ""


def _content(content: Content) -> str:
    """Return the HTML of a content block. Texts and images are embedded; any other content is described."""
    if content.kind == "text":
        return _markdown(content.text) if "```" in content.text else _plain(content.text)
    name = escape(content_label(content))
    if content.kind == "image" and content.mime in _PICTURES and _BASE64.fullmatch(content.data or "-"):
        source = re.sub(r"\s", "", content.data or "")
        return f'<p><img alt="{name}" src="data:{content.mime};base64,{source}"></p>'
    where = f" {_link(content.uri, content.uri)}" if content.uri else ""
    text = _plain(content.text) if content.text else ""
    raw = _plain(visible_json(content.raw)) if content.raw is not None else ""
    return f'<span class="label">[{name}]{where}</span>{text}{raw}'


def _step(item: PlanItem) -> str:
    sign = STATUS_ICONS.get(item.status, escape_line(item.status))
    style = _STATUS_STYLES.get(item.status, "dim")
    return f'<li><span class="{style}">{escape(sign)}</span> {escape(item.content)}</li>'


# --------------------------------------------------------------------------- Markdown


def _markdown(text: str) -> str:
    tokens = parse_blocks(text)
    if tokens is None:
        return _plain(text)
    for token, before in zip(tokens, [None, None, *tokens], strict=False):
        if token.children:
            _disarm_links(token.children)
            if before is not None and before.type == "list_item_open":
                _show_checkbox(token.children[0])
        elif token.type == "heading_open":
            token.attrs["class"] = f"heading{min(int(token.tag[1:]), 3)}"
    return f'<div class="md">{_renderer().render(tokens, parser().options, {})}</div>'


@cache
def _renderer() -> RendererHTML:
    from markdown_it.renderer import RendererHTML

    renderer = RendererHTML()
    rules: Any = renderer.rules
    rules |= {"fence": _fence, "code_block": _fence, "code_inline": _inline_code, "image": _image}
    return renderer


def _fence(tokens: Sequence[Token], number: int, *_: Any) -> str:
    words = tokens[number].info.split()
    return _code(tokens[number].content, words[0] if words else "")


def _inline_code(tokens: Sequence[Token], number: int, *_: Any) -> str:
    return f'<code class="inline-code">{escape(tokens[number].content)}</code>'


def _image(tokens: Sequence[Token], number: int, *_: Any) -> str:
    """Render an image as a link or as text, because the document must not load anything."""
    token = tokens[number]
    url = str(token.attrs.get("src", ""))
    name = f"[image: {token.content or url}]"
    return escape(name) if token.meta.get("in link") else _link(url, name)


def _show_checkbox(first: Token) -> None:
    """If a list item begins with a task list marker, replace the marker with a checkbox."""
    box = CHECKBOXES.get(first.content[:4].lower()) if first.type == "text" else None
    if box is not None:
        first.content = f"{box} {first.content[4:]}"


def _disarm_links(tokens: Sequence[Token]) -> None:
    """Turn links whose scheme is not one of `SAFE_SCHEMES` into plain text."""
    opened: list[bool] = []
    for token in tokens:
        if token.type == "link_open":
            url = str(token.attrs.get("href", ""))
            opened.append(_is_safe_link(url))
            if opened[-1]:
                token.attrs = {"href": url, "rel": "noopener noreferrer nofollow", "class": "link"}
            else:
                token.tag, token.attrs = "span", {"title": url}
        elif token.type == "link_close" and opened and not opened.pop():
            token.tag = "span"
        elif token.type == "image":
            token.meta["in link"] = bool(opened)


def _is_safe_link(url: str) -> bool:
    """Return True if the link has one of the `SAFE_SCHEMES`."""
    return url.lower().startswith(SAFE_SCHEMES)


def _link(url: str, text: str) -> str:
    """Render a link. If its URL is not safe, render only the text, with the URL as a tooltip."""
    if not _is_safe_link(url):
        return f'<span title="{escape(url)}">{escape(text)}</span>'
    return f'<a class="link" rel="noopener noreferrer nofollow" href="{escape(url)}">{escape(text)}</a>'


# --------------------------------------------------------------------------- code


def _plain(text: str) -> str:
    return f'<pre class="code">{escape(text)}</pre>'


def _code(text: str, language: str = "") -> str:
    """Render code in the colours of the theme, with `language` as the label."""
    label = f'<span class="label">{escape(language)}</span>' if language else ""
    highlighted = _highlight(text.rstrip("\n"), language)
    return f'{label}<pre class="code{_length_class(text.count(chr(10)))}">{highlighted}</pre>'


def _length_class(lines: int) -> str:
    return " long" if lines > MAX_UNSCROLLED_LINES else ""


def _highlight(text: str, language: str) -> str:
    lexer = _lexer(language.lower())
    if (
        lexer is None
        or len(text) > MAX_COLOURED_CHARACTERS
        or any(len(line) > MAX_COLOURED_LINE_LENGTH for line in text.split("\n"))
    ):
        return escape(text)
    pieces: list[str] = []
    for token_type, piece in lexer.get_tokens(text):
        name = _style_name(token_type)
        escaped = escape(piece, quote=False)
        pieces.append(f'<span class="s-{name}">{escaped}</span>' if name and not piece.isspace() else escaped)
    return "".join(pieces)


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]

    try:
        # Keep blank lines at the start. Pygments also adds a newline at the end: some lexers do not recognise
        # the last line without it, and browsers do not show it.
        return get_lexer_by_name(language, stripnl=False) if language else None
    except ClassNotFound:
        return None


@lru_cache(maxsize=512)
def _style_name(token_type: TokenType) -> str:
    names = list(token_type)
    while names:
        if name := TOKEN_NAMES.get(".".join(names)):
            return name
        names.pop()
    return ""


# --------------------------------------------------------------------------- diffs and terminals

_DIFF_CLASSES = {"+": "diff-added", "-": "diff-removed", "@": "diff-fold", "\\": "diff-fold"}


def _diff(lines: Iterable[str]) -> str:
    rows = [
        f'<span class="{_DIFF_CLASSES.get(line[:1], "diff-context")}">{escape(line)}</span>' for line in lines
    ]
    return f'<pre class="diff{_length_class(len(rows))}"><code>{"".join(rows)}</code></pre>'


def _terminal(lines: Iterable[Line], before: str, after: str) -> str:
    """Render the coloured output of a command; `before` and `after` are HTML around that output."""
    rows = ["".join(_span(text, style) for text, style in line) for line in lines]
    body = "".join(f"{row}\n" for row in rows)
    return f'<pre class="terminal{_length_class(len(rows))}">{before}\n{body}{after}</pre>'


def _span(text: str, style: Style) -> str:
    tag = _opening_tag(style)
    escaped = escape(text, quote=False)
    return f"{tag}{escaped}</span>" if tag else escaped


@lru_cache(maxsize=4096)
def _opening_tag(style: Style) -> str:
    classes: list[str] = []
    rules: list[str] = []
    front, back = (style.bg, style.fg) if style.reverse else (style.fg, style.bg)
    for colour, letter, name in ((front, "f", "color"), (back, "b", "background")):
        if isinstance(colour, int) and colour < 16:
            classes.append(f"{letter}{colour}")
        elif colour is not None:
            rules.append(f"{name}:#{_rgb(colour)}")
        elif style.reverse:  # swap the default colours of the page
            rules.append(f"{name}:var(--{'page' if letter == 'f' else 'ink'})")
    rules += [rule for name, rule in _STYLE_RULES.items() if getattr(style, name)]
    if style.underline or style.strike:
        lines = [word for word, on in (("underline", style.underline), ("line-through", style.strike)) if on]
        rules.append(f"text-decoration:{' '.join(lines)}")
    if not classes and not rules:
        return ""
    class_attribute = f' class="{" ".join(classes)}"' if classes else ""
    style_attribute = f' style="{";".join(rules)}"' if rules else ""
    return f"<span{class_attribute}{style_attribute}>"


_STYLE_RULES = {"bold": "font-weight:bold", "dim": "opacity:.7", "italic": "font-style:italic"}
_LEVELS = (0, 95, 135, 175, 215, 255)


def _rgb(colour: Color) -> str:
    """Return the hex code of an RGB colour or of one of the 240 fixed colours of xterm."""
    if isinstance(colour, int):
        if colour >= 232:
            colour = (8 + 10 * (colour - 232),) * 3
        else:
            number = colour - 16
            colour = (_LEVELS[number // 36], _LEVELS[number // 6 % 6], _LEVELS[number % 6])
    red, green, blue = colour or (0, 0, 0)
    return f"{red:02x}{green:02x}{blue:02x}"
