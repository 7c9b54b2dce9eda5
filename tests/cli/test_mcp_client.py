"""`acp-tui mcp test`, `call`, `prompts`, `resources` and `log`, with real servers."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.cli import main
from tests.support.cli import running
from tests.support.leftovers import processes_with
from tests.support.mcp_servers import stdio_command
from tests.support.terminal import Terminal
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.mcp_servers import HttpServers, ServerLog

    Define = Any


@pytest.fixture
def define(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Define:
    """Return a function that writes servers, each a command or a table, to `config.toml`."""
    monkeypatch.chdir(tmp_path)

    def write(**servers: list[str] | dict[str, Any]) -> None:
        (home / "config").mkdir(parents=True, exist_ok=True)
        lines = []
        for name, given in servers.items():
            table = {"command": given[0], "args": given[1:]} if isinstance(given, list) else given
            lines += [
                f"[mcp_servers.{name}]",
                *(f"{key} = {json.dumps(value)}" for key, value in table.items()),
            ]
        (home / "config" / "config.toml").write_text("\n".join(lines))

    return write


@pytest.fixture
def script(define: Define) -> None:
    """Define one server, `script`."""
    define(script=stdio_command())


def test_a_test_prints_what_each_server_offers_or_why_it_fails(
    define: Define, capsys: pytest.CaptureFixture[str]
) -> None:
    define(
        good=stdio_command("--noise", "hello", "--noise", "again"),
        strict=stdio_command("--noise", '{"jsonrpc": "2.0", "id": null, "error": {"message": "what?"}}'),
        bad=stdio_command("--exit", "3", "--stderr", "no database"),
        gone={"command": "no-such-program"},
        off={"command": "sh", "enabled": False},
    )
    assert main(["mcp", "test", "--all"]) == 1
    out, err = capsys.readouterr()
    assert "server     script 1.2.3, protocol 2025-11-25" in out
    assert "tools      17: echo, add," in out
    assert "noise      on stdout, not an MCP message: hello, and 1 more line" in out
    text = "an error without an id (what?); servers must not answer notifications"
    assert text in " ".join(out.split())
    assert "17 tools accepted. Later changes are reported." in out
    assert "bad exited with code 3" in out
    assert "the program no-such-program was not found on PATH, which is" in " ".join(out.split())
    assert "off  disabled" in out
    assert err == "acp-tui: 2 of 4 servers cannot be used: bad, gone.\n"


def test_warnings_of_the_sdk_are_not_printed(define: Define, http_servers: HttpServers) -> None:
    define(page={"url": http_servers.url("/page")})
    command = [sys.executable, "-m", "acp_tui", "mcp", "test", "page"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert "Unexpected content type" in done.stdout
    assert done.stderr == ""


def test_servers_are_tested_at_the_same_time(
    define: Define, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "second-has-started"
    touch = ["sh", "-c", 'touch "$0"; exec "$@"', str(file), *stdio_command()]
    define(first=stdio_command("--start-when", str(file)), second=touch)
    assert main(["mcp", "test", "first", "second", "--json"]) == 0
    servers = json.loads(capsys.readouterr().out)["servers"]
    assert [server["status"] for server in servers] == ["connected", "connected"]


def test_changed_tools_are_listed_until_they_are_accepted(
    define: Define, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # The same definition with other tools, as after an update of the server.
    now = tmp_path / "options"
    define(script=["sh", "-c", 'exec "$@" $(cat "$0")', str(now), *stdio_command()])
    now.write_text("")
    main(["mcp", "test", "script"])
    assert "17 tools accepted" in capsys.readouterr().out
    now.write_text("--changed")
    assert main(["mcp", "test", "script"]) == 0
    out = capsys.readouterr().out
    assert "echo: its description or schema has changed since you accepted it" in " ".join(out.split())
    main(["mcp", "test", "script", "--accept", "--json"])
    assert json.loads(capsys.readouterr().out)["servers"][0]["changes"]["changed"]
    main(["mcp", "test", "script"])
    out = capsys.readouterr().out
    assert "changed since" not in out
    assert "accepted" not in out


def test_invisible_characters_of_tools_are_shown(define: Define, capsys: pytest.CaptureFixture[str]) -> None:
    define(script=stdio_command("--hidden"))
    main(["mcp", "test", "script"])
    assert "Return the text.‹e0053›‹200b›" in capsys.readouterr().out


def test_excluded_tools_are_marked_and_called_only_on_purpose(
    define: Define, capsys: pytest.CaptureFixture[str]
) -> None:
    command, *args = stdio_command()
    define(script={"command": command, "args": args, "exclude_tools": ["echo"]})
    main(["mcp", "test", "script"])
    out = capsys.readouterr().out
    assert "excluded   not offered to agents: echo" in out
    assert "(Not offered to agents.)" in " ".join(out.split())
    call = ["mcp", "call", "script", "echo", '{"text": "hello"}']
    assert main(call) == 2
    assert "The tool echo is excluded by the definition of script" in capsys.readouterr().err
    assert main([*call, "--excluded"]) == 0
    assert capsys.readouterr().out == "hello\n"


def test_one_server_is_described_tool_by_tool_with_its_claims(
    script: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mcp", "test", "script"]) == 0
    assert "      echo         Return the text. (The server says: only reads.)\n" in capsys.readouterr().out


def test_wrong_arguments_of_a_test(script: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "test"]) == 2
    assert main(["mcp", "test", "scrip"]) == 2
    assert "did you mean script?" in capsys.readouterr().err


def test_a_call_prints_its_content_and_its_progress(script: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "call", "script", "content"]) == 0
    assert "[image image/png, 70 B]" in capsys.readouterr().out
    assert main(["mcp", "call", "script", "progress", '{"steps": 1}', "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["content"] == [{"type": "text", "text": "1 steps"}]
    assert "acp-tui: 1 of 1" in err


def test_a_call_that_fails_exits_with_1(script: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "call", "script", "fail"]) == 1
    assert capsys.readouterr().out == "it failed\n"
    assert main(["mcp", "call", "script", "crash"]) == 1
    assert "exited with code 3" in capsys.readouterr().err
    assert main(["mcp", "call", "script", "echo", "[]"]) == 2


def test_a_question_without_a_terminal_is_declined(script: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "call", "script", "ask"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out) == {"action": "decline"}
    assert 'script asks "Who are you?"; declined' in err


def test_a_question_on_a_terminal_is_asked_field_by_field(script: None, tmp_path: Path) -> None:
    with Terminal("mcp", "call", "script", "ask", cwd=tmp_path) as terminal:
        answers = {
            "Answer?": "y",
            "Name (": "Ada",
            "email (": "nobody",
            "Must be an email address": "ada@example.org",
            "count (": "",
            "ratio (": "0.5",
            "agree (": "1",
            "colour (": "2",
            "sizes (": "1, 3",
        }
        for question, answer in answers.items():
            terminal.wait_for(question)
            terminal.type(f"{answer}\n")
        terminal.wait_for('"colour": "g"')


def test_prompts_and_resources(script: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "prompts"]) == 0
    assert "greet name=… [style=…]  Write a greeting." in capsys.readouterr().out
    assert main(["mcp", "prompts", "script", "greet", "name=Ada"]) == 0
    assert "user:\nWrite a friendly greeting for Ada." in capsys.readouterr().out
    assert main(["mcp", "resources", "script", "--json"]) == 0
    (offered,) = json.loads(capsys.readouterr().out)["servers"]
    assert offered["resources"][0]["uri"] == "test://readme"
    assert main(["mcp", "resources", "script", "test://readme"]) == 0
    assert capsys.readouterr().out == "The text of test://readme\n"


@pytest.mark.parametrize(
    ("action", "method", "kind"),
    [
        ("prompts", "prompts/list", "prompts"),
        ("resources", "resources/list", "resources"),
        ("resources", "resources/templates/list", "resource templates"),
    ],
)
def test_a_list_that_the_server_does_not_send_is_an_error(
    action: str, method: str, kind: str, define: Define, capsys: pytest.CaptureFixture[str]
) -> None:
    define(script=stdio_command("--error", method))
    assert main(["mcp", action]) == 1
    out, err = capsys.readouterr()
    assert f"no {action}" not in out
    assert f"script could not list its {kind}: " in err


def test_the_list_shows_when_a_server_was_tested(script: None, capsys: pytest.CaptureFixture[str]) -> None:
    main(["mcp", "test", "script"])
    capsys.readouterr()
    assert main(["mcp", "list"]) == 0
    assert ": connected, 17 tools, 2 prompts, 2 resources" in capsys.readouterr().out
    assert main(["mcp", "list", "--json"]) == 0
    (server,) = json.loads(capsys.readouterr().out)["servers"]
    assert (server["tested"]["tools"], server["given"], server["used"]) == (17, None, None)


def test_the_log_shows_calls_and_stderr(define: Define, capsys: pytest.CaptureFixture[str]) -> None:
    define(script=stdio_command("--stderr", "warm\x1b[0m up"))
    main(["mcp", "call", "script", "echo", '{"text": "hi"}'])
    capsys.readouterr()
    assert main(["mcp", "log", "script"]) == 0
    out = capsys.readouterr().out
    assert "stderr  warm␛[0m up" in out
    assert 'echo {"text": "hi"} → hi (' in out


def test_a_log_that_does_not_exist(script: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "log", "script"]) == 0
    assert 'There is no log of an MCP server "script".' in capsys.readouterr().err
    assert main(["mcp", "log", "scrip"]) == 2
    assert 'There is no MCP server "scrip"; did you mean script?' in capsys.readouterr().err


def test_servers_of_one_name_in_two_files_have_their_own_logs(
    define: Define, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    define(script=stdio_command("--stderr", "from the settings"))
    command, *args = stdio_command("--stderr", "from the file")
    file = tmp_path / "other.json"
    file.write_text(json.dumps({"mcpServers": {"script": {"command": command, "args": args}}}))
    option = ["--mcp-config", str(file)]
    main(["mcp", "test", "script"])
    main(["mcp", "test", "script", *option])
    capsys.readouterr()
    for words, text, other in (
        ([], "from the settings", "from the file"),
        (option, "from the file", "from the settings"),
    ):
        assert main(["mcp", "log", "script", *words]) == 0
        out = capsys.readouterr().out
        assert text in out
        assert other not in out
    define()
    assert main(["mcp", "log", "script"]) == 0  # of a server that is no longer defined
    assert "from the file" in capsys.readouterr().out


def test_the_time_for_connecting_is_a_setting(define: Define, capsys: pytest.CaptureFixture[str]) -> None:
    command, *args = stdio_command("--mute")
    define(script={"command": command, "args": args, "connect_timeout": 0.4})
    assert main(["mcp", "test", "script"]) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert "did not answer within 0.4 s (the connect timeout; set `connect_timeout` in its definition" in out


def test_the_log_is_cut_to_its_last_records(script: None, capsys: pytest.CaptureFixture[str]) -> None:
    main(["mcp", "call", "script", "echo", '{"text": "hi"}'])
    capsys.readouterr()
    for lines in (0, 1, 1000):
        assert main(["mcp", "log", "script", "--lines", str(lines)]) == 0
        assert len(capsys.readouterr().out.splitlines()) == min(lines, 2)
    with pytest.raises(SystemExit, match="2"):
        main(["mcp", "log", "script", "--lines", "-1"])
    assert "expected a number of records, got '-1'" in capsys.readouterr().err


def test_arguments_that_break_the_schema_are_reported_and_sent(
    script: None, server_log: ServerLog, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["mcp", "call", "script", "fail", '{"message": 3}'])
    assert (
        "acp-tui: The arguments do not match the schema of the tool fail: message must be text. "
        "They are sent nevertheless.\n"
    ) in capsys.readouterr().err
    assert server_log.calls() == [("fail", {"message": 3})]
    main(["mcp", "call", "script", "fail", '{"message": "three"}'])
    assert "schema" not in capsys.readouterr().err


def test_a_tool_is_called_although_the_server_does_not_list_its_tools(
    define: Define, capsys: pytest.CaptureFixture[str]
) -> None:
    define(script=stdio_command("--error", "tools/list"))
    assert main(["mcp", "call", "script", "echo", '{"text": "hello"}']) == 0
    assert capsys.readouterr() == ("hello\n", "")


def test_a_call_that_takes_long_says_what_it_waits_for(define: Define, tmp_path: Path) -> None:
    command, *args = stdio_command("--mute", "tools/call")
    define(script={"command": command, "args": args, "timeout": 30})
    with running("mcp", "call", "script", "echo", '{"text": "hello"}', cwd=tmp_path) as (process, _):
        assert process.stderr is not None
        assert process.stderr.readline() == (
            b"acp-tui: script has not answered the request to call echo yet; waiting for up to 30 s.\n"
        )
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130


def test_ctrl_c_cancels_a_call(define: Define, tmp_path: Path) -> None:
    define(script=stdio_command())
    arguments = json.dumps({"path": str(tmp_path / "never")})
    with running("mcp", "call", "script", "wait", arguments, cwd=tmp_path) as (process, _):
        assert process.stderr is not None
        assert process.stderr.readline() == b"acp-tui: 0 waiting\n"
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        assert b"Cancelled the call to the tool wait on the server script." in process.stderr.read()


def test_a_killed_call_leaves_no_server_behind(define: Define, tmp_path: Path) -> None:
    define(script=stdio_command("--stay"))
    arguments = json.dumps({"path": str(tmp_path / "never")})
    with running("mcp", "call", "script", "wait", arguments, cwd=tmp_path) as (process, mark):
        assert process.stderr is not None
        process.stderr.readline()
        process.kill()
        process.wait()
        wait_until(lambda: not processes_with(mark))
