"""Splits a line into the commands that it joins.

Like `plain_command`, this module is an allow-list of syntax: plain commands, joined with `;`, `&&`, `||`, `|`
or a line break. Each command may begin by assigning plain values to variables, and its output may be
redirected to files with plain names. `2>&1` and `</dev/null` are allowed, too.
Anything else becomes the `problem` of a command, and then no rule that names a command allows the line. The
commands after such a problem are a guess, for display only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from acp_tui.permissions.commands.plain_command import NotPlainError, describe_sign, read_word

MAX_JOINED = 40
"""The maximum number of commands in a line."""
MAX_COMPOSITE_LENGTH = 4096
"""The maximum number of characters of a line. Each of its words costs calls to the file system."""
_ENDS = " \t\n;&|"  # of a word
_JOIN = re.compile(r"(?P<sign>&&|\|\||\|)[ \t\n]*|(?P<end>[;\n])[ \t\n]*")
_BLANKS = re.compile(r"[ \t]*")
_HARMLESS_REDIRECTION = re.compile(r"(?:2>&1|1?>&2|<[ \t]*/dev/null)(?=[ \t\n;&|]|\Z)")
_OUTPUT = re.compile(r"[12]?>>?(?![>&|(])[ \t]*")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=", re.ASCII)
_CONTROL_FLOW = re.compile(
    r"(?:if|then|elif|else|fi|for|foreach|select|while|until|do|done|case|esac|in|function|coproc|repeat|end"
    r"|begin|switch|and|or|not|time)(?![\w@%+=:,./-])"
)
# Parts of commands that are not plain. After each part, the next operator can still be found.
_RECOGNISED = re.compile(
    r"""[^'"\\`$()<>{};&|\n\#]+ | '[^']*' | "(?:[^"`\\$]|\$(?![({]))*" | \$[A-Za-z0-9_?@*!-]
        | [0-9]?>>?(?![>&|(]) | [0-9]?>&[0-9](?![0-9])""",
    re.VERBOSE,
)


@dataclass(slots=True)
class JoinedCommand:
    """One of the commands that a line joins."""

    source: str = ""  # as written, with redirections
    text: str = ""  # as written, without redirections
    joined_with: str = ""  # the operator before it
    words: tuple[str, ...] = ()  # empty if it is not plain
    variables: dict[str, str] = field(default_factory=dict)  # set for it
    files: list[str] = field(default_factory=list)  # its output is redirected to these
    problem: str | None = None  # why it is not plain, as a clause: "it …"

    def make_unclear(self, problem: str) -> None:
        """Mark the command as one that rules cannot judge. Discards its words and files."""
        self.problem, self.text, self.words, self.files = self.problem or problem, self.source, (), []


def split_command(line: str) -> list[JoinedCommand]:
    """Return the commands that a line joins, in order; at least one."""
    text = line.strip(" \t\n")
    if len(text) > MAX_COMPOSITE_LENGTH:
        problem = f"it is longer than {MAX_COMPOSITE_LENGTH:,} characters"
        return [JoinedCommand(text, text, problem=problem)]
    found: list[JoinedCommand] = []
    position, sign = 0, ""
    while True:
        command = JoinedCommand(joined_with=sign)
        start = position
        found.append(command)
        try:
            position = _read_command(text, start, command)
        except NotPlainError as reason:
            command.problem = str(reason)
            position = _find_end(text, start)
        command.source = text[start:position].strip(" \t\n") or sign
        if command.problem:
            command.make_unclear(command.problem)
        if position >= len(text):
            return found
        if len(found) == MAX_JOINED:
            rest = text[position:].strip(" \t\n")
            return [*found, JoinedCommand(rest, rest, problem=f"it joins more than {MAX_JOINED} commands")]
        operator = _JOIN.match(text, position)
        assert operator is not None
        sign, position = operator["sign"] or operator["end"], operator.end()
        if position >= len(text) and operator["end"]:
            return found


def _read_command(text: str, start: int, command: JoinedCommand) -> int:
    """Read the command that begins at `start` into `command`, and return the position of its end.

    Raises `NotPlainError`.
    """
    if control := _CONTROL_FLOW.match(text, start):
        raise NotPlainError(f"it contains `{control[0]}`")
    position = start
    words: list[str] = []
    written: list[str] = []
    while (position := _skip_blanks(text, position)) < len(text) and text[position] not in "\n;&|":
        if harmless := _HARMLESS_REDIRECTION.match(text, position):
            position = harmless.end()
            continue
        if output := _OUTPUT.match(text, position):
            file, position = _word(text, output.end())
            command.files += [file] if file != "/dev/null" else []
            continue
        begin = position
        if not words and (assignment := _ASSIGNMENT.match(text, position)):
            value, position = read_word(text, assignment.end(), _ENDS)
            command.variables[assignment[1]] = value
        else:
            word, position = _word(text, position)
            words.append(word)
        written.append(text[begin:position])
    if not words:
        raise NotPlainError(
            "it sets a variable for later commands" if command.variables else _why_empty(text, position)
        )
    if "=" in words[0]:
        raise NotPlainError("it begins with a variable assignment")
    if position < len(text) and _JOIN.match(text, position) is None:
        raise NotPlainError("it runs a command in the background (`&`)")
    command.words, command.text = tuple(words), " ".join(written)
    return position


def _word(text: str, start: int) -> tuple[str, int]:
    word, end = read_word(text, start, _ENDS)
    if end == start:
        raise NotPlainError(_why_empty(text, start))
    return word, end


def _why_empty(text: str, position: int) -> str:
    return describe_sign(text[position]) if text[position : position + 1].strip() else "a command is missing"


def _skip_blanks(text: str, position: int) -> int:
    found = _BLANKS.match(text, position)
    return found.end() if found else position


def _find_end(text: str, start: int) -> int:
    """Return where a command that is not plain seems to end; if its end is unclear, the end of the text."""
    position = start
    if _CONTROL_FLOW.match(text, start):
        return len(text)
    while piece := _RECOGNISED.match(text, position):
        position = piece.end()
    at_join = _JOIN.match(text, position) is not None and position > start
    return position if at_join else len(text)
