"""Finds the commands in a command line, and those that known wrappers such as `sudo` and `sh -c` run.

The parser is generous where `plain_command` is strict: *reject* rules and the checks for dangerous commands
have to see `git push` in `cd x && sudo env A=1 sh -c "git push"`. Finding too many commands is harmless. If
such commands may have been missed, `CommandLine.problem` says why.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace

from acp_tui.permissions.commands.command_line import (
    MAX_COMMAND_LENGTH,
    CommandLine,
    CommandPart,
    Redirection,
    Word,
    find_end,
    replace_escapes,
    unescape_backticks,
)
from acp_tui.permissions.commands.wrappers import UnclearError, unwrap

MAX_DEPTH = 12
MAX_PARTS = 400
MAX_WRAPPER_WORDS = 1000
"""A command with more words is not searched for commands that it wraps."""
TOO_LONG = "it is too long"

_OPERATOR = re.compile(r"&&|\|\||;;&|;;|;&|\|&|[;&|\n]")
_REDIRECTION = re.compile(r"(?:\d++|\{\w++\})?+(?:<<<|<<-|<<|<>|<&|<|&>>|&>|>>|>\||>&|>)")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*+(?:\[[^\]]{0,200}\])?\+?=")
_PARAMETER = re.compile(r"\$(?:[A-Za-z_]\w*|[0-9@*#?$!-])")
_PLAIN_TEXT = re.compile(r"[^ \t\n;&|<>()\\'\"$`{}*?\[]+")
_PLAIN_TEXT_IN_QUOTES = re.compile(r"[^\"\\$`]+")
_KEYWORDS = frozenset({"if", "then", "elif", "else", "fi", "while", "until", "do", "done", "{", "}", "!"})
_LOOPS_OVER_WORDS = frozenset({"for", "select"})
_UNSUPPORTED = frozenset({"case", "esac", "function", "coproc"})


class _CannotParseError(Exception):
    """Raised if parsing cannot continue. The message says why. The commands found so far are kept."""


def parse_command_line(command: str) -> CommandLine:
    """Find the commands in a command line that is written for a shell."""
    line = CommandLine()
    text = command[:MAX_COMMAND_LENGTH]
    if len(text) < len(command):
        line.problem, line.too_long = TOO_LONG, True
    _Parser(text, line, depth=0).parse()
    return line


def parse_argv(argv: tuple[str, ...]) -> CommandLine:
    """Find the commands in an argument list that is run without a shell: the program, and what it wraps."""
    line = CommandLine()
    words: list[Word] = []
    room = MAX_COMMAND_LENGTH
    for text in argv:
        words.append(Word(text[:room]))
        room -= len(text) + 1
        if room < 0:
            line.problem, line.too_long = TOO_LONG, True
            break
    with suppress(_CannotParseError):
        _Parser("", line, depth=0).add_command(CommandPart(tuple(words), open_ended=line.too_long))
    return line


class _Parser:
    """Parses a command line or script from left to right, and adds the found commands to `line`."""

    def __init__(
        self, text: str, line: CommandLine, *, depth: int, pipelines: list[int] | None = None
    ) -> None:
        self.text = text
        self.line = line
        self.depth = depth
        self.at = 0
        self.pipelines = pipelines if pipelines is not None else [0]  # last number; nested parsers share it
        self.here_documents: list[
            tuple[str, bool, CommandPart]
        ] = []  # delimiter, whether text is expanded, reader

    def parse(self) -> None:
        """Parse the text. If that is not possible, report the reason (see `report`)."""
        try:
            self.check_depth()
            self.commands()
        except _CannotParseError as reason:
            self.report(str(reason))
        else:
            if self.at < len(self.text):
                self.report("its brackets do not match")

    def check_depth(self) -> None:
        """Raise `_CannotParseError` if commands are nested too deeply."""
        if self.depth > MAX_DEPTH:
            raise _CannotParseError("it is nested too deeply")

    def report(self, problem: str) -> None:
        """Store a problem in `line.problem`, unless there is one already."""
        self.line.problem = self.line.problem or problem

    # ----------------------------------------------------------------- commands

    def commands(self) -> list[CommandPart]:
        """Parse and return commands up to an unmatched `)`, or up to the end of the text."""
        found: list[CommandPart] = []
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

    def command(self, pipeline: int) -> CommandPart | None:
        """Parse one command up to the next operator, and the commands inside its words.

        Return None if the command is empty.
        """
        part = CommandPart((), pipeline=pipeline)
        words: list[Word] = []
        redirections: list[Redirection] = []
        assignments: list[str] = []
        while self.skip_blanks():
            character = self.text[self.at]
            if character == "(" and not words and not assignments:
                self.at += 1
                part.inner += self.nested_commands()
            elif character == "(":
                raise _CannotParseError("it defines a function or an array")
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
                elif words or word.text not in _KEYWORDS or not word.literal:
                    words.append(word)
        part.words, part.redirections, part.assignments = (
            tuple(words),
            tuple(redirections),
            tuple(assignments),
        )
        if not (words or redirections or assignments or part.inner):
            return None
        self.add_command(part)
        return part

    def add_command(self, part: CommandPart, layer: int = 0) -> None:
        """Add a command, and the commands that it wraps, to `line`.

        `layer` is the number of wrappers around the command.
        """
        if layer > MAX_DEPTH:
            self.report("it is nested too deeply")
            return
        if len(self.line.parts) >= MAX_PARTS:
            self.line.too_long = True
            self.report(TOO_LONG)
            raise _CannotParseError(TOO_LONG)
        first = part.words[0] if part.words else None
        if first is not None and first.text in _LOOPS_OVER_WORDS:
            # `for x in …` runs no command, but assigns each value to a variable.
            part.assignments += tuple(f"{part.words[1].text}={word.text}" for word in part.words[3:])
            part.words = ()
        elif first is not None and first.literal and first.text in _UNSUPPORTED:
            self.report(f"it contains `{first.text}`")
        elif first is not None and not first.literal:
            self.report("the name of a command is not known in advance")
        elif first is not None and first.text != first.text.strip():
            self.report("the name of a command contains a blank that shells read in different ways")
        elif first is not None and first.text == "[[" and part.words[-1].text != "]]":
            self.report("a command follows `]]`")  # as in zsh: `if [[ -f x ]] git push`
        self.line.parts.append(part)
        if part.words:
            self.add_wrapped(part, layer)

    def add_wrapped(self, part: CommandPart, layer: int) -> None:
        """If `part` is `sudo`, `env`, `sh -c`, `find -exec` or the like, add the commands that it wraps."""
        if len(part.words) > MAX_WRAPPER_WORDS:
            self.report(TOO_LONG)
            return
        try:
            found = unwrap(tuple((word.text, word.literal) for word in part.words))
        except UnclearError as reason:
            self.report(str(reason))
            return
        for wrapped in found:
            if wrapped.script is not None:
                part.inner += self.script(wrapped.script)
            elif words := part.words[wrapped.start : wrapped.stop]:
                open_ended = part.open_ended or wrapped.open_ended
                self.add_command(replace(part, words=words, open_ended=open_ended), layer + 1)

    def script(self, text: str) -> list[CommandPart]:
        """Parse a script that runs in a separate shell, and return its commands."""
        before = len(self.line.parts)
        _Parser(text, self.line, depth=self.depth + 1, pipelines=self.pipelines).parse()
        return self.line.parts[before:]

    def nested_commands(self) -> list[CommandPart]:
        """Parse and return commands up to the closing `)`, and move past it."""
        self.depth += 1
        self.check_depth()
        documents, self.here_documents = self.here_documents, []
        found = self.commands()
        self.here_documents = documents
        self.depth -= 1
        if self.text[self.at : self.at + 1] != ")":
            raise _CannotParseError("a bracket is not closed")
        self.at += 1
        return found

    # ----------------------------------------------------------------- redirections

    def redirection(self, operator: str, part: CommandPart) -> Redirection:
        """Parse the target of a redirection."""
        if not self.skip_blanks():
            raise _CannotParseError("a redirection has no target")
        start = self.at
        target = self.word(part)
        if operator.endswith("<<<"):
            part.input.append(target.text)
        elif operator.endswith(("<<", "<<-")):
            quoted = any(sign in self.text[start : self.at] for sign in "'\"\\")
            self.here_documents.append((target.text, not quoted, part))
        return Redirection(operator.lstrip("0123456789"), target)

    def skip_here_documents(self) -> None:
        """Move past the here-documents that begin here, and store each as input of its command.

        A here-document with expansions can contain commands, so it is reported as a problem.
        """
        for delimiter, expanded, reader in self.here_documents:
            body: list[str] = []
            while True:
                if self.at >= len(self.text):
                    raise _CannotParseError("a here-document is not closed")
                end = self.text.find("\n", self.at)
                end = len(self.text) if end < 0 else end
                row = self.text[self.at : end]
                self.at = min(end + 1, len(self.text))
                if row.lstrip("\t") == delimiter:
                    break
                body.append(row)
            reader.input.append("\n".join(body))
            if expanded and any("$" in row or "`" in row for row in body):
                self.report("a here-document contains expansions")
        self.here_documents = []

    # ----------------------------------------------------------------- words

    def skip_blanks(self) -> bool:
        """Move past blanks and comments. Return False if the command ends there."""
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

    def word(self, part: CommandPart) -> Word:
        """Parse one word, and add the commands inside it to `part.inner`."""
        if self.text.startswith(("<(", ">("), self.at):
            self.at += 2
            part.inner += self.nested_commands()
            return Word("<(…)", literal=False)
        pieces: list[str] = []
        literal = True
        while self.at < len(self.text):
            character = self.text[self.at]
            if character in " \t\n;&|<>()":
                break
            piece, fixed = self.piece(character, part)
            pieces.append(piece)
            literal = literal and fixed
        text = "".join(pieces)
        return Word(text, literal or text in {"[", "[["})

    def piece(self, character: str, part: CommandPart) -> tuple[str, bool]:
        """Parse the next piece of a word. The piece begins with `character`.

        Return the text of the piece, and whether the piece is literal.
        """
        if plain := _PLAIN_TEXT.match(self.text, self.at):
            self.at = plain.end()
            return plain[0], True
        if character == "\\":
            escaped = self.text[self.at + 1 : self.at + 2]
            self.at += 2
            return ("" if escaped == "\n" else escaped), True
        if character == "'":
            return self.quoted_text(self.text.find("'", self.at + 1)), True
        if character == '"':
            return self.double_quoted(part)
        if character in "$`":
            return self.expansion(part)
        self.at += 1
        if character == "{":  # alone or as `{}` it is literal; `{a,b}` is replaced
            return character, self.text[self.at : self.at + 1] in {"", " ", "\t", "\n", "}"}
        return character, character not in "*?["

    def quoted_text(self, end: int) -> str:
        """Return the text between the current quote and the quote at `end`, and move past both quotes."""
        if end < 0:
            raise _CannotParseError("a quote is not closed")
        text = self.text[self.at + 1 : end]
        self.at = end + 1
        return text

    def double_quoted(self, part: CommandPart) -> tuple[str, bool]:
        """Parse text in double quotes. Return the text, and whether it is literal."""
        pieces: list[str] = []
        literal = True
        self.at += 1
        while self.at < len(self.text):
            character = self.text[self.at]
            if plain := _PLAIN_TEXT_IN_QUOTES.match(self.text, self.at):
                pieces.append(plain[0])
                self.at = plain.end()
            elif character == '"':
                self.at += 1
                return "".join(pieces), literal
            elif character == "\\":
                escaped = self.text[self.at + 1 : self.at + 2]
                kept = escaped if escaped in '$`"\\' else character + escaped
                pieces.append("" if escaped == "\n" else kept)
                self.at += 2
            else:
                piece, fixed = self.expansion(part, quoted=True)
                pieces.append(piece)
                literal = literal and fixed
        raise _CannotParseError("a quote is not closed")

    def expansion(self, part: CommandPart, *, quoted: bool = False) -> tuple[str, bool]:
        """Parse `$…` or a command in backticks. Return the text, and whether the text is literal."""
        start = self.at
        if self.text[start] == "`":
            command = self.quoted_text(find_end(self.text, start + 1, "`"))
            part.inner += self.script(unescape_backticks(command, quoted=quoted))
        elif self.text.startswith("$(", start):
            self.at += 2
            part.inner += self.nested_commands()
        elif self.text.startswith("${", start):
            self.parameter(part, quoted=quoted)
        elif self.text.startswith("$'", start) and not quoted:
            self.at += 1
            text = replace_escapes(self.quoted_text(find_end(self.text, start + 2, "'")))
            return text.partition("\0")[0], True
        elif name := _PARAMETER.match(self.text, start):
            self.at = name.end()
        else:
            self.at += 1
            return ("", False) if self.text.startswith('"', self.at) else ("$", True)
        return self.text[start : self.at], False

    def parameter(self, part: CommandPart, *, quoted: bool) -> None:
        """Parse `${…}`, whose default value can run commands.

        Raises `_CannotParseError` for an unescaped quote directly in a quoted `${…}`: shells read such a
        quote in different ways.
        """
        self.at += 2
        self.depth += 1
        self.check_depth()
        while self.at < len(self.text):
            character = self.text[self.at]
            if character == "}":
                self.at += 1
                self.depth -= 1
                return
            if quoted and character in "'\"":
                raise _CannotParseError("its quotes can be read in two ways")
            if character in " \t\n;&|<>()":
                self.at += 1
            else:
                self.piece(character, part)
        raise _CannotParseError("a bracket is not closed")
