"""Opens the screen of a conversation."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.ui.app import AcpTui
from acp_tui.ui.permission import typing_guard
from tests.support.desk import Open, agent, desk, marked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from tests.support.desk import Desk


@pytest.fixture
def open_desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Conversations in a project of the test; nothing of them may live when the test is over."""
    left_behind = marked(monkeypatch)
    monkeypatch.setattr(typing_guard, "PAUSE_SECONDS", 0.0)  # the dialog's own tests look at that
    project = tmp_path / "project"
    project.mkdir()

    def opened(
        module: str = "script", *args: str, options: tuple[str, ...] = (), **more: Any
    ) -> AbstractAsyncContextManager[Desk]:
        return desk(project, "--command", agent(module, *args), *options, **more)

    yield opened
    assert left_behind() == []


@pytest.fixture
def until() -> Callable[[Callable[[], bool]], None]:
    """Waits for a condition outside of this process."""

    def wait(condition: Callable[[], bool]) -> None:
        for _ in range(6000):
            if condition():
                return
            time.sleep(0.01)
        raise AssertionError("it never came true")

    return wait


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
