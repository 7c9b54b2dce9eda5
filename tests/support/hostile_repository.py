"""A git repository that runs a program wherever git can be made to run one, and the record of what ran."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.workspace.projects import fill, git, repository

if TYPE_CHECKING:
    from pathlib import Path

HOOKS = (
    *("applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit"),
    *("prepare-commit-msg", "commit-msg", "post-commit", "pre-rebase", "post-checkout", "post-merge"),
    *("pre-push", "reference-transaction", "pre-auto-gc", "post-rewrite", "post-index-change"),
    "fsmonitor-watchman",
)
COMMANDS = (
    *("add", "branch", "cat-file", "check-attr", "check-ignore", "checkout", "commit", "config", "diff"),
    *("diff-files", "fast-import", "init", "log", "ls-files", "merge", "merge-base", "reset", "rev-list"),
    *("rev-parse", "show-ref", "status", "symbolic-ref", "update-index", "worktree"),
)
ATTRIBUTES = "".join(
    f"*.{name} filter={name} diff={name} merge={name}\n" for name in ("txt", "always", "folder", "branch")
)
PROGRAM = """#!/bin/sh
echo "$@" >>{ran}
case "$*" in *monitor*) exit 1;; esac
cat
"""


@dataclass(frozen=True, slots=True)
class HostileRepository:
    """The folders of the repository, and the file in which each program that runs writes its own name."""

    base: Path
    top: Path  # with a submodule in `sub`, and a nested repository in `nested`
    worktree: Path  # on the branch acp-tui/topic; its `sub` was filled with a repository
    ran: Path
    head: str  # the id of the commit in both work trees
    newer: str  # the id of the commit of the branch acp-tui/other, a child of `head`

    def programs_that_ran(self) -> list[str]:
        """Return the name of each program that has run, which begins with the place of its setting."""
        return self.ran.read_text().splitlines() if self.ran.exists() else []


def make_hostile_repository(base: Path) -> HostileRepository:
    """Create the repository in `base`, and a linked worktree of it."""
    ran = base / "ran"
    program = fill(base, {"program": PROGRAM.format(ran=ran)}) / "program"
    program.chmod(0o755)
    files = {f"a.{name}": f"{name}\n" for name in ("txt", "always", "folder", "branch")}
    top = repository(base / "shop", {**files, "staged.md": "", ".gitattributes": ATTRIBUTES})
    _inner_repository(top / "sub")
    fill(top, {".gitmodules": '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n\tignore = none\n'})
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "--message=Add a submodule")
    head = git(top, "rev-parse", "HEAD").strip()
    git(top, "checkout", "--quiet", "-b", "acp-tui/other")
    fill(top, {"other.txt": "other\n"})
    git(top, "add", "other.txt")
    git(top, "commit", "--quiet", "--message=Change another file")
    newer = git(top, "rev-parse", "HEAD").strip()
    git(top, "checkout", "--quiet", "main")
    git(top, "branch", "acp-tui/free")
    worktree = base / "worktrees" / "topic"
    git(top, "worktree", "add", "--quiet", "-b", "acp-tui/topic", str(worktree))
    _inner_repository(worktree / "sub")
    _inner_repository(top / "nested")
    for folder in (top, worktree):
        for inner in ("sub", "nested"):
            if (folder / inner).exists():
                _set_traps(folder / inner / ".git", program, inner)
                os.utime(
                    folder / inner / "a.txt", (1, 1)
                )  # git compares the content of a file that was touched
        fill(folder, {"staged.md": "staged\n"})
        git(folder, "add", "staged.md")
        fill(folder, {"a.txt": "changed\n", "a.folder": "changed\n", "a.branch": "changed\n"})
        os.utime(folder / "a.always", (1, 1))
    _set_traps(top / ".git", program, "own")
    return HostileRepository(base, top, worktree, ran, head, newer)


def _inner_repository(folder: Path) -> None:
    repository(folder, {"a.txt": "a\n", ".gitattributes": "* filter=inner diff=inner\n"})


def _set_traps(git_dir: Path, program: Path, place: str) -> None:
    """Set everything that makes git run a program, in a git directory."""
    shutil.rmtree(git_dir / "hooks", ignore_errors=True)
    for hook in HOOKS:
        fill(git_dir, {f"hooks/{hook}": f"#!/bin/sh\nexec {program} {place} hook-file {hook}\n"})
        (git_dir / "hooks" / hook).chmod(0o755)
    included = {"always": "", "folder": "gitdir:**/worktrees/**", "branch": "onbranch:acp-tui/**"}
    main = "txt" if place == "own" else "inner"  # what is switched off by its name outside still runs inside
    config = _settings(program, place, main, git_dir / "hooks")
    for name, condition in included.items():
        fill(git_dir, {f"{name}.inc": _settings(program, place, name, git_dir / "hooks")})
        section = f'[includeIf "{condition}"]' if condition else "[include]"
        config += f"{section}\n\tpath = {git_dir / name}.inc\n"
    config += "[alias]\n" + "".join(f"\t{name} = !{program} {place} alias {name}\n" for name in COMMANDS)
    with (git_dir / "config").open("a") as file:
        file.write(config)


def _settings(program: Path, place: str, name: str, hooks: Path) -> str:
    run = f"{program} {place} {name}"
    events = "".join(f"\tevent = {event}\n" for event in HOOKS if event != "fsmonitor-watchman")
    return f"""
[core]
    fsmonitor = {run} monitor
    hooksPath = {hooks}
    sshCommand = {run} ssh
    pager = {run} pager
    editor = {run} editor
    askPass = {program}
    gitProxy = {run} proxy
    alternateRefsCommand = {run} alternates
[filter "{name}"]
    clean = {run} clean
    smudge = {run} smudge
[diff]
    external = {run} external-diff
[diff "{name}"]
    command = {run} diff-command
    textconv = {run} textconv
[merge "{name}"]
    driver = {run} merge-driver
[hook "{name}"]
    command = {run} hook-setting
{events}
[hook "reference-transaction"]
    parallel = true
[hook "post-index-change"]
    parallel = true
[hook "post-checkout"]
    parallel = true
[credential]
    helper = !{run} credential
[gpg]
    program = {program}
[log]
    showSignature = true
[status]
    submoduleSummary = true
[submodule]
    recurse = true
[diff]
    ignoreSubmodules = none
    submodule = diff
[remote "origin"]
    url = ext::{run} remote
    uploadpack = {run} uploadpack
    promisor = true
[protocol]
    allow = always
"""
