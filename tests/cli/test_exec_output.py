"""The output of `exec`: the answer on stdout, everything else on stderr."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.cli import (
    PROGRAM,
    environment,
    execute,
    execute_json,
    on_a_terminal,
    run,
    running,
    script,
    steps,
)

HOSTILE = "red \x1b[31mand\x1b]0;title\x07 \x9b2J \u202egnihton\u202c done\n"
READ = {"sessionUpdate": "tool_call", "toolCallId": "r", "title": "Read it", "kind": "read"}


def update(kind: str, text: str, **more: object) -> list[object]:
    return ["update", {"sessionUpdate": kind, "content": {"type": "text", "text": text}, **more}]


def test_only_the_answer_is_on_stdout(tmp_path: Path) -> None:
    prompt = steps(
        update("agent_thought_chunk", "secretly"),
        ["say", "Hello ", "world"],
        ["update", {**READ, "status": "in_progress"}],
        ["update", {"sessionUpdate": "tool_call_update", "toolCallId": "r", "status": "completed"}],
        ["update", {"sessionUpdate": "plan", "entries": [{"content": "x", "status": "completed"}]}],
        ["say", "and more"],
        ["write_file", str(tmp_path / "new.txt"), "new"],
    )
    done = execute(prompt, cwd=tmp_path)
    assert done.code == 0
    assert done.out == "Hello world\n\nand more\n"
    assert done.err.splitlines() == [
        "· Read it",
        "· Read it: done",
        "· plan: 1 of 1 steps done",
        "· added: new.txt",
    ]


def test_messages_are_separated_by_a_blank_line(tmp_path: Path) -> None:
    pieces = [
        update("agent_message_chunk", text, messageId=message)
        for message, text in (("a", "one"), ("a", " more\n"), ("b", "two"))
    ]
    assert execute(steps(*pieces), cwd=tmp_path).out == "one more\n\ntwo\n"


def test_an_answer_in_a_pipe_is_unchanged(tmp_path: Path) -> None:
    prompt = steps(["say", *HOSTILE])
    assert execute(prompt, cwd=tmp_path).out == HOSTILE


def test_control_characters_of_an_answer_are_replaced_on_a_terminal(tmp_path: Path) -> None:
    prompt = steps(["say", *HOSTILE])
    code, shown = on_a_terminal("exec", "--command", script(), prompt, cwd=tmp_path)
    text = shown.decode()
    assert code == 0
    assert not any(bad in text for bad in ("\x1b", "\x07", "\x9b", "\u202e"))
    assert text.startswith("red ␛[31mand␛]0;title␇ ")
    assert text.endswith(" done\r\n")


@pytest.mark.parametrize(
    ("end", "line"), [(["stop", "refusal"], "· stopped: refusal"), (["exit", 4], "acp-tui: ")]
)
def test_messages_on_a_terminal_begin_on_a_new_line(tmp_path: Path, end: list[object], line: str) -> None:
    prompt = steps(["say", "half a line"], end)
    _, shown = on_a_terminal("exec", "--command", script(), prompt, cwd=tmp_path, stderr=True)
    first, second, *_ = shown.decode().splitlines()
    assert first == "half a line"
    assert second.startswith(line)


def test_both_streams_in_one_pipe_do_not_run_into_one_line(tmp_path: Path) -> None:
    prompt = steps(["say", "half a line"], ["update", READ], ["say", "more"])
    done = subprocess.run(
        [PROGRAM, "exec", "--command", script(), prompt],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=True,
        text=True,
    )
    assert done.stdout == "half a line\n· Read it\n\nmore\n· Read it: left open\n"


@pytest.mark.parametrize("output", ["text", "json"])
def test_a_greeting_before_the_prompt_is_not_part_of_the_answer(tmp_path: Path, output: str) -> None:
    command = script(banner="agent v1.2\n---\n")
    done = execute("hello", "--output", output, command=command, cwd=tmp_path)
    assert (done.out.strip() if output == "text" else done.result["text"]) == "hello"
    assert "· before the prompt: agent v1.2 ---\n" in done.err


def test_a_decision_about_an_unnamed_action_names_the_calls_in_progress(tmp_path: Path) -> None:
    command = {"title": "terminal", "kind": "execute", "rawInput": {"command": "make all"}}
    prompt = steps(
        ["update", {"sessionUpdate": "tool_call", "toolCallId": "t", **command}],
        ["permission", {"toolCallId": "confirm", "title": "Confirm Agent Actions", "kind": "other"}],
    )
    done = execute(prompt, cwd=tmp_path)
    [decision] = [line for line in done.err.splitlines() if line.startswith("· Rejected")]
    assert decision.endswith("[in progress: terminal: make all]")
    assert "· terminal: make all" in done.err.splitlines()


def test_the_title_of_a_command_is_not_repeated(tmp_path: Path) -> None:
    call = {"title": "`make all`", "kind": "execute", "rawInput": {"command": "make all"}}
    done = execute(steps(["update", {"sessionUpdate": "tool_call", "toolCallId": "t", **call}]), cwd=tmp_path)
    assert "· make all" in done.err.splitlines()


@pytest.mark.parametrize("output", ["json", "ndjson"])
def test_json_on_a_terminal_is_ascii(tmp_path: Path, output: str) -> None:
    prompt = steps(["say", HOSTILE])
    code, shown = on_a_terminal("exec", "--command", script(), prompt, "--output", output, cwd=tmp_path)
    assert code == 0
    assert shown.isascii()
    assert b"\x1b" not in shown


def test_surrogates_are_joined_or_replaced(tmp_path: Path) -> None:
    prompt = steps(["say", "\ud83d", "\ude00 ", "\ud83d", " end"])
    assert execute(prompt, cwd=tmp_path).out == "\U0001f600 \ufffd end\n"


def test_control_characters_on_stderr_are_always_replaced(tmp_path: Path) -> None:
    title = {**READ, "title": "Read\n\x1b[2J\u202eevil"}
    done = execute(steps(["update", title], ["stderr", "\x1b[2J"], ["exit", 3]), cwd=tmp_path)
    assert done.code == 1
    assert "\x1b" not in done.err
    assert "\u202e" not in done.err


def test_json_output_is_one_object(tmp_path: Path) -> None:
    prompt = steps(
        ["say", "Done"],
        [
            "permission",
            {
                "title": "Run it",
                "kind": "execute",
                "rawInput": {"command": "make"},
                "locations": [{"path": str(tmp_path / "x"), "line": 3}],
            },
        ],
        ["update", {"sessionUpdate": "usage_update", "used": 5, "size": 10}],
        ["write_file", str(tmp_path / "new.txt"), "new"],
    )
    result = execute_json(prompt, "--policy", "yolo", cwd=tmp_path)
    assert result["agent"] == {"name": "scripted", "title": None, "version": "1"}
    assert (result["sessionId"], result["stopReason"]) == ("session-1", "end_turn")
    assert result["text"].startswith("Done")
    [call] = result["toolCalls"]
    assert call["locations"] == [{"path": str(tmp_path / "x"), "line": 3}]
    assert (call["id"], call["title"], call["kind"]) == ("call", "Run it", "execute")
    [decision] = result["permissions"]
    assert decision == {
        "asked": "run `make`",
        "outcome": "allowed",
        "by": "policy",
        "why": 'allowed by policy "yolo"',
    }
    assert result["changedFiles"] == [
        {"path": str(tmp_path / "new.txt"), "change": "added", "canBeReverted": True}
    ]
    assert (result["usage"]["used"], result["usage"]["size"]) == (5, 10)
    assert result["cwd"] == str(tmp_path)
    assert Path(result["log"]).read_text(encoding="utf-8").count("session/prompt") >= 1
    assert "error" not in result


def test_ndjson_output_is_one_event_per_line_and_the_result_last(tmp_path: Path) -> None:
    done = execute(steps(["say", "a", "b"]), "--output", "ndjson", cwd=tmp_path)
    assert done.code == 0
    *events, last = done.events
    names = [event["event"] for event in events]
    assert names[0] == "agent_started"
    assert names.count("text_chunk") == 2
    assert {"initialized", "session_opened", "prompt_sent", "turn_ended"} <= set(names)
    assert all(isinstance(event["at"], float) for event in events)
    assert last["event"] == "result"
    assert last["text"] == "ab"


def test_ndjson_is_printed_while_the_agent_works(tmp_path: Path) -> None:
    prompt = steps(["say", "first"], ["ignore_client"])
    with running("exec", "--command", script(), prompt, "--output", "ndjson", cwd=tmp_path) as (process, _):
        assert process.stdout is not None
        lines = (json.loads(line) for line in process.stdout)
        assert next(line["text"] for line in lines if line["event"] == "text_chunk") == "first"


def test_a_closed_pipe_ends_the_run_silently(tmp_path: Path) -> None:
    with running(
        "exec", "--command", script(), steps(["repeat", 500, "x" * 1000], ["ignore_client"]), cwd=tmp_path
    ) as (
        process,
        _,
    ):
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read(10) == b"x" * 10
        process.stdout.close()
        assert process.wait() == 141
        assert process.stderr.read() == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("output", ["text", "json"])
def test_a_full_disk_under_stdout_is_reported(tmp_path: Path, output: str) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [PROGRAM, "exec", "--command", script(), "hello", "--output", output],
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment(),
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.decode().lower() == "acp-tui: cannot write the output: no space left on device.\n"


@pytest.mark.parametrize("closed", [0, 1, 2])
def test_a_closed_standard_stream_is_ignored(tmp_path: Path, closed: int) -> None:
    words = [PROGRAM, "exec", "--command", script(), "hello"]
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}>&-', "sh", *words],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment(),
        check=False,
    )
    assert done.returncode == 0
    assert done.stdout == (b"" if closed == 1 else b"hello\n")
    assert done.stderr == b""


def test_exec_works_with_a_dumb_terminal_and_the_c_locale(tmp_path: Path) -> None:
    done = execute(
        "h\u00e9 \U0001f600",
        command=f"env -u PYTHONIOENCODING {script()}",  # the agent keeps its own encoding
        cwd=tmp_path,
        TERM="dumb",
        LC_ALL="C",
        PYTHONIOENCODING="ascii",
    )
    assert done.code == 0
    assert done.out == "h\\xe9 \\U0001f600\n"


def test_exec_works_with_the_demo_agent(home: Path) -> None:
    done = run("exec", "demo", "tour", "--policy", "yolo", "--output", "json")
    assert done.code == 0
    assert done.result["stopReason"] == "end_turn"
    assert [Path(file["path"]).name for file in done.result["changedFiles"]] == ["basket.py"]
    assert {call["status"] for call in done.result["toolCalls"]} == {"completed"}
    assert done.result["cwd"].startswith(str(home))  # a copy of the sample project
