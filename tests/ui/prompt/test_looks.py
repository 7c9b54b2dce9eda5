"""Snapshots of the prompt, its menus and the queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.events import Paste

from acp_tui.ui.widgets.bar import KeyBar
from acp_tui.workspace.files.file_listing import ListedFiles
from tests.support.looks import look, two_looks
from tests.support.waiting import until
from tests.ui.prompt.prompt_app import PromptApp, type_text

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual.pilot import Pilot

    Snap = Callable[..., bool]
    Steps = Callable[[PromptApp, Pilot[None]], Awaitable[None]]

HISTORY = ("fix the login bug", "explain this:\ndef f(): ...", "run the tests and fix what fails", "漢字 too")


async def _empty(app: PromptApp, pilot: Pilot[None]) -> None:
    await pilot.pause()


async def _pastes(app: PromptApp, pilot: Pilot[None]) -> None:
    app.post_message(Paste("a few words\nand a second line, which goes on "))
    await pilot.pause()
    app.post_message(Paste("line\n" * 120))
    await pilot.pause()
    app.post_message(Paste("x" * 2000))
    await pilot.pause()
    app.post_message(Paste(" until it has to wrap around at the edge of the screen, wide as that is"))
    await until(lambda: "Alt+U unfold paste" in app.query_one(KeyBar).render_line(0).text)


async def _menu(app: PromptApp, pilot: Pilot[None]) -> None:
    await type_text(pilot, "/e")


async def _files(app: PromptApp, pilot: Pilot[None]) -> None:
    found = ListedFiles()
    found.add(["src/login.py", "src/pages/login_page.py", "tests/test_login.py", "docs/images/login.png"])
    found.complete = True
    app.prompt.set_files("/", lambda: found)
    app.prompt.refuse_images("Demo does not accept images")
    app.prompt.attach_output("pytest -q", "1 failed")
    await type_text(pilot, "fix @login")
    await until(lambda: app.prompt._files.display)


async def _shell(app: PromptApp, pilot: Pilot[None]) -> None:
    await type_text(pilot, "!git status")


async def _hint(app: PromptApp, pilot: Pilot[None]) -> None:
    await type_text(pilot, "/ed")
    await pilot.press("tab")


async def _search(app: PromptApp, pilot: Pilot[None]) -> None:
    await pilot.press("ctrl+r")
    await type_text(pilot, "fi")


async def _queue(app: PromptApp, pilot: Pilot[None]) -> None:
    app.show_queue("then run the tests", "and " + "tell me about them " * 10, paused=True)
    await pilot.pause()
    app.queue.focus()


async def _help(app: PromptApp, pilot: Pilot[None]) -> None:
    await pilot.press("f1")


def _look(snap_compare: Snap, theme: str, size: tuple[int, int], steps: Steps) -> bool:
    app = PromptApp(*HISTORY, theme=theme)

    async def before(pilot: Pilot[None]) -> None:
        await steps(app, pilot)
        await pilot.pause()

    return snap_compare(app, terminal_size=size, run_before=before)


@look
def test_an_empty_prompt(snap_compare: Snap, theme: str, size: tuple[int, int]) -> None:
    assert _look(snap_compare, theme, size, _empty)


@two_looks
def test_a_prompt_with_pastes(snap_compare: Snap, theme: str, size: tuple[int, int]) -> None:
    assert _look(snap_compare, theme, size, _pastes)


@two_looks
def test_the_menu_of_commands(snap_compare: Snap, theme: str, size: tuple[int, int]) -> None:
    assert _look(snap_compare, theme, size, _menu)


@look
def test_the_menu_of_files(snap_compare: Snap, theme: str, size: tuple[int, int]) -> None:
    assert _look(snap_compare, theme, size, _files)


@two_looks
def test_a_command_for_the_shell(snap_compare: Snap, theme: str, size: tuple[int, int]) -> None:
    assert _look(snap_compare, theme, size, _shell)


@two_looks
def test_the_hint_of_a_command(snap_compare: Snap, theme: str, size: tuple[int, int]) -> None:
    assert _look(snap_compare, theme, size, _hint)


@two_looks
def test_the_search_in_the_history(snap_compare: Snap, theme: str, size: tuple[int, int]) -> None:
    assert _look(snap_compare, theme, size, _search)


@two_looks
def test_the_queue(snap_compare: Snap, theme: str, size: tuple[int, int]) -> None:
    assert _look(snap_compare, theme, size, _queue)


@two_looks
def test_the_help(snap_compare: Snap, theme: str, size: tuple[int, int]) -> None:
    assert _look(snap_compare, theme, size, _help)
