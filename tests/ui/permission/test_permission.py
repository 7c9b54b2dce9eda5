"""The permission dialog: how it is answered, and that it shows the whole request."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.permissions.rules import describe_rule
from acp_tui.permissions.subject import Target
from acp_tui.session.mcp_tool import McpTool
from acp_tui.session.safe_text import escape_controls
from acp_tui.session.state import Content, Diff, Location, PermissionOption
from acp_tui.ui.dialogs.dialog import PAUSE_SECONDS
from acp_tui.ui.permission.dialog import INTERRUPT_SECONDS, PermissionAnswer, PermissionScreen
from acp_tui.ui.theme.themes import load_theme
from acp_tui.ui.widgets.body_scroller import BodyScroller
from acp_tui.ui.widgets.select_list import SelectList
from tests.support.looks import Show, use_theme
from tests.support.waiting import until
from tests.ui.screens import questions
from tests.ui.screens.questions import ALWAYS, CWD, NEVER, NO, YES, permission, with_rules

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from textual.pilot import Pilot

    from acp_tui.controller.user_questions import Question


class Dialog:
    """The dialog with a question and a clock that stands still."""

    def __init__(self, question: Question, size: tuple[int, int] = (100, 40), **more: Any) -> None:
        self.question = question
        self.size = size
        self.more = more
        self.now = 100.0
        self.app = Show("dark", screen=self._screen)  # type: ignore[arg-type]  # of whatever result
        self.pilot: Pilot[None]

    def _screen(self) -> PermissionScreen:
        return PermissionScreen(
            self.question, agent="Claude Code", cwd=CWD, clock=lambda: self.now, **self.more
        )

    async def ask(self, question: Question | None = None) -> None:
        """Ask again, or something else, in the same app after an answer."""
        self.question = question or self.question
        self.answers.clear()
        self.app.on_mount()
        await self.pilot.pause()

    @property
    def answers(self) -> list[object]:
        return self.app.answers

    @property
    def screen(self) -> PermissionScreen:
        assert isinstance(self.app.screen, PermissionScreen)
        return self.app.screen

    @property
    def selected(self) -> int:
        return self.screen.query_one(SelectList).selected

    async def press(self, *keys: str) -> None:
        """Press keys after a pause, one right after the other."""
        self.now += PAUSE_SECONDS
        await self.type(*keys)

    async def type(self, *keys: str) -> None:
        """Press keys without a pause before them."""
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def use_light_theme(self) -> None:
        """Switch to the theme `light`, as the terminal's background can make the app do at any time."""
        use_theme(self.app, "light")
        await self.pilot.pause()

    def text(self) -> str:
        """Return the whole dialog as text, including lines that are scrolled out of view."""
        page = self.screen.query_one("#what", BodyScroller)
        parts = [self._drawn(name) for name in ("#head", "#options", "#keys")]
        lines = [page._line(row).text.rstrip() for row in range(page.virtual_size.height)]
        return "\n".join([*lines, *parts])

    def in_sight(self) -> str:
        """Return the visible part of the request."""
        return self._drawn("#what")

    def screen_text(self) -> str:
        """Return what is on the screen, without blanks and frames, so that wrapped text can be found."""
        lines = [strip.text.strip(" │▁▂▃▄▅▆▇█") for strip in self.app.screen._compositor.render_strips()]
        return "".join("".join(lines).split())

    async def read_on(self, key: str) -> str:
        """Press a key until all facts were on the screen. Return what was on the screen, without blanks."""
        page = self.screen.query_one("#what", BodyScroller)
        seen = "".join(self.in_sight().split())
        while not self.screen.query_one(SelectList).display:
            assert self.answers == []
            await self.press(key)
            await until(lambda: page.scroll_offset.y == self.screen._pages.top)
            await self.pilot.pause()
            seen += "".join(self.in_sight().split())
        assert self.answers == []
        return seen

    def text_of_keys(self) -> str:
        """Return the hints, as they are now."""
        self.screen.update_hints()
        return self._drawn("#keys")

    def editor_text(self) -> str:
        """Return the rule editor as text."""
        return "\n".join(self._drawn(name) for name in ("#sentence", "#choices", "#effect"))

    def _drawn(self, name: str) -> str:
        widget = self.screen.query_one(name)
        return "\n".join(widget.render_line(y).text.rstrip() for y in range(widget.size.height))


@asynccontextmanager
async def shown(question: Question, **more: Any) -> AsyncIterator[Dialog]:
    """Show the dialog in an app."""
    dialog = Dialog(question, **more)
    async with dialog.app.run_test(size=dialog.size) as dialog.pilot:
        await dialog.pilot.pause()
        yield dialog


ALL = [YES, ALWAYS, NO, NEVER]


# --------------------------------------------------------------------------- answering


async def test_one_key_answers_the_request() -> None:
    letters = {"a": YES, "A": ALWAYS, "r": NO, "R": NEVER}
    async with shown(permission("Go", "execute", options=ALL)) as dialog:
        for key, option in (letters | {"1": YES, "4": NEVER}).items():
            await dialog.press(key)
            assert dialog.answers == [PermissionAnswer(option)]
            await dialog.ask()


async def test_arrows_wrap_around_and_enter_answers_with_the_chosen_option() -> None:
    async with shown(permission("Go", "execute", options=ALL)) as dialog:
        await dialog.press("up")
        assert dialog.selected == 3
        await dialog.press("down")
        assert dialog.selected == 0
        await dialog.press("down", "down", "enter")
        assert dialog.answers == [PermissionAnswer(NO)]


async def test_a_click_answers_the_request() -> None:
    async with shown(permission("Go", "execute", options=ALL)) as dialog:
        await dialog.pilot.click("#options", offset=(8, 3))  # below the note of the option before
        await dialog.pilot.pause()
        assert dialog.answers == [PermissionAnswer(NO)]


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_escape_and_ctrl_c_close_the_full_size_first(key: str) -> None:
    async with shown(permission("Go", "execute")) as dialog:
        await dialog.press("v")
        await dialog.press(key)
        assert dialog.answers == []
        await dialog.press("escape")
        assert dialog.answers == [None]


async def test_ctrl_c_cancels_only_if_it_is_pressed_twice() -> None:
    async with shown(permission("Go", "execute")) as dialog:
        await dialog.press("ctrl+c")
        assert dialog.answers == []
        assert "again to stop the turn" in dialog.text_of_keys()
        dialog.now += INTERRUPT_SECONDS
        await dialog.press("ctrl+c")
        assert dialog.answers == []
        await dialog.press("ctrl+c")
        assert dialog.answers == [None]


async def test_ctrl_c_copies_the_selection() -> None:
    async with shown(permission("Go", "execute")) as dialog:
        page = dialog.screen.query_one(BodyScroller)
        row = next(y for y in range(page.size.height) if "Go" in page.render_line(y).text)
        column = page.render_line(row).text.index("Go")
        await dialog.pilot.mouse_down(page, offset=(column, row))
        await dialog.pilot.hover(page, offset=(column + 2, row))
        await dialog.pilot.mouse_up(page, offset=(column + 2, row))
        await dialog.press("ctrl+c")
        assert dialog.app.clipboard == "Go"
        assert dialog.answers == []
        await dialog.press("ctrl+c", "ctrl+c")
        assert dialog.answers == [None]


async def test_a_letter_selects_the_first_of_several_options() -> None:
    user = PermissionOption("u", "For this project", "allow_always")
    every = PermissionOption("e", "Everywhere", "allow_always")
    async with shown(permission("Go", "execute", options=[NO, user, every])) as dialog:
        await dialog.press("A")
        assert dialog.answers == []
        assert dialog.selected == 1
        await dialog.press("enter")
        assert dialog.answers == [PermissionAnswer(user)]


async def test_keys_of_missing_options_do_nothing() -> None:
    async with shown(permission("Go", "execute", options=[YES, NO])) as dialog:
        for key in ("A", "R", "9", "x"):
            await dialog.press(key)
            assert dialog.answers == []
        await dialog.press("a")
        assert dialog.answers == [PermissionAnswer(YES)]


async def test_a_request_is_answered_once() -> None:
    async with shown(permission("Go", "execute", options=ALL)) as dialog:
        screen = dialog.screen
        await dialog.press("a")
        screen.action_answer("reject_once")
        screen.action_close()
        await dialog.pilot.pause()
        assert dialog.answers == [PermissionAnswer(YES)]


async def test_an_always_option_is_never_selected_first() -> None:
    async with shown(permission("Go", "execute", options=[ALWAYS, YES, NO])) as dialog:  # as Gemini and Qwen
        await dialog.press("enter")
        assert dialog.answers == [PermissionAnswer(YES)]
        for options, chosen in (([ALWAYS, NEVER, NO], NO), ([NO, ALWAYS, YES], YES)):
            await dialog.ask(permission("Go", "execute", options=options))
            await dialog.press("enter")
            assert dialog.answers == [PermissionAnswer(chosen)]


async def test_nothing_is_selected_if_there_are_only_always_options() -> None:
    async with shown(permission("Go", "execute", options=[ALWAYS, NEVER])) as dialog:
        await dialog.press("enter")
        dialog.now += PAUSE_SECONDS
        dialog.screen.update_hints()
        assert dialog.answers == []
        assert "choose an option first" in dialog.text()


async def test_a_letter_is_shown_only_if_it_answers() -> None:
    names = ("Allow", "For this session", "For this server")
    options = [PermissionOption(name, name, "allow_always") for name in names]
    async with shown(permission("Go", "execute", options=[YES, *options, NO])) as dialog:
        rows = dialog._drawn("#options")
        assert "1 a  Yes" in rows
        assert "2    Allow" in rows
        assert "4    For this server" in rows
        assert "5 r  No" in rows


async def test_an_ambiguous_letter_explains_why_it_does_not_answer() -> None:
    """OpenHands offers two `allow_once`."""
    risky = PermissionOption("risk_based", "Auto-confirm LOW/MEDIUM risk", "allow_once")
    async with shown(permission("Go", "execute", options=[YES, NO, risky])) as dialog:
        await dialog.press("a")
        dialog.now += PAUSE_SECONDS
        dialog.screen.update_hints()
        assert dialog.answers == []
        assert 'choose one of the 2 "allow once" options' in dialog.text()
        await dialog.press("a")
        assert dialog.selected == 2
        await dialog.press("enter")
        assert dialog.answers == [PermissionAnswer(risky)]


async def test_the_raw_input_is_visible_on_a_small_screen_and_closed_by_escape() -> None:
    sent = {"command": "pytest -q", "description": "Run the tests", **{f"key{n}": n for n in range(30)}}
    question = permission("Run the tests", "execute", options=ALL, why="the policy asks", raw_input=sent)
    async with shown(with_rules(question), size=(80, 24)) as dialog:
        assert '"description"' not in dialog.in_sight()
        await dialog.press("i")
        assert "raw input" in dialog.in_sight()
        assert '"description": "Run the tests"' in dialog.in_sight()
        await dialog.press("escape")
        assert dialog.answers == []
        assert "key0" not in dialog.text()
        await dialog.press("escape")
        assert dialog.answers == [None]


async def test_a_request_without_options_can_only_be_cancelled() -> None:
    question = permission("Go", "execute")
    question.options = []
    async with shown(question) as dialog:
        await dialog.press("a", "1", "enter")
        assert dialog.answers == []
        await dialog.press("escape")
        assert dialog.answers == [None]


async def test_enter_does_nothing_if_a_dangerous_request_has_no_reject_option() -> None:
    question = questions.dangerous()
    question.options = [YES, ALWAYS]
    async with shown(question) as dialog:
        await dialog.press("enter")
        assert dialog.answers == []
        await dialog.press("up", "enter")
        assert dialog.answers == [PermissionAnswer(ALWAYS)]


async def test_danger_is_marked_and_enter_does_not_allow_it() -> None:
    async with shown(questions.dangerous()) as dialog:
        assert " DANGEROUS " in dialog.text()
        assert dialog.screen.has_class("dangerous")
        await dialog.press("enter")
        assert dialog.answers == [PermissionAnswer(NO)]


# --------------------------------------------------------------------------- typing cannot answer


async def test_keys_are_ignored_from_the_opening_until_a_pause_in_typing() -> None:
    async with shown(permission("Go", "execute")) as dialog:
        for key in ("a", "A", "1", "enter", "escape", "ctrl+c", "r", "down"):
            dialog.now += PAUSE_SECONDS - 0.001
            await dialog.type(key)
            assert dialog.answers == []
            assert dialog.selected == 0
        await dialog.press("a")
        assert dialog.answers == [PermissionAnswer(YES)]


async def test_later_letters_of_a_word_do_not_answer() -> None:
    async with shown(permission("Go", "execute")) as dialog:
        for word in ("car", "via", "i1"):
            await dialog.press(*word)
        await dialog.type("enter")
        assert dialog.answers == []


async def test_a_question_that_replaces_another_one_ignores_keys_for_a_second() -> None:
    async with shown(permission("Go", "execute"), replaces_another=True) as dialog:
        for _ in range(2):
            dialog.now += PAUSE_SECONDS + 0.05
            await dialog.type("a")
            assert dialog.answers == []
        await dialog.press("a")
        assert dialog.answers == [PermissionAnswer(YES)]


async def test_a_paste_counts_as_typing() -> None:
    async with shown(permission("Go", "execute")) as dialog:
        dialog.now += PAUSE_SECONDS
        from textual.events import Paste

        dialog.screen.post_message(Paste("some text"))
        await dialog.pilot.pause()
        await dialog.type("a")
        assert dialog.answers == []


async def test_the_hints_say_whether_keys_work() -> None:
    async with shown(permission("Go", "execute")) as dialog:
        assert "keys work once you stop typing" in dialog.text()
        await dialog.press("down")
        dialog.screen.update_hints()
        assert "Esc stop" in dialog.text()
        await dialog.press("x")
        assert "keys work once you stop typing" in dialog.text()


# --------------------------------------------------------------------------- nothing is hidden


async def test_the_whole_command_is_shown_with_directory_and_environment() -> None:
    line = "echo " + "word " * 200 + "end"
    sent = {
        "command": f"{line}\nrm -r build",
        "cwd": "/srv/elsewhere",
        "env": {"TOKEN_FILE": "/x", "CI": "1"},
    }
    async with shown(permission("Tidy up", "execute", raw_input=sent)) as dialog:
        text = dialog.text()
        assert "Claude Code asks to run a command" in text
        assert text.replace("\n   ", "").count("word") == 200
        assert "rm -r build" in text
        assert "directory    /srv/elsewhere  outside the workspace" in text
        assert "TOKEN_FILE=/x" in text
        assert "CI=1" in text


async def test_an_unwrapped_command_is_also_shown_as_sent() -> None:
    async with shown(questions.command()) as dialog:
        text = dialog.text()
        assert " ❯ pytest -q --maxfail=1" in text
        assert "sent as      bash -lc 'cd src && pytest -q --maxfail=1'" in text
        assert f"directory    {CWD}/src" in text


async def test_a_title_equal_to_the_command_is_not_repeated() -> None:
    asked = permission("`ls -l; date`", "execute", raw_input={"command": "ls -l; date"})
    asked.subject = asked.subject.evolve(targets=(Target(CWD, CWD, inside=True),))  # as a location
    async with shown(asked) as dialog:
        assert dialog.text().count("ls -l; date") == 1
        assert dialog.text().count(CWD) == 1


async def test_a_title_that_is_only_the_name_of_an_mcp_tool_is_shown_as_server_and_tool() -> None:
    tool = McpTool("docs", "find", "name", is_title=True)
    asked = permission("mcp__docs__find", "other", name="mcp__docs__find", mcp_tool=tool)
    async with shown(asked) as dialog:
        assert "docs › find" in dialog.text()
        assert "mcp__" not in dialog.text()


async def test_a_title_equal_to_the_file_is_not_repeated() -> None:
    path = f"{CWD}/notes.txt"
    async with shown(permission(path, "edit", content=[Diff(path, "a\n", "b\n")])) as dialog:
        assert dialog.text().count(path) == 1


async def test_raw_input_repeated_as_text_is_shown_once() -> None:
    sent = {"questions": [{"question": "Which colour?"}]}
    texts = [Content("text", text="Which colour?"), Content("text", text=json.dumps(sent))]
    async with shown(permission("AskUserQuestion", "other", raw_input=sent, content=texts)) as dialog:
        assert dialog.text().count("questions") == 1
        assert dialog.text().index("Which colour?") < dialog.text().index("raw input")


async def test_a_replaced_text_is_shown_in_its_place_in_the_file() -> None:
    path = f"{CWD}/notes.txt"
    diff = Diff(path, "two", "2")
    sent = {"old_string": "two", "new_string": "2"}
    asked = permission("Edit notes.txt", "edit", content=[diff], raw_input=sent)
    async with shown(asked) as dialog:
        assert "1 - two" not in dialog.text()
        assert "- two" in dialog.text()
    asked.whole_file_diffs = [(diff, Diff(path, "zero\none two\n", "zero\none 2\n", line=1))]
    async with shown(asked) as dialog:
        assert "2 - one two" in dialog.text()
        assert "2 + one 2" in dialog.text()


async def test_empty_raw_input_is_shown_only_on_a_key() -> None:
    async with shown(permission("Approve Plan", "switch_mode", raw_input={})) as dialog:
        assert "raw input\n" not in dialog.text()
        await dialog.press("i")
        assert "sent no raw input" in dialog.text()


async def test_every_file_and_every_diff_is_shown() -> None:
    async with shown(questions.edit(), size=(80, 24)) as dialog:
        text = dialog.text()
        assert "asks to change files" in text
        assert "! /etc/hosts is outside the workspace" in text
        assert f"{CWD}/login.py  +2 −2" in text
        assert "/etc/hosts  +2 −2  outside the workspace" in text
        for piece in ("if user = None", "if user is None", "host12", "twelve", "host40", "forty"):
            assert piece in text


async def test_the_diff_is_above_what_the_agent_says_about_it() -> None:
    diff = Diff(f"{CWD}/a.txt", "one\n", "two\n")
    words = Content("text", text="A long explanation.\n" * 100)
    async with shown(permission("Edit", "edit", content=[words, diff]), size=(80, 24)) as dialog:
        text = dialog.text()
        assert text.index("a.txt") < text.index("two") < text.index("A long explanation.")


async def test_requests_of_acp_tui_are_shown_like_those_of_agents() -> None:
    async with shown(questions.guarded_write()) as dialog:
        text = dialog.text()
        assert "asks to change a file" in text
        assert "/home/ada/.npmrc may hold a token" in text
        for piece in ("registry=a", "registry=b", "token=c"):
            assert piece in text
        await dialog.press("r")
        assert dialog.answers == [PermissionAnswer(questions.GUARD[1])]


async def test_the_raw_input_is_shown_if_there_is_nothing_else_and_on_a_key() -> None:
    async with shown(questions.unclear()) as dialog:
        assert '"title": "It is broken"' in dialog.text()
    async with shown(questions.command()) as dialog:
        assert '"CI": "1"' not in dialog.text()
        await dialog.press("i")
        assert '"CI": "1"' in dialog.text()
        await dialog.press("i")
        assert '"CI": "1"' not in dialog.text()


async def test_an_edit_without_a_diff_shows_what_the_agent_sent() -> None:
    sent = {"file_path": f"{CWD}/a.py", "old_string": "one", "new_string": "two"}
    async with shown(permission("Edit a.py", "edit", raw_input=sent)) as dialog:
        assert '"new_string": "two"' in dialog.text()


async def test_a_program_with_arguments_is_shown_as_one_command() -> None:
    sent = {"command": "pytest", "args": ["-q", "a b"]}
    async with shown(permission("Test", "execute", raw_input=sent)) as dialog:
        assert "pytest -q 'a b'" in dialog.text()
        assert "sent as" not in dialog.text()


async def test_agent_texts_are_neither_markup_nor_control_characters() -> None:
    evil = "[red]not red[/] \x1b[31m\u202e"
    options = [PermissionOption("o", evil.replace("\x1b", "␛").replace("\u202e", "‹202e›"), "allow_once")]
    sent = {"command": f"echo {evil}", "cwd": f"/tmp/{evil}", "env": {evil: evil}, evil: evil}
    question = permission(evil, "execute", options=options, raw_input=sent, why=evil)
    async with shown(question) as dialog:
        await dialog.press("i")
        text = dialog.text()
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert text.count("[red]not red[/] ␛[31m‹202e›") >= 6


EDIT: dict[str, Any] = {"locations": [Location(f"{CWD}/basket.py")]}


async def test_an_always_remembered_by_acp_tui_shows_its_scope_only() -> None:
    session_wide = PermissionOption("s", "Allow all edits in this session", "allow_always")
    question = permission("Go", "edit", options=[YES, session_wide, NO, NEVER], **EDIT)
    async with shown(with_rules(question)) as dialog:
        text = dialog.text()
        assert "Always allow editing basket.py, in this project …" in text
        assert '(replaces the agent\'s option "Allow all edits in this session")' in text
        assert "allow always" not in text
        assert "added by acp-tui" not in text


async def test_an_always_that_only_the_agent_can_remember_says_so() -> None:
    async with shown(with_rules(permission("Go", "edit", options=[ALWAYS, NO], **EDIT))) as dialog:
        assert ALWAYS.name in dialog.text()
        text = " ".join(dialog.text().split())
        assert "what this covers, and may stop asking; acp-tui remembers: editing basket.py" in text
    async with shown(with_rules(permission("Go", "edit"))) as dialog:  # no rule can say it
        assert "the agent decides what this covers, and may stop asking" in dialog.text()


# --------------------------------------------------------------------------- always, in words


def pytest_command(*options: PermissionOption) -> Question:
    sent = {"command": "pytest -q --maxfail=1"}
    return with_rules(permission("Run the tests", "execute", options=list(options), raw_input=sent))


def saved(dialog: Dialog) -> list[str]:
    """Return the rules of the answer in words."""
    (answer,) = dialog.answers
    assert isinstance(answer, PermissionAnswer)
    return [describe_rule(rule) for rule in answer.rules]


async def test_always_opens_the_rule_as_a_sentence_that_enter_confirms() -> None:
    async with shown(pytest_command(YES, ALWAYS, NO)) as dialog:
        await dialog.press("A")
        assert dialog.answers == []
        assert "Always allow [`pytest -q --maxfail=1` exactly] in this project for claude-code" in (
            dialog.editor_text()
        )
        assert "Exactly `pytest -q --maxfail=1` will be allowed without asking" in dialog.editor_text()
        await dialog.press("enter")
        assert saved(dialog) == [f"always allow exactly `pytest -q --maxfail=1` in {CWD}, for claude-code"]


async def test_the_arrow_keys_change_each_part_of_the_sentence() -> None:
    async with shown(pytest_command(YES, ALWAYS, NO)) as dialog:
        await dialog.press("A", "down", "right", "down", "right", "down")
        assert "Always allow `pytest -q --maxfail=1 …` everywhere [for any agent]" in dialog.editor_text()
        await dialog.press("enter")
        assert saved(dialog) == ["always allow commands that begin with `pytest -q --maxfail=1` everywhere"]


async def test_a_value_stops_at_the_ends_and_the_parts_wrap_around() -> None:
    async with shown(pytest_command(YES, ALWAYS, NO)) as dialog:
        await dialog.press("A", "up", "left", "up", "up")
        assert "[for claude-code]" in dialog.editor_text()
        await dialog.press("left", "up", "up", "enter")
        assert saved(dialog) == [
            "always allow exactly `pytest -q --maxfail=1` in this session, for claude-code"
        ]


async def test_a_click_on_a_choice_changes_the_rule() -> None:
    async with shown(pytest_command(YES, ALWAYS, NO)) as dialog:
        await dialog.press("A")
        await dialog.pilot.click("#choices", offset=(4, 1))
        await dialog.press("enter")
        assert saved(dialog) == [
            f"always allow commands that begin with `pytest -q --maxfail=1` in {CWD}, for claude-code"
        ]


async def test_in_the_sentence_only_escape_leads_back_to_the_options_and_their_keys() -> None:
    async with shown(pytest_command(YES, ALWAYS, NO)) as dialog:
        await dialog.press("A")
        for key in ("a", "r", "1", "v"):
            await dialog.press(key)
            assert "Always allow [" in dialog.editor_text()
        await dialog.press("escape")
        await dialog.press("A")
        await dialog.press("ctrl+c")
        assert dialog.answers == []
        await dialog.press("a")
        assert dialog.answers == [PermissionAnswer(YES)]


async def test_enter_pressed_twice_does_not_confirm_an_unread_rule() -> None:
    async with shown(pytest_command(YES, ALWAYS, NO)) as dialog:
        await dialog.press("down", "enter", "enter")
        assert dialog.answers == []


async def test_always_is_offered_even_if_the_agent_does_not_offer_it() -> None:
    async with shown(pytest_command(YES, NO)) as dialog:
        text = dialog.text()
        assert text.count("added by acp-tui") == 2
        assert "3 A  Always allow exactly `pytest -q --maxfail=1`, in this project …" in text
        await dialog.press("4")
        assert "Always reject [" in dialog.editor_text()
        await dialog.press("enter")
        assert saved(dialog) == [f"always reject exactly `pytest -q --maxfail=1` in {CWD}, for claude-code"]


async def test_a_composite_command_shows_which_parts_are_new() -> None:
    async with shown(questions.composite()) as dialog:
        text = dialog.text()
        assert "✓ git diff  allowed by rule: `git diff …`" in text
        assert "✓ head -50  allowed by rule: `head …`" in text
        assert "? npm test  new" in text
        assert "? edit src/test.log  new" in text


async def test_always_for_a_composite_command_saves_a_rule_for_each_new_part() -> None:
    async with shown(questions.composite()) as dialog:
        await dialog.press("A", "right", "down")
        text = dialog.editor_text()
        assert "Always allow `npm test` exactly" in text
        assert "and [edit anything in src/]" in text
        await dialog.press("enter")
        assert saved(dialog) == [
            f"always allow exactly `npm test` in {CWD}, for claude-code",
            f"always allow editing src/** in {CWD}, for claude-code",
        ]


# --------------------------------------------------------------------------- reject with a reason


async def test_a_reason_is_written_for_a_rejection_unless_escape_closes_the_line() -> None:
    async with shown(permission("Go", "execute", options=ALL)) as dialog:
        await dialog.press("t")
        await dialog.press("escape")
        assert dialog.answers == []
        await dialog.press("t")
        await dialog.press("u", "v", "x")
        await dialog.press("backspace", "enter")
        assert dialog.answers == [PermissionAnswer(NO, reason="uv")]


async def test_the_selected_one_of_several_rejections_gets_the_reason() -> None:
    other = PermissionOption("o", "No, and stop", "reject_once")
    async with shown(permission("Go", "execute", options=[YES, NO, other])) as dialog:
        await dialog.press("down", "down", "t")
        await dialog.press("x", "enter")
        assert dialog.answers == [PermissionAnswer(other, reason="x")]


async def test_without_an_option_to_reject_there_is_no_reason() -> None:
    async with shown(permission("Go", "execute", options=[YES, ALWAYS])) as dialog:
        await dialog.press("t")
        assert "reject with reason" not in dialog.text()
        await dialog.press("a")
        assert dialog.answers == [PermissionAnswer(YES)]


# --------------------------------------------------------------------------- looking


async def test_the_position_is_shown_if_several_requests_wait() -> None:
    async with shown(permission("Go", "execute"), position=(1, 1)) as dialog:
        assert "1 of" not in dialog.text()
        dialog.screen.show_position((1, 3))
        assert "1 of 3" in dialog.text()


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (60, 12)])
async def test_all_options_can_be_reached(size: tuple[int, int]) -> None:
    async with shown(questions.many_options(), size=size) as dialog:
        assert dialog.screen.query_one("#dialog").region.bottom == size[1]
        assert dialog.screen.query_one("#keys").region.bottom == size[1] - 1
        dialog.now += PAUSE_SECONDS
        assert ("↑↓ more options" in dialog.text_of_keys()) is (size != (120, 40))
        await dialog.press("up")
        assert dialog.screen.query_one(SelectList).selected == 11
        assert "Option 12" in dialog.text()


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_part_of_the_conversation_stays_visible(size: tuple[int, int]) -> None:
    async with shown(questions.edit(), size=size) as dialog:
        assert dialog.screen.query_one("#dialog").region.y >= 2


# --------------------------------------------------------------------------- facts

every_size = pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40)])


@every_size
@pytest.mark.parametrize("key", ["a", "enter", "1", "A", "pagedown"])
async def test_a_request_is_answered_only_after_all_its_facts_were_on_the_screen(
    size: tuple[int, int], key: str
) -> None:
    async with shown(questions.large(), size=size) as dialog:
        seen = await dialog.read_on(key)
        assert all("".join(fact.split()) in seen for fact in questions.LARGE_FACTS)
        await dialog.press("a")
        assert dialog.answers == [PermissionAnswer(YES)]


@every_size
async def test_one_key_answers_if_all_facts_fit(size: tuple[int, int]) -> None:
    asked = with_rules(questions.edit_in_folder())
    async with shown(asked, size=size) as dialog:
        assert "src/basket/prices.py+2−2" in dialog.screen_text()
        assert "below" not in dialog.screen_text()
        await dialog.press("a")
        assert dialog.answers == [PermissionAnswer(YES)]


async def test_the_number_of_pages_of_facts_that_are_left_is_shown() -> None:
    async with shown(questions.large(), size=(60, 20)) as dialog:
        assert "2morepartsbelow" in dialog.screen_text()
        await dialog.press("a")
        assert "1morepartbelow" in dialog.screen_text()
        await dialog.press("pageup")
        assert "2morepartsbelow" in dialog.screen_text()


async def test_a_key_held_down_does_not_answer_after_the_last_page() -> None:
    async with shown(questions.large(), size=(60, 20)) as dialog:
        await dialog.press(*["enter"] * 9)
        assert dialog.answers == []
        assert "1morepartbelow" in dialog.screen_text()


async def test_a_request_can_be_rejected_before_all_its_facts_were_shown() -> None:
    for keys, answer in ((["r"], PermissionAnswer(NO)), (["escape"], None)):
        async with shown(questions.large(), size=(60, 20)) as dialog:
            await dialog.press(*keys)
            assert dialog.answers == [answer]


async def test_facts_count_as_shown_only_if_they_were_on_the_screen() -> None:
    """The line for the reason needs fewer rows than the options."""
    async with shown(questions.large(), size=(60, 24)) as dialog:
        await dialog.press("t")
        await dialog.press("escape")
        await dialog.press("a")
        assert dialog.answers == []


async def test_a_smaller_window_starts_the_facts_again_unless_all_were_shown() -> None:
    async with shown(questions.large(), size=(80, 24)) as dialog:
        await dialog.pilot.resize_terminal(60, 20)
        await dialog.press("a")
        assert dialog.answers == []
    async with shown(questions.large(), size=(160, 60)) as dialog:
        await dialog.pilot.resize_terminal(60, 20)
        await dialog.press("a")
        assert dialog.answers == [PermissionAnswer(YES)]


async def test_an_unclear_request_is_answered_only_after_its_raw_input_was_shown() -> None:
    sent = {f"key{number}": "value" for number in range(60)}
    async with shown(permission("Do it", "other", raw_input=sent), size=(80, 24)) as dialog:
        seen = await dialog.read_on("a")
        assert all(f'"key{number}"' in seen for number in range(60))


async def test_a_long_name_of_who_asks_is_shown_in_full() -> None:
    asked = permission("Go", "execute")
    asked.subagent = "a subagent with a name"
    async with shown(asked, size=(60, 20)) as dialog:
        assert "ClaudeCode(subagent:asubagentwithaname)askstorunacommand" in dialog.screen_text()


async def test_a_key_toggles_full_size() -> None:
    async with shown(questions.edit(), size=(80, 24)) as dialog:
        small = dialog.screen.query_one("#dialog").region.height
        await dialog.press("v")
        assert dialog.screen.query_one("#dialog").region.height == 24
        await dialog.press("escape")
        assert dialog.screen.query_one("#dialog").region.height == small
        assert dialog.answers == []
        await dialog.press("escape")
        assert dialog.answers == [None]


async def test_the_request_scrolls() -> None:
    async with shown(questions.edit(), size=(80, 24)) as dialog:
        page = dialog.screen.query_one(BodyScroller)
        await dialog.press("pagedown")
        assert page.scroll_offset.y == page.size.height - 1
        await dialog.press("pageup")
        assert page.scroll_offset.y == 0


async def test_the_dialog_follows_the_theme() -> None:
    async with shown(questions.edit()) as dialog:
        await dialog.press("down")
        await dialog.use_light_theme()
        colours = {
            style.color.name
            for widget in dialog.screen.query("#head, #what, #options, #keys")
            for y in range(widget.size.height)
            for _, style, _ in widget.render_line(y)
            if style is not None and style.color is not None
        }
        dark = {
            style.color.name
            for style in (load_theme("dark").palette.text, load_theme("dark").palette.dim)
            if style.color
        }
        assert not colours & dark
        assert dialog.selected == 1


async def test_a_new_theme_selects_nothing() -> None:
    async with shown(permission("Go", "execute", options=[ALWAYS, NEVER])) as dialog:
        await dialog.use_light_theme()
        assert dialog.selected == -1
        await dialog.press("enter")
        assert dialog.answers == []


async def test_the_dialog_follows_a_resize() -> None:
    async with shown(questions.edit(), size=(120, 40)) as dialog:
        await dialog.pilot.resize_terminal(60, 20)
        await dialog.pilot.pause()
        assert dialog.screen.query_one("#dialog").region.bottom == 20
        assert dialog.screen.query_one("#dialog").region.width == 60
        assert "forty" in dialog.text()


async def test_a_long_title_does_not_push_the_command_out_of_view() -> None:
    title = " ".join(f"harmless {number}" for number in range(500))
    question = permission(title, "execute", raw_input={"command": "rm -r build"})
    async with shown(question, size=(80, 24)) as dialog:
        assert "rm -r build" in dialog.in_sight()
        assert "harmless 0 harmless 1" in dialog.in_sight()
        assert "harmless 499" in dialog.text()


async def test_on_a_small_screen_the_dialog_covers_the_conversation() -> None:
    old = "".join(f"line {number}\n" for number in range(10))
    diff = Diff(f"{CWD}/login.py", old, old.replace("line 5", "five"))
    question = permission("Edit login.py", "edit", options=ALL, why="the policy asks", content=[diff])
    async with shown(with_rules(question), size=(80, 24)) as dialog:
        assert "five" in dialog.in_sight()
        assert dialog.screen.query_one("#dialog").region.height <= 22


# --------------------------------------------------------------------------- invisible characters


TAIL = "".join(chr(0xE0000 + ord(char)) for char in " && rm")


async def test_invisible_characters_are_replaced_and_named() -> None:
    options = [PermissionOption("y", "Yes\u200b", "allow_once"), PermissionOption("n", "No", "reject_once")]
    raw = {"command": f"echo hi{TAIL}", "cwd": f"{CWD}/src\u3164"}
    asked = permission(f"echo hi{TAIL}", "execute", options=options, raw_input=raw)
    async with shown(asked) as dialog:
        text = "".join(dialog.text().split())
        assert "echohi‹e0020›‹e0026›‹e0026›‹e0020›‹e0072›‹e006d›" in text
        assert f"{CWD}/src‹3164›" in text
        assert "Yes‹200b›" in text
        assert "containsinvisiblecharacters:" in text
        for name in ("6×tagcharacter(U+E0000block)", "HANGULFILLER(U+3164)", "ZEROWIDTHSPACE(U+200B)"):
            assert name in text


async def test_invisible_characters_in_a_path_are_shown() -> None:
    path = f"{CWD}/a\ufe0fb.py"
    asked = permission("Edit", "edit", content=[Diff(path, "old\n", "new\n")], locations=[Location(path)])
    async with shown(asked) as dialog:
        assert "a‹fe0f›b.py" in dialog.text()
        assert "VARIATION SELECTOR-16 (U+FE0F)" in dialog.text()


async def test_text_hidden_in_a_diff_is_shown() -> None:
    path = f"{CWD}/a.py"
    asked = permission("Edit", "edit", content=[Diff(path, "one\n", escape_controls(f"two{TAIL}\u200b\n"))])
    async with shown(asked) as dialog:
        assert "two‹e0020›‹e0026›‹e0026›‹e0020›‹e0072›‹e006d›‹200b›" in dialog.text()


async def test_an_ordinary_request_has_no_note_about_invisible_characters() -> None:
    async with shown(permission("größe 漢字 🙂", "execute", raw_input={"command": "ls größe"})) as dialog:
        assert "invisible" not in dialog.text()


# --------------------------------------------------------------------------- calls that pass the bridge


async def test_a_call_that_passes_the_bridge_is_shown_with_all_its_arguments() -> None:
    arguments = {"ticket": 7, "comment": "done " * 300}
    async with shown(questions.bridged_call(arguments)) as dialog:
        text = dialog.text()
        assert "tickets › close" in text
        assert "asks to use a tool of an MCP server" in text
        assert "acp-tui's bridge" in text
        assert "50 s; then the call is refused" in text
        assert "".join(text.split()).count("done") == 300
        assert "Always allow `close` of the MCP server tickets" in text


async def test_a_tool_that_has_changed_offers_no_rule_that_allows_it() -> None:
    changed = "its description or schema has changed since you accepted it"
    async with shown(questions.bridged_call({}, changed)) as dialog:
        text = dialog.text()
        assert f"! {changed}" in text
        assert "arguments    none" in text
        assert "llow always" not in text
        assert "Always allow" not in text
