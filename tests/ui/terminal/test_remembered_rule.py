"""An "always" for a folder on a real terminal: it is saved, used after a restart, and revoked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.support.conversation_ui import agent
from tests.support.terminal import PreloadedTerminal, Terminal
from tests.support.trust_steps import (
    BY_RULE,
    always_allow_edits_in_src,
    revoke_the_only_rule,
    wait_for_edit_question,
)

if TYPE_CHECKING:
    from pathlib import Path


def ask_for_edit(terminal: Terminal, project: Path, name: str) -> None:
    """Send a prompt for which the agent asks to edit a file."""
    call = {"title": f"Edit {name}", "kind": "edit", "locations": [{"path": str(project / "src" / name)}]}
    terminal.type(json.dumps([["permission", call]]) + "\r")


def test_an_always_for_a_folder_is_remembered_until_it_is_revoked(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    command = ("--command", agent("script"))
    with PreloadedTerminal(*command, cwd=project) as terminal:
        terminal.sees("idle")
        ask_for_edit(terminal, project, "a.py")
        always_allow_edits_in_src(terminal)
        terminal.sees("allowed: edit src/a.py", "idle")
        ask_for_edit(terminal, project, "b.py")
        terminal.sees(BY_RULE, "idle")
        assert terminal.quit() == 0
    with PreloadedTerminal(*command, cwd=project) as terminal:
        terminal.sees("idle")
        ask_for_edit(terminal, project, "c.py")
        terminal.sees(BY_RULE, "idle")
        revoke_the_only_rule(terminal)
        ask_for_edit(terminal, project, "d.py")
        wait_for_edit_question(terminal)
        terminal.type("r")
        terminal.sees("rejected: edit", "idle")
        assert terminal.quit() == 0
