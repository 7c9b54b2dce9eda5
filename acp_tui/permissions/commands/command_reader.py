"""Removes `sh -c` and a leading `cd` from a command, then analyses the command for the permission checks."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from acp_tui.permissions.commands.command_line import MAX_COMMAND_LENGTH, CommandLine, CommandPart, Word
from acp_tui.permissions.commands.named_files import sensitive_files
from acp_tui.permissions.commands.printed_secrets import printed_secrets
from acp_tui.permissions.commands.program_arguments import files_written_by_options
from acp_tui.permissions.commands.risky_arguments import find_argument_risks, significant_variables
from acp_tui.permissions.commands.shell_parser import TOO_LONG, parse_argv, parse_command_line
from acp_tui.permissions.commands.wrappers import shell_script
from acp_tui.permissions.danger.dangerous_commands import find_danger
from acp_tui.permissions.danger.steps import Step, expand_steps
from acp_tui.permissions.subject import PathContext, Target

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
MAX_WRITTEN = 50
"""The maximum number of files to check per command line. Each check costs calls to the file system."""
_HARMLESS = re.compile(r"/dev/(?:null|stdout|stderr|tty|fd/\d+)")
_DESCRIPTOR = re.compile(r"\d+-?|-")
_COMPUTED = re.compile(r"[$`<>*?\[{]")
_HOME = re.compile(r"\$(?:HOME\b|\{HOME\})")
MAX_OTHER_FOLDERS = 2
"""The maximum number of folders in which parts of a line may run if a `cd` fails.

Every path is checked in each of these folders.
"""
MAX_WRAPPERS = 8
"""The maximum number of `sh -c` and leading `cd` to remove from a command."""
BLANKS = " \t\n"
"""The characters that shells skip around a command. Other white space is part of a word."""
_LEADING_CD = re.compile(
    r"""[ \t\n]*cd[ \t]+(?:--[ \t]+)?(?!-)
        (?:'(?P<single>[^'\n]+)'|"(?P<double>[^"$`\\!\n]+)"|(?P<bare>[\w@%+:,./][\w@%+=:,./-]*))
        [ \t]*&&(?!&)[ \t\n]*(?P<rest>[^ \t\n].*)""",
    re.VERBOSE | re.DOTALL,
)
_BACKGROUND = re.compile(r"(?<![&>])&(?![&>])")
"""The operator for background commands. In `cd x && a & b`, `b` runs outside `x`."""
_RUNS_AFTER_FAILURE = re.compile(r";|\|\||\n")
"""An operator after which a command runs even if the one before has failed.

In `cd x && a; b`, `b` runs outside `x` if `cd` fails.
"""


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


@dataclass(frozen=True, slots=True)
class WrittenFiles:
    """The files to which a command line redirects output."""

    targets: tuple[Target, ...] = ()  # for a computed name: its folder, if outside the workspace
    unknown: bool = False  # the names of some files are computed when the command runs
    too_many: bool = False


def find_written_files(steps: Iterable[Step], folder: Target, context: PathContext) -> WrittenFiles:
    """Return the files that the commands in `steps` redirect their output to.

    `folder` is where the command line starts, and is used for steps whose own folder is not known. Harmless
    devices such as /dev/null are left out.
    """
    found: dict[str, Target] = {}
    seen: set[tuple[str, str]] = set()
    unknown = False
    for step in steps:
        redirected = [(each.operator, each.target.text) for each in step.part.redirections]
        words = [word.text for word in step.part.words]
        for operator, text in (*redirected, *((">", path) for path in files_written_by_options(words))):
            path, base = _HOME.sub("~", text), step.folder or folder.path
            descriptor = operator.endswith("&") and _DESCRIPTOR.fullmatch(path)  # `2>&1`
            if (
                path in {"", "-"}
                or ">" not in operator
                or descriptor
                or _HARMLESS.fullmatch(path)
                or (path, base) in seen
            ):
                continue
            if len(seen) == MAX_WRITTEN:
                return WrittenFiles(tuple(found.values()), unknown, too_many=True)
            seen.add((path, base))
            computed = _COMPUTED.search(path)
            target = context.target(
                posixpath.dirname(path[: computed.start()]) or "." if computed else path, base
            )
            unknown = unknown or computed is not None
            if computed is None or not target.inside:
                found[target.real] = target
    return WrittenFiles(tuple(found.values()), unknown)


@dataclass(frozen=True, slots=True)
class Command:
    """A command with the results of its analysis."""

    line: str | None  # for the shell; None with `argv`
    argv: tuple[str, ...] | None  # without a shell
    words: tuple[str, ...] | None  # None if the command is not plain
    not_plain: str | None  # why the command is not plain
    cwd: Target
    run: str | tuple[str, ...]  # what to run in that directory
    parsed: CommandLine
    environment: tuple[tuple[str, str], ...] = ()
    variables: tuple[tuple[str, str], ...] = ()  # the part of `environment` that is not harmless
    argument_risks: tuple[tuple[int, str], ...] = ()  # see `risky_arguments`
    sensitive_names: tuple[str, ...] = ()  # sensitive files and printed secrets, as clauses: "it names …"
    written: tuple[Target, ...] = ()  # the files that output is redirected to, as far as they are known
    writes_unknown: bool = False  # output is also redirected to files whose names are computed
    paths_may_change: bool = False  # an earlier command may put links in place of the files in `written`
    other_folders: tuple[Target, ...] = ()  # where parts of it run if a `cd` that was removed fails
    too_long: bool = False  # only its beginning was analysed
    dangerous: str | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """A value that is the same for different spellings of one command."""
        return (self.words or self.line or self.argv, self.cwd.real)


class Analysis:
    """A command parsed once for all checks, and the danger found in it."""

    def __init__(self, given: str | tuple[str, ...], folder: str, context: PathContext) -> None:
        self.line = parse_command_line(given) if isinstance(given, str) else parse_argv(given)
        self.steps = expand_steps(self.line, folder, context.real_roots)
        self.danger = find_danger(given, self.line, self.steps)


def read_command(
    given: str | tuple[str, ...],
    context: PathContext,
    *,
    cwd: str | Target | None = None,
    env: Mapping[str, str] | None = None,
    shell_free: bool = False,
    follow_cd: bool = True,
) -> Command:
    """Analyse a command, which is either a shell line or a program with its arguments.

    Args:
        given: The line or the words.
        context: The folders of the conversation.
        cwd: Where the command runs; by default in the conversation's folder.
        env: Variables that are set for the command.
        shell_free: Whether acp-tui starts the program itself, so that no shell reads its arguments. False
            for a list that an agent reports, because the agent can use a shell.
        follow_cd: Whether a leading `cd FOLDER &&` may be removed, so that the command runs in FOLDER.
    """
    directory = context.folder(cwd or context.cwd) if not isinstance(cwd, Target) else cwd
    unwrapped = _unwrap(given, directory, context, follow_cd=follow_cd)
    inner, folder = unwrapped.inner, unwrapped.folder
    analysis = Analysis(inner, folder.real, context)
    danger, too_long = analysis.danger, analysis.line.too_long
    if inner != (given.strip(BLANKS) if isinstance(given, str) else given):
        outer = Analysis(given, directory.real, context)
        danger, too_long = outer.danger or danger, outer.line.too_long or too_long
    words, not_plain = _plain_words(inner, shell_free=shell_free)
    places = [(folder, analysis.steps)]
    places += [(other, expand_steps(analysis.line, other.real)) for other in unwrapped.other_folders]
    written = [find_written_files(steps, at, context) for at, steps in places]
    names = [
        name for at, steps in places for name in sensitive_files(inner, analysis.line, steps, at, context)
    ]
    return Command(
        line=inner if isinstance(inner, str) else None,
        argv=inner if isinstance(inner, tuple) else None,
        words=words,
        not_plain=not_plain,
        cwd=folder,
        run=unwrapped.run,
        parsed=replace(analysis.line, parts=[*unwrapped.changes_of_folder, *analysis.line.parts]),
        environment=tuple((env or {}).items()),
        argument_risks=tuple(find_argument_risks(words, folder, context)) if words else (),
        variables=significant_variables(env or {}, context.base_environment),
        sensitive_names=tuple(dict.fromkeys([*names, *printed_secrets(analysis.steps)])),
        written=tuple({target.real: target for each in written for target in each.targets}.values()),
        writes_unknown=any(each.unknown for each in written),
        other_folders=tuple(unwrapped.other_folders),
        too_long=too_long or any(each.too_many for each in written),
        dangerous=danger,
    )


@dataclass(slots=True)
class _Unwrapped:
    """A command without the shells around it and without the `cd` before it."""

    inner: str | tuple[str, ...]
    folder: Target
    run: str | tuple[str, ...]  # what to run there
    changes_of_folder: list[CommandPart] = field(default_factory=list)  # the `cd` that were removed
    other_folders: list[Target] = field(default_factory=list)  # where parts of it run if one of these fails


def _unwrap(
    given: str | tuple[str, ...], directory: Target, context: PathContext, *, follow_cd: bool
) -> _Unwrapped:
    """Remove each `sh -c` around a command. If `follow_cd`, also remove leading `cd FOLDER &&`.

    A `cd` stays if it leads out of the workspace, or if it is unclear where the rest of the command runs.

    At most `MAX_WRAPPERS` shells and `cd` are removed. The shells are removed for the analysis only. Each
    removed `cd` is also missing in the command to run, which is then started in the directory that was
    analysed.
    Otherwise, FOLDER could lead elsewhere by the time the shell runs the `cd`.
    """
    found = _Unwrapped(given, directory, given)
    shells: list[tuple[str, ...]] = []  # outermost first, each without its script
    for _ in range(MAX_WRAPPERS):
        if isinstance(given, tuple):
            words = given if shell_script(given) is not None else None
        elif len(given) > MAX_COMMAND_LENGTH:
            break
        elif leading := _LEADING_CD.fullmatch(given) if follow_cd else None:
            path = leading["single"] or leading["double"] or leading["bare"]
            target = context.folder(path, found.folder.path)
            if not target.inside or _BACKGROUND.search(leading["rest"]):
                break
            if _leads_elsewhere(path, target, found.folder, context):
                break
            if _RUNS_AFTER_FAILURE.search(leading["rest"]):
                if not found.folder.inside or len(found.other_folders) == MAX_OTHER_FOLDERS:
                    break
                found.other_folders.append(found.folder)
            found.changes_of_folder.append(CommandPart((Word("cd"), Word(path))))
            given, found.folder = leading["rest"].strip(BLANKS), target
            continue
        else:
            words = _words_of_shell(given)
        if words is None:
            break
        script = shell_script(words)
        assert script is not None
        shells.append(words[:-1])
        given = script.strip(BLANKS)
    found.inner = given.strip(BLANKS) if isinstance(given, str) else given
    if found.changes_of_folder:
        found.run = _rewrap(found.inner, shells, isinstance(found.run, str))
    return found


def _leads_elsewhere(path: str, target: Target, directory: Target, context: PathContext) -> bool:
    """Return True if a shell and a system call resolve a path with `..` to different folders (`link/..`)."""
    if ".." not in path.split("/"):
        return False
    logical = posixpath.normpath(posixpath.join(directory.path, path))
    return context.target(logical).real != target.real


def _rewrap(
    inner: str | tuple[str, ...], shells: Sequence[tuple[str, ...]], outermost_is_line: bool
) -> str | tuple[str, ...]:
    """Wrap a command in its shells again. Returns a line if `outermost_is_line`, otherwise words."""
    for depth, shell in reversed(list(enumerate(shells))):
        words = (*shell, inner if isinstance(inner, str) else shlex.join(inner))
        inner = shlex.join(words) if depth or outermost_is_line else words
    return inner


def _words_of_shell(line: str) -> tuple[str, ...] | None:
    """Return the words of a line that only runs a script with a shell (`sh -c SCRIPT`); otherwise None."""
    try:
        words = plain_words(line)
    except NotPlainError:
        return None
    return words if shell_script(words) is not None else None


def _plain_words(
    given: str | tuple[str, ...], *, shell_free: bool
) -> tuple[tuple[str, ...] | None, str | None]:
    """Return `(words, None)` for a plain command (see `plain_command`), otherwise `(None, reason)`.

    If `shell_free` is true, words in a tuple count as plain unless they are too long.
    """
    if isinstance(given, str):
        try:
            return plain_words(given), None
        except NotPlainError as reason:
            return None, str(reason)
    if sum(map(len, given)) + len(given) > MAX_COMMAND_LENGTH:
        return None, TOO_LONG
    if shell_free or is_plain_argv(given):
        return given, None
    return None, "a shell would read the arguments as a different command"
