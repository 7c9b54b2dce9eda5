"""Checks for commands that stop the machine, or change files and accounts that it depends on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from acp_tui.permissions.danger.protected_paths import describe_protected, find_vital_file, is_wild

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.permissions.danger.steps import Step

_ENDING = frozenset({"shutdown", "reboot", "poweroff", "halt"})
_ENDING_UNITS = frozenset({"poweroff", "reboot", "halt", "kexec", "emergency", "rescue"})
_ROOT_MOUNT = re.compile(
    r"(?:--volume=|-v)?/:(?P<rest>/\S*)|(?:--mount=)?type=bind,(?:source|src)=/,(?P<more>\S+)"
)
_HARMLESS_SIGNAL = re.compile(r"(?:-|--signal=)(?:0|1|(?:SIG)?(?:HUP|USR[12]|CONT|WINCH|CHLD))")
_SET_USER_ID = re.compile(r"[0-7]?[4-7][0-7]{3}|(?:[ugoa]*+,)*+(?=[goa]*u)[ugoa]*+\+[^\ss]*+s\S*+|\+s")
_REMOUNT = re.compile(r"(?:\b|^-o)remount\b")
_SHELL_FILE = re.compile(r"(?:.*/)?(?:ba|da|z|k)?sh")


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
        found = find_vital_file(path, step.folder)
        if found is None and is_wild(path.rpartition("/")[2]):  # `/etc/*`
            found = describe_protected(path, step.folder)
        if found:
            return f"it changes {found}, which the system needs"
    return None


def check_mount(step: Step) -> str | None:
    """Check for commands that unmount a file system the machine needs, or mount it in another way."""
    if step.name == "umount":
        if step.has("--all") or re.search(r"a", step.letters):
            return "it unmounts all file systems"
        found = next(
            (what for path in step.operands if (what := describe_protected(path, step.folder))), None
        )
        return f"it unmounts {found}" if found else None
    if step.name != "mount" or not any(map(_REMOUNT.search, step.arguments)):
        return None
    found = next((what for path in step.operands if (what := describe_protected(path, step.folder))), None)
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


CHECKS: tuple[Callable[[Step], str | None], ...] = (
    check_vital_file,
    check_mount,
    check_shutdown,
    check_accounts,
    check_set_user_id,
    check_root_mount,
)
