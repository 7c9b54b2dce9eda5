"""Finds arguments that make certain programs write a file or run a program: `sed -i`, `find -exec`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp_tui.permissions.commands.command_line import CommandPart


_FORMATTER = re.compile(r"-[A-Za-z]*w")
_FD = re.compile(r"-[A-Za-z]*[xX].*", re.DOTALL)
_MAKE = re.compile(
    r"-[A-Za-z]*E.*|-[A-Za-z]*f(?:-|/dev/.*)|--(?:ma|fi)[a-z]*=(?:-|/dev/.*)|-|/dev/.*"
    # `x:=$(shell …)`, `x!=…`, `.SHELLFLAGS=…`
    r"|(?![A-Za-z][A-Za-z0-9_-]*=(?:[\w./,+-]*|[\w,+ -]*)\Z)[^-=][^=]*=.*",
    re.DOTALL,
)
# Short options, abbreviations and words that `risky_arguments` does not find.
_RISKY = {
    "find": re.compile(r"-(?:exec|ok)(?:dir)?|-fls|-fprint[0f]?|-delete|-files0-from"),
    "fd": _FD,
    "fdfind": _FD,
    "go": re.compile(r"--?(?:toolexec|vettool)(?:=.*)?|--?(?:ld|gcc)\w*flags.*", re.DOTALL),  # `-extld=…`
    "make": _MAKE,
    "gmake": _MAKE,
    "npm": re.compile(r"--(?:scr|node-o).*", re.DOTALL),
    "pytest": re.compile(r"--debug(?:=.*)?", re.DOTALL),
    "sdiff": re.compile(r"--diff.*", re.DOTALL),
    "sort": re.compile(r"--co.*", re.DOTALL),
    "split": re.compile(r"--fi.*", re.DOTALL),
    "tar": re.compile(r"-[A-Za-z]*[IF].*|--(?:inf|new|rmt|rs).*", re.DOTALL),
    "yq": re.compile(r"-[A-Za-z]*i.*|--inp.*", re.DOTALL),
    "zip": re.compile(r"-[A-Za-z]*TT.*|--unz.*", re.DOTALL),
    **dict.fromkeys(("gofmt", "goimports", "shfmt", "prettier"), _FORMATTER),
}
_TARS = ("tar", "gtar", "bsdtar")
_COMPILERS = ("cc", "c++", "gcc", "g++", "clang", "clang++")
_RISKY |= dict.fromkeys(_TARS[1:], _RISKY["tar"])
_RISKY |= dict.fromkeys(
    _COMPILERS, re.compile(r"--?(?:wrapper|specs|fplugin|iplugindir|B|W[lap],).*|@.*", re.DOTALL)
)
_RISKY |= {
    "man": re.compile(r"-[A-Za-z]*[PHC].*"),
    "mocha": re.compile(r"-r.*"),
    "pytest": re.compile(r"--debug(?:=.*)?|-p.*|-c.*", re.DOTALL),
    "rustc": re.compile(r"-C.*|--codegen.*"),
    "wget": re.compile(r"-[A-Za-z]*e.*|--e(?:x.*)?"),
}
# Long options that run a program, load code or read settings that can name programs. Many programs accept
# abbreviations, such as `--ev` for `--eval`.
_RISKY_LONG_OPTIONS = {
    **dict.fromkeys(
        _TARS,
        (
            *("use-compress-program", "to-command", "checkpoint-action", "info-script", "new-volume-script"),
            *("rmt-command", "rsh-command"),
        ),
    ),
    **dict.fromkeys(("make", "gmake"), ("eval",)),
    **dict.fromkeys(("diff3", "sdiff"), ("diff-program",)),
    "cargo": ("config",),
    "curl": ("config", "engine", "proto-redir"),
    "eslint": ("config", "plugin", "resolve-plugins-relative-to", "rulesdir", "parser", "format"),
    "flake8": ("config", "append-config"),
    "hg": ("config", "config-file", "cwd", "repository"),
    "jest": ("config", "setupFiles", "globalSetup", "reporters", "runner", "testRunner", "transform"),
    "man": ("pager", "html", "config-file", "preprocessor"),
    "mocha": ("require", "config", "file", "reporter"),
    "mypy": ("python-executable", "config-file", "custom-typeshed-dir", "shadow-file", "install-types"),
    "prettier": ("plugin", "config"),
    "pylint": ("init-hook", "load-plugins", "rcfile"),
    "pytest": ("override-ini", "config-file", "confcutdir", "rootdir"),
    "rg": ("pre", "hostname-bin"),
    "svn": ("diff-cmd", "diff3-cmd", "editor-cmd", "config-option", "config-dir"),
}
_SHORTEST_LONG_OPTION = 2  # in characters, without the hyphens
# Programs that save what they download: short options that write a file or read further options, those that
# take a value, and long options that write a file.
_DOWNLOADERS = {
    "curl": (
        "oOJDcK",
        "AbCdeEFhHmPQrtTuUwxXyYz",
        (
            *("output", "output-dir", "remote-name", "remote-header-name", "dump-header", "cookie-jar"),
            *("trace", "trace-ascii", "stderr", "etag-save", "libcurl", "hsts", "alt-svc"),
        ),
    ),
    "wget": (
        "OoaPie",
        "ABDIlQRStTUwX",
        ("output-document", "output-file", "append-output", "directory-prefix", "save-cookies", "input-file"),
    ),
}
_WRITTEN_FILE_OPTIONS = {
    "curl": (
        "oDc",
        _DOWNLOADERS["curl"][1] + "K",
        (
            *("output", "dump-header", "cookie-jar", "trace", "trace-ascii", "stderr", "etag-save"),
            *("libcurl", "hsts", "alt-svc"),
        ),
    ),
    "wget": (
        "Ooa",
        _DOWNLOADERS["wget"][1] + "Pie",
        ("output-document", "output-file", "append-output", "save-cookies"),
    ),
    "sort": ("o", "kStT", ("output",)),
    **dict.fromkeys(_COMPILERS, ("o", "xILDUlBMW", ())),
}
"""By program: short options whose value is a file to write, others with a value, and such long options."""
# Programs that only read the files that they are given, apart from the options that are known here.
_READERS = frozenset(
    {
        *("basename", "cat", "cmp", "column", "comm", "cut", "date", "df", "diff", "dirname", "du"),
        *("echo", "egrep"),
        *("expr", "false", "fgrep", "file", "fold", "grep", "head", "id", "join", "jq", "ls", "md5sum"),
        *("nl", "od"),
        *("paste", "pgrep", "printf", "ps", "pwd", "readlink", "realpath", "rg", "seq", "sha256sum"),
        *("stat", "tac"),
        *("tail", "test", "touch", "tr", "tree", "true", "type", "uname", "wc", "which", "whoami"),
        *("mkdir", "rmdir"),
    }
)
_WITH_SUBCOMMANDS_OR_TABLE = frozenset({
    *("git", "npm", "pnpm", "yarn", "cargo", "go", "ruff", "black", "isort", "tsc", "gh", "hg", "svn", "apt"),
})  # fmt: skip
# Programs that write their second operand, with their options whose value is the next word.
_WRITING_SECOND = {
    "uniq": re.compile(r"-[A-Za-z]*[fsw]|--skip-fields|--skip-chars|--check-chars"),
    "xxd": re.compile(r"-(?:c|cols|g|groupsize|l|len|n|name|s|seek|R)"),
}
_SED_OPTION = re.compile(
    r"-[nErsuz]+|--(?:quiet|silent|regexp-extended|null-data|separate|unbuffered|posix|debug|sandbox)"
)
_SED_EXPRESSION = re.compile(r"(?:-[nErsuz]*e|--expression=)(.*)", re.DOTALL)
_SED_BEFORE_SCRIPT = re.compile(r"-[nErsuz]*e|--expression")
_SED_ADDRESS = r"(?:\d++(?:~\d++)?+|\$|/(?:\\.|\[[^]/\\]*+\]|[^/\\[])*+/I?+)"
_SED_COMMAND = rf"""\ *+ (?:{_SED_ADDRESS}(?:,(?:[+~]\d++|{_SED_ADDRESS}))?+\ *+!?+\ *+)?+
    (?: [pdPDnNgGhHxq=]
      | s(?P<sign>[/|#,:@!]) (?:\\.|(?!(?P=sign))(?:\[(?:(?!(?P=sign))[^]\\])*+\]|[^\\[]))*+ (?P=sign)
        (?:\\.|(?!(?P=sign))[^\\])*+ (?P=sign) [gpiI0-9]*+
    )\ *+"""
_SED_ONE = re.compile(_SED_COMMAND, re.VERBOSE)
"""Matches a `sed` command that only affects what is printed.

Not matched, among others: commands that access files (`r`, `w`) or run programs (`e`).
"""
_CHANGING = frozenset({
    *(".", "abbr", "alias", "argparse", "autoload", "bind", "bindkey", "builtin", "cd", "chdir", "command"),
    *("compctl", "compdef", "compgen", "complete", "declare", "dirs", "disable", "emulate", "enable", "eval"),
    *("exec", "export", "fc", "fish_add_path", "float", "functions", "getln", "getopts", "hash", "history"),
    *("integer", "jobs"),
    *("let", "local", "mapfile", "nameref", "popd", "print", "private", "pushd", "read", "readarray"),
    *("readonly", "rehash", "sched", "set", "setopt", "shift", "shopt", "source", "trap", "typeset"),
    *("ulimit", "umask", "unalias", "unfunction", "unhash", "unset", "unsetopt", "vared", "wait"),
    *("zle", "zmodload", "zparseopts", "zstyle"),
})  # fmt: skip
# `printf -v 'a[$(x)]'`, `test -v 'a[$(x)]'` and in zsh `exit 'a[$(x)]'` run `x` despite the quotes.
_EVALUATING = frozenset(
    {"[", "break", "bye", "continue", "exit", "logout", "print", "printf", "return", "test"}
)


def has_option_table(program: str) -> bool:
    """Return True if the options are known with which a program writes files or runs programs.

    For other programs, a rule for the program's name alone could allow any program to run.
    """
    name = program.rpartition("/")[2].lower()
    known = (_RISKY, _RISKY_LONG_OPTIONS, _WRITING_SECOND)
    return name in _READERS | _WITH_SUBCOMMANDS_OR_TABLE | {"sed", "gsed"} or any(
        name in table for table in known
    )


def files_written_by_options(words: Sequence[str]) -> Iterator[str]:
    """Yield the files that options of a known program make the program write, as in `curl -o FILE`."""
    program = words[0].rpartition("/")[2].lower() if words else ""
    if program not in _WRITTEN_FILE_OPTIONS:
        return
    writing, valued, long_options = _WRITTEN_FILE_OPTIONS[program]
    for word, following in zip(words[1:], (*words[2:], ""), strict=False):
        if word.startswith("--"):
            name, sign, value = word[2:].partition("=")
            if name in long_options:
                yield value if sign else following
        elif word.startswith("-"):
            for at, letter in enumerate(word[1:], 2):
                if letter in writing:
                    yield word[at:] or following
                if letter in writing + valued:
                    break
    keeps_name = any(word == "--remote-name" or re.match(r"-[A-Za-z]*O", word) for word in words)
    if program == "curl" and keeps_name:
        yield from (_remote_name(word) for word in words[1:] if "/" in word and not word.startswith("-"))


def _remote_name(address: str) -> str:
    return address.partition("?")[0].rstrip("/").rpartition("/")[2] or "."


def find_program_risks(words: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the index in `words` of each argument that this module knows to be risky, and the reason."""
    program = words[0].rpartition("/")[2].lower()
    if program in {"sed", "gsed"}:
        yield from _risks_of_sed(words)
    if risky := _RISKY.get(program):
        for position, word in enumerate(words[1:], 1):
            if risky.fullmatch(word):
                yield position, f"{word} may write a file or run a program"
    yield from _risks_of_long_options(program, words)
    if program in _DOWNLOADERS:
        yield from _risks_of_downloads(words, *_DOWNLOADERS[program])
    if program in _TARS and re.fullmatch(r"[A-Za-z]*[IF][A-Za-z]*", "".join(words[1:2])):  # `tar xfI …`
        yield 1, f"{words[1]} may run a program"
    if valued := _WRITING_SECOND.get(program):
        operands = list(_operands(words, valued))
        yield from ((position, f"it writes {words[position]}") for position in operands[1:])


def _risks_of_long_options(program: str, words: Sequence[str]) -> Iterator[tuple[int, str]]:
    options = _RISKY_LONG_OPTIONS.get(program, ())
    for position, word in enumerate(words[1:], 1):
        name = word.removeprefix("--").partition("=")[0]
        abbreviates = len(name) >= _SHORTEST_LONG_OPTION and any(each.startswith(name) for each in options)
        if word.startswith("--") and abbreviates:
            yield position, f"--{name} may run a program"


def _risks_of_downloads(
    words: Sequence[str], writing: str, valued: str, long_options: Sequence[str]
) -> Iterator[tuple[int, str]]:
    for position, word in enumerate(words[1:], 1):
        name = word.removeprefix("--").partition("=")[0]
        if word.startswith("--"):
            if any(each.startswith(name) for each in long_options if len(name) > _SHORTEST_LONG_OPTION):
                yield position, f"--{name} may write a file"
            continue
        for letter in word[1:] if word.startswith("-") else "":
            if letter in writing:
                yield position, f"-{letter} may write a file"
            if letter in writing + valued:
                break


def _operands(words: Sequence[str], valued: re.Pattern[str]) -> Iterator[int]:
    """Yield the indexes of the words that are neither options nor the values of options.

    If an option matches `valued`, its value is the next word.
    """
    options, skip = True, False
    for position, word in enumerate(words[1:], 1):
        if skip:
            skip = False
        elif options and word == "--":
            options = False
        elif options and word.startswith("-") and word != "-":
            skip = valued.fullmatch(word) is not None
        else:
            yield position


def _risks_of_sed(words: Sequence[str]) -> Iterator[tuple[int, str]]:
    scripts: list[int] = []  # indexes in `words`; for `-e SCRIPT`, the index of SCRIPT
    operands: list[int] = []
    for position, word in enumerate(words[1:], 1):
        expression = _SED_EXPRESSION.fullmatch(word)
        if _SED_BEFORE_SCRIPT.fullmatch(words[position - 1]):
            scripts.append(position)
        elif expression or word == "--expression":
            scripts += [position] if expression and expression[1] else []
        elif not word.startswith("-") or word == "-":
            operands.append(position)
        elif not _SED_OPTION.fullmatch(word):
            yield position, f"{word} may write a file or run a program"
    for position in scripts or operands[:1]:
        found = _SED_EXPRESSION.fullmatch(words[position])
        if not _only_prints(found[1] if found and found[1] else words[position]):
            yield position, f"the script {words[position]} may read or write files or run a program"


def _only_prints(script: str) -> bool:
    position = 0
    while found := _SED_ONE.match(script, position):
        position = found.end()
        if position == len(script):
            return True
        if script[position] != ";":
            return False
        position += 1
    return False


def evaluates(program: str, argument: str) -> str | None:
    """Return why a shell builtin may run a command substitution in a quoted argument; None if not."""
    if program in _EVALUATING | _CHANGING and ("$(" in argument or "`" in argument):
        return f"{program} may run the command in {argument}"
    return None


def changes_shell(part: CommandPart) -> bool:
    """Return True if the command is a builtin that may change the shell, such as its folder or variables."""
    sets_variable = part.name == "printf" and any(text.startswith("-v") for text in part.arguments)
    return part.name in _CHANGING or sets_variable
