"""The files in a wheel besides the package itself."""

from __future__ import annotations

import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1]


def test_the_wheel_contains_the_themes() -> None:
    build = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]
    assert build["wheel"]["force-include"] == {"themes": "acp_tui/themes"}
    assert {"acp_tui", "themes"} <= set(build["sdist"]["include"])
    assert not (PROJECT / "acp_tui" / "themes").exists(), "it would hide those that are packed"
