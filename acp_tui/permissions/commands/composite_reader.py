"""Reads the parts of a composite command, so that each can be judged by itself."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING

from acp_tui.permissions.commands.command_reader import Analysis, Command
from acp_tui.permissions.commands.composite_command import split_command
from acp_tui.permissions.commands.git_arguments import find_subcommand
from acp_tui.permissions.commands.named_files import sensitive_files
from acp_tui.permissions.commands.printed_secrets import printed_secrets
from acp_tui.permissions.commands.program_arguments import files_written_by_options
from acp_tui.permissions.commands.risky_arguments import find_argument_risks
from acp_tui.permissions.commands.shell_builtins import changes_shell
from acp_tui.permissions.commands.wrappers import SHELLS, shell_script
from acp_tui.permissions.danger.downloads import runs_input
from acp_tui.permissions.danger.steps import expand_steps
from acp_tui.permissions.harmless_variables import significant_variables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from acp_tui.permissions.commands.command_line import Part
    from acp_tui.permissions.commands.composite_command import JoinedCommand
    from acp_tui.permissions.subject import PathContext, Target

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
        *(
            "join",
            "kill",
            "less",
            "lsof",
            "md5sum",
            "mypy",
            "nl",
            "od",
            "paste",
            "pgrep",
            "pkill",
            "prettier",
            "ps",
        ),
        *(
            "pylint",
            "pyright",
            "readlink",
            "realpath",
            "rm",
            "rmdir",
            "ruff",
            "sed",
            "seq",
            "sha1sum",
            "sha256sum",
        ),
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


def _changes_shell(part: Part) -> bool:
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
