"""What agents say only in raw values is read for all of them."""

from __future__ import annotations

from typing import Any

import pytest

from acp_tui.entry_labels import call_title
from acp_tui.protocol.fold import fold
from acp_tui.protocol.raw_values import read_command
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


def test_the_output_of_codex_is_read_from_its_raw_output() -> None:
    (call,) = calls("codex-zed-shell")
    output = call.content[-1]
    assert isinstance(output, Content)
    assert (output.text, output.coloured) == ("out\nred\n", "out\n\x1b[31mred\x1b[0m\n")
    assert (call.status, call.exit_code) == ("failed", 3)


@pytest.mark.parametrize("name", ["opencode-shell", "openhands-shell"])
def test_a_failed_command_that_the_agent_calls_completed_has_failed(name: str) -> None:
    (call,) = [call for call in calls(name) if call.kind == "execute"]
    assert (call.status, call.exit_code) == ("failed", 3)


@pytest.mark.parametrize("name", ["opencode-slowshell", "qwen-always", "codex-zed-edit", "copilot-edit"])
def test_what_went_well_is_not_called_failed(name: str) -> None:
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
def test_output_is_found_under_the_names_that_agents_use(talk: Talk, raw_output: Any, text: str) -> None:
    talk.tool("t", kind="execute")
    talk.tool_update("t", status="completed", rawOutput=raw_output)
    assert [item.text for item in talk.only(ToolCall).content if isinstance(item, Content)] == [text]


def test_better_output_is_kept(talk: Talk) -> None:
    content = [{"type": "content", "content": {"type": "text", "text": "better"}}]
    talk.tool("t", kind="execute", content=content)
    talk.tool_update("t", status="completed", rawOutput={"stdout": "raw"})
    assert talk.only(ToolCall).content == [Content("text", text="better")]


def test_output_goes_into_a_terminal_that_has_none(talk: Talk) -> None:
    info = {"terminal_info": {"terminal_id": "t", "cwd": "/w"}}
    ended = {"terminal_exit": {"terminal_id": "t", "exit_code": 0}}
    talk.tool("t", kind="execute", content=[{"type": "terminal", "terminalId": "t"}], _meta=info)
    talk.tool_update("t", status="completed", rawOutput={"formatted_output": "a\n"}, _meta=ended)
    assert talk.only(Terminal).output.head == "a\n"
    assert len(talk.only(ToolCall).content) == 1


def test_a_search_that_found_nothing_has_not_failed(talk: Talk) -> None:
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
def test_titles_name_the_file_and_stay_when_a_question_has_another(name: str, titles: list[str]) -> None:
    assert [call_title(call, "/ws/project") for call in calls(name)] == titles


def test_the_title_of_the_question_is_kept_beside_that_of_the_call() -> None:
    assert [call.permission_title for call in calls("codex-edit")] == ["Edit files", "Edit files"]


@pytest.mark.parametrize(
    ("given", "command"),
    [
        (["/bin/bash", "-lc", "touch a; echo b"], "touch a; echo b"),
        (["git", "commit", "-m", "two words"], "git commit -m 'two words'"),
        ("make all", "make all"),
    ],
)
def test_a_command_reads_as_it_would_be_typed(talk: Talk, given: Any, command: str) -> None:
    talk.tool("t", kind="execute", rawInput={"command": given})
    assert talk.only(ToolCall).command == command


# --------------------------------------------------------------------------- places of diffs


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("codex-zed-edit", [2, 1]),
        ("copilot-edit", [3, 1]),
        ("codex-edit", [0, 1]),  # it says nothing of the place: the client looks into the file
        ("opencode-edit", [1, 1]),
        ("claude-code-edit", [1, 1]),
    ],
)
def test_diffs_are_numbered_as_the_patches_beside_them(name: str, lines: list[int]) -> None:
    found = [
        first_line(call, item) for call in calls(name) for item in call.content if isinstance(item, Diff)
    ]
    assert found == lines


def test_patches_that_disagree_give_no_number(talk: Talk) -> None:
    patches = ["@@ -3,1 +3,1 @@\n-alpha\n+omega\n", "@@ -9,1 +9,1 @@\n-alpha\n+omega\n"]
    diff = {"type": "diff", "path": "/w/a", "oldText": "alpha", "newText": "omega"}
    talk.tool("t", kind="edit", content=[diff], rawInput={"patches": patches})
    call = talk.only(ToolCall)
    assert [first_line(call, item) for item in call.content if isinstance(item, Diff)] == [0]


def test_a_command_of_megabytes_is_cut_for_display() -> None:
    command = read_command({"command": "\x07" * 5_000_000})
    assert command is not None
    assert len(command) < MAX_LENGTH + 100
    assert command.endswith("4,900,000 more characters")


def test_a_command_of_very_many_words_is_cut_for_display() -> None:
    assert (read_command({"command": ["a"] * 1_000_000}) or "").endswith("a … 990,000 more words")


def test_a_title_of_megabytes_is_cut() -> None:
    title = read_tool_call({"title": "t" * 5_000_000}, "call").title
    assert title is not None
    assert title.endswith("4,900,000 more characters")
