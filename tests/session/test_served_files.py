"""Files that the agent reads and writes through acp-tui."""

from __future__ import annotations

from typing import Any

import pytest

from acp_tui.session.events import FileBeforeWrite
from acp_tui.session.state import Diff, Notice, ToolCall
from tests.support.talk import Talk


@pytest.fixture
def talk() -> Talk:
    """A session with a running turn."""
    conversation = Talk().opened()
    conversation.prompt()
    return conversation


def read(talk: Talk, path: str, **more: Any) -> None:
    serve(talk, "fs/read_text_file", {"path": path, **more}, {"content": "text"})


def write(talk: Talk, path: str, content: str, before: FileBeforeWrite | None = None) -> None:
    serve(talk, "fs/write_text_file", {"path": path, "content": content}, {}, before)


def serve(
    talk: Talk, method: str, params: dict[str, Any], result: Any, before: FileBeforeWrite | None = None
) -> None:
    number = 1000 + len(talk.records)
    talk.received({"id": number, "method": method, "params": params})
    if before is not None:
        before.request_id = number
        talk.client(before)
    talk.reply(number, result)


def test_a_read_without_a_tool_call_gets_an_entry(talk: Talk) -> None:
    read(talk, f"{talk.session.cwd}/src/a.py", line=7)
    call = talk.only(ToolCall)
    assert (call.title, call.kind, call.status) == ("Read src/a.py", "read", "completed")
    assert [(place.path, place.line) for place in call.locations] == [(f"{talk.session.cwd}/src/a.py", 7)]


def test_consecutive_reads_share_an_entry(talk: Talk) -> None:
    for name in ("a", "b", "c", "b"):
        read(talk, f"/w/{name}")
    call = talk.only(ToolCall)
    assert call.title == "Read 3 files"
    assert [place.path for place in call.locations] == ["/w/a", "/w/c", "/w/b"]


def test_reads_with_a_message_between_them_get_two_entries(talk: Talk) -> None:
    read(talk, "/w/a")
    talk.says("hm")
    read(talk, "/w/b")
    assert [call.title for call in talk.all(ToolCall)] == ["Read a", "Read b"]


@pytest.mark.parametrize("named", [{"locations": [{"path": "/w/a"}]}, {"rawInput": {"file": "/w/./a"}}])
def test_a_read_shown_by_a_tool_call_gets_no_entry(talk: Talk, named: dict[str, Any]) -> None:
    talk.update("tool_call", toolCallId="t", title="Look", kind="read", **named)
    read(talk, "/w/a")
    assert talk.only(ToolCall).title == "Look"


def test_a_tool_call_of_an_earlier_turn_does_not_show_a_read(talk: Talk) -> None:
    talk.update("tool_call", toolCallId="t", title="Look", status="completed", locations=[{"path": "/w/a"}])
    talk.end(3)
    talk.prompt()
    read(talk, "/w/a")
    assert [call.title for call in talk.all(ToolCall)] == ["Look", "Read a"]


def test_reading_a_missing_file_is_not_shown(talk: Talk) -> None:
    talk.received({"id": 7, "method": "fs/read_text_file", "params": {"path": "/w/a"}})
    talk.record("sent", {"id": 7, "error": {"code": -32002, "message": "not found"}})
    assert talk.all(ToolCall) == []
    assert talk.all(Notice) == []


def test_a_write_without_a_tool_call_is_an_edit_with_a_diff(talk: Talk) -> None:
    write(talk, "/w/a", "new\n", FileBeforeWrite(None, "old\n"))
    call = talk.only(ToolCall)
    assert (call.title, call.kind, call.status) == ("Write a", "edit", "completed")
    assert call.content == [Diff("/w/a", "old\n", "new\n")]


def test_a_new_file_differs_from_one_with_unknown_content(talk: Talk) -> None:
    write(talk, "/w/new", "x", FileBeforeWrite(None))
    write(talk, "/w/unknown", "x", FileBeforeWrite(None, known=False))
    write(talk, "/w/old-log", "x")
    assert [call.content for call in talk.all(ToolCall)] == [[Diff("/w/new", None, "x")], [], []]


def test_changed_line_ends_are_stored(talk: Talk) -> None:
    write(talk, "/w/a", "a\r\nb\r\n", FileBeforeWrite(None, "a\nb\n", line_ends=["LF", "CRLF"]))
    (diff,) = talk.only(ToolCall).content
    assert isinstance(diff, Diff)
    assert diff.line_ends == ("LF", "CRLF")


def test_a_tool_call_shows_one_write_only(talk: Talk) -> None:
    shown = {"type": "diff", "path": "/w/a", "oldText": "old", "newText": "new"}
    talk.update("tool_call", toolCallId="t", title="Edit", kind="edit", content=[shown])
    write(talk, "/w/a", "before new after", FileBeforeWrite(None, "before old after"))
    assert talk.only(ToolCall).title == "Edit"
    write(talk, "/w/a", "before new again", FileBeforeWrite(None, "before new after"))
    assert [call.title for call in talk.all(ToolCall)] == ["Edit", "Write a"]


def test_a_write_that_differs_from_the_diff_gets_an_entry(talk: Talk) -> None:
    shown = {"type": "diff", "path": "/w/a", "oldText": "old", "newText": "new"}
    talk.update("tool_call", toolCallId="t", title="Edit", kind="edit", content=[shown])
    write(talk, "/w/a", "something else", FileBeforeWrite(None, "old"))
    assert talk.all(ToolCall)[1].content == [Diff("/w/a", "old", "something else")]


def test_an_open_edit_without_a_diff_gets_one(talk: Talk) -> None:
    talk.update("tool_call", toolCallId="t", title="Edit", kind="edit", locations=[{"path": "/w/a"}])
    write(talk, "/w/a", "new", FileBeforeWrite(None, "old"))
    talk.update("tool_call_update", toolCallId="t", status="completed")
    call = talk.only(ToolCall)
    assert (call.title, call.content) == ("Edit", [Diff("/w/a", "old", "new")])


def test_hostile_text_is_made_safe(talk: Talk) -> None:
    write(talk, "/w/a\x1b[2J", "new\x1b]0;x\x07", FileBeforeWrite(None, "old\x1b[2J"))
    call = talk.only(ToolCall)
    assert "\x1b" not in f"{call.title}{call.content}{call.locations}"
