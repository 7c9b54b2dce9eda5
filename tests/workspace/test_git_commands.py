"""Every git command, in a repository that makes git run programs wherever it can."""

from __future__ import annotations

import ast
import inspect
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import acp_tui
from acp_tui.errors import UserError
from acp_tui.workspace.git.git_commands import GitWorkTree, PrivateGit, UserGit, blob_name
from acp_tui.workspace.git.worktree import Worktree
from acp_tui.workspace.git.worktree_creation import create_worktree, restore_worktree
from acp_tui.workspace.git.worktree_finishing import MergePlan, merge_worktree, worktree_status
from tests.support.hostile_repository import HostileRepository, make_hostile_repository
from tests.workspace.projects import changes, fill, git, repository, taken

if TYPE_CHECKING:
    from collections.abc import Callable

NEWER_GIT = "ACP_TUI_TEST_GIT"
STORED = b"stored before\n"
REFUSED = frozenset({"check_out_files"})
"""The methods that refuse to run here, because the repository defines filters."""


def commands_of(class_: type) -> list[str]:
    """Return the names of the public methods."""
    return [name for name, _ in inspect.getmembers(class_, inspect.isfunction) if not name.startswith("_")]


@pytest.fixture(params=["git", "newer git"])
def installed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Use the installed git, then the one that a variable names. Return its version."""
    if request.param == "newer git":
        program = os.environ.get(NEWER_GIT)
        if program is None:
            pytest.skip(f"set {NEWER_GIT} to a git of version 2.54 or newer, whose settings can define hooks")
        monkeypatch.setenv("PATH", f"{Path(program).parent}:{os.environ['PATH']}")
    return subprocess.run(["git", "--version"], capture_output=True, text=True, check=True).stdout


@pytest.fixture(autouse=True)
def user(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give git a user, and no configuration but that of the repository."""
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Test")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "test@example.org")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> HostileRepository:
    """Make the repository, and a copy of it in the folder `copy`."""
    base = tmp_path_factory.mktemp("hostile").resolve()
    made = make_hostile_repository(base / "world")
    shutil.copytree(base / "world", base / "copy", symlinks=True)
    return made


@pytest.fixture
def hostile(template: HostileRepository, monkeypatch: pytest.MonkeyPatch) -> HostileRepository:
    """The repository as it was made, and git's variables for programs."""
    shutil.rmtree(template.base)
    shutil.copytree(template.base.parent / "copy", template.base, symlinks=True)
    for name in ("EXTERNAL_DIFF", "SSH_COMMAND", "SSH", "ASKPASS", "PAGER", "EDITOR", "PROXY_COMMAND"):
        monkeypatch.setenv(f"GIT_{name}", f"{template.base / 'program'} variable {name}")
    return template


def values(world: HostileRepository, private: PrivateGit) -> dict[str, Any]:
    """Return a value for each parameter, by name and type."""
    index = private.directory / "index.1"
    shutil.copy2(world.top / ".git" / "index", index)
    blob = blob_name(STORED)
    entry = b"100644 %b\tmade.txt\0" % blob.encode()
    return {
        "attributes: Sequence[str]": ("filter", "diff"),
        "blob: str": blob,
        "branch: str": "acp-tui/other",
        "commit: str": world.newer,
        "entries: bytes": entry,
        "file: Path": world.top / ".git" / "config",
        "folder: str": "sub",
        "folders: bool": True,
        "head: str": world.head,
        "heads: Sequence[str]": [world.newer],
        "ignore: Sequence[str]": ["--exclude-standard"],
        "limit: int": 10,
        "message: str": "A commit",
        "name: str": blob,
        "names: Collection[str]": [blob],
        "names: Sequence[bytes]": [b"a.txt", b"sub"],
        "names: Sequence[str]": [blob],
        "new_branch: str": "acp-tui/new",
        "new_folder: Path": world.base / "worktrees" / "new",
        "objects: Path": world.top / ".git" / "objects",
        "path: Path": world.worktree,
        "path: str": "a.txt",
        "removable: bool": True,
        "repository: Path": world.top,
        "seconds: float | None": 60.0,
        "tree: GitWorkTree": GitWorkTree(world.top, world.top, index),
        "trusted: bool": False,
        "without: str": world.head,
        "worktree: Path": world.worktree,
    }


def call(method: Callable[..., Any], known: dict[str, Any]) -> None:
    """Call a method with values for its parameters, and consume what it returns."""
    parameters = inspect.signature(method).parameters.values()
    arguments = {each.name: known[f"{each.name}: {each.annotation}"] for each in parameters}
    result = method(**arguments)
    if isinstance(result, Iterator):
        list(result)
    elif isinstance(result, AbstractContextManager) and not isinstance(result, Path):
        with result as writer:
            writer.add(b"new content")


@pytest.fixture
def private(tmp_path: Path, installed: str) -> PrivateGit:
    made = PrivateGit(tmp_path / "private.git")
    made.create()
    with made.storing() as store:
        store.add(STORED)
    return made


@pytest.mark.parametrize("command", commands_of(PrivateGit))
def test_no_private_command_runs_a_program(
    hostile: HostileRepository, private: PrivateGit, command: str
) -> None:
    known = values(hostile, private)
    call(getattr(private.with_objects(known["objects: Path"]), command), known)
    assert hostile.programs_that_ran() == []


@pytest.mark.parametrize("place", ["repository", "worktree"])
@pytest.mark.parametrize("command", [name for name in commands_of(UserGit) if not name.endswith("_as_user")])
def test_no_command_in_the_users_repository_runs_a_program(
    hostile: HostileRepository, private: PrivateGit, command: str, place: str
) -> None:
    users = (
        UserGit(hostile.top) if place == "repository" else UserGit.of_worktree(hostile.worktree, hostile.top)
    )
    assert users is not None
    if command in REFUSED:
        with pytest.raises(UserError):
            call(getattr(users, command), values(hostile, private))
    elif not (command == "remove_worktree" and place == "worktree"):
        call(getattr(users, command), values(hostile, private))
    assert hostile.programs_that_ran() == []


@pytest.mark.parametrize("command", [name for name in commands_of(UserGit) if name.endswith("_as_user")])
def test_a_command_of_the_user_runs_programs_of_the_users_repository_only(
    hostile: HostileRepository, private: PrivateGit, command: str
) -> None:
    users = UserGit.of_worktree(hostile.worktree, hostile.top)
    assert users is not None
    (hostile.worktree / "a.branch").unlink()
    call(getattr(users, command), values(hostile, private))
    ran = hostile.programs_that_ran()
    assert [line for line in ran if not line.startswith("own ")] == []
    if "without_hooks" in command:
        assert [line for line in ran if "hook" in line] == []


def test_the_programs_run_without_the_switches(hostile: HostileRepository, installed: str) -> None:
    """The tests above would find nothing in a repository that is not hostile."""
    git(hostile.top, "status")
    places = {line.split()[0] for line in hostile.programs_that_ran()}
    git(hostile.worktree, "checkout", "--", "a.folder", "a.branch")
    own = {tuple(line.split()[1:3]) for line in hostile.programs_that_ran() if line.startswith("own ")}
    assert places == {"own", "sub"}
    assert {("folder", "smudge"), ("branch", "smudge"), ("hook-file", "post-index-change")} <= own
    version = tuple(int(part) for part in installed.split()[2].split(".")[:2])
    assert (("always", "hook-setting") in own) == (version >= (2, 54))


def test_no_other_module_starts_git() -> None:
    package = Path(acp_tui.__file__).parent
    found = set()
    for path in package.rglob("*.py"):
        # Separate programs: the demo fills its sample project, the built-in agent is tested like this one.
        if path.relative_to(package).parts[0] in ("demo", "local_agent"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            words = node.elts[:1] if isinstance(node, ast.List) else []
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(
                ("which", "_exec", "Popen", "run")
            ):
                words = node.args[:1]
            if any(isinstance(word, ast.Constant) and word.value == "git" for word in words):
                found.add(str(path.relative_to(package)))
    assert found == {"workspace/git/git_commands.py"}


# --------------------------------------------------------------------------- what a user does


async def test_a_snapshot_of_a_folder_runs_nothing_of_it(hostile: HostileRepository, installed: str) -> None:
    baseline = await taken(hostile.top)
    fill(hostile.top, {"a.always": "2"})
    assert (await changes(baseline, hostile.top)).get("a.always") == "modified"
    assert hostile.programs_that_ran() == []


@pytest.mark.parametrize(
    "condition",
    ["onbranch:acp-tui/**", "gitdir:**/worktrees/**", "gitdir/i:**/WORKTREES/**", "onbranch:topic"],
)
def test_filters_that_only_a_worktree_has_are_refused(tmp_path: Path, installed: str, condition: str) -> None:
    shop = repository(tmp_path / "shop", {"a.txt": "a\n", ".gitattributes": "*.txt filter=loud\n"})
    ran = tmp_path / "ran"
    fill(shop, {".git/more": f'[filter "loud"]\n\tsmudge = tee {ran}\n\tclean = tee {ran}\n'})
    git(shop, "config", f"includeIf.{condition}.path", "more")
    name = None if "acp-tui" in condition else "topic"
    with pytest.raises(UserError, match=r"filters that run programs \(loud\)"):
        create_worktree(shop, tmp_path / "data", agent="Demo", name=name)
    assert not ran.exists()
    assert git(shop, "branch", "--format=%(refname:short)").split() == ["main"]
    assert len(git(shop, "worktree", "list").splitlines()) == 1


def test_filters_that_appeared_for_a_worktree_stop_its_restoring(tmp_path: Path, installed: str) -> None:
    shop = repository(tmp_path / "shop", {"a.txt": "a\n", ".gitattributes": "*.txt filter=loud\n"})
    worktree = create_worktree(shop, tmp_path / "data", agent="Demo").worktree
    shutil.rmtree(worktree.path)
    fill(shop, {".git/more": f'[filter "loud"]\n\tsmudge = tee {tmp_path / "ran"}\n'})
    git(shop, "config", "includeIf.onbranch:acp-tui/**.path", "more")
    with pytest.raises(UserError, match=r"was not restored.*\(loud\)"):
        restore_worktree(worktree)
    assert not (tmp_path / "ran").exists()
    assert not worktree.path.exists()
    assert git(shop, "branch", "--list", worktree.branch)


def worktree_of(world: HostileRepository) -> Worktree:
    return Worktree(world.worktree, "acp-tui/topic", world.head, world.top, target="main")


def test_finishing_a_worktree_runs_nothing_of_an_embedded_repository(
    hostile: HostileRepository, installed: str
) -> None:
    worktree = worktree_of(hostile)
    status = worktree_status(worktree)
    assert hostile.programs_that_ran() == []
    assert "a.txt" in status.changed
    assert status.obstacle == "The worktree cannot be merged: sub is a git repository of its own."
    with pytest.raises(UserError, match="a git repository of its own"):
        merge_worktree(worktree, MergePlan(squash=True, message="All"), status)


def test_a_worktree_whose_git_file_was_replaced_is_still_that_of_the_repository(
    hostile: HostileRepository, installed: str
) -> None:
    worktree = worktree_of(hostile)
    git(hostile.top, "reset", "--hard", "--quiet", "--no-recurse-submodules")
    hostile.ran.unlink()
    shutil.rmtree(hostile.worktree / "sub")
    (hostile.worktree / ".git").write_text(f"gitdir: {hostile.top / 'nested' / '.git'}\n")
    (hostile.worktree / "a.folder").write_text("folder\n")
    status = worktree_status(worktree)
    assert (status.head, status.obstacle) == (hostile.head, "")
    merge_worktree(worktree, MergePlan(squash=False, message="All"), status)
    assert not [line for line in hostile.programs_that_ran() if not line.startswith("own ")]
    assert git(hostile.top, "-c", "core.fsmonitor=false", "show", "HEAD:staged.md") == "staged\n"
