"""Entries in the transcript: folding, the cursor, jumps, copying, links, search."""

from __future__ import annotations

from acp_tui.session import events as ev
from acp_tui.session.state import AgentMessage, Thought, ToolCall
from acp_tui.ui.theme.palette import current_palette
from acp_tui.ui.theme.themes import load_theme
from acp_tui.ui.transcript.transcript import Transcript
from acp_tui.ui.transcript.view import TranscriptView
from tests.ui.transcript.host import Host, Live, messages, shown

GONE = {"type": "content", "content": {"type": "text", "text": "gone"}}
OUTPUT = {"type": "content", "content": {"type": "text", "text": "some output\nmore of it"}}


def mixed() -> Live:
    """Return two turns with entries of most kinds."""
    talk = Live()
    talk.opened()
    first = talk.prompt("first prompt")
    talk.thinks("a deep thought\nof two lines")
    talk.says("an answer with [a link](http://example.org/page)\n\n```python\nx = 1\n```\n")
    talk.tool("run", kind="execute", title="Run it", status="failed", content=[OUTPUT])
    talk.end(first)
    second = talk.prompt("second prompt")
    talk.says("the last answer")
    talk.end(second)
    return talk


def wanted(app: Host) -> list[tuple[str, str]]:
    """Return what the screen was asked to do."""
    return [
        (told.action, type(told.entry).__name__ if told.entry else "")
        for told in app.told
        if isinstance(told, Transcript.ActionRequested)
    ]


# --------------------------------------------------------------------------- below each other


async def test_blank_lines_separate_only_entries_that_show_more_than_a_title() -> None:
    talk = Live()
    talk.opened()
    for name, kind in (("one", "read"), ("two", "search"), ("three", "execute"), ("four", "execute")):
        talk.tool(name, kind=kind, status="completed", content=[OUTPUT])
        if name == "three":
            talk.asks_permission(toolCall={"toolCallId": "three"})
    async with shown(talk, size=(60, 30)) as (app, _):
        rows = [app.row_of(name) for name in ("one", "two", "three", "waiting for your answer", "four")]
        assert rows == [1, 2, 4, 7, 9]


async def test_an_entry_that_grows_gets_blank_lines_without_moving_what_is_visible() -> None:
    talk = Live()
    talk.opened()
    talk.prompt("look")
    for name in ("one", "two", "three"):
        talk.tool(name, kind="fetch", title=f"Fetch {name}", status="in_progress")
    async with shown(talk) as (app, _):
        assert [app.row_of(f"Fetch {name}") for name in ("one", "two", "three")] == [3, 4, 5]
        talk.tool_update("two", status="failed", content=[GONE])
        app.show()
        assert [app.row_of(words) for words in ("Fetch one", "Fetch two", "gone", "Fetch three")] == [
            3, 5, 6, 8,
        ]  # fmt: skip
        app.say("\n\n".join(["line"] * 30))
        app.view.scroll_lines(-(app.view.scroll_offset.y - 8))
        assert app.row_of("Fetch three") == 0
        talk.tool_update("one", status="failed", content=[GONE])
        app.show()
        assert app.row_of("Fetch three") == 0


async def test_withdrawn_entries_are_dimmed_at_once_except_the_refusal() -> None:
    talk = Live()
    talk.opened()
    prompt = talk.prompt("a bad idea")
    talk.says("I would rather not")
    async with shown(talk) as (app, _):
        withdrawn = load_theme("dark").palette.withdrawn.color

        def dimmed(text: str) -> bool:
            strip = app.view.render_line(app.row_of(text))
            return all(one.style.color == withdrawn for one in strip if one.text.strip() and one.style)

        assert not dimmed("a bad idea")
        talk.end(prompt, "refusal")
        app.show()
        assert dimmed("a bad idea")
        assert dimmed("I would rather not")
        assert not dimmed("The agent refused")


# --------------------------------------------------------------------------- folding


async def test_a_key_folds_and_unfolds_an_entry() -> None:
    async with shown(mixed(), size=(60, 30)) as (app, pilot):
        (thought,) = [entry for entry in app.talk.session.entries if isinstance(entry, Thought)]
        assert not app.sees("of two lines")
        app.view.cursor = thought.id
        await pilot.press("space")
        assert app.sees("of two lines")
        await pilot.press("enter")
        assert not app.sees("of two lines")


async def test_keys_fold_all_entries_of_a_kind_and_all_entries() -> None:
    async with shown(mixed(), size=(60, 30)) as (app, pilot):
        (call,) = [entry for entry in app.talk.session.entries if isinstance(entry, ToolCall)]
        app.view.cursor = call.id
        assert app.sees("more of it")
        await pilot.press("f")
        assert not app.sees("more of it")
        app.talk.tool("again", kind="execute", title="Once more", status="completed", content=[OUTPUT])
        app.show()
        assert not app.sees("more of it"), "new ones of that kind are folded, too"
        await pilot.press("F")
        assert app.sees("more of it")
        assert app.sees("of two lines")


async def test_a_click_on_the_fold_sign_folds() -> None:
    async with shown(mixed(), size=(60, 30)) as (app, pilot):
        await pilot.click(app.view, offset=(2, app.row_of("▾ ❯ Run it")))
        assert not app.sees("more of it")
        await pilot.click(app.view, offset=(2, app.row_of("▸ ❯ Run it")))
        assert app.sees("more of it")


# --------------------------------------------------------------------------- the cursor


async def test_the_cursor_moves_between_entries_and_is_visible() -> None:
    async with shown(mixed(), size=(60, 30)) as (app, _):
        view = app.view
        visited = []
        while view.move_cursor(-1):
            entry = view.entry(view.cursor)
            visited.append(type(entry).__name__)
            assert view.render_line(app.row_of(_first_line(app))).text.startswith("▎")
        assert visited == [
            "AgentMessage",
            "UserMessage",
            "ToolCall",
            "AgentMessage",
            "Thought",
            "UserMessage",
        ]
        assert view.move_cursor(1)


def _first_line(app: Host) -> str:
    place = app.view.entry_layout.index_of(app.view.cursor)
    assert place is not None
    return app.view.entry_layout.settle(place).line(0).text.strip()


async def test_keys_jump_to_prompts_tool_calls_and_errors() -> None:
    names = {
        "[": "left_square_bracket",
        "]": "right_square_bracket",
        "{": "left_curly_bracket",
        "}": "right_curly_bracket",
        "(": "left_parenthesis",
        ")": "right_parenthesis",
        "!": "exclamation_mark",
    }
    async with shown(mixed(), size=(60, 30)) as (app, pilot):
        for keys, kind in {
            "[": "UserMessage",
            "[[]": "UserMessage",
            "{": "ToolCall",
            "[[}": "ToolCall",
            "(": "ToolCall",
            "[[)": "ToolCall",
            "[[!": "ToolCall",
        }.items():
            app.view.cursor = None
            app.view.follow()
            await pilot.press(*(names[key] for key in keys))
            assert type(app.view.entry(app.view.cursor)).__name__ == kind, keys


async def test_an_invisible_cursor_restarts_in_the_viewport() -> None:
    async with shown(messages(200)) as (app, pilot):
        await pilot.press(*["left_square_bracket"] * 6, "end")
        assert app.view.move_cursor(-1)
        assert app.view.following
        await pilot.press("g")
        assert app.view.move_cursor(1)
        assert app.view.entry_layout.index_of(app.view.cursor) == 0


async def test_jumps_put_the_prompt_at_the_top_and_end_at_the_end() -> None:
    async with shown(messages(200)) as (app, pilot):
        for number in range(199, 187, -1):
            await pilot.press("left_square_bracket")
            assert app.sees(f"┃ prompt {number}")
        assert app.lines()[0] == "┃ prompt 188"
        assert app.view.render_line(0).text.startswith("▎")
        await pilot.press("up", *["right_square_bracket"] * 2)
        assert app.lines()[0] == "┃ prompt 190"
        await pilot.press(*["right_square_bracket"] * 10)
        assert app.view.cursor is None
        assert app.view.following
        await pilot.press("right_square_bracket")
        assert (app.view.following, app.view.cursor) == (True, None)


async def test_bound_letters_run_actions_and_other_text_goes_to_the_prompt() -> None:
    async with shown(mixed()) as (app, pilot):
        await pilot.press("y", "C", "r", "e", "i")
        assert [what for what, _ in wanted(app)] == ["copy", "copy code", "raw", "edit", "leave"]
        await pilot.press("w", "y")
        typed = [told.text for told in app.told if isinstance(told, Transcript.Typed)]
        assert typed == ["w", "y"], "the rest of a word is no command"


# --------------------------------------------------------------------------- links


async def test_clicking_a_link_requests_to_open_it() -> None:
    async with shown(mixed(), size=(60, 30)) as (app, pilot):
        row = app.row_of("a link")
        column = app.lines()[row].index("a link") + 2
        await pilot.click(app.view, offset=(column, row))
        links = [told.link for told in app.told if isinstance(told, TranscriptView.LinkClicked)]
        assert links == ["http://example.org/page"]


# --------------------------------------------------------------------------- selection


async def drag(app: Host, pilot, start: tuple[int, int], end: tuple[int, int]) -> None:  # type: ignore[no-untyped-def]
    """Select with the mouse."""
    await pilot.mouse_down(app.view, offset=start)
    await pilot.hover(app.view, offset=end)
    await pilot.mouse_up(app.view, offset=end)
    await pilot.pause()


async def test_a_selection_can_span_entries() -> None:
    async with shown(messages(2, lines=1)) as (app, pilot):
        first, last = app.row_of("answer 0"), app.row_of("prompt 1")
        await drag(app, pilot, (3, first), (8, last))
        assert app.screen.get_selected_text() == "answer 0 line 0\n\n┃ prompt"


async def test_a_selection_stays_on_its_text_while_entries_above_grow_and_fold() -> None:
    talk = Live()
    talk.opened()
    talk.prompt("run")
    talk.tool("run", kind="execute", title="Run it", status="completed", content=[OUTPUT])
    talk.says("the chosen words here")
    async with shown(talk, size=(60, 30)) as (app, pilot):
        row = app.row_of("chosen")
        await drag(app, pilot, (7, row), (12, row))
        assert app.screen.get_selected_text() == "chosen"
        call = app.entry(1)
        app.view.toggle_fold(call)
        assert app.screen.get_selected_text() == "chosen"
        app.view.toggle_fold(call)
        more = {"type": "content", "content": {"type": "text", "text": "line\n" * 6}}
        app.talk.tool_update("run", content=[OUTPUT, more])
        app.show()
        assert app.row_of("chosen") != row
        assert app.screen.get_selected_text() == "chosen"
        selected = app.view.render_line(app.row_of("chosen"))
        background = app.screen.get_component_rich_style("screen--selection").bgcolor
        marked = "".join(text for text, style, _ in selected if style and style.bgcolor == background)
        assert marked == "chosen"


async def test_a_double_click_selects_a_word() -> None:
    async with shown(messages(1, lines=1)) as (app, pilot):
        row = app.row_of("answer 0")
        await pilot.click(app.view, offset=(5, row), times=2)
        await pilot.pause()
        assert "answer" in (app.screen.get_selected_text() or "")


async def test_wide_characters_are_selected_as_a_unit() -> None:
    talk = Live()
    talk.opened()
    talk.prompt("wide")
    talk.says("日本語 and e\u0301 text")
    async with shown(talk) as (app, pilot):
        row = app.row_of("日本語")
        await drag(app, pilot, (3, row), (8, row))
        assert app.screen.get_selected_text() == "日本語"


async def test_copying_gives_the_source_of_an_entry() -> None:
    async with shown(mixed()) as (app, _):
        (answer, *_) = [entry for entry in app.talk.session.entries if isinstance(entry, AgentMessage)]
        assert app.view.copy_text(answer.id).startswith("an answer with [a link](http://example.org/page)")


# --------------------------------------------------------------------------- search


async def test_the_search_counts_matches_and_wraps_around() -> None:
    async with shown(messages(30, lines=1)) as (app, _):
        app.finder.search("ANSWER 1")
        assert app.finder.total == 11  # 1, and 10 to 19
        seen = set()
        for _ in range(11):
            assert app.finder.move(1)
            seen.add(app.finder.number)
            assert app.sees("answer 1")
        assert seen == set(range(1, 12))
        before = app.finder.number
        app.finder.move(-1)
        app.finder.move(1)
        assert app.finder.number == before
        app.finder.clear()
        assert app.finder.total == 0
        assert not app.finder.move(1)


async def test_matches_and_the_current_match_are_highlighted() -> None:
    async with shown(messages(3, lines=1)) as (app, _):
        app.finder.search("answer 2")
        app.finder.move(1)
        palette = current_palette()
        strip = app.view.render_line(app.row_of("answer 2"))
        marked = [
            text for text, style, _ in strip if style and style.bgcolor == palette.match_current.bgcolor
        ]
        assert "".join(marked) == "answer 2"


async def test_the_search_ignores_markdown_marks() -> None:
    talk = messages(3, lines=1)
    talk.says("\n\nThe **cause** is `find_user` in _this_ file.")
    async with shown(talk) as (app, _):
        for needle in ("the cause is find", "find_user", "in this file"):
            app.finder.search(needle)
            assert app.finder.total == 1
            assert app.finder.move(1)
            strip = app.view.render_line(app.row_of("The cause"))
            current = current_palette().match_current.bgcolor
            marked = [text for text, style, _ in strip if style and style.bgcolor == current]
            assert "".join(marked).lower() == needle
        for needle in ("finduser", "**cause this"):  # seen nowhere
            app.finder.search(needle)
            assert app.finder.total == 0


async def test_a_match_in_a_folded_entry_unfolds_it() -> None:
    async with shown(mixed(), size=(60, 30)) as (app, _):
        assert not app.sees("of two lines")
        app.finder.search("of two")
        assert app.finder.move(1)
        assert app.sees("of two lines")


async def test_the_search_draws_only_entries_with_matches() -> None:
    async with shown(messages(500, lines=1)) as (app, _):
        app.finder.search("answer 17 ")
        app.finder.move(1)
        assert app.sees("answer 17 ")
        drawn = sum(block.body is not None for block in app.view.entry_layout.blocks)
        assert drawn < 100


async def test_the_search_finds_entries_that_arrive_later() -> None:
    async with shown(messages(3, lines=1)) as (app, _):
        app.finder.search("answer")
        assert app.finder.move(-1)
        assert (app.finder.number, app.finder.total) == (3, 3)
        app.talk.says("a fourth answer")
        app.view.show_changes(app.talk.pending)
        assert app.finder.move(1)
        assert (app.finder.number, app.finder.total) == (4, 4)
        assert app.sees("a fourth answer")


async def test_the_search_finds_output_that_is_not_shown() -> None:
    talk = mixed()
    output = "".join(f"\x1b[31mline\x1b[0m {number}\n" for number in range(100))
    talk.client(ev.TerminalCreated("t", "user", "make all"))
    talk.client(ev.TerminalOutput("t", output))
    talk.client(ev.TerminalCreated("shown", "user", "in a call"))
    talk.tool("call", kind="execute", title="Call", content=[{"type": "terminal", "terminalId": "shown"}])
    async with shown(talk) as (app, _):
        for needle, where in (
            ("make all", "make all"),
            ("line 99", "line 99"),
            ("line 3\n", "make all"),
            ("in a call", "Call"),
        ):
            app.finder.search(needle)
            assert app.finder.total == 1
            assert app.finder.move(1)
            assert app.sees(where)


# --------------------------------------------------------------------------- many


async def test_only_visible_entries_are_drawn() -> None:
    async with shown(messages(1700, lines=1)) as (app, pilot):
        assert len(app.view.entry_layout) > 5000
        assert app.sees("answer 1699")
        app.say("and on")
        await pilot.press("home")
        assert app.row_of("prompt 0") == 1
        await pilot.press("end")
        assert app.sees("and on")
        assert sum(block.body is not None for block in app.view.entry_layout.blocks) < 60
