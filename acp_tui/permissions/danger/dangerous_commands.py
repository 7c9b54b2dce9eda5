"""Commands that no rule and no policy may allow: what they destroy cannot be brought back.

The families are in `danger`. What is harmless must stay off the list: people who are asked too often learn to
say yes. `tests/permissions/corpora` holds the commands it is measured with.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING

from acp_tui.permissions.commands.command_line import CommandLine, Part, Word
from acp_tui.permissions.commands.shell_parser import parse_argv, parse_command_line
from acp_tui.permissions.danger import code, deletion, disks, downloads, system
from acp_tui.permissions.danger.code import BOMB
from acp_tui.permissions.danger.steps import Step, feed, steps

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_FORK_BOMB = re.compile(
    r"(?<![^\s(){};&|])(?P<name>[^\s(){};&|]++)\s*+(?:\(\s*+\)\s*+)?\{[^{}]{0,200}?"
    r"(?<![^\s(){};&|])(?P=name)\s*(?:\|\s*(?P=name)\s*)?&[^{}]{0,200}\}"
    r"|(?:^|[\s;&|'\"/(])\$\{?0\}?[\s'\"]{0,3}&(?![&>])"
)
_SEPARATORS = re.compile(r"([;&|\n()]+)")
_NAMES = re.compile(
    r"(?:g?rm|srm|g?find|fd|mv|chmod|chown|chgrp|mkfs\S*|dd|tee|shred|cp|diskutil|rsync|rimraf|git|parallel|read"
    r"|\S*sh|python\S*|sfdisk|sgdisk|parted|cryptsetup|blkdiscard|hdparm|nvme|ls|eval|source)$"
)
# Quick to look for in long texts: each name above, or a part of it, and the downloaders.
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
_MAX_TALK_PARTS = 500
_MAX_DEPTH = 4  # scripts within scripts


def dangerous(command: str, *, cwd: str = "") -> str | None:
    """Why a line for the shell may be answered by a person only; None when it is not on the list."""
    return _line(command, cwd, 0)


def dangerous_argv(argv: tuple[str, ...], *, cwd: str = "") -> str | None:
    """The same for a program that is started without a shell."""
    if any(map(_is_bomb, argv)):
        return BOMB
    return _in_line(parse_argv(argv), cwd, 0)


def dangerous_talk(text: str) -> str | None:
    """The same for text that cannot be taken apart, or only speaks of a command: crude."""
    return _talk(text, 0)


def _line(command: str, cwd: str, depth: int) -> str | None:
    if _is_bomb(command):
        return BOMB
    line = parse_command_line(command)
    return _in_line(line, cwd, depth) or (_talk(command, depth) if line.problem else None)


def _is_bomb(text: str) -> bool:
    return "&" in text and ("{" in text or "0" in text) and _FORK_BOMB.search(text) is not None


def _talk(text: str, depth: int) -> str | None:
    if _is_bomb(text):
        return BOMB
    line = CommandLine()
    separator = ""
    pipeline = 1
    for at, piece in enumerate(_SEPARATORS.split(text)):
        if at % 2:
            separator = piece
            continue
        pipeline += separator != "|"
        if not _ANY_NAME.search(piece):
            continue
        words = [word.strip("'\"`,.:?!“”") or word for word in _QUOTED_VALUE.sub("= ", piece).split()]
        for start, word in enumerate(words):
            if len(line.parts) < _MAX_TALK_PARTS and _is_name(word.rpartition("/")[2]):
                line.parts.append(
                    Part(tuple(_word(each) for each in words[start : start + 64]), pipeline=pipeline)
                )
    return _in_line(line, "", depth)


def _word(text: str) -> Word:
    return Word(text, literal="$" not in text and "{" not in text)


def _is_name(word: str) -> bool:
    return word in downloads.DOWNLOADERS or _NAMES.match(word) is not None


def _in_line(line: CommandLine, cwd: str, depth: int) -> str | None:
    """The first thing in it that is on the list."""
    found = list(steps(line, cwd))
    for step in found:
        for check in (*deletion.CHECKS, *disks.CHECKS, *system.CHECKS):
            if why := check(step):
                return why
    for check_all in (*downloads.CHECKS, deletion.removes_what_is_listed):
        if why := check_all(found):
            return why
    return _in_scripts(found, depth) if depth < _MAX_DEPTH else None


def _in_scripts(found: Sequence[Step], depth: int) -> str | None:
    """What the line writes down for a shell, or another interpreter, to run."""
    for program in (program for step in found for program in code.code_of(step)):
        why, commands = code.judge(program)
        if why := why or (_talk(commands, depth + 1) if commands else None):
            return why
    scripts = ((script, step.folder) for step in found for script in _scripts(step, found))
    return next((why for script, folder in scripts if (why := _line(script, folder, depth + 1))), None)


def _scripts(step: Step, all_steps: Sequence[Step]) -> Iterator[str]:
    """Its input when it is a shell, a file the line has written before, a setting that names a command."""
    if downloads.runs_input(step):
        yield from step.part.input
        for before in feed(all_steps, step):
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
    """What it prints, as far as that can be read here."""
    if step.name == "cat":
        yield from step.part.input
    elif step.name in {"echo", "printf"}:
        words = [text for text in step.arguments if text not in {"-n", "-e", "-ne", "-en"}]
        if step.name == "printf" and len(words) > 1 and "%" in words[0]:
            words = words[1:]
        yield " ".join(words).replace("\\n", "\n") + ("" if "-n" in step.arguments else "\n")
