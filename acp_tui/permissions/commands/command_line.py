"""The parts of a command line that was taken apart by `shell`."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command. Not literal: something in it is replaced when it runs."""

    text: str  # quotes removed, expansions as written
    literal: bool = True


@dataclass(frozen=True, slots=True)
class Redirection:
    """Input or output of a command led elsewhere."""

    operator: str
    target: Word


@dataclass(slots=True)
class Part:
    """One command that the line may run, without wrappers such as `sudo` and `env`."""

    words: tuple[Word, ...]
    redirections: tuple[Redirection, ...] = ()
    assignments: tuple[str, ...] = ()
    pipeline: int = 0  # parts of one pipeline share a number, and are in its order
    open_ended: bool = False  # more words follow that are not known
    inner: list[Part] = field(default_factory=list)  # run to make its words or its input: `$(…)`, `<(…)`
    input: list[str] = field(default_factory=list)  # texts it reads: here-documents and here-strings

    @property
    def name(self) -> str:
        """The program, without its directory; empty when there is none, or it cannot be known.

        In lower case: on some file systems `RM` is `rm`.
        """
        if not self.words or not self.words[0].literal:
            return ""
        return self.words[0].text.rstrip("/").rpartition("/")[2].lower()

    @property
    def arguments(self) -> tuple[str, ...]:
        """The words after the program, as written."""
        return tuple(word.text for word in self.words[1:])


@dataclass(slots=True)
class CommandLine:
    """All that was found in a command line."""

    parts: list[Part] = field(default_factory=list)
    problem: str | None = None  # why something may be hidden, in words
