"""Finds commands whose damage cannot be undone. No rule and no policy allows them.

Harmless commands must not be reported: users who see too many warnings stop reading them. In the lists of
`tests/permissions/corpora`, the tests count dangerous commands that are missed and harmless commands that are
reported.
"""

from __future__ import annotations

import re
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from acp_tui.permissions.commands.command_line import CommandLine, Part, Word
from acp_tui.permissions.commands.shell_parser import parse_command_line
from acp_tui.permissions.danger import deletion, disks, downloads, inline_code, system
from acp_tui.permissions.danger.inline_code import BOMB
from acp_tui.permissions.danger.steps import Step, expand_steps, find_feeders

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_FORK_BOMB = re.compile(
    r"(?<![^\s(){};&|])(?P<name>[^\s(){};&|]++)\s*+(?:\(\s*+\)\s*+)?\{[^{}]{0,200}?"
    r"(?<![^\s(){};&|])(?P=name)\s*(?:\|\s*(?P=name)\s*)?&[^{}]{0,200}\}"
    r"|(?:^|[\s;&|'\"/(])\$\{?0\}?[\s'\"]{0,3}&(?![&>])"
)
_FUNCTION = re.compile(
    r"(?:^|[\s;&|(])(?:function\s++(?P<keyword>[\w-]++)(?:\s*+\(\s*+\))?|(?P<name>[\w-]++)\s*+\(\s*+\))\s*+"
    r"[{(](?P<body>(?:\$[{(][^{}()]{0,200}+[})]|[^{}()]){0,2000}+)[})]"
)
_SEPARATORS = re.compile(r"([;&|\n()]+)")
_NAMES = re.compile(
    r"(?:g?rm|srm|g?find|fd|mv|chmod|chown|chgrp|mkfs\S*|dd|tee|shred|cp|diskutil|rsync|rimraf|git|parallel|read"
    r"|\S*sh|python\S*|sfdisk|sgdisk|parted|cryptsetup|blkdiscard|hdparm|nvme|ls|eval|source)$"
)
# A quick check for long texts: matches a part of each name in `_NAMES`, and the downloaders.
_ANY_NAME = re.compile(
    r"rm|find|fd|mv|ch(?:mod|own|grp)|mkfs|dd|tee|sh|cp|diskutil|rsync|rimraf|git|parallel|read|python|sfdisk"
    r"|sgdisk|parted|cryptsetup|blkdiscard|hdparm|nvme|ls|eval|source"
    rf"|{'|'.join(downloads.DOWNLOADERS)}"
)
_COMMAND_SETTING = re.compile(
    r"(?:\w*(?:PAGER|EDITOR|COMMAND|SHELL|VISUAL)|[\w.]*(?:pager|editor|command|alias\.\w+))=(.*)", re.DOTALL
)
_EDITORS = frozenset({"vim", "vi", "nvim", "ex", "view"})
_QUOTED_VALUE = re.compile(r"=['\"]")
MAX_SCRIPT_DEPTH = 4
MAX_CALLS = 20
"""The maximum number of calls of the functions in a line to check."""
MAX_MENTIONS = 500
"""The maximum number of commands to check in a text that cannot be parsed."""
MENTION_WORDS = 64
"""How many words of a text are taken as one command, from the command's name on."""
WINDOW = 64 * 1024
"""How many characters to search at a time. A regular expression blocks all other threads while it runs."""
LONGEST_BOMB = 1024


def find_danger(given: str | tuple[str, ...], line: CommandLine, steps: Sequence[Step]) -> str | None:
    """Return a clause such as "it formats a disk" if a command is dangerous, otherwise None.

    `given` is the command as the agent wrote it; `line` and `steps` are its parsed form. If no danger
    is found, and a script in the command is too long to be checked, sets `line.too_long`.
    """
    if isinstance(given, str):
        return _in_text(given, line, steps, depth=0)
    if any(map(_is_bomb, given)):
        return BOMB
    return _in_steps(line, steps, depth=0) or (_in_prose(" ".join(given), 0) if line.too_long else None)


def find_danger_in_prose(text: str) -> str | None:
    """Return why a command in a text, such as a title, is dangerous; None if no command is dangerous.

    The check is less exact than that of `find_danger`.
    """
    return _in_prose(text, 0)


def _in_text(text: str, line: CommandLine, steps: Sequence[Step], depth: int) -> str | None:
    if _is_bomb(text):
        return BOMB
    why = _in_steps(line, steps, depth)
    if why or not line.problem:
        return why
    return _in_prose(text, depth) or (_in_functions(text, steps, depth) if depth < MAX_SCRIPT_DEPTH else None)


def _in_functions(text: str, steps: Sequence[Step], depth: int) -> str | None:
    """Check each call of a function with the call's arguments, as in `f() { rm -rf "$1"; }; f /`."""
    definitions = islice(_FUNCTION.finditer(text[:WINDOW]), MAX_CALLS)
    bodies = {found["keyword"] or found["name"]: found for found in definitions}
    calls = (
        f"set -- {call['arguments']}; {found['body']}"
        for name, found in bodies.items()
        for call in _calls(name).finditer(text[:WINDOW], found.end())
    )
    folder, roots = (steps[0].folder, steps[0].roots) if steps else ("", ())
    for script in islice(calls, MAX_CALLS):
        parsed = parse_command_line(script)
        if why := _in_text(script, parsed, expand_steps(parsed, folder, roots), depth + 1):
            return why
    return None


def _calls(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![^\s;&|(){{}}]){re.escape(name)}[ \t]++(?P<arguments>[^;&|\n(){{}}]++)")


def _is_bomb(text: str) -> bool:
    if "&" not in text or not ("{" in text or "0" in text):
        return False
    starts = range(0, len(text), WINDOW)
    return any(_FORK_BOMB.search(text, start, start + WINDOW + LONGEST_BOMB) for start in starts)


def _in_prose(text: str, depth: int) -> str | None:
    if _is_bomb(text):
        return BOMB
    line = CommandLine(_mentions(text))
    return _in_steps(line, expand_steps(line), depth)


def _mentions(text: str) -> list[Part]:
    """Return the passages of a text that begin with the name of a dangerous command, parsed as commands."""
    parts: list[Part] = []
    pipeline = 1
    for separator, piece in _pieces(text):
        pipeline += separator != "|"
        if not _ANY_NAME.search(piece):
            continue
        words = [word.strip("'\"`,.:?!“”") or word for word in _QUOTED_VALUE.sub("= ", piece).split()]
        for start, word in enumerate(words):
            if not _is_name(word.rpartition("/")[2]):
                continue
            if len(parts) == MAX_MENTIONS:
                return parts
            mentioned = words[start : start + MENTION_WORDS]
            parts.append(Part(tuple(map(_word, mentioned)), pipeline=pipeline))
    return parts


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    """Split a text at separators such as `;` and `|`. Yield pairs of a separator and the piece after it.

    The first separator is empty. Very long pieces are divided.
    """
    separator, start = "", 0
    while start < len(text):
        found = _SEPARATORS.search(text, start, start + WINDOW)
        end = found.start() if found else start + WINDOW
        yield separator, text[start:end]
        separator, start = (found[0], found.end()) if found else ("", end)


def _word(text: str) -> Word:
    return Word(text, literal="$" not in text and "{" not in text)


def _is_name(word: str) -> bool:
    return word in downloads.DOWNLOADERS or _NAMES.match(word) is not None


def _in_steps(line: CommandLine, steps: Sequence[Step], depth: int) -> str | None:
    """Return the first reason why a command in `steps` is dangerous; None if no command is dangerous."""
    for step in steps:
        for check in (*deletion.CHECKS, *disks.CHECKS, *system.CHECKS):
            if why := check(step):
                return why
    for check_all in (*downloads.CHECKS, deletion.check_listed_removal):
        if why := check_all(steps):
            return why
    return _in_scripts(line, steps, depth) if depth < MAX_SCRIPT_DEPTH else None


def _in_scripts(line: CommandLine, steps: Sequence[Step], depth: int) -> str | None:
    """Return the first reason why code passed to a shell or other interpreter is dangerous, or None."""
    for at, program in ((step, program) for step in steps for program in inline_code.code_of(step)):
        why, commands = inline_code.check_code(program, at.folder, at.roots)
        if why := why or (_in_prose(commands, depth + 1) if commands else None):
            return why
    for step in steps:
        for script in _scripts(step, steps):
            parsed = parse_command_line(script)
            inner = expand_steps(parsed, step.folder, step.roots)
            if why := _in_text(script, parsed, inner, depth + 1):
                return why
            line.too_long = line.too_long or parsed.too_long
    return None


def _scripts(step: Step, all_steps: Sequence[Step]) -> Iterator[str]:
    """Yield the scripts that a step runs.

    A script may be the step's input, a file that an earlier step wrote, or a setting such as `PAGER` or a git
    alias.
    """
    if downloads.runs_input(step):
        yield from step.part.input
        for before in find_feeders(all_steps, step):
            yield from _output(before)
    elif path := downloads.run_file(step):
        name = path.rpartition("/")[2]
        earlier = takewhile(lambda other: other is not step, all_steps)
        writers = [one for one in earlier if any(each.rpartition("/")[2] == name for each in one.written)]
        yield "".join(text for writer in writers for text in _output(writer))
    settings = step.arguments if step.name in {"git", "make", "gmake"} else ()
    for text in (*step.part.assignments, *settings):
        if setting := _COMMAND_SETTING.fullmatch(text):
            yield setting[1].lstrip("!")
        elif step.name == "git" and text.startswith("!"):
            yield text[1:]
    if step.name in _EDITORS:
        yield from (text.lstrip(":!") for text in step.arguments if text.startswith(("!", ":!")))


def _output(step: Step) -> Iterator[str]:
    """Yield what a step prints, as far as the output can be predicted."""
    if step.name == "cat":
        yield from step.part.input
    elif step.name in {"echo", "printf"}:
        words = [text for text in step.arguments if text not in {"-n", "-e", "-ne", "-en"}]
        if step.name == "printf" and len(words) > 1 and "%" in words[0]:
            words = words[1:]
        yield " ".join(words).replace("\\n", "\n") + ("" if "-n" in step.arguments else "\n")
