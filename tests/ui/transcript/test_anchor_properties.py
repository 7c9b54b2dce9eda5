"""Properties: the top line of the viewport stays in place whatever changes around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from acp_tui.session.state import AgentMessage, Thought, ToolCall
from tests.support.looks import use_theme
from tests.support.talk import properties
from tests.ui.transcript.host import Host, Live, run

if TYPE_CHECKING:
    from textual.pilot import Pilot

few = settings(properties, max_examples=12)  # each of them is an app
WORDS = st.integers(1, 60)
ENTRIES = st.lists(
    st.tuples(st.sampled_from(["say", "think", "run", "edit"]), WORDS), min_size=3, max_size=25
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("scroll"), st.integers(-40, 40)),
        st.tuples(st.just("grow"), WORDS),
        st.tuples(st.just("add"), WORDS),
        st.tuples(st.just("change"), st.integers(0, 30)),
        st.tuples(st.just("fold"), st.integers(0, 30)),
        st.tuples(st.just("fold kind"), st.sampled_from([AgentMessage, Thought, ToolCall])),
        st.tuples(st.just("theme"), st.sampled_from(["dark", "light"])),
    ),
    max_size=12,
)


def build(entries: list[tuple[str, int]]) -> Live:
    """Return a conversation of entries of all heights, in which every line is unique."""
    talk = Live()
    talk.opened()
    talk.prompt("the first prompt")
    for number, (kind, size) in enumerate(entries):
        add(talk, kind, number, size)
    return talk


def add(talk: Live, kind: str, number: int, size: int) -> None:
    """Add one entry."""
    lines = [f"{kind} {number} line {line}" for line in range(size)]
    match kind:
        case "say":
            talk.says("\n\n".join(lines))
        case "think":
            talk.thinks("\n".join(lines))
        case "run":
            output = {"type": "content", "content": {"type": "text", "text": "\n".join(lines)}}
            talk.tool(f"run {number}", kind="execute", status="completed", content=[output])
        case "edit":
            diff = {
                "type": "diff",
                "path": f"/project/{number}.txt",
                "oldText": None,
                "newText": "\n".join(lines),
            }
            talk.tool(f"edit {number}", kind="edit", status="completed", content=[diff])


def step(app: Host, what: str, how: Any, count: int) -> None:
    """Change something in the conversation."""
    entries = app.talk.session.entries
    match what:
        case "grow":
            app.talk.says("".join(f"grown {count} {word}\n\n" for word in range(how)))
        case "add":
            add(app.talk, "run", 1000 + count, how)
        case "change":
            app.talk.tool_update(
                f"run {how % len(entries)}", title=f"changed {count}", rawOutput={"more": ["x"] * count}
            )
        case "theme":
            use_theme(app, how)
            app.view.apply_theme()
    app.show()


def assert_whole(app: Host) -> None:
    """Assert that the viewport shows the lines of the entries, each once and in order."""
    view = app.view
    y = view.scroll_offset.y
    assert 0 <= y <= max(0, view.entry_layout.total - view.size.height)
    for row, line in enumerate(app.lines()):
        if y + row >= view.entry_layout.total:
            assert line == ""
            continue
        place, inside = view.entry_layout.heights.at(y + row)
        block = view.entry_layout.blocks[place]
        assert block.body is not None, "only what is drawn is shown"
        inside -= block.gap
        assert line == (block.body.line(inside).text.rstrip() if inside >= 0 else "")


@few
@given(ENTRIES, STEPS)
def test_the_top_line_stays_in_place(entries: list[tuple[str, int]], steps: list[tuple[str, Any]]) -> None:
    async def check(app: Host, pilot: Pilot[None]) -> None:
        view = app.view
        for count, (what, how) in enumerate(steps):
            if what == "scroll":
                view.scroll_lines(how)
            elif what in ("fold", "fold kind"):
                if what == "fold":
                    view.toggle_fold(app.entry(how % len(app.talk.session.entries)))
                else:
                    view.toggle_kind(how)
            else:
                following, before = view.following, app.lines()
                held = view.entry_layout.total - view.size.height > view.scroll_offset.y
                step(app, what, how, count)
                if not following and held and what in ("grow", "add", "theme"):
                    assert app.lines()[0] == before[0]
                    assert [line for line in before if line][:3] == [line for line in app.lines() if line][:3]
                if following:
                    assert view.following
                    assert view.scroll_offset.y == max(0, view.entry_layout.total - view.size.height)
            assert_whole(app)
            await pilot.pause(0)

    run(check, build(entries))


@few
@given(ENTRIES, st.lists(st.integers(1, 15), min_size=1, max_size=15))
def test_scrolling_up_moves_all_lines_equally(entries: list[tuple[str, int]], steps: list[int]) -> None:
    async def check(app: Host, pilot: Pilot[None]) -> None:
        view = app.view
        for lines in steps:
            before = app.lines()
            view.scroll_lines(-lines)
            after = app.lines()
            if view.scroll_offset.y > 0:
                assert after[lines:] == before[: max(0, len(before) - lines)]
            assert_whole(app)

    run(check, build(entries))


@few
@given(ENTRIES, st.lists(st.tuples(st.integers(30, 100), st.integers(5, 30)), min_size=1, max_size=4))
def test_resizing_keeps_the_entry_at_the_top(
    entries: list[tuple[str, int]], sizes: list[tuple[int, int]]
) -> None:
    async def check(app: Host, pilot: Pilot[None]) -> None:
        app.view.scroll_lines(-20)
        for size in sizes:
            before = app.view.entry_layout.anchor_at(app.view.scroll_offset.y)
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert_whole(app)
            after = app.view.entry_layout.anchor_at(app.view.scroll_offset.y)
            assert before is not None
            assert after is not None
            at_the_end = app.view.scroll_offset.y >= app.view.entry_layout.total - app.view.size.height
            assert at_the_end or abs(after.index - before.index) <= 1

    run(check, build(entries))
