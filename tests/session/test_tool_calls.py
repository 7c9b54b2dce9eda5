"""Tool calls and their updates."""

from __future__ import annotations

import pytest

from acp_tui.session.state import Content, Diff, Location, Terminal, TerminalRef, ToolCall
from tests.support.talk import Talk


@pytest.fixture
def talk() -> Talk:
    """A session with a running turn."""
    conversation = Talk().opened()
    conversation.prompt()
    return conversation


def text_content(text: str) -> list[dict[str, object]]:
    """Return content with one text."""
    return [{"type": "content", "content": {"type": "text", "text": text}}]


def test_updates_change_the_announced_call(talk: Talk) -> None:
    talk.tool("t", title="Read", kind="read", status="pending", rawInput={"path": "a"}, name="Read")
    talk.tool_update("t", status="in_progress", locations=[{"path": "/w/a", "line": 3}], title=None)
    talk.tool_update("t", status="completed", rawOutput="done", content=text_content("body"))
    call = talk.only(ToolCall)
    assert (call.title, call.name, call.kind, call.status) == ("Read", "Read", "read", "completed")
    assert call.locations == [Location("/w/a", 3)]
    assert (call.raw_input, call.raw_output) == ({"path": "a"}, "done")
    assert call.content == [Content("text", text="body")]
    assert call.ended_at == talk.now


def test_an_update_for_an_unknown_id_creates_the_call(talk: Talk) -> None:
    talk.tool_update("t", title="Late", status="in_progress")
    assert (talk.only(ToolCall).title, talk.only(ToolCall).announced) == ("Late", False)
    talk.tool("t", title="Announced", status="pending")
    assert (talk.only(ToolCall).title, talk.only(ToolCall).announced) == ("Announced", True)


def test_a_status_does_not_return_to_pending(talk: Talk) -> None:
    talk.tool_update("t", status="in_progress")
    talk.tool("t", status="pending")
    assert talk.only(ToolCall).status == "in_progress"


def test_unknown_kinds_and_statuses_are_kept_as_text(talk: Talk) -> None:
    talk.tool("t", kind="teleport", status="flickering")
    assert (talk.only(ToolCall).kind, talk.only(ToolCall).status) == ("teleport", "flickering")
    talk.end(3)
    assert talk.only(ToolCall).status == "flickering"
    assert talk.only(ToolCall).ended_at is not None


def test_new_content_replaces_the_old(talk: Talk) -> None:
    talk.tool("t", content=text_content('{"comm'))
    talk.tool_update("t", content=text_content("output"))
    assert talk.only(ToolCall).content == [Content("text", text="output")]


def diff(old: str | None, new: str, path: str = "/w/a") -> dict[str, object]:
    """Return a content item with a diff."""
    return {"type": "diff", "path": path, "oldText": old, "newText": new}


def test_a_diff_stays_when_the_final_content_is_a_message(talk: Talk) -> None:
    talk.tool("t", kind="edit", content=[diff("one", "two")])
    talk.tool_update("t", status="completed", content=text_content("Replaced 1 occurrence"))
    assert talk.only(ToolCall).content == [
        Content("text", text="Replaced 1 occurrence"),
        Diff("/w/a", "one", "two"),
    ]


def test_the_diff_of_a_failed_call_is_replaced(talk: Talk) -> None:
    talk.tool("t", kind="edit", content=[diff("one", "two")])
    talk.tool_update("t", status="failed", content=text_content("No such text"))
    assert talk.only(ToolCall).content == [Content("text", text="No such text")]


@pytest.mark.parametrize("times", [1, -1])
def test_a_diff_of_the_file_stays_when_a_diff_of_words_follows(talk: Talk, times: int) -> None:
    before = "a one\nb one\n"
    talk.tool("t", kind="edit", content=[diff(before, before.replace("one", "two", times))])
    talk.tool_update("t", status="completed", content=[*text_content("Done"), diff("one", "two")])
    assert talk.only(ToolCall).content[1] == Diff("/w/a", before, before.replace("one", "two", times))


def test_a_diff_of_another_change_replaces_the_earlier_one(talk: Talk) -> None:
    talk.tool("t", kind="edit", content=[diff("a one\n", "a two\n")])
    talk.tool_update("t", content=[diff("one", "three")])
    assert talk.only(ToolCall).content == [Diff("/w/a", "one", "three")]
    talk.tool_update("t", content=[diff("one more\n", "three more\n")])
    assert talk.only(ToolCall).content == [Diff("/w/a", "one more\n", "three more\n")]


def test_locations_and_content_can_be_emptied(talk: Talk) -> None:
    talk.tool("t", content=text_content("x"), locations=[{"path": "/w/a"}])
    talk.tool_update("t", content=[], locations=[])
    assert (talk.only(ToolCall).content, talk.only(ToolCall).locations) == ([], [])


@pytest.mark.parametrize("old", [{"oldText": None}, {"oldText": ""}, {}])
def test_a_new_file_is_recognised(talk: Talk, old: dict[str, object]) -> None:
    talk.tool("t", content=[{"type": "diff", "path": "/w/a", "newText": "x", **old}])
    assert talk.only(ToolCall).content == [Diff("/w/a", None, "x")]


def test_a_call_without_a_kind_is_marked(talk: Talk) -> None:
    talk.tool("t")
    assert (talk.only(ToolCall).kind, talk.only(ToolCall).kind_given) == ("other", False)


def test_open_calls_end_with_the_turn(talk: Talk) -> None:
    talk.tool("done", status="completed")
    talk.tool("open", status="in_progress")
    talk.end(3)
    assert {call.call_id: call.status for call in talk.all(ToolCall)} == {
        "done": "completed",
        "open": "unfinished",
    }
    assert talk.session.active_locations == []


def test_an_update_after_the_turn_reopens_its_call(talk: Talk) -> None:
    talk.tool("t", status="in_progress")
    talk.end(3)
    talk.tool_update("t", status="in_progress")
    assert (talk.only(ToolCall).status, talk.only(ToolCall).ended_at) == ("in_progress", None)


def test_cancelled_calls_are_not_reopened_by_progress(talk: Talk) -> None:
    talk.tool("t", status="in_progress")
    talk.cancel()
    assert talk.only(ToolCall).status == "cancelled"
    talk.tool_update("t", status="in_progress")
    assert talk.only(ToolCall).status == "cancelled"
    talk.tool_update("t", status="failed", content=text_content("interrupted"))
    assert talk.only(ToolCall).status == "failed"


def test_a_call_id_announced_again_in_another_turn_is_a_new_call(talk: Talk) -> None:
    talk.tool("call_1", title="First", status="completed")
    talk.end(3)
    talk.prompt()
    talk.tool("call_1", title="Second", status="pending")
    talk.tool_update("call_1", status="completed")
    assert [(call.title, call.status) for call in talk.all(ToolCall)] == [
        ("First", "completed"),
        ("Second", "completed"),
    ]


def test_a_permission_request_with_an_old_id_is_a_new_call(talk: Talk) -> None:
    talk.tool("1", title="Read", kind="read", status="completed", rawInput={"path": "/w/harmless"})
    talk.end(3)
    talk.prompt()
    talk.asks_permission(toolCall={"toolCallId": "1", "title": "Run"})
    talk.tool("1", title="Run it", kind="execute")
    old, new = talk.all(ToolCall)
    assert (old.title, old.raw_input) == ("Read", {"path": "/w/harmless"})
    assert (new.title, new.kind, new.raw_input) == ("Run it", "execute", None)
    assert talk.session.tool_calls["1"] is new


def test_progress_under_the_id_of_an_ended_call_is_a_new_call(talk: Talk) -> None:
    talk.tool_update("1", title="First", status="completed")
    talk.end(3)
    talk.prompt()
    talk.tool_update("1", title="Second", status="in_progress")
    assert [call.title for call in talk.all(ToolCall)] == ["First", "Second"]


def test_meta_is_merged(talk: Talk) -> None:
    talk.tool("t", _meta={"claudeCode": {"toolName": "Bash"}})
    talk.tool_update("t", _meta={"other": 1})
    assert talk.only(ToolCall).meta == {"claudeCode": {"toolName": "Bash"}, "other": 1}


def test_files_of_unfinished_calls_are_active_locations(talk: Talk) -> None:
    talk.tool("a", locations=[{"path": "/w/a", "line": 1}])
    talk.tool("b", locations=[{"path": "/w/b"}], status="completed")
    assert talk.session.active_locations == [Location("/w/a", 1)]


# --------------------------------------------------------------------------- colours


COLOURED = "\x1b[31mred\x1b[0m \x1b[2J\x1b]0;title\x07"


def test_command_output_keeps_only_its_colours(talk: Talk) -> None:
    talk.tool("t", kind="execute", content=text_content(COLOURED))
    (content,) = talk.only(ToolCall).content
    assert isinstance(content, Content)
    assert content.coloured == "\x1b[31mred\x1b[0m ␛[2J␛]0;title␇"
    assert content.text == "red ␛[2J␛]0;title␇"


def test_the_kind_may_come_after_coloured_text(talk: Talk) -> None:
    talk.tool_update("t", content=text_content(COLOURED))
    talk.tool_update("t", kind="execute")
    (content,) = talk.only(ToolCall).content
    assert isinstance(content, Content)
    assert content.text == "red ␛[2J␛]0;title␇"


def test_escapes_in_output_of_other_tools_are_visible(talk: Talk) -> None:
    talk.tool("t", kind="read", content=text_content(COLOURED))
    (content,) = talk.only(ToolCall).content
    assert isinstance(content, Content)
    assert content.text == "␛[31mred␛[0m ␛[2J␛]0;title␇"


# --------------------------------------------------------------------------- terminals of the agent


def test_an_agents_own_terminal_is_read_from_meta(talk: Talk) -> None:
    talk.tool(
        "t",
        content=[{"type": "terminal", "terminalId": "x"}],
        _meta={"terminal_info": {"terminal_id": "x", "cwd": "/w"}},
    )
    talk.tool_update("t", _meta={"terminal_output": {"terminal_id": "x", "data": "one\n"}})
    talk.tool_update("t", _meta={"terminal_output_delta": {"terminal_id": "x", "data": "two\n"}})
    talk.tool_update("t", _meta={"terminal_exit": {"terminal_id": "x", "exit_code": 3, "signal": None}})
    terminal = talk.only(Terminal)
    assert (terminal.terminal_id, terminal.owner, terminal.cwd) == ("x", "agent", "/w")
    assert terminal.output.head == "one\ntwo\n"
    assert (terminal.exit_code, terminal.signal, terminal.ended_at) == (3, None, talk.now)
    assert talk.only(ToolCall).content == [TerminalRef("x")]


def test_output_without_a_terminal_id_belongs_to_the_call(talk: Talk) -> None:
    talk.tool("t", kind="execute")
    talk.tool_update("t", _meta={"terminal_output_delta": {"data": "out"}})
    assert talk.session.terminals["t"].output.head == "out"
    assert talk.session.terminals["t"].owner == "agent"


def test_terminal_output_is_not_kept_in_meta(talk: Talk) -> None:
    talk.tool("t", _meta={"terminal_output": {"terminal_id": "x", "data": "long"}, "kept": True})
    assert talk.only(ToolCall).meta == {"kept": True}


# --------------------------------------------------------------------------- patches in the raw input

PATCH = "*** Begin Patch\n*** Update File: /w/a\n@@\n one\n-two\n+three\n*** End Patch"


def test_a_patch_in_the_raw_input_is_shown_as_a_diff(talk: Talk) -> None:
    talk.tool("t", kind="other", rawInput={"input": PATCH[:60]})
    talk.tool_update("t", rawInput={"input": PATCH})
    talk.tool_update(
        "t", status="completed", rawOutput={"result": "Applied"}, content=text_content("Applied")
    )
    (text, shown) = talk.only(ToolCall).content
    assert text == Content("text", text="Applied")
    assert shown == Diff("/w/a", "one\ntwo\n", "one\nthree\n", from_input=True)


def test_the_agents_own_diff_is_shown_instead_of_its_patch(talk: Talk) -> None:
    talk.tool("t", kind="edit", rawInput={"input": PATCH})
    talk.tool_update("t", content=[diff("x", "y")])
    assert talk.only(ToolCall).content == [Diff("/w/a", "x", "y")]
    talk.tool_update("t", content=[])
    assert [item.from_input for item in talk.only(ToolCall).content if isinstance(item, Diff)] == [True]


@pytest.mark.parametrize(
    ("patch", "shown"),
    [
        ("*** Add File: a\n+x\n+\n+y\n", Diff("a", None, "x\n\ny\n")),
        ("*** Delete File: a\n", Diff("a", None, None, patch="deleted file")),
        ("--- a/a\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-x\n--- y\n", Diff("a", "x\n-- y\n", None, line=1)),
        ("--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+x\n", Diff("a", None, "x\n")),
        (
            "*** Update File: a\n*** Move to: b\n@@ def f\n-x\n+y\n",
            Diff("a", None, None, patch="rename to b\n@@ def f\n-x\n+y\n"),
        ),
        (
            "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y",
            Diff("a", None, None, patch="--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y"),
        ),
    ],
)
def test_each_kind_of_patch_becomes_a_diff(talk: Talk, patch: str, shown: Diff) -> None:
    talk.tool("t", kind="other", rawInput={"patch": patch})
    shown.from_input = True
    assert talk.only(ToolCall).content == [shown]


def test_a_patch_cannot_contain_terminal_controls(talk: Talk) -> None:
    talk.tool("t", kind="other", rawInput={"patch": "*** Add File: a\x1b[2J\n+\x1b]0;x\x07\n"})
    (shown,) = talk.only(ToolCall).content
    assert isinstance(shown, Diff)
    assert "\x1b" not in f"{shown.path}{shown.new}"
