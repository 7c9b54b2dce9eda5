"""Tool calls on the screen."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from acp_tui.entry_kinds.tool_call import starts_folded
from acp_tui.entry_labels import KIND_ICONS, OTHER_ICON, STATUS_ICONS
from acp_tui.session.state import Annotations, Content, Diff, Location, Session, TerminalRef, ToolCall
from acp_tui.text_format import format_duration
from acp_tui.ui.entries.tool_call import ToolCallBody
from tests.support.bodies import CWD, call, colour_of, context, lines, strips, terminal


def headline(entry: ToolCall, session: Session | None = None, width: int = 80, **other: object) -> str:
    return ToolCallBody(entry, context(session, width, **other)).line(0).text.rstrip()


# --------------------------------------------------------------------------- the first line


def test_the_headline_shows_icon_title_changed_lines_duration_and_status() -> None:
    edit = call(
        title="Edit login.py",
        kind="edit",
        status="completed",
        ended_at=100.8,
        content=[Diff(f"{CWD}/login.py", "a\nb\n", "a\nc\nd\n")],
    )
    line = headline(edit)
    assert line.startswith("▾ ✎ Edit login.py ")
    assert line.endswith(" +2  −1  0.8 s  ✔")
    assert cell_len(line) == 79


@pytest.mark.parametrize("sign", [*KIND_ICONS.values(), OTHER_ICON, *STATUS_ICONS.values()])
def test_every_icon_is_one_cell_wide(sign: str) -> None:
    assert cell_len(sign) == 1


@pytest.mark.parametrize(("status", "sign"), STATUS_ICONS.items())
def test_each_status_has_its_sign(status: str, sign: str) -> None:
    assert headline(call(title="x", status=status)).endswith(sign)


def test_an_unknown_status_is_shown_by_name() -> None:
    assert headline(call(title="x", status="paused")).endswith("paused")


def test_a_call_without_anything_to_unfold_has_no_fold_sign() -> None:
    assert headline(call(title="Fetch x", kind="fetch")).startswith("  ↧ Fetch x")
    assert headline(call(title="Fetch x", kind="fetch", raw_input={"url": "x"}), folded=True).startswith("▸")


def test_the_duration_of_a_running_call_comes_from_the_clock() -> None:
    now = [100.5]
    shown = ToolCallBody(call(title="x", status="in_progress"), context(clock=lambda: now[0]))
    assert " s " not in shown.line(0).text
    now[0] = 112.0
    assert shown.line(0).text.rstrip().endswith("12 s  ●")


def test_the_duration_of_a_finished_call_stays() -> None:
    assert " s" not in headline(call(title="x", status="completed"), clock=lambda: 500.0)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.84, "0.8 s"), (7, "7 s"), (42.4, "42 s"), (187, "3:07"), (3723, "1:02:03"), (59.7, "1:00")],
)
def test_durations_are_formatted_briefly(seconds: float, words: str) -> None:
    assert format_duration(seconds) == words


@pytest.mark.parametrize("title", ["app.py", "src/app.py", f"{CWD}/src/app.py"])
def test_a_title_that_only_names_a_file_gets_a_verb(title: str) -> None:
    entry = call(title=title, kind="edit", locations=[Location(f"{CWD}/src/app.py")])
    assert headline(entry).startswith(f"  ✎ Edit {title.removeprefix(f'{CWD}/')}")


@pytest.mark.parametrize(
    ("title", "kind"), [("app.py", "execute"), ("app.p", "edit"), ("Edit app.py", "edit")]
)
def test_other_titles_are_unchanged(title: str, kind: str) -> None:
    entry = call(title=title, kind=kind, locations=[Location(f"{CWD}/src/app.py")])
    assert f"{KIND_ICONS[kind]} {title}" in headline(entry)


def test_the_directory_of_a_command_is_not_listed_as_a_file() -> None:
    entry = call(title="make", kind="execute", locations=[Location(CWD), Location(f"{CWD}/Makefile")])
    shown = lines(ToolCallBody(entry, context()))
    assert any("↳ Makefile" in line for line in shown)
    assert not any(CWD in line for line in shown)


@pytest.mark.parametrize(
    ("title", "sent", "below"),
    [
        ("make all", {"command": "make all", "cwd": f"{CWD}/"}, []),
        ("Bash", {"command": "make all"}, ["$ make all"]),
        ("make all", {"command": "make all", "cwd": f"{CWD}/sub"}, ["$ make all  in sub"]),
    ],
)
def test_a_command_without_output_does_not_show_its_raw_input(
    title: str, sent: dict[str, str], below: list[str]
) -> None:
    running = call(title=title, kind="execute", status="in_progress", raw_input=sent)
    assert [line.strip() for line in lines(ToolCallBody(running, context()))[1:]] == below


def test_a_command_sent_only_as_text_is_shown_as_a_command() -> None:
    told = Content("text", text='{"command": "make all"}')
    asked = call(title="Bash", kind="execute", content=[Content("text", text="May I?"), told])
    assert [line.strip() for line in lines(ToolCallBody(asked, context()))[1:]] == ["$ make all", "May I?"]
    ended = call(title="Bash", kind="execute", status="completed", content=[told])
    assert '{"command": "make all"}' in lines(ToolCallBody(ended, context()))[-1]
    assert not any("$" in line for line in lines(ToolCallBody(ended, context())))


def test_the_verb_for_a_new_file_is_write() -> None:
    made = call(title="app.py", kind="edit", content=[Diff(f"{CWD}/app.py", None, "a\n")])
    assert "✎ Write app.py" in headline(made)


def test_raw_input_repeated_as_text_is_shown_once() -> None:
    text = Content("text", text='{"b": [1], "a": "x"}')
    asked = call(title="Ask", status="completed", raw_input={"a": "x", "b": [1]}, content=[text])
    bare = call(title="Ask", status="completed", raw_input={"a": "x", "b": [1]})
    assert lines(ToolCallBody(asked, context())) == lines(ToolCallBody(bare, context()))
    asked.content.append(Content("text", text="an answer"))
    assert [line.strip() for line in lines(ToolCallBody(asked, context()))[1:]] == ["an answer"]


def test_titles_are_shortened_at_the_end_and_paths_at_the_beginning() -> None:
    path = "/srv/data/" + "folder/" * 12 + "file.py"
    line = headline(call(title=f"Read {path}", kind="read", status="completed"), width=60)
    assert line.startswith("  ◇ Read …")
    assert "folder/file.py" in line
    words = headline(call(title="Look at " + "many things " * 10), width=60)
    assert words.startswith("  · Look at many")
    assert "…" in words


def test_facts_are_dropped_before_the_title_becomes_too_short() -> None:
    edit = call(title="Edit", kind="edit", ended_at=165.0, content=[Diff("a", "a\n" * 5000, "b\n" * 5000)])
    line = headline(edit, width=24)
    assert line.startswith("▾ ✎ Edit")
    assert cell_len(line) <= 24


def test_paths_in_titles_are_relative_except_in_commands() -> None:
    assert "Read src/a.py" in headline(call(title=f"Read {CWD}/src/a.py", kind="read"))
    assert f"cat {CWD}/a.py" in headline(call(title=f"cat {CWD}/a.py", kind="execute"))
    assert f"Read /other{CWD}/a.py" in headline(call(title=f"Read /other{CWD}/a.py", kind="read"))


def test_a_call_without_a_title_is_named_after_its_command_tool_or_kind() -> None:
    assert "ls -l" in headline(call(kind="execute", raw_input={"command": ["ls", "-l"]}))
    assert "lookup" in headline(call(name="lookup"))
    assert "switch mode" in headline(call(kind="switch_mode"))
    assert headline(call(title="`make all`", kind="execute")).startswith("  ❯ make all")


# --------------------------------------------------------------------------- folding


@pytest.mark.parametrize("kind", ["read", "search", "think", "fetch", "other", "switch_mode"])
def test_reading_calls_start_folded_unless_they_failed(kind: str) -> None:
    assert starts_folded(call(kind=kind, status="completed"))
    assert not starts_folded(call(kind=kind, status="failed"))


@pytest.mark.parametrize("kind", ["edit", "delete", "move", "execute"])
def test_editing_and_executing_calls_start_unfolded(kind: str) -> None:
    assert not starts_folded(call(kind=kind, status="completed"))


def test_calls_with_a_diff_or_a_terminal_start_unfolded() -> None:
    assert not starts_folded(call(content=[Diff("a", None, "b")]))
    assert not starts_folded(call(content=[TerminalRef("t")]))


def test_a_folded_call_is_one_line_with_the_number_of_changed_lines() -> None:
    edit = call(title="Edit", kind="edit", content=[Diff("a", None, "b\n")])
    shown = ToolCallBody(edit, context(folded=True))
    assert shown.height == 1
    assert "+1" in shown.line(0).text
    assert shown.line(0).text.startswith("▸")


def test_a_call_that_fails_requires_a_new_body() -> None:
    read = call(title="Read", kind="read", status="in_progress")
    shown = ToolCallBody(read, context(folded=True))
    assert shown.update()
    read.status = "failed"
    assert not shown.update()


# --------------------------------------------------------------------------- what it shows


def test_new_and_deleted_files_are_labelled() -> None:
    assert "new  +1" in headline(call(kind="edit", content=[Diff("a", None, "x\n")]))
    assert "deleted  −1" in headline(call(kind="edit", content=[Diff("a", "x\n", None)]))
    # The protocol wants a text, so what is deleted comes as an empty one.
    assert "deleted  −1" in headline(call(kind="delete", content=[Diff("a", "x\n", "")]))
    assert "now empty  −1" in headline(call(kind="edit", content=[Diff("a", "x\n", "")]))


def test_a_diff_has_a_heading_unless_the_title_names_its_file() -> None:
    one, two = Diff(f"{CWD}/src/a.py", None, "x\n"), Diff(f"{CWD}/src/b.py", None, "y\n")
    single = call(title="Edit a.py", kind="edit", content=[one])
    assert lines(ToolCallBody(single, context()))[1:] == ["     1 + x"]
    shown = lines(ToolCallBody(call(title="Edit a.py", kind="edit", content=[one, two]), context()))[1:]
    assert shown == ["    src/a.py  (new)", "     1 + x", "    src/b.py  (new)", "     1 + y"]


def test_the_line_numbers_of_a_snippet_begin_at_its_location() -> None:
    path = f"{CWD}/a.py"
    snippet = call(title="Edit a.py", kind="edit", content=[Diff(path, "old", "new")])
    snippet.locations = [Location(path, 120)]
    assert lines(ToolCallBody(snippet, context()))[1].strip() == "120 - old"
    whole = call(title="Edit a.py", kind="edit", content=[Diff(path, "a\nb\nc\nd\n", "a\nb\nc\nD\n", line=1)])
    whole.locations = [Location(path, 2)]
    assert lines(ToolCallBody(whole, context()))[1].strip() == "1   a"


def test_a_snippet_without_a_location_has_no_line_numbers() -> None:
    path = f"{CWD}/a.py"
    sent = {"file_path": path, "old_string": "old", "new_string": "new"}
    snippet = call(title="Edit a.py", kind="edit", content=[Diff(path, "old", "new")], raw_input=sent)
    assert [line.strip() for line in lines(ToolCallBody(snippet, context()))[1:]] == ["- old", "+ new"]
    snippet.locations = [Location(path, 1)]
    assert [line.strip() for line in lines(ToolCallBody(snippet, context()))[1:]] == ["1 - old", "1 + new"]


def test_files_that_nothing_else_names_are_listed() -> None:
    moved = call(title="Move a.py", kind="move")
    moved.locations = [Location(f"{CWD}/a.py"), Location(f"{CWD}/lib/b.py", 7), Location("/etc/hosts")]
    assert lines(ToolCallBody(moved, context()))[1:] == ["    ↳ lib/b.py:7", "    ↳ /etc/hosts"]
    outside = call(title="Read a.py", kind="read", status="failed")
    outside.locations = [Location("/etc/a.py")]
    assert lines(ToolCallBody(outside, context()))[1:] == ["    ↳ /etc/a.py"]
    many = call(title="Move files", kind="move")
    many.locations = [Location(f"{CWD}/{number}.py") for number in range(9)]
    assert lines(ToolCallBody(many, context()))[-1] == "    ▸ 4 more files"


def test_command_output_is_coloured_and_shows_its_end() -> None:
    text = "".join(f"line {number}\n" for number in range(30)) + "\x1b[31mfailed\x1b[0m\n"
    plain = text.replace("\x1b[31m", "").replace("\x1b[0m", "")
    content = Content("text", plain, coloured=text)
    shown = ToolCallBody(call(title="x", kind="execute", content=[content]), context())
    assert lines(shown)[1] == "    ▸ 19 more lines"
    assert lines(shown)[-1] == "    failed"
    assert colour_of(shown.line(shown.height - 1), "failed")[0] == "#111101"


def test_the_code_fence_around_command_output_is_removed() -> None:
    fenced = Content("text", "```console\n$ ls\na.py\n```")
    assert lines(ToolCallBody(call(title="x", kind="execute", content=[fenced]), context()))[1:] == [
        "    $ ls",
        "    a.py",
    ]


def test_the_text_of_a_file_is_not_markdown() -> None:
    text = Content("text", "# not a heading\n* not a list")
    assert lines(ToolCallBody(call(title="x", kind="read", content=[text]), context()))[1:] == [
        "    # not a heading",
        "    * not a list",
    ]


def test_the_reason_of_a_failure_is_prose() -> None:
    text = Content("text", "**Denied**")
    shown = ToolCallBody(call(title="x", kind="read", status="failed", content=[text]), context())
    assert lines(shown)[1:] == ["    Denied"]


def test_the_reason_of_a_failure_is_wrapped_between_words_even_in_a_code_fence() -> None:
    text = Content("text", f"```\n{'word ' * 20}\nsecond line\n```")
    shown = lines(ToolCallBody(call(title="x", kind="edit", status="failed", content=[text]), context()))
    assert [line.split() for line in shown[1:]] == [["word"] * 15, ["word"] * 5, ["second", "line"]]


def test_content_is_drawn_again_when_the_kind_becomes_known() -> None:
    entry = call(title="x", kind="edit", content=[Content("text", "**a**")])
    shown = ToolCallBody(entry, context())
    entry.kind = "execute"
    assert shown.update()
    assert lines(shown)[1:] == ["    **a**"]


def test_other_text_is_markdown() -> None:
    text = Content("text", "It is **done**.")
    entry = call(title="x", kind="think", content=[text])
    assert lines(ToolCallBody(entry, context()))[1:] == ["    It is done."]


def test_long_texts_are_truncated_except_in_the_full_view() -> None:
    text = Content("text", "".join(f"{number}\n" for number in range(100)))
    entry = call(title="x", kind="read", content=[text])
    assert lines(ToolCallBody(entry, context()))[-1] == "    ▸ 80 more lines"
    assert ToolCallBody(entry, context(full=True)).height == 101
    thought = call(title="x", kind="think", content=[Content("text", "word " * 5000)])
    assert ToolCallBody(thought, context()).height == 22
    assert ToolCallBody(thought, context(full=True)).height > 300


def test_omitted_lines_are_counted_even_if_others_wrap() -> None:
    text = "\n".join(["x" * 180] * 100)
    entry = call(kind="read", content=[Content("text", text=text)], status="completed")
    shown = lines(ToolCallBody(entry, context()))
    rows_per_line = [len(line.strip()) for line in shown[1:]].index(180 % len(shown[1].strip())) + 1
    assert shown[-1] == f"    ▸ {100 - 20 // rows_per_line} more lines"


def test_an_image_is_one_line_and_content_for_the_agent_only_is_mentioned() -> None:
    image = Content("image", data="AAAA", mime="image/png")
    secret = Content("text", "for you", annotations=Annotations(audience=("assistant",)))
    shown = lines(ToolCallBody(call(title="x", content=[image, secret]), context()))
    assert "image/png" in shown[1]
    assert "for the agent only" in shown[2]
    assert "for you" not in "".join(shown)


def test_without_content_raw_input_and_output_are_shown() -> None:
    entry = call(title="x", raw_input={"pattern": "a\x1bb", "n": 1}, raw_output=["ok"])
    assert lines(ToolCallBody(entry, context()))[1:] == [
        '    input  {"pattern": "a\\u001bb", "n": 1}',
        '    output  ["ok"]',
    ]


def test_large_and_deeply_nested_input_is_truncated() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    for value in (deep, {"text": "x" * 1_000_000}, list(range(100_000))):
        shown = lines(ToolCallBody(call(title="x", raw_input=value), context()))
        assert len(shown) < 20
        assert shown[-1] == "    ▸ more"


def test_empty_content_does_not_hide_the_input() -> None:
    entry = call(title="x", raw_input={"a": 1}, content=[Content("text", "\n"), TerminalRef("unknown")])
    assert lines(ToolCallBody(entry, context()))[1:] == ['    input  {"a": 1}']


def test_copying_gives_the_title_and_all_pieces() -> None:
    entry = call(title="Edit a", kind="edit", content=[Diff("a", "x\n", "y\n"), Content("text", "done")])
    for folded in (False, True):
        copied = ToolCallBody(entry, context(folded=folded)).copy_text()
        assert copied == "Edit a\n--- a\n+++ a\n-x\n+y\ndone"


# --------------------------------------------------------------------------- changes


def test_an_update_redraws_only_changed_pieces() -> None:
    session = Session(cwd=CWD)
    running = terminal(session, "one\n", command="make")
    diff = Diff("a.py", "x\n", "y\n", line=1)
    entry = call(session, title="make", kind="execute", content=[diff, TerminalRef("t")])
    shown = ToolCallBody(entry, context(session))
    before = strips(shown)
    running.output.append("two\n")
    assert shown.update()
    after = strips(shown)
    assert [line.text.strip() for line in after[-2:]] == ["one", "two"]
    assert after[2] is before[2]  # a line of the diff


def test_unchanged_content_is_not_drawn_again() -> None:
    entry = call(title="Edit a.py", kind="edit", content=[Diff("a.py", "x\n", "y\n", line=1)])
    shown = ToolCallBody(entry, context())
    before = strips(shown)
    entry.content = [Diff("a.py", "x\n", "y\n", line=1)]
    entry.status = "completed"
    assert shown.update()
    assert shown.line(2) is before[2]
    assert shown.line(0).text.rstrip().endswith("✔")


def test_replaced_content_is_drawn_again() -> None:
    entry = call(title="Edit a.py", kind="edit", content=[Diff("a.py", "x\n", "y\n", line=1)])
    shown = ToolCallBody(entry, context())
    entry.content = [Diff("a.py", "x\n", "y\nz\n", line=1), Content("text", "done")]
    assert shown.update()
    assert lines(shown)[-2:] == ["     2 + z", "    done"]
    assert "+2" in shown.line(0).text


def test_streamed_input_is_shown_as_it_grows() -> None:
    entry = call(title="x", raw_input={"a": 1})
    shown = ToolCallBody(entry, context())
    entry.raw_input = {"a": 12}
    assert shown.update()
    assert lines(shown)[1] == '    input  {"a": 12}'


@pytest.mark.parametrize("width", [20, 33, 80, 140])
def test_tool_calls_fit_the_width(width: int) -> None:
    session = Session(cwd=CWD)
    terminal(session, "x" * 500 + "漢字" * 100, command="make " * 30, cwd="/elsewhere", signal="SIGKILL")
    entry = call(
        session,
        title="Edit 漢字 " * 20,
        kind="edit",
        status="cancelled",
        ended_at=4000.0,
        content=[
            Diff(f"{CWD}/{'long/' * 40}a.py", "漢字\t" * 50, "漢字 " * 50),
            Diff("b", None, "x\n" * 60),
            TerminalRef("t"),
            Content("text", "漢字 word " * 100),
            Content("image", mime="image/png", uri="file:///" + "x" * 200),
        ],
    )
    entry.locations = [Location("/tmp/" + "y" * 200, 3)]
    for whole in (False, True):
        for strip in strips(ToolCallBody(entry, context(session, width, full=whole))):
            assert strip.cell_length <= width


def test_numbered_lines_of_a_file_are_not_joined() -> None:
    text = (
        "Tool: file_editor\nResult:\n[File README.md edited with 1 changes.]\n(content after edit)\n"
        " 1|# Sample\n 2|\n+3|omega\n 4|\n 5|last line\n[end of edit 1 / 1]"
    )
    edit = ToolCall(
        id=1, at=0, call_id="c", title="Edit README.md", kind="edit", content=[Content("text", text)]
    )
    shown = [line.strip() for line in lines(ToolCallBody(edit, context()))]
    assert "1|# Sample" in shown
    assert "+3|omega" in shown
    assert "5|last line" in shown
