"""What the tests of the workspace get."""

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
    """What the person at this machine ignores everywhere has no part in the tests."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "no-config"))


@pytest.fixture
def unprivileged(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of ours, while nothing is readable or writable to us that its mode forbids: also as root."""
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
