"""Finds git arguments that run programs, change the configuration of git, or print passwords."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_CONFIGURING = frozenset({"-c", "--config", "--config-env"})
_VALUED = frozenset({
    *("-C", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--attr-source", "--shallow-file"),
    *_CONFIGURING,
})  # fmt: skip
_RUNNING = frozenset({
    *("bisect", "citool", "cvsserver", "daemon", "difftool", "fast-import", "filter-branch", "gui", "help"),
    *("hook", "imap-send", "instaweb", "maintenance", "merge-index", "mergetool", "p4", "send-email"),
    *("shell", "submodule", "svn", "upload-pack", "receive-pack"),
})  # fmt: skip
# By subcommand: options that run a program or install hooks, with the options' abbreviations.
_RISKY_OPTIONS = {
    "clone": re.compile(r"-[A-Za-z]*[cu]|--u|--te|--co(?!py)"),  # `-cNAME=VALUE`
    "grep": re.compile(r"-[A-Za-z]*O"),
    "init": re.compile(r"--te"),
    "rebase": re.compile(r"-[A-Za-z]*x|--ex"),
}


def find_git_risks(words: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the position of each risky argument of a git command, and the reason for the risk."""
    if words[0].rpartition("/")[2].lower() not in {"git", "git.exe"}:
        return
    for position, word in enumerate(words[1:], 1):
        name, sign, _ = word.partition("=")
        value = word if sign else "".join(words[position + 1 : position + 2])
        if name in _CONFIGURING and "=" in value:
            yield position, f"{name} changes the configuration of git"
    position, subcommand = find_subcommand(words)
    if subcommand == "config":
        yield position, "git config changes what git runs"
    elif subcommand in _RUNNING or subcommand.startswith("remote-") or "--" in subcommand:  # `web--browse`
        yield position, f"git {subcommand} may run programs"
    elif subcommand.startswith("credential"):
        yield position, f"git {subcommand} may print passwords"
    elif options := _RISKY_OPTIONS.get(subcommand):
        for at, word in enumerate(words[position:], position):
            if options.match(word):
                yield at, f"{word} may run a program"


def find_subcommand(words: Sequence[str]) -> tuple[int, str]:
    """Return the position and the name of a git command's subcommand; an empty name if there is none."""
    position = 1
    while position < len(words) and words[position].startswith("-"):
        position += 2 if words[position] in _VALUED else 1
    return position, "".join(words[position : position + 1])
