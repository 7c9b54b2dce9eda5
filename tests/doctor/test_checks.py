"""The checks of an agent's messages: a case for each check, and the violations of recorded agents."""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from acp_tui.doctor import behaviour_check
from acp_tui.doctor.report import find_violations
from acp_tui.protocol.json_rpc import SHORTENED
from acp_tui.session.events import AgentStarted, Noticed
from acp_tui.session.record import Record
from tests.support.recordings import WIRELOGS, records
from tests.support.talk import Talk

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Step = Callable[[Talk], None]

DIFF = {"type": "diff", "path": "/w/a", "oldText": "a", "newText": "b"}
TEXT = {"type": "content", "content": {"type": "text", "text": "\x1b[31mred"}}
INFO = {"agentInfo": {"name": "agent", "version": "1"}}


def checks(talk: Talk, *, schema: bool = False) -> set[str]:
    found = {violation.check for violation in find_violations(talk.records)}
    return found if schema else {check for check in found if not check.startswith("schema:")}


def turn(*steps: Step) -> Callable[[Talk], None]:
    """Return a conversation with one turn of these steps and a message."""

    def run(talk: Talk) -> None:
        talk.opened(**INFO)
        prompt = talk.prompt("hello")
        for step in steps:
            step(talk)
        talk.says("words")
        talk.end(prompt)

    return run


def opened(result: dict[str, Any] | None = None, **initialize: Any) -> Callable[[Talk], None]:
    return then(lambda talk: talk.opened(result, **{**INFO, **initialize}))


def then(*steps: Callable[[Talk], object]) -> Step:
    """Return one step that runs all of these."""

    def run_step(talk: Talk) -> None:
        for step in steps:
            step(talk)

    return run_step


def tool(**more: Any) -> Step:
    fields = {"kind": "read", "status": "completed", **more}
    return lambda talk: talk.tool("t", **fields)


def asks(method: str, **params: Any) -> Step:
    return lambda talk: talk.received({"id": "a", "method": method, "params": {"sessionId": "s1", **params}})


def refuses(code: int, message: str) -> Step:
    error = {"code": code, "message": message}
    return then(lambda talk: talk.record("sent", {"jsonrpc": "2.0", "id": "a", "error": error}))


def thought(message_id: str) -> Step:
    return lambda talk: talk.thinks("hm", messageId=message_id)


def option(identity: str, kind: str) -> dict[str, str]:
    return {"optionId": identity, "name": identity, "kind": kind}


def permission(*options: dict[str, str], **more: Any) -> Step:
    def run_step(talk: Talk) -> None:
        talk.tool("t", kind="read", status="completed")
        talk.asks_permission(
            toolCall={"toolCallId": "t"},
            options=[*options] or [option("y", "allow_once"), option("n", "reject_once")],
            **more,
        )

    return run_step


def outside(*steps: Step) -> Callable[[Talk], None]:
    """Return a conversation with these steps after a turn."""

    def run(talk: Talk) -> None:
        turn()(talk)
        for step in steps:
            step(talk)

    return run


def cancelled(talk: Talk) -> None:
    talk.opened(**INFO)
    prompt = talk.prompt()
    talk.says("words")
    talk.cancel()
    talk.end(prompt)


def empty(talk: Talk) -> None:
    talk.opened(**INFO)
    talk.end(talk.prompt())


def updates_before_session(talk: Talk) -> None:
    talk.ask("initialize", {"protocolVersion": 1}, {"protocolVersion": 1, **INFO})
    new = talk.call("session/new", {"cwd": "/w", "mcpServers": []})
    talk.update("usage_update", used=1, size=2)
    talk.answer(new, {"sessionId": "s1"})


def draft(talk: Talk) -> None:
    talk.ask("initialize", {"protocolVersion": "0.1.0"}, {"protocolVersion": "0.1.0", **INFO})


def fails_with_http_status(talk: Talk) -> None:
    talk.opened(**INFO)
    talk.fail(talk.prompt(), {"code": 529, "message": "overloaded"})


def answered_again(talk: Talk) -> None:
    turn()(talk)
    talk.answer(3, {"stopReason": "end_turn"})


CASES: dict[str, Callable[[Talk], None]] = {
    "stdout-noise": turn(then(lambda talk: talk.record("received", "Loading ..."))),
    "stdout-framing": turn(lambda talk: talk.client(Noticed("warning", "No line end", source="protocol"))),
    "malformed-envelope": turn(then(lambda talk: talk.record("received", [1]))),
    "answered-twice": answered_again,
    "answer-to-nothing": turn(lambda talk: talk.answer(4711, {})),
    "request-id-twice": turn(permission(), permission()),
    "http-status-as-code": fails_with_http_status,
    "no-agent-info": then(Talk.opened),
    "version-as-text": opened(protocolVersion="1"),
    "draft-dialect": draft,
    "env-var-auth": opened(authMethods=[{"id": "k", "name": "Key", "type": "env_var"}]),
    "models-offered": opened({"models": {"currentModelId": "a", "availableModels": []}}),
    "update-before-session": updates_before_session,
    "other-session": turn(lambda talk: talk.says("x", session_id="s2")),
    "update-outside-turn": outside(lambda talk: talk.says("more")),
    "usage-null": turn(lambda talk: talk.update("usage_update", used=None, size=1)),
    "bare-content": turn(lambda talk: talk.update("agent_message_chunk", content="words")),
    "empty-chunk": turn(lambda talk: talk.says("")),
    "prompt-echo": turn(lambda talk: talk.echoes("hel"), lambda talk: talk.echoes("lo")),
    "empty-turn": empty,
    "cancel-not-confirmed": cancelled,
    "tool-left-open": turn(tool(status="in_progress")),
    "tool-update-unannounced": turn(lambda talk: talk.tool_update("t", kind="read", status="completed")),
    "status-backwards": turn(tool(), tool(status="pending")),
    "tool-without-kind": turn(tool(kind=None)),
    "relative-path": turn(tool(locations=[{"path": "src/a.py"}])),
    "line-below-one": turn(tool(locations=[{"path": "/w/a", "line": 0}])),
    "ansi-in-text": turn(tool(content=[TEXT])),
    "bare-tool-content": turn(tool(content=[{"type": "text", "text": "x"}])),
    "unknown-terminal": turn(tool(content=[{"type": "terminal", "terminalId": "nope"}])),
    "own-terminal": turn(tool(_meta={"terminal_output": {"terminal_id": "1", "data": "x"}})),
    "permission-without-id": turn(
        tool(), lambda talk: talk.asks_permission(None, toolCall={"toolCallId": "t"})
    ),
    "permission-outside-turn": then(
        turn(tool()), lambda talk: talk.asks_permission(toolCall={"toolCallId": "t"})
    ),
    "permission-unknown-call": turn(lambda talk: talk.asks_permission(toolCall={"toolCallId": "other"})),
    "permission-kind-twice": turn(
        permission(option("a", "allow_once"), option("b", "allow_once"), option("n", "reject_once"))
    ),
    "permission-no-reject": turn(permission(option("a", "allow_once"))),
    "permission-same-id": turn(permission(option("a", "allow_once"), option("a", "reject_once"))),
    "acts-without-asking": turn(tool(kind="execute")),
    "request-refused": turn(
        lambda talk: talk.received({"id": "a", "method": "mcp/message", "params": {"sessionId": "s1"}}),
        refuses(-32602, "mcp/message: there is no MCP server"),
    ),
    "undeclared-method": turn(asks("terminal/create", command="true")),
    "extension-without-underscore": turn(asks("vendor/thing")),
    "own-messages-back": turn(asks("initialize")),
    "unknown-mode": opened({"modes": {"currentModeId": "b", "availableModes": [{"id": "a", "name": "A"}]}}),
    "many-thoughts": turn(*[thought(str(number)) for number in range(300)]),
}


@pytest.mark.parametrize("check", CASES)
def test_each_check_reports_only_its_own_violation(check: str) -> None:
    talk = Talk()
    CASES[check](talk)
    assert checks(talk) == {check}


def test_every_check_has_a_test_case() -> None:
    source = "".join(inspect.getsource(module) for module in (behaviour_check, behaviour_check))
    named = set(re.findall(r'"([a-z]+(?:-[a-z]+)+)"', source))
    assert named == set(CASES)


def test_a_correct_turn_has_no_violations() -> None:
    talk = Talk().opened(
        {
            "modes": {"currentModeId": "a", "availableModes": [{"id": "a", "name": "A"}]},
            "configOptions": [
                {"id": "o", "name": "O", "type": "boolean", "currentValue": True, "category": "mode"}
            ],
        },
        agentInfo={"name": "agent", "version": "1"},
        agentCapabilities={"loadSession": True},
    )
    talk.update("available_commands_update", availableCommands=[{"name": "x", "description": "y"}])
    prompt = talk.prompt()
    talk.thinks("hm")
    talk.tool("t", kind="edit", status="pending", locations=[{"path": "/w/a", "line": 1}])
    talk.asks_permission(toolCall={"toolCallId": "t", "content": [DIFF]})
    talk.reply("p1", {"outcome": {"outcome": "selected", "optionId": "yes"}})
    talk.tool_update("t", status="completed", content=[DIFF])
    talk.update("plan", entries=[{"content": "x", "priority": "low", "status": "pending"}])
    talk.update("notice", severity="info", title="Mind this")
    talk.update("compaction_summary_chunk", compactionId="c", content={"type": "text", "text": "short"})
    talk.update("compaction_update", compactionId="c", status="completed", summary=None)
    talk.says("done", messageId="m")
    talk.end(prompt)
    talk.update("session_info_update", title="Title")
    assert checks(talk, schema=True) == set()


def test_a_failed_edit_is_not_reported_as_acting_without_asking() -> None:
    talk = Talk()
    turn(tool(kind="edit", status="failed"))(talk)
    assert checks(talk) == set()


def test_a_replay_is_not_reported_as_early_updates() -> None:
    talk = Talk()
    talk.ask("initialize", {"protocolVersion": 1}, {"protocolVersion": 1, **INFO})
    load = talk.call("session/load", {"sessionId": "s1", "cwd": "/w", "mcpServers": []})
    talk.echoes("hello")
    talk.says("words")
    talk.answer(load, {})
    assert checks(talk, schema=True) == set()


def test_updates_of_an_announced_subagent_are_not_reported_as_those_of_another_session() -> None:
    def works(talk: Talk) -> None:
        talk.update("subagent_update", sessionId="c1", title="Look around")
        talk.says("found it", session_id="c1")
        talk.update("tool_call", session_id="c1", toolCallId="t", title="Read", status="in_progress")

    talk = Talk()
    turn(works)(talk)
    assert checks(talk) == set()


def test_requests_for_a_session_that_was_not_announced_are_reported() -> None:
    talk = Talk()
    turn(tool(), asks("terminal/kill", sessionId="s2", terminalId="x"))(talk)
    [found] = [found for found in find_violations(talk.records) if found.check == "other-session"]
    assert (found.sentence, found.example) == ("terminal/kill is for another session", "s2")


def test_updates_without_a_session_are_not_reported_as_those_of_another_one() -> None:
    def says(talk: Talk) -> None:
        chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x"}}
        talk.received({"method": "session/update", "params": {"update": chunk}})

    talk = Talk()
    turn(says)(talk)
    assert "other-session" not in checks(talk)


def test_sessions_side_by_side_are_checked_each_for_itself() -> None:
    talk = Talk().opened(**INFO)
    talk.ask("session/new", {"cwd": "/q", "mcpServers": []}, {"sessionId": "s2"})
    first, second = talk.prompt("one"), talk.call("session/prompt", {"sessionId": "s2", "prompt": []})
    tool_call = {"toolCallId": "t", "title": "Read", "kind": "read"}
    talk.update("tool_call", session_id="s2", **tool_call, status="pending")
    talk.says("words")
    talk.end(first)
    talk.update("tool_call_update", session_id="s2", toolCallId="t", status="completed")
    talk.end(second)
    assert checks(talk, schema=True) == set()


def test_a_prompt_may_be_sent_before_the_session_is_open() -> None:
    talk = Talk()
    calls = [talk.call("initialize", {"protocolVersion": 1}), talk.call("session/new", {"cwd": "/p"})]
    prompt = talk.prompt()
    for call, result in zip(calls, ({"protocolVersion": 1, **INFO}, {"sessionId": "s1"}), strict=True):
        talk.answer(call, result)
    talk.says("words")
    talk.end(prompt)
    assert checks(talk, schema=True) == set()


def test_a_restarted_agent_is_checked_anew() -> None:
    talk = Talk()
    for _ in range(2):
        talk.client(AgentStarted(["agent"], "/p"))
        talk._ids = 0
        turn()(talk)
    assert checks(talk, schema=True) == set()


def test_what_was_not_recorded_as_a_whole_is_no_violation() -> None:
    def shortened(talk: Talk) -> None:
        talk.received({"method": "session/update", "params": {"sessionId": "s1"}, SHORTENED: 5_000_000})

    talk = Talk()
    turn(shortened)(talk)
    assert checks(talk, schema=True) == set()


def test_an_example_that_is_a_message_is_shown_as_json() -> None:
    talk = Talk()
    answered_again(talk)
    [found] = [found for found in find_violations(talk.records) if found.check == "answered-twice"]
    assert found.example is not None
    assert found.example.startswith('{"jsonrpc": "2.0", "id": ')


def test_a_session_that_could_not_be_loaded_does_not_replace_the_current_one() -> None:
    talk = Talk().opened(**INFO)
    talk.fail(talk.call("session/load", {"sessionId": "gone"}), {"code": -32602, "message": "Unknown"})
    prompt = talk.prompt()
    talk.says("words")
    talk.end(prompt)
    assert checks(talk) == set()


def test_updates_of_a_fork_before_its_answer_are_reported_as_early() -> None:
    talk = Talk().opened(**INFO)
    fork = talk.call("session/fork", {"sessionId": "s1"})
    talk.update("usage_update", session_id="s2", used=1, size=2)
    talk.answer(fork, {"sessionId": "s2"})
    assert checks(talk) == {"update-before-session"}


def test_repeated_violations_are_counted() -> None:
    talk = Talk().opened(**INFO)
    prompt = talk.prompt()
    for number in range(3):
        talk.tool(f"t{number}", kind="read", status="completed", locations=[{"path": f"a{number}"}])
    talk.end(prompt)
    [found] = find_violations(talk.records)
    assert (found.check, found.count, found.example) == ("relative-path", 3, "a0")


# --------------------------------------------------------------------------- the schema


@pytest.mark.parametrize(
    ("step", "check", "words"),
    [
        (turn(lambda talk: talk.update("novelty")), "schema:session/update", "novelty"),
        (
            turn(lambda talk: talk.update("agent_message_chunk", content={"type": "hologram"})),
            "schema:session/update",
            "agent_message_chunk",
        ),
        (turn(lambda talk: talk.update("notice", title="x")), "schema:session/update", "severity"),
        (turn(tool(status="thinking")), "schema:session/update", "status"),
        (turn(tool(surprise=1)), "schema:session/update", "surprise"),
        (turn(permission(option("y", "maybe"))), "schema:session/request_permission", "kind"),
        (turn(asks("fs/read_text_file", path=5)), "schema:fs/read_text_file", "path"),
        (
            opened({"sessionId": 5}),
            "schema:session/new",
            "sessionId",
        ),
        (
            then(opened(), lambda talk: talk.answer(talk.prompt(), None)),
            "schema:session/prompt",
            "null",
        ),
        (then(opened(), lambda talk: talk.fail(talk.prompt(), "no")), "schema:error", "object"),
        (
            then(opened(), lambda talk: talk.fail(talk.prompt(), {"code": "x"})),
            "schema:error",
            "number",
        ),
        (then(lambda talk: talk.record("received", {"id": 1})), "schema:envelope", "jsonrpc"),
    ],
)
def test_schema_violations_name_the_field(step: Step, check: str, words: str) -> None:
    talk = Talk()
    step(talk)
    sentences = [found.sentence for found in find_violations(talk.records) if found.check == check]
    assert len(sentences) == 1
    assert words in sentences[0]


def test_every_wrong_field_of_a_tool_call_is_reported_with_what_it_must_be() -> None:
    talk = Talk()
    wrong: dict[str, Any] = {"kind": "reading", "status": "thinking", "locations": [{"path": 5}]}
    turn(lambda talk: talk.tool("t", title=["x"], content=[{"type": "hologram"}], **wrong))(talk)
    sentences = [v.sentence for v in find_violations(talk.records) if v.check == "schema:session/update"]
    assert sentences == [
        "session/update tool_call: update.title must be a string",
        "session/update tool_call: update.content[].type must be one of: content, diff, terminal",
        (
            "session/update tool_call: update.kind must be one of: "
            "read, edit, delete, move, search, execute, think, fetch, switch_mode, other"
        ),
        "session/update tool_call: update.status must be one of: pending, in_progress, completed, failed",
        "session/update tool_call: update.locations[].path must be a string",
    ]


def test_wrong_optional_fields_say_what_they_must_be() -> None:
    talk = Talk()
    capabilities = {"loadSession": "yes", "promptCapabilities": {"image": 1}, "mcpCapabilities": []}
    talk.opened({"modes": 5}, agentCapabilities=capabilities, **INFO)
    assert [violation.sentence for violation in find_violations(talk.records)] == [
        "initialize answer: agentCapabilities.loadSession must be true or false",
        "initialize answer: agentCapabilities.promptCapabilities.image must be true or false",
        "initialize answer: agentCapabilities.mcpCapabilities must be an object",
        "session/new answer: modes must be an object",
    ]


def test_a_misspelt_update_is_reported_once_with_the_nearest_name() -> None:
    talk = Talk()
    turn(lambda talk: talk.update("agent_msg_chunk"))(talk)
    assert [v.sentence for v in find_violations(talk.records)] == [
        "session/update agent_msg_chunk: update.sessionUpdate is unknown; did you mean agent_message_chunk?",
    ]


def test_meta_may_hold_anything() -> None:
    talk = Talk()
    turn(tool(_meta={"vendor": {"anything": [1]}}))(talk)
    assert checks(talk, schema=True) == set()


KEYS = [
    "sessionUpdate",
    "content",
    "type",
    "text",
    "toolCallId",
    "status",
    "kind",
    "locations",
    "path",
    "options",
    "optionId",
    "sessionId",
    "update",
    "toolCall",
    "_meta",
    "authMethods",
    "mode",
    "modes",
]
SCALARS = (
    some.none() | some.booleans() | some.integers(-9, 9) | some.sampled_from(["", "text", "/w", "pending"])
)
json_values = some.recursive(
    SCALARS,
    lambda inner: (
        some.lists(inner, max_size=3) | some.dictionaries(some.sampled_from(KEYS), inner, max_size=4)
    ),
    max_leaves=12,
)
frames = some.fixed_dictionaries(
    {},
    optional={
        "id": json_values,
        "method": some.sampled_from(
            ["session/update", "session/request_permission", "elicitation/create", "terminal/create", 5]
        ),
        "params": json_values,
        "result": json_values,
        "error": json_values,
    },
)


@settings(derandomize=True, database=None, max_examples=150)
@given(some.lists(frames | json_values, max_size=6))
def test_no_message_makes_a_check_crash(sent: list[Any]) -> None:
    talk = Talk()
    turn()(talk)
    find_violations([*talk.records, *(Record(0.0, "received", frame) for frame in sent)])


# --------------------------------------------------------------------------- recorded agents

RECORDED = {
    "claude-code": {
        "ansi-in-text",
        "answer-to-nothing",
        "own-terminal",
        "schema:session/load",
        "schema:session/resume",
    },
    "kimi-code": {"empty-turn", "tool-left-open"},
    "opencode": {"ansi-in-text", "empty-turn", "undeclared-method", "update-before-session"},
    "py-example": {"other-session", "schema:session/set_config_option"},
    "ts-example": {
        "cancel-not-confirmed",
        "no-agent-info",
        "status-backwards",
        "tool-left-open",
    },
}


@pytest.mark.parametrize("agent", RECORDED)
def test_recorded_agents_have_their_known_violations(agent: str) -> None:
    found: dict[str, set[str]] = defaultdict(set)
    for wirelog in WIRELOGS:
        if wirelog.stem.startswith(agent):
            for violation in find_violations(records(wirelog)):
                found[violation.check].add(wirelog.stem)
    assert set(found) == RECORDED[agent]


def test_subagents_are_no_violation() -> None:
    wirelog = next(path for path in WIRELOGS if path.stem == "claude-code-subagents")
    assert not list(find_violations(records(wirelog)))


VERSION_2 = [path for path in WIRELOGS if path.stem.startswith("v2-")]


@pytest.mark.parametrize("path", VERSION_2, ids=lambda path: path.stem)
def test_traffic_of_version_2_is_checked_against_its_own_schema(path: Path) -> None:
    found = {one.check for one in find_violations(records(path))}
    assert found <= {"acts-without-asking", "status-backwards"}


def test_a_wrong_field_of_version_2_is_named() -> None:
    path = next(path for path in WIRELOGS if path.stem == "v2-claude-code-plain")
    changed = records(path)
    for record in changed:
        update = (record.frame.get("params") or {}).get("update") or {}
        if update.get("sessionUpdate") == "agent_message_chunk":
            del update["messageId"]
    [violation] = [one for one in find_violations(changed) if one.check == "schema:session/update"]
    assert "messageId is missing" in violation.sentence


def of_version_2(*updates: dict[str, Any], capabilities: dict[str, Any] | None = None) -> Talk:
    """Return a turn of version 2 with these updates."""
    talk = Talk()
    answer = {"protocolVersion": 2, "info": {"name": "a", "version": "1"}, "capabilities": {"session": {}}}
    talk.ask("initialize", {"protocolVersion": 2, "capabilities": capabilities or {}}, answer)
    talk.ask("session/new", {"cwd": "/p"}, {"sessionId": "s1"})
    talk.answer(talk.prompt(), {})
    talk.update("state_update", state="running")
    talk.update("agent_message_chunk", messageId="m", content={"type": "text", "text": "words"})
    for update in updates:
        fields = {name: value for name, value in update.items() if name != "sessionUpdate"}
        talk.update(update["sessionUpdate"], **fields)
    return talk


IDLE = {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}
CALL = {"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "Watch", "status": "in_progress"}


@pytest.mark.parametrize(("background", "found"), [(["c"], set()), ([], {"tool-left-open"})])
def test_a_call_in_the_background_is_not_left_open(background: list[str], found: set[str]) -> None:
    items = [{"type": "tool_call", "toolCallId": name} for name in background]
    assert checks(of_version_2(CALL, IDLE | {"background": items})) == found


def test_output_that_is_not_base64_is_reported() -> None:
    chunk = {"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": "not base64!"}
    assert checks(of_version_2(chunk, IDLE)) == {"output-not-base64"}


@pytest.mark.parametrize(("offered", "found"), [({"form": {}}, set()), ({}, {"undeclared-method"})])
def test_what_is_advertised_in_version_2_may_be_used(offered: dict[str, Any], found: set[str]) -> None:
    talk = of_version_2(capabilities={"elicitation": offered})
    asks("elicitation/create", sessionId="s1", mode="form", message="Which?")(talk)
    assert checks(talk) == found
