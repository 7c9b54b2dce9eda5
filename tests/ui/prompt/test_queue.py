"""The queue strip above the prompt."""

from __future__ import annotations

from textual.events import Key

from acp_tui.ui.widgets.strips import QueueStrip
from tests.ui.prompt.prompt_app import PromptApp, type_text


def lines(app: PromptApp) -> list[str]:
    return [app.queue.render_line(row).text.rstrip() for row in range(app.queue.size.height)]


async def test_an_empty_queue_is_hidden() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        assert app.queue.size.height == 0
        app.show_queue("one")
        await pilot.pause()
        assert app.queue.size.height == 1
        app.show_queue()
        await pilot.pause()
        assert app.queue.size.height == 0


async def test_each_prompt_is_shown_as_one_plain_line() -> None:
    app = PromptApp()
    async with app.run_test(size=(60, 24)) as pilot:
        app.show_queue("two\nlines", "[b]long[/b]\x1b " * 20)
        await pilot.pause()
        first, second = lines(app)
        assert first.startswith(" 1 two lines ")
        assert first.endswith("2 queued: Tab to edit one")
        assert second.startswith(" 2 [b]long[/b]␛ [b]long")
        assert second.endswith("…")


async def test_a_paused_queue_names_the_key_that_resumes_it() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        app.show_queue("one", paused=True)
        await pilot.pause()
        assert lines(app)[0].endswith("queued, paused: press Enter in an empty prompt to continue")


async def test_keys_send_edit_and_remove_the_selected_prompt() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        app.show_queue("one", "two", "three")
        await pilot.pause()
        app.queue.focus()
        await pilot.press("up", "s", "up", "e", "down", "down", "d")
        await pilot.pause()
        actions = [message for message in app.messages if isinstance(message, QueueStrip.PromptAction)]
        assert [(type(action), action.queued) for action in actions] == [
            (QueueStrip.SendNow, "q2"),
            (QueueStrip.Edit, "q1"),
            (QueueStrip.Remove, "q3"),
        ]


async def test_down_on_the_last_prompt_and_escape_leave_the_queue() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        app.show_queue("one", "two")
        await pilot.pause()
        for key in ("down", "escape"):
            app.queue.focus()
            await pilot.press(key)
            await pilot.pause()
            assert app.focused is app.editor


async def test_an_emptied_queue_gives_the_focus_to_the_prompt() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        app.show_queue("one", "two", "three")
        await pilot.pause()
        app.queue.focus()
        await pilot.press("up")
        app.queue.show([])
        await pilot.pause()
        assert app.focused is app.editor
        await type_text(pilot, "typing goes on")
        assert app.prompt.text == "typing goes on"


async def test_a_long_queue_scrolls() -> None:
    app = PromptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.show_queue(*(f"prompt {number}" for number in range(1, 31)))
        await pilot.pause()
        app.queue.focus()
        await pilot.pause()
        assert app.queue.size.height == 5
        assert "❯30 prompt 30" in lines(app)[-1]
        for _ in range(29):
            app.post_message(Key("up", None))
        await pilot.pause()
        assert "❯1 prompt 1 " in lines(app)[0]
