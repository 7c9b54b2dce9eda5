"""Faults in what the agent sends, under `exec`: a line on stderr, an entry of `warnings`, and `--strict`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.fake_agents.scripted_agent import SESSION
from tests.support.cli import execute, execute_json, script, steps

if TYPE_CHECKING:
    from pathlib import Path

TYPO = {"sessionUpdate": "agent_msg_chunk", "content": {"type": "text", "text": "lost"}}
UNREADABLE = 'not recognised: session update "agent_message_chunk" with a missing or wrong field'
CALL = {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Look", "status": "completed"}
NO_ID: dict[str, Any] = {
    "method": "session/request_permission",
    "params": {"toolCall": {"toolCallId": "t"}, "options": []},
}

# A step of the agent, and the warning.
FAULTS: dict[str, tuple[list[Any], str]] = {
    "a misspelt update": (
        ["update", TYPO],
        'not recognised: session update "agent_msg_chunk" (did you mean agent_message_chunk?)',
    ),
    "a known update without its content": (
        ["update", {"sessionUpdate": "agent_message_chunk", "text": "lost"}],
        f"{UNREADABLE} (it has: text)",
    ),
    "a message of no blocks": (
        ["update", {"sessionUpdate": "agent_message_chunk", "content": []}],
        f"{UNREADABLE} (it has: content)",
    ),
    "a misspelt key": (
        ["update", {"session_update": "x", "content": {}}],
        "not recognised: a session update without `sessionUpdate` (it has: session_update, content)",
    ),
    "a misspelt request": (
        ["ask", "fs/readTextFile", {}],
        'not recognised: request "fs/readTextFile" (did you mean fs/read_text_file?)',
    ),
    "a misspelt notification": (
        ["send", {"method": "session/updates", "params": {}}],
        'not recognised: notification "session/updates" (did you mean session/update?)',
    ),
    "a notification of its own": (
        ["send", {"method": "_vendor/note", "params": {"a": 1}}],
        'not recognised: notification "_vendor/note"',
    ),
    "a permission request without an id": (
        ["send", NO_ID],
        "A permission request has no id, so it cannot be answered",
    ),
    "wrong types": (
        ["ask", "terminal/create", {"command": "ls", "args": "-l"}],
        "Refused terminal/create: args must be a list of strings",
    ),
    "an unknown terminal": (
        ["ask", "terminal/output", {"terminalId": "nope"}],
        "Refused terminal/output: no terminal 'nope'",
    ),
    "no path": (["ask", "fs/read_text_file", {}], "The agent asked to read a file without a path"),
    "a relative path": (
        ["ask", "fs/write_text_file", {"path": "a", "content": ""}],
        "Refused fs/write_text_file: 'a' is not an absolute path",
    ),
    "no params": (
        ["send", {"id": "x", "method": "terminal/kill"}],
        "Refused terminal/kill: params must be an object",
    ),
    "an unknown form": (
        ["ask", "elicitation/create", {"mode": "_voice", "message": "Sing"}],
        "Refused elicitation/create: elicitation of mode '_voice' is not offered",
    ),
    "wrong types in a tool call": (
        ["update", {**CALL, "title": 5, "kind": ["x"], "content": "none"}],
        "Wrong fields in tool_call: title must be a string; kind must be a string; content must be a list",
    ),
    "wrong types in a plan": (
        ["update", {"sessionUpdate": "plan", "entries": [{"content": ["lost"]}]}],
        "Wrong fields in plan: entries[].content must be a string",
    ),
    "a step without its text": (
        ["update", {"sessionUpdate": "plan", "entries": [{"text": "lost"}]}],
        "Wrong fields in plan: entries[].content is missing",
    ),
    "no known field": (
        ["update", {"sessionUpdate": "session_info_update", "titel": "lost"}],
        "Wrong fields in session_info_update: none of title, updatedAt (it has: titel)",
    ),
    "an unknown status": (
        ["update", {**CALL, "status": "done"}],
        "Wrong fields in tool_call: status must be one of pending, in_progress, completed, failed",
    ),
    "content of an unknown type": (
        ["update", {"sessionUpdate": "agent_message_chunk", "content": {"type": "video"}}],
        "Content that acp-tui cannot show (type: video)",
    ),
    "a diff without a path": (
        ["update", {**CALL, "content": [{"type": "diff", "newText": "lost"}]}],
        "Content that acp-tui cannot show (type: diff)",
    ),
    "an option without an id": (
        [
            "ask",
            "session/request_permission",
            {"toolCall": {"toolCallId": "p"}, "options": [{"name": "Yes"}]},
        ],
        "Wrong fields in session/request_permission: options[].optionId is missing",
    ),
    "a permission request of another session": (
        ["ask", "session/request_permission", {**NO_ID["params"], "sessionId": "other"}],
        'The agent asks for permission in the session "other", which it has not announced.',
    ),
    "an unknown terminal in a tool call": (  # at the end of the turn, so after all others
        ["update", {**CALL, "toolCallId": "u", "content": [{"type": "terminal", "terminalId": "nope"}]}],
        'The tool call "Look" names a terminal that does not exist: "nope"',
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_a_line_on_stderr(tmp_path: Path, fault: str) -> None:
    step, warning = FAULTS[fault]
    done = execute(steps(step), cwd=tmp_path)
    assert done.code == 0
    assert [line for line in done.err.splitlines() if warning in line]


def test_an_end_of_a_turn_without_text_is_a_line_on_stderr(tmp_path: Path) -> None:
    sentence = "· the agent ended the turn without text\n"
    for output in ("text", "json"):
        assert sentence in execute(steps(["update", CALL]), "--output", output, cwd=tmp_path).err
        assert sentence not in execute("hello", "--output", output, cwd=tmp_path).err


def test_wrong_fields_of_responses_are_warnings(tmp_path: Path) -> None:
    wrong = script(
        capabilities={"loadSession": "yes"},
        auth_methods=[{"name": "No id"}],
        session={"modes": {"currentModeId": "a", "availableModes": [{"name": "No id"}]}},
    )
    result = execute_json("hello", command=wrong, cwd=tmp_path)
    capability = "agentCapabilities.loadSession must be true or false"
    assert [warning["text"] for warning in result["warnings"]] == [
        f"Wrong fields in initialize: {capability}; authMethods[].id is missing",
        "Wrong fields in session/new: modes.availableModes[].id is missing",
    ]


def test_a_terminal_that_the_agent_describes_after_its_call_is_no_fault(tmp_path: Path) -> None:
    named = {**CALL, "content": [{"type": "terminal", "terminalId": "own"}]}
    described = {"terminal_info": {"terminal_id": "own"}}
    update = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "_meta": described}
    result = execute_json(steps(["update", named], ["update", update]), cwd=tmp_path)
    assert result["warnings"] == []


def test_the_result_lists_all_faults_as_warnings(tmp_path: Path) -> None:
    result = execute_json(steps(*(step for step, _ in FAULTS.values())), cwd=tmp_path)
    texts = [warning["text"] for warning in result["warnings"]]
    assert all(text.startswith(warning) for text, (_, warning) in zip(texts, FAULTS.values(), strict=True))
    assert result["warnings"][0]["detail"].startswith('{"sessionUpdate": "agent_msg_chunk"')


@pytest.mark.parametrize("fault", FAULTS)
def test_strict_fails_because_of_a_fault(tmp_path: Path, fault: str) -> None:
    done = execute(steps(FAULTS[fault][0]), "--strict", cwd=tmp_path)
    assert done.code == 1
    assert "Failed because of 1 warning about what the agent sent (--strict)." in done.err


def test_a_correct_agent_passes_strict(tmp_path: Path) -> None:
    missing = ["ask", "fs/read_text_file", {"path": str(tmp_path / "missing")}]
    rejected = ["ask", "terminal/create", {"command": "make"}]
    done = execute(steps(["say", "hi"], missing, rejected), "--strict", "--output", "json", cwd=tmp_path)
    assert (done.code, done.result["warnings"]) == (0, [])


def test_a_lost_answer_is_one_warning_with_a_count(tmp_path: Path) -> None:
    done = execute(steps(*[["update", TYPO]] * 30), "--output", "json", cwd=tmp_path)
    assert [warning["text"] for warning in done.result["warnings"]] == [
        'not recognised: session update "agent_msg_chunk" (did you mean agent_message_chunk?) (30 times)'
    ]
    assert done.err.count("agent_msg_chunk") == 1


def test_text_in_a_list_or_without_a_type_is_part_of_the_answer(tmp_path: Path) -> None:
    chunks = [[{"type": "text", "text": "one "}], {"text": "two"}]
    updates = [{"sessionUpdate": "agent_message_chunk", "content": content} for content in chunks]
    done = execute(steps(*(["update", update] for update in updates)), cwd=tmp_path)
    assert done.out == "one two\n"


def test_a_fault_of_a_subagent_is_a_warning(tmp_path: Path) -> None:
    prompt = steps(
        ["update", {"sessionUpdate": "subagent_update", "sessionId": "child", "title": "Look"}],
        ["update", TYPO, "child"],
    )
    done = execute(prompt, "--strict", cwd=tmp_path)
    assert done.code == 1
    assert (
        '· not recognised: session update "agent_msg_chunk" (did you mean agent_message_chunk?)\n' in done.err
    )


def test_a_command_that_cannot_run_is_shown_and_is_no_fault_of_the_agent(tmp_path: Path) -> None:
    prompt = steps(["ask", "terminal/create", {"command": "no-such-program", "args": ["x"]}])
    done = execute(prompt, "--policy", "yolo", "--strict", cwd=tmp_path)
    assert done.code == 0
    assert "Could not answer terminal/create: the command 'no-such-program' was not found" in done.err


def test_warnings_of_an_earlier_run_do_not_count(tmp_path: Path) -> None:
    agent = script(capabilities={"sessionCapabilities": {"resume": {}}})
    execute(steps(["update", TYPO]), command=agent, cwd=tmp_path)
    done = execute("hello", "--resume", SESSION, "--strict", command=agent, cwd=tmp_path)
    assert (done.code, done.out) == (0, "hello\n")
