"""Opening pages in the browser."""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING

import pytest

from acp_tui.web_browser import has_browser, open_page
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

WRITE = "import pathlib, sys; pathlib.Path(sys.argv[1]).write_text(sys.argv[2])"
PAGE = "https://example.com/?a=1&b=%s"


@pytest.mark.parametrize("place", ["", " %s"])
def test_browser_variable_is_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    file = tmp_path / "opened"
    monkeypatch.setenv("BROWSER", shlex.join([sys.executable, "-c", WRITE, str(file)]) + place)
    assert has_browser()
    assert open_page(PAGE)
    wait_until(lambda: file.exists() and file.read_text() == PAGE)


def test_the_first_usable_one_of_several_browsers_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "opened"
    usable = shlex.join([sys.executable, "-c", WRITE, str(file)])
    monkeypatch.setenv("BROWSER", os.pathsep.join(["not-installed", "lynx", usable]))
    assert open_page(PAGE)
    wait_until(lambda: file.exists() and file.read_text() == PAGE)


@pytest.mark.parametrize("command", ["w3m", "/usr/bin/lynx -accept_all_cookies"])
def test_browser_in_the_terminal_is_not_used(monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.setenv("BROWSER", command)
    assert not has_browser()
    assert not open_page(PAGE)


def test_browser_that_cannot_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWSER", "/does/not/exist")
    assert not open_page(PAGE)
