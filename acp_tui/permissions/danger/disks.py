"""Checks for commands that format, repartition or overwrite disks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from acp_tui.permissions.danger.protected_paths import is_device

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.permissions.danger.steps import Step

_FORMATTERS = re.compile(
    r"(?:mkfs|newfs)[\w.]*|mke2fs|mkntfs|mkdosfs|mkexfatfs|mkreiserfs|wipefs|blkdiscard|mkswap|sg_format"
    r"|sg_sanitize|nwipe|scrub"
)
# With `-n`, these only say what they would do. For other formatters, `-n` is a label or a setting.
_DRY_RUNNERS = re.compile(r"mke2fs|mkfs\.ext[234]|mkntfs|mkfs\.ntfs|wipefs")
_REMOVERS = frozenset({"lvremove", "vgremove", "pvremove", "lvreduce"})
# Partition editors, with the options and commands that only print.
_EDITORS = {
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


def check_format(step: Step) -> str | None:
    """Check for programs that format, partition or erase disks."""
    words = step.arguments
    if _FORMATTERS.fullmatch(step.name) and not _formats_nothing(step):
        return "it formats a disk"
    if step.name in _REMOVERS and words:
        return "it removes a volume"
    if step.name in _EDITORS and step.operands and not _only_prints(step):
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
    printing = _EDITORS[step.name]
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


CHECKS: tuple[Callable[[Step], str | None], ...] = (check_format, check_device_write)
