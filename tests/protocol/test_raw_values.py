"""Output, exit codes, titles and diff positions read from raw input and output."""

from __future__ import annotations

from typing import Any

import pytest

from acp_tui.entry_labels import call_title
from acp_tui.protocol.raw_values import read_command
from acp_tui.protocol.translator import fold
from acp_tui.protocol.updates import read_tool_call
from acp_tui.protocol.values import MAX_LENGTH
from acp_tui.session.diff_position import first_line
from acp_tui.session.state import Content, Diff, Session, Terminal, ToolCall
from tests.support.recordings import WIRELOGS, records
from tests.support.talk import Talk


def recorded(name: str) -> Session:
    return fold(records(next(path for path in WIRELOGS if path.stem == name)))


def calls(name: str) -> list[ToolCall]:
    return [entry for entry in recorded(name).entries if isinstance(entry, ToolCall)]


@pytest.fixture
def talk() -> Talk:
    conversation = Talk().opened()
    conversation.prompt()
    return conversation


# --------------------------------------------------------------------------- output and failure


def test_the_output_of_codex_is_read_from_raw_output() -> None:
    (call,) = calls("codex-zed-shell")
    output = call.content[-1]
    assert isinstance(output, Content)
    assert (output.text, output.coloured) == ("out\nred\n", "out\n\x1b[31mred\x1b[0m\n")
    assert (call.status, call.exit_code) == ("failed", 3)


@pytest.mark.parametrize("name", ["opencode-shell", "openhands-shell"])
def test_a_completed_command_with_an_exit_code_has_failed(name: str) -> None:
    (call,) = [call for call in calls(name) if call.kind == "execute"]
    assert (call.status, call.exit_code) == ("failed", 3)


@pytest.mark.parametrize(
    ("raw_output", "exit_code"),
    [
        ({"query": "false", "result": "", "success": False}, None),  # Cline
        ([{"query": "true", "success": True}, {"query": "false", "result": "", "success": False}], None),
        ('[{"query": "false", "result": "", "success": false}]', None),
        ({"content": "red\n<shellId: 0 completed with exit code 3>"}, 3),  # Copilot
        ("red\n<exited with exit code 3>\n", 3),
    ],
)
def test_a_completed_command_whose_output_reports_a_failure_has_failed(
    talk: Talk, raw_output: Any, exit_code: int | None
) -> None:
    talk.tool("t", kind="execute", status="completed", rawOutput=raw_output)
    call = talk.only(ToolCall)
    assert (call.status, call.exit_code) == ("failed", exit_code)


@pytest.mark.parametrize(
    "output",
    [
        "<shellId: 0 completed with exit code 0>",
        '{"success": false}',
        "it completed with exit code 3\nand then went on",
    ],
)
def test_a_command_that_only_mentions_an_exit_code_has_not_failed(talk: Talk, output: str) -> None:
    talk.tool("t", kind="execute", status="completed", rawOutput={"content": output})
    talk.tool("u", kind="execute", status="completed", rawOutput=output)
    assert [call.status for call in talk.all(ToolCall)] == ["completed", "completed"]


@pytest.mark.parametrize("name", ["opencode-slowshell", "qwen-always", "codex-zed-edit", "copilot-edit"])
def test_successful_calls_are_completed(name: str) -> None:
    assert {call.status for call in calls(name)} == {"completed"}


@pytest.mark.parametrize(
    ("raw_output", "text"),
    [
        ({"formatted_output": "a\n", "stdout": "b"}, "a\n"),
        ({"stdout": "a\n", "stderr": "b"}, "a\nb"),
        ({"metadata": {"output": "a"}}, "a"),
        ({"observation": {"content": [{"type": "text", "text": "a"}]}}, "a"),
        ({"error": {"message": "a"}}, "a"),
        ("a", "a"),
    ],
)
def test_output_is_read_from_any_known_field(talk: Talk, raw_output: Any, text: str) -> None:
    talk.tool("t", kind="execute")
    talk.tool_update("t", status="completed", rawOutput=raw_output)
    assert [item.text for item in talk.only(ToolCall).content if isinstance(item, Content)] == [text]


def test_content_is_preferred_to_raw_output(talk: Talk) -> None:
    content = [{"type": "content", "content": {"type": "text", "text": "better"}}]
    talk.tool("t", kind="execute", content=content)
    talk.tool_update("t", status="completed", rawOutput={"stdout": "raw"})
    assert talk.only(ToolCall).content == [Content("text", text="better")]


def test_raw_output_fills_an_empty_terminal(talk: Talk) -> None:
    info = {"terminal_info": {"terminal_id": "t", "cwd": "/w"}}
    ended = {"terminal_exit": {"terminal_id": "t", "exit_code": 0}}
    talk.tool("t", kind="execute", content=[{"type": "terminal", "terminalId": "t"}], _meta=info)
    talk.tool_update("t", status="completed", rawOutput={"formatted_output": "a\n"}, _meta=ended)
    assert talk.only(Terminal).output.head == "a\n"
    assert len(talk.only(ToolCall).content) == 1


def test_a_search_with_exit_code_1_has_not_failed(talk: Talk) -> None:
    talk.tool("t", kind="search")
    talk.tool_update("t", status="completed", rawOutput={"exitCode": 1})
    assert talk.only(ToolCall).status == "completed"


# --------------------------------------------------------------------------- titles, paths, commands


@pytest.mark.parametrize(
    ("name", "titles"),
    [
        ("pi-read", ["read README.md"]),
        ("pi-edit", ["read README.md", "edit README.md", "write NOTES.md"]),
        ("fast-agent-read", ["read_text_file README.md"]),
        ("copilot-edit", ["Viewing README.md", "Editing README.md", "Creating NOTES.md"]),
        ("codex-edit", ["Editing files", "Editing files"]),
        ("qwen-always", ["touch one", "Shell: touch two"]),
    ],
)
def test_titles_name_the_file_and_ignore_the_permission_title(name: str, titles: list[str]) -> None:
    assert [call_title(call, "/ws/project") for call in calls(name)] == titles


def test_the_permission_title_is_kept_separately() -> None:
    assert [call.permission_title for call in calls("codex-edit")] == ["Edit files", "Edit files"]


@pytest.mark.parametrize(
    ("raw_command", "command"),
    [
        (["/bin/bash", "-lc", "touch a; echo b"], "touch a; echo b"),
        (["git", "commit", "-m", "two words"], "git commit -m 'two words'"),
        ("make all", "make all"),
    ],
)
def test_a_command_is_shown_as_a_shell_line(talk: Talk, raw_command: Any, command: str) -> None:
    talk.tool("t", kind="execute", rawInput={"command": raw_command})
    assert talk.only(ToolCall).command == command


# --------------------------------------------------------------------------- positions of diffs


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("codex-zed-edit", [2, 1]),
        ("copilot-edit", [3, 1]),
        ("codex-edit", [0, 1]),  # without a position: the client searches the file
        ("opencode-edit", [1, 1]),
        ("claude-code-edit", [1, 1]),
    ],
)
def test_diffs_take_their_line_numbers_from_the_patches(name: str, lines: list[int]) -> None:
    found = [
        first_line(call, item) for call in calls(name) for item in call.content if isinstance(item, Diff)
    ]
    assert found == lines


def test_contradicting_patches_give_no_line_number(talk: Talk) -> None:
    patches = ["@@ -3,1 +3,1 @@\n-alpha\n+omega\n", "@@ -9,1 +9,1 @@\n-alpha\n+omega\n"]
    diff = {"type": "diff", "path": "/w/a", "oldText": "alpha", "newText": "omega"}
    talk.tool("t", kind="edit", content=[diff], rawInput={"patches": patches})
    call = talk.only(ToolCall)
    assert [first_line(call, item) for item in call.content if isinstance(item, Diff)] == [0]


def test_a_command_of_5_mb_is_shortened() -> None:
    command = read_command({"command": "\x07" * 5_000_000})
    assert command is not None
    assert len(command) < MAX_LENGTH + 100
    assert command.endswith("4,900,000 more characters")


def test_a_command_of_a_million_words_is_shortened() -> None:
    assert (read_command({"command": ["a"] * 1_000_000}) or "").endswith("a … 990,000 more words")


def test_a_title_of_5_mb_is_shortened() -> None:
    title = read_tool_call({"title": "t" * 5_000_000}, "call").title
    assert title is not None
    assert title.endswith("4,900,000 more characters")
