"""A session as plain text is complete, in order and safe for a terminal."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from acp_tui.cli.recordings import transcript_lines
from acp_tui.diffing.patch import diff_lines
from acp_tui.entry_kinds.blocks import (
    Aside,
    Block,
    Code,
    FileList,
    FoldBlock,
    Headline,
    Link,
    MarkdownText,
    PlainText,
    SectionBlock,
    Speech,
    TerminalBlock,
)
from acp_tui.entry_kinds.plain_text import MAX_OUTPUT_LINES, text_lines
from acp_tui.session import state
from acp_tui.session.growing_text import GrowingText
from acp_tui.session.terminal_text import TerminalText
from tests.support.talk import Talk

NO_END = "\\ No newline at end of file"


def session(*entries: state.Entry) -> state.Session:
    made = state.Session(entries=list(entries))
    for entry in entries:
        if isinstance(entry, state.ToolCall):
            made.tool_calls[entry.call_id] = entry
            for item in entry.content:
                if isinstance(item, state.TerminalRef):
                    made.terminal_calls[item.terminal_id] = entry
        if isinstance(entry, state.Terminal):
            made.terminals[entry.terminal_id] = entry
    return made


def text(*entries: state.Entry, thoughts: bool = False) -> str:
    return "\n".join(transcript_lines(session(*entries), thoughts=thoughts)).rstrip("\n")


def message(kind: type[state.Message], *parts: Any) -> state.Message:
    return kind(id=1, at=0, parts=[GrowingText(part) if isinstance(part, str) else part for part in parts])


def test_messages_are_printed_in_order() -> None:
    shown = text(
        message(state.UserMessage, "Hello\n\nagent"),
        message(state.AgentMessage, "Hi ", "there"),
        state.TurnEnd(id=3, at=0, stop_reason="end_turn"),
    )
    assert shown == "> Hello\n>\n> agent\n\nHi there\n\n-- end_turn --"


def test_thoughts_are_counted_or_shown() -> None:
    thought = message(state.Thought, "one\ntwo")

    assert text(thought) == ". thought, 2 lines"
    assert text(thought, thoughts=True) == ". one\n. two"
    assert text(message(state.Thought)) == ""


def test_other_content_is_described() -> None:
    image = state.Content(kind="image", data="AAAA", mime="image/png")
    link = state.Content(kind="resource_link", name="a.py", uri="file:///a.py", size=7)
    file = state.Content(kind="resource", uri="file:///b.py", text="import os\n")
    new = state.Content(kind="hologram", raw={"depth": 3})

    assert text(message(state.UserMessage, "See", image, link, file)).splitlines() == [
        "> See",
        "> [image: image/png, 3 bytes]",
        ">",
        "> [resource_link: a.py, file:///a.py, 7 bytes]",
        ">",
        "> [resource: file:///b.py]",
        ">     import os",
    ]
    assert '"depth": 3' in text(message(state.AgentMessage, new))


def test_content_for_the_agent_only_is_counted() -> None:
    part = state.AnnotatedText(state.Annotations(audience=("assistant",)))
    part.append("a\nb")

    assert text(message(state.AgentMessage, "Hi", part)) == "Hi\n[for the agent only: 2 lines]"


def test_a_tool_call_lists_its_files_and_diffs() -> None:
    call = state.ToolCall(
        id=1,
        at=0,
        call_id="c",
        title="Edit a.py",
        kind="edit",
        kind_given=True,
        status="completed",
        locations=[state.Location("/p/a.py", 3), state.Location("/p/b.py")],
        content=[
            state.Diff("/p/a.py", old="one\ntwo  \n", new="one\nthree  \n", line=1),
            state.Content(kind="text", text="done\n"),
        ],
    )
    assert text(call).split("\n") == [
        "* Edit a.py (completed, edit)",
        "  at /p/a.py:3",
        "  at /p/b.py",
        "    /p/a.py",
        "    @@ -1,2 +1,2 @@",
        "     one",
        "    -two  ",
        "    +three  ",
        "    done",
    ]


def test_a_tool_call_without_content_shows_its_raw_input_and_output() -> None:
    call = state.ToolCall(
        id=1,
        at=0,
        call_id="c",
        status="failed",
        raw_input={"cmd": "ls \x1b[2J"},
        title="ls \x1b[2J",
        raw_output="no\x9bl",
    )
    shown = text(call)

    assert shown.splitlines()[0] == "* ls ␛[2J (failed)"
    assert '"cmd": "ls \\u001b[2J"' in shown
    assert "no‹9b›l" in shown


def test_a_terminal_is_printed_once_with_its_last_lines() -> None:
    terminal = state.Terminal(id=1, at=0, terminal_id="t", command="make", cwd="/p", exit_code=2)
    terminal.output.append("".join(f"\x1b[31mline {number}\x1b[0m\r\n" for number in range(100)))
    call = state.ToolCall(id=2, at=0, call_id="c", title="Build", content=[state.TerminalRef("t")])

    lines = text(terminal, call).splitlines()
    assert lines[:3] == [
        "* Build (pending)",
        "    $ make  (in /p)",
        f"    … last {MAX_OUTPUT_LINES} lines:",
    ]
    assert lines[3:-1] == [f"    line {number}" for number in range(60, 100)]
    assert lines[-1] == "    [exit code 2]"
    assert text(terminal).startswith("$ make")


def test_a_tool_call_may_refer_to_an_unknown_terminal() -> None:
    call = state.ToolCall(id=2, at=0, call_id="c", title="Build", content=[state.TerminalRef("t")])
    assert "[terminal t, unknown]" in text(call)


def test_a_permission_request_shows_answer_source_and_reason() -> None:
    call = state.ToolCall(id=1, at=0, call_id="c", title="Run `ls`")
    yes = state.PermissionOption("y", "Yes", "allow_once")
    no = state.PermissionOption("n", "No", "reject_once")
    asked = state.Permission(id=2, at=0, request_id=1, call_id="c", options=[yes, no])
    assert "? Permission: Run `ls`: not answered (offered: Yes, No)" in text(call, asked)

    asked.outcome, asked.option, asked.by, asked.why = "selected", yes, "rule", "The rule “ls” allows it."
    assert text(call, asked).endswith(
        "? Permission: Run `ls`: Yes (allow_once), by rule\n  The rule “ls” allows it."
    )

    asked.outcome, asked.option = "cancelled", None
    assert "cancelled, by rule" in text(call, asked)
    asked.outcome, asked.answerable = None, False
    assert "cannot be answered" in text(call, asked)


@pytest.mark.parametrize(
    ("entry", "shown"),
    [
        (
            state.Plan(
                id=1,
                at=0,
                items=[
                    state.PlanItem("a", "completed"),
                    state.PlanItem("b", "in_progress"),
                    state.PlanItem("c"),
                    state.PlanItem("d", "blocked"),
                ],
            ),
            "Plan\n  [x] a\n  [~] b\n  [ ] c\n  [blocked] d",
        ),
        (
            state.Plan(id=1, at=0, markdown="# Do\nit", uri="file:///plan"),
            "Plan\n  # Do\n  it\n  file:///plan",
        ),
        (state.Plan(id=1, at=0), "Plan cleared"),
        (state.Plan(id=1, at=0, removed=True), "Plan removed"),
        (state.Notice(id=1, at=0, level="warning", text="Careful", detail="a\nb"), "! Careful\n    a\n    b"),
        (
            state.Notice(id=1, at=0, text="Late", stray=True),
            "~ arrived outside a turn, or after the turn was stopped:\n- Late",
        ),
        (
            state.Notice(id=1, at=0, text="No", withdrawn=True),
            "~ no longer in the agent's context:\n- No",
        ),
        (
            state.TurnEnd(id=1, at=0, error=state.RpcError(-32603, "Broken", detail="at 3")),
            "!! The turn failed: Broken (-32603)\n    at 3",
        ),
        (
            state.TurnEnd(id=1, at=0, error=state.RpcError(0, "The agent exited with code 3")),
            "!! The turn failed: The agent exited with code 3",
        ),
        (state.TurnEnd(id=1, at=0, stop_reason="end_turn", empty=True), "-- end_turn: no answer --"),
        (
            state.Elicitation(id=1, at=0, request_id=1, mode="url", message="Sign in", url="https://x/"),
            "? Question (url): Sign in\n  https://x/\n  not answered",
        ),
        (
            state.Compaction(id=1, at=0, compaction_id="c", status="completed", parts=[GrowingText("short")]),
            "- The agent: compacted the context\n    short",
        ),
        (
            state.Unrecognised(id=1, at=0, what="session update 'x'", raw={"a": 1}),
            "- Not recognised: session update 'x'\n    {\n      \"a\": 1\n    }",
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, state.Entry) else "",
)
def test_other_kinds_are_printed_as_text(entry: state.Entry, shown: str) -> None:
    assert text(entry) == shown


@pytest.mark.parametrize(
    ("block", "shown"),
    [
        (Speech("user", [PlainText("a\n\nb")]), ["> a", ">", "> b"]),
        (Speech("agent", [MarkdownText("a "), MarkdownText("b"), Link("https://x/")]), ["a b", "https://x/"]),
        (
            FoldBlock(Headline("Look", facts=["3 s", "done"]), [Code("a\nb", label="input")], folded=True),
            ["- Look (3 s, done)", "    input:", "    a", "    b"],
        ),
        (SectionBlock("Files", [FileList(["a.py:3", "b.py"])]), ["Files", "  a.py:3", "  b.py"]),
        (SectionBlock("", [TerminalBlock(TerminalText(), "$ ls", "exit code 0")]), ["$ ls", "[exit code 0]"]),
        (Aside("error", "✘", "Broken", "at 3\nat 4"), ["!! Broken", "    at 3", "    at 4"]),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, tuple) else "",
)
def test_a_kind_of_entry_without_a_text_of_its_own_is_printed_from_its_blocks(
    block: Block, shown: list[str]
) -> None:
    assert list(text_lines([block])) == shown


KINDS = [kind for kind in vars(state).values() if isinstance(kind, type) and issubclass(kind, state.Entry)]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in (state.Entry, state.Message)])
def test_every_kind_of_entry_can_be_printed_without_its_optional_fields(kind: type[state.Entry]) -> None:
    given: dict[str, Any] = {
        field.name: "x"
        for field in dataclasses.fields(kind)
        if field.default is field.default_factory is dataclasses.MISSING
    }
    parts = {"call": state.ToolCall(id=2, at=0, call_id="c"), "session": state.Session()}
    given |= {name: part for name, part in parts.items() if name in given}
    lines = list(transcript_lines(session(kind(**given | {"id": 1, "at": 0}))))
    assert not [line for line in lines if "could not be drawn" in line]
    is_empty_message = issubclass(kind, state.Message) and kind is not state.SessionMessage
    assert bool(lines) is not is_empty_message


def test_very_large_files_show_what_is_between_their_common_ends() -> None:
    old = [f"line {number}" for number in range(3000)]
    new = [*old[:1000], "new", *old[1002:]]
    diff = state.Diff("/x", old="\n".join(old), new="\n".join(new))

    assert diff_lines(diff) == ["@@ -1001,2 +1001,1 @@", "-line 1000", "-line 1001", "+new"]


def test_new_deleted_and_patched_files_have_hunk_headers() -> None:
    assert diff_lines(state.Diff("/x", old=None, new="a\n")) == ["@@ -0,0 +1 @@", "+a"]
    assert diff_lines(state.Diff("/x", old="a\n", new=None)) == ["@@ -1 +0,0 @@", "-a"]
    assert diff_lines(state.Diff("/x", old=None, new=None, patch="@@\n-a\n+b")) == ["@@", "-a", "+b"]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("a\n", "a", ["@@ -1 +1 @@", "-a", "+a", NO_END]),
        ("a", "a\n", ["@@ -1 +1 @@", "-a", NO_END, "+a"]),
        ("a", "b", ["@@ -1 +1 @@", "-a", "+b"]),
        ("a\n", "", ["@@ -1 +0,0 @@", "-a"]),
    ],
)
def test_a_changed_newline_at_the_end_is_shown(old: str, new: str, told: list[str]) -> None:
    assert diff_lines(state.Diff("/x", old=old, new=new)) == told


def test_a_changed_newline_at_the_end_of_a_very_large_file_is_shown() -> None:
    old = "".join(f"{number}\n" for number in range(3000))
    assert diff_lines(state.Diff("/x", old=old, new=old.removesuffix("\n")))[-2:] == ["+2999", NO_END]


def test_a_terminal_without_a_command_shows_its_id() -> None:
    talk = Talk().opened()
    talk.prompt()
    told = {"terminal_output": {"terminal_id": "toolu_1", "data": "out\n"}}
    talk.tool("toolu_1", title="Run", content=[{"type": "terminal", "terminalId": "toolu_1"}], _meta=told)
    assert "    [terminal toolu_1]" in list(transcript_lines(talk.session))
    talk.tool_update("toolu_1", rawInput={"command": "make all"})
    assert "    $ make all" in list(transcript_lines(talk.session))
