"""`acp-tui exec --frames`: the messages of a file are sent, and what the agent sends is printed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.protocol.translator import fold
from acp_tui.session.state import HandMessage
from acp_tui.store.wire_log import read_log
from tests.fake_agents.scripted_agent import SESSION
from tests.support.cli import agent, run, script

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.cli import Run

CALL = {"title": "Run it", "kind": "execute", "rawInput": {"command": "make"}}
ALLOWED = {"outcome": {"outcome": "selected", "optionId": "allow_once"}}


def prompt(identity: Any, *steps: Any) -> dict[str, Any]:
    blocks = [{"type": "text", "text": json.dumps(steps)}]
    return {
        "id": identity,
        "method": "session/prompt",
        "params": {"sessionId": "${SESSION}", "prompt": blocks},
    }


def frames(folder: Path, *lines: Any, program: str = "", options: tuple[str, ...] = ()) -> Run:
    """Run `exec` with a file of messages."""
    file = folder / "messages.ndjson"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return run("exec", "--command", program or script(), "--frames", str(file), *options, cwd=folder)


def printed(done: Run) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.out.splitlines()]


def texts(done: Run) -> list[str]:
    updates = [
        frame["params"]["update"] for frame in printed(done) if frame.get("method") == "session/update"
    ]
    return [update["content"]["text"] for update in updates]


def test_answers_have_the_ids_of_the_file(tmp_path: Path) -> None:
    answering = script(answers={"_x/y": {"a": 1}})
    done = frames(
        tmp_path,
        {"id": "mine", "method": "_x/y", "params": {}},
        prompt(7, ["say", "hello"]),
        program=answering,
    )
    assert done.code == 0, done.err
    found = printed(done)
    assert found[0] == {"jsonrpc": "2.0", "id": "mine", "result": {"a": 1}}
    assert texts(done) == ["hello"]
    assert found[-1] == {"jsonrpc": "2.0", "id": 7, "result": {"stopReason": "end_turn"}}


def test_messages_are_read_from_stdin_for_a_dash(tmp_path: Path) -> None:
    text = json.dumps(prompt(1, ["say", "hello"])) + "\n\n"
    done = run("exec", "--command", script(), "--frames", "-", cwd=tmp_path, stdin=text)
    assert (done.code, texts(done)) == (0, ["hello"])


def test_a_wait_lets_pass_what_comes_before(tmp_path: Path) -> None:
    done = frames(
        tmp_path,
        prompt(1, ["say", "one"], ["send", {"method": "_x/ready", "params": {}}], ["wait_for_cancel"]),
        {"wait": "_x/ready"},
        {"method": "session/cancel", "params": {"sessionId": "${SESSION}"}},
        {"wait": "session/prompt"},
        prompt(2, ["say", "two"]),
    )
    assert done.code == 0, done.err
    assert texts(done) == ["one", "two"]
    assert [frame["result"]["stopReason"] for frame in printed(done) if "result" in frame] == [
        "cancelled",
        "end_turn",
    ]


def test_the_file_can_answer_a_request_of_the_agent(tmp_path: Path) -> None:
    done = frames(
        tmp_path,
        prompt(1, ["permission", CALL], ["permission", CALL]),
        {"wait": "session/request_permission"},
        {"result": ALLOWED},
    )
    assert done.code == 0, done.err
    first, second = [json.loads(text) for text in texts(done)]
    assert first == ALLOWED
    assert second["outcome"]["optionId"] != "allow_once"  # answered by the policy


def test_the_file_can_answer_with_an_error_and_a_method_of_its_own(tmp_path: Path) -> None:
    error = {"code": -32050, "message": "not now", "data": [1]}
    done = frames(tmp_path, prompt(1, ["ask", "_x/question", {}]), {"error": error})
    assert done.code == 0, done.err
    assert [json.loads(text) for text in texts(done)] == [error]


def test_an_answer_for_another_id_names_its_line(tmp_path: Path) -> None:
    done = frames(tmp_path, prompt(1, ["permission", CALL]), {"id": 99, "result": ALLOWED})
    assert done.code == 1
    assert 'Line 2: the agent\'s request session/request_permission has the id "agent-1"' in done.err


def test_a_file_that_begins_with_initialize_shakes_hands_itself(tmp_path: Path, home: Path) -> None:
    done = frames(
        tmp_path,
        {"id": 1, "method": "initialize", "params": {"protocolVersion": 1}},
        {"wait": "initialize"},
        {"id": 2, "method": "session/new", "params": {"cwd": str(tmp_path), "mcpServers": []}},
        prompt(3, ["report_params", "initialize"]),
    )
    assert done.code == 0, done.err
    assert [frame["id"] for frame in printed(done) if "result" in frame] == [1, 2, 3]
    assert [json.loads(text) for text in texts(done)] == [{"protocolVersion": 1}]
    (log,) = (home / "data" / "sessions").glob("*/wire.jsonl")
    session = fold(read_log(log))
    assert (session.session_id, session.turn, session.phase) == (SESSION, 1, "dead")
    assert len([entry for entry in session.entries if isinstance(entry, HandMessage)]) == 3
    assert json.loads(log.with_name("meta.json").read_text())["session_id"] == SESSION


def test_an_error_as_an_answer_is_an_exit_code_of_its_own(tmp_path: Path) -> None:
    done = frames(tmp_path, {"id": 1, "method": "session/list"}, {"id": 2, "method": "_x/y"})
    assert (done.code, [frame["error"]["code"] for frame in printed(done)]) == (3, [-32601, -32601])


def test_what_does_not_follow_the_schema_is_sent_and_said(tmp_path: Path) -> None:
    done = frames(tmp_path, {"id": 1, "method": "session/set_mode", "params": {"modeId": 3}})
    assert done.code == 0
    assert (
        "Line 1 is sent, but does not follow the schema: session/set_mode: sessionId is missing." in done.err
    )
    assert "session/set_mode: modeId must be a string" in done.err


def test_a_timeout_says_what_was_waited_for(tmp_path: Path) -> None:
    done = frames(tmp_path, {"wait": "_x/never"}, options=("--timeout", "0.5"))
    assert done.code == 1
    assert "Stopped while waiting for _x/never (line 1)." in done.err
    assert "Timed out after 0.5 s." in done.err


def test_an_agent_that_ends_is_reported(tmp_path: Path) -> None:
    done = frames(tmp_path, prompt(1, ["exit", 3]), {"wait": "session/update"})
    assert done.code == 1
    assert "exited with code 3" in done.err


def test_a_session_that_is_not_open_is_an_error_of_the_line(tmp_path: Path) -> None:
    done = frames(tmp_path, {"id": 1, "method": "initialize", "params": {"protocolVersion": 1}}, prompt(2))
    assert done.code == 1
    assert "Line 2: ${SESSION} is not known, because no session is open." in done.err


def test_a_line_ends_only_with_a_line_feed(tmp_path: Path) -> None:
    file = tmp_path / "messages.ndjson"
    file.write_text(json.dumps(prompt(1, ["say", "one\u2028two"]), ensure_ascii=False), encoding="utf-8")
    done = run("exec", "--command", script(), "--frames", str(file), cwd=tmp_path)
    assert (done.code, texts(done)) == (0, ["one\u2028two"])


@pytest.mark.parametrize(
    ("line", "mistake"),
    [
        ('{"method": ', ":2: not JSON"),
        ('{"method": "x", "params": {"a": NaN}}', ":2: not JSON: NaN is not a JSON value"),
        ('{"method": "x", "params": {"a": 1e999}}', ":2: not JSON: 1e999 is too large a number"),
        ("[1]", ":2: not an object: [1]"),
        ('{"id": 1}', ":2: expected a method, a result, an error object, or wait."),
        ('{"result": 1, "error": {}}', ":2: expected a method"),
        ('{"wait": 3}', ':2: expected {"wait": METHOD}.'),
        ('{"id": [], "method": "x"}', ":2: an id is a string or a whole number."),
        ('{"id": "first", "method": "x"}', ":2: the id is that of line 1."),
    ],
)
def test_a_mistake_in_the_file_names_its_line_and_starts_nothing(
    line: str, mistake: str, tmp_path: Path
) -> None:
    file = tmp_path / "messages.ndjson"
    file.write_text(f'{{"id": "first", "method": "x"}}\n{line}\n')
    done = run("exec", "--command", agent("missing"), "--frames", str(file), cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert mistake in done.err


def test_a_prompt_and_messages_exclude_each_other(tmp_path: Path) -> None:
    done = run("exec", "--command", script(), "hello", "--frames", "x", cwd=tmp_path)
    assert (done.code, "Give either a prompt or --frames." in done.err) == (2, True)
