"""Finds commands whose damage cannot be undone. No rule and no policy allows them.

Harmless commands must not be reported: users who see too many warnings stop reading them. In the lists of
`tests/permissions/corpora`, the tests count dangerous commands that are missed and harmless commands that are
reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, takewhile

from acp_tui.permissions.commands.command_line import CommandLine, CommandPart, Word
from acp_tui.permissions.commands.shell_parser import parse_command_line
from acp_tui.permissions.danger import deletion, downloads, inline_code
from acp_tui.permissions.danger.inline_code import BOMB
from acp_tui.permissions.danger.protected_paths import (
    describe_system_path,
    find_system_file,
    is_device,
    is_wild,
)
from acp_tui.permissions.danger.steps import Step, expand_steps, find_feeders

_FORMATTERS = re.compile(
    r"(?:mkfs|newfs)[\w.]*|mke2fs|mkntfs|mkdosfs|mkexfatfs|mkreiserfs|wipefs|blkdiscard|mkswap|sg_format"
    r"|sg_sanitize|nwipe|scrub"
)
# With `-n`, these only say what they would do. For other formatters, `-n` is a label or a setting.
_DRY_RUNNERS = re.compile(r"mke2fs|mkfs\.ext[234]|mkntfs|mkfs\.ntfs|wipefs")
_REMOVERS = frozenset({"lvremove", "vgremove", "pvremove", "lvreduce"})
# Partition editors, with the options and commands that only print.
_DISK_EDITORS = {
    "sfdisk": re.compile(r"-[dlJsVvhn]+|--(?:dump|list|json|show-\w+|verify|version|help|no-act)\b.*"),
    "fdisk": re.compile(r"-[lxsvVh]+|--(?:list|list-details|getsz|version|help)\b.*"),
    "cfdisk": re.compile(r"-[hV]|--(?:help|version)"),
    "gdisk": re.compile(r"-l"),
    "cgdisk": re.compile(r"(?!)"),
    "parted": re.compile(r"-[lvh]|--(?:list|version|help)|print|align-check"),
    "sgdisk": re.compile(r"-[pvVDEfFLP]+|-[ib].*|--(?:print|info|verify|version|backup|display\S*|help)\b.*"),
}
_PARTED_PRINTS = re.compile(
    r"print|all|free|list|devices|align-check|min(?:imal)?|opt(?:imal)?|unit|[kKMGTP]i?B|s|B|%|cyl|chs|compact|\d+"
)
# Destructive subcommands and options.
_DESTROYING = {
    "hdparm": re.compile(r"--(?:security-\S+|trim-sector\S*|write-sector|repair-sector|make-bad-sector)"),
    "nvme": re.compile(r"format|sanitize|delete-ns|write\S*"),
    "badblocks": re.compile(r"-[^\Ww]*+w\w*+"),
    "cryptsetup": re.compile(
        r"luksFormat|erase|luksErase|luksKillSlot|luksRemoveKey|reencrypt", re.IGNORECASE
    ),
    "zpool": re.compile(r"destroy|labelclear"),
    "zfs": re.compile(r"destroy|rollback"),
    "mdadm": re.compile(r"--zero-superblock"),
    "dmsetup": re.compile(r"remove_all|wipe_table"),
    "gpart": re.compile(r"destroy|delete"),
    "diskutil": re.compile(
        r"(?:erase|zero|secureerase|partitiondisk|reformat|randomdisk|deletecontainer|deletevolume).*",
        re.IGNORECASE,
    ),
    "asr": re.compile(r"--erase"),
    "debugfs": re.compile(r"-w"),
    "ntfsclone": re.compile(r"--overwrite|-O"),
}
_ENDING = frozenset({"shutdown", "reboot", "poweroff", "halt"})
_ENDING_UNITS = frozenset({"poweroff", "reboot", "halt", "kexec", "emergency", "rescue"})
_ROOT_MOUNT = re.compile(
    r"(?:--volume=|-v)?/:(?P<rest>/\S*)|(?:--mount=)?type=bind,(?:source|src)=/,(?P<more>\S+)"
)
_HARMLESS_SIGNAL = re.compile(r"(?:-|--signal=)(?:0|1|(?:SIG)?(?:HUP|USR[12]|CONT|WINCH|CHLD))")
_SET_USER_ID = re.compile(r"[0-7]?[4-7][0-7]{3}|(?:[ugoa]*+,)*+(?=[goa]*u)[ugoa]*+\+[^\ss]*+s\S*+|\+s")
_REMOUNT = re.compile(r"(?:\b|^-o)remount\b")
_SHELL_FILE = re.compile(r"(?:.*/)?(?:ba|da|z|k)?sh")
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
"""The maximum number of commands to check in text that cannot be parsed."""
MENTION_WORDS = 64
"""How many words of text are taken as one command, from the command's name on."""
WINDOW = 64 * 1024
"""How many characters to search at a time. A regular expression blocks all other threads while it runs."""
LONGEST_BOMB = 1024


def check_format(step: Step) -> str | None:
    """Check for programs that format, partition or erase disks."""
    words = step.arguments
    if _FORMATTERS.fullmatch(step.name) and not _formats_nothing(step):
        return "it formats a disk"
    if step.name in _REMOVERS and words:
        return "it removes a volume"
    if step.name in _DISK_EDITORS and step.operands and not _only_prints(step):
        return "it changes the partitions of a disk"
    destroying = _DESTROYING.get(step.name)
    return "it erases a disk" if destroying and any(map(destroying.fullmatch, words)) else None


def _formats_nothing(step: Step) -> bool:
    words = step.arguments
    if "-n" in words and _DRY_RUNNERS.fullmatch(step.name):
        return True
    return bool({"--help", "--no-act", "--version"} & set(words)) or [*words] == ["-V"]


def _only_prints(step: Step) -> bool:
    """Return True if a partition editor has options or commands, and all of them only print."""
    printing = _DISK_EDITORS[step.name]
    if step.name == "parted":  # its commands follow the device, and may be abbreviated
        others = [word for word in step.operands[1:] if not _PARTED_PRINTS.fullmatch(word)]
    else:
        others = [word for word in step.arguments if word.startswith("-") and not printing.fullmatch(word)]
    return not others and any(map(printing.fullmatch, step.arguments))


def check_device_write(step: Step) -> str | None:
    """Check for commands that write directly to a disk or another device."""
    written = list(step.written)
    if step.name in {"dd", "dcfldd", "dc3dd"}:
        written += [text.partition("=")[2] for text in step.arguments if text.startswith(("of=", "wipe="))]
    elif step.name in {"tee", "shred", "truncate", "wipe"}:
        written += step.operands
    elif step.name in {"cp", "mv", "install", "ddrescue"}:
        written += [text for text in step.operands[1:] if is_device(text)]
    found = next((path for path in written if is_device(path)), None)
    return f"it overwrites the device {found}" if found else None


DISK_CHECKS: tuple[Callable[[Step], str | None], ...] = (check_format, check_device_write)


def check_vital_file(step: Step) -> str | None:
    """Check for commands that change a vital file, such as `> /etc/passwd`, `sed -i … /etc/sudoers`."""
    written = list(step.written)
    if step.name in {"tee", "truncate", "sponge"}:
        written += step.operands
    elif step.name in {"cp", "mv", "install", "ln", "rsync"}:
        written += step.operands[-1:]
    elif step.name in {"sed", "gsed", "perl", "ed", "ex"}:
        in_place = step.name in {"ed", "ex"} or "i" in step.letters or step.has("--in-place")
        written += step.operands if in_place else []
    elif step.name == "dd":
        written += [text[3:] for text in step.arguments if text.startswith("of=")]
    for path in written:
        found = find_system_file(path, step.folder)
        if found is None and is_wild(path.rpartition("/")[2]):  # `/etc/*`
            found = describe_system_path(path, step.folder)
        if found:
            return f"it changes {found}, which the system needs"
    return None


def check_mount(step: Step) -> str | None:
    """Check for commands that unmount a file system the machine needs, or mount it in another way."""
    if step.name == "umount":
        if step.has("--all") or re.search(r"a", step.letters):
            return "it unmounts all file systems"
        found = next(
            (what for path in step.operands if (what := describe_system_path(path, step.folder))), None
        )
        return f"it unmounts {found}" if found else None
    if step.name != "mount" or not any(map(_REMOUNT.search, step.arguments)):
        return None
    found = next((what for path in step.operands if (what := describe_system_path(path, step.folder))), None)
    return f"it mounts {found} in another way" if found else None


def check_shutdown(step: Step) -> str | None:
    """Check for commands that stop the machine or all processes, such as `reboot`, `kill -9 -1`."""
    words = step.arguments
    if step.name not in {"kill", "killall5"} and {"--help", "--version", "-c", "--show"} & set(words):
        return None
    if (
        step.name in _ENDING
        or (step.name in {"init", "telinit"} and words[:1] in {("0",), ("6",)})
        or (
            step.name in {"systemctl", "loginctl"} and step.operands[:1] and step.operands[0] in _ENDING_UNITS
        )
    ):
        return "it shuts the machine down"
    if step.name == "kill" and len(words) > 1 and words[0] not in {"-l", "-L", "--list", "--table"}:
        is_separate = words[0] in {"-s", "-n", "--signal"}
        signal, targets = (f"-{words[1]}", words[2:]) if is_separate else (words[0], words[1:])
        more_options = any(re.match("--?[a-zA-Z]", text) for text in targets)  # one may be the signal
        ends_first = "1" in targets and (more_options or not _HARMLESS_SIGNAL.fullmatch(signal))
        return "it kills every process" if "-1" in targets or ends_first else None
    return "it kills every process" if step.name == "killall5" else None


def check_accounts(step: Step) -> str | None:
    """Check for commands that delete accounts, groups or all scheduled jobs, such as `crontab -r`."""
    if step.name == "crontab" and "r" in step.letters:
        return "it deletes all scheduled jobs"
    if step.name in {"userdel", "deluser", "groupdel"} and step.operands:
        return "it deletes an account"
    return None


def check_set_user_id(step: Step) -> str | None:
    """Check for commands that let every user become root by setting the set-user-ID bit of a shell."""
    if step.name == "chmod" and any(map(_SET_USER_ID.fullmatch, step.operands[:1])):
        return (
            "it lets every user become root" if any(map(_SHELL_FILE.fullmatch, step.operands[1:])) else None
        )
    return None


def check_root_mount(step: Step) -> str | None:
    """Check for commands that start a container with write access to the whole machine."""
    if step.name not in {"docker", "podman", "nerdctl"} or not {"run", "create"} & set(step.arguments):
        return None
    for text in step.arguments:
        found = _ROOT_MOUNT.fullmatch(text)
        options = (found["rest"] or found["more"]) if found else ""
        if found and not re.search(r":(?:\w+,)*ro\b|\breadonly\b", options):
            return "it lets a container write to the whole machine"
    return None


SYSTEM_CHECKS: tuple[Callable[[Step], str | None], ...] = (
    check_vital_file,
    check_mount,
    check_shutdown,
    check_accounts,
    check_set_user_id,
    check_root_mount,
)


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
    """Return why a command in text, such as a title, is dangerous; None if no command is dangerous.

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


def _mentions(text: str) -> list[CommandPart]:
    """Return the passages of text that begin with the name of a dangerous command, parsed as commands."""
    parts: list[CommandPart] = []
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
            parts.append(CommandPart(tuple(map(_word, mentioned)), pipeline=pipeline))
    return parts


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    """Split text at separators such as `;` and `|`. Yield pairs of a separator and the piece after it.

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
        for check in (*deletion.CHECKS, *DISK_CHECKS, *SYSTEM_CHECKS):
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
