"""A parsed command line: the commands in it, with their words and redirections."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field

MAX_COMMAND_LENGTH = 64 * 1024
"""The maximum number of characters of a command to analyse. Longer ones are never allowed automatically."""
_ESCAPE = re.compile(
    r"\\(?:x(?:\{(?P<braced>[0-9a-fA-F]*)\}?|(?P<x>[0-9a-fA-F]{1,2}))|u(?P<u>[0-9a-fA-F]{1,4})"
    r"|U(?P<U>[0-9a-fA-F]{1,8})|(?P<octal>[0-7]{1,3})|(?P<nul>c@)|(?P<sign>.))",
    re.DOTALL,
)
_ESCAPED = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "v": "\v",
}


@dataclass(frozen=True, slots=True)
class Word:
    text: str  # quotes removed, expansions as written
    literal: bool = True  # False if the shell replaces something in it


@dataclass(frozen=True, slots=True)
class Redirection:
    """A redirection of a command's input or output."""

    operator: str
    target: Word


@dataclass(slots=True)
class CommandPart:
    """One command that a command line can run.

    What a wrapper such as `sudo` or `env` runs is a separate part.
    """

    words: tuple[Word, ...]
    redirections: tuple[Redirection, ...] = ()
    assignments: tuple[str, ...] = ()
    pipeline: int = 0  # the same number for all parts of a pipeline; earlier parts are listed first
    open_ended: bool = False  # unknown words follow, as with `xargs`
    inner: list[CommandPart] = field(default_factory=list)  # from `$(…)`, `<(…)` and the like in its words
    input: list[str] = field(default_factory=list)  # here-documents and here-strings

    @property
    def name(self) -> str:
        """The program's name in lower case, without the directory; empty if there is no literal name.

        The name is in lower case because `RM` runs `rm` on file systems that ignore case. A leading `=` is
        removed because `=rm` runs `rm` in zsh.
        """
        if not self.words or not self.words[0].literal:
            return ""
        return self.words[0].text.rstrip("/").rpartition("/")[2].removeprefix("=").lower()

    @property
    def arguments(self) -> tuple[str, ...]:
        """The words after the program, without quotes. Expansions such as `$HOME` are not replaced."""
        return tuple(word.text for word in self.words[1:])


@dataclass(slots=True)
class CommandLine:
    """The commands found in a command line, and whether some may be missing."""

    parts: list[CommandPart] = field(default_factory=list)
    problem: str | None = None  # why commands may have been missed, as a clause: "it …"
    too_long: bool = False  # only its beginning was parsed


def find_end(text: str, start: int, quote: str) -> int:
    """Return the position of the first unescaped `quote` from `start` on; -1 if there is none."""
    found = re.compile(rf"(?:[^\\{quote}]++|\\.)*+{quote}", re.DOTALL).match(text, start)
    return found.end() - 1 if found else -1


def replace_escapes(text: str) -> str:
    """Replace backslash escapes in text as shells do in `$'…'` and in the format of `printf`.

    The result can contain NUL, which ends the text in `$'…'`.
    """
    return _ESCAPE.sub(_replacement, text)


def unescape_backticks(text: str, *, quoted: bool) -> str:
    """Remove the backslashes that escape characters of a command between backticks.

    `quoted` means that the backticks themselves are in double quotes.
    """
    return re.sub(r"\\([$`\\\"])" if quoted else r"\\([$`\\])", r"\1", text)


def _replacement(escape: re.Match[str]) -> str:
    if escape["sign"]:  # bash keeps the backslash of an unknown escape, zsh removes it
        return _ESCAPED.get(escape["sign"], escape["sign"])
    if escape["nul"]:
        return "\0"
    if escape["octal"]:
        return chr(int(escape["octal"], 8) & 0xFF)
    if escape["braced"] is not None:
        return chr(int(escape["braced"] or "0", 16) & 0xFF)
    code = int(escape["x"] or escape["u"] or escape["U"], 16)
    return chr(code) if code <= sys.maxunicode else ""
