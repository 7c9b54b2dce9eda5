"""An "always" for a folder on a real terminal: it is saved, used after a restart, and revoked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.support.conversation_ui import agent
from tests.support.terminal import Terminal

if TYPE_CHECKING:
    from pathlib import Path

ESC, DOWN, DELETE, SHIFT_F4 = "\x1b[27u", "\x1b[B", "\x1b[3~", "\x1b[1;2S"
BY_RULE = "allowed by rule: edit anything in src/ · this project · scripted"


def ask_for_edit(terminal: Terminal, project: Path, name: str) -> None:
    """Send a prompt for which the agent asks to edit a file."""
    call = {"title": f"Edit {name}", "kind": "edit", "locations": [{"path": str(project / "src" / name)}]}
    terminal.type(json.dumps([["permission", call]]) + "\r")


def test_an_always_for_a_folder_is_remembered_until_it_is_revoked(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    command = ("--command", agent("script"))
    with Terminal(*command, cwd=project) as terminal:
        terminal.wait_for("idle")
        ask_for_edit(terminal, project, "a.py")
        terminal.wait_for("asks to change a file", "reject with reason")
        terminal.type("A")
        terminal.wait_for("edit anything in src/", "allow and remember")
        terminal.type(DOWN)
        terminal.wait_for("Editing src/** will be allowed without asking")
        terminal.type("\r")
        terminal.wait_for("idle")
        ask_for_edit(terminal, project, "b.py")
        terminal.wait_for(BY_RULE, "idle")
        assert terminal.quit() == 0
    with Terminal(*command, cwd=project) as terminal:
        terminal.wait_for("idle")
        ask_for_edit(terminal, project, "c.py")
        terminal.wait_for(BY_RULE, "idle")
        terminal.type(SHIFT_F4)
        terminal.wait_for("Permission rules", "src/")
        terminal.type(DELETE)
        terminal.wait_for("Revoked")
        terminal.type(ESC)
        terminal.wait_for("idle")
        ask_for_edit(terminal, project, "d.py")
        terminal.wait_for("asks to change a file", "reject with reason")
        terminal.type("r")
        terminal.wait_for("idle")
        assert terminal.quit() == 0
