"""Syntax highlighting: Pygments splits code into tokens, and a palette has the styles of the tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.pygments_names import TOKEN_NAMES
from acp_tui.ui.theme.palette import NO_STYLE, Spans

if TYPE_CHECKING:
    from pygments.lexer import Lexer  # type: ignore[import-untyped]
    from pygments.token import _TokenType as TokenType  # type: ignore[import-untyped]
    from rich.style import Style


MAX_LINE_CHARS = 4000
"""The maximum length of a line. If a part of the code has a longer line, the part is not highlighted.

Such lines are rarely written by people, and may slow down a lexer.
"""


class Highlighter:
    """Highlights code part by part. The lexer continues in the state in which the previous part ended."""

    def __init__(self, language: str, styles: Mapping[str, Style]) -> None:
        """`styles` is the `syntax` of a palette."""
        self._lexer = lexer_of(language)
        self._styles = styles
        self._stack: list[str] | None = None

    def lines(self, code: str) -> list[Spans]:
        """Highlight the next part of the code. Return that part's lines, in styles without backgrounds."""
        plain = code.removesuffix("\n").split("\n")
        if self._lexer is None or any(len(line) > MAX_LINE_CHARS for line in plain):
            return [[Segment(line, NO_STYLE)] for line in plain]
        complete = code if code.endswith("\n") else f"{code}\n"  # many lexers need the last line end
        highlighted = self._highlight(complete)[: len(plain)]
        if ["".join(span.text for span in line) for line in highlighted] != plain:
            return [[Segment(line, NO_STYLE)] for line in plain]  # the lexer lost characters
        return highlighted

    def _highlight(self, code: str) -> list[Spans]:
        lines: list[Spans] = [[]]
        for token_type, text in self._tokens(code):
            style = self._styles.get(_style_name(token_type), NO_STYLE)
            for number, piece in enumerate(text.split("\n") if "\n" in text else (text,)):
                if number:
                    lines.append([])
                line = lines[-1]
                if piece and line and line[-1].style is style:
                    line[-1] = Segment(line[-1].text + piece, style)
                elif piece:
                    line.append(Segment(piece, style))
        return lines

    def _tokens(self, code: str) -> Iterator[tuple[TokenType, str]]:
        from pygments.lexer import ExtendedRegexLexer, LexerContext, RegexLexer

        lexer = self._lexer
        assert lexer is not None
        if type(lexer).get_tokens_unprocessed is not RegexLexer.get_tokens_unprocessed:
            return ((token_type, text) for _, token_type, text in lexer.get_tokens_unprocessed(code))
        # RegexLexer does not tell in which state it ended. ExtendedRegexLexer does, and works with the same
        # tables, except for a few whose callbacks need a RegexLexer.
        context = LexerContext(code, 0, stack=list(self._stack or ["root"]))
        try:
            found = list(ExtendedRegexLexer.get_tokens_unprocessed(lexer, context=context))
        except (TypeError, AttributeError):
            return ((token_type, text) for _, token_type, text in lexer.get_tokens_unprocessed(code))
        self._stack = context.stack
        return ((token_type, text) for _, token_type, text in found)


def highlight(code: str, language: str, styles: Mapping[str, Style]) -> list[Spans]:
    """Return the lines of `code`, in the given styles: the `syntax` of a palette."""
    return Highlighter(language, styles).lines(code)


@lru_cache(maxsize=256)
def language_of(path: str) -> str:
    """Return the language of a file according to the file's name; "" if the language is unknown.

    Pygments' own function is not used: it first compiles a thousand patterns, which takes noticeable time.
    """
    name = path.rpartition("/")[2]
    exact, globs = _file_patterns()
    ends = (name[at:] for at, letter in enumerate(name) if letter == ".")
    found = next((exact[key] for key in (name, *(f"*{end}" for end in ends)) if key in exact), None)
    found = found or [language for pattern, language in globs if fnmatchcase(name, pattern)]
    return found[0] if len(found) == 1 else _highest_priority(found)


@lru_cache(maxsize=1)
def _file_patterns() -> tuple[dict[str, list[str]], list[tuple[str, str]]]:
    """Return the file name patterns of all built-in Pygments languages that have an alias.

    The dictionary maps file names and patterns such as `*.py` to languages. The list has all other patterns,
    each with its language.
    """
    from pygments.lexers import get_all_lexers  # type: ignore[import-untyped]

    exact: dict[str, list[str]] = {}
    globs: list[tuple[str, str]] = []
    for _, aliases, patterns, _ in get_all_lexers(plugins=False):
        for pattern in patterns if aliases else ():
            if any(sign in pattern.removeprefix("*.") for sign in "*?["):
                globs.append((pattern, aliases[0]))
            else:
                exact.setdefault(pattern, []).append(aliases[0])
    return exact, globs


def _highest_priority(languages: Iterable[str]) -> str:
    """Return the language that Pygments prefers among several; "" if there are none."""
    from pygments.lexers import find_lexer_class_by_name

    return max(languages, key=lambda name: (find_lexer_class_by_name(name).priority, name), default="")


@lru_cache(maxsize=64)
def lexer_of(language: str) -> Lexer | None:
    """Return Pygments' lexer for a language; None if the language is unknown.

    `language` is any of the aliases that Pygments has for the language, in lower or upper case.
    """
    if not language:
        return None
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]

    try:
        return get_lexer_by_name(language.lower(), stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


@lru_cache(maxsize=512)
def _style_name(token_type: TokenType) -> str:
    parts: Iterable[str] = token_type
    names = list(parts)
    while names:
        name = TOKEN_NAMES.get(".".join(names))
        if name is not None:
            return name
        names.pop()
    return ""
