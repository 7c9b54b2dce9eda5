"""The setting `panes`: the pane that is open when a conversation starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from acp_tui.config.settings import load

if TYPE_CHECKING:
    from pathlib import Path


def test_no_pane_is_open_by_default(tmp_path: Path) -> None:
    assert load(tmp_path, environ={}).panes == "none"


@pytest.mark.parametrize("value", ["none", "plan", "files", "terminals", "session"])
def test_a_variable_overrides_the_pane_of_the_project(value: str, tmp_path: Path) -> None:
    file = tmp_path / ".acp-tui.toml"
    file.write_text(f'theme = "nord"\npanes = "{value}"\n')
    settings = load(tmp_path, environ={})
    assert (settings.panes, settings.problems) == (value, [])
    assert str(settings.origin("panes")) == f"{file}:2"
    settings = load(tmp_path, environ={"ACP_TUI_PANES": "plan"})
    assert settings.panes == "plan"
    assert str(settings.origin("panes")) == "environment ACP_TUI_PANES"


@pytest.mark.parametrize(("value", "hint"), [('"file"', "; did you mean 'files'?"), ("true", ""), ("[]", "")])
def test_an_invalid_pane_is_reported_with_its_line(value: str, hint: str, tmp_path: Path) -> None:
    (tmp_path / ".acp-tui.toml").write_text(f"panes = {value}\n")
    settings = load(tmp_path, environ={})
    assert settings.panes == "none"
    (problem,) = settings.problems
    assert (problem.line, problem.key) == (1, "panes")
    assert "expected one of none, plan, files, terminals, session, got" in problem.sentence
    assert problem.sentence.endswith(hint)
