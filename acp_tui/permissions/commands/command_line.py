"""A parsed command line: the commands in it, with their words and redirections."""

from __future__ import annotations

from dataclasses import dataclass, field

MAX_COMMAND_LENGTH = 64 * 1024
"""The maximum number of characters of a command to analyse. Longer ones are never allowed automatically."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command."""

    text: str  # quotes removed, expansions as written
    literal: bool = True  # False if the shell replaces something in it


@dataclass(frozen=True, slots=True)
class Redirection:
    """A redirection of a command's input or output."""

    operator: str
    target: Word


@dataclass(slots=True)
class Part:
    """One command that a command line can run.

    What a wrapper such as `sudo` or `env` runs is a separate part.
    """

    words: tuple[Word, ...]
    redirections: tuple[Redirection, ...] = ()
    assignments: tuple[str, ...] = ()
    pipeline: int = 0  # the same number for all parts of a pipeline; earlier parts are listed first
    open_ended: bool = False  # unknown words follow, as with `xargs`
    inner: list[Part] = field(default_factory=list)  # from `$(…)`, `<(…)` and the like in its words
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

    parts: list[Part] = field(default_factory=list)
    problem: str | None = None  # why commands may have been missed, as a clause: "it …"
    too_long: bool = False  # only its beginning was parsed
