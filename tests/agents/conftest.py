"""Fixtures that install fake programs and write settings files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pytest

from acp_tui.config.settings import Settings, load

if TYPE_CHECKING:
    from pathlib import Path


class Install(Protocol):
    """A function that puts programs on the PATH and returns their directory."""

    def __call__(self, *names: str) -> Path: ...


class Configure(Protocol):
    """A function that writes `config.toml` and returns the settings."""

    def __call__(self, text: str = "") -> Settings: ...


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Replace the PATH with an empty directory, for the programs that a test installs."""
    directory = tmp_path / "bin"
    directory.mkdir()
    monkeypatch.setenv("PATH", str(directory))

    def put(*names: str) -> Path:
        for name in names:
            (directory / name).write_text("#!/bin/sh\n")
            (directory / name).chmod(0o755)
        return directory

    return put


@pytest.fixture
def configure(home: Path, tmp_path: Path) -> Configure:
    """Write `config.toml` and read the settings, without variables."""

    def read(text: str = "") -> Settings:
        (home / "config").mkdir(parents=True, exist_ok=True)
        (home / "config" / "config.toml").write_text(text)
        return load(tmp_path, environ={})

    return read
