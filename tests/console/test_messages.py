"""Messages on stderr."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from acp_tui.console import print_message

if TYPE_CHECKING:
    from collections.abc import Callable

SENTENCE = (
    "Gemini CLI cannot be started: gemini was not found; install it with `npm install -g @google/gemini-cli`"
)


@pytest.mark.parametrize(("is_terminal", "lines"), [(True, 2), (False, 1)], ids=["terminal", "pipe"])
def test_a_message_is_wrapped_between_words_on_a_terminal_only(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, is_terminal: bool, lines: int
) -> None:
    isatty: Callable[[], bool] = lambda: is_terminal  # noqa: E731
    monkeypatch.setattr(sys.stderr, "isatty", isatty)
    monkeypatch.setenv("COLUMNS", "80")
    print_message(SENTENCE)
    shown = capsys.readouterr().err.splitlines()
    assert len(shown) == lines
    assert " ".join(shown) == f"acp-tui: {SENTENCE}"
    assert not is_terminal or all(len(line) <= 80 for line in shown)
