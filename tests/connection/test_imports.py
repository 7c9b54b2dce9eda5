"""Modules that are slow to import are imported after the first frame."""

from __future__ import annotations

import subprocess
import sys


def imported(modules: str, unwanted: set[str]) -> set[str]:
    """Return the unwanted modules that importing these loads."""
    script = f"import sys, {modules}; print(*{unwanted} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_connection_loads_the_sdk_only_when_it_starts_an_agent() -> None:
    modules = "acp_tui.connection.agent_connection, acp_tui.store.log_file"
    assert imported(modules, {"acp", "pydantic"}) == set()


def test_the_first_screen_loads_nothing_that_only_a_conversation_needs() -> None:
    later = {"acp_tui.protocol.translator", "acp_tui.session.events", "acp_tui.controller", "acp_tui.store"}
    assert imported("acp_tui.ui.conversation.conversation_screen", later) == set()
