"""Comments on changed lines: written, kept, and sent to the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.events import AppBlur, AppFocus, Key, Paste

from acp_tui.ui.screens.review.diff_view import DiffView
from acp_tui.ui.screens.review.review_screen import ReviewScreen
from tests.ui.screens.review.test_review import CHANGED, change_both, numbered, open_review, project, run_turn

if TYPE_CHECKING:
    from pathlib import Path

    from acp_tui.review.comments import Comment
    from tests.support.conversation_ui import ConversationUi, Open

__all__ = ["project"]  # a fixture


async def write(ui: ConversationUi, text: str) -> None:
    """Write a comment at the cursor."""
    await ui.press("c")
    await ui.sees("Comment on line")
    ui.app.post_message(Paste(text))
    await ui.sees(text.strip())
    await ui.press("enter")


def comments(ui: ConversationUi) -> list[Comment]:
    return ui.made[0].conversation.review.comments


async def test_a_comment_is_shown_below_its_line_until_it_is_emptied(open_ui: Open, project: Path) -> None:
    async with open_ui() as ui:
        await change_both(ui, project)
        await ui.press("down", "c")
        for key in "yuZSU?":  # the keys of the screen are text here
            ui.app.post_message(Key(key, key))
        await ui.press("enter")
        await ui.sees("│ yuZSU?", "1 comment", "●1", "0 of 4 reviewed")
        lines = ui.lines()
        at = next(number for number, line in enumerate(lines) if "yuZSU?" in line)
        assert "+ five" in lines[at - 1]
        await ui.press("down")
        await write(ui, " two")
        await ui.sees("│ yuZSU? two")
        await ui.press("c", "ctrl+u", "enter")
        await ui.until(lambda: "comment " not in ui.text().replace("c comment", ""))
        assert comments(ui) == []


async def test_a_comment_on_several_lines_is_kept_when_the_screen_is_closed_and_after_a_crash(
    open_ui: Open, project: Path
) -> None:
    async with open_ui() as ui:
        await change_both(ui, project)
        await ui.press("v", "down", "down", "c")
        await ui.sees("Comment on lines 5-6")
        await ui.pilot.click(DiffView)  # the focus stays in the comment
        await ui.press("B", "enter")
        await ui.until(lambda: bool(comments(ui)))
        [comment] = written = comments(ui)
        assert comment.excerpt == ("-line 5", "+five", " line 6")
        await ui.press("escape", "f2")
        await ui.sees("1 comment", "│ B")
        conversation = ui.made[0].conversation
        conversation.review.comments = []
        ui.made[0].app_context.load_comments(conversation)  # as the next run does
        assert comments(ui) == written


async def test_a_comment_can_have_several_lines(open_ui: Open, project: Path) -> None:
    async with open_ui() as ui:
        await change_both(ui, project)
        await ui.press("c", *"one", "ctrl+j", *"two")
        await ui.sees("one", "two", "Ctrl+J new line")
        await ui.press("up", "end", "!", "enter")
        await ui.sees("│ one!", "│ two", "1 comment")
        assert [comment.text for comment in comments(ui)] == ["one!\ntwo"]
        await ui.press("down", "c")
        await ui.sees("Comment on line")
        await ui.press("ctrl+j", *"three", "enter")
        await ui.sees("│ one!", "│ two", "│ three")
        await ui.press("S")
        await ui.until(lambda: len(ui.prompts()) == 2)
        assert "one!\ntwo\nthree" in ui.prompts()[1]


async def test_comments_on_a_reviewed_file_are_still_shown(open_ui: Open, project: Path) -> None:
    async with open_ui() as ui:
        await change_both(ui, project)
        await ui.press("}", "down")
        await write(ui, "accepted anyway")
        await ui.press("f")
        await ui.sees("Files with comments")
        await ui.press("end", "down", "down", "enter")
        await ui.sees("Changes · Files with comments", "b.txt")
        assert "a.txt" not in ui.text()
        await ui.press("y")
        await ui.sees("✓ b.txt", "│ accepted anyway", "Z undo")


async def test_a_comment_on_changed_code_is_outdated(open_ui: Open, project: Path) -> None:
    async with open_ui() as ui:
        await change_both(ui, project)
        await ui.press("down")
        await write(ui, "why five")
        await ui.press("escape")
        await run_turn(ui, (project / "a.txt", CHANGED.replace("five\n", "5\n", 1)))
        await open_review(ui)
        await ui.sees("Comment on line 5", "why five  outdated")
        await ui.press("escape")
        (project / "a.txt").write_text(numbered())
        await open_review(ui)
        await ui.sees("No longer changed", "a.txt", "●1")
        await ui.press("tab", "end")
        await ui.sees("Comment on line 5", "why five  outdated")


async def test_a_comment_is_replaced_although_its_file_changed_while_it_was_edited(
    open_ui: Open, project: Path
) -> None:
    async with open_ui() as ui:
        await change_both(ui, project)
        await ui.press("down")
        await write(ui, "why five")
        await ui.sees("│ why five")
        for _ in range(2):  # each makes a new, equal comment
            ui.app.post_message(AppBlur())
            ui.app.post_message(AppFocus())
        await ui.press("down", "c")
        await ui.sees("Comment on line 5", "Enter save")
        (project / "a.txt").write_text("above\n" + CHANGED)
        ui.app.post_message(AppBlur())
        ui.app.post_message(AppFocus())
        await ui.until(lambda: comments(ui)[0].first == 6)
        await ui.press("!", "enter")
        await ui.until(lambda: [comment.text for comment in comments(ui)] == ["why five!"])


async def test_all_comments_are_sent_as_one_prompt(open_ui: Open, project: Path) -> None:
    async with open_ui() as ui:
        await change_both(ui, project)
        await ui.press("y", "down")
        await write(ui, "Spell it.")
        await ui.press("}", "down")
        await write(ui, "Keep the old one?")
        await ui.sees("2 comments", "S send")
        await ui.press("S")
        await ui.until(lambda: len(ui.prompts()) == 2)
        assert not isinstance(ui.app.screen, ReviewScreen)
        prompt = ui.prompts()[1]
        assert "a.txt, line 20:\n\n```diff\n+twenty\n```\n\nSpell it." in prompt
        assert "b.txt, line 1:\n\n```diff\n+new\n```\n\nKeep the old one?" in prompt
        await ui.until(lambda: ui.session.phase == "idle")
        await ui.press("f2")
        await ui.sees("0 of 3 reviewed")
