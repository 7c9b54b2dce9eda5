"""The options of `exec`, in real runs."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from acp_tui.config.paths import config_file
from tests.support.cli import PROGRAM, agent, answers, environment, execute, execute_json, run, script, steps

OFFERS: dict[str, Any] = {
    "modes": {
        "currentModeId": "ask",
        "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Write Code"}],
    },
    "configOptions": [
        {
            "id": "effort",
            "name": "Effort",
            "type": "select",
            "currentValue": "low",
            "options": [{"value": "low", "name": "Low"}, {"value": "high", "name": "High"}],
        },
        {"id": "fast", "name": "Fast", "type": "boolean", "currentValue": False},
    ],
    "models": {
        "currentModelId": "one",
        "availableModels": [{"modelId": "one", "name": "One"}, {"modelId": "two", "name": "Two"}],
    },
}
RESUME: dict[str, Any] = {"sessionCapabilities": {"resume": {}}}


def project(path: Path, name: str = "project") -> Path:
    folder = path / name
    folder.mkdir()
    return folder


# --------------------------------------------------------------------------- the prompt


def test_the_prompt_is_read_from_stdin_for_a_dash(tmp_path: Path) -> None:
    done = run("exec", "--command", script(), "-", cwd=tmp_path, stdin="two\nlines\n")
    assert (done.code, done.out) == (0, "two\nlines\n")


def test_the_prompt_may_follow_an_option(tmp_path: Path) -> None:
    done = run("exec", "--command", script(), "--policy", "ask", "hello", cwd=tmp_path)
    assert (done.code, done.out) == (0, "hello\n")
    words = ["--command", script(), "--policy", "ask", steps(["stop", "end_turn"]), "--timeout", "60"]
    done = run("exec", *words, cwd=tmp_path)
    assert (done.code, done.out, done.err) == (0, "", "· the agent ended the turn without text\n")


def test_an_unknown_option_is_reported_with_the_command_that_lists_them(tmp_path: Path) -> None:
    done = run("exec", "demo", "hello", "--polcy", "yolo", cwd=tmp_path)
    assert done.code == 2
    assert done.err == "acp-tui: Unknown argument: --polcy. See `acp-tui exec --help`.\n"


def test_the_prompt_is_read_from_a_pipe_without_a_dash(tmp_path: Path) -> None:
    assert run("exec", "--command", script(), cwd=tmp_path, stdin="piped").out == "piped\n"


@pytest.mark.parametrize(
    ("words", "stdin", "sentence"),
    [
        ([], "hello", "Name an agent"),
        (["--command", "x", "-"], " \n", "The prompt is empty"),
        (["--command", "x", "-"], b"\xff\xfe", "not valid UTF-8"),
        (["--command", "x", "two", "words"], "", "as one quoted argument"),
        (["--command", "'open", "hello"], "", "cannot be split"),
        (["dmeo", "hello"], "", "did you mean demo?"),
        (["--command", "x", "hello", "--policy", "maybe"], "", "invalid choice: 'maybe'"),
        (
            ["--command", "x", "hello", "--timeout", "-1"],
            "",
            "expected a number of seconds above 0, got '-1'",
        ),
        (
            ["--command", "x", "hello", "--timeout", "nan"],
            "",
            "expected a number of seconds above 0, got 'nan'",
        ),
        (["--command", "x", "hello", "--set", "effort"], "", "expected KEY=VALUE, got 'effort'"),
        (["--command", "x", "hello", "--allow", "eddit"], "", "did you mean edit?"),
        (["--command", "x", "hello", "--reject", "edit:"], "", "nothing follows the colon"),
    ],
)
def test_wrong_arguments_are_a_usage_error(
    tmp_path: Path, words: list[str], stdin: str | bytes, sentence: str
) -> None:
    done = run("exec", *words, cwd=tmp_path, stdin=stdin)
    assert done.code == 2
    assert done.out == ""
    assert sentence in done.err
    assert "Traceback" not in done.err


def test_a_missing_prompt_on_a_terminal_is_an_error(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    done = subprocess.run(
        [PROGRAM, "exec", "--command", script()],
        cwd=tmp_path,
        stdin=slave,
        capture_output=True,
        env=environment(),
        check=False,
    )
    os.close(master)
    os.close(slave)
    assert done.returncode == 2
    assert b"No prompt" in done.stderr


# --------------------------------------------------------------------------- workspace


def test_cwd_and_add_dir_are_sent_to_the_agent(tmp_path: Path) -> None:
    folder, other = project(tmp_path), project(tmp_path, "other")
    (folder / "inside.txt").write_text("inside")
    (other / "other.txt").write_text("other")
    prompt = steps(
        ["report_params", "session/new"],
        ["ask", "fs/read_text_file", {"path": str(folder / "inside.txt")}],
        ["ask", "fs/read_text_file", {"path": str(other / "other.txt")}],
    )
    command = script(capabilities={"sessionCapabilities": {"additionalDirectories": {}}})
    result = execute_json(prompt, "--cwd", "project", "--add-dir", "other", command=command, cwd=tmp_path)
    opened, inside, other_content = answers(result)
    assert opened == {"cwd": str(folder), "additionalDirectories": [str(other)], "mcpServers": []}
    assert (inside, other_content) == ({"content": "inside"}, {"content": "other"})


def test_add_dir_is_not_sent_if_the_agent_does_not_support_it(tmp_path: Path) -> None:
    done = execute(steps(["report_params", "session/new"]), "--add-dir", str(project(tmp_path)), cwd=tmp_path)
    assert done.code == 0
    assert json.loads(done.out) == {"cwd": str(tmp_path), "mcpServers": []}
    assert "does not support additional directories" in done.err


@pytest.mark.parametrize("option", ["--cwd", "--add-dir"])
def test_a_missing_folder_is_reported_in_one_line(tmp_path: Path, option: str) -> None:
    done = execute("hello", option, "missing", cwd=tmp_path)
    assert done.code in (1, 2)
    assert "missing" in done.err
    assert done.err.count("\n") == 1
    assert "Traceback" not in done.err


# --------------------------------------------------------------------------- modes and options


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            ["--mode", "write code", "--set", "effort=High"],
            {
                "session/set_mode": {"modeId": "code"},
                "session/set_config_option": {"configId": "effort", "value": "high"},
            },
        ),
        (
            ["--set", "mode=code", "--set", "Fast=on", "--set", "model=two"],
            {
                "session/set_mode": {"modeId": "code"},
                "session/set_config_option": {"configId": "fast", "value": True},
                "session/set_model": {"modelId": "two"},
            },
        ),
    ],
    ids=["mode and select", "mode, switch and model"],
)
def test_modes_models_and_options_are_set_by_id_or_name(
    tmp_path: Path, options: list[str], expected: dict[str, dict[str, Any]]
) -> None:
    reports = steps(*(["report_params", method] for method in expected))
    result = execute_json(reports, *options, command=script(session=OFFERS), cwd=tmp_path)
    for params, reported in zip(expected.values(), answers(result), strict=True):
        assert params.items() <= reported.items()


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        (("--mode", "yolo"), 'has no mode "yolo". It offers ask (Ask), code (Write Code).'),
        (("--mode", "coode"), 'has no mode "coode"; did you mean "code"?'),
        (("--set", "colour=red"), 'has no option "colour". It offers mode (Mode), effort (Effort), fast'),
        (("--set", "effort=most"), 'has no value "most". It offers low (Low), high (High).'),
        (("--set", "fast=perhaps"), 'is either true or false, not "perhaps".'),
        (("--set", "model=three"), 'has no model "three". It offers one (One), two (Two).'),
    ],
)
def test_an_unavailable_mode_or_option_is_reported_with_those_available(
    tmp_path: Path, option: tuple[str, str], sentence: str
) -> None:
    done = execute("hello", *option, command=script(session=OFFERS), cwd=tmp_path)
    assert done.code == 1
    assert sentence in done.err
    assert done.out == ""


def test_a_name_that_two_values_share_is_ambiguous(tmp_path: Path) -> None:
    models = [{"modelId": name, "name": "Default"} for name in ("one", "two")]
    offers = {"models": {"currentModelId": "one", "availableModels": models}}
    done = execute("hello", "--set", "model=default", command=script(session=offers), cwd=tmp_path)
    assert done.code == 1
    assert '"default" is ambiguous. Use one of these: one, two.' in done.err


def test_defaults_of_the_settings_are_set_unless_the_command_line_sets_them(tmp_path: Path) -> None:
    config_file().parent.mkdir(parents=True, exist_ok=True)
    config_file().write_text(
        f"[agents.mine]\ncommand = {json.dumps(script(session=OFFERS))}\nmode = 'code'\n"
        "options = { model = 'two', Fast = true, effort = 'hihg', colour = 'red' }\n"
    )
    reports = steps(["report_params", "session/set_mode"], ["report_params", "session/set_config_option"])
    done = run("exec", "mine", reports, "--set", "model=one", "--output", "json", cwd=tmp_path)
    assert [{**answer, "sessionId": ""} for answer in answers(done.result)] == [
        {"sessionId": "", "modeId": "code"},
        {"sessionId": "", "configId": "fast", "type": "boolean", "value": True},
    ]
    assert 'has no value "hihg"; did you mean "High"?' in done.err
    assert 'has no option "colour". It offers' in done.err
    assert "set_model" not in done.err


AUTO = {
    "currentModeId": "auto",
    "availableModes": [{"id": "default", "name": "Manual"}, {"id": "auto", "name": "Auto"}],
}
"""The modes of claude-agent-acp 0.101, which starts in the mode in which it acts without asking."""


@pytest.mark.parametrize(
    ("lines", "options", "mode"),
    [("", (), "default"), ("mode = 'auto'", (), None), ("", ("--mode", "auto"), None)],
    ids=["by itself", "chosen in the settings", "chosen on the command line"],
)
def test_claude_code_does_not_start_in_the_mode_that_asks_nothing_unless_that_is_chosen(
    tmp_path: Path, lines: str, options: tuple[str, ...], mode: str | None
) -> None:
    config_file().parent.mkdir(parents=True, exist_ok=True)
    command = json.dumps(script(session={"modes": AUTO}))
    config_file().write_text(f"[agents.claude-code]\ncommand = {command}\n{lines}\n")
    report = steps(["report_params", "session/set_mode"])
    done = run("exec", "claude-code", report, *options, "--output", "json", cwd=tmp_path)
    (reported,) = answers(done.result)
    assert (reported or {}).get("modeId") == mode
    said = "Claude Code starts in the mode Auto, in which it acts without asking. Changed to Manual."
    assert (said in done.err) == (mode is not None)


def test_the_default_of_the_model_is_set_before_other_options_whatever_its_name(tmp_path: Path) -> None:
    llm = {
        "id": "llm",
        "name": "LLM",
        "category": "model",
        "type": "select",
        "currentValue": "one",
        "options": [{"value": "one", "name": "One"}, {"value": "two", "name": "Two"}],
    }
    offers = {"configOptions": [*OFFERS["configOptions"], llm]}
    config_file().parent.mkdir(parents=True, exist_ok=True)
    config_file().write_text(
        f"[agents.mine]\ncommand = {json.dumps(script(session=offers))}\n"
        "options = { effort = 'high', llm = 'two' }\n"
    )
    last_request = steps(["report_params", "session/set_config_option"])
    result = run("exec", "mine", last_request, "--output", "json", cwd=tmp_path).result
    assert [answer["configId"] for answer in answers(result)] == ["effort"]


# --------------------------------------------------------------------------- resuming


def test_a_session_is_resumed_by_its_id_a_prefix_or_the_agents_id(tmp_path: Path, home: Path) -> None:
    folder = project(tmp_path)
    command = script(capabilities=RESUME)
    first = execute_json("hello", command=command, cwd=folder)
    assert first["log"].startswith(str(home / "data" / "sessions"))
    our_id = os.path.basename(os.path.dirname(first["log"]))  # noqa: PTH119, PTH120  # the path as printed
    prompt = steps(["report_params", "session/resume"])
    for reference in (our_id, our_id[:-2], "session-1"):
        done = run("exec", "--resume", reference, prompt, "--output", "json", cwd=tmp_path)
        assert done.code == 0, done.err
        assert done.result["log"] == first["log"]
        assert answers(done.result) == [{"sessionId": "session-1", "cwd": str(folder), "mcpServers": []}]
    replay = run("replay", our_id, "--text")
    assert replay.out.count("-- end_turn --") == 4


def test_a_resumed_session_keeps_its_settings_except_those_on_the_command_line(tmp_path: Path) -> None:
    command = script(capabilities=RESUME, session=OFFERS)
    options = ("--mode", "code", "--set", "model=two")
    session = execute_json("hello", *options, command=command, cwd=tmp_path)["sessionId"]
    prompt = steps(["report_params", "session/set_mode"], ["report_params", "session/set_model"])
    done = run("exec", "--resume", session, prompt, "--set", "model=one", "--output", "json", cwd=tmp_path)
    assert '"modeId": "code"' in done.result["text"]
    assert '"modelId": "one"' in done.result["text"]
    assert "Restored Model: Two, Mode: Write Code" in done.err


@pytest.mark.parametrize("when", ["history", "late_history"])
def test_a_replayed_history_is_not_part_of_the_answer(tmp_path: Path, when: str) -> None:
    texts = (("user", "an old question"), ("agent", "an old answer"))
    updates = [
        {"sessionUpdate": f"{speaker}_message_chunk", "content": {"type": "text", "text": text}}
        for speaker, text in texts
    ]
    command = script(**{"capabilities": {"loadSession": True}, when: updates})
    done = execute("new", "--resume", "theirs", command=command, cwd=tmp_path)
    assert done.out == "new\n"
    assert "old" not in done.err


def test_a_session_of_a_command_is_resumed_with_that_command_only(tmp_path: Path) -> None:
    folder = project(tmp_path)
    mine, other = (script(capabilities=RESUME, name=name) for name in ("mine", "other"))
    first = execute_json("hello", command=mine, cwd=folder)
    session = Path(first["log"]).parent.name
    assert execute("hello", "--resume", session, command=mine, cwd=folder).code == 0
    refused = execute("hello", "--resume", session, command=other, cwd=folder)
    assert refused.code == 1
    assert f"The session {session} belongs to" in refused.err


def test_a_session_of_a_command_named_like_a_known_agent_is_resumed_with_the_command(
    tmp_path: Path,
) -> None:
    folder = project(tmp_path)
    program = tmp_path / "claude-code"
    program.write_text(f"#!/bin/sh\nexec {script(capabilities=RESUME)}\n")
    program.chmod(0o755)
    first = execute_json("hello", command=str(program), cwd=folder)
    done = run("exec", "hello", "--resume", Path(first["log"]).parent.name, cwd=folder)
    assert done.code == 0, done.err


def test_a_session_that_was_not_recorded_is_resumed_by_the_agents_id(tmp_path: Path) -> None:
    command = script(capabilities={"loadSession": True})
    result = execute_json(
        steps(["report_params", "session/load"]), "--resume", "theirs", command=command, cwd=tmp_path
    )
    assert answers(result) == [{"sessionId": "theirs", "cwd": str(tmp_path), "mcpServers": []}]


def test_a_demo_session_is_resumed_in_its_folder(tmp_path: Path) -> None:
    first = run("exec", "demo", "/echo one", "--output", "json").result
    second = run("exec", "demo", "/session", "--resume", first["sessionId"], "--output", "json").result
    assert second["sessionId"] == first["sessionId"]
    assert second["cwd"] == first["cwd"]


def test_resuming_an_unknown_session_is_an_error(tmp_path: Path) -> None:
    done = run("exec", "--resume", "nothing", "hello", cwd=tmp_path)
    assert done.code == 1
    assert 'no session "nothing"' in done.err


def test_resuming_a_session_of_another_agent_is_an_error(tmp_path: Path) -> None:
    log = execute_json("hello", cwd=tmp_path)["log"]
    done = run("exec", "demo", "hello", "--resume", os.path.basename(os.path.dirname(log)), cwd=tmp_path)  # noqa: PTH119, PTH120
    assert done.code == 1
    assert "belongs to tests.fake_agents.script, not to demo" in done.err


def test_resuming_with_an_agent_that_does_not_support_it_is_an_error(tmp_path: Path) -> None:
    done = execute("hello", "--resume", "theirs", cwd=tmp_path)
    assert done.code == 1
    assert "can neither resume nor load a session" in done.err


# ---------------------------------------------------------------- timeout, log, MCP servers, sign-in


def test_a_turn_that_takes_too_long_is_cancelled(tmp_path: Path) -> None:
    done = execute(
        steps(["say", "on it"], ["wait_for_cancel"]), "--timeout", "5", "--output", "json", cwd=tmp_path
    )
    assert done.code == 1
    assert "Timed out after 5 s" in done.err
    assert done.result["stopReason"] == "cancelled"
    assert done.result["error"]["message"].startswith("Timed out")


def test_no_log_prevents_recording(tmp_path: Path, home: Path) -> None:
    assert execute_json("hello", "--no-log", cwd=tmp_path)["log"] is None
    assert not (home / "data" / "sessions").exists()


def test_mcp_servers_are_sent_as_they_are_or_as_a_bridge_and_unusable_ones_are_reported(
    tmp_path: Path,
) -> None:
    file = tmp_path / "mcp.json"
    servers = {
        "files": {"command": sys.executable, "args": ["-V"], "env": {"A": "${NOT_SET:-b}"}},
        "web": {"type": "http", "url": "https://example.com/mcp"},
        "stream": {"type": "sse", "url": "https://example.com/sse"},
        "unset": {"command": "true", "env": {"TOKEN": "${NOT_SET}"}},
    }
    file.write_text(json.dumps({"mcpServers": servers}))
    command = script(capabilities={"mcpCapabilities": {"http": True}})
    done = execute(
        steps(["report_params", "session/new"]), "--mcp-config", "mcp.json", command=command, cwd=tmp_path
    )
    assert done.code == 0
    files, web, stream = json.loads(done.out)["mcpServers"]
    assert files == {
        "name": "files",
        "command": sys.executable,
        "args": ["-V"],
        "env": [{"name": "A", "value": "b"}],
    }
    assert web == {"type": "http", "name": "web", "url": "https://example.com/mcp", "headers": []}
    assert stream["args"][:6] == ["-P", "-m", "acp_tui", "mcp", "bridge", "stream"]
    (notice,) = [line for line in done.err.splitlines() if "is not used" in line]
    assert "NOT_SET" in notice


def test_a_missing_mcp_config_file_is_reported_in_one_line(tmp_path: Path) -> None:
    done = execute("hello", "--mcp-config", "none.json", cwd=tmp_path)
    assert done.code in (1, 2)
    assert "none.json" in done.err
    assert done.err.count("\n") == 1


def test_a_required_sign_in_is_reported_with_its_methods(tmp_path: Path) -> None:
    command = agent("faulty", "demands_authentication")
    done = execute("hello", command=command, cwd=tmp_path)
    assert done.code == 1
    assert "requires sign-in first" in done.err
    assert "login (Log in); shell (In a terminal); waits (Elsewhere)" in done.err
    assert "--sign-in" in done.err


def test_sign_in_runs_when_given_on_the_command_line(tmp_path: Path) -> None:
    command = agent("faulty", "demands_authentication")
    assert execute("hello", "--sign-in", "Log in", command=command, cwd=tmp_path).code == 0


@pytest.mark.parametrize(
    ("method", "sentence"), [("guess", "Unknown sign-in method"), ("shell", "needs a terminal")]
)
def test_an_unavailable_sign_in_method_is_reported(tmp_path: Path, method: str, sentence: str) -> None:
    command = agent("faulty", "demands_authentication")
    done = execute("hello", "--sign-in", method, command=command, cwd=tmp_path)
    assert done.code == 1
    assert sentence in done.err


def test_a_sign_in_that_takes_too_long_times_out(tmp_path: Path) -> None:
    command = agent("faulty", "demands_authentication")
    done = execute("hello", "--sign-in", "waits", "--timeout", "2", command=command, cwd=tmp_path)
    assert done.code == 1
    assert "Timed out after 2 s" in done.err


# --------------------------------------------------------------------------- exit codes


@pytest.mark.parametrize(("reason", "code"), [("end_turn", 0), ("cancelled", 3), ("novel", 3)])
def test_the_exit_code_depends_on_the_stop_reason(tmp_path: Path, reason: str, code: int) -> None:
    done = execute(steps(["stop", reason]), cwd=tmp_path)
    assert done.code == code
    assert (f"stopped: {reason}" in done.err) == (code == 3)


# --------------------------------------------------------------------------- settings problems


def test_a_broken_settings_file_is_reported_and_ignored(tmp_path: Path, home: Path) -> None:
    config = home / "config" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("agent = \n")
    done = execute("hello", cwd=tmp_path)
    assert (done.code, done.out) == (0, "hello\n")
    assert str(config) in done.err
    assert "Traceback" not in done.err


def test_a_misspelt_settings_key_is_reported_with_the_nearest(tmp_path: Path, home: Path) -> None:
    config = home / "config" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('polcy = "yolo"\n')
    done = execute("hello", cwd=tmp_path)
    assert (done.code, done.out) == (0, "hello\n")
    assert "config.toml:1" in done.err
    assert "policy" in done.err
