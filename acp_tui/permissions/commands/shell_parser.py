"""Taking a command line apart, to find every command that it may run.

This reading is generous where `plain` is strict: a *reject* rule and the list of dangerous commands
have to see `git push` in `cd x && sudo env A=1 sh -c "git push"`. Finding a command too many is
harmless; where something may hide that cannot be seen, `CommandLine.problem` says so, and a person is asked.
"""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from functools import lru_cache

from acp_tui.permissions.commands.command_line import CommandLine, Part, Redirection, Word
from acp_tui.permissions.commands.wrappers import UnclearError, unwrap

_LONGEST = 64 * 1024
_DEEPEST = 12
_MOST = 400  # commands
_MOST_WORDS = 1000  # of one command that may run others
_OPERATOR = re.compile(r"&&|\|\||;;&|;;|;&|\|&|[;&|\n]")
_REDIRECTION = re.compile(r"(?:\d+|\{\w+\})?(?:<<<|<<-|<<|<>|<&|<|&>>|&>|>>|>\||>&|>)")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(\[[^\]]*\])?\+?=")
_PARAMETER = re.compile(r"\$(?:[A-Za-z_]\w*|[0-9@*#?$!-])")
_ESCAPE = re.compile(
    r"\\(?:x(?P<x>[0-9a-fA-F]{1,2})|u(?P<u>[0-9a-fA-F]{1,4})|U(?P<U>[0-9a-fA-F]{1,8})|(?P<octal>[0-7]{1,3})"
    r"|(?P<sign>.))",
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
_SKIPPED = frozenset({"if", "then", "elif", "else", "fi", "while", "until", "do", "done", "{", "}", "!"})
_NAMING = frozenset({"for", "select"})
_CLOSED = frozenset({"case", "esac", "function", "coproc"})


class _CannotReadError(Exception):
    """The line is beyond this reading; what was found so far stands."""


@lru_cache(maxsize=256)
def parse_command_line(command: str) -> CommandLine:
    """Every command in a line for the shell. Treat the result as read-only: it is shared."""
    line = CommandLine()
    _Reader(command, line, depth=0).read_all()
    return line


def parse_argv(argv: tuple[str, ...]) -> CommandLine:
    """The same for a program started without a shell."""
    line = CommandLine()
    part = Part(tuple(Word(text) for text in argv))
    _Reader("", line, depth=0).settle(part)
    return line


class _Reader:
    """Reads one text from left to right; adds what it finds to the line."""

    def __init__(
        self, text: str, line: CommandLine, *, depth: int, pipelines: list[int] | None = None
    ) -> None:
        self.text = text
        self.line = line
        self.depth = depth
        self.at = 0
        self.pipelines = pipelines if pipelines is not None else [0]  # the last number given away
        self.here_documents: list[tuple[str, bool, Part]] = []

    def read_all(self) -> None:
        """Read everything; what stops the reading becomes the problem."""
        try:
            self.check_size()
            self.commands()
        except _CannotReadError as reason:
            self.problem(str(reason))
        else:
            if self.at < len(self.text):
                self.problem("its brackets do not match")

    def check_size(self) -> None:
        """Nobody writes such lines by hand, and reading them must not take long."""
        if len(self.text) > _LONGEST:
            raise _CannotReadError("it is too long")
        if self.depth > _DEEPEST:
            raise _CannotReadError("it is nested too deeply")

    def problem(self, why: str) -> None:
        """Remember the first thing that could not be read."""
        self.line.problem = self.line.problem or why

    # ----------------------------------------------------------------- commands

    def commands(self) -> list[Part]:
        """Commands up to a `)` that was not opened here, or the end."""
        found: list[Part] = []
        pipeline = self._new_pipeline()
        while True:
            part = self.command(pipeline)
            if part is not None:
                found.append(part)
            operator = _OPERATOR.match(self.text, self.at)
            if operator is None:
                return found
            self.at = operator.end()
            if operator[0] not in {"|", "|&"}:
                pipeline = self._new_pipeline()
            if operator[0] == "\n":
                self.skip_here_documents()

    def _new_pipeline(self) -> int:
        self.pipelines[0] += 1
        return self.pipelines[0]

    def command(self, pipeline: int) -> Part | None:
        """One command up to an operator, with the commands inside its words."""
        part = Part((), pipeline=pipeline)
        words: list[Word] = []
        redirections: list[Redirection] = []
        assignments: list[str] = []
        while self.skip_blanks():
            character = self.text[self.at]
            if character == "(" and not words and not assignments:
                part.inner += self.group()
            elif character == "(":
                raise _CannotReadError("it defines a function or a list")
            elif self.text.startswith(("<(", ">("), self.at):
                words.append(self.word(part))
            elif redirection := _REDIRECTION.match(self.text, self.at):
                self.at = redirection.end()
                redirections.append(self.redirection(redirection[0], part))
            else:
                assigning = not words and _ASSIGNMENT.match(self.text, self.at) is not None
                word = self.word(part)
                if assigning:
                    assignments.append(word.text)
                elif words or word.text not in _SKIPPED or not word.literal:
                    words.append(word)
        part.words, part.redirections, part.assignments = (
            tuple(words),
            tuple(redirections),
            tuple(assignments),
        )
        if not (words or redirections or assignments or part.inner):
            return None
        self.settle(part)
        return part

    def settle(self, part: Part, layer: int = 0) -> None:
        """Look through what wraps the command, and add it to what was found."""
        if self.lost(layer):
            return
        first = part.words[0] if part.words else None
        if first is not None and first.text in _NAMING:
            # `for x in …` names no command; it gives a variable each of the values.
            part.assignments += tuple(f"{part.words[1].text}={word.text}" for word in part.words[3:])
            part.words = ()
        elif first is not None and first.literal and first.text in _CLOSED:
            self.problem(f"it contains `{first.text}`")
        elif first is not None and not first.literal:
            self.problem("the name of a command is only made when it runs")
        self.line.parts.append(part)
        if part.words:
            self.look_inside(part, layer)

    def lost(self, layer: int) -> bool:
        """Is this more than anybody means to write?"""
        if layer > _DEEPEST or len(self.line.parts) >= _MOST:
            self.problem("it is nested too deeply")
            return True
        return False

    def look_inside(self, part: Part, layer: int) -> None:
        """What `sudo`, `env`, `sh -c`, `eval`, `find -exec` and the like would run."""
        if len(part.words) > _MOST_WORDS:
            self.problem("it is too long")
            return
        try:
            found = unwrap(tuple((word.text, word.literal) for word in part.words))
        except UnclearError as reason:
            self.problem(str(reason))
            return
        for wrapped in found:
            if self.lost(layer):
                return
            if wrapped.script is not None:
                part.inner += self.script(wrapped.script)
            elif words := part.words[wrapped.start : wrapped.stop]:
                open_ended = part.open_ended or wrapped.open_ended
                self.settle(replace(part, words=words, open_ended=open_ended), layer + 1)

    def script(self, text: str) -> list[Part]:
        """The commands of a text that is read by a shell of its own."""
        before = len(self.line.parts)
        _Reader(text, self.line, depth=self.depth + 1, pipelines=self.pipelines).read_all()
        return self.line.parts[before:]

    def group(self) -> list[Part]:
        """`( … )`: its commands."""
        self.at += 1
        return self.nested_until_bracket()

    def nested_until_bracket(self) -> list[Part]:
        """Commands up to the `)` that closes what has just been opened."""
        self.depth += 1
        self.check_size()
        documents, self.here_documents = self.here_documents, []
        found = self.commands()
        self.here_documents = documents
        self.depth -= 1
        if self.text[self.at : self.at + 1] != ")":
            raise _CannotReadError("a bracket is not closed")
        self.at += 1
        return found

    # ----------------------------------------------------------------- redirections

    def redirection(self, operator: str, part: Part) -> Redirection:
        """What follows `<`, `>` and their kin."""
        if not self.skip_blanks():
            raise _CannotReadError("a redirection leads nowhere")
        start = self.at
        target = self.word(part)
        if operator.endswith("<<<"):
            part.input.append(target.text)
        elif operator.endswith(("<<", "<<-")):
            quoted = any(sign in self.text[start : self.at] for sign in "'\"\\")
            self.here_documents.append((target.text, not quoted, part))
        return Redirection(operator.lstrip("0123456789"), target)

    def skip_here_documents(self) -> None:
        """The lines of the here-documents that begin here hold no commands, unless they are expanded."""
        for delimiter, expanded, reader in self.here_documents:
            body: list[str] = []
            while True:
                if self.at >= len(self.text):
                    raise _CannotReadError("a here-document is not closed")
                end = self.text.find("\n", self.at)
                end = len(self.text) if end < 0 else end
                row = self.text[self.at : end]
                self.at = min(end + 1, len(self.text))
                if row.lstrip("\t") == delimiter:
                    break
                body.append(row)
            reader.input.append("\n".join(body))
            if expanded and any("$" in row or "`" in row for row in body):
                self.problem("a here-document contains expansions")
        self.here_documents = []

    # ----------------------------------------------------------------- words

    def skip_blanks(self) -> bool:
        """Go to the next word of this command; False at its end."""
        while self.at < len(self.text):
            if self.text[self.at] in " \t":
                self.at += 1
            elif self.text.startswith("\\\n", self.at):
                self.at += 2
            elif self.text[self.at] == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            elif self.text.startswith("&>", self.at):
                return True
            else:
                return self.text[self.at] != ")" and _OPERATOR.match(self.text, self.at) is None
        return False

    def word(self, part: Part) -> Word:
        """One word; commands inside it go to `part.inner`."""
        pieces: list[str] = []
        literal = True
        while self.at < len(self.text):
            character = self.text[self.at]
            if self.text.startswith(("<(", ">("), self.at) and not pieces:
                self.at += 2
                part.inner += self.nested_until_bracket()
                return Word("<(…)", literal=False)
            if character in " \t\n;&|<>()":
                break
            piece, fixed = self.piece(character, part)
            pieces.append(piece)
            literal = literal and fixed
        text = "".join(pieces)
        return Word(text, literal or text in {"[", "[["})

    def piece(self, character: str, part: Part) -> tuple[str, bool]:
        """The next piece of a word: its text, and whether it stays as it is."""
        if character == "\\":
            taken = self.text[self.at + 1 : self.at + 2]
            self.at += 2
            return ("" if taken == "\n" else taken), True
        if character == "'":
            return self.until_quote(self.at + 1), True
        if character == '"':
            return self.double_quoted(part)
        if character in "$`":
            return self.expansion(part)
        self.at += 1
        if character == "{":  # alone, or `{}`, it stays; `{a,b}` is replaced
            return character, self.text[self.at : self.at + 1] in {"", " ", "\t", "\n", "}"}
        return character, character not in "*?["

    def until_quote(self, start: int) -> str:
        """Text in single quotes."""
        end = self.text.find("'", start)
        if end < 0:
            raise _CannotReadError("a quote is not closed")
        self.at = end + 1
        return self.text[start:end]

    def double_quoted(self, part: Part) -> tuple[str, bool]:
        """Text in double quotes, with what is expanded in it."""
        pieces: list[str] = []
        literal = True
        self.at += 1
        while self.at < len(self.text):
            character = self.text[self.at]
            if character == '"':
                self.at += 1
                return "".join(pieces), literal
            if character == "\\":
                taken = self.text[self.at + 1 : self.at + 2]
                pieces.append("" if taken == "\n" else taken if taken in '$`"\\' else character + taken)
                self.at += 2
            elif character in "$`":
                piece, fixed = self.expansion(part, quoted=True)
                pieces.append(piece)
                literal = literal and fixed
            else:
                pieces.append(character)
                self.at += 1
        raise _CannotReadError("a quote is not closed")

    def expansion(self, part: Part, *, quoted: bool = False) -> tuple[str, bool]:
        """`$…` or a backtick, in double quotes or not: its text as written, and whether it is mere text."""
        start = self.at
        if self.text[start] == "`":
            self.backticks(part, quoted=quoted)
        elif self.text.startswith("$(", start):
            self.at += 2
            part.inner += self.nested_until_bracket()
        elif self.text.startswith("${", start):
            self.parameter(part, quoted=quoted)
        elif self.text.startswith("$'", start) and not quoted:
            return self.ansi_quoted(), True
        elif name := _PARAMETER.match(self.text, start):
            self.at = name.end()
        else:
            self.at += 1
            return ("", False) if self.text.startswith('"', self.at) else ("$", True)
        return self.text[start : self.at], False

    def backticks(self, part: Part, *, quoted: bool) -> None:
        """The commands of an old-style substitution."""
        end = self.at + 1
        while end < len(self.text) and self.text[end] != "`":
            end += 2 if self.text[end] == "\\" else 1
        if end >= len(self.text):
            raise _CannotReadError("a quote is not closed")
        escaped = r"\\([$`\\\"])" if quoted else r"\\([$`\\])"
        part.inner += self.script(re.sub(escaped, r"\1", self.text[self.at + 1 : end]))
        self.at = end + 1

    def parameter(self, part: Part, *, quoted: bool) -> None:
        """`${…}`; its default value may hold anything. When quoted, shells disagree about quotes in it."""
        self.at += 2
        self.depth += 1
        self.check_size()
        while self.at < len(self.text):
            character = self.text[self.at]
            if character == "}":
                self.at += 1
                self.depth -= 1
                return
            if quoted and character in "'\"":
                raise _CannotReadError("its quotes can be read in two ways")
            if character in " \t\n;&|<>()":
                self.at += 1
            else:
                self.piece(character, part)
        raise _CannotReadError("a bracket is not closed")

    def ansi_quoted(self) -> str:
        """`$'…'`: its text, escapes such as `\\x2f` replaced."""
        end = self.at + 2
        while end < len(self.text) and self.text[end] != "'":
            end += 2 if self.text[end] == "\\" else 1
        if end >= len(self.text):
            raise _CannotReadError("a quote is not closed")
        written = self.text[self.at + 2 : end]
        self.at = end + 1
        return replace_escapes(written)


def replace_escapes(text: str) -> str:
    """The text with the escapes of `$'…'` and `printf` replaced."""
    return _ESCAPE.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    if found["sign"]:
        return _ESCAPED.get(found["sign"], found["sign"])
    number = found["x"] or found["u"] or found["U"]
    code = int(number, 16) if number else int(found["octal"], 8)
    return chr(code) if 0 < code <= sys.maxunicode else ""
