"""The changes of a session, their review and the notices about them, after the session was resumed."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.config.paths import paths
from acp_tui.review.authorship import CLOSED, YOU, turn_bit
from acp_tui.store.drafts_and_history import SavedComments
from acp_tui.store.stored_sessions import read_session
from tests.support.scripted_conversation import ScriptedConversation, scripted_conversation
from tests.support.waiting import until
from tests.workspace.projects import fill, repository

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

OFFERS = json.dumps({"capabilities": {"sessionCapabilities": {"resume": {}, "fork": {}}}})
LINES = "".join(f"line {number}\n" for number in range(1, 41))
CHANGED = LINES.replace("line 5\n", "five\n").replace("line 30\n", "thirty\n")


class Runs:
    """Several runs of acp-tui with one session, one after the other."""

    def __init__(self, project: Path) -> None:
        self.project = project
        self.chats: list[ScriptedConversation] = []

    async def first(self, **options: Any) -> ScriptedConversation:
        """Start a session whose agent changes the file in its first turn."""
        chat = self._chat(**options)
        await chat.open()
        await chat.prompt(["write_file", str(self.project / "a.txt"), CHANGED])
        await chat.conversation.rewind.points()  # the turn's checkpoint is complete
        return chat

    async def again(self, *, kill: bool = False, fork: bool = False, **options: Any) -> ScriptedConversation:
        """End the last run, or with `kill` only release the session's lock, and resume the session."""
        last = self.chats[-1].conversation
        assert last.folder.path is not None
        if kill or fork:
            last.folder.close()  # the system does the same when it ends a process
        else:
            await last.close()
        chat = self._chat(resumed=read_session(last.folder.path), fork=fork, **options)
        await chat.conversation.start()
        session_id = chat.session.session_id or "s1"
        await (chat.conversation.open_fork(session_id) if fork else chat.conversation.open_known(session_id))
        await chat.conversation._baseline.ready()
        return chat

    def _chat(self, **options: Any) -> ScriptedConversation:
        options = {"can_rewind": True, "policy": "yolo", **options}
        self.chats.append(scripted_conversation(self.project, "script", OFFERS, **options))
        return self.chats[-1]


@pytest.fixture
async def runs(tmp_path: Path) -> AsyncIterator[Runs]:
    all_runs = Runs(repository(tmp_path.resolve() / "project", {"a.txt": LINES, "b.txt": "b\n"}))
    yield all_runs
    for chat in all_runs.chats:
        await chat.conversation.close()
        assert chat.left_behind() == []


async def parts(chat: ScriptedConversation) -> dict[str, int]:
    """Return the number of parts that are left to review in each file."""
    review = chat.conversation.review
    await review.refresh(lambda: None)
    return {path.name: len(file.parts) for path, file in review.model.files.items() if not file.done}


async def revert_recorded(chat: ScriptedConversation) -> None:
    """Wait until the state of the files after a revert is saved, after that of the first turn."""
    state = chat.conversation._baseline.state
    await until(lambda: len(state.names("turn-")) == 2)


def names_only(notices: list[str]) -> list[str]:
    return [notice for notice in notices if "closed" in notice or "copies" in notice]


@pytest.mark.parametrize("kill", [False, True], ids=["quit", "killed"])
async def test_the_review_is_the_same_after_a_resume(runs: Runs, *, kill: bool) -> None:
    chat = await runs.first()
    assert await parts(chat) == {"a.txt": 2}
    again = await runs.again(kill=kill)
    assert await parts(again) == {"a.txt": 2}
    assert names_only(again.notices()) == []
    [file] = again.conversation.review.model.files.values()
    assert file.authors == turn_bit(1)
    await again.conversation.review.revert(file)
    assert (runs.project / "a.txt").read_text() == LINES


@pytest.mark.parametrize("kill", [False, True], ids=["quit", "killed"])
async def test_decisions_are_kept_and_can_be_undone_after_a_resume(runs: Runs, *, kill: bool) -> None:
    chat = await runs.first()
    review = chat.conversation.review
    await parts(chat)
    [file] = review.model.files.values()
    await review.accept(file, [file.parts[0]])
    await review.revert(review.model.files[file.path], [review.model.files[file.path].parts[0]])
    assert await parts(chat) == {}
    again = await runs.again(kill=kill)
    assert await asyncio.to_thread(again.conversation.review.accepted) == set()
    assert await parts(again) == {}
    assert again.conversation.review.model.reviewed == 2
    await again.conversation.review.undo()
    assert (runs.project / "a.txt").read_text() == CHANGED
    assert await parts(again) == {"a.txt": 1}
    third = await runs.again(kill=True)
    assert await parts(third) == {"a.txt": 1}
    await third.conversation.review.undo()
    assert await parts(third) == {"a.txt": 2}


async def test_only_what_changed_since_a_decision_is_listed_after_a_resume(runs: Runs) -> None:
    chat = await runs.first()
    await chat.conversation.review.accept_file(runs.project / "a.txt")
    again = await runs.again(kill=True)
    assert await asyncio.to_thread(again.conversation.review.accepted) == {runs.project / "a.txt"}
    fill(runs.project, {"a.txt": CHANGED.replace("line 20\n", "twenty\n")})
    assert await parts(again) == {"a.txt": 1}


async def test_what_a_command_of_the_user_changed_before_a_crash_is_by_the_user(runs: Runs) -> None:
    chat = await runs.first()
    await chat.conversation.user_commands.run("echo mine > b.txt")
    await until(lambda: all(terminal.ended_at for terminal in chat.session.terminals.values()))
    again = await runs.again(kill=True)
    assert names_only(again.notices()) == []
    assert await parts(again) == {"a.txt": 2, "b.txt": 1}
    assert again.conversation.review.model.files[runs.project / "b.txt"].authors == YOU


async def test_what_was_deleted_after_a_crash_is_said(runs: Runs) -> None:
    chat = await runs.first()
    chat.conversation.folder.close()
    (runs.project / "b.txt").unlink()
    again = await runs.again(kill=True)
    assert names_only(again.notices()) == ["1 file changed while the session was closed: b.txt."]


@pytest.mark.parametrize("kill", [False, True], ids=["quit", "killed"])
async def test_what_changed_while_the_session_was_closed_is_said(runs: Runs, *, kill: bool) -> None:
    chat = await runs.first()
    if kill:
        chat.conversation.folder.close()
    else:
        await chat.conversation.close()
    fill(runs.project, {"a.txt": CHANGED.replace("line 20\n", "mine\n"), "b\x1b[31m.txt": "n"})
    again = await runs.again(kill=kill)
    assert names_only(again.notices()) == ["2 files changed while the session was closed: a.txt, b␛[31m.txt."]
    assert await parts(again) == {"a.txt": 3, "b\x1b[31m.txt": 1}
    file = again.conversation.review.model.files[runs.project / "a.txt"]
    assert [file.authors_of(part) for part in file.parts] == [turn_bit(1), CLOSED, turn_bit(1)]


async def test_what_the_review_reverted_was_not_changed_while_the_session_was_closed(runs: Runs) -> None:
    chat = await runs.first()
    await parts(chat)
    [file] = chat.conversation.review.model.files.values()
    await chat.conversation.review.revert(file, [file.parts[0]])
    await revert_recorded(chat)
    again = await runs.again(kill=True)
    assert names_only(again.notices()) == []
    assert await parts(again) == {"a.txt": 1}


async def test_hunks_still_have_authors_after_a_decision_of_an_earlier_run_was_undone(runs: Runs) -> None:
    chat = await runs.first()
    await parts(chat)
    [file] = chat.conversation.review.model.files.values()
    await chat.conversation.review.revert(file, [file.parts[0]])
    await revert_recorded(chat)
    again = await runs.again(kill=True)
    assert await parts(again) == {"a.txt": 1}
    await again.conversation.review.undo()
    assert await parts(again) == {"a.txt": 2}
    [file] = again.conversation.review.model.files.values()
    assert [file.authors_of(part) for part in file.parts] == [turn_bit(1), turn_bit(1)]


async def test_a_fork_begins_with_the_changes_decisions_and_comments_of_the_original(runs: Runs) -> None:
    chat = await runs.first()
    await parts(chat)
    review = chat.conversation.review
    [file] = review.model.files.values()
    await review.accept(file, [file.parts[0]])
    comments = SavedComments(paths().state)
    comments.save(chat.conversation.folder.id or "", [{"text": "Why?"}])
    fork = await runs.again(fork=True)
    assert comments.load(fork.conversation.folder.id or "") == [{"text": "Why?"}]
    assert await parts(fork) == {"a.txt": 1}
    assert fork.conversation.review.model.reviewed == 1
    assert [point.number for point in await fork.conversation.rewind.points()] == [1]


async def test_a_session_of_exec_can_be_reviewed_on_the_screen(runs: Runs) -> None:
    await runs.first(can_rewind=False)
    again = await runs.again()
    assert await parts(again) == {"a.txt": 2}
    [file] = again.conversation.review.model.files.values()
    assert file.authors == turn_bit(1)
    await again.conversation.rewind.restore_files(1)
    assert (runs.project / "a.txt").read_text() == LINES


async def test_the_review_can_be_read_if_the_agent_cannot_be_started(runs: Runs) -> None:
    await runs.first()
    last = runs.chats[-1].conversation
    await last.close()
    assert last.folder.path is not None
    chat = runs._chat(resumed=read_session(last.folder.path))
    chat.conversation.launch.command[:] = ["/nonexistent"]
    with pytest.raises(Exception, match="nonexistent"):
        await chat.conversation.start()
    await chat.conversation._baseline.ready()
    assert await parts(chat) == {"a.txt": 2}


async def test_deleted_copies_are_reported_with_the_setting_and_the_review_begins_again(runs: Runs) -> None:
    chat = await runs.first()
    await chat.conversation.close()
    from acp_tui.store.prune import prune_baselines

    folder = chat.conversation.folder.path
    assert folder is not None
    prune_baselines(folder.parent.parent, days=3, max_bytes=10**9, now=chat.records[-1].at + 10**6)
    again = await runs.again()
    [said] = names_only(again.notices())
    assert said == (
        "The copies of the files from the start of this session are gone, because the session was not used "
        "for 3 days (workspace.keep_baseline_days). Changes are listed from now on."
    )
    assert await parts(again) == {}


async def test_the_review_survives_a_full_disk(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    chat = await runs.first()
    await parts(chat)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("acp_tui.workspace.baseline.saved_state.write_private", full)
    [file] = chat.conversation.review.model.files.values()
    await chat.conversation.review.accept(file)
    await chat.conversation.review.undo()
    assert await parts(chat) == {"a.txt": 2}
    said = [notice for notice in chat.notices() if "No space left" in notice]
    assert said == [
        "What the review needs after a restart could not be saved: No space left on device.",
    ]


async def test_two_sessions_in_one_folder_have_baselines_of_their_own(runs: Runs) -> None:
    first = await runs.first()
    second = runs._chat()
    await second.open()
    await second.conversation._baseline.ready()
    assert await parts(second) == {}
    assert await parts(first) == {"a.txt": 2}
    runs.chats.remove(second)
    await second.conversation.close()
    assert await parts(await runs.again()) == {"a.txt": 2}
