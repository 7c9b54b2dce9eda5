"""Fixtures for the tests of the workspace."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

NOBODY = 65534


@pytest.fixture(autouse=True)
def no_global_ignore_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the global ignore file of the user who runs the tests."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "no-config"))


@pytest.fixture
def unprivileged(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Create a folder and drop the rights of root, so that file modes apply."""
    folder = Path(tempfile.mkdtemp(prefix="acp-tui-test-")).resolve()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "no-config"))
    was_root = os.geteuid() == 0
    if was_root:
        os.chown(folder, NOBODY, NOBODY)
        os.seteuid(NOBODY)
    try:
        yield folder
    finally:
        if was_root:
            os.seteuid(0)
        shutil.rmtree(folder)
