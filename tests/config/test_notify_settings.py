"""The settings `notify` and `notify_command`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from acp_tui.config.settings import load

if TYPE_CHECKING:
    from pathlib import Path


def config(home: Path, text: str) -> None:
    folder = home / "config"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(text)


def test_all_notifications_are_on_by_default(tmp_path: Path) -> None:
    settings = load(tmp_path)
    assert (settings.notify, settings.notify_command) == ("all", [])


@pytest.mark.parametrize("value", ["off", "bell", "terminal", "all"])
def test_notify_and_its_command_are_read_from_the_settings_file(
    value: str, home: Path, tmp_path: Path
) -> None:
    config(home, f'notify = "{value}"\nnotify_command = ["notify-send", "{{kind}}", "{{text}}"]\n')
    settings = load(tmp_path)
    assert settings.notify == value
    assert settings.notify_command == ["notify-send", "{kind}", "{text}"]
    assert settings.origin("notify_command").line == 2
    assert settings.problems == []


def test_notify_and_its_command_are_read_from_the_environment(tmp_path: Path) -> None:
    settings = load(tmp_path, environ={"ACP_TUI_NOTIFY": "off", "ACP_TUI_NOTIFY_COMMAND": "say 'well done'"})
    assert settings.notify == "off"
    assert settings.notify_command == ["say", "well done"]


def test_invalid_notify_values_are_reported_with_their_lines(home: Path, tmp_path: Path) -> None:
    config(home, 'notify = "loud"\nnotify_command = 3\n')
    settings = load(tmp_path)
    assert settings.notify == "all"
    problems = [str(problem) for problem in settings.problems]
    assert "config.toml:1" in problems[0]
    assert "off, bell, terminal, all" in problems[0]
    assert "config.toml:2" in problems[1]


def test_a_project_cannot_set_the_notify_command(tmp_path: Path) -> None:
    (tmp_path / ".acp-tui.toml").write_text('notify_command = ["evil"]\n')
    settings = load(tmp_path)
    assert settings.notify_command == []
    assert "a project may only set" in str(settings.problems[0])
