"""The review of changes, with real files and a real baseline."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_tui.controller.baseline_tracker import BaselineTracker
from acp_tui.controller.review import ConversationReview
from acp_tui.errors import UserError
from acp_tui.processes.reaper import Reaper
from acp_tui.review.authorship import YOU, turn_bit
from acp_tui.review.changed_file import MODE
from acp_tui.review.comments import Comment
from acp_tui.workspace.baseline.file_change import Limits
from acp_tui.workspace.files.open_folder import Roots
from tests.workspace.projects import fill, repository, snapshot

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from acp_tui.review.changed_file import ChangedFile

FIRST, SECOND = turn_bit(1), turn_bit(2)


class Project:
    """A repository with a baseline, and the review of what changes in it."""

    def __init__(self, folder: Path, limits: Limits | None = None) -> None:
        self.folder = folder
        roots = Roots(folder, [])
        self.reaper = Reaper()
        directory = folder.parent / "baseline.git"
        self.baseline = BaselineTracker(roots, directory, limits or Limits(), lambda _: None, self.reaper)
        self.review = ConversationReview(self.baseline, folder)

    async def begin(self) -> None:
        self.baseline.begin()
        await self.baseline.ready()

    async def end(self) -> None:
        await self.baseline.close()
        self.reaper.close()

    async def turn(self, number: int, work: Callable[[], object]) -> None:
        """Change files as the agent does."""
        await self.baseline.turns.begin_turn(number)
        work()
        self.baseline.turns.end_turn()
        await self.baseline.turns.settled()

    def fill(self, **files: str | bytes) -> None:
        fill(self.folder, {name.replace("_", "."): content for name, content in files.items()})

    async def file(self, name: str) -> ChangedFile:
        """Return a file as it is shown now."""
        await self.review.refresh(lambda: None)
        return self.review.model.files[self.folder / name]

    async def names(self) -> dict[str, str]:
        """Return the kinds of all changes by name."""
        await self.review.refresh(lambda: None)
        files = self.review.model.files
        return {path.name: file.kind for path, file in files.items() if not file.done}


def numbered(count: int, **changed: str) -> str:
    """Return numbered lines, of which some are replaced: `_5="x"` replaces the fifth."""
    return "".join(f"{changed.get(f'_{at}', f'line {at}')}\n" for at in range(1, count + 1))


def make_repository(parent: Path) -> Path:
    folder = repository(parent / "project", {"a.txt": numbered(40), "b.bin": b"\0\1"})
    (folder / "link").symlink_to("a.txt")
    return folder


@pytest.fixture
async def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Project]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "no-config"))
    one = Project(make_repository(tmp_path.resolve()))
    await one.begin()
    yield one
    await one.end()


async def test_every_kind_of_change_is_listed_and_can_be_reverted(project: Project) -> None:
    before = snapshot(project.folder)
    project.fill(a_txt=numbered(40, _5="five"), b_bin=b"\0\2", new_txt="new\n", empty_txt="")
    (project.folder / "link").unlink()
    (project.folder / "link").symlink_to("b.bin")
    kinds = await project.names()
    assert kinds == {
        "a.txt": "modified",
        "b.bin": "modified",
        "new.txt": "added",
        "empty.txt": "added",
        "link": "modified",
    }
    changed = snapshot(project.folder)
    for name in kinds:
        await project.review.revert(await project.file(name))
    assert snapshot(project.folder) == before
    assert await project.names() == {}
    while await project.review.undo():
        pass
    assert snapshot(project.folder) == changed


async def test_renames_deletions_and_modes_can_be_reverted(project: Project) -> None:
    before = snapshot(project.folder)
    (project.folder / "a.txt").rename(project.folder / "moved.txt")
    (project.folder / "b.bin").chmod(0o755)
    (project.folder / "link").unlink()
    assert await project.names() == {
        "a.txt": "deleted",
        "moved.txt": "added",
        "b.bin": "mode",
        "link": "deleted",
    }
    await project.review.revert_all([(file, None) for file in project.review.model.files.values()])
    assert snapshot(project.folder) == before


async def test_files_replaced_by_folders_can_be_reverted_and_the_other_way_round(project: Project) -> None:
    before = snapshot(project.folder)
    (project.folder / "a.txt").unlink()
    fill(project.folder, {"a.txt/deep/new": "new"})
    assert await project.names() == {"a.txt": "deleted", "new": "added"}
    changed = snapshot(project.folder)
    with pytest.raises(
        UserError, match=r"^a\.txt cannot be reverted: it is now a folder that contains files"
    ):
        await project.review.revert(await project.file("a.txt"))
    await project.review.revert_all([(file, None) for file in project.review.model.files.values()])
    assert snapshot(project.folder) == before
    await project.review.undo()
    assert snapshot(project.folder) == changed


async def test_a_cancelled_revert_runs_to_its_end_and_can_be_undone(project: Project) -> None:
    project.fill(a_txt="agent", new_txt="new")
    changed = snapshot(project.folder)
    await project.names()
    shown = [(file, None) for file in project.review.model.files.values()]
    reverting = asyncio.create_task(project.review.revert_all(shown))
    await asyncio.sleep(0)  # it begins
    reverting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reverting
    undone = await project.review.undo()
    assert undone is not None
    assert len(undone.before) == 2
    assert snapshot(project.folder) == changed


async def test_an_undo_that_fails_for_one_file_is_shown_for_the_others(project: Project) -> None:
    fill(project.folder, {"a.txt": "agent", "new/b.txt": "agent"})
    await project.names()
    await project.review.revert_all([(file, None) for file in project.review.model.files.values()])
    (project.folder / "new").rmdir()
    (project.folder / "new").symlink_to(project.folder.parent)
    with pytest.raises(UserError, match="a folder in its path is now a link"):
        await project.review.undo()
    shown = await project.file("a.txt")
    assert shown.now.data == (project.folder / "a.txt").read_bytes()


async def test_missing_copies_are_an_error_in_a_sentence(project: Project) -> None:
    shutil.rmtree(project.folder.parent / "baseline.git")
    with pytest.raises(UserError, match=r"^The copies of the files cannot be read: .+\.$"):
        await project.review.revert_to_start(project.folder / "a.txt")


async def test_a_hunk_is_reverted_and_the_revert_undone(project: Project) -> None:
    project.fill(a_txt=numbered(40, _5="five", _30="thirty"))
    file = await project.file("a.txt")
    await project.review.revert(file, file.parts[:1])
    assert (project.folder / "a.txt").read_text() == numbered(40, _30="thirty")
    await project.review.undo()
    assert (project.folder / "a.txt").read_text() == numbered(40, _5="five", _30="thirty")


async def test_an_accepted_change_is_no_longer_listed_until_it_is_undone(project: Project) -> None:
    project.fill(a_txt=numbered(40, _5="five", _30="thirty"))
    file = await project.file("a.txt")
    await project.review.accept(file, file.parts[:1])
    file = await project.file("a.txt")
    assert len(file.parts) == 1
    await project.review.accept(file)
    assert await project.names() == {}
    await project.review.undo()
    assert len((await project.file("a.txt")).parts) == 1


async def test_an_accepted_file_can_be_restored_as_it_was_at_the_start(project: Project) -> None:
    project.fill(a_txt=numbered(40, _5="five"))
    await project.review.accept(await project.file("a.txt"))
    await project.review.revert_to_start(project.folder / "a.txt")
    assert (project.folder / "a.txt").read_text() == numbered(40)
    await project.review.undo()
    assert (project.folder / "a.txt").read_text() == numbered(40, _5="five")
    assert await project.names() == {}


async def test_a_hunk_is_reverted_where_it_is_now(project: Project) -> None:
    project.fill(a_txt=numbered(40, _30="thirty"))
    shown = await project.file("a.txt")
    project.fill(a_txt="mine\n" + numbered(40, _30="thirty"))
    await project.review.revert(shown, shown.parts[:1])
    assert (project.folder / "a.txt").read_text() == "mine\n" + numbered(40)


async def test_the_executable_bit_is_reverted_although_a_hunk_changed_since(project: Project) -> None:
    project.fill(a_txt=numbered(40, _5="five", _30="thirty"))
    path = project.folder / "a.txt"
    path.chmod(0o755)
    shown = await project.file("a.txt")
    project.fill(a_txt=numbered(40, _5="five", _30="mine"))
    await project.review.revert(shown, [MODE])
    assert path.read_text() == numbered(40, _5="five", _30="mine")
    assert not path.stat().st_mode & 0o111


async def test_a_revert_is_refused_if_the_surroundings_changed(project: Project) -> None:
    project.fill(a_txt=numbered(40, _30="thirty"))
    shown = await project.file("a.txt")
    project.fill(a_txt=numbered(40, _30="thirty", _31="mine"))
    with pytest.raises(UserError, match=r"^a\.txt has changed since it was shown"):
        await project.review.revert(shown, shown.parts[:1])
    assert (project.folder / "a.txt").read_text() == numbered(40, _30="thirty", _31="mine")


async def test_files_that_changed_since_they_were_shown_are_not_reverted_with_the_others(
    project: Project,
) -> None:
    project.fill(a_txt=numbered(40, _30="thirty"), b_bin=b"\0\2")
    shown = [(await project.file(name), None) for name in ("a.txt", "b.bin")]
    project.fill(a_txt=numbered(40, _30="thirty", _5="unseen"))
    await project.review.refresh(lambda: None)
    with pytest.raises(UserError, match=r"^a\.txt has changed since it was shown"):
        await project.review.revert_all(shown)
    assert "unseen" in (project.folder / "a.txt").read_text()
    assert (project.folder / "b.bin").read_bytes() == b"\0\1"


async def test_a_file_is_not_accepted_as_a_whole_if_it_changed_since_it_was_shown(project: Project) -> None:
    project.fill(a_txt=numbered(40, _30="thirty"))
    shown = await project.file("a.txt")
    project.fill(a_txt=numbered(40, _30="thirty", _5="unseen"))
    await project.review.refresh(lambda: None)
    with pytest.raises(UserError, match="has changed since it was shown"):
        await project.review.accept(shown)


async def test_a_revert_is_not_undone_if_the_file_changed_since(project: Project) -> None:
    project.fill(a_txt=numbered(40, _30="thirty"))
    await project.review.revert(await project.file("a.txt"))
    project.fill(a_txt="mine\n")
    with pytest.raises(UserError, match=r"The revert of a\.txt cannot be undone: the file has changed since"):
        await project.review.undo()
    assert (project.folder / "a.txt").read_text() == "mine\n"


async def test_a_file_without_baseline_says_so(tmp_path: Path) -> None:
    folder = tmp_path.resolve() / "project"
    folder.mkdir()
    project = Project(fill(folder, {"big.txt": "x" * 2000}), Limits(file_size=1000))
    await project.begin()
    project.fill(big_txt="small\n")
    file = await project.file("big.txt")
    assert file.kind == "unknown"
    with pytest.raises(UserError, match=r"big\.txt cannot be reverted: .*larger than"):
        await project.review.revert(file)
    await project.end()


async def test_hunks_of_the_agent_and_of_the_user_are_told_apart(project: Project) -> None:
    await project.turn(1, lambda: project.fill(a_txt=numbered(40, _5="agent", _20="agent")))
    project.fill(a_txt=numbered(40, _5="agent", _20="both", _35="mine"))
    file = await project.file("a.txt")
    assert [file.authors_of(part) for part in file.parts] == [FIRST, FIRST | YOU, YOU]


async def test_each_hunk_knows_its_turns(project: Project) -> None:
    await project.turn(1, lambda: project.fill(a_txt=numbered(40, _5="one")))
    await project.turn(2, lambda: project.fill(a_txt=numbered(40, _5="one", _20="two"), new_txt="two"))
    file = await project.file("a.txt")
    assert [file.authors_of(part) for part in file.parts] == [FIRST, SECOND]
    assert (await project.file("new.txt")).authors == SECOND


async def test_a_rewind_makes_nobody_an_author(project: Project) -> None:
    await project.turn(1, lambda: project.fill(a_txt=numbered(40, _5="one")))
    await project.turn(2, lambda: project.fill(a_txt=numbered(40, _5="two")))
    await project.baseline.turns.rewind(2)
    file = await project.file("a.txt")
    assert [file.authors_of(part) for part in file.parts] == [FIRST]


def save_in_place(path: Path) -> None:
    path.write_text("my save\n")


def save_by_renaming(path: Path) -> None:
    path.with_suffix(".new").write_text("my save\n")
    path.with_suffix(".new").replace(path)


@pytest.mark.parametrize("save", [save_in_place, save_by_renaming])
@pytest.mark.parametrize("is_new", [False, True])
async def test_a_save_during_a_revert_is_kept(
    project: Project, monkeypatch: pytest.MonkeyPatch, save: Callable[[Path], None], is_new: bool
) -> None:
    path = project.folder / "a.txt"
    await project.turn(1, path.unlink if is_new else lambda: project.fill(a_txt="the agent's\n"))
    shown = await project.file("a.txt")
    fsync = os.fsync

    def save_before(descriptor: int) -> None:  # after the check, before the file is replaced
        monkeypatch.setattr(os, "fsync", fsync)
        save(path)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", save_before)
    with pytest.raises(UserError, match="has changed since"):
        await project.review.revert(shown)
    assert path.read_text() == "my save\n"


@pytest.mark.parametrize("everything", [False, True])
async def test_a_save_that_ends_after_a_revert_is_kept(
    project: Project, monkeypatch: pytest.MonkeyPatch, everything: bool
) -> None:
    path = project.folder / "a.txt"
    await project.turn(1, lambda: project.fill(a_txt="the agent's\n"))
    shown = await project.file("a.txt")
    rename = os.rename
    with path.open("r+") as editor:

        def save_after(*args: Any, **more: Any) -> None:
            rename(*args, **more)
            if args[1] == "a.txt":
                editor.truncate(0)
                editor.write("my save\n")
                editor.flush()

        monkeypatch.setattr(os, "rename", save_after)
        with pytest.raises(UserError, match=r"^a.txt: saved by another program at the same moment"):
            await (project.review.revert_all([(shown, None)]) if everything else project.review.revert(shown))
    assert path.read_text() == "my save\n"
    assert await project.names() == {"a.txt": "modified"}


async def test_an_undone_revert_makes_nobody_an_author(project: Project) -> None:
    await project.turn(1, lambda: project.fill(a_txt=numbered(40, _5="one")))
    await project.review.revert(await project.file("a.txt"))
    await project.review.undo()
    await project.turn(2, lambda: project.fill(new_txt="x"))
    file = await project.file("a.txt")
    assert [file.authors_of(part) for part in file.parts] == [FIRST]


@settings(max_examples=25)
@given(
    st.dictionaries(
        st.sampled_from(["a.txt", "b.bin", "new.txt", "sub/deep.txt"]),
        st.one_of(st.none(), st.binary(max_size=30), st.just(numbered(40, _3="x", _33="y").encode())),
    ),
    st.lists(st.tuples(st.sampled_from(["accept", "revert"]), st.integers(0, 5)), max_size=6),
)
def test_undoing_every_decision_and_reverting_all_restore_the_files(
    contents: dict[str, bytes | None], choices: list[tuple[str, int]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        project = Project(make_repository(Path(folder).resolve()))
        asyncio.run(decide_and_undo(project, contents, choices))


async def decide_and_undo(
    project: Project, contents: dict[str, bytes | None], choices: list[tuple[str, int]]
) -> None:
    await project.begin()
    original = snapshot(project.folder)
    for name, content in contents.items():
        (project.folder / name).unlink(missing_ok=True)
        if content is not None:
            fill(project.folder, {name: content})
    await project.review.refresh(lambda: None)
    changed = snapshot(project.folder)
    for verb, number in choices:
        files = [file for _, file in sorted(project.review.model.files.items()) if not file.done]
        if files:
            file = files[number % len(files)]
            part = file.parts[number % len(file.parts)]
            await (project.review.accept if verb == "accept" else project.review.revert)(file, [part])
    while await project.review.undo():
        pass
    assert snapshot(project.folder) == changed
    await project.review.revert_all([(file, None) for file in project.review.model.files.values()])
    assert snapshot(project.folder) == original
    await project.end()


async def test_comments_are_sent_in_one_prompt_that_begins_a_new_round(project: Project) -> None:
    project.fill(a_txt=numbered(40, _5="five", _30="thirty"))
    file = await project.file("a.txt")
    await project.review.accept(file, file.parts[:1])
    project.review.comments = [Comment(str(file.path), 30, 30, ("+thirty",), "Why?")]
    assert "a.txt, line 30:" in project.review.take_comments()
    assert project.review.comments == []
    assert (project.review.model.reviewed, project.review.model.left) == (0, 1)
