"""The commands of a shell command line, in the order they run, each with expanded words and its folder."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import islice, pairwise, product, takewhile

from acp_tui.permissions.commands.command_line import (
    CommandLine,
    CommandPart,
    Redirection,
    Word,
    replace_escapes,
)
from acp_tui.permissions.commands.shell_parser import parse_argv
from acp_tui.permissions.commands.wrappers import SHELLS
from acp_tui.permissions.danger.protected_paths import join_path

MAX_WORDS = 100
"""The maximum number of words that one word is expanded to."""
MAX_EXPANDED = 4096
"""The maximum number of characters that one word is expanded to."""
MAX_EXPANSION = 2_000_000
"""The maximum total number of characters of a line's words after expansion."""
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)\+?=(.*)", re.DOTALL)
_ECHOED = re.compile(r"\$\(\s*+(?:echo|printf)\s++([^()$`]*+)\)|`\s*+(?:echo|printf)\s++([^`$]*+)`")
_FOLDER_PRINTED = re.compile(
    r"\$\(\s*+(?:cd\b(?P<cd>[^()`;&|]*+)(?:&&|;)\s*+pwd(?:\s++-[LP])?"
    r"|(?P<program>realpath|readlink|dirname)\b(?P<named>[^()`;&|]*+))\s*+\)"
)
"""A substitution that prints the path of a folder: `$(cd / && pwd)`, `$(realpath /)`, `$(dirname /etc)`."""
_BLANK = re.compile(r"\$\{?IFS\b[^}$/\w-]*\}?")
_NOTHING = re.compile(r"(?<=[A-Za-z])\$(?:[@*]|\{[@*]\})(?=[A-Za-z])")
_VARIABLE = re.compile(
    r"\$(?:(?P<name>\w+|[@*])|\{(?P<long>\w+|[@*])(?:(?P<op>:?[-=?+]|%%?|##?)(?P<rest>[^{}]*))?\})"
)
_BRACES = re.compile(r"\{([^{},]*+,[^{}]*+)\}")
_LEFT_ALONE = frozenset({"HOME", "PWD", "USER", "LOGNAME", "IFS"})
_DECLARING = frozenset({"export", "declare", "local", "readonly", "typeset"})
_FOLDER_OPTIONS = {"env": ("-C", "--chdir"), "sudo": ("-D", "--chdir")}
"""The options of wrappers that name the folder in which the wrapped command runs: short and long."""


@dataclass(frozen=True, slots=True)
class Step:
    """One command with its words expanded."""

    part: CommandPart
    folder: str = ""  # where it runs; empty if that is not known
    roots: tuple[str, ...] = ()  # the folders of the workspace

    @property
    def name(self) -> str:
        """The program, in lower case and without its directory."""
        return self.part.name

    @property
    def arguments(self) -> tuple[str, ...]:
        """The words after the program."""
        return self.part.arguments

    @property
    def operands(self) -> list[str]:
        """The arguments that are not options, and all arguments after `--`."""
        found: list[str] = []
        options = True
        for text in self.arguments:
            if options and text == "--":
                options = False
            elif not (options and text.startswith("-") and text != "-"):
                found.append(text)
        return found

    @property
    def letters(self) -> str:
        """The characters after the hyphen of all arguments that begin with exactly one hyphen, joined."""
        return "".join(text[1:] for text in self.arguments if re.match(r"-[^-]", text))

    def has(self, *options: str) -> bool:
        """Return True if one of `options` is an argument, with or without `=value`."""
        return any(text.partition("=")[0] in options for text in self.arguments)

    @property
    def written(self) -> list[str]:
        """The files to which the command's output is redirected."""
        return [each.target.text for each in self.part.redirections if ">" in each.operator]


@dataclass(slots=True)
class _Shell:
    """The state of the shell that runs the line: the shell's working directory and variables."""

    folder: str
    variables: dict[str, list[str]] = field(default_factory=dict)
    previous: list[str] = field(default_factory=list)  # earlier folders, for `popd` and `cd -`
    room: int = MAX_EXPANSION  # characters that words may still be expanded to

    def expand(self, word: Word) -> list[str]:
        """Expand a word as the shell does, and return the resulting words."""
        if word.literal or self.room < 0:
            return [word.text]
        text = _FOLDER_PRINTED.sub(_printed_folder, _ECHOED.sub(_printed, word.text))
        text = _NOTHING.sub("", _BLANK.sub(" ", text))
        if len(text) * MAX_WORDS > self.room and _BRACES.search(text):
            self.room = -1
            return [word.text]
        found = [each for one in self.fill_variables(text) for each in expand_braces(one)]
        self.room -= sum(map(len, found))
        if text != word.text or found != [text]:
            found = [piece for one in found for piece in one.split()] or [""]
        return found[:MAX_WORDS]

    def fill_variables(self, text: str) -> list[str]:
        """Return the text with up to 20 variables replaced, once for each combination of their values.

        At most `MAX_WORDS` texts are returned, each cut to `MAX_EXPANDED` characters. If `text` is longer,
        `text` is returned unchanged.
        """
        if len(text) > MAX_EXPANDED:
            return [text]
        values: list[list[str]] = []
        ends = 0
        for found in islice(_VARIABLE.finditer(text), 20):
            values += [text[ends : found.start()]], self.variable_values(found)
            ends = found.end()
        values.append([text[ends:]])
        return ["".join(chosen)[:MAX_EXPANDED] for chosen in islice(product(*values), MAX_WORDS)]

    def variable_values(self, found: re.Match[str]) -> list[str]:
        """Return the possible values of a variable; if they are not known, the variable as written."""
        name = found["name"] or found["long"]
        if known := self.variables.get(name):
            return known
        if found["op"] in {":-", "-", ":=", "="} and name not in _LEFT_ALONE:
            return [found["rest"]]
        return [found[0]]

    def record_assignments(self, part: CommandPart) -> None:
        given = part.assignments if part.name not in _DECLARING else (*part.assignments, *part.arguments)
        fresh: dict[str, list[str]] = {}
        for text in given:
            if assigned := _ASSIGNMENT.fullmatch(text):
                values = self.expand(Word(assigned[2], literal=not re.search(r"[$`{]", assigned[2])))
                if not any(sign in value for value in values for sign in ("$(", "`")):
                    fresh.setdefault(assigned[1], []).extend(values)
        self.variables |= fresh
        if part.name == "set" and "--" in part.arguments:
            self.set_positional(part.arguments[part.arguments.index("--") + 1 :], 1)
        elif part.name in SHELLS and len(part.arguments) > 2 and part.arguments[0].endswith("c"):
            self.set_positional(part.arguments[2:], 0)

    def set_positional(self, words: tuple[str, ...], first: int) -> None:
        """Set `$1`, `$2`, … and `$@`; also `$0` if `first` is 0."""
        self.variables |= {str(number): [word] for number, word in enumerate(words, first)}
        self.variables |= dict.fromkeys("@*", [*words[1 - first :]] or [""])

    def change_folder(self, part: CommandPart) -> None:
        """Change `folder` if the command is `cd`, `pushd` or `popd`."""
        places = [text for text in part.arguments if not re.match(r"-.|\+\d", text)]
        if part.name == "popd" or (part.name == "cd" and places[:1] == ["-"]):
            self.folder = self.previous.pop() if self.previous else ""
        elif part.name in {"cd", "pushd", "chdir"}:
            self.previous.append(self.folder)
            self.folder = join_path(places[0] if places else "~", self.folder)


def _folder_of_wrapped(wrapper: CommandPart, wrapped: CommandPart) -> str:
    """Return the folder in which a wrapper's options say to run the wrapped command; "" if they name none."""
    short, long = _FOLDER_OPTIONS[wrapper.name]
    program = wrapped.words[0].text if wrapped.words else ""
    words = takewhile(lambda word: word != program, wrapper.arguments)
    for word, following in pairwise([*words, ""]):
        if word in (short, long):
            return following
        if word.startswith((short, f"{long}=")):
            return word.removeprefix(short).removeprefix(f"{long}=")
    return ""


def expand_steps(line: CommandLine, folder: str = "", roots: tuple[str, ...] = ()) -> list[Step]:
    """Return the commands of a line. A wrapper comes before the command that it wraps.

    `folder` is the folder in which the line runs; empty if the folder is not known. `roots` are the folders
    of the workspace. Sets `line.too_long` if
    the line becomes too long when its words are expanded.
    """
    shell = _Shell(folder)
    found: list[Step] = []
    wrapper: CommandPart | None = None
    for given in line.parts:
        for part in _expand_part(given, shell):
            shell.record_assignments(part)
            folder = _folder_of_wrapped(wrapper, part) if wrapper is not None else ""
            found.append(Step(part, join_path(folder, shell.folder) if folder else shell.folder, roots))
            shell.change_folder(part)
            wrapper = part if part.name in _FOLDER_OPTIONS else None
    line.too_long = line.too_long or shell.room < 0
    return found


def find_feeders(all_steps: Iterable[Step], reader: Step) -> list[Step]:
    """Return the commands before `reader` in its pipeline."""
    found: list[Step] = []
    for step in all_steps:
        if step is reader:
            break
        if step.part.pipeline == reader.part.pipeline and step.part.pipeline:
            found.append(step)
    return found


def _printed(echo: re.Match[str]) -> str:
    words = re.sub(r"^-[neE]+\s", "", (echo[1] or echo[2] or "").strip())
    return replace_escapes(words.strip("'\" \n")).replace("\0", "")


def _printed_folder(found: re.Match[str]) -> str:
    """Return the path that a substitution like `$(cd / && pwd)` prints, with variables as written."""
    words = [word.strip("'\"") for word in (found["named"] or found["cd"] or "").split()]
    path = next((word for word in words if not word.startswith("-")), "" if found["program"] else "~")
    return f"{path}/.." if found["program"] == "dirname" and path else path or found[0]


def _program(word: str) -> str:
    """Replace the name in a pattern such as `/bin/r*` by a match among `rm`, `dd`, `mv`, `sh`, `bash`."""
    folder, slash, name = word.rpartition("/")
    if slash and re.search(r"[*?\[]", name):
        name = next((known for known in ("rm", "dd", "mv", "sh", "bash") if fnmatchcase(known, name)), name)
    return folder + slash + name


def _expand_part(part: CommandPart, shell: _Shell) -> list[CommandPart]:
    """Return the command with expanded words.

    If the program is known only after the expansion, also return the commands that the program wraps. If the
    program is still unknown, the words are not expanded.
    """
    targets = tuple(
        Redirection(each.operator, Word(" ".join(shell.expand(each.target)))) for each in part.redirections
    )
    words = [text for word in part.words for text in shell.expand(word)][: MAX_WORDS * 5]
    if words and not part.words[0].literal and re.match(r"[A-Za-z]", words[0]):
        words[0] = _VARIABLE.sub("", words[0])  # in `r${x}m`, unset variables are empty
    elif words and not part.words[0].literal:
        words[0] = _program(words[0])
    if not part.words or part.words[0].literal or not words or "$" in words[0]:
        known = tuple(Word(text) for text in words) if part.words and part.words[0].literal else part.words
        return [replace(part, words=known, redirections=targets)]
    found = parse_argv(tuple(words)).parts
    return [replace(each, redirections=targets, pipeline=part.pipeline) for each in found]


def expand_braces(text: str) -> list[str]:
    """Expand braces such as `a{b,c}`. Stop when there are `MAX_WORDS` words or more.

    Unlike in the shell, nested braces can yield a word several times.
    """
    done: list[str] = []
    waiting = [text]
    while waiting and len(done) + len(waiting) < MAX_WORDS:
        one = waiting.pop(0)
        found = next(
            (found for found in _BRACES.finditer(one) if one[found.start() - 1 : found.start()] != "$"), None
        )
        if found is None:
            done.append(one)
        else:
            waiting += [one[: found.start()] + piece + one[found.end() :] for piece in found[1].split(",")]
    return done + waiting
