"""Fixtures that write settings files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pytest

if TYPE_CHECKING:
    from pathlib import Path


class WriteConfig(Protocol):
    """A function that writes a file in the config directory."""

    def __call__(self, text: str, name: str = "config.toml") -> Path: ...


@pytest.fixture
def write_config(home: Path) -> WriteConfig:
    """Write `config.toml`, or another file beside it."""

    def write(text: str, name: str = "config.toml") -> Path:
        file = home / "config" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    return write


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Create an empty project directory."""
    directory = tmp_path / "project"
    directory.mkdir()
    return directory
