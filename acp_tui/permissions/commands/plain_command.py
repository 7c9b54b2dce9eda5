"""Plain commands: those that every shell reads in the same way.

An allow rule that contains words of a command matches plain commands only.

Plain syntax is an allow-list. Anything else, such as an operator, an expansion, a glob, a backslash or an
unusual space, makes the command *not plain*.
"""

from __future__ import annotations

import re

from acp_tui.permissions.commands.command_line import MAX_COMMAND_LENGTH

_PIECE = re.compile(r"""(?P<bare>[\w@%+=:,./-]+)|'(?P<single>[^']*)'|"(?P<double>[^"$`\\!]*)\"""")
_BLANKS = re.compile(r"[ \t]+")

_NAMES = {
    ";": "it joins commands with `;`",
    "&": "it joins commands with `&`",
    "|": "it joins commands with `|`",
    "<": "it redirects",
    ">": "it redirects",
    "$": "it contains an expansion (`$`)",
    "`": "it contains a command substitution (`` ` ``)",
    "(": "it contains a subshell",
    ")": "it contains a subshell",
    "\n": "it has several lines",
    "\r": "it has several lines",
    "\\": "it contains a backslash",
    "#": "it contains a comment sign",
    "!": "it contains `!`",
    "~": "it contains `~`, which the shell replaces",
    "'": "a quote is not closed",
    '"': "a quote is not closed, or contains an expansion",
}


class NotPlainError(ValueError):
    """Raised if a command is not plain. The message says why, as a clause."""


def plain_words(command: str) -> tuple[str, ...]:
    """Split a plain command into words and remove quotes. Raises `NotPlainError` for other commands."""
    text = command.strip(" \t\n")
    if len(text) > MAX_COMMAND_LENGTH:
        raise NotPlainError(f"it is longer than {MAX_COMMAND_LENGTH:,} characters")
    words: list[str] = []
    position = 0
    while position < len(text):
        word, position = read_word(text, position)
        words.append(word)
        blanks = _BLANKS.match(text, position)
        position = blanks.end() if blanks else position
    if not words:
        raise NotPlainError("it is empty")
    if "=" in words[0]:
        raise NotPlainError("it begins with a variable assignment")
    return tuple(words)


def is_plain_argv(argv: tuple[str, ...]) -> bool:
    """Return True if these words stay the same when they are joined with spaces and read by a shell.

    An agent that reports `["git", "commit", "-m", "a; b"]` can run the command with or without a shell. The
    words are plain only if the effect is the same in both cases.
    """
    try:
        return plain_words(" ".join(argv)) == argv
    except NotPlainError:
        return False


def read_word(text: str, start: int, ends: str = " \t") -> tuple[str, int]:
    """Return the word that begins at `start`, and the position after the word.

    The word ends before the first unquoted character in `ends`, or at the end of the text. Raises
    `NotPlainError`.
    """
    value: list[str] = []
    position = start
    while position < len(text) and text[position] not in ends:
        piece = _PIECE.match(text, position)
        if piece is None:
            raise NotPlainError(describe_sign(text[position]))
        value.append(_value(piece, first=position == start))
        position = piece.end()
    return "".join(value), position


def _value(piece: re.Match[str], *, first: bool) -> str:
    bare = piece["bare"]
    if bare is not None:
        if first and bare.startswith("="):
            raise NotPlainError("it contains a word that zsh replaces because it begins with `=`")
        return bare
    quoted: str = piece["single"] if piece["single"] is not None else piece["double"]
    if not quoted.isprintable():
        raise NotPlainError(_NAMES["\n"] if "\n" in quoted else "it contains an invisible character")
    return quoted


def describe_sign(character: str) -> str:
    """Return a clause that says why a command with this character is not plain, such as "it redirects"."""
    if character in _NAMES:
        return _NAMES[character]
    if character in "*?[]{}^":
        return f"it contains `{character}`, which the shell may replace"
    return "it contains a character that shells may read in different ways"
