"""Terminals on the screen."""

from __future__ import annotations

import pytest

from acp_tui.entry_labels import terminal_command
from acp_tui.session import events as ev
from acp_tui.session.reduce import reduce
from acp_tui.session.state import Content, Session, TerminalRef
from acp_tui.session.terminal_text import MAX_KEPT_PER_END, TerminalText
from acp_tui.ui.entries.terminal import TAIL_LINES, body
from acp_tui.ui.entries.tool_call import ToolCallBody
from tests.support.bodies import CWD, call, colour_of, context, lines, terminal


def numbered(first: int, last: int) -> str:
    return "".join(f"line {number}\n" for number in range(first, last))


def test_the_headline_shows_command_result_and_duration() -> None:
    session = Session(cwd=CWD)
    entry = terminal(session, "oops\n", command="make test", cwd=CWD, exit_code=2, ended_at=103.5)
    first, second = lines(body(entry, context(session)))
    assert first.startswith("▾ ❯ make test ")
    assert first.endswith("exit 2  3.5 s  ✘")
    assert second == "    oops"


@pytest.mark.parametrize(
    ("command", "seen"),
    [
        (f"/bin/bash -c 'cd {CWD} && make test'", "make test"),
        (f"""/bin/bash -c 'cd '"'"'{CWD}'"'"' && make "all"'""", 'make "all"'),
        ("bash -lc 'make && make install'", "make && make install"),
        ("sh -c 'cd /elsewhere && make'", "cd /elsewhere && make"),
        ("sh -c 'make' and more", "sh -c 'make' and more"),
        ("sh -c 'make", "sh -c 'make"),
        ("bash script.sh", "bash script.sh"),
    ],
)
def test_a_shell_wrapper_is_not_shown(command: str, seen: str) -> None:
    assert terminal_command(terminal(Session(cwd=CWD), command=command), CWD) == seen


def test_a_signal_is_shown_and_exit_code_zero_is_not() -> None:
    session = Session(cwd=CWD)
    killed = terminal(session, command="a", signal="SIGKILL", ended_at=100.0)
    assert lines(body(killed, context(session)))[0].endswith("SIGKILL  ✘")
    good = terminal(session, command="b", exit_code=0, ended_at=100.0)
    assert "exit" not in lines(body(good, context(session)))[0]


def test_a_directory_other_than_the_sessions_is_shown() -> None:
    session = Session(cwd=CWD)
    inside = terminal(session, command="make", cwd=f"{CWD}/sub")
    assert "make  in sub" in lines(body(inside, context(session)))[0]
    outside = terminal(session, command="make", cwd="/etc")
    assert "make  in /etc" in lines(body(outside, context(session)))[0]
    here = terminal(session, command="make", cwd=f"{CWD}/")
    assert " in " not in lines(body(here, context(session)))[0]


def test_the_last_lines_and_the_number_of_earlier_ones_are_shown() -> None:
    session = Session(cwd=CWD)
    shown = lines(body(terminal(session, numbered(0, 100), command="x"), context(session)))
    assert shown[1] == f"    ▸ {100 - TAIL_LINES} more lines"
    assert shown[2:] == [f"    line {number}" for number in range(100 - TAIL_LINES, 100)]


def test_the_full_view_shows_all_lines() -> None:
    session = Session(cwd=CWD)
    shown = body(terminal(session, numbered(0, 100), command="x"), context(session, full=True))
    assert shown.height == 101


def test_a_folded_terminal_is_one_line() -> None:
    session = Session(cwd=CWD)
    shown = lines(body(terminal(session, "out\n", command="x"), context(session, folded=True)))
    assert len(shown) == 1
    assert shown[0].startswith("▸ ❯ x")


def test_terminal_colours_come_from_the_theme() -> None:
    session = Session(cwd=CWD)
    output = "\x1b[32mgreen\x1b[0m \x1b[38;5;196mred\x1b[0m \x1b[48;2;1;2;3mback\x1b[0m\n"
    strip = body(terminal(session, output, command="x"), context(session)).line(1)
    assert colour_of(strip, "green") == ("#111102", None)
    assert colour_of(strip, "red") == ("#ff0000", None)
    assert colour_of(strip, "back") == (None, "#010203")


def test_a_progress_bar_is_drawn_in_place() -> None:
    session = Session(cwd=CWD)
    entry = terminal(session, "building\n10 %", command="x")
    shown = body(entry, context(session))
    assert lines(shown)[1:] == ["    building", "    10 %"]
    entry.output.append("\r55 %")
    assert shown.update()
    assert lines(shown)[1:] == ["    building", "    55 %"]
    entry.output.append("\r\x1b[Kdone\n")
    assert shown.update()
    assert lines(shown)[1:] == ["    building", "    done"]


def test_an_escape_sequence_may_be_split_between_chunks() -> None:
    session = Session(cwd=CWD)
    entry = terminal(session, "a\x1b[3", command="x")
    shown = body(entry, context(session))
    lines(shown)
    entry.output.append("1mb\n")
    assert shown.update()
    assert lines(shown)[1:] == ["    ab"]


def test_output_that_the_agent_sends_again_replaces_the_old_output() -> None:
    session = Session(cwd=CWD)
    entry = terminal(session, "one\ntwo\n", command="x")
    shown = body(entry, context(session))
    lines(shown)
    entry.output = TerminalText()
    entry.output.append("six\nten\n")  # as long as what was there
    assert shown.update()
    assert lines(shown)[1:] == ["    six", "    ten"]


def test_omitted_output_is_reported_once_and_the_end_is_correct() -> None:
    session = Session(cwd=CWD)
    entry = terminal(session, "first\n", command="x")
    shown = body(entry, context(session, full=True))
    lines(shown)
    line = "y" * 99 + "\n"
    for _ in range(4 * MAX_KEPT_PER_END // len(line)):
        entry.output.append(line)
    entry.output.append("last\n")
    assert shown.update()
    seen = lines(shown)
    assert seen[1] == "    first"
    assert seen[-1] == "    last"
    assert sum("characters omitted" in text for text in seen) == 1


def test_memory_for_a_flood_is_limited() -> None:
    session = Session(cwd=CWD)
    entry = terminal(session, "first\n", command="x")
    shown = body(entry, context(session, full=True))
    heights = []
    for _ in range(4):
        for _ in range(4 * MAX_KEPT_PER_END // 100):
            entry.output.append("y" * 99 + "\n")
        shown.update()
        heights.append(shown.height)
    assert heights[1:] == heights[:1] * 3
    assert lines(shown)[1] == "    first"
    gaps = [line for line in lines(shown) if "characters omitted" in line]
    assert len(gaps) == 1
    left_out = int(gaps[0].split()[1].replace(",", ""))
    copied = shown.copy_text().removeprefix("$ x\n").replace(gaps[0].strip() + "\n", "")
    assert abs(left_out + len(copied) - entry.output.total) <= 2  # line ends beside the gap and at the end


def test_the_last_lines_of_long_output_are_correct() -> None:
    session = Session(cwd=CWD)
    entry = terminal(session, command="x")
    shown = body(entry, context(session))
    for first in range(0, 100_000, 10_000):
        entry.output.append(numbered(first, first + 10_000))
        assert shown.update()
    assert lines(shown)[1] == f"    ▸ {100_000 - TAIL_LINES:,} more lines"
    assert lines(shown)[-1] == "    line 99999"


def test_a_long_line_is_wrapped() -> None:
    session = Session(cwd=CWD)
    shown = lines(body(terminal(session, "x" * 100 + "\n", command="x"), context(session, 60)))
    assert shown[1:] == ["    " + "x" * 56, "    " + "x" * 44]


def test_a_line_of_which_only_the_end_is_shown_counts_as_hidden() -> None:
    session = Session(cwd=CWD)
    shown = lines(body(terminal(session, "x" * 5_000 + "\n", command="x"), context(session, 60)))
    assert shown[1] == "    ▸ 1 more line"
    assert len(shown) == TAIL_LINES + 2


def test_copying_gives_all_output_without_colours() -> None:
    session = Session(cwd=CWD)
    entry = terminal(session, numbered(0, 20) + "\x1b[31mred\x1b[0m\n", command="x")
    for folded in (False, True):
        copied = body(entry, context(session, folded=folded)).copy_text()
        assert copied == "$ x\n" + numbered(0, 20) + "red"


# --------------------------------------------------------------------------- in a tool call


def test_a_terminal_shown_by_a_call_has_no_lines_of_its_own() -> None:
    session = Session(cwd=CWD)
    entry = terminal(session, "out\n", command="make")
    alone = body(entry, context(session))
    assert alone.height == 2
    assert alone.update()
    made = call(session, title="make", kind="execute", content=[TerminalRef("t")])
    assert not alone.update()  # another body takes its place
    assert body(entry, context(session)).height == 0
    assert "    out" in lines(ToolCallBody(made, context(session)))
    made.content = []  # the call shows something else now: the output must not be lost
    assert body(entry, context(session)).height == 2


def test_a_call_shows_the_command_unless_its_title_does() -> None:
    session = Session(cwd=CWD)
    terminal(session, "out\n", command="make all", cwd=CWD, exit_code=1)
    said = call(session, title="`make all`", kind="execute", content=[TerminalRef("t")])
    assert lines(ToolCallBody(said, context(session)))[1:] == ["    out"]
    assert "exit 1" in lines(ToolCallBody(said, context(session)))[0]
    unsaid = call(session, title="Build it", kind="execute", content=[TerminalRef("t")])
    assert lines(ToolCallBody(unsaid, context(session)))[1:] == ["    $ make all", "    out"]
    assert "exit 1" in lines(ToolCallBody(unsaid, context(session)))[0]


def test_a_command_too_long_for_the_title_is_shown_below_it() -> None:
    session = Session(cwd=CWD)
    command = "make " + " ".join(f"target-{number}" for number in range(20))
    terminal(session, "out\n", command=command, cwd=CWD)
    entry = call(session, title=command, kind="execute", content=[TerminalRef("t")])
    shown = lines(ToolCallBody(entry, context(session)))
    assert "…" in shown[0]
    assert "".join(line[6:].ljust(74) for line in shown[1:-1]).strip() == command
    script = "for i in 1 2; do\n\techo $i\ndone"
    entry = call(session, title="Loop", kind="execute", raw_input={"command": script})
    entry.content = [Content("text", "1\n2\n")]
    assert lines(ToolCallBody(entry, context(session)))[1:] == [
        "    $ for i in 1 2; do",
        "          echo $i",
        "      done",
        "    1",
        "    2",
    ]


def test_a_very_long_command_is_truncated_except_in_the_full_view() -> None:
    entry = call(title="Run", kind="execute", raw_input={"command": "x\n" * 50 + "y"})
    entry.content = [Content("text", "out")]
    assert lines(ToolCallBody(entry, context()))[-2:] == ["      ▸ 45 more lines", "    out"]
    assert lines(ToolCallBody(entry, context(full=True)))[-2:] == ["      y", "    out"]


def test_a_call_shows_the_directory_of_a_command_that_runs_elsewhere() -> None:
    session = Session(cwd=CWD)
    terminal(session, "out\n", command="make", cwd="/etc")
    made = call(session, title="make", kind="execute", content=[TerminalRef("t")])
    assert lines(ToolCallBody(made, context(session)))[1] == "    $ make  in /etc"


def test_the_session_knows_which_call_shows_a_terminal() -> None:
    session = Session(cwd=CWD)
    reduce(session, ev.TerminalCreated("t", command="make"), 1.0)
    changes = reduce(session, ev.ToolCallChanged("c", announced=True, content=[TerminalRef("t")]), 2.0)
    made = session.tool_calls["c"]
    assert session.terminal_calls["t"] is made
    assert [change.entry for change in changes] == [made, session.terminals["t"]]
    again = reduce(session, ev.ToolCallChanged("c", content=[TerminalRef("t")]), 3.0)
    assert [change.entry for change in again] == [made]
