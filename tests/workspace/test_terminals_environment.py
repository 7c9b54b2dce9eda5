"""Which variables of a wished environment deserve a second look."""

from __future__ import annotations

import pytest

from acp_tui.workspace.environment import suspicious_environment


@pytest.mark.parametrize(
    "name",
    [
        *(
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "DYLD_INSERT_LIBRARIES",
            "PATH",
            "BASH_ENV",
            "BASH_FUNC_ls%%",
            "IFS",
        ),
        *("PYTHONPATH", "NODE_OPTIONS", "PERL5OPT", "RUBYOPT", "JAVA_TOOL_OPTIONS"),
        *("GIT_SSH_COMMAND", "GIT_CONFIG_COUNT"),
    ],
)
def test_what_makes_harmless_programs_do_something_else_is_named(name: str) -> None:
    assert suspicious_environment({"LANG": "C", name: "/tmp/x"}) == [name]


def test_ordinary_variables_are_not_named() -> None:
    ordinary = {
        "LANG": "C",
        "CI": "1",
        "NO_COLOR": "1",
        "NODE_ENV": "test",
        "PYTHONUNBUFFERED": "1",
        "HOME": "/h",
    }
    assert suspicious_environment(ordinary) == []


def test_pagers_and_editors_are_named_unless_they_do_nothing() -> None:
    assert suspicious_environment({"PAGER": "cat", "GIT_PAGER": "", "GIT_EDITOR": "true"}) == []
    assert suspicious_environment({"PAGER": "sh -c evil", "GIT_EDITOR": "vim"}) == ["PAGER", "GIT_EDITOR"]
