"""Without a screen, nothing that a folder defines is used unless `--trust-folder` says so."""

from __future__ import annotations

import json
from datetime import date
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.cli import main
from acp_tui.cli.project_trust import ProjectTrust
from acp_tui.config.agent_catalogue import Launch
from acp_tui.config.mcp import Server
from acp_tui.config.mcp_sources import read_project_servers
from acp_tui.config.paths import paths
from acp_tui.store.folder_trust import FolderTrust, ServerConsent
from tests.support.cli import execute, script, steps

if TYPE_CHECKING:
    from pathlib import Path

    from acp_tui.guarded_question import GuardedQuestion, StartAnswer

ASKED = steps(["report_params", "session/new"])
LEFT_OUT = "acp-tui: Left out because this folder is not trusted: the MCP server"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder that defines two servers."""
    directory = tmp_path / "project"
    directory.mkdir()
    servers = {
        "one": {"command": "/bin/sh", "args": ["${KEY:-x}"]},
        "two": {"url": "https://example.org/mcp"},
    }
    (directory / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    return directory


def given(out: str) -> list[str]:
    """Return the names of the servers that the agent reported."""
    return [server["name"] for server in json.loads(out)["mcpServers"]]


def answer(project: Path, name: str, *, allowed: bool) -> None:
    """Save an answer for a server as it is defined now."""
    [server] = [server for server in read_project_servers(project).servers if server.name == name]
    FolderTrust(paths().state).decide_server(project, name, ServerConsent(server.digest(), allowed))


def ask(project: Path, choices: list[int], own: list[Server] | None = None) -> tuple[Any, list[Any]]:
    """Answer the questions by the numbers of answers. Return the decisions and the questions."""
    trust = ProjectTrust(project, None, own or [])
    seen: list[GuardedQuestion[StartAnswer]] = []
    for question, choice in zip(trust.questions(), [*choices, 0, 0, 0], strict=False):
        seen.append(question)
        question.answers[choice].accept()
    return trust, seen


def names(servers: list[Server]) -> list[str]:
    return [server.name for server in servers]


# --------------------------------------------------------------------------- exec


def test_exec_gives_the_agent_no_server_of_the_folder_and_says_so(project: Path) -> None:
    done = execute(ASKED, cwd=project)
    assert given(done.out) == []
    assert done.err == f"{LEFT_OUT}s one, two (use --trust-folder).\n"


def test_exec_does_not_use_what_was_agreed_to_on_the_screen(project: Path) -> None:
    FolderTrust(paths().state).trust(project, trusted=True)
    answer(project, "one", allowed=True)
    assert given(execute(ASKED, cwd=project).out) == []


def test_trust_folder_uses_the_servers_and_names_them(project: Path) -> None:
    able = script(capabilities={"mcpCapabilities": {"http": True}})
    done = execute(ASKED, "--trust-folder", cwd=project, command=able)
    assert given(done.out) == ["one", "two"]
    assert done.err == "acp-tui: Given to the agent because of --trust-folder: the MCP servers one, two.\n"


def test_trust_folder_does_not_use_a_server_that_was_refused(project: Path) -> None:
    answer(project, "one", allowed=False)
    assert given(execute(ASKED, "--trust-folder", cwd=project).out) == ["two"]  # through the bridge


def test_an_own_server_is_not_replaced_by_one_that_is_left_out(project: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.json"
    own.write_text('{"mcpServers": {"one": {"command": "/bin/echo"}}}')
    done = execute(ASKED, "--mcp-config", str(own), cwd=project)
    assert json.loads(done.out)["mcpServers"] == [
        {"name": "one", "command": "/bin/echo", "args": [], "env": []}
    ]


def test_a_server_of_the_command_line_replaces_one_of_the_folder(project: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.json"
    own.write_text('{"mcpServers": {"one": {"command": "/bin/echo"}}}')
    done = execute(ASKED, "--mcp-config", str(own), "--trust-folder", cwd=project)
    commands = {server["name"]: server["command"] for server in json.loads(done.out)["mcpServers"]}
    assert commands["one"] == "/bin/echo"


def test_a_file_that_cannot_be_read_is_named_on_stderr(project: Path) -> None:
    (project / ".vscode").mkdir()
    (project / ".vscode" / "mcp.json").write_text("{")
    err = execute(ASKED, cwd=project).err
    assert err.startswith(f"acp-tui: {project}/.vscode/mcp.json:1: not valid JSON: ")
    assert err.count("\n") == 2


def test_doctor_trusts_nothing_either(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["doctor", "--command", script(), "--cwd", str(project)])
    assert capsys.readouterr().err.startswith(f"{LEFT_OUT}s one, two")


def test_a_server_that_the_agent_reads_by_itself_is_neither_given_nor_asked_about(project: Path) -> None:
    launch = Launch("x", "Agent X", ["x"], project_mcp=(".mcp.json",))
    trust = ProjectTrust(project, launch, [])
    assert list(trust.questions()) == []
    trust.trust_all()
    assert trust.servers == []
    assert {left.reason for left in trust.withheld} == {"Agent X reads .mcp.json by itself"}


# --------------------------------------------------------------------------- questions


def test_a_server_is_asked_about_after_the_folder_is_trusted(project: Path) -> None:
    trust, asked = ask(project, [1, 1, 0])
    assert [question.title for question in asked] == [
        "Trust this folder?",
        'Use the MCP server "one"?',
        'Use the MCP server "two"?',
    ]
    assert names(trust.servers) == ["one"]
    assert [(left.server.name, left.reason) for left in trust.withheld] == [
        ("two", "you have not approved it")
    ]


def test_the_whole_definition_is_shown(project: Path) -> None:
    _, (_, one, two) = ask(project, [1])
    [server, _] = read_project_servers(project).servers
    assert dict(one.facts) == {
        "defined in": f"{project}/.mcp.json:1",
        "command": "/bin/sh '${KEY:-x}'",
        "digest": server.digest()[:12],
    }
    assert one.warnings == ("It gets the value of KEY from your environment.",)
    assert dict(two.facts)["address"] == "https://example.org/mcp"


def test_hidden_characters_and_gaps_in_a_definition_are_shown(project: Path) -> None:
    args = ["a\nb\x1b[31m\u202e", " " * 20 + "rm"]
    (project / ".mcp.json").write_text(
        json.dumps({"mcpServers": {"x": {"command": "/bin/sh", "args": args}}})
    )
    _, (_, question) = ask(project, [1])
    assert dict(question.facts)["command"] == f"/bin/sh 'a␊b␛[31m‹202e›' '{args[1]}'"
    assert question.warnings == (
        "Its definition contains control or invisible characters, shown as symbols.",
        "Its definition contains a long run of blanks. Check the text after it.",
    )


def test_files_of_the_folder_that_a_server_runs_are_named(project: Path) -> None:
    (project / "serve.py").touch(mode=0o755)
    servers = {
        "a": {"command": "./serve.py"},
        "b": {"command": "/bin/sh", "args": ["--file=${workspaceFolder}/serve.py", "x" * 300]},
        "c": {"command": "/bin/sh", "args": ["/etc/passwd", "gone.py"]},
    }
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    _, (_, *asked) = ask(project, [1])
    said = ("It runs files in this folder, which can change without your approval: serve.py.",)
    assert [question.warnings for question in asked] == [said, said, ()]


def test_a_program_is_used_as_it_was_found_for_the_question(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("good", "evil"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "tool").touch(mode=0o755)
    (project / ".mcp.json").write_text('{"mcpServers": {"x": {"command": "tool"}}}')
    monkeypatch.setenv("PATH", str(tmp_path / "good"))
    trust, (_, question) = ask(project, [1, 1])
    monkeypatch.setenv("PATH", str(tmp_path / "evil"))
    assert dict(question.facts)["program"] == f"{tmp_path}/good/tool"
    assert trust.servers[0].program == f"{tmp_path}/good/tool"


def test_a_refused_server_is_not_asked_about_again(project: Path) -> None:
    ask(project, [1, 2, 2])
    trust, asked = ask(project, [])
    assert asked == []
    assert {left.reason for left in trust.withheld} == {"you refused it"}


def test_all_remaining_servers_can_be_left_out_at_once(project: Path) -> None:
    trust, asked = ask(project, [1, 3])
    assert len(asked) == 2
    assert names(trust.servers) == []


def test_a_folder_that_is_never_trusted_asks_nothing(project: Path) -> None:
    ask(project, [2])
    trust, asked = ask(project, [])
    assert asked == []
    assert {left.reason for left in trust.withheld} == {"you have not trusted this folder"}


def test_a_server_that_replaces_an_own_one_says_so(project: Path, tmp_path: Path) -> None:
    own = Server("one", tmp_path / "config.toml", 3, command="/bin/echo")
    _, (_, question, _) = ask(project, [1], [own])
    assert f"It replaces your own server of the same name ({tmp_path}/config.toml:3)." in question.warnings


def test_a_server_that_is_configured_alike_is_not_asked_about(project: Path) -> None:
    own = read_project_servers(project).servers
    assert ask(project, [], own)[1] == []


def test_dates_in_own_settings_are_compared_too(project: Path, tmp_path: Path) -> None:
    own = Server("one", tmp_path / "config.toml", 3, command="x", extra={"since": date(2026, 1, 1)})
    assert len(ask(project, [1], [own])[1]) == 3


def test_of_two_files_with_one_name_the_first_is_used(project: Path) -> None:
    (project / ".cursor").mkdir()
    other = {"mcpServers": {"one": {"command": "/bin/echo"}}}
    (project / ".cursor" / "mcp.json").write_text(json.dumps(other))
    trust, asked = ask(project, [1, 1])
    assert len(asked) == 3
    assert [(server.name, server.command) for server in trust.servers] == [("one", "/bin/sh")]
    assert trust.withheld[0].reason == f"{project}/.mcp.json:1 defines another server of that name"


def test_an_answer_that_cannot_be_saved_still_counts(project: Path) -> None:
    paths().state.parent.mkdir(parents=True, exist_ok=True)
    paths().state.write_text("a file")
    trust, _ = ask(project, [1, 1])
    assert names(trust.servers) == ["one"]


# --------------------------------------------------------------------------- acp-tui trust, acp-tui mcp


def test_trusted_folders_are_listed_and_forgotten(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ask(project, [1, 1, 2])
    monkeypatch.chdir(project)
    assert main(["trust"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"{project}\n    folder  trusted\n    server  one: allowed (digest ")
    assert "    server  two: refused" in out
    assert main(["trust", "forget"]) == 0
    assert main(["trust", "list"]) == 0
    assert capsys.readouterr().out == (
        f"Forgotten: your answers about {project}.\nNo folder has been trusted or refused.\n"
    )
    assert main(["trust", "forget"]) == 1


def test_mcp_list_says_what_was_agreed_to(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    main(["mcp"])
    assert capsys.readouterr().out.count("left out  you have not trusted this folder") == 2
    ask(project, [1, 1])
    main(["mcp"])
    out = capsys.readouterr().out
    assert "    sent     to every agent\n" in out
    assert "left out  you have not approved it" in out
