"""Checks for commands that delete or move protected folders, or change their permissions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from acp_tui.permissions.danger.protected_paths import (
    HOME,
    ROOT,
    WORKSPACE,
    climbs_out,
    describe_system_or_home_path,
    describe_system_path,
    describe_workspace,
    find_system_file,
    is_wild,
    join_path,
)
from acp_tui.permissions.danger.steps import Step, find_feeders

_RECURSIVE_REMOVERS = frozenset({"rimraf", "trash", "trash-put", "wipe", "del-cli", "rip"})
REMOVERS = frozenset({"rm", "grm", "srm", "unlink", "rmdir", "shred", "gio"}) | _RECURSIVE_REMOVERS
_CHANGERS = frozenset({"mv", "truncate", "chmod", "chown", "chgrp", "dd", "tee"})
_LISTERS = frozenset({"find", "gfind", "fd", "fdfind", "ls", "dir", "echo", "printf", "du", "tree", "locate"})
_NARROWING = frozenset({"-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex"})
_NARROWING_BY_AGE = frozenset({"-mtime", "-mmin", "-atime", "-ctime", "-newer", "-size", "-empty"})
# Searches for links, for files of other users, or with `-prune` are not meant to empty a project.
_NARROWING_IN_PROJECTS = frozenset({"l", "-perm", "-user", "-group", "-links", "-samefile", "-prune"})
_FIND_STARTS = re.compile(r"-[HLP]|-O\d|-D")


def check_removal(step: Step) -> str | None:
    """Check for commands that delete protected folders or vital files, such as `rm -rf /`."""
    fetched = step.name in {"npx", "bunx"} and step.operands[:1] in (["rimraf"], ["del-cli"])
    if not fetched and (step.name not in REMOVERS or (step.name == "gio" and step.operands[:1] != ["trash"])):
        return None
    if step.has("--no-preserve-root"):
        return "it disables the protection of /"
    everything = fetched or _recursive(step) or step.name in _RECURSIVE_REMOVERS | {"gio"}
    for path in step.operands:
        if everything:
            found = describe_system_or_home_path(path, step.folder) or describe_workspace(
                path, step.folder, step.roots
            )
        else:
            found = (
                describe_system_path(path, step.folder)
                if is_wild(path.rpartition("/")[2])
                else find_system_file(path, step.folder)
            )
            found = found or _below_system(path, step.folder)
        if found:
            return f"it deletes {found}"
    return None


def _below_system(path: str, folder: str) -> str | None:
    """Describe a path that only `describe_system_or_home_path` finds, such as `/boot/vmlinuz`; None in homes.

    Such files need a check of their own because `rm` deletes them even without `-r`.
    """
    found = describe_system_or_home_path(path, folder)
    return (
        found
        if found and found != describe_system_path(path, folder) and not found.startswith(HOME)
        else None
    )


def check_find(step: Step) -> str | None:
    """Check for searches that delete or change what they find, such as `find / -delete`, `fd . / -x rm`."""
    if step.name in {"fd", "fdfind"}:
        return _check_fd(step)
    if step.name not in {"find", "gfind"}:
        return None
    runs = [
        step.arguments[at + 1 :]
        for at, text in enumerate(step.arguments[:-1])
        if text in {"-exec", "-execdir", "-ok", "-okdir"}
    ]
    verbs = ["deletes"] if "-delete" in step.arguments else [verb for run in runs if (verb := _effect(run))]
    found = _searched(step, verbs[0]) if verbs else None
    return f"it {verbs[0]} {found}" if found else None


def _check_fd(step: Step) -> str | None:
    for at, text in enumerate(step.arguments):
        if text in {"-x", "-X", "--exec", "--exec-batch"} and (verb := _effect(step.arguments[at + 1 :])):
            words = step.arguments[:at]
            paths = words if any(map(_narrows_fd, ["", *words], words)) else [*words, "."]
            found = _first_protected(paths, step, verb)
            return f"it {verb} {found}" if found else None
    return None


def _first_protected(paths: Iterable[str], step: Step, verb: str = "deletes") -> str | None:
    """Describe the first path that is protected; for a deletion also one that means the whole workspace."""
    roots = step.roots if verb == "deletes" else ()
    for path in paths:
        if what := describe_system_path(path, step.folder) or describe_workspace(path, step.folder, roots):
            return what
    return None


def _narrows_fd(before: str, word: str) -> bool:
    """Return True if a word of `fd` limits the search to some names, or names a folder to search."""
    if before in {"-t", "--type"}:
        return False
    return word in {"-e", "--extension"} or not (word.startswith("-") or word in {"", ".", "*"})


def _effect(command: Sequence[str]) -> str | None:
    """Return what this command does to the files that it is run on: "deletes", "changes" or None."""
    words = [word.rpartition("/")[2] for word in command]
    name = next((word for word in words if word not in {"sudo", "env", "nice"}), "")
    if name in {"sh", "bash", "zsh", "dash"}:
        found = re.search(r"\b(?:(rm|shred|unlink)|truncate|mv)\b", " ".join(command))
        return None if found is None else "deletes" if found[1] else "changes"
    if name in REMOVERS:
        return "deletes"
    return "changes" if name in _CHANGERS else None


def _searched(step: Step, verb: str = "deletes") -> str | None:
    """Describe the protected folder that `find` searches; None if there is none.

    A search that is limited to some files counts only in the root or the home directory.
    """
    places: list[str] = []
    for text in step.arguments:
        if _FIND_STARTS.fullmatch(text) and not places:
            continue
        if text.startswith(("-", "(", "!")):
            break
        places.append(text)
    found = _first_protected(places or ["."], step, verb)
    if found == WORKSPACE and any(text in _NARROWING_IN_PROJECTS for text in step.arguments):
        return None
    return found if found is None or found in {ROOT, HOME} or not _narrowed(step) else None


def _narrowed(step: Step) -> bool:
    words = step.arguments
    return any(
        (name in _NARROWING and not is_wild(value)) or name in _NARROWING_BY_AGE
        for before, name, value in zip(("", *words), words, (*words[1:], ""), strict=False)
        if before not in {"!", "-not"}
    )


def check_move(step: Step) -> str | None:
    """Check for commands that move protected folders or vital files, such as `mv / /tmp`."""
    if step.name != "mv":
        return None
    sources = step.operands if step.has("-t", "--target-directory") else step.operands[:-1]
    found = next(
        (what for path in sources if (what := describe_system_or_home_path(path, step.folder))), None
    )
    return f"it moves {found}" if found else None


def check_rights(step: Step) -> str | None:
    """Check for changes of the permissions of protected paths: `chmod -R 777 /`, `chown -R me /etc`."""
    if step.name not in {"chmod", "chown", "chgrp", "setfacl", "chattr", "chflags", "chcon"}:
        return None
    check: Callable[[str, str], str | None] = describe_system_path if _recursive(step) else find_system_file
    found = next((what for path in step.operands if (what := check(path, step.folder))), None)
    return f"it changes the permissions of {found}" if found else None


def check_git_clean(step: Step) -> str | None:
    if step.name != "git" or "clean" not in step.arguments:
        return None
    at = step.arguments.index("clean")
    options = step.arguments[at + 1 :]
    forced = any(text == "--force" or re.match(r"-\w*f", text) for text in options)
    folder = step.folder
    for place, text in enumerate(step.arguments[:at]):
        name, sign, value = text.partition("=")
        if name in {"-C", "--work-tree"}:
            folder = (value if sign else step.arguments[place + 1]) or folder
    for assignment in step.part.assignments:
        if assignment.startswith("GIT_WORK_TREE="):
            folder = assignment.partition("=")[2]
    if not forced:
        return None
    if found := describe_system_path(folder, step.folder) if folder else None:
        return f"it deletes untracked files in {found}"
    led = join_path(folder, step.folder) if folder else ""
    places = [text for text in options if not text.startswith("-")]
    outside = (join_path(text, led) not in step.roots for text in places if climbs_out(text))
    if any(outside) or (led and led not in step.roots and describe_workspace(led, "", step.roots)):
        return "it deletes untracked files outside the workspace"
    return None


def check_sync(step: Step) -> str | None:
    """Check for `rsync`, `rclone` and `tar` deleting protected folders, as in `rsync --delete empty/ /`."""
    places: list[str] = []
    if step.name == "rsync":
        if any(re.match(r"--del(?:ete)?\b", text) for text in step.arguments):
            places += step.operands[-1:]
        if step.has("--remove-source-files"):
            places += step.operands[:-1]
    elif step.name == "rclone" and step.operands:
        places += step.operands[1:2] if step.operands[0] in {"purge", "delete", "move"} else []
        places += step.operands[2:3] if step.operands[0] == "sync" else []
    elif step.name in {"tar", "gtar"} and step.has("--remove-files"):
        places += step.operands
    found = _first_protected(places, step)
    return f"it deletes {found}" if found else None


def check_listed_removal(all_steps: Sequence[Step]) -> str | None:
    """Check for commands that delete what another command lists, such as `find / | xargs rm`."""
    for step in all_steps:
        if step.name == "read":
            lists = _listed(find_feeders(all_steps, step))
            names = {text for text in step.operands if text.isidentifier()}
            if lists and _removes_one_of(all_steps, names):
                return f"it deletes {lists}"
            continue
        lists = None
        if _removes_its_input(step):
            lists = _listed(find_feeders(all_steps, step)) or _named_in(step)
        elif step.name in REMOVERS:
            lists = _listed(Step(inner, step.folder, step.roots) for inner in step.part.inner)
        if lists:
            return f"it deletes {lists}"
    return None


def _removes_its_input(step: Step) -> bool:
    if step.name == "parallel":
        return any(text.rpartition("/")[2] in REMOVERS for text in step.arguments)
    return step.part.open_ended and step.name in REMOVERS


def _removes_one_of(all_steps: Iterable[Step], names: set[str]) -> bool:
    uses = re.compile(rf"\$\{{?(?:{'|'.join(map(re.escape, names)) or '(?!)'})\b")
    return any(step.name in REMOVERS and any(map(uses.search, step.arguments)) for step in all_steps)


def _listed(listers: Iterable[Step]) -> str | None:
    """Describe the protected folder that these commands list; None if they list none."""
    for step in listers:
        if step.name in {"find", "gfind"}:
            found = _searched(step)
        elif step.name in {"ls", "dir", "du", "tree"}:
            found = _first_protected(step.operands or ["."], step)
        elif step.name in _LISTERS:
            found = _first_protected(re.split(r"\s|\\[0nt]", " ".join(step.operands)), step)
        else:
            found = None
        if found:
            return found
    return None


def _named_in(step: Step) -> str | None:
    """Describe the protected folder named in the step's here-string."""
    words = (word for text in step.part.input for word in text.split())
    return next((what for word in words if (what := describe_system_path(word, step.folder))), None)


def _recursive(step: Step) -> bool:
    long_ones = any(len(text) > 3 and "--recursive".startswith(text) for text in step.arguments)
    return long_ones or any(letter in "rR" for letter in step.letters)


CHECKS: tuple[Callable[[Step], str | None], ...] = (
    check_removal,
    check_find,
    check_move,
    check_rights,
    check_git_clean,
    check_sync,
)
