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

OPTIONS = "\x0f"
"""Ctrl+O."""

MISTAKES = {
    "before the first frame": """
        import acp_tui.ui.conversation.status_tracker as status_tracker
        def broken(self, *args, **more):
            raise RuntimeError('a mistake [of] ours')
        status_tracker.StatusTracker.facts = broken
        """,
    "in a handler": """
        import acp_tui.ui.screens.conversation.conversation_screen as conversation
        def broken(self):
            raise RuntimeError('a mistake [of] ours')
        conversation.ConversationScreen.action_options = broken
        """,
    "in a worker": """
        import acp_tui.ui.screens.conversation.agent_settings as agent_settings
        async def broken(self, name):
            raise RuntimeError('a mistake [of] ours')
        agent_settings.AgentSettings._choose_option = broken
        """,
    "while drawing": """
        from textual.widgets import Static
        import acp_tui.ui.screens.dialogs.help as help
        class Broken(Static):
            def render_line(self, y):
                raise RuntimeError('a mistake [of] ours')
        help.HelpScreen.compose = lambda self: [Broken('words')]
        """,
    "in what comes from the agent": """
        import acp_tui.ui.conversation.frame_batch as frame_batch
        flush = frame_batch.FrameBatch.flush
        def broken(self):
            if any(getattr(change.entry, 'text', '') == 'not sent yet' for change in self._changes):
                raise RuntimeError('a mistake [of] ours')
            flush(self)
        frame_batch.FrameBatch.flush = broken
        """,
    "on the keyboard": """
        import acp_tui.ui.terminal.driver as driver
        read = driver.TerminalDriver._read
        def broken(self):
            data = read(self)
            if data and b'\\x0f' in data:
                raise RuntimeError('a mistake [of] ours')
            return data
        driver.TerminalDriver._read = broken
        """,
    "at the end": """
        import acp_tui.ui.conversation.attention as attention
        def broken(self):
            raise RuntimeError('a mistake [of] ours')
        attention.Attention.stop = broken
        """,
}

TRIGGERS = {"while drawing": "\x1bOP", "in what comes from the agent": "\r", "at the end": QUIT}
"""What is typed (F1, Enter, Ctrl+Q); else the key of the options."""


FATAL = ("before the first frame", "at the end")


@pytest.mark.parametrize("where", FATAL)
def test_a_fatal_error_ends_the_program_with_one_sentence(tmp_path: Path, home: Path, where: str) -> None:
    with broken(tmp_path, MISTAKES[where]) as terminal:
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


@pytest.mark.parametrize("where", sorted(MISTAKES.keys() - set(FATAL)))
def test_an_unexpected_error_is_reported_and_the_app_goes_on(tmp_path: Path, home: Path, where: str) -> None:
    with broken(tmp_path, MISTAKES[where]) as terminal:
        terminal.wait_for("idle")
        terminal.type("not sent yet")
        terminal.wait_for("not sent yet")
        terminal.type(TRIGGERS.get(where, OPTIONS))
        terminal.wait_for("Unexpected error:")
        if where not in ("in what comes from the agent", "while drawing"):  # else the prompt is not seen
            terminal.type("; but now\r")
            terminal.wait_for("┃ not sent yet; but now", "idle")
        assert terminal.quit() == 0
        assert terminal.left_behind() == []
    assert "a mistake [of] ours" in (home / "state" / "acp-tui.log").read_text(encoding="utf-8")


def session_in(home: Path) -> str:
    """Return the id of the only recorded session."""
    (folder,) = (path for path in (home / "data" / "sessions").iterdir() if path.is_dir())
    return folder.name


BESIDE = {
    "in a task that nobody waits for": """
        import asyncio
        import acp_tui.ui.screens.conversation.conversation_screen as conversation
        async def fail():
            await asyncio.sleep(0)
            raise RuntimeError('a mistake [of] ours')
        def broken(self):
            asyncio.get_running_loop().create_task(fail())
        conversation.ConversationScreen.action_options = broken
        """,
    "in a callback": """
        import asyncio
        import acp_tui.ui.screens.conversation.conversation_screen as conversation
        def fail():
            raise RuntimeError('a mistake [of] ours')
        def broken(self):
            asyncio.get_running_loop().call_soon(fail)
        conversation.ConversationScreen.action_options = broken
        """,
}


@pytest.mark.parametrize("where", BESIDE)
def test_an_error_in_a_background_task_is_reported_and_the_app_goes_on(
    tmp_path: Path, home: Path, where: str
) -> None:
    with broken(tmp_path, BESIDE[where]) as terminal:
        terminal.wait_for("idle")
        terminal.type(OPTIONS)
        terminal.wait_for("Unexpected error:")  # the log is named in lines of any length
        terminal.type("go on\r")
        terminal.wait_for("┃ go on")
        assert terminal.quit() == 0
    assert "a mistake [of] ours" in (home / "state" / "acp-tui.log").read_text(encoding="utf-8")


def test_an_error_in_a_thread_prints_nothing_on_the_screen(tmp_path: Path, home: Path) -> None:
    mistake = """
        import threading
        import acp_tui.ui.screens.conversation.conversation_screen as conversation
        def fail():
            raise RuntimeError('a mistake [of] ours')
        def broken(self):
            thread = threading.Thread(target=fail)
            thread.start()
            thread.join()
            self.app.exit()
        conversation.ConversationScreen.action_options = broken
        """
    with broken(tmp_path, mistake) as terminal:
        terminal.wait_for("idle")
        terminal.type(OPTIONS)
        assert terminal.ended() == 0
        assert b"a mistake" not in terminal.raw
    assert "a mistake [of] ours" in (home / "state" / "acp-tui.log").read_text(encoding="utf-8")


def broken(directory: Path, mistake: str) -> Terminal:
    """Start acp-tui with a mistake patched in."""
    (directory / "sitecustomize.py").write_text(textwrap.dedent(mistake))
    paths = f"{directory}{os.pathsep}{REPOSITORY}"
    return Terminal("--command", agent("script"), cwd=directory, PYTHONPATH=paths)
