"""Version 2 of the protocol: recorded traffic of two agents, and single updates."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_tui.config.validators import POLICIES
from acp_tui.permissions.decision import decide
from acp_tui.permissions.subject import PathContext
from acp_tui.permissions.subject_reader import subject_of_call
from acp_tui.protocol.json_rpc import LineSplitter
from acp_tui.protocol.translator import Fold, fold
from acp_tui.session import events as ev
from acp_tui.session.record import Record
from acp_tui.session.state import (
    AgentMessage,
    Content,
    Diff,
    Permission,
    Terminal,
    Thought,
    ToolCall,
    TurnEnd,
    UserMessage,
)
from tests.support.recordings import WIRELOGS, records

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from acp_tui.permissions.subject import Subject
    from acp_tui.session.state import Session

RECORDINGS = [path for path in WIRELOGS if path.name.startswith("v2-")]
SESSION = "s"


def recording(name: str) -> list[Record]:
    """Return the records of one of the recordings of version 2."""
    return records(next(path for path in RECORDINGS if path.stem == f"v2-{name}"))


def frames(*updates: dict[str, Any]) -> list[Record]:
    """Return the records of a session of version 2 with a prompt that is answered by these updates."""
    sent = [
        {"id": 0, "method": "initialize", "params": {"protocolVersion": 2}},
        {"id": 1, "method": "session/new", "params": {"cwd": "/ws"}},
        {"id": 2, "method": "session/prompt", "params": prompt_params("hello")},
    ]
    answers = [{"protocolVersion": 2, "info": {"name": "a"}, "capabilities": {}}, {"sessionId": SESSION}, {}]
    pairs = zip(sent, answers, strict=True)
    found = [
        record
        for call, result in pairs
        for record in (
            Record(1.0, "sent", call),
            Record(1.0, "received", {"id": call["id"], "result": result}),
        )
    ]
    return [*found, *(received(update) for update in updates)]


def prompt_params(text: str) -> dict[str, Any]:
    """Return the params of a prompt."""
    return {"sessionId": SESSION, "prompt": [{"type": "text", "text": text}]}


def received(update: dict[str, Any], session: str = SESSION) -> Record:
    """Return the record of an update."""
    return Record(
        2.0, "received", {"method": "session/update", "params": {"sessionId": session, "update": update}}
    )


def request(params: dict[str, Any]) -> Record:
    """Return the record of a permission request."""
    options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
    asked = {"sessionId": SESSION, "options": options, **params}
    return Record(2.0, "received", {"id": "q", "method": "session/request_permission", "params": asked})


def transcript(session: Session) -> list[object]:
    """Return what the entries show, without times."""
    return [
        (
            type(entry).__name__,
            getattr(entry, "text", ""),
            getattr(entry, "title", ""),
            getattr(entry, "status", ""),
            str(getattr(entry, "output", "")),
        )
        for entry in session.entries
    ]


def call_of(*updates: dict[str, Any]) -> ToolCall:
    """Return the tool call `c` after these updates."""
    return fold(
        frames(*({"sessionUpdate": "tool_call_update", "toolCallId": "c"} | one for one in updates))
    ).tool_calls["c"]


# --------------------------------------------------------------------------- recordings


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_recorded_traffic_is_understood(path: Path) -> None:
    state, odd = Fold(), []
    for record in records(path):
        state.apply(record)
        odd += [event for event in state.events if isinstance(event, (ev.Unknown, ev.ProtocolFault))]
    assert odd == []
    assert state.session.dialect == "v2"
    assert not state.session.working


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
@given(data=st.data())
def test_the_transcript_does_not_depend_on_how_text_and_output_are_cut(
    path: Path, data: st.DataObject
) -> None:
    whole = records(path)
    cut = [piece for record in whole for piece in _cut(record, data)]
    assert transcript(fold(cut)) == transcript(fold(whole))


def _cut(record: Record, data: st.DataObject) -> list[Record]:
    """Cut a chunk of text or of base64 into two, at any place."""
    frame: dict[str, Any] = record.frame
    params: dict[str, Any] = frame.get("params") or {}
    update: dict[str, Any] = params.get("update") or {}
    kind = update.get("sessionUpdate")
    if kind == "terminal_output_chunk":
        written = base64.b64decode(update["data"])
        at = data.draw(st.integers(0, len(written)))
        pieces: list[dict[str, Any]] = [
            update | {"data": base64.b64encode(part).decode()} for part in (written[:at], written[at:])
        ]
    elif kind in ("agent_message_chunk", "agent_thought_chunk") and update["content"].get("type") == "text":
        text = update["content"]["text"]
        at = data.draw(st.integers(0, len(text)))
        pieces = [update | {"content": {"type": "text", "text": part}} for part in (text[:at], text[at:])]
    else:
        return [record]
    changed = [frame | {"params": params | {"update": piece}} for piece in pieces]
    return [Record(record.at, record.direction, piece) for piece in changed]


@given(st.lists(st.integers(1, 400), min_size=1, max_size=30))
def test_the_transcript_does_not_depend_on_how_the_bytes_arrive(sizes: list[int]) -> None:
    whole = recording("codex-shell")
    sent = [record for record in whole if record.direction == "sent"]
    answers = [record for record in whole if record.direction == "received"]
    stream = b"".join(json.dumps(record.frame).encode() + b"\n" for record in answers)
    splitter, lines = LineSplitter(1 << 20), list[bytes]()
    at = 0
    while at < len(stream):
        size = sizes[at % len(sizes)]
        lines += splitter.feed(stream[at : at + size])
        at += size
    arrived = iter(
        [Record(record.at, "received", json.loads(line)) for record, line in zip(answers, lines, strict=True)]
    )
    merged = [record if record in sent else next(arrived) for record in whole]
    assert transcript(fold(merged)) == transcript(fold(whole))


# --------------------------------------------------------------------------- turns


def test_the_answer_to_a_prompt_does_not_end_the_turn() -> None:
    assert fold(frames()).working


def test_idle_with_a_reason_ends_the_turn() -> None:
    running, idle = {"state": "running"}, {"state": "idle", "stopReason": "max_tokens"}
    session = fold(frames(*({"sessionUpdate": "state_update"} | state for state in (running, idle))))
    assert (session.phase, session.stop_reason) == ("idle", "max_tokens")


def test_idle_that_reports_an_error_fails_the_turn() -> None:
    error = {"code": -32603, "message": "no credit"}
    update = {"sessionUpdate": "state_update", "state": "idle", "stopReason": "error", "error": error}
    session = fold(frames(update))
    end = session.entries[-1]
    assert isinstance(end, TurnEnd)
    assert end.error is not None
    assert "no credit" in end.error.message


def test_idle_without_a_reason_before_the_agent_has_begun_ends_nothing() -> None:
    assert fold(frames({"sessionUpdate": "state_update", "state": "idle"})).working


def test_idle_without_a_reason_after_work_ends_the_turn_with_a_fault() -> None:
    states = [{"sessionUpdate": "state_update", "state": state} for state in ("running", "idle")]
    session = fold(frames(*states))
    assert session.stop_reason == "end_turn"
    assert any("stopReason" in getattr(entry, "text", "") for entry in session.entries)


def test_an_unknown_state_counts_as_work() -> None:
    assert fold(frames({"sessionUpdate": "state_update", "state": "_dreaming"})).working


def test_a_state_that_the_protocol_does_not_define_is_reported() -> None:
    session = fold(frames({"sessionUpdate": "state_update", "state": "runing"}))
    assert any("Unknown session state 'runing'" in getattr(entry, "text", "") for entry in session.entries)


def test_work_that_no_prompt_began_is_a_turn() -> None:
    end = {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}
    session = fold(frames(end, {"sessionUpdate": "state_update", "state": "running"}))
    assert session.working
    assert session.turn == 2


def test_the_end_of_the_work_ends_every_prompt_that_the_agent_has_begun() -> None:
    second = Record(2.0, "sent", {"id": 3, "method": "session/prompt", "params": prompt_params("more")})
    answer = Record(2.0, "received", {"id": 3, "result": {}})
    idle = received({"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"})
    assert not fold([*frames(), second, answer, idle]).working
    assert fold([*frames(), second, idle]).working


def test_background_work_is_kept_while_the_agent_is_idle() -> None:
    background = [{"type": "terminal", "terminalId": "t"}, {"type": "tool_call", "toolCallId": "c"}]
    idle = {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}
    session = fold(frames(idle | {"background": background}))
    assert (session.background_terminals, session.background_calls) == (["t"], ["c"])


def test_requires_action_is_reported_until_the_turn_ends() -> None:
    asking = {"sessionUpdate": "state_update", "state": "requires_action"}
    idle = {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}
    assert fold(frames(asking)).requires_action
    assert not fold(frames(asking, idle)).requires_action


def test_a_batch_is_read_message_by_message() -> None:
    updates = [
        received({"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": text_block(text)})
        for text in ("a", "b")
    ]
    batch = Record(2.0, "received", [update.frame for update in updates])
    session = fold([*frames(), batch])
    assert [entry.text for entry in session.entries if isinstance(entry, AgentMessage)] == ["ab"]


# --------------------------------------------------------------------------- messages


def text_block(text: str) -> dict[str, Any]:
    """Return a block of text."""
    return {"type": "text", "text": text}


def message(kind: str, **fields: Any) -> dict[str, Any]:
    """Return the update of a message with the id `m`."""
    return {"sessionUpdate": kind, "messageId": "m", **fields}


@pytest.mark.parametrize(
    ("last", "text"),
    [
        ({}, "ab"),
        ({"content": None}, ""),
        ({"content": []}, ""),
        ({"content": [text_block("C")]}, "C"),
    ],
)
def test_a_whole_message_leaves_clears_or_replaces(last: dict[str, Any], text: str) -> None:
    first = [
        message("agent_message", content=[text_block("a")]),
        message("agent_message_chunk", content=text_block("b")),
    ]
    session = fold(frames(*first, message("agent_message", **last)))
    assert [entry.text for entry in session.entries if isinstance(entry, AgentMessage)] == [text]


def test_chunks_append_to_a_replaced_message() -> None:
    updates = [
        message("agent_thought", content=[text_block("C")]),
        message("agent_thought_chunk", content=text_block("d")),
    ]
    session = fold(frames(*updates))
    assert [entry.text for entry in session.entries if isinstance(entry, Thought)] == ["Cd"]


def test_a_message_of_an_earlier_turn_can_be_corrected() -> None:
    idle = {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}
    again = Record(2.0, "sent", {"id": 3, "method": "session/prompt", "params": prompt_params("more")})
    wrong, right = (message("agent_message", content=[text_block(text)]) for text in ("wrong", "right"))
    session = fold([*frames(wrong, idle), again, received(right)])
    assert [entry.text for entry in session.entries if isinstance(entry, AgentMessage)] == ["right"]


def test_the_prompt_takes_the_id_and_the_content_that_the_agent_reports() -> None:
    session = fold(frames(message("user_message", content=[text_block("hello, expanded")])))
    prompts = [entry for entry in session.entries if isinstance(entry, UserMessage)]
    assert [(prompt.message_id, prompt.text) for prompt in prompts] == [("m", "hello, expanded")]


# --------------------------------------------------------------------------- tool calls


def test_the_first_update_creates_a_call_and_null_clears_a_field() -> None:
    first = {
        "title": "Read",
        "kind": "read",
        "status": "in_progress",
        "rawInput": {"path": "/ws/a"},
        "locations": [{"path": "/ws/a"}],
    }
    call = call_of(first, {"title": None, "rawInput": None, "locations": None, "kind": None})
    assert (call.title, call.kind, call.raw_input, call.locations, call.status) == (
        "",
        "other",
        None,
        [],
        "in_progress",
    )


def test_fields_that_are_left_out_stay() -> None:
    call = call_of({"title": "Read", "kind": "read", "content": [content("x")]}, {"status": "completed"})
    assert (call.title, call.kind, texts(call)) == ("Read", "read", ["x"])


def content(text: str) -> dict[str, Any]:
    """Return an item of a call's content."""
    return {"type": "content", "content": text_block(text)}


def texts(call: ToolCall) -> list[str]:
    """Return the texts in a call's content."""
    return [item.text for item in call.content if isinstance(item, Content)]


def test_content_chunks_append_and_content_replaces() -> None:
    def chunk(text: str) -> dict[str, Any]:
        return {"sessionUpdate": "tool_call_content_chunk", "toolCallId": "c", "content": content(text)}

    update = {"sessionUpdate": "tool_call_update", "toolCallId": "c"}
    session = fold(frames(update, chunk("a"), chunk("b")))
    assert texts(session.tool_calls["c"]) == ["a", "b"]
    session = fold(frames(chunk("a"), update | {"content": [content("new")]}, chunk("c")))
    assert texts(session.tool_calls["c"]) == ["new", "c"]


def test_a_call_that_goes_on_in_the_background_is_not_a_new_call() -> None:
    idle = {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}
    update = {"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "Watch"}
    again = Record(2.0, "sent", {"id": 3, "method": "session/prompt", "params": prompt_params("more")})
    session = fold([*frames(update, idle), again, received(update | {"status": "completed"})])
    assert len([entry for entry in session.entries if isinstance(entry, ToolCall)]) == 1


PATCH = "diff --git /ws/a.txt /ws/a.txt\n--- /ws/a.txt\n+++ /ws/a.txt\n@@ -1 +1 @@\n-one\n+two\n"


@pytest.mark.parametrize(
    ("change", "patch", "shown"),
    [
        ({"operation": "modify", "path": "/ws/a.txt"}, PATCH, "+two"),
        ({"operation": "delete", "path": "/ws/b", "fileType": "binary"}, None, "deleted binary file"),
        ({"operation": "add", "path": "/ws/d", "fileType": "directory"}, None, "new directory"),
        (
            {"operation": "move", "oldPath": "/ws/a", "path": "/ws/b"},
            None,
            "rename from /ws/a\nrename to /ws/b",
        ),
        ({"operation": "copy", "oldPath": "/ws/a", "path": "/ws/b"}, None, "copy from /ws/a\ncopy to /ws/b"),
        ({"operation": "_chmod", "path": "/ws/a"}, None, "_chmod file"),
    ],
)
def test_each_file_operation_is_a_diff(change: dict[str, Any], patch: str | None, shown: str) -> None:
    source = {"type": "diff", "changes": [change], "patch": patch and {"format": "git_patch", "text": patch}}
    call = call_of({"content": [source]})
    [diff] = [item for item in call.content if isinstance(item, Diff)]
    assert (diff.path, diff.old_path, diff.operation) == (
        change["path"],
        change.get("oldPath"),
        change["operation"],
    )
    assert shown in (diff.patch or "")


def test_a_patch_that_changes_more_files_than_its_list_is_shown_and_judged_whole() -> None:
    more = PATCH + PATCH.replace("a.txt", "hidden.txt")
    source = {
        "type": "diff",
        "changes": [{"operation": "modify", "path": "/ws/a.txt"}],
        "patch": {"format": "git_patch", "text": more},
    }
    call = call_of({"content": [source]})
    assert any("hidden.txt" in item.path for item in call.content if isinstance(item, Diff))


# --------------------------------------------------------------------------- terminals


def terminal(*updates: dict[str, Any]) -> Terminal:
    """Return the terminal `t` after these updates."""
    return fold(frames(*({"terminalId": "t"} | update for update in updates))).terminals["t"]


def chunk_of(data: bytes) -> dict[str, Any]:
    """Return a chunk of a terminal's output."""
    return {"sessionUpdate": "terminal_output_chunk", "data": base64.b64encode(data).decode()}


def update_of(**fields: Any) -> dict[str, Any]:
    """Return a `terminal_update`."""
    return {"sessionUpdate": "terminal_update", **fields}


def test_chunks_may_cut_a_character() -> None:
    written = "größe".encode()
    assert terminal(*(chunk_of(written[at : at + 1]) for at in range(len(written)))).output.head == "größe"


def test_a_snapshot_replaces_the_output_and_chunks_append_to_it() -> None:
    snapshot = update_of(output={"data": base64.b64encode(b"new ").decode()})
    assert terminal(chunk_of(b"old"), snapshot, chunk_of(b"more")).output.head == "new more"


def test_half_a_character_before_a_snapshot_is_forgotten() -> None:
    snapshot = update_of(output={"data": base64.b64encode(b"a").decode()})
    assert terminal(chunk_of("ß".encode()[:1]), snapshot, chunk_of(b"b")).output.head == "ab"


def test_terminal_fields_are_patched() -> None:
    found = terminal(
        update_of(command="ls", cwd="/ws", exitStatus={"exitCode": 3}, capabilities={"cancel": {}}),
        update_of(cwd=None, exitStatus=None),
    )
    assert (found.command, found.cwd, found.exit_code, found.ended_at, found.can_cancel) == (
        "ls",
        None,
        None,
        None,
        True,
    )


@pytest.mark.parametrize("data", ["not base64!", 7, None])
def test_output_that_is_not_base64_is_a_fault(data: Any) -> None:
    state = Fold()
    for record in frames({"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": data}):
        state.apply(record)
    assert any(isinstance(event, ev.ProtocolFault) for event in state.events)


# --------------------------------------------------------------------------- permission requests


def subject(session: Session) -> Subject:
    """Return the subject of the last permission request."""
    permission = next(entry for entry in reversed(session.entries) if isinstance(entry, Permission))
    context = PathContext("/ws/project", ["/ws/project"], resolve=lambda path: path)
    return subject_of_call(session.tool_calls[permission.call_id], context)


@pytest.mark.parametrize("name", ["claude-code-edit", "claude-code-shell"])
def test_the_same_action_has_the_same_subject_in_both_versions(name: str) -> None:
    first = _until_asked(records(next(path for path in WIRELOGS if path.stem == name)))
    second = _until_asked(recording(name))
    one, two = subject(first), subject(second)
    assert (one.kind, one.doubt, len(one.targets)) == (two.kind, two.doubt, len(two.targets))
    assert [target.inside for target in one.targets] == [target.inside for target in two.targets]


def _until_asked(recorded: Sequence[Record]) -> Session:
    state = Fold()
    for record in recorded:
        state.apply(record)
        if any(isinstance(event, ev.PermissionRequested) for event in state.events):
            return state.session
    raise AssertionError("no permission was asked for")


def test_the_title_of_a_request_does_not_change_the_call() -> None:
    call = {"toolCallId": "c", "title": "Edit a.txt", "kind": "edit"}
    session = fold(
        [*frames(), request({"title": "Really?", "subject": {"type": "tool_call", "toolCall": call}})]
    )
    assert (session.tool_calls["c"].title, session.tool_calls["c"].permission_title) == (
        "Edit a.txt",
        "Really?",
    )


def test_a_command_is_judged_with_its_folder() -> None:
    asked = {"type": "command", "command": "cargo test", "cwd": "/ws/project/sub"}
    found = subject(fold([*frames(), request({"title": "Run?", "subject": asked})]))
    assert found.kind == "execute"
    assert "cargo test" in found.description
    assert "sub" in found.description


def test_a_command_about_a_known_call_is_judged_by_what_it_says_itself() -> None:
    update = {
        "sessionUpdate": "tool_call_update",
        "toolCallId": "c",
        "kind": "execute",
        "rawInput": {"command": "ls"},
    }
    asked = {"type": "command", "command": "rm -rf /", "cwd": "/ws/project", "toolCallId": "c"}
    found = subject(fold([*frames(update), request({"title": "Run?", "subject": asked})]))
    assert "rm -rf /" in found.description


@pytest.mark.parametrize("asked", [None, {"type": "_deploy", "target": "production"}])
def test_a_request_without_a_known_subject_is_about_something_else(asked: Any) -> None:
    session = fold(
        [*frames(), request({"title": "Deploy?", "description": "To production.", "subject": asked})]
    )
    [permission] = [entry for entry in session.entries if isinstance(entry, Permission)]
    call = session.tool_calls[permission.call_id]
    assert (subject(session).kind, call.permission_title, texts(call)) == (
        "other",
        "Deploy?",
        ["To production."],
    )
    assert call.raw_input == asked


def test_both_paths_of_a_move_are_judged() -> None:
    diff = {
        "type": "diff",
        "changes": [{"operation": "move", "oldPath": "/etc/passwd", "path": "/ws/project/a"}],
    }
    call = {"toolCallId": "c", "title": "Move", "kind": "edit", "content": [diff]}
    found = subject(
        fold([*frames(), request({"title": "Move?", "subject": {"type": "tool_call", "toolCall": call}})])
    )
    assert found.kind == "move"
    assert {target.path for target in found.targets} == {"/etc/passwd", "/ws/project/a"}
    assert not all(target.inside for target in found.targets)


PASSWD = "diff --git /etc/passwd /etc/passwd\n--- /etc/passwd\n+++ /etc/passwd\n@@ -1 +1 @@\n-one\n+two\n"
INSIDE = {"operation": "modify", "path": "/ws/project/a"}


def asked_about(*changes: Any, patch: Any = None, **more: Any) -> Session:
    """Return the session after a request about changes of files."""
    diff = {"type": "diff", "changes": list(changes), "patch": patch}
    call = {"toolCallId": "c", "kind": "edit", "content": [diff], **more}
    return fold([*frames(), request({"title": "Edit?", "subject": {"type": "tool_call", "toolCall": call}})])


@pytest.mark.parametrize(
    "patch",
    [
        {"format": "git_patch", "text": PASSWD},
        {"format": "_other", "text": PASSWD},
        PASSWD,
        {"format": "git_patch", "text": PATCH.replace("/ws/a.txt", "/ws/project/a") + PASSWD},
        {
            "format": "git_patch",
            "text": "diff --git a/ws/project/a b/x\nrename from ws/project/a\nrename to /etc/passwd\n",
        },
    ],
)
def test_files_that_only_the_patch_names_are_judged(patch: Any) -> None:
    assert not all(target.inside for target in subject(asked_about(INSIDE, patch=patch)).targets)


def test_a_patch_without_a_list_of_changes_is_judged() -> None:
    diff = {"type": "diff", "patch": {"format": "git_patch", "text": PASSWD}}
    call = {"toolCallId": "c", "kind": "edit", "content": [diff]}
    found = subject(
        fold([*frames(), request({"title": "Edit?", "subject": {"type": "tool_call", "toolCall": call}})])
    )
    assert [target.path for target in found.targets] == ["/etc/passwd"]


def test_the_first_slash_of_an_absolute_path_is_not_left_out() -> None:
    found = subject(
        asked_about(
            {"operation": "modify", "path": "etc/passwd"}, patch={"format": "git_patch", "text": PASSWD}
        )
    )
    assert "/etc/passwd" in {target.path for target in found.targets}


@pytest.mark.parametrize(
    "change",
    [
        {"operation": "modify"},
        {"operation": "modify", "path": None},
        {"operation": "modify", "path": ["/ws/project/a"]},
        {"operation": "move", "path": "/ws/project/a"},
        {"operation": "_exchange", "path": "/ws/project/a"},
        {"path": "/ws/project/a"},
        "rm",
    ],
)
def test_a_change_that_is_not_clear_matches_no_narrow_rule(change: Any) -> None:
    assert not subject(asked_about(INSIDE, change)).certain


def test_a_long_kind_of_change_is_shortened_where_it_is_named() -> None:
    found = subject(asked_about(INSIDE | {"operation": "x\u200b" * 50_000}))
    assert found.doubt is not None
    assert len(found.doubt) < 300
    assert found.doubt.isprintable()


@pytest.mark.parametrize(
    ("header", "kind"), [("deleted file mode 100644", "delete"), ("rename to ws/project/b", "move")]
)
def test_a_patch_that_does_more_than_its_change_says_decides(header: str, kind: str) -> None:
    text = f"diff --git a/ws/project/a b/ws/project/a\n{header}\n"
    assert subject(asked_about(INSIDE, patch={"format": "git_patch", "text": text})).kind == kind


def test_text_that_is_no_patch_is_shown() -> None:
    [call] = asked_about(INSIDE, patch={"format": "_words", "text": "replace it"}).tool_calls.values()
    assert texts(call) == ["replace it"]


def test_the_old_path_is_shown_whatever_the_operation() -> None:
    change = {**INSIDE, "oldPath": "/etc/passwd"}
    [call] = asked_about(change, patch={"format": "git_patch", "text": PATCH}).tool_calls.values()
    assert "/etc/passwd" in str(next(item.patch for item in call.content if isinstance(item, Diff)))


@pytest.mark.parametrize(
    "retracted",
    [
        {"rawInput": None, "content": None, "locations": None},
        {"content": [], "locations": []},
        {"content": [{"type": "diff", "changes": [{"operation": "modify", "path": "/ws/project/b"}]}]},
    ],
)
def test_a_question_takes_back_nothing_that_is_known_of_its_call(retracted: dict[str, Any]) -> None:
    diff = {
        "type": "diff",
        "changes": [{"operation": "move", "oldPath": "/etc/passwd", "path": "/ws/project/b"}],
    }
    known = {"sessionUpdate": "tool_call_update", "toolCallId": "c", "kind": "edit", "content": [diff]}
    call = {"toolCallId": "c", **retracted}
    found = subject(
        fold(
            [*frames(known), request({"title": "Edit?", "subject": {"type": "tool_call", "toolCall": call}})]
        )
    )
    assert (found.kind, "/etc/passwd" in {target.path for target in found.targets}) == ("move", True)


@pytest.mark.parametrize(
    ("asked", "kind"),
    [
        ({"type": "command", "command": "make", "env": {"LD_PRELOAD": "/tmp/x.so"}}, "execute"),
        ({"type": "command", "command": ["make"], "cwd": ["/etc"]}, "execute"),
        ({"type": "command", "command": None, "toolCallId": "known"}, "execute"),
        ({"type": "command"}, "execute"),
        ({"type": "_run", "command": 7}, "execute"),
    ],
)
def test_a_command_that_is_not_clear_matches_no_narrow_rule(asked: dict[str, Any], kind: str) -> None:
    known = {"sessionUpdate": "tool_call_update", "toolCallId": "known", "kind": "read"}
    found = subject(fold([*frames(known), request({"title": "Run?", "subject": asked})]))
    assert (found.kind, found.certain and not found.variables) == (kind, False)


def test_a_command_in_a_folder_elsewhere_is_judged_there() -> None:
    asked = {"type": "command", "command": "cat shadow", "cwd": "/etc"}
    found = subject(fold([*frames(), request({"title": "Run?", "subject": asked})]))
    assert found.cwd is not None
    assert not found.cwd.inside
    assert "in /etc" in found.description


@pytest.mark.parametrize("asked", ["rm -rf /", {"type": "tool_call", "toolCall": "rm -rf /"}])
def test_a_subject_of_the_wrong_form_is_kept_and_shown(asked: Any) -> None:
    session = fold([*frames(), request({"title": "Really?", "subject": asked})])
    [call] = session.tool_calls.values()
    assert call.raw_input == asked


def test_a_request_in_the_form_of_version_1_is_judged_as_there() -> None:
    call = {"toolCallId": "c", "kind": "execute", "rawInput": {"command": "rm -rf /"}}
    found = subject(fold([*frames(), request({"title": "Really?", "toolCall": call})]))
    assert found.dangerous


def in_version_1(call: dict[str, Any]) -> Session:
    """Return the session after the same kind of request in version 1."""
    began = Record(1.0, "sent", {"id": 1, "method": "session/new", "params": {"cwd": "/ws"}})
    opened = Record(1.0, "received", {"id": 1, "result": {"sessionId": SESSION}})
    return fold([began, opened, request({"toolCall": {"toolCallId": "c"} | call})])


def command_in(folder: str) -> dict[str, str]:
    """Return what both versions say about a command."""
    return {"command": "cat notes", "cwd": folder}


@pytest.mark.parametrize("folder", ["/ws/project", "/etc"])
def test_a_command_is_decided_as_in_version_1(folder: str) -> None:
    asked = {"title": "Run?", "subject": {"type": "command", **command_in(folder)}}
    second = fold([*frames(), request(asked)])
    assert decisions(second) == decisions(in_version_1({"rawInput": command_in(folder)}))


@pytest.mark.parametrize("path", ["/ws/project/a", "/ws/project/.env", "/etc/passwd"])
def test_an_edit_is_decided_as_in_version_1(path: str) -> None:
    diff = {"type": "diff", "path": path, "oldText": "one", "newText": "two"}
    first = in_version_1({"kind": "edit", "content": [diff]})
    assert decisions(asked_about({"operation": "modify", "path": path})) == decisions(first)


def decisions(session: Session) -> list[str]:
    """Return the answer of each policy to the last permission request."""
    return [decide(subject(session), policy=policy).answer for policy in POLICIES]


# --------------------------------------------------------------------------- hostile messages


def test_a_batch_in_a_batch_is_a_fault() -> None:
    nested: Any = {"method": "session/update"}
    for _ in range(900):
        nested = [nested]
    state = Fold()
    for record in [*frames(), Record(2.0, "received", nested)]:
        state.apply(record)
    assert [type(event) for event in state.events] == [ev.ProtocolFault]


@pytest.mark.parametrize("data", ["A" * 5, "=" * 8, "AA==AA==", "\x1b]0;x\x07", "ä", "AAAA\n"])
def test_garbage_instead_of_base64_changes_nothing(data: str) -> None:
    chunk = {"sessionUpdate": "terminal_output_chunk", "data": data}
    assert terminal(chunk_of(b"a"), chunk, chunk_of(b"b")).output.head == "ab"


def test_a_long_list_of_changes_is_read_in_time_in_proportion_to_its_length() -> None:
    names = [f"/ws/project/{number}" for number in range(10_000)]
    patch = "".join(
        f"diff --git {name} {name}\n--- {name}\n+++ {name}\n@@ -1 +1 @@\n-1\n+2\n" for name in names
    )
    changes = [{"operation": "modify", "path": name} for name in names]
    [call] = asked_about(*changes, patch={"format": "git_patch", "text": patch}).tool_calls.values()
    assert len(call.content) == len(names)
