"""What every test gets: a home of its own, so that nobody's settings or sessions are touched."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


# Under `nohup` it is ignored, which is inherited: nothing would end when its terminal goes away.
signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory that holds acp-tui's own files during the test."""
    directory = tmp_path / "acp-tui-home"
    monkeypatch.setenv("ACP_TUI_HOME", str(directory))
    monkeypatch.setenv("SSH_TTY", "/dev/null")  # so that no clipboard of anybody's is written
    monkeypatch.setenv("SHELL", "/bin/sh")  # commands run through the user's, which may be any
    hooks = [name for name in os.environ if name.startswith("GIT_")]  # when git itself runs the tests
    for name in ("TMUX", "STY", *hooks):
        monkeypatch.delenv(name, raising=False)
    return directory
