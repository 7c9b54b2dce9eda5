"""Permission requests and elicitations."""

from __future__ import annotations

import pytest

from acp_tui.session.events import Decided
from acp_tui.session.state import Content, Diff, Elicitation, Notice, Permission, Terminal, ToolCall
from tests.support.talk import Talk


@pytest.fixture
def talk() -> Talk:
    """A session with a running turn."""
    conversation = Talk().opened()
    conversation.prompt()
    return conversation


def selected(option_id: str) -> dict[str, object]:
    """Return a result that selects an option."""
    return {"outcome": {"outcome": "selected", "optionId": option_id}}


def test_a_permission_request_is_decided_and_answered(talk: Talk) -> None:
    talk.tool("t", title="Bash", kind="execute")
    talk.asks_permission(7, toolCall={"toolCallId": "t", "title": "rm -r x"})
    permission = talk.only(Permission)
    assert talk.session.permissions == {7: permission}
    assert talk.session.tool_calls[permission.call_id].title == "rm -r x"
    talk.client(Decided(7, "rule", "rule 3 allows `rm`", allowed=True, subject="run `rm -r x`"))
    talk.reply(7, selected("yes"))
    assert talk.session.permissions == {}
    assert permission.option is not None
    assert (permission.outcome, permission.option.name) == ("selected", "Yes")
    assert (permission.by, permission.why) == ("rule", "rule 3 allows `rm`")


def test_numeric_and_text_ids_are_different(talk: Talk) -> None:
    talk.asks_permission(1, toolCall={"toolCallId": "a"})
    talk.asks_permission("1", toolCall={"toolCallId": "b"})
    talk.reply("1", selected("no"))
    assert [permission.outcome for permission in talk.all(Permission)] == [None, "selected"]


def test_a_request_may_come_before_its_tool_call(talk: Talk) -> None:
    talk.asks_permission(toolCall={"toolCallId": "t", "title": "Edit", "kind": "edit"})
    talk.tool("t", title="Edit a file", status="pending")
    call = talk.only(ToolCall)
    assert (call.title, call.kind, call.announced) == ("Edit a file", "edit", True)


def test_announced_content_is_shown_with_that_of_the_request(talk: Talk) -> None:
    talk.tool(
        "t",
        title="Bash",
        content=[{"type": "content", "content": {"type": "text", "text": '{"command": "ls"}'}}],
    )
    talk.asks_permission(
        toolCall={
            "toolCallId": "t",
            "content": [{"type": "content", "content": {"type": "text", "text": "May I?"}}],
        }
    )
    assert [item.text for item in talk.only(ToolCall).content if isinstance(item, Content)] == [
        "May I?",
        '{"command": "ls"}',
    ]


def test_items_of_unknown_content_are_all_shown(talk: Talk) -> None:
    talk.tool("t", content=[{"type": "hologram", "beam": 1}, {"type": "terminal", "terminalId": "x"}])
    asked = [{"type": "hologram", "beam": 2}, {"type": "terminal", "terminalId": "x"}]
    talk.asks_permission(toolCall={"toolCallId": "t", "content": asked})
    assert [getattr(item, "raw", None) for item in talk.only(ToolCall).content] == [
        asked[0],
        None,
        {"type": "hologram", "beam": 1},
    ]


def test_the_diff_of_the_request_replaces_that_of_the_same_file(talk: Talk) -> None:
    def diff(path: str, old: str) -> dict[str, str]:
        return {"type": "diff", "path": path, "oldText": old, "newText": "new"}

    talk.tool("t", content=[diff("/w/a", "snippet"), diff("/w/b", "b")])
    talk.asks_permission(toolCall={"toolCallId": "t", "content": [diff("/w/a", "whole file")]})
    assert talk.only(ToolCall).content == [Diff("/w/a", "whole file", "new"), Diff("/w/b", "b", "new")]


def test_content_blocks_without_a_wrapper_are_read(talk: Talk) -> None:
    talk.asks_permission(toolCall={"toolCallId": "t", "content": [{"type": "text", "text": "bare"}]})
    assert talk.only(ToolCall).content == [Content("text", text="bare")]


def test_a_request_without_a_tool_call_gets_one(talk: Talk) -> None:
    talk.asks_permission(title="Do something")
    assert talk.session.tool_calls[talk.only(Permission).call_id].title == "Do something"


def test_options_keep_their_order_and_unknown_kinds(talk: Talk) -> None:
    options = [
        {"optionId": "2", "name": "For\x1b ever", "kind": "allow_always"},
        {"optionId": "1", "name": "Hm", "kind": "perhaps"},
        {"optionId": "0"},
    ]
    talk.asks_permission(options=options)
    assert [(option.id, option.name, option.kind) for option in talk.only(Permission).options] == [
        ("2", "For␛ ever", "allow_always"),
        ("1", "Hm", "perhaps"),
        ("0", "0", ""),
    ]


def test_a_request_without_an_id_cannot_be_answered(talk: Talk) -> None:
    talk.asks_permission(None, toolCall={"toolCallId": "t"})
    assert not talk.only(Permission).answerable
    assert talk.session.permissions == {}


def test_an_answer_after_the_request_was_withdrawn_changes_nothing(talk: Talk) -> None:
    talk.asks_permission(3, toolCall={"toolCallId": "t"})
    talk.received({"method": "$/cancel_request", "params": {"requestId": 3}})
    permission = talk.only(Permission)
    assert (permission.outcome, permission.by, talk.session.permissions) == ("cancelled", "agent", {})
    talk.reply(3, selected("yes"))
    assert permission.outcome == "cancelled"


def test_requests_are_cancelled_with_the_turn(talk: Talk) -> None:
    talk.asks_permission(3, toolCall={"toolCallId": "t"})
    talk.cancel()
    talk.reply(3, {"outcome": {"outcome": "cancelled"}})
    assert (talk.only(Permission).outcome, talk.only(Permission).by) == ("cancelled", "turn")


def test_an_error_answers_a_request(talk: Talk) -> None:
    talk.asks_permission(3, toolCall={"toolCallId": "t"})
    talk.record("sent", {"id": 3, "error": {"code": -32800, "message": "cancelled"}})
    assert talk.only(Permission).outcome == "error"


def test_a_request_outside_a_turn_is_marked_as_stray() -> None:
    talk = Talk().opened()
    talk.asks_permission(toolCall={"toolCallId": "t"})
    assert talk.only(Permission).stray
    assert "p1" in talk.session.permissions


def test_a_decision_without_a_permission_request_is_a_notice(talk: Talk) -> None:
    talk.client(Decided(None, "policy", "read-only: no writing", allowed=False, subject="write /w/a"))
    notice = talk.only(Notice)
    assert notice.text == "Rejected: write a (read-only: no writing)"
    assert (notice.level, notice.source) == ("warning", "policy")


def test_a_covered_request_gets_no_notice(talk: Talk) -> None:
    talk.client(Decided(3, "covered", "it is what was allowed a moment ago", allowed=True, subject="edit a"))
    assert talk.all(Notice) == []


def test_waiting_for_an_answer_does_not_count_as_duration(talk: Talk) -> None:
    talk.tool("t", kind="execute")
    call = talk.only(ToolCall)
    talk.asks_permission(7, toolCall={"toolCallId": "t"})
    for _ in range(60):
        talk.thinks("…")
    talk.reply(7, selected("yes"))
    assert call.began == talk.now - 1  # of the question, the second that the call was there before it
    talk.tool_update("t", status="completed")
    assert call.ended_at is not None
    assert call.ended_at - call.began == 2


def test_waiting_for_a_served_request_does_not_count_as_duration(talk: Talk) -> None:
    talk.tool("t", kind="edit")
    call = talk.only(ToolCall)
    talk.client(Decided(3, "you", "you answered", allowed=True, subject="edit /w/src/a", waited=5.5))
    assert call.began == call.at + 5.5
    assert talk.only(Notice).text == "You allowed editing src/a"
    talk.tool("u", kind="edit")
    talk.client(Decided(4, "you", "you answered", allowed=True, subject="edit /w/src/a", waited=5.5))
    assert call.began == call.at + 5.5


@pytest.mark.parametrize(("answer", "status"), [("yes", "in_progress"), ("no", "pending")])
def test_an_allowed_call_is_in_progress(talk: Talk, answer: str, status: str) -> None:
    talk.tool("t", kind="execute", status="pending")
    talk.asks_permission(7, toolCall={"toolCallId": "t"})
    talk.reply(7, selected(answer))
    assert talk.only(ToolCall).status == status


def test_a_call_that_ends_before_its_answer_waited_until_its_end(talk: Talk) -> None:
    talk.tool("t", kind="execute")
    talk.asks_permission(7, toolCall={"toolCallId": "t"})
    talk.cancel()
    call = talk.only(ToolCall)
    talk.thinks("…")
    talk.reply(7, {"outcome": {"outcome": "cancelled"}})
    assert call.ended_at is not None
    assert call.ended_at - call.began == 1


def test_a_call_created_by_its_request_starts_with_the_answer(talk: Talk) -> None:
    talk.asks_permission(7, toolCall={"toolCallId": "t"})
    talk.thinks("…")
    talk.reply(7, selected("yes"))
    assert talk.only(ToolCall).began == talk.now


# --------------------------------------------------------------------------- elicitations


def elicit(talk: Talk, request_id: str = "e1", **params: object) -> Elicitation:
    """Send an elicitation."""
    talk.received({"id": request_id, "method": "elicitation/create", "params": {"sessionId": "s1", **params}})
    return talk.all(Elicitation)[-1]


def test_answers_to_a_form_are_not_stored(talk: Talk) -> None:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    asked = elicit(talk, mode="form", message="Your \x1bname?", requestedSchema=schema)
    assert (asked.mode, asked.message, asked.schema) == ("form", "Your ␛name?", schema)
    talk.reply("e1", {"action": "accept", "content": {"name": "secret"}})
    assert (asked.outcome, talk.session.elicitations) == ("accept", {})
    assert "secret" not in repr(talk.session)


@pytest.mark.parametrize(
    ("action", "outcome"), [("decline", "decline"), ("cancel", "cancel"), ("?", "cancel")]
)
def test_outcomes_of_an_elicitation_are_stored(talk: Talk, action: str, outcome: str) -> None:
    asked = elicit(talk, mode="form", message="?")
    talk.reply("e1", {"action": action})
    assert asked.outcome == outcome


def test_a_known_web_form_is_completed_once(talk: Talk) -> None:
    asked = elicit(talk, mode="url", url="https://x/\x1by", elicitationId="el", message="Sign in")
    assert asked.url == "https://x/\x1by"
    completed = []
    for known in ("unknown", "el", "el"):
        talk.received({"method": "elicitation/complete", "params": {"elicitationId": known}})
        completed.append((asked.completed, len(talk.changes)))
    assert completed == [(False, 0), (True, 1), (True, 0)]


# --------------------------------------------------------------------------- files and terminals


def test_a_failed_read_is_shown_unless_the_file_is_missing(talk: Talk) -> None:
    for number, error in enumerate(
        ({"code": -32002, "message": "Resource not found"}, {"code": 1, "message": "No"})
    ):
        talk.received({"id": number, "method": "fs/read_text_file", "params": {"path": "/w/a"}})
        talk.record("sent", {"id": number, "error": error})
    assert talk.only(Notice).text == "Could not read /w/a: No"


def test_a_rejected_read_has_one_notice(talk: Talk) -> None:
    talk.received({"id": 7, "method": "fs/read_text_file", "params": {"path": "/etc/passwd"}})
    talk.client(Decided(7, "you", "you answered", allowed=False, subject="read /etc/passwd"))
    refusal = {"code": -32003, "message": "not allowed to read /etc/passwd: you answered"}
    talk.record("sent", {"id": 7, "error": refusal})
    assert talk.only(Notice).text == "You rejected reading /etc/passwd"


def test_a_terminal_is_one_entry_from_create_to_release(talk: Talk) -> None:
    params = {"sessionId": "s1", "command": "echo", "args": ["a b"], "cwd": "/w"}
    talk.received({"id": 1, "method": "terminal/create", "params": params})
    talk.reply(1, {"terminalId": "term-1"})
    terminal = talk.only(Terminal)
    assert (terminal.command, terminal.cwd, terminal.owner) == ("echo 'a b'", "/w", "client")
    talk.received({"id": 2, "method": "terminal/release", "params": {"terminalId": "term-1"}})
    talk.reply(2, {})
    assert terminal.released
    talk.received({"id": 3, "method": "terminal/create", "params": {"command": "ls"}})
    talk.reply(3, {"terminalId": "term-1"})
    assert [terminal.command for terminal in talk.all(Terminal)] == ["echo 'a b'", "ls"]
