"""Finds arguments that make a command do more than its leading words say.

A rule for leading words allows whatever follows: `git diff` also allows `git diff src`. Such rules must not
allow `git diff --output=/root/.bashrc` or `cat /etc/passwd`. Paths outside the workspace, options that write
a file or run a program, and variables such as `make CC=…` are risks. An allow rule matches a command with
such arguments only if they are among the rule's own words.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from acp_tui.permissions.commands.program_arguments import evaluates, find_program_risks

if TYPE_CHECKING:
    from acp_tui.permissions.subject import PathContext, Target


_CONFIGURING = frozenset({"-c", "--config", "--config-env"})
_VALUED = frozenset({
    *("-C", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--attr-source", "--shallow-file"),
    *_CONFIGURING,
})  # fmt: skip
_RUNNING_GIT_OPTIONS = frozenset({
    *("bisect", "citool", "cvsserver", "daemon", "difftool", "fast-import", "filter-branch", "gui", "help"),
    *("hook", "imap-send", "instaweb", "maintenance", "merge-index", "mergetool", "p4", "send-email"),
    *("shell", "submodule", "svn", "upload-pack", "receive-pack"),
})  # fmt: skip
# By subcommand: options that run a program or install hooks, with the options' abbreviations.
_RISKY_OPTIONS = {
    "clone": re.compile(r"-[A-Za-z]*[cu]|--u|--te|--co(?!py)"),  # `-cNAME=VALUE`
    "grep": re.compile(r"-[A-Za-z]*O"),
    "init": re.compile(r"--te"),
    "rebase": re.compile(r"-[A-Za-z]*x|--ex"),
}
MAX_FOLDERS = 20
"""The maximum number of options such as `-C` to follow. Each costs a few calls to the file system."""
_FOLDER_OPTIONS = ("-C", "--git-dir", "--work-tree")
# Values contain no slash: some programs take a path in `TERM`, `LANG` or `LANGUAGE`.
_VALUE = re.compile(r"[\w.@:,+=-]{0,64}", re.ASCII)
_NAMES = re.compile(
    r"TERM|COLORTERM|COLUMNS|LINES|LANG|LANGUAGE|LC_\w+|NO_COLOR|FORCE_COLOR|CLICOLOR(?:_FORCE)?"
    r"|CI|DEBIAN_FRONTEND|PYTHONUNBUFFERED|GIT_TERMINAL_PROMPT|GIT_OPTIONAL_LOCKS"
)
_TIME_ZONE = re.compile(r"[A-Za-z0-9_+-]+(?:/[A-Za-z0-9_+-]+)*")
_SHELL = re.compile(r"(?:/usr)?/bin/(?:ba|z|da|k|fi)?sh")
# Variables that name a program. Agents use the values in `_NO_PROGRAM` to prevent pagers and editors.
_PROGRAMS = re.compile(
    r"(?:GIT_|GH_|AWS_|MAN|SYSTEMD_|BAT_)?PAGER|(?:GIT_|GIT_SEQUENCE_)?EDITOR|VISUAL|GIT_ASKPASS|SSH_ASKPASS"
)
_NO_PROGRAM = frozenset({"", "cat", "true", ":"})
WHOLE_COMMAND = -1
"""Used instead of the position of an argument if the whole command is a risk.

Then no allow rule for the command matches, not even an exact one.
"""
MAX_ARGUMENTS = 200
MAX_PATHS = 20
"""The maximum number of paths to check in one argument. Each check costs calls to the file system."""
_URL = re.compile(r"(?<![A-Za-z0-9+.-])(?!(?i:file):)[A-Za-z][A-Za-z0-9+.-]*://(?!\S*/\.\.(?:/|\Z))\S*")
_SEPARATORS = re.compile(r"[=:,@]")
_PATH_IN_OPTION = re.compile(r"-{1,2}[\w-]*?((?:/|~|\.\.(?:/|$)).*)", re.DOTALL)
_SUSPECT = re.compile(r"/|~|(?:.*/)?\.\.(?:/|$)", re.DOTALL)
_DEVICES = frozenset({"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"})
_ASSIGNMENT = re.compile(r"([A-Z_][A-Z0-9_]*)[:+?]?=(.*)", re.DOTALL)
_WRITING = (
    *("output", "write", "in-place", "save", "dump", "export", "logfile", "log-file", "junitxml"),
    *("junit-xml", "report-file", "report-log", "outfile", "outdir", "out-file", "out-dir", "trace-file"),
    "basetemp",
)
_RUNNING = (
    *("exec", "pre", "preprocessor", "compress-program", "use-compress-program", "open-files-in-pager"),
    *("ext-diff", "extcmd", "upload-pack", "receive-pack", "to-command", "checkpoint-action", "rsh"),
    *("eval", "editor", "pager", "shell", "script-shell", "hostname-bin"),
)
_LISTED_FILES = frozenset({"du", "sort", "wc"})
_SHORTEST_ABBREVIATION = 4  # in characters; for git, abbreviations of any length count
_SHORT_O_IS_HARMLESS = frozenset({"grep", "egrep", "fgrep", "rg", "ag", "ls", "ps", "pgrep"})


def find_git_risks(words: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the position of each risky argument of a git command, and the reason for the risk."""
    if words[0].rpartition("/")[2].lower() not in {"git", "git.exe"}:
        return
    for position, word in enumerate(words[1:], 1):
        name, sign, _ = word.partition("=")
        value = word if sign else "".join(words[position + 1 : position + 2])
        if name in _CONFIGURING and "=" in value:
            yield position, f"{name} changes the configuration of git"
    position, subcommand = find_subcommand(words)
    if subcommand == "config":
        yield position, "git config changes what git runs"
    elif (
        subcommand in _RUNNING_GIT_OPTIONS or subcommand.startswith("remote-") or "--" in subcommand
    ):  # `web--browse`
        yield position, f"git {subcommand} may run programs"
    elif subcommand.startswith("credential"):
        yield position, f"git {subcommand} may print passwords"
    elif options := _RISKY_OPTIONS.get(subcommand):
        for at, word in enumerate(words[position:], position):
            if options.match(word):
                yield at, f"{word} may run a program"


def find_subcommand(words: Sequence[str]) -> tuple[int, str]:
    """Return the position and the name of a git command's subcommand; an empty name if there is none."""
    position = 1
    while position < len(words) and words[position].startswith("-"):
        position += 2 if words[position] in _VALUED else 1
    return position, "".join(words[position : position + 1])


def other_repository(words: Sequence[str], folder: str, context: PathContext) -> str | None:
    """Return, as a clause, why git can use a repository other than the workspace's; None without a reason."""
    if not words or words[0].rpartition("/")[2].lower() not in {"git", "git.exe"}:
        return None
    folders = list(islice(_folders(words, folder), MAX_FOLDERS + 1))
    if len(folders) > MAX_FOLDERS:
        return "it has too many options that name a folder"
    own = {context.repository_of(context.resolve(root)) for root in (context.cwd, *context.roots)}
    for at in folders:
        found = context.repository_of(context.resolve(at))
        if found is not None and found not in own:
            return f"it runs git in {found}, which is a separate repository"
    return None


def _folders(words: Sequence[str], folder: str) -> Iterator[str]:
    """Yield the folders that git uses: the current one, and those named by its options."""
    yield folder
    for at, text in enumerate(words[1:], 1):
        name, sign, value = text.partition("=")
        if text == "-C" or name in _FOLDER_OPTIONS:
            led = posixpath.join(folder, value if sign else next(iter(words[at + 1 : at + 2]), ""))
            folder = led if name == "-C" else folder
            yield led


def is_harmless(name: str, value: str) -> bool:
    """Return True if the allow-list contains the variable with this value."""
    if _PROGRAMS.fullmatch(name):
        return value in _NO_PROGRAM
    if name == "TZ":
        return _TIME_ZONE.fullmatch(value) is not None
    if name == "SHELL":
        return _SHELL.fullmatch(value) is not None
    return _NAMES.fullmatch(name) is not None and _VALUE.fullmatch(value) is not None


def significant_variables(wanted: Mapping[str, str], usual: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return names and values of the variables in `wanted` that are not harmless and differ from `usual`."""
    return tuple(
        sorted(
            (name, value)
            for name, value in wanted.items()
            if not is_harmless(name, value) and usual.get(name) != value
        )
    )


def find_argument_risks(
    words: Sequence[str], directory: Target, context: PathContext
) -> Iterator[tuple[int, str]]:
    """Yield the index in `words` of each risky argument, or `WHOLE_COMMAND`, and the reason.

    The first argument after `MAX_ARGUMENTS` counts as risky. Most checks skip the arguments after it.
    """
    program = words[0]
    if "/" in program and not program.startswith("/") and directory.real != context.target(context.cwd).real:
        yield WHOLE_COMMAND, f"{program} may be a different program in the folder where the command runs"
    if elsewhere := other_repository(words, directory.real, context):
        yield WHOLE_COMMAND, elsewhere
    yield from find_git_risks(words)
    options = True
    for position, word in enumerate(words[1:], 1):
        if position > MAX_ARGUMENTS:
            yield position, "it has too many arguments to check"
            break
        options = options and word != "--"
        why = _option(program.rpartition("/")[2], word) if options and word.startswith("-") else None
        if why := why or _path(word, directory, context) or _variable(word) or evaluates(program, word):
            yield position, why
    yield from find_program_risks(words)


def _option(program: str, word: str) -> str | None:
    name = word.partition("=")[0]
    if name.startswith("--"):
        if _is_one_of(name[2:], _WRITING) or "output".startswith(name[2:] or "-") or "-output" in name:
            return f"{name} may write a file"
        if program in _LISTED_FILES and name != "--" and "--files0-from".startswith(name):
            return f"{name} reads files that are listed in another file"
        if name == "--check" and "tar" not in program:  # `tar` takes it for `--checkpoint-action`
            return None
        shortest = 1 if program == "git" else _SHORTEST_ABBREVIATION
        return f"{name} may run a program" if _is_one_of(name[2:], _RUNNING, shortest) else None
    if program in _SHORT_O_IS_HARMLESS:
        return None
    if word.startswith("-o") or (program == "sort" and re.match(r"-[A-Za-z]*o", word)):
        return f"{word} may write a file"
    if _is_one_of(name[1:], ("exec",)) or (program == "git" and word.startswith("-O")):
        return f"{word} may run a program"
    return None


def _is_one_of(name: str, known: Sequence[str], shortest: int = _SHORTEST_ABBREVIATION) -> bool:
    """Return True if `name` is a `known` option, possibly abbreviated or with a suffix like `-file`.

    GNU `getopt` accepts abbreviations. Those with fewer characters than `shortest` are ignored.
    """
    return any(
        name == one or name.startswith(f"{one}-") or (len(name) >= shortest and one.startswith(name))
        for one in known
    )


def _path(word: str, directory: Target, context: PathContext) -> str | None:
    text = _URL.sub("", word)
    found = [] if text.startswith("-") else [text]
    if text.startswith("-"):  # `--file=link` and `-flink`
        name, sign, value = text.partition("=")
        found += [value] if sign else [] if name.startswith("--") else [name[2:]]
    if option := _PATH_IN_OPTION.fullmatch(text):
        found.append(option[1])
    found += [piece for piece in _SEPARATORS.split(text)[1:] if _SUSPECT.match(piece)]
    found = list(dict.fromkeys(found))
    if len(found) > MAX_PATHS:
        return "it contains too many paths to check"
    for path in found:
        if path and path not in _DEVICES and not context.target(path, directory.path).inside:
            return f"{path} is outside the workspace"
    return None


def _variable(word: str) -> str | None:
    assignment = _ASSIGNMENT.fullmatch(word)
    if assignment is None or is_harmless(assignment[1], assignment[2]):
        return None
    return f"it sets {assignment[1]}"
