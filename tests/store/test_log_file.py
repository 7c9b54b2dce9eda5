"""Logging goes to a private file, never to stderr."""

from __future__ import annotations

import logging
import stat
from typing import TYPE_CHECKING

import pytest

from acp_tui.store import log_file
from acp_tui.store.log_file import log_to_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ROOT = logging.getLogger()


@pytest.fixture(autouse=True)
def root_logger() -> Iterator[None]:
    """Restore the root logger after the test."""
    root = ROOT
    handlers, level, raising = root.handlers[:], root.level, logging.raiseExceptions
    root.handlers[:] = []
    yield
    for handler in root.handlers:
        handler.close()
    root.handlers[:], logging.raiseExceptions = handlers, raising
    root.setLevel(level)


def test_messages_go_to_the_log_file_only(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = log_to_file()
    assert path == home / "state" / "acp-tui.log"
    ROOT.warning("a thing happened")
    assert "a thing happened" in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert capfd.readouterr() == ("", "")


def test_calling_it_twice_logs_once(home: Path) -> None:
    log_to_file()
    path = log_to_file()
    assert path is not None
    ROOT.warning("once")
    assert path.read_text().count("once") == 1


def test_the_file_is_rotated_and_stays_private(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_file, "MAX_LOG_BYTES", 1000)
    path = log_to_file()
    assert path is not None
    for _ in range(100):
        ROOT.warning("x" * 100)
    files = sorted(path.parent.iterdir())
    assert [file.name for file in files] == [f"acp-tui.log{end}" for end in ("", ".1", ".2", ".3")]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert all(file.stat().st_size <= 1000 for file in files)


def test_logging_is_discarded_if_the_file_cannot_be_written(
    home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    home.write_text("not a folder")
    assert log_to_file() is None
    ROOT.error("lost")
    assert capfd.readouterr() == ("", "")


def test_control_characters_in_messages_are_replaced(home: Path) -> None:
    path = log_to_file()
    assert path is not None
    ROOT.warning("the agent said \x1b]52;c;cHduZWQ=\x07 \x9b31m")
    assert "␛]52;c;cHduZWQ=␇ ‹9b›31m" in path.read_text()


def test_secrets_in_messages_and_exceptions_are_masked(home: Path) -> None:
    path = log_to_file()
    assert path is not None
    error = ValueError("token=abcdef1234567890xyz")
    ROOT.error("failed with api_key=%s", "abcdef1234567890abcdef", exc_info=error)
    written = path.read_text()
    assert "failed with" in written
    assert "ValueError" in written
    assert "abcdef1234567890" not in written


def test_a_newline_in_a_message_does_not_begin_another_record(home: Path) -> None:
    path = log_to_file()
    assert path is not None
    ROOT.warning("the agent said %s", "nothing\n2026-01-01 forged")
    assert len(path.read_text().splitlines()) == 1
