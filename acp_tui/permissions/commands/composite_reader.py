"""Reads the parts of a composite command, so that each can be judged by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import TYPE_CHECKING

from acp_tui.permissions.commands.command_reader import (
    Analysis,
    Command,
    NotPlainError,
    describe_sign,
    read_word,
)
from acp_tui.permissions.commands.named_files import sensitive_files
from acp_tui.permissions.commands.printed_secrets import printed_secrets
from acp_tui.permissions.commands.program_arguments import changes_shell, files_written_by_options
from acp_tui.permissions.commands.risky_arguments import (
    find_argument_risks,
    find_subcommand,
    significant_variables,
)
from acp_tui.permissions.commands.wrappers import SHELLS, shell_script
from acp_tui.permissions.danger.downloads import runs_input
from acp_tui.permissions.danger.steps import expand_steps

if TYPE_CHECKING:
    from acp_tui.permissions.commands.command_line import CommandPart
    from acp_tui.permissions.subject import PathContext, Target


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
# Programs that create no links and move no folders, so that paths lead to the same files after them.
_READERS = frozenset({
    *("basename", "cat", "cut", "date", "diff", "dirname", "du", "echo", "false", "file", "grep", "head"),
    *("jq", "ls", "mkdir", "printf", "pwd", "rg", "sort", "stat", "tail", "test", "touch", "tr", "true"),
    *("uniq", "wc", "which"),
})  # fmt: skip
_GIT_READERS = frozenset({"blame", "describe", "diff", "log", "ls-files", "rev-parse", "show", "status"})
_KEEPING_FILES = _GIT_READERS | {
    *("add", "branch", "cat-file", "check-ignore", "commit", "fetch", "for-each-ref", "grep", "ls-remote"),
    *("ls-tree", "merge-base", "push", "reflog", "remote", "rev-list", "shortlog", "show-ref", "tag"),
}
# Programs that may name paths even after a command that may have created links. They open no files by name,
# or they run the workspace's code, which the earlier command may have changed anyway.
_IGNORING_LINKS = frozenset({
    *("basename", "date", "dirname", "echo", "exit", "false", "printf", "pwd", "sleep", "true", "which"),
    *("bun", "cargo", "go", "gradle", "just", "make", "mvn", "node", "npm", "npx", "pnpm", "poetry"),
    *("pytest", "python", "python3", "tox", "uv", "yarn"),
})  # fmt: skip
# Besides these, any program may put links in place of files, because programs that unpack archives have many
# names. Those that run the workspace's code count as harmless: the code could read the same files itself.
_PLACING_NO_LINKS = (
    SHELLS
    | _READERS
    | _IGNORING_LINKS
    | {
        *("awk", "bc", "black", "cd", "chmod", "cmp", "column", "comm", "curl", "diff3", "egrep"),
        *("eslint", "expr", "fgrep", "find", "flake8", "fmt", "fold", "gofmt", "hostname", "id", "isort"),
        *("join", "kill", "less", "lsof", "md5sum", "mypy", "nl", "od", "paste", "pgrep", "pkill"),
        *("prettier", "ps"),
        *("pylint", "pyright", "readlink", "realpath", "rm", "rmdir", "ruff", "sed", "seq", "sha1sum"),
        "sha256sum",
        *("shellcheck", "shuf", "sleep", "tac", "tee", "top", "tree", "tsc"),
        *("type", "uname", "whoami", "xxd", "yq"),
    }
)
# Git subcommands that follow no links in the work tree, except to read files named by `_GIT_FILE_OPTIONS`.
_GIT_IGNORING_LINKS = _KEEPING_FILES | {
    *("checkout", "cherry-pick", "clone", "merge", "pull", "rebase", "reset", "restore", "revert"),
    *("stash", "switch"),
}
_GIT_FILE_OPTIONS = ("-F", "--fi", "--cont", "--no-i")  # of `commit`, `blame` and `diff`, and abbreviations
_PLAIN_OPTION = re.compile(r"-[A-Za-z]{1,3}|-[A-Za-z]?\d+|--[a-z-]+")
# The first operand of these is a pattern or a script, unless an option such as `-e` or `--file` gives it.
_PATTERN_FIRST = frozenset({"egrep", "fgrep", "grep", "jq", "rg", "sed"})
_PATTERN_OPTION = re.compile(r"-[^-]*[ef]|--(?:ex|fi|fr|re)")


@dataclass(slots=True)
class JoinedCommand:
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


def read_parts(command: Command, context: PathContext) -> tuple[Command, ...]:
    """Return the commands that are joined in the line of `command`, for example by `&&`.

    The result is empty if `command` is a single plain command or a list of arguments. A part that is not
    plain has no `words`, and `not_plain` says why.
    """
    if command.line is None or command.words is not None or not command.line.strip():
        return ()
    parts: list[Command] = []
    joined_commands = split_command(command.line)
    shell_changed = False
    for at, joined in enumerate(joined_commands):
        if shell_changed:
            joined.make_unclear("an earlier command changes the state of the shell")
        elif any(_may_place_files(other.words) for other in _run_before(joined_commands, at)):
            if _uses_git_elsewhere(joined.words, command.cwd, context):
                joined.make_unclear("an earlier command may create a git repository where this one runs")
            elif _may_follow_links(joined.words):
                joined.make_unclear(
                    "an earlier command may put links in place of the files that this one names"
                )
        part = _read_part(joined, command, context)
        if part.written and not all(_only_reads(other.words) for other in _run_before(joined_commands, at)):
            part = replace(part, paths_may_change=True)
        parts.append(part)
        shell_changed = shell_changed or any(map(_changes_shell, part.parsed.parts))
    return tuple(parts)


def _run_before(commands: Sequence[JoinedCommand], at: int) -> Iterator[JoinedCommand]:
    """Yield what can run before `commands[at]`: all earlier commands, and the rest of the same pipeline."""
    yield from commands[:at]
    yield from takewhile(lambda command: command.joined_with == "|", commands[at + 1 :])


def _read_part(joined: JoinedCommand, whole: Command, context: PathContext) -> Command:
    analysis = Analysis(joined.source, whole.cwd.real, context)
    problem = joined.problem or _problem(joined, analysis)
    words = None if problem else joined.words
    variables = dict(whole.environment) | joined.variables
    risks: dict[tuple[int, str], None] = {}
    names: dict[str, None] = {}
    written: dict[str, Target] = {}
    for folder in dict.fromkeys((whole.cwd, *whole.other_folders)):
        risks |= dict.fromkeys(find_argument_risks(words, folder, context) if words else ())
        steps = expand_steps(analysis.line, folder.real)
        names |= dict.fromkeys(sensitive_files(joined.source, analysis.line, steps, folder, context))
        for path in (*joined.files, *files_written_by_options(joined.words)):
            if path in {"", "-", "/dev/null"}:
                continue
            target = context.target(path, folder.path)
            written[target.real] = target
    return Command(
        line=joined.text,
        argv=None,
        words=words,
        not_plain=problem,
        cwd=whole.cwd,
        run=joined.text,
        parsed=analysis.line,
        environment=tuple(variables.items()),
        variables=significant_variables(variables, context.base_environment),
        argument_risks=tuple(risks),
        sensitive_names=(*names, *printed_secrets(analysis.steps)),
        written=tuple(written.values()),
        too_long=analysis.line.too_long,
        dangerous=analysis.danger,
    )


def _problem(joined: JoinedCommand, analysis: Analysis) -> str | None:
    """Return a reason, besides `joined.problem`, not to treat a joined command as plain; otherwise None."""
    if shell_script(joined.words) is not None:
        return "it starts another shell"
    if any(map(_changes_shell, analysis.line.parts)):
        return "it changes the state of the shell for later commands"
    if joined.joined_with == "|":
        if any(map(runs_input, analysis.steps)):
            return "it runs the output of the previous command"
        if any(part.open_ended for part in analysis.line.parts):
            return "its arguments come from the output of the previous command"
    return None


def _changes_shell(part: CommandPart) -> bool:
    return changes_shell(part) or bool(part.assignments and not part.words)


def _only_reads(words: tuple[str, ...]) -> bool:
    return bool(words) and (
        words[0] in _READERS or (words[0] == "git" and bool(_GIT_READERS.intersection(words[1:2])))
    )


def _uses_git_elsewhere(words: tuple[str, ...], folder: Target, context: PathContext) -> bool:
    """Return True if the command is git and can run in a folder other than the conversation's.

    Earlier commands of the line can turn such a folder into a repository.
    """
    named = any(word.startswith(("-C", "--git-dir", "--work-tree")) for word in words[1:])
    return _is_git(words) and (named or folder.real != context.target(context.cwd).real)


def _may_place_files(words: tuple[str, ...]) -> bool:
    """Return True for a command like `git checkout` or `tar -x`, which can create links or a repository."""
    if _is_git(words):
        return find_subcommand(words)[1] not in _KEEPING_FILES
    program = _program(words)
    if not program:  # not plain: no rule allows the line anyway
        return False
    if program == "cp":  # without options it copies what links lead to
        return any(word.startswith("-") for word in words[1:])
    return program not in _PLACING_NO_LINKS


def _may_follow_links(words: tuple[str, ...]) -> bool:
    """Return True if the command may follow links at paths that it names."""
    if _is_git(words):
        reads_file = any(word.startswith(_GIT_FILE_OPTIONS) for word in words[1:])
        return reads_file or find_subcommand(words)[1] not in _GIT_IGNORING_LINKS
    program = _program(words)
    operands = [word for word in words[1:] if not _PLAIN_OPTION.fullmatch(word)]
    counts_first = program in {"head", "tail"} and words[1:2] == ("-n",)
    pattern_first = program in _PATTERN_FIRST and not any(map(_PATTERN_OPTION.match, words[1:]))
    if counts_first or pattern_first:
        del operands[:1]
    return bool(operands) and program not in _IGNORING_LINKS


def _program(words: tuple[str, ...]) -> str:
    return words[0].rpartition("/")[2].lower() if words else ""


def _is_git(words: tuple[str, ...]) -> bool:
    return _program(words) in {"git", "git.exe"}
