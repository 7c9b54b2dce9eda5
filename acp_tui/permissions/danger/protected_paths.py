"""Paths that must not be lost: the root, homes, system folders, devices, and files that the system needs."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from fnmatch import fnmatchcase

ROOT = "everything on this machine"
HOME = "the home directory"
WORKSPACE = "the whole workspace"

_SYSTEM_FOLDERS = (
    *("/bin", "/boot", "/dev", "/efi", "/etc", "/home", "/lib", "/lib32", "/lib64", "/media", "/mnt"),
    *("/nix", "/opt", "/private", "/proc", "/root", "/run", "/sbin", "/srv", "/sys", "/usr", "/var"),
    *("/etc/ssh", "/etc/ssl", "/etc/systemd", "/etc/pam.d", "/nix/store", "/usr/bin", "/usr/include"),
    *("/usr/lib", "/usr/lib64", "/usr/libexec", "/usr/local", "/usr/local/bin", "/usr/local/lib"),
    *("/usr/sbin", "/usr/share", "/var/lib", "/var/lib/dpkg", "/var/lib/docker", "/var/lib/mysql"),
    *("/var/lib/pacman", "/var/lib/postgresql", "/var/lib/rpm", "/var/mail", "/var/spool"),
    *("/Applications", "/Library", "/System", "/Users", "/Volumes", "/private/etc", "/private/var"),
)  # fmt: skip
_HOME_FOLDERS = frozenset({
    *("Documents", "Desktop", "Pictures", "Music", "Videos", "Movies", "Library", ".ssh", ".gnupg"),
    *(".config", ".local", ".local/share", ".aws", ".kube", ".password-store", ".mozilla"),
    ".thunderbird",
})  # fmt: skip
# Nothing below these may be deleted.
_SYSTEM_TREES = ("/bin/", "/boot/", "/efi/", "/proc/", "/sbin/", "/sys/", "/System/")
_VITAL = re.compile(
    r"/(?:private/)?etc/(?:passwd|shadow|group|gshadow|sudoers(?:\.d/.*)?|fstab|ld\.so\.preload|pam\.d/.*)"
    r"|/(?:usr/)?s?bin/(?:sh|bash|dash|zsh|sudo|su|login|init|env)"
    r"|/(?:usr/)?lib\w*/(?:[\w-]+/)?(?:ld-linux|ld-musl|libc)[\w.-]*"
    r"|/boot/.*|/efi/.*|/proc/sysrq-trigger|/proc/sys/kernel/.*|/dev/(?:k?mem|port)"
)
_HARMLESS_DEVICES = re.compile(
    r"/dev/(?:null|zero|full|u?random|std(?:in|out|err)|console|kmsg|log|ptmx|tty.*|cu\..*|fd/.*|shm/.*|pts/.*"
    r"|tcp/.*|udp/.*|snd/.*|dsp.*|usb/.*|lp\d*|hidraw\d+|video\d+|net/.*)$"
)

_HOME_START = re.compile(r"^(?:~(?P<user>[\w.-]*)|\$HOME\b|\$\{HOME\b[^}]*\})(?=/|$)")
_USER_NAME = re.compile(
    r"(?<=/)(?:\$\{?(?:USER|LOGNAME)\b[^/}]*\}?|\$\((?:whoami|id -un|logname)\)|`(?:whoami|id -un)`)(?=/|$)"
)
_HERE = re.compile(r"^(?:\$PWD\b|\$\{PWD\b[^}]*\}|\$\(pwd\)|`pwd`|~\+)(?=/|$)")
_VARIABLES_ONLY = re.compile(r"(?:\$\w++|\$\{\w[^}]*+\}|\$[@*#?])+$")
_GLOB = re.compile(r"[*?\[]")
_VISIBLE_NAMES = ("bin", "documents", "notes.txt", "x9")
_HIDDEN_NAMES = (".config", ".bashrc", ".x")
_FEWEST_CLIMBS = 3
_MAX_NAME = 255  # longer names do not exist, and long patterns are slow to match


def describe_system_path(path: str, folder: str = "") -> str | None:
    """Describe a path that means the root, a home, a system folder or everything in one of them; else None.

    Args:
        path: As written, with variables and globs.
        folder: The folder that a relative path starts from; empty if the folder is not known.
    """
    return next((found for parts in _candidates(path, folder) if (found := _named(parts))), None)


def describe_system_or_home_path(path: str, folder: str = "") -> str | None:
    """Like `describe_system_path`, but for more paths.

    Also describes vital files, all files of some system folders, and folders of a home such as `Documents` or
    `.ssh`.
    """
    if found := describe_system_path(path, folder) or find_system_file(path, folder):
        return found
    for parts in _candidates(path, folder):
        plain = "/" + "/".join(parts)
        if any(plain.startswith(tree) for tree in _SYSTEM_TREES):
            return plain
        depth = _home_depth(parts)
        if depth and "/".join(parts[depth:]) in _HOME_FOLDERS:
            return f"{HOME}'s {'/'.join(parts[depth:])}"
    return None


def describe_workspace(path: str, folder: str, roots: Iterable[str]) -> str | None:
    """Return `WORKSPACE` if a path means a folder in `roots`, everything in it, or a folder around it."""
    for parts in _candidates(path, folder) if folder or path.startswith("/") else ():
        while parts and is_wild(parts[-1]):
            parts.pop()
        plain = "/" + "/".join(parts)
        if any(root == plain or root.startswith(f"{plain.rstrip('/')}/") for root in roots):
            return WORKSPACE
    return None


def climbs_out(path: str) -> bool:
    """Return True if a path consists only of `..`."""
    return bool(path) and set(posixpath.normpath(path).split("/")) == {".."}


def find_system_file(path: str, folder: str = "") -> str | None:
    """Return the absolute path of a file that is known to be vital for the system; None for other files."""
    for parts in _candidates(path, folder):
        plain = "/" + "/".join(parts)
        if _VITAL.fullmatch(plain):
            return plain
    return None


def is_device(path: str) -> bool:
    """Return True for disks and all other devices that are not meant for ordinary output."""
    normal = _normal(path.rstrip("'\"`")) if path else path
    return normal.startswith("/dev/") and not _HARMLESS_DEVICES.match(normal)


def join_path(path: str, folder: str) -> str:
    """Join a path to a folder. Return an empty string if the result is not known.

    If `folder` is empty, a path that begins with several `..` is returned without a folder.
    """
    path = _plain_start(path, folder)
    if "$" in path or "`" in path:
        return ""
    if path.startswith("/"):
        return _normal(path)
    return _normal(posixpath.join(folder, path)) if folder else path if _climbs(path) else ""


def is_wild(name: str) -> bool:
    """Return True if `name` is a glob pattern that seems to match many different file names."""
    name = name.replace("[^", "[!")  # `fnmatch` negates a set with `!`
    if name == "**":
        return True
    if len(name) > _MAX_NAME:
        return False
    return _GLOB.search(name) is not None and (
        sum(fnmatchcase(one, name) for one in _VISIBLE_NAMES) > 1
        or sum(fnmatchcase(one, name) for one in _HIDDEN_NAMES) > 1
    )


def _plain_start(path: str, folder: str) -> str:
    path = _USER_NAME.sub("~", path).replace("[^", "[!")
    path = _HERE.sub(lambda _: folder or ".", path)
    return _HOME_START.sub(lambda found: "/root" if found["user"] == "root" else "/home/~", path)


def _normal(path: str) -> str:
    return "/" + posixpath.normpath(path).lstrip("/") if path.startswith("/") else posixpath.normpath(path)


def _climbs(path: str) -> bool:
    return posixpath.normpath(path).startswith("../" * (_FEWEST_CLIMBS - 1) + "..")


def _candidates(path: str, folder: str) -> list[list[str]]:
    """Return the absolute paths that a path can mean, each split at its slashes.

    A path that begins with several `..` is also read as if they led to the root, whatever the folder.
    """
    path = _plain_start(path, folder)
    found: list[str] = []
    if path.startswith("/"):
        found.append(_normal(path))
    elif path:
        if folder.startswith("/"):
            found.append(_normal(posixpath.join(folder, path)))
        if _climbs(folder if folder.startswith("..") else path):
            found.append("/" + re.sub(r"^(?:\.\./?)+", "", _normal(posixpath.join(folder, path))))
    return [[part for part in one.split("/") if part] for one in found]


def _named(parts: list[str]) -> str | None:
    rest = list(parts)
    while rest and (is_wild(rest[-1]) or (len(rest) == 1 and _VARIABLES_ONLY.match(rest[0]))):
        rest.pop()
    if not rest:
        return ROOT
    if rest == ["home", "~"]:
        return HOME
    plain = "/" + "/".join(rest)
    if _home_depth(rest) == len(rest) == 2:
        return f"{HOME} {plain}"
    return next((known for known in _SYSTEM_FOLDERS if _same(known, plain)), None)


def _same(known: str, pattern: str) -> bool:
    """Return True if the pattern matches the path `known`. Unlike in `fnmatch`, `*` matches no slash."""
    if not _GLOB.search(pattern):
        return known == pattern
    names, patterns = known.split("/"), pattern[:_MAX_NAME].split("/")
    return len(names) == len(patterns) and all(map(fnmatchcase, names, patterns))


def _home_depth(parts: list[str]) -> int:
    """Return how many of the first parts form the path of a home directory; 0 outside home directories."""
    if len(parts) >= 2 and parts[0] in {"home", "Users"} and parts[:2] != ["Users", "Shared"]:
        return 2
    return 1 if parts[:1] == ["root"] else 0
