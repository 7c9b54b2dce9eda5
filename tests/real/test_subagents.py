"""Subagents of real agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.real.test_on_screen import open_terminal, quit_app

if TYPE_CHECKING:
    from pathlib import Path


def test_the_transcript_of_a_subagent_of_claude_code_opens(project: Path) -> None:
    with open_terminal("claude-code", project) as terminal:
        terminal.sees("idle")
        terminal.type("mock:sub\r")
        terminal.sees("◈ run the mock step", "message from run the mock step", "idle")
        terminal.type("\t{\r")
        terminal.sees("Subagent: run the mock", "message from the agent", "short answer from the mock model")
        terminal.type("\x1b")
        terminal.sees("◈ run the mock step", "Message ")
        quit_app(terminal)
