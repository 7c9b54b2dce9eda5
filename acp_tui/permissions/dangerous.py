"""Commands that no rule and no policy may allow: what they destroy cannot be brought back.

A short list on purpose. A longer one would be asked about what is harmless, and people learn to say yes.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from acp_tui.permissions.parts import CommandLine, Part, Word
from acp_tui.permissions.shell import take_apart, take_apart_argv
from acp_tui.permissions.wrappers import SHELLS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


_SYSTEM = frozenset(
    {
        *(
            "/",
            "/bin",
            "/boot",
            "/dev",
            "/etc",
            "/home",
            "/lib",
            "/lib64",
            "/opt",
            "/private",
            "/proc",
            "/root",
        ),
        *("/sbin", "/srv", "/sys", "/usr", "/usr/bin", "/usr/lib", "/usr/local", "/var", "/var/lib"),
        *("/Applications", "/Library", "/System", "/Users", "/Volumes"),
    }
)
_HOME = re.compile(r"(?:~[\w.-]*|\$HOME|\$\{HOME[^}]*\})$")
_HOME_OF_SOMEONE = re.compile(r"/(?:home|Users)/[^/]+$")
_EVERYTHING_BELOW = re.compile(r"/+(?:\*+|\.\*|\{\*,\.\*\}|\.|\.\[!\.\]\*|\.\?\*)$")
_HARMLESS_DEVICES = re.compile(
    r"/dev/(?:null|zero|full|stdin|stdout|stderr|tty|fd/.*|shm/.*|pts/.*|tcp/.*|udp/.*)$"
)
_FORK_BOMB = re.compile(
    r"(?<![^\s(){};&|])(?P<name>[^\s(){};&|]++)\s*+(?:\(\s*+\)\s*+)?\{[^{}]{0,200}?"
    r"(?<![^\s(){};&|])(?P=name)\s*(?:\|\s*(?P=name)\s*)?&[^{}]{0,200}\}"
)
_DOWNLOADERS = frozenset({"curl", "wget", "fetch", "aria2c", "http", "https", "xh", "lynx", "ftp"})
_INTERPRETER = re.compile(r"(?:python|perl|ruby|node|php|lua|osascript|deno|bun|tclsh|pwsh)[\d.]*$")
_FORMATTERS = frozenset({"mke2fs", "newfs", "wipefs", "blkdiscard", "mkswap"})

_BOMB = "it starts itself again and again until nothing else runs"
_SEPARATORS = re.compile(r"([;&|\n()]+)")
_NAMES = re.compile(
    r"(?:g?rm|srm|g?find|mv|chmod|chown|chgrp|mkfs\S*|dd|tee|shred|cp|diskutil|\S*sh|python\S*)$"
)
_MOST = 500  # commands looked for in talk


def dangerous(command: str, *, cwd: str = "") -> str | None:
    """Why a line for the shell may be answered by a person only; None when it is not on the list."""
    if _FORK_BOMB.search(command):
        return _BOMB
    line = take_apart(command)
    return _in_line(line, cwd) or (dangerous_talk(command) if line.problem else None)


def dangerous_argv(argv: tuple[str, ...], *, cwd: str = "") -> str | None:
    """The same for a program that is started without a shell."""
    if any(_FORK_BOMB.search(text) for text in argv):
        return _BOMB
    return _in_line(take_apart_argv(argv), cwd)


def dangerous_talk(text: str) -> str | None:
    """The same for text that cannot be taken apart, or only speaks of a command: crude."""
    if _FORK_BOMB.search(text):
        return _BOMB
    line = CommandLine()
    separator = ""
    pipeline = 0
    for at, piece in enumerate(_SEPARATORS.split(text)):
        if at % 2:
            separator = piece
            continue
        pipeline += separator != "|"
        words = [word.strip("'\"`,.:?!“”") or word for word in piece.split()]
        for start, word in enumerate(words):
            name = word.rpartition("/")[2]
            if (name in _DOWNLOADERS or name in _FORMATTERS or _NAMES.match(name)) and len(
                line.parts
            ) < _MOST:
                line.parts.append(
                    Part(tuple(Word(each) for each in words[start : start + 64]), pipeline=pipeline)
                )
    return _in_line(line, "")


def _in_line(line: CommandLine, cwd: str) -> str | None:
    """The first thing in it that is on the list."""
    for part in line.parts:
        if why := next((why for check in _CHECKS if (why := check(part))), None):
            return why
    return _fed_by_download(line) or _deletes_here(line, cwd)


# --------------------------------------------------------------------------- what stands for everything


def _everything(path: str) -> str | None:
    """`/`, a home or a system directory, or all that is in one: how to call it."""
    plain = _EVERYTHING_BELOW.sub("", path) if _EVERYTHING_BELOW.search(path) else path
    if plain == "" and path.startswith("/"):
        return "everything on this machine"
    if _HOME.match(plain.rstrip("/") or plain):
        return "the home directory"
    if not plain.startswith("/"):
        return None
    plain = "/" + posixpath.normpath(plain).strip("/")
    if plain == "/":
        return "everything on this machine"
    if plain in _SYSTEM:
        return plain
    return f"the home directory {plain}" if _HOME_OF_SOMEONE.match(plain) else None


def _short_options(part: Part) -> str:
    return "".join(text[1:] for text in part.arguments if text.startswith("-") and not text.startswith("--"))


def _operands(part: Part) -> Iterator[str]:
    """The arguments that are no options; after `--` all are."""
    options = True
    for text in part.arguments:
        if options and text == "--":
            options = False
        elif not (options and text.startswith("-") and text != "-"):
            yield text


def _recursive(part: Part) -> bool:
    long_ones = any(len(text) > 3 and "--recursive".startswith(text) for text in part.arguments)
    return long_ones or any(letter in "rR" for letter in _short_options(part))


# --------------------------------------------------------------------------- one command


def _removes_everything(part: Part) -> str | None:
    if part.name not in {"rm", "grm", "srm"}:
        return None
    if "--no-preserve-root" in part.arguments:
        return "it switches off the protection of /"
    if not _recursive(part):
        return None
    found = next((what for path in _operands(part) if (what := _everything(path))), None)
    return f"it deletes {found}" if found else None


def _finds_and_deletes_everything(part: Part) -> str | None:
    if part.name not in {"find", "gfind"}:
        return None
    arguments = part.arguments
    runs = [arguments[at + 1] for at, text in enumerate(arguments[:-1]) if text in {"-exec", "-execdir"}]
    if "-delete" not in arguments and not any(
        program.rpartition("/")[2] in {"rm", "shred"} for program in runs
    ):
        return None
    places: list[str] = []
    for text in arguments:
        if text.startswith(("-", "(", "!")):
            break
        places.append(text)
    found = next((what for path in places if (what := _everything(path))), None)
    return f"it deletes {found}" if found else None


def _moves_everything(part: Part) -> str | None:
    if part.name != "mv":
        return None
    found = next((what for path in list(_operands(part))[:-1] if (what := _everything(path))), None)
    return f"it moves {found}" if found else None


def _opens_everything(part: Part) -> str | None:
    if part.name not in {"chmod", "chown", "chgrp"} or not _recursive(part):
        return None
    found = next((what for path in _operands(part) if (what := _everything(path))), None)
    return f"it changes the rights of {found}" if found else None


def _formats(part: Part) -> str | None:
    name = part.name
    if name.startswith("mkfs") or name in _FORMATTERS:
        return "it formats a disk"
    if name == "diskutil" and any(
        text.lower().startswith(("erase", "zero", "secureerase")) for text in part.arguments
    ):
        return "it formats a disk"
    return None


def _device(path: str) -> bool:
    normal = posixpath.normpath(path) if path else path
    return normal.startswith("/dev/") and not _HARMLESS_DEVICES.match(normal)


def _overwrites_device(part: Part) -> str | None:
    written = [redirection.target.text for redirection in part.redirections if ">" in redirection.operator]
    if part.name == "dd":
        written += [text[3:] for text in part.arguments if text.startswith("of=")]
    elif part.name in {"tee", "shred", "truncate"}:
        written += _operands(part)
    elif part.name in {"cp", "mv", "install"}:
        written += list(_operands(part))[-1:]
    found = next((path for path in written if _device(path)), None)
    return f"it overwrites the device {found}" if found else None


_CHECKS: tuple[Callable[[Part], str | None], ...] = (
    _removes_everything,
    _finds_and_deletes_everything,
    _moves_everything,
    _opens_everything,
    _formats,
    _overwrites_device,
)


# --------------------------------------------------------------------------- several commands


def _fed_by_download(line: CommandLine) -> str | None:
    """`curl … | sh`, `sh <(curl …)`, `eval "$(curl …)"`."""
    downloading: set[int] = set()
    for part in line.parts:
        fed = any(_downloads(inner) for inner in part.inner)
        if (fed and _runs_words(part)) or (part.pipeline in downloading and _runs_input(part)):
            return "it runs what it downloads"
        if fed or part.name in _DOWNLOADERS:  # `(curl …) | sh`, `echo "$(curl …)" | sh`
            downloading.add(part.pipeline)
    return None


def _downloads(part: Part) -> bool:
    return part.name in _DOWNLOADERS or any(_downloads(inner) for inner in part.inner)


def _runs_words(part: Part) -> bool:
    """Are its words, or the files it is given, run as a program? `$(curl …)` alone is."""
    if part.words and not part.words[0].literal:
        return True
    return part.name in SHELLS | {"eval", "source", "."} or _INTERPRETER.match(part.name) is not None


def _runs_input(part: Part) -> bool:
    """Does it run what it reads from its input?"""
    arguments = part.arguments
    if part.name in {"source", "."}:
        return any(text in {"/dev/stdin", "-"} for text in arguments)
    if part.name in SHELLS:
        if any(text.startswith("-") and not text.startswith("--") and "c" in text for text in arguments):
            return False
        return "-s" in arguments or all(text.startswith("-") or text == "/dev/stdin" for text in arguments)
    if _INTERPRETER.match(part.name):
        return all(text in {"-", "/dev/stdin"} for text in arguments)
    return False


def _deletes_here(line: CommandLine, cwd: str) -> str | None:
    """`cd / && rm -rf *`."""
    place = _everything(cwd)
    for part in line.parts:
        if part.name == "cd":
            place = _everything(next(_operands(part), "~"))
        elif (
            place
            and part.name == "rm"
            and _recursive(part)
            and {"*", ".", "./*", "./"} & set(_operands(part))
        ):
            return f"it deletes {place}"
    return None
