"""The update of the index while the app runs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, ClassVar

from acp_tui.config.paths import paths, private_directory
from acp_tui.session_list.search import SessionSearch
from acp_tui.store.locks import file_lock
from tests.support.leftovers import processes_with
from tests.support.stored_sessions import record_session
from tests.support.terminal import Terminal
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

INDEXER = "acp_tui.session_list.index_process"
AT_ONCE = """
import sys
from acp_tui.cli import main
from acp_tui.cli.commands import run
run.INDEX_DELAY_SECONDS = 0.0
sys.exit(main())
"""


class IndexingTerminal(Terminal):
    """A terminal whose acp-tui does not wait before it updates the index."""

    program: ClassVar[list[str]] = [sys.executable, "-c", AT_ONCE]

    def indexers(self) -> list[int]:
        """Return the processes of this acp-tui that update the index."""
        return sorted({*processes_with(self.mark)} & {*processes_with(INDEXER)})


def is_found(text: str) -> bool:
    search = SessionSearch(paths().cache)
    try:
        return bool(search.search(text)) if search.facts() else False
    finally:
        search.close()


def test_the_index_is_updated_although_nobody_searches(tmp_path: Path) -> None:
    record_session(paths().data, [("an acorn", "ok")])
    with IndexingTerminal("demo", cwd=tmp_path) as terminal:
        terminal.until(lambda: is_found("acorn"))
        terminal.sees("Type")
        assert terminal.quit() == 0


def test_an_update_ends_with_the_app(tmp_path: Path) -> None:
    private_directory(paths().cache)
    with file_lock(paths().cache / "sessions.lock", timeout=0):  # so that the update does not end by itself
        with IndexingTerminal("demo", cwd=tmp_path) as terminal:
            terminal.until(lambda: bool(terminal.indexers()))
            terminal.sees("Type")
            assert terminal.quit() == 0
        assert not terminal.indexers()


def test_an_update_ends_when_the_app_is_killed(tmp_path: Path) -> None:
    private_directory(paths().cache)
    with (
        file_lock(paths().cache / "sessions.lock", timeout=0),
        IndexingTerminal("demo", cwd=tmp_path) as terminal,
    ):
        terminal.until(lambda: bool(terminal.indexers()))
        terminal.process.kill()
        wait_until(lambda: not terminal.indexers())
