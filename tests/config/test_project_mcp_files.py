"""MCP servers are read from the files of a project, which may be hostile."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.config.mcp import CannotSendError, check_sendable, environment_names, servers_for_agent
from acp_tui.config.mcp_sources import read_project_servers

if TYPE_CHECKING:
    from acp_tui.config.mcp import Server

FILES = [".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json", ".gemini/settings.json"]
ROOTS = dict.fromkeys(FILES, "mcpServers") | {".vscode/mcp.json": "servers"}


def write(project: Path, servers: Any, name: str = ".mcp.json") -> Path:
    """Write one file that defines servers."""
    file = project / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({ROOTS[name]: servers}))
    return file


def one(project: Path, entry: dict[str, Any], name: str = ".mcp.json") -> Server:
    """Return the only server of a project."""
    write(project, {"x": entry}, name)
    [server] = read_project_servers(project).servers
    return server


def sent(server: Server, **environ: str) -> dict[str, Any]:
    """Return what an agent would be given."""
    [found], left_out = servers_for_agent([server], "a", http=True, sse=True, environ=environ)
    assert left_out == []
    return found.server.for_agent()


def reason(server: Server) -> str:
    """Return why no agent would be given the server."""
    with pytest.raises(CannotSendError) as caught:
        check_sendable(server, "a")
    return str(caught.value)


def test_a_folder_without_these_files_defines_nothing(project: Path) -> None:
    found = read_project_servers(project)
    assert (found.servers, found.problems) == ([], [])


@pytest.mark.parametrize("name", FILES)
def test_each_file_is_read_with_its_own_key(project: Path, name: str) -> None:
    file = write(project, {"x": {"command": "sh"}}, name)
    [server] = read_project_servers(project).servers
    assert (server.name, server.origin, server.project) == ("x", f"{file}:1", project)


def test_settings_without_servers_are_no_problem(project: Path) -> None:
    file = project / ".gemini" / "settings.json"
    file.parent.mkdir()
    file.write_text('{"theme": "dark", // a comment\n}')
    assert read_project_servers(project).problems == []


def test_a_relative_program_is_relative_to_the_project(project: Path) -> None:
    program = project / "server.sh"
    program.touch(mode=0o755)
    server = one(project, {"command": "./server.sh"}, ".cursor/mcp.json")
    assert sent(server)["command"] == f"{project}/./server.sh".replace("/./", "/")


def test_variables_of_editors_stand_for_the_project(project: Path) -> None:
    args = ["${workspaceFolder}/a", "${workspaceFolderBasename}", "${userHome}", "a${/}b", "${env:KEY}"]
    server = one(project, {"command": "/bin/sh", "args": args}, ".vscode/mcp.json")
    assert sent(server, KEY="k")["args"] == [f"{project}/a", "project", str(Path.home()), "a/b", "k"]
    assert environment_names(server) == ["KEY"]


def test_an_input_of_an_editor_cannot_be_asked_for(project: Path) -> None:
    server = one(project, {"command": "sh", "env": {"KEY": "${input:key}"}}, ".vscode/mcp.json")
    assert reason(server) == "it needs ${input:key}, which only an editor like VS Code can ask for"


def test_gemini_may_write_variables_without_braces(project: Path) -> None:
    server = one(project, {"command": "/bin/sh", "env": {"KEY": "$KEY"}}, ".gemini/settings.json")
    assert sent(server, KEY="k")["env"] == [{"name": "KEY", "value": "k"}]


def test_all_variables_that_a_definition_reads_are_named(project: Path) -> None:
    server = one(
        project,
        {"url": "https://x/${A}?k=${env:B}", "headers": {"H": "${C:-none} ${A}"}, "env": {"E": "${D}"}},
    )
    assert environment_names(server) == ["A", "B", "C"]


# --------------------------------------------------------------------------- hostile files


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("{", ":1: not valid JSON: Expecting property name"),
        ("\udcff", " is not UTF-8 text"),
        ("[" * 100_000, " is nested too deeply"),
        ("x" * 1_000_001, " is not read: larger than 1 MB"),
    ],
)
def test_a_broken_file_is_one_sentence_and_others_are_read(
    project: Path, content: str, sentence: str
) -> None:
    write(project, {"x": {"command": "sh"}}, ".cursor/mcp.json")
    file = project / ".mcp.json"
    file.write_text(content, errors="surrogateescape")
    found = read_project_servers(project)
    assert [server.name for server in found.servers] == ["x"]
    [problem] = found.problems
    assert problem.startswith(f"{file}{sentence}")


@pytest.mark.parametrize(
    "text", ['"' + '\\"' * 450_000, "/* " * 300_000, '"' * 900_000, '{"a": ' * 900 + "1" + "}" * 900]
)
def test_a_file_made_to_be_slow_is_read_at_once(project: Path, text: str) -> None:
    (project / ".mcp.json").write_text(text)  # some of these took hours
    assert read_project_servers(project).servers == []


def test_a_pipe_is_not_opened(project: Path) -> None:
    os.mkfifo(project / ".mcp.json")
    assert read_project_servers(project).problems == [
        f"{project}/.mcp.json is not read: it is not a regular file."
    ]


def test_a_folder_in_place_of_a_file_is_reported(project: Path) -> None:
    (project / ".mcp.json").mkdir()
    (project / ".vscode").write_text("a file")
    assert read_project_servers(project).problems == [
        f"{project}/.mcp.json is not read: it is not a regular file."
    ]


@pytest.mark.parametrize("target", ["/etc/passwd", "../outside.json", "/dev/zero"])
def test_a_link_out_of_the_project_is_not_followed(project: Path, target: str) -> None:
    (project.parent / "outside.json").write_text('{"mcpServers": {"x": {"command": "sh"}}}')
    (project / ".mcp.json").symlink_to(target)
    found = read_project_servers(project)
    assert found.servers == []
    assert found.problems == [f"{project}/.mcp.json is not read: it is a link that leads out of the folder."]


def test_a_linked_folder_out_of_the_project_is_not_followed(project: Path) -> None:
    outside = project.parent / "outside"
    outside.mkdir()
    (outside / "mcp.json").write_text('{"mcpServers": {"x": {"command": "sh"}}}')
    (project / ".cursor").symlink_to(outside)
    assert read_project_servers(project).servers == []


def test_a_link_inside_the_project_is_followed(project: Path) -> None:
    write(project, {"x": {"command": "sh"}})
    (project / ".cursor").mkdir()
    (project / ".cursor" / "mcp.json").symlink_to("../.mcp.json")
    assert len(read_project_servers(project).servers) == 2


def test_a_loop_of_links_is_reported(project: Path) -> None:
    (project / ".mcp.json").symlink_to(".mcp.json")
    assert "Too many levels of symbolic links" in read_project_servers(project).problems[0]


@pytest.mark.parametrize("name", ["a\nb", "a\x1b[31m", "a\u202eb", "zero\u200bwidth", "", " ", "a" * 101])
def test_a_name_that_cannot_be_shown_is_a_fault(project: Path, name: str) -> None:
    write(project, {name: {"command": "sh"}})
    [server] = read_project_servers(project).servers
    assert "name" in reason(server)


@pytest.mark.parametrize("text", ["\ud800", "a\0b"])
@pytest.mark.parametrize("key", ["command", "args", "env"])
def test_text_that_cannot_be_sent_is_a_fault(project: Path, key: str, text: str) -> None:
    value: Any = {"command": text, "args": [text], "env": {text: "x"}}[key]
    server = one(project, {"command": "/bin/sh"} | {key: value})
    assert reason(server) == "its definition contains a NUL or an invalid character"


def test_a_definition_too_long_to_be_read_is_a_fault(project: Path) -> None:
    server = one(project, {"command": "sh", "args": ["-c", " " * 4_000 + "evil"]})
    assert reason(server) == "its definition has more than 4,000 characters"


def test_a_hostile_definition_makes_no_long_sentences(project: Path) -> None:
    long = "x" * 100_000
    write(project, {long: {"command": "sh"}, "a": {"command": long}, "b": {"env": {long: []}, "args": long}})
    assert all(len(server.name + reason(server)) < 300 for server in read_project_servers(project).servers)


@pytest.mark.parametrize("depth", [60, 300, 900, 980, 990])
def test_a_deeply_nested_definition_is_one_sentence(project: Path, depth: int) -> None:
    nested = '{"a": ' * depth + "1" + "}" * depth
    (project / ".mcp.json").write_text(f'{{"mcpServers": {{"x": {{"command": "sh", "extra": {nested}}}}}}}')
    assert read_project_servers(project).problems == [f"{project}/.mcp.json is nested too deeply."]


def test_too_many_servers_are_all_left_out(project: Path) -> None:
    write(project, {f"x{number}": {"command": "sh"} for number in range(21)})
    found = read_project_servers(project)
    assert found.servers == []
    assert found.problems == [f"{project} defines 21 MCP servers; none is used, because the limit is 20."]


def test_the_digest_is_of_the_definition_and_not_of_its_place(project: Path) -> None:
    entry = {"command": "sh", "env": {"A": "1"}, "timeout": 5}
    first = one(project, entry).digest()
    (project / ".mcp.json").unlink()
    assert one(project, entry, ".vscode/mcp.json").digest() == first
    (project / ".vscode" / "mcp.json").unlink()
    for change in ({"args": ["x"]}, {"env": {"A": "2"}}, {"timeout": 6}, {"command": "bash"}):
        assert one(project, entry | change).digest() != first
