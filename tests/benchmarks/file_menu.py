"""How long after a key its letter stands in the prompt, and the files that it may mean in the menu.

    python -m tests.benchmarks.file_menu

In a repository of 100,000 files, while they are listed and afterwards. The goal for the files is 100 ms.
"""

from __future__ import annotations

import asyncio
import subprocess
import tempfile
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from textual.events import Key

from acp_tui.processes.reaper import Reaper
from acp_tui.workspace.files.file_listing import FileListing
from tests.ui.prompt.prompt_app import PromptApp

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.ui.prompt.menus import FileMenu

FILES = 100_000
GOAL = 100.0
WORDS = [
    *("core", "utils", "handlers", "models", "views", "api", "client"),
    *("server", "tests", "widgets", "parser", "reader", "writer", "config"),
]


def tree(folder: Path) -> None:
    """A repository with everything in its index."""
    for number in range(FILES // 50):
        below = folder / WORDS[number % 14] / f"{WORDS[number // 14 % 14]}_{number % 97}" / f"part{number}"
        below.mkdir(parents=True)
        for file in range(50):
            (below / f"{WORDS[(number + file) % 14]}_{WORDS[(number * 7 + file * 3) % 14]}_{file}.py").touch()
    for words in (["init", "--quiet"], ["add", "--all"]):
        subprocess.run(["git", *words], cwd=folder, check=True)


async def until(condition: Callable[[], bool]) -> None:
    """Wait, and look at every turn of the loop."""
    while not condition():  # noqa: ASYNC110 - an event would be set by what is measured
        await asyncio.sleep(0)


async def press(app: PromptApp, menu: FileMenu, key: str) -> tuple[float, float]:
    """Milliseconds until the letter is there, and until the search for it has ended."""
    start, before = perf_counter(), app.editor.text
    app.post_message(Key(key, key))
    await until(lambda: app.editor.text != before)
    echo = perf_counter() - start
    wanted = app.editor.text[1:]
    await until(lambda: menu._search is not None and menu._search.wanted == wanted and menu._search.done)
    return echo * 1000, (perf_counter() - start) * 1000


async def measure(folder: Path) -> float:
    """Prints each key; the longest wait for files when all are known."""
    reaper = Reaper()
    listing = FileListing([folder], reaper=reaper)
    app = PromptApp()
    worst = 0.0
    async with app.run_test(size=(100, 30)) as pilot:
        app.prompt.set_files(str(folder), listing.current)
        menu = app.prompt._files
        for text in ("@core_utils", "@pwr12_8q", "@zzz"):
            app.prompt.load("")
            await pilot.pause()
            complete = listing.current().complete
            print("all files are listed" if complete else "while the files are listed")
            for key in text:
                echo, files = await press(app, menu, key)
                print(f"  {app.editor.text:12} letter {echo:6.1f} ms   files {files:6.1f} ms")
                worst = max(worst, files) if complete else worst
            await until(lambda: listing.current().complete)
    listing.close()
    reaper.close()
    return worst


def main() -> None:
    """Make the tree, measure."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        tree(folder)
        worst = asyncio.run(measure(folder))
    print(f"the longest wait for files: {worst:.0f} ms (goal: {GOAL:.0f} ms)")


if __name__ == "__main__":
    main()
