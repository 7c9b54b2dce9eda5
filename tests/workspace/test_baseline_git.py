"""The baseline is a git directory of our own: the user's is not touched, and no configuration has a say."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.workspace.projects import changes, fill, git, repository, revert_all, snapshot, taken


def git_state(project: Path) -> dict[str, tuple[int, int, bytes]]:
    """Every file and folder of the user's git directory, with mode, time and content.

    The change time does not count: a hard link to an object sets it.
    """
    found = {}
    for place, folders, names in os.walk(project / ".git"):
        for name in [".", *folders, *names]:
            path = Path(place, name)
            status = path.lstat()
            content = path.read_bytes() if path.is_file() else b""
            found[str(path)] = (status.st_mode, status.st_mtime_ns, content)
    return found


async def test_the_users_repository_is_not_touched(tmp_path: Path) -> None:
    project = repository(tmp_path.resolve() / "project", {"a": "1", "b": "2"})
    fill(project, {"b": "changed", "c": "untracked"})
    (project / "a").write_text("1")  # looks changed to git until the index is refreshed
    before = git_state(project)
    baseline = await taken(project)
    fill(project, {"a": "changed", "new": "1"})
    assert len(await baseline.changes()) == 2
    await revert_all(baseline)
    await baseline.delete()
    assert git_state(project) == before


async def test_nothing_that_git_could_be_told_to_run_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = tmp_path.resolve()
    trap = fill(base, {"trap": f'#!/bin/sh\necho "$@" >>{base}/sprung\ncat\n'}) / "trap"
    trap.chmod(0o755)
    hooks = base / "hooks"
    hooks.mkdir()
    for hook in ("post-index-change", "reference-transaction", "pre-auto-gc", "post-checkout"):
        (hooks / hook).symlink_to(trap)
    config = f"""
[core]
    fsmonitor = {trap}
    hooksPath = {hooks}
    attributesFile = {base}/attributes
    sshCommand = {trap}
    pager = {trap}
[filter "trap"]
    clean = {trap}
    smudge = {trap}
    process = {trap}
    required = true
[diff]
    external = {trap}
[diff "trap"]
    command = {trap}
    textconv = {trap}
[init]
    templateDir = {hooks}
[alias]
    ls-files = !{trap}
"""
    fill(base, {"home/.gitconfig": config, "attributes": "* filter=trap\n", "system": config})
    attributes = "* filter=trap diff=trap\n"
    project = repository(base / "project", {"main.py": "1"})
    fill(project, {".gitattributes": attributes, ".git/config": config, ".git/info/attributes": attributes})
    monkeypatch.setenv("HOME", str(base / "home"))
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", str(base / "system"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(trap))
    monkeypatch.setenv("GIT_TEMPLATE_DIR", str(hooks))
    (project / ".git" / "hooks").rename(base / "old-hooks")
    (project / ".git" / "hooks").symlink_to(hooks)
    before = snapshot(project)
    baseline = await taken(project)
    assert baseline.notices == []
    fill(project, {"main.py": "2", "new.py": "3"})
    assert await changes(baseline, project) == {"main.py": "modified", "new.py": "added"}
    await revert_all(baseline)
    assert snapshot(project) == before
    assert not (base / "sprung").exists()


async def test_line_ends_encodings_and_keywords_come_back_byte_for_byte(tmp_path: Path) -> None:
    attributes = (
        "*.crlf text eol=crlf\n*.auto text=auto\n*.id ident\n*.utf16 text working-tree-encoding=UTF-16\n"
    )
    project = fill(
        tmp_path.resolve() / "project",
        {
            ".gitattributes": attributes,
            "a.crlf": b"dos\r\nends\r\n",
            "b.crlf": b"unix\nends\n",
            "c.auto": b"mixed\r\nends\n",
            "d.id": b"$Id: something$\n",
            "e.utf16": b"not really UTF-16\n",
            "f.utf16": "really\n".encode("utf-16"),
        },
    )
    before = snapshot(project)
    baseline = await taken(project)
    assert baseline.notices == []
    assert await baseline.changes() == []
    for path in project.iterdir():
        path.write_bytes(path.read_bytes().replace(b"\r\n", b"\n") + b"more")
    assert set((await changes(baseline, project)).values()) == {"modified"}
    await revert_all(baseline)
    assert snapshot(project) == before
    (project / "a.crlf").write_bytes(b"dos\nends\n")  # the same to a git that converts
    assert await changes(baseline, project) == {"a.crlf": "modified"}


@pytest.mark.parametrize(
    "variables",
    [
        {"GIT_DIR": "{project}/.git", "GIT_WORK_TREE": "/"},
        {"GIT_INDEX_FILE": "{project}/.git/index", "GIT_OBJECT_DIRECTORY": "{project}/.git/objects"},
        {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.bare", "GIT_CONFIG_VALUE_0": "true"},
        {"GIT_DEFAULT_HASH": "sha256"},
        {"GIT_GLOB_PATHSPECS": "1", "GIT_TRACE": "1"},
    ],
)
async def test_variables_that_steer_git_are_not_passed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]
) -> None:
    project = repository(tmp_path.resolve() / "project", {"main.py": "1"})
    before = git_state(project)
    for name, value in variables.items():
        monkeypatch.setenv(name, value.format(project=project))
    baseline = await taken(project)
    fill(project, {"main.py": "2"})
    assert await changes(baseline, project) == {"main.py": "modified"}
    await revert_all(baseline)
    assert (project / "main.py").read_text() == "1"
    assert git_state(project) == before


async def test_a_repository_that_git_itself_cannot_read_is_covered(tmp_path: Path) -> None:
    project = repository(
        tmp_path.resolve() / "project", {"main.py": "1", ".gitignore": "*.log\n", "a.log": "2"}
    )
    fill(project, {".git/index": b"DIRC rubbish", ".git/config": "[core\n\trepositoryformatversion = 99"})
    baseline = await taken(project)
    assert baseline.notices == []
    fill(project, {"main.py": "2"})
    assert await changes(baseline, project) == {"main.py": "modified"}


async def test_a_repository_with_other_object_names_is_covered(tmp_path: Path) -> None:
    project = tmp_path.resolve() / "project"
    project.mkdir()
    git(project, "init", "--quiet", "--object-format=sha256")
    fill(project, {"main.py": "1"})
    git(project, "add", "main.py")
    baseline = await taken(project)
    assert baseline.notices == []
    fill(project, {"main.py": "2"})
    assert await changes(baseline, project) == {"main.py": "modified"}
