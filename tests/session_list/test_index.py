"""The full-text index: what it holds, and how it follows the session folders."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import stat
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.config.paths import paths, private_directory
from acp_tui.errors import UserError
from acp_tui.session_list import search, search_index
from acp_tui.session_list.index_updater import IndexProgress, IndexUpdater, update_in_background
from acp_tui.session_list.search import SessionSearch
from acp_tui.session_list.search_index import (
    IndexDamagedError,
    SearchUnavailableError,
    index_file,
    update_index,
)
from acp_tui.store.locks import file_lock
from tests.support.stored_sessions import add_turns, record_session
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    from acp_tui.session_list.search import SessionHit


@pytest.fixture
def data() -> Path:
    return paths().data


def update() -> int:
    """Update the index and return the number of sessions that were indexed."""
    totals = [0]
    update_index(paths().cache, paths().data, lambda _, total: totals.append(total))
    return totals[-1]


def found(text: str) -> list[SessionHit]:
    with closing(SessionSearch(paths().cache, clock=lambda: 1_800_000_000.0)) as index:
        return index.search(text)


def lines(text: str) -> list[str]:
    return [hit.hit.line for hit in found(text)]


def test_everything_said_and_done_is_found(data: Path) -> None:
    call = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Build it", "kind": "execute"}
    ran = {"rawInput": {"command": "make walnut"}, "locations": [{"path": "/project/almond.c"}]}
    output = {"content": [{"type": "content", "content": {"type": "text", "text": "ok\n3 pistachios\n"}}]}
    thought = {"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "a hazelnut?"}}
    record_session(data, [("an acorn", "one chestnut")], updates=[call | ran | output, thought])
    assert update() == 1
    assert lines("acorn") == ["an acorn"]
    assert lines("chest") == ["one chestnut"]
    assert lines("hazel") == ["a hazelnut?"]
    assert lines("walnut") == ["make walnut"]
    assert lines("almond") == ["/project/almond.c"]
    assert lines("3 pist") == ["3 pistachios"]
    assert lines("chest acorn") == []  # in different entries
    assert [hit.position for hit in found("one")] == [1]


def test_only_changed_sessions_are_indexed_again(data: Path) -> None:
    record_session(data, [("first", "ok")])
    growing = record_session(data, [("second", "ok")], is_open=True)
    assert update() == 2
    assert update() == 0
    add_turns(growing, [("third", "ok")])
    growing.close()
    assert update() == 1
    assert [len(found(word)) for word in ("first", "second", "third")] == [1, 1, 1]


def test_a_deleted_session_leaves_the_index(data: Path) -> None:
    gone = record_session(data, [("the password is xylophone", "ok")])
    record_session(data, [("something else", "ok")])
    update()
    assert len(found("xylo")) == 1
    shutil.rmtree(gone.path)
    update()
    assert found("xylo") == []
    assert len(found("else")) == 1
    cache = [path.read_bytes() for path in paths().cache.iterdir()]
    assert not any(b"xylophone" in content for content in cache)


def test_a_damaged_index_is_made_again(data: Path) -> None:
    record_session(data, [("first", "ok")])
    update()
    path = index_file(paths().cache)
    path.write_bytes(b"this is no database" * 500)
    with pytest.raises(IndexDamagedError):
        found("first")
    assert update() == 1
    assert len(found("first")) == 1


def test_an_index_without_its_tables_is_made_again(data: Path) -> None:
    record_session(data, [("first", "ok")])
    update()
    with sqlite3.connect(index_file(paths().cache)) as connection:
        connection.execute("DROP TABLE entries")
    assert update() == 1
    assert len(found("first")) == 1


def test_the_index_of_an_older_version_is_removed(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record_session(data, [("first", "ok")])
    update()
    older = index_file(paths().cache)
    monkeypatch.setattr(search_index, "FORMAT", search_index.FORMAT + 1)
    assert update() == 1
    assert not older.exists()
    assert len(found("first")) == 1


def test_only_the_user_can_read_the_index(data: Path) -> None:
    record_session(data, [("first", "ok")])
    before = os.umask(0)
    try:
        update()
    finally:
        os.umask(before)
    assert stat.S_IMODE(index_file(paths().cache).stat().st_mode) == 0o600
    assert stat.S_IMODE(paths().cache.stat().st_mode) == 0o700


def test_a_python_without_fts5_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_index, "_TABLES", "CREATE VIRTUAL TABLE words USING fts_missing(text);")
    with pytest.raises(SearchUnavailableError, match="this Python's SQLite has no FTS5"):
        update()


def test_there_is_nothing_to_find_without_an_index() -> None:
    assert found("first") == []


@pytest.mark.parametrize(
    "typed",
    [
        '"',
        "'",
        "*",
        "a*",
        "NEAR(a b)",
        "a AND",
        "OR",
        "NOT x",
        "-x",
        "^a",
        "text:a",
        "(",
        "a\0b",
        "%",
        "\ud800",
        "ß",
    ],
)
def test_typed_text_is_never_query_syntax(data: Path, typed: str) -> None:
    record_session(data, [("nothing of that", "ok")])
    update()
    assert found(typed) == []


def test_words_match_without_case_and_accents_and_in_other_scripts(data: Path) -> None:
    record_session(data, [("Crème brûlée für Zoë, 会话记录, привет snake_case", "ok")])
    update()
    assert all(
        len(found(word)) == 1 for word in ("creme", "BRÛ", "fur zoe", "话记", "Прив", "snake_c", "case")
    )
    assert found("reme") == []


def test_newer_sessions_and_better_matches_come_first(data: Path) -> None:
    old = record_session(data, [("alpha beta", "ok")], at=1_700_000_000.0)
    new = record_session(data, [("alpha beta", "ok")], at=1_799_999_000.0)
    apart = record_session(data, [("alpha or else a beta", "ok")], at=1_799_999_500.0)
    update()
    assert [hit.folder for hit in found("alpha beta")] == [new.id, apart.id, old.id]


def test_the_matching_line_is_shown_with_its_matches(data: Path) -> None:
    answer = f"one\n{'x ' * 200}needle in the haystack {'y ' * 200}\nneedles"
    record_session(data, [("q", answer)])
    update()
    (hit,) = found("needle hay")
    line, spans = hit.hit.line, hit.hit.spans
    assert [line[start:end] for start, end in spans] == ["needle", "hay"]
    assert line.startswith("…")
    assert len(line) < 200
    assert hit.hit.needle == "needle"


async def test_the_index_is_updated_by_another_process(data: Path) -> None:
    record_session(data, [("first", "ok")])
    reports: list[IndexProgress] = []
    await update_in_background(reports.append)
    assert reports[-1] == IndexProgress(1, 1)
    assert len(found("first")) == 1


async def test_two_updates_at_once_do_not_disturb_each_other(data: Path) -> None:
    for number in range(5):
        record_session(data, [(f"session {number}", "ok")])
    totals: list[int] = []

    def note(progress: IndexProgress) -> None:
        if progress.done == progress.total and not progress.waiting:
            totals.append(progress.total)

    await asyncio.gather(update_in_background(note), update_in_background(note))
    assert sorted(totals) == [0, 5]
    assert len(found("session")) == 5


async def test_waiting_for_the_update_of_another_process_is_reported(data: Path) -> None:
    record_session(data, [("first", "ok")])
    reports: list[IndexProgress] = []
    private_directory(paths().cache)
    with file_lock(paths().cache / "sessions.lock", timeout=0):
        update_task = asyncio.create_task(update_in_background(reports.append))
        await until(lambda: IndexProgress(waiting=True) in reports)
    await update_task
    assert reports[-1] == IndexProgress(1, 1)


async def test_a_change_during_an_update_is_indexed_by_the_next_one(data: Path) -> None:
    gone = record_session(data, [("the password is xylophone", "ok")])
    failures: list[str] = []
    reports: list[IndexProgress] = []

    def delete_once(progress: IndexProgress) -> None:
        reports.append(progress)
        if gone.path.exists() and progress.done:
            shutil.rmtree(gone.path)
            updater.start()

    updater = IndexUpdater(delete_once, failures.append)
    updater.start()
    await until(lambda: reports[-1:] == [IndexProgress(0, 0)])
    await updater.close()
    assert not found("xylo")
    assert not failures


async def test_a_rebuild_requested_during_an_update_follows_it(data: Path) -> None:
    record_session(data, [("the password is xylophone", "ok")])
    reports: list[IndexProgress] = []

    def rebuild_once(progress: IndexProgress) -> None:
        if progress == IndexProgress(1, 1):
            reports.append(progress)
            if len(reports) == 1:
                updater.start(rebuild=True)
                updater.start()  # does not replace the rebuild

    updater = IndexUpdater(rebuild_once, lambda _: None)
    updater.start()
    await until(lambda: len(reports) == 2)  # an update alone would find nothing to do
    await updater.close()
    assert found("xylo")


async def test_an_index_that_cannot_be_written_is_reported(data: Path) -> None:
    record_session(data, [("first", "ok")])
    index_file(paths().cache).mkdir(parents=True)
    with pytest.raises(UserError, match=r"cannot be used: .* is a directory"):
        await update_in_background(lambda _: None)


def test_a_session_that_is_removed_during_a_search_is_still_found_by_it(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = record_session(data, [("an acorn", "ok")])
    monkeypatch.setattr(search_index, "BUSY_SECONDS", 0.0)  # else the update waits for the end of the search
    update()

    def find_and_remove(*args: Any) -> list[int]:
        numbers = find(*args)
        shutil.rmtree(gone.path)
        update()
        return numbers

    find = search._candidates
    monkeypatch.setattr(search, "_candidates", find_and_remove)
    assert lines("acorn") == ["an acorn"]
    monkeypatch.setattr(search, "_candidates", find)
    assert lines("acorn") == []


def test_facts_for_the_list(data: Path) -> None:
    edit: dict[str, Any] = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Edit", "kind": "edit"}
    diff = {"type": "diff", "path": "/project/a.py", "oldText": "a", "newText": "b"}
    folder = record_session(
        data,
        [("Fix the\nparser", "ok"), ("again", "ok")],
        updates=[edit | {"status": "completed", "content": [diff]}],
    )
    update()
    facts = SessionSearch(paths().cache).facts()[folder.id]
    assert (facts.turns, facts.changed_files, facts.first_prompt) == (2, 1, "Fix the parser")
