"""Internal errors of the program on a real terminal."""

from __future__ import annotations

import os
import textwrap
from typing import TYPE_CHECKING

import pytest

from tests.support.conversation_ui import agent
from tests.support.terminal import ESCAPES, MODES_OFF, MODES_ON, QUIT, REPOSITORY, Terminal

if TYPE_CHECKING:
    from pathlib import Path

FATAL = {
    "before the first frame": """
        import acp_tui.ui.conversation.status_tracker as status_tracker
        def broken(self, *args, **more):
            raise RuntimeError('a mistake [of] ours')
        status_tracker.StatusTracker.facts = broken
        """,
    "at the end": """
        import acp_tui.ui.conversation.attention as attention
        def broken(self):
            raise RuntimeError('a mistake [of] ours')
        attention.Attention.stop = broken
        """,
}


@pytest.mark.parametrize("where", FATAL)
def test_a_fatal_error_ends_the_program_with_one_sentence(tmp_path: Path, home: Path, where: str) -> None:
    with broken(tmp_path, FATAL[where]) as terminal:
        if where == "at the end":
            terminal.wait_for("idle")
            terminal.type("not sent yet")
            terminal.wait_for("not sent yet")
            terminal.type(QUIT)
        assert terminal.ended() == 1
        log = home / "state" / "acp-tui.log"
        told = " ".join(ESCAPES.sub(b"", terminal.raw[terminal.raw.rindex(MODES_OFF[-1]) :]).decode().split())
        failed = f"acp-tui: Internal error (RuntimeError: a mistake [of] ours). Details: {log}."
        assert told.startswith(failed)
        if where == "at the end":
            assert told.removeprefix(failed) == f" Resume with `acp-tui --resume {session_in(home)}`."
        assert "Traceback" in log.read_text(encoding="utf-8")
        assert terminal.settings == terminal.before
        for on, off in zip(MODES_ON, MODES_OFF, strict=True):
            assert terminal.raw.rfind(off) > terminal.raw.rfind(on) >= 0, off
        assert terminal.left_behind() == []
    if where == "at the end":
        assert "not sent yet" in (home / "state" / "drafts.jsonl").read_text(encoding="utf-8")


def session_in(home: Path) -> str:
    """Return the id of the only recorded session."""
    (folder,) = (path for path in (home / "data" / "sessions").iterdir() if path.is_dir())
    return folder.name


OPTIONS = """
    import asyncio
    import threading
    import acp_tui.ui.conversation.agent_settings as agent_settings
    import acp_tui.ui.conversation.conversation_screen as conversation

    def in_a_thread(screen):
        def fail():
            raise ValueError('[in] a thread')
        thread = threading.Thread(target=fail)
        thread.start()
        thread.join()

    def in_a_handler(screen):
        raise ValueError('[in] a handler')

    async def in_a_worker(self, name):
        raise ValueError('[in] a worker')

    def in_a_task(screen):
        async def fail():
            await asyncio.sleep(0)
            raise ValueError('[in] a task')
        asyncio.get_running_loop().create_task(fail())

    def in_a_callback(screen):
        def fail():
            raise ValueError('[in] a callback')
        asyncio.get_running_loop().call_soon(fail)

    options = conversation.ConversationScreen.action_options
    ways = iter([in_a_thread, in_a_handler, options, in_a_task, in_a_callback])
    conversation.ConversationScreen.action_options = lambda self: next(ways)(self)
    agent_settings.AgentSettings._choose_option = in_a_worker
    """
"""Each time the options are opened, something else fails."""

KEYBOARD = """
    import acp_tui.ui.terminal.driver as driver
    read = driver.TerminalDriver._read
    def broken(self):
        data = read(self)
        if data and b'\\x0e' in data:
            raise ValueError('[on] the keys')
        return data
    driver.TerminalDriver._read = broken
    """

SCREEN = """
    from textual.widgets import Static
    import acp_tui.ui.conversation.session_screen as session_screen
    import acp_tui.ui.dialogs.help as help

    class Broken(Static):
        def render_line(self, y):
            raise ValueError('[while] drawing')

    def broken(self):
        changes = self._changes._changes.values()
        if any(getattr(change.entry, 'text', '') == 'not shown' for change in changes):
            raise ValueError('[in] a message')
        flush(self)

    flush = session_screen.FrameScheduler.flush
    session_screen.FrameScheduler.flush = broken
    help.HelpScreen.compose = lambda self: [Broken('words')]
    """
CTRL_N, CTRL_O, F1 = "\x0e", "\x0f", "\x1bOP"


def test_unexpected_errors_are_reported_and_the_app_goes_on(tmp_path: Path, home: Path) -> None:
    with broken(tmp_path, OPTIONS, KEYBOARD) as terminal:
        terminal.resize(100, 60)  # has room for all messages
        terminal.wait_for("idle")
        terminal.type("not sent yet")
        terminal.wait_for("not sent yet")
        terminal.type(CTRL_O)  # fails in a thread and shows nothing
        for where in ("[in] a handler", "[in] a worker", "[in] a task", "[in] a callback"):
            terminal.type(CTRL_O)
            terminal.sees(where)
        terminal.type(CTRL_N)
        terminal.sees("[on] the keys")
        terminal.type("; but now\r")
        terminal.wait_for("┃ not sent yet; but now", "idle")
        assert terminal.quit() == 0
        assert terminal.left_behind() == []
        assert b"a thread" not in terminal.raw
    assert_logged(home, "a thread", "a handler", "a worker", "a task", "a callback", "the keys")


def test_the_app_can_be_quit_after_errors_in_what_it_shows(tmp_path: Path, home: Path) -> None:
    with broken(tmp_path, SCREEN) as terminal:
        terminal.wait_for("idle")
        terminal.type("not shown\r")
        terminal.sees("Unexpected error:", "[in] a message")
        terminal.type(F1)
        terminal.sees("[while] drawing")
        assert terminal.quit() == 0
        assert terminal.left_behind() == []
    assert_logged(home, "[in] a message", "[while] drawing")


def assert_logged(home: Path, *errors: str) -> None:
    """Assert that the log contains these errors."""
    log = (home / "state" / "acp-tui.log").read_text(encoding="utf-8")
    assert [error for error in errors if error not in log] == []


def broken(directory: Path, *mistakes: str) -> Terminal:
    """Start acp-tui with mistakes patched in."""
    (directory / "sitecustomize.py").write_text("\n".join(map(textwrap.dedent, mistakes)))
    paths = f"{directory}{os.pathsep}{REPOSITORY}"
    return Terminal("--command", agent("script"), cwd=directory, PYTHONPATH=paths)
