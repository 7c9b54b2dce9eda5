"""Real agents with a mock model. The tests are skipped unless the agents have been installed by hand.

`$REALAGENTS_HOME` is the directory with the agents, and `$ACP_TUI_RIG` the one with the programs that start
them: `launch.py NAME` runs an agent on its standard streams. A marker in the prompt, such as
`mock:read PATH`, selects what the model does.
"""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
RIG = Path(os.environ.get("ACP_TUI_RIG") or REPOSITORY / ".." / "shared" / "realagents").resolve()
LAUNCH = RIG / "launch.py"
HOME = os.environ.get("REALAGENTS_HOME")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests in this folder, and skip them if the agents are not installed."""
    missing = None
    if not HOME or not Path(HOME).is_dir():
        missing = "REALAGENTS_HOME does not name a directory of installed agents"
    elif not LAUNCH.is_file():
        missing = f"there is no {LAUNCH}; set ACP_TUI_RIG to its directory"
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("real")
            if missing:
                item.add_marker(pytest.mark.skip(reason=missing))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Create a project with one file."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "notes.txt").write_text("one two three\n")
    return folder


def launcher(name: str) -> str:
    """Return the command line of an agent."""
    return shlex.join([sys.executable, str(LAUNCH), name])
