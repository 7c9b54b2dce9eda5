"""`acp-tui doctor`: the report on an agent, as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.cli import agent, run, running, script, steps
from tests.support.leftovers import processes_with
from tests.support.mutations import nested

if TYPE_CHECKING:
    from tests.support.cli import Run

WIRELOGS = Path(__file__).parents[1] / "wirelogs"


def examine(command: str, *args: str, cwd: Path) -> Run:
    return run("doctor", "--command", command, *args, cwd=cwd)


def report(command: str, *args: str, cwd: Path) -> dict[str, Any]:
    done = examine(command, "--json", *args, cwd=cwd)
    result: dict[str, Any] = json.loads(done.out)
    assert done.code == (1 if result["error"] else 0)
    return result


def checks(result: dict[str, Any]) -> list[str]:
    return [violation["check"] for violation in result["deviations"]]


def test_a_correct_agent_has_no_violations(tmp_path: Path) -> None:
    result = report(script(), "--prompt", "hello", cwd=tmp_path)
    assert result["error"] is None
    assert result["agent"]["name"] == "scripted"
    assert result["agent"]["protocolVersion"] == 1
    assert set(result["seconds"]) == {"initialize", "session", "turn"}
    assert (result["turn"]["stopReason"], result["turn"]["characters"]) == ("end_turn", 5)
    assert result["deviations"] == []


def test_the_agent_does_not_get_the_tools_of_acp_tui(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACP_TUI_OWN_SERVER_ENABLED", "true")
    prompt = steps(["report_params", "session/new"])
    result = report(script(), "--prompt", prompt, cwd=tmp_path)
    said = json.dumps({"cwd": str(tmp_path), "mcpServers": []})
    assert result["turn"]["characters"] == len(said)


def test_the_demo_agent_has_no_violations(home: Path) -> None:
    done = run("doctor", "demo", "--prompt", "hello", "--json")
    result = json.loads(done.out)
    assert result["deviations"] == []
    assert [mode["id"] for mode in result["modes"]["available"]]
    assert {option["type"] for option in result["configOptions"]} == {"select", "boolean"}
    assert "tour" in [command["name"] for command in result["commands"]]


def test_the_text_report_has_sections_and_values(tmp_path: Path) -> None:
    offers = {
        "capabilities": {"loadSession": True, "promptCapabilities": {"image": True, "audio": False}},
        "auth_methods": [{"id": "login", "name": "Log in"}],
        "session": {"modes": {"currentModeId": "a", "availableModes": [{"id": "a", "name": "A"}]}},
    }
    prompt = steps(
        ["update", {"sessionUpdate": "usage_update", "used": 5, "size": 10}],
        ["update", {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Look", "kind": "read"}],
    )
    done = examine(script(**offers), "--prompt", prompt, cwd=tmp_path)
    assert done.code == 0
    sections = [line for line in done.out.splitlines() if line and not line.startswith(" ")]
    assert sections == ["Started", "Agent", "Session", "Turn", "Protocol violations"]
    for words in (
        "loadSession, promptCapabilities.image\n",
        "login: Log in (agent)",
        "[a]",
        "Look (unfinished)",
        "5 of 10 tokens",
        "tool-left-open",
    ):
        assert words in done.out


def test_violations_are_reported_by_name(tmp_path: Path) -> None:
    prompt = steps(
        ["update", {"sessionUpdate": "novelty"}],
        ["ask", "vendor/thing", {}],
        ["update", {"sessionUpdate": "agent_message_chunk", "content": "bare"}],
    )
    found = set(checks(report(script(), "--prompt", prompt, cwd=tmp_path)))
    assert {"schema:session/update", "extension-without-underscore", "bare-content"} <= found


def test_requests_that_were_refused_and_extensions_are_reported(tmp_path: Path) -> None:
    prompt = steps(
        ["ask", "terminal/output", {"terminalId": "nope"}],
        ["send", {"method": "_vendor/note"}],
        ["send", {"method": "_vendor/note"}],
    )
    result = report(script(), "--prompt", prompt, cwd=tmp_path)
    [refused] = [found for found in result["deviations"] if found["check"] == "request-refused"]
    assert refused["sentence"] == "terminal/output was refused: no terminal 'nope'"
    assert result["extensions"] == [{"method": "_vendor/note", "kind": "notification", "count": 2}]
    assert "_vendor/note  2 notifications" in examine(script(), "--prompt", prompt, cwd=tmp_path).out


def test_noise_on_stdout_is_reported(tmp_path: Path) -> None:
    result = report(agent("faulty", "noise"), "--prompt", "go", cwd=tmp_path)
    assert {"stdout-noise", "malformed-envelope", "answer-to-nothing"} <= set(checks(result))


@pytest.mark.parametrize("fault", ["ignores_sigterm_and_end_of_input", "outlives_its_input_behind_a_wrapper"])
def test_an_agent_that_does_not_exit_is_reported(tmp_path: Path, fault: str) -> None:
    assert "outlives-its-input" in checks(report(agent("faulty", fault), cwd=tmp_path))


# The fault, what the error says about it, and the violations that say so.
FRAMING: dict[str, tuple[str, list[str]]] = {
    "no_line_end": ("bytes without a line end: end each message with \\n and flush", ["stdout-framing"]),
    "no_flush": (
        "Nothing has arrived on its stdout; an agent must end each message with \\n and flush.",
        ["stdout-framing"],
    ),
    "content_length": (
        "stdout has Content-Length headers: end each message with \\n instead, and send no headers",
        ["stdout-noise", "stdout-framing"],
    ),
    "several_lines": (
        "stdout has JSON spread over several lines: send each message as one line",
        ["stdout-noise", "stdout-framing"],
    ),
}


@pytest.mark.parametrize("fault", FRAMING)
def test_messages_that_are_not_lines_are_named_for_what_they_are(tmp_path: Path, fault: str) -> None:
    error, named = FRAMING[fault]
    done = run(
        *("doctor", "--json", "--command", agent("faulty", fault)),
        cwd=tmp_path,
        ACP_TUI_TIMEOUTS_INITIALIZE="2",
    )
    result = json.loads(done.out)
    assert "did not answer initialize within 2 s. " in result["error"]
    assert error in result["error"]
    assert set(named) <= set(checks(result))


def test_a_late_answer_is_named_as_not_flushed(tmp_path: Path) -> None:
    done = run(
        *("doctor", "--command", agent("faulty", "no_flush")), cwd=tmp_path, ACP_TUI_TIMEOUTS_INITIALIZE="2"
    )
    said = " ".join(done.out.split())
    assert (
        "The answer to initialize came only after stdin was closed: flush stdout after each message" in said
    )


@pytest.mark.parametrize("fault", FRAMING)
@pytest.mark.parametrize("words", [["doctor"], ["exec", "hello"]], ids=["doctor", "exec"])
def test_a_timeout_names_the_unanswered_request_and_the_fault(
    tmp_path: Path, fault: str, words: list[str]
) -> None:
    command = [*words, "--command", agent("faulty", fault), "--timeout", "3"]
    done = run(*command, cwd=tmp_path)
    said = " ".join((done.out + done.err).split())
    assert done.code == 1
    error = said.partition("Timed out after 3 s. ")[2]
    assert error.startswith("No answer to initialize came. ")
    assert FRAMING[fault][0] in error


def test_a_missing_line_end_is_not_reported_as_a_late_flush(tmp_path: Path) -> None:
    command = agent("faulty", "no_line_end")
    done = run("doctor", "--command", command, cwd=tmp_path, ACP_TUI_TIMEOUTS_INITIALIZE="2")
    assert "bytes without a line end" in done.out
    assert "came only after" not in done.out


def test_a_byte_order_mark_is_reported_and_ignored(tmp_path: Path) -> None:
    result = report(agent("faulty", "byte_order_mark"), "--prompt", "hi", cwd=tmp_path)
    assert result["turn"]["stopReason"] == "end_turn"
    assert checks(result) == ["stdout-framing", "empty-turn"]


def test_an_agent_that_speaks_only_another_version_gets_a_hint(tmp_path: Path) -> None:
    done = examine(agent("faulty", "only_version_2"), cwd=tmp_path)
    assert done.code == 1
    said = " ".join(done.out.split())
    assert "Invalid params. acp-tui asked for version 1 of the protocol; an agent that supports only" in said


@pytest.mark.parametrize(
    ("how", "line"),
    [("speaks", "version 2"), ("refuses", "version 1 (asked for 2, which the agent does not speak)")],
)
def test_the_report_names_the_version_in_use(how: str, line: str, tmp_path: Path) -> None:
    done = examine(agent("version_2", how), "--protocol", "2", cwd=tmp_path)
    [row] = [row for row in done.out.splitlines() if row.startswith("  protocol ")]
    assert row.removeprefix("  protocol ").strip() == line


def test_a_banner_after_the_session_was_opened_is_outside_the_turn(tmp_path: Path) -> None:
    for prompt in ([], ["--prompt", "hi"]):
        assert "update-outside-turn" in checks(report(script(banner="v1.2"), *prompt, cwd=tmp_path))


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("dies_before_initialize", "exited with code 3"),
        ("demands_authentication", "requires sign-in first"),
        ("no_session_id", "without a session id"),
    ],
)
def test_an_agent_that_fails_to_open_a_session_is_reported(tmp_path: Path, fault: str, sentence: str) -> None:
    done = examine(agent("faulty", fault), cwd=tmp_path)
    assert done.code == 1
    words = " ".join(done.out.split())
    assert sentence in words
    assert "Traceback (" not in done.err
    if fault == "dies_before_initialize":
        assert "│ starting" in done.out


def test_a_missing_program_is_reported(tmp_path: Path) -> None:
    done = examine("no-such-program", cwd=tmp_path)
    assert done.code == 1
    assert "Not started" in done.out.splitlines()
    assert "was not found in PATH" in " ".join(done.out.split())
    assert "Traceback" not in done.err


def test_control_characters_of_an_agent_are_replaced(tmp_path: Path) -> None:
    hostile = "evil\x1b[2J\u202e"
    offers = {
        "session": {"modes": {"currentModeId": hostile, "availableModes": [{"id": hostile, "name": hostile}]}}
    }
    done = examine(script(**offers), "--prompt", steps(["update", {"sessionUpdate": hostile}]), cwd=tmp_path)
    assert done.code == 0
    assert "\x1b" not in done.out
    assert "\u202e" not in done.out


def test_requests_are_rejected_unless_allowed(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("A=b")
    prompt = steps(["ask", "fs/write_text_file", {"path": str(tmp_path / "new.txt"), "content": "x"}])
    report(script(), "--prompt", prompt, cwd=tmp_path)
    assert not (tmp_path / "new.txt").exists()


def test_the_agent_is_required(tmp_path: Path) -> None:
    done = run("doctor", cwd=tmp_path)
    assert done.code == 2
    assert "Name an agent" in done.err


def test_strict_fails_only_if_there_are_violations(tmp_path: Path) -> None:
    wrong = steps(["update", {"sessionUpdate": "novelty"}])
    assert examine(script(), "--prompt", wrong, cwd=tmp_path).code == 0
    assert examine(script(), "--prompt", wrong, "--strict", cwd=tmp_path).code == 1
    assert examine(script(), "--prompt", "hello", "--strict", cwd=tmp_path).code == 0


def test_schema_violations_are_described_without_pydantic_messages(tmp_path: Path) -> None:
    offers = {"capabilities": {"loadSession": "yes", "mcpCapabilities": []}, "session": {"modes": 5}}
    chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": 5}}
    result = report(script(**offers), "--prompt", steps(["update", chunk]), cwd=tmp_path)
    sentences = [violation["sentence"] for violation in result["deviations"]]
    assert "session/update agent_message_chunk: update.content.text must be a string" in sentences
    assert any("agentCapabilities.loadSession" in sentence for sentence in sentences)
    assert any("agentCapabilities.mcpCapabilities" in sentence for sentence in sentences)
    assert not [sentence for sentence in sentences if "Input should" in sentence or "Field" in sentence]


def test_a_call_rejected_by_policy_is_described(tmp_path: Path) -> None:
    call = {
        "toolCallId": "call",
        "title": "Edit a",
        "kind": "edit",
        "locations": [{"path": str(tmp_path / "a")}],
    }
    failed = {"sessionUpdate": "tool_call_update", "toolCallId": "call", "status": "failed"}
    done = examine(script(), "--prompt", steps(["permission", call], ["update", failed]), cwd=tmp_path)
    assert 'Edit a (rejected by policy "deny")' in done.out


def test_writing_through_the_client_is_not_acting_without_asking(tmp_path: Path) -> None:
    edit = {
        "sessionUpdate": "tool_call",
        "toolCallId": "t",
        "title": "Edit",
        "kind": "edit",
        "status": "in_progress",
    }
    write = ["ask", "fs/write_text_file", {"path": str(tmp_path / "new.txt"), "content": "x"}]
    done = ["update", {"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed"}]
    through_client = steps(["update", edit], write, done)
    assert "acts-without-asking" not in checks(report(script(), "--prompt", through_client, cwd=tmp_path))


def test_terminal_sign_in_is_declared(tmp_path: Path) -> None:
    result = report(script(), "--prompt", steps(["report_params", "initialize"]), cwd=tmp_path)
    log = Path(result["log"]).read_text()
    assert '"auth":{"terminal":true}' in log.replace(" ", "")


def test_progress_is_printed_while_waiting(tmp_path: Path) -> None:
    command = agent("faulty", "never_answers")
    with running("doctor", "--command", command, cwd=tmp_path) as (process, mark):
        assert process.stderr is not None
        assert process.stderr.readline().decode() == "acp-tui: Starting tests.fake_agents.faulty …\n"
        process.terminate()
        process.wait()
    assert processes_with(mark) == []


def test_malformed_frames_do_not_prevent_the_report(tmp_path: Path) -> None:
    values = {"w": ["completed"], "x": {"a": 1}, "y": nested(340), "z": nested(340, lists=True)}
    call = {"sessionUpdate": "tool_call", "title": "T"}
    updates = [["update", {**call, "toolCallId": name, "status": value}] for name, value in values.items()]
    updates += [
        ["update", {**call, "toolCallId": name * 2, "rawInput": value, "content": value}]
        for name, value in values.items()
    ]
    done = examine(script(capabilities=values), "--prompt", steps(*updates), cwd=tmp_path)
    assert "Traceback" not in done.err
    assert "Protocol violations" in done.out


# --------------------------------------------------------------------------- logs


def test_a_log_is_examined_without_starting_an_agent(tmp_path: Path) -> None:
    live = report(script(), "--prompt", steps(["update", {"sessionUpdate": "no_such"}]), cwd=tmp_path)
    log = Path(live["log"])
    for reference in (log.parent.name, str(log.parent), str(log)):
        result = json.loads(run("doctor", "--log", reference, "--json").out)
        assert result["deviations"] == live["deviations"] != []
        assert (result["agent"], result["sessionId"]) == (live["agent"], live["sessionId"])
        assert set(result["seconds"]) == {"initialize", "session"}
        assert result["recording"]["turns"] == 1
    assert run("doctor", "--log", str(log)).code == 0
    assert run("doctor", "--log", str(log), "--strict").code == 1


def test_recordings_of_other_programs_are_examined() -> None:
    done = run("doctor", "--log", str(WIRELOGS / "claude-code-ask.jsonl"))
    assert done.code == 0
    assert "name          Claude Agent" in done.out
    assert "sessions   1, with 1 prompt" in done.out


def test_a_log_without_an_agent_is_an_error(tmp_path: Path) -> None:
    log = tmp_path / "x.jsonl"
    log.write_text('{"t":1,"dir":"sent","frame":{"jsonrpc":"2.0","id":0,"method":"initialize"}}\n')
    done = run("doctor", "--log", str(log))
    assert done.code == 1
    assert "The log contains no messages from an agent." in done.out


@pytest.mark.parametrize("more", [["demo"], ["--command", "x"], ["--prompt", "x"], ["--suite"]])
def test_a_log_is_not_examined_together_with_an_agent(more: list[str]) -> None:
    done = run("doctor", "--log", "x", *more)
    assert (done.code, done.err.split(":")[1]) == (2, " --log starts no agent")


def test_custom_capabilities_are_listed(tmp_path: Path) -> None:
    advertised = {
        "_meta": {"example.org": {"status": True}},
        "promptCapabilities": {"_meta": {"video": True}},
    }
    done = examine(script(capabilities=advertised), cwd=tmp_path)
    assert "custom example.org, promptCapabilities.video" in " ".join(done.out.split())
