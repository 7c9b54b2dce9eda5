"""Languages of files by their names."""

from __future__ import annotations

import pytest
from pygments.lexers import find_lexer_class_for_filename  # type: ignore[import-untyped]

from acp_tui.ui.theme.syntax import language_of

ENDS = "py js ts tsx h c cpp rs m pl sql html.j2 j2 r R s t md rst tex vue 1 conf ini lock txt unheardof"
NAMES = (
    "Makefile",
    "Makefile.am",
    "Dockerfile",
    "CMakeLists.txt",
    "LICENSE",
    ".bashrc",
    "PKGBUILD",
    "a.b.py",
    "",
)


@pytest.mark.parametrize("name", [*(f"a.{end}" for end in ENDS.split()), *NAMES])
def test_the_language_is_the_one_that_pygments_chooses(name: str) -> None:
    lexer = find_lexer_class_for_filename(name)
    assert language_of(f"/some/where/{name}") == (lexer.aliases[0] if lexer and lexer.aliases else "")
