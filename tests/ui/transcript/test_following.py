"""The transcript follows the end until the user scrolls up, and then holds still."""

from __future__ import annotations

from textual.events import MouseScrollUp

from tests.support.looks import use_theme
from tests.ui.transcript.host import Live, messages, shown


async def test_the_view_starts_at_the_end_and_follows_it() -> None:
    async with shown(messages(20)) as (app, _):
        assert app.view.following
        assert app.lines()[-1] == "" or "answer 19 line 2" in app.lines()[-1]
        app.talk.prompt("one more")
        app.say("and its answer")
        assert app.sees("and its answer")
        assert app.view.unseen == 0


async def test_a_scrolled_up_view_stays_and_counts_new_lines() -> None:
    async with shown(messages(20)) as (app, pilot):
        await pilot.press("up", "up", "up")
        before = app.lines()
        app.talk.prompt("unseen")
        for number in range(5):
            app.say(f"new {number}\n\n")
        assert app.lines() == before
        assert app.view.unseen > 0


async def test_new_lines_of_a_known_message_are_counted() -> None:
    talk = messages(20)
    talk.prompt("count")
    talk.says("0\n\n")
    async with shown(talk) as (app, pilot):
        await pilot.press("up")
        for number in range(1, 6):
            app.say(f"{number}\n\n")
            assert app.view.unseen == 2 * number


async def test_the_end_keys_follow_again() -> None:
    async with shown(messages(20)) as (app, pilot):
        for key in ("end", "G"):
            await pilot.press("up")
            app.talk.prompt("unseen")
            app.say(f"news for {key}")
            assert app.view.unseen > 0
            await pilot.press(key)
            assert app.view.unseen == 0
            assert app.view.following
            assert app.sees(f"news for {key}")


async def test_scrolling_down_to_the_end_follows_again() -> None:
    async with shown(messages(20)) as (app, pilot):
        followed = []
        for key in ("up", "down"):
            await pilot.press(key)
            followed.append(app.view.following)
        assert followed == [False, True]
        app.say("grows")
        assert app.sees("grows")


async def test_scrolling_over_undrawn_entries_counts_no_new_lines() -> None:
    talk = messages(60, lines=1)
    prompt = talk.prompt("x" * 700)
    talk.says("y\n" * 40)
    talk.end(prompt)
    async with shown(talk) as (app, pilot):
        while app.view.scroll_offset.y > 0:
            app.view.scroll_lines(-app.view.size.height)
            await pilot.pause(0)
            assert app.view.unseen == 0


async def test_folding_counts_no_new_lines() -> None:
    talk = messages(5)
    talk.prompt("think")
    talk.thinks("a thought\n" * 30)
    talk.says("done")
    async with shown(talk) as (app, pilot):
        await pilot.press("home")
        app.view.toggle_all()
        assert app.view.unseen == 0
        app.view.toggle_all()
        assert app.view.unseen == 0
        assert app.row_of("prompt 0") == 1


async def test_the_view_follows_again_when_folding_makes_everything_fit() -> None:
    talk = Live()
    talk.opened()
    talk.prompt("run")
    output = {"type": "content", "content": {"type": "text", "text": "a line\n" * 30}}
    talk.tool("run", kind="execute", status="completed", content=[output])
    async with shown(talk) as (app, pilot):
        await pilot.press("up")
        assert not app.view.following
        app.view.toggle_all()
        assert app.view.following


async def test_a_short_conversation_starts_at_the_top() -> None:
    async with shown(messages(1, lines=1)) as (app, pilot):
        assert app.row_of("prompt 0") == 1  # with a blank line below whatever is above
        await pilot.press("up", "pageup", "home", "end", "pagedown")
        assert app.row_of("prompt 0") == 1


async def test_an_empty_transcript_survives_every_key() -> None:
    async with shown(Live()) as (app, pilot):
        await pilot.press("up", "home", "end", "space", "f", "F", "[", "}", "!", "alt+up", "n", "y", "r")
        assert all(line == "" for line in app.lines())


async def test_the_wheel_scrolls_by_three_lines() -> None:
    async with shown(messages(20)) as (app, pilot):
        top = app.view.scroll_offset.y
        await pilot._post_mouse_events([MouseScrollUp], app.view)
        await pilot.pause()
        assert app.view.scroll_offset.y == top - 3


async def test_paging_up_and_down_shows_every_line_once() -> None:
    talk = messages(12, lines=2)
    wanted = [f"prompt {number}" for number in range(12)]
    async with shown(talk) as (app, pilot):
        for key, order in (("pageup", wanted[::-1]), ("pagedown", wanted)):
            seen: list[str] = []
            while len(seen) < len(wanted):
                rows = [line.strip(" ┃") for line in app.lines()]
                page = [row for row in rows if row.startswith("prompt")]
                seen += [row for row in (page[::-1] if key == "pageup" else page) if row not in seen]
                await pilot.press(key)
            assert seen == order


async def test_resizing_keeps_the_top_line() -> None:
    async with shown(messages(30)) as (app, pilot):
        await pilot.press("pageup", "pageup")
        top = next(line for line in app.lines() if line.strip())
        for size in ((60, 20), (90, 12), (40, 8), (60, 12)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert top in app.lines()[:3]


async def test_another_theme_changes_only_colours() -> None:
    async with shown(messages(30)) as (app, pilot):
        await pilot.press("pageup")
        before = app.lines()
        use_theme(app, "light")
        app.view.apply_theme()
        assert app.lines() == before
        assert app.view.render_line(app.row_of("answer")) is not None


async def test_a_reset_shows_only_the_new_entries() -> None:
    talk = messages(3)
    async with shown(talk) as (app, _):
        load_id = talk.call("session/load", {"sessionId": "s2", "cwd": "/w", "mcpServers": []})
        talk.echoes("another conversation", session_id="s2")
        talk.answer(load_id, {})
        app.show()
        assert app.sees("another conversation")
        assert not app.sees("prompt 0")
