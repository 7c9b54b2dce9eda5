"""Changes since the baseline, and reverting them."""

from __future__ import annotations

import os
import random
import shutil
from typing import TYPE_CHECKING

import pytest

from acp_tui.errors import UserError
from tests.workspace.projects import changes, fill, git, repository, revert_all, snapshot, taken

if TYPE_CHECKING:
    from pathlib import Path

FILES: dict[str, str | bytes] = {
    "README.md": "# Hello\n",
    "src/main.py": "print('hello')\n",
    "src/run.sh": "#!/bin/sh\n",
    "data/picture.png": b"\x89PNG\r\n\x1a\n\0\xff",
    "empty": "",
}


@pytest.fixture(params=["repository", "plain folder"])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "project"
    (fill if request.param == "plain folder" else repository)(folder, FILES)
    (folder / "src" / "run.sh").chmod(0o755)
    (folder / "link").symlink_to("README.md")
    return folder


async def test_rewriting_the_same_content_is_no_change(project: Path) -> None:
    baseline = await taken(project)
    assert baseline.notices == []
    assert await baseline.changes() == []
    (project / "README.md").write_text("# Hello\n")  # the same content
    os.utime(project / "empty")
    assert await baseline.changes() == []


async def test_every_kind_of_change_is_listed_and_can_be_reverted(project: Path) -> None:
    before = snapshot(project)
    baseline = await taken(project)
    (project / "README.md").write_text("# Goodbye\n")
    (project / "src" / "main.py").unlink()
    (project / "src" / "run.sh").chmod(0o644)
    (project / "empty").chmod(0o755)
    fill(project, {"src/new.py": "new", "docs/deep/new.md": ""})
    (project / "link").unlink()
    (project / "link").symlink_to("empty")
    (project / "second").symlink_to("nowhere")
    (project / "data" / "picture.png").write_bytes(b"\x89PNG")
    assert await changes(baseline, project) == {
        "README.md": "modified",
        "src/main.py": "deleted",
        "src/run.sh": "mode",
        "empty": "mode",
        "src/new.py": "added",
        "docs/deep/new.md": "added",
        "link": "modified",
        "second": "added",
        "data/picture.png": "modified",
    }
    await revert_all(baseline)
    assert await baseline.changes() == []
    assert snapshot(project) == before


async def test_the_original_content_is_available(project: Path) -> None:
    baseline = await taken(project)
    (project / "README.md").unlink()
    (project / "data" / "picture.png").write_bytes(b"")
    (project / "new").write_text("new")
    assert await baseline.original_content(project / "README.md") == b"# Hello\n"
    assert await baseline.original_content(project / "data" / "picture.png") == FILES["data/picture.png"]
    assert await baseline.original_content(project / "link") == b"README.md"
    assert await baseline.original_content(project / "new") is None


async def test_an_immediate_change_of_the_same_length_is_listed(project: Path) -> None:
    baseline = await taken(project)
    assert await baseline.changes() == []
    (project / "README.md").write_text("# Hallo\n")
    assert await changes(baseline, project) == {"README.md": "modified"}


async def test_a_change_with_a_restored_mtime_is_listed(project: Path) -> None:
    baseline = await taken(project)
    old = (project / "README.md").stat()
    (project / "README.md").write_text("# Hallo\n")
    os.utime(project / "README.md", ns=(old.st_atime_ns, old.st_mtime_ns))
    assert await changes(baseline, project) == {"README.md": "modified"}


async def test_reverting_twice_or_without_a_change_does_nothing(project: Path) -> None:
    before = snapshot(project)
    baseline = await taken(project)
    (project / "new").touch()
    for name in ("new", "new", "README.md", "never/there"):
        await baseline.revert(project / name)
    assert snapshot(project) == before


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o700, 0o444])
async def test_a_revert_restores_the_mode_of_a_deleted_file(project: Path, mode: int) -> None:
    (project / "README.md").chmod(mode)
    before = snapshot(project)
    baseline = await taken(project)
    (project / "README.md").unlink()
    await baseline.revert(project / "README.md")
    assert snapshot(project) == before


async def test_files_with_unusual_names_can_be_reverted(project: Path) -> None:
    names = [
        "new\nline",
        " spaces ",
        "-dash",
        '"quoted"',
        "back\\slash",
        ":(glob)*",
        "*.md",
        "ta\tb",
        "#x",
        "!y",
    ]
    names += ["gr\u00fc\u00df \U0001f600", "cafe\u0301", "con", "git~1", "x" * 255]
    if os.uname().sysname == "Linux":
        names += [os.fsdecode(b"caf\xe9"), "UPPER", "upper"]
    fill(project, {f"odd/{name}": name.encode(errors="surrogateescape") for name in names})
    before = snapshot(project)
    baseline = await taken(project)
    shutil.rmtree(project / "odd")
    assert await changes(baseline, project) == {f"odd/{name}": "deleted" for name in names}
    await revert_all(baseline)
    assert snapshot(project) == before
    fill(project, {f"odder/{name}": "new" for name in names})
    assert await changes(baseline, project) == {f"odder/{name}": "added" for name in names}
    await revert_all(baseline)
    assert snapshot(project) == before


@pytest.mark.parametrize("seed", range(6))
async def test_random_changes_can_be_reverted(project: Path, seed: int) -> None:
    dice = random.Random(seed)
    paths = [
        f"{a}/{b}" for a in ("src", "data", "a/b/c", "a/b", ".") for b in ("one", "two.txt", "three.bin")
    ]
    contents = [b"", b"\r\n", b"text\n", bytes(range(256)), dice.randbytes(70_000)]

    def mutate(path: Path) -> None:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif os.path.lexists(path):
            path.unlink()
        what = dice.choice(["file", "file", "link", "folder", "nothing"])
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            return
        if what == "file":
            path.write_bytes(dice.choice(contents))
            path.chmod(dice.choice([0o644, 0o755]))
        elif what == "link":
            path.symlink_to(dice.choice(["nowhere", "one", "../data"]))
        elif what == "folder":
            fill(path, {"below": "x"})

    for name in paths:
        mutate(project / name)
    before = snapshot(project)
    baseline = await taken(project)
    for name in [*dice.sample(paths, 10), "README.md", "src"]:
        mutate(project / name)
    for _ in range(4):  # a folder in place of a file has to be emptied first
        for change in await baseline.changes():
            try:
                await baseline.revert(change.path)
            except UserError:
                continue
    assert snapshot(project) == before
    assert await baseline.changes() == []


# ---- replaced files and folders


async def test_a_folder_in_place_of_a_file_must_be_emptied_before_a_revert(project: Path) -> None:
    baseline = await taken(project)
    (project / "README.md").unlink()
    fill(project, {"README.md/inside": "new"})
    assert await changes(baseline, project) == {"README.md": "deleted", "README.md/inside": "added"}
    with pytest.raises(UserError, match="it is now a folder that contains files; revert those files first"):
        await baseline.revert(project / "README.md")
    assert (project / "README.md" / "inside").read_text() == "new"
    await baseline.revert(project / "README.md" / "inside")
    await baseline.revert(project / "README.md")
    assert (project / "README.md").read_text() == "# Hello\n"


async def test_a_revert_does_not_follow_a_link_out_of_the_project(project: Path, tmp_path: Path) -> None:
    baseline = await taken(project)
    outside = fill(tmp_path / "outside", {"main.py": "theirs"})
    (project / "src").rename(project / "moved")
    (project / "src").symlink_to(outside)
    found = await changes(baseline, project)
    assert found["src/main.py"] == "deleted"
    assert found["src"] == "added"
    with pytest.raises(UserError, match="a folder in its path is now a link"):
        await baseline.revert(project / "src" / "main.py")
    assert (outside / "main.py").read_text() == "theirs"
    await baseline.revert(project / "src")
    assert (outside / "main.py").read_text() == "theirs"
    await baseline.revert(project / "src" / "main.py")
    assert (project / "src" / "main.py").read_text() == "print('hello')\n"


async def test_reverting_an_added_link_keeps_its_target(project: Path, tmp_path: Path) -> None:
    outside = fill(tmp_path / "outside", {"file": "theirs"})
    baseline = await taken(project)
    (project / "new").symlink_to(outside / "file")
    await baseline.revert(project / "new")
    assert (outside / "file").read_text() == "theirs"
    assert not os.path.lexists(project / "new")


async def test_a_fifo_in_place_of_a_file_can_be_reverted(project: Path) -> None:
    before = snapshot(project)
    baseline = await taken(project)
    (project / "README.md").unlink()
    os.mkfifo(project / "README.md")
    assert await changes(baseline, project) == {"README.md": "modified"}
    await revert_all(baseline)
    assert snapshot(project) == before


async def test_a_deleted_project_folder_can_be_restored(project: Path) -> None:
    before = snapshot(project)
    baseline = await taken(project)
    shutil.rmtree(project)
    assert set((await changes(baseline, project)).values()) == {"deleted"}
    await revert_all(baseline)
    assert snapshot(project) == before


# ---- files that must not be deleted


async def test_a_file_that_is_no_longer_ignored_is_not_an_added_file(project: Path) -> None:
    fill(
        project, {".gitignore": "private/\n.env\n*.log\n", "private/diary": "x", ".env": "KEY=1", "a.log": ""}
    )
    baseline = await taken(project)
    (project / ".gitignore").write_text("")
    assert await changes(baseline, project) == {".gitignore": "modified"}
    for name in (".env", "private/diary", "a.log"):
        with pytest.raises(UserError, match="not part of the snapshot"):
            await baseline.revert(project / name)
        assert (project / name).exists()


async def test_a_file_moved_into_the_project_cannot_be_reverted(project: Path, tmp_path: Path) -> None:
    treasure = fill(tmp_path / "treasure", {"only/copy": "precious"})
    baseline = await taken(project)
    treasure.rename(project / "treasure")  # moving keeps the old times of the file
    assert await changes(baseline, project) == {"treasure/only/copy": "added, stays"}
    with pytest.raises(UserError, match="may have existed before the session"):
        await baseline.revert(project / "treasure" / "only" / "copy")
    assert (project / "treasure" / "only" / "copy").read_text() == "precious"


async def test_a_renamed_folder_can_be_reverted(project: Path) -> None:
    before = snapshot(project)
    baseline = await taken(project)
    (project / "src").rename(project / "lib")
    assert await changes(baseline, project) == {
        "src/main.py": "deleted",
        "src/run.sh": "deleted",
        "lib/main.py": "added",
        "lib/run.sh": "added",
    }
    await revert_all(baseline)
    assert snapshot(project) == before


async def test_commits_and_checkouts_do_not_affect_the_changes(tmp_path: Path) -> None:
    project = repository(tmp_path.resolve() / "project", FILES)
    baseline = await taken(project)
    (project / "README.md").write_text("# Goodbye\n")
    git(project, "commit", "--quiet", "--all", "--message=second")
    git(project, "checkout", "--quiet", "-b", "other")
    assert await changes(baseline, project) == {"README.md": "modified"}
    git(project, "rm", "--quiet", "--cached", "empty")
    assert await changes(baseline, project) == {"README.md": "modified"}
    shutil.rmtree(project / ".git")
    assert await changes(baseline, project) == {"README.md": "modified"}
