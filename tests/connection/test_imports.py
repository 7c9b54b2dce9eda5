"""What is slow to import is imported when an agent is already starting."""

from __future__ import annotations

import subprocess
import sys


def test_the_connection_loads_the_sdk_only_when_it_starts_an_agent() -> None:
    script = (
        "import acp_tui.connection.agent_connection, acp_tui.console.log_file, sys;"
        "print(sorted({'acp', 'pydantic'} & set(sys.modules)))"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"
