"""The glob patterns by which rules match paths."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from functools import lru_cache


@lru_cache(maxsize=2048)
def compile_glob(pattern: str, base: str, *, fold: bool = False) -> re.Pattern[str]:
    """Compile a pattern to match absolute paths.

    `*` matches within a folder, `**` across folders. A relative pattern starts at `base`. With `fold` the
    pattern matches paths normalised by `fold_case`.
    """
    text = pattern if pattern.startswith("/") else posixpath.join(escape(base), pattern)
    if fold:
        text = fold_case(text)
    return re.compile(_expression(text), re.DOTALL)


def _expression(text: str) -> str:
    below = text.endswith(("/**", "/"))
    text = re.sub(r"/(\*\*)?$", "", text) if below else text
    found: list[str] = []
    position = 0
    while position < len(text):
        if text.startswith("**/", position) and text[position - 1 : position] in ("/", ""):
            found.append("(?:.*/)?")
            position += 3
        elif text.startswith("**", position):
            found.append(".*")
            position += 2
        elif text[position] == "[" and (end := text.find("]", position + 2)) > 0:
            found.append(_character_class(text[position + 1 : end]))
            position = end + 1
        else:
            found.append({"*": "[^/]*", "?": "[^/]"}.get(text[position], re.escape(text[position])))
            position += 1
    return "".join(found) + ("(?:/.*)?" if below else "")


def _character_class(content: str) -> str:
    negated = content.startswith(("!", "^")) and len(content) > 1
    inner = re.sub(r"([\\\[\]^&~|])", r"\\\1", content[1:] if negated else content)
    expression = f"(?!/)[{'^' if negated else ''}{inner}]"
    try:
        re.compile(expression)
    except re.error:  # `[z-a]`: matches nothing
        return "(?!)"
    return expression


def escape(path: str) -> str:
    """Escape a path so that it can be used as a pattern that matches this path only."""
    return re.sub(r"([*?\[])", r"[\1]", path)


def unescape(pattern: str) -> str:
    """Return the path from which `escape` made this pattern."""
    return re.sub(r"\[([*?\[])\]", r"\1", pattern)


def fold_case(path: str) -> str:
    """Normalise a path, so that neither case nor the two possible encodings of `é` make a difference."""
    return unicodedata.normalize("NFC", path).casefold()
