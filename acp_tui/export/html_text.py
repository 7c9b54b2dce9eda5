"""Convert Markdown, code, diffs and terminal output to HTML. All of it is untrusted and gets escaped."""

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

    from acp_tui.workspace.terminals.sgr import Color, Style
    from acp_tui.workspace.terminals.terminal_emulator import Line

SAFE_SCHEMES = ("http://", "https://", "mailto:")
"""Schemes of the links that stay links."""
CHECKBOXES = {"[ ] ": "☐", "[x] ": "☑"}
"""The characters shown for the task list markers of Markdown."""
MAX_LINE_LENGTH = 4000
"""Longest line that is coloured: on longer ones a lexer may take very long."""
MAX_COLOURED_CHARACTERS = 200_000
"""Longest code block that is coloured."""


# --------------------------------------------------------------------------- Markdown


def markdown(text: str) -> str:
    """Render Markdown."""
    tokens = parse_blocks(text)
    if tokens is None:
        return plain(text)
    for token, before in zip(tokens, [None, None, *tokens], strict=False):
        if token.children:
            _disarm_links(token.children)
            if before is not None and before.type == "list_item_open":
                _show_box(token.children[0])
        elif token.type == "heading_open":
            token.attrs["class"] = f"heading{min(int(token.tag[1:]), 3)}"
    return f'<div class="md">{_renderer().render(tokens, parser().options, {})}</div>'


@cache
def _renderer() -> RendererHTML:
    from markdown_it.renderer import RendererHTML

    made = RendererHTML()
    rules: Any = made.rules
    rules |= {"fence": _fence, "code_block": _fence, "code_inline": _inline_code, "image": _image}
    return made


def _fence(tokens: Sequence[Token], number: int, *_: Any) -> str:
    words = tokens[number].info.split()
    return code(tokens[number].content, words[0] if words else "")


def _inline_code(tokens: Sequence[Token], number: int, *_: Any) -> str:
    return f'<code class="inline-code">{escape(tokens[number].content)}</code>'


def _image(tokens: Sequence[Token], number: int, *_: Any) -> str:
    """Render an image as a link to it, because the document must not load anything."""
    token = tokens[number]
    where = str(token.attrs.get("src", ""))
    name = f"[image: {token.content or where}]"
    return escape(name) if token.meta.get("in link") else link(where, name)


def _show_box(first: Token) -> None:
    """Replace the marker of a task list item with a checkbox."""
    box = CHECKBOXES.get(first.content[:4].lower()) if first.type == "text" else None
    if box is not None:
        first.content = f"{box} {first.content[4:]}"


def _disarm_links(tokens: Sequence[Token]) -> None:
    """Turn links with other schemes than `SAFE_SCHEMES` into plain text."""
    opened: list[bool] = []
    for token in tokens:
        if token.type == "link_open":
            where = str(token.attrs.get("href", ""))
            opened.append(is_safe_link(where))
            if opened[-1]:
                token.attrs = {"href": where, "rel": "noopener noreferrer nofollow", "class": "link"}
            else:
                token.tag, token.attrs = "span", {"title": where}
        elif token.type == "link_close" and opened and not opened.pop():
            token.tag = "span"
        elif token.type == "image":
            token.meta["in link"] = bool(opened)


def is_safe_link(where: str) -> bool:
    """Return True if the link has one of the `SAFE_SCHEMES`."""
    return where.lower().startswith(SAFE_SCHEMES)


def link(where: str, text: str) -> str:
    """Render a safe link; otherwise the text, with the target as its tooltip."""
    if not is_safe_link(where):
        return f'<span title="{escape(where)}">{escape(text)}</span>'
    return f'<a class="link" rel="noopener noreferrer nofollow" href="{escape(where)}">{escape(text)}</a>'


# --------------------------------------------------------------------------- code


def plain(text: str) -> str:
    """Render preformatted text."""
    return f'<pre class="code">{escape(text)}</pre>'


def code(text: str, language: str = "") -> str:
    """Render code in the colours of the theme, labelled with its language."""
    label = f'<span class="label">{escape(language)}</span>' if language else ""
    return f'{label}<pre class="code{_length_class(text)}">{_highlight(text.rstrip(chr(10)), language)}</pre>'


def _length_class(text: str) -> str:
    return " long" if text.count("\n") > 40 else ""


def _highlight(text: str, language: str) -> str:
    lexer = _lexer(language.lower())
    if (
        lexer is None
        or len(text) > MAX_COLOURED_CHARACTERS
        or any(len(line) > MAX_LINE_LENGTH for line in text.split("\n"))
    ):
        return escape(text)
    pieces: list[str] = []
    for sort, piece in lexer.get_tokens(text):
        name = _name_of(sort)
        words = escape(piece, quote=False)
        pieces.append(f'<span class="s-{name}">{words}</span>' if name and not piece.isspace() else words)
    return "".join(pieces)


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]

    try:
        # Keep newlines: some lexers do not recognise a last line without one. Browsers do not show it.
        return get_lexer_by_name(language, stripnl=False) if language else None
    except ClassNotFound:
        return None


@lru_cache(maxsize=512)
def _name_of(sort: TokenType) -> str:
    names = list(sort)
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
    return f'<pre class="diff{" long" if len(rows) > 40 else ""}"><code>{"".join(rows)}</code></pre>'


def terminal(lines: Iterable[Line], before: str, after: str) -> str:
    """Render the output of a command in its colours."""
    rows = ["".join(_span(text, look) for text, look in line) for line in lines]
    body = "".join(f"{row}\n" for row in rows)
    return f'<pre class="terminal{" long" if len(rows) > 40 else ""}">{before}\n{body}{after}</pre>'


def _span(text: str, look: Style) -> str:
    opening = _opening(look)
    words = escape(text, quote=False)
    return f"{opening}{words}</span>" if opening else words


@lru_cache(maxsize=4096)
def _opening(look: Style) -> str:
    classes: list[str] = []
    rules: list[str] = []
    front, back = (look.bg, look.fg) if look.reverse else (look.fg, look.bg)
    for colour, letter, name in ((front, "f", "color"), (back, "b", "background")):
        if isinstance(colour, int) and colour < 16:
            classes.append(f"{letter}{colour}")
        elif colour is not None:
            rules.append(f"{name}:#{_rgb(colour)}")
        elif look.reverse:  # swap the default colours of the page
            rules.append(f"{name}:var(--{'page' if letter == 'f' else 'ink'})")
    rules += [rule for name, rule in _STYLE_RULES.items() if getattr(look, name)]
    if look.underline or look.strike:
        lines = [word for word, on in (("underline", look.underline), ("line-through", look.strike)) if on]
        rules.append(f"text-decoration:{' '.join(lines)}")
    if not classes and not rules:
        return ""
    of_class = f' class="{" ".join(classes)}"' if classes else ""
    style = f' style="{";".join(rules)}"' if rules else ""
    return f"<span{of_class}{style}>"


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
