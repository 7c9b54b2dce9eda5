"""Folders and model servers for the built-in agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The workspace of a session: a program with a fault, and its test."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "sums.py").write_text("def add(a, b):\n    return a - b\n")
    (folder / "check.py").write_text(
        "from sums import add\n\nassert add(2, 3) == 5, 'add is wrong'\nprint('all good')\n"
    )
    return folder
