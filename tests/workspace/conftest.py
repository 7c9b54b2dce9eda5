"""What the tests of the workspace get."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def no_global_ignore_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the person at this machine ignores everywhere has no part in the tests."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "no-config"))
