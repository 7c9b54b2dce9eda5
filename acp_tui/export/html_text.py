"""Converts Markdown, code, diffs and terminal output to HTML. All of this input is untrusted and escaped."""

from __future__ import annotations

from functools import cache, lru_cache
from html import escape
from typing import TYPE_CHECKING, Any

from acp_tui.export.safe_markdown import parse_blocks, parser
from acp_tui.pygments_names import TOKEN_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token
    from pygments.lexer import Lexer  # type: ignore[import-untyped]
    from pygments.token import _TokenType as TokenType  # type: ignore[import-untyped]

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


# --------------------------------------------------------------------------- Markdown


def markdown(text: str) -> str:
    """Render Markdown as HTML."""
    tokens = parse_blocks(text)
    if tokens is None:
        return plain(text)
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
    return code(tokens[number].content, words[0] if words else "")


def _inline_code(tokens: Sequence[Token], number: int, *_: Any) -> str:
    return f'<code class="inline-code">{escape(tokens[number].content)}</code>'


def _image(tokens: Sequence[Token], number: int, *_: Any) -> str:
    """Render an image as a link or as text, because the document must not load anything."""
    token = tokens[number]
    url = str(token.attrs.get("src", ""))
    name = f"[image: {token.content or url}]"
    return escape(name) if token.meta.get("in link") else link(url, name)


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
            opened.append(is_safe_link(url))
            if opened[-1]:
                token.attrs = {"href": url, "rel": "noopener noreferrer nofollow", "class": "link"}
            else:
                token.tag, token.attrs = "span", {"title": url}
        elif token.type == "link_close" and opened and not opened.pop():
            token.tag = "span"
        elif token.type == "image":
            token.meta["in link"] = bool(opened)


def is_safe_link(url: str) -> bool:
    """Return True if the link has one of the `SAFE_SCHEMES`."""
    return url.lower().startswith(SAFE_SCHEMES)


def link(url: str, text: str) -> str:
    """Render a link. If its URL is not safe, render only the text, with the URL as a tooltip."""
    if not is_safe_link(url):
        return f'<span title="{escape(url)}">{escape(text)}</span>'
    return f'<a class="link" rel="noopener noreferrer nofollow" href="{escape(url)}">{escape(text)}</a>'


# --------------------------------------------------------------------------- code


def plain(text: str) -> str:
    """Render preformatted text as HTML."""
    return f'<pre class="code">{escape(text)}</pre>'


def code(text: str, language: str = "") -> str:
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


def diff(lines: Iterable[str]) -> str:
    """Render the lines of a unified diff."""
    rows = [
        f'<span class="{_DIFF_CLASSES.get(line[:1], "diff-context")}">{escape(line)}</span>' for line in lines
    ]
    return f'<pre class="diff{_length_class(len(rows))}"><code>{"".join(rows)}</code></pre>'


def terminal(lines: Iterable[Line], before: str, after: str) -> str:
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
