"""Opens the screen of a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.ui.app import AcpTui
from acp_tui.ui.dialogs import dialog
from acp_tui.ui.theme.palette import Palette, set_current_palette
from tests.support.conversation_ui import Open, agent, mark_processes, open_conversation_ui, own_agent

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from tests.support.conversation_ui import ConversationUi


@pytest.fixture
def open_ui(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Conversations in a project of the test; nothing of them may live when the test is over."""
    left_behind = mark_processes(monkeypatch)
    monkeypatch.setattr(dialog, "PAUSE_SECONDS", 0.0)  # the dialog's own tests look at that
    project = tmp_path / "project"
    project.mkdir()

    def opened(
        module: str = "script",
        *args: str,
        options: tuple[str, ...] = (),
        settings: str = "",
        **more: Any,
    ) -> AbstractAsyncContextManager[ConversationUi]:
        how: tuple[str, ...] = ("--command", agent(module, *args))
        if settings:
            how = (own_agent(home, settings, module, *args),)
        return open_conversation_ui(project, *how, *options, **more)

    yield opened
    assert left_behind() == []


@pytest.fixture(autouse=True)
def default_palette() -> None:
    """Draw without the theme of an earlier test."""
    set_current_palette(Palette())


@pytest.fixture(autouse=True)
def unexpected_errors(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[BaseException]]:
    """Errors that the app reported and survived. A test that expects some clears the list."""
    errors: list[BaseException] = []
    report = AcpTui.report

    def noted(app: AcpTui, error: BaseException | None, doing: str = "on the screen") -> None:
        if error is not None:
            errors.append(error)
        report(app, error, doing)

    monkeypatch.setattr(AcpTui, "report", noted)
    yield errors
    if errors:
        raise errors[0]
