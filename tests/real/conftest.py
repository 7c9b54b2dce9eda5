"""Real agents against a mock model. They are installed by hand, so these tests are skipped elsewhere.

`$REALAGENTS_HOME` says where the agents are, and `$ACP_TUI_RIG` where the rig is that starts them (by default
beside the repository): its `launch.py NAME` runs one agent on its standard streams, and a marker in the
prompt (`mock:read PATH` …) chooses what the model does.
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
    """Mark all that is here, and skip it where there are no agents."""
    missing = None
    if not HOME or not Path(HOME).is_dir():
        missing = "REALAGENTS_HOME does not name a directory of installed agents"
    elif not LAUNCH.is_file():
        missing = f"there is no {LAUNCH}; ACP_TUI_RIG names the place of the rig"
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("real")
            if missing:
                item.add_marker(pytest.mark.skip(reason=missing))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder to work in."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "notes.txt").write_text("one two three\n")
    return folder


def launcher(name: str) -> str:
    """The command line of one agent."""
    return shlex.join([sys.executable, str(LAUNCH), name])
