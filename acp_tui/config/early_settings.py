"""The settings needed to draw the first frame, read without validation.

The module `settings` later reads and validates all settings."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from acp_tui.config.own_files import read_small_file
from acp_tui.config.paths import config_file, project_file

AUTO_THEME = "auto"
"""The theme name that selects a dark or a light theme to match the terminal's background."""


@dataclass(frozen=True, slots=True)
class EarlySettings:
    """Settings that apply in a folder. Only types are checked: values of the wrong type count as missing."""

    cwd: Path
    agent: str | None = None
    own_agent: str | None = None  # the value of `agent` without the project's file
    theme: str | None = None
    theme_dark: str | None = None
    theme_light: str | None = None
    restore_tabs: bool = False
    keys: dict[str, str] = field(default_factory=dict)  # by action id; several keys are separated by commas


def read(cwd: Path, environ: Mapping[str, str] | None = None) -> EarlySettings:
    """Read the early settings of a folder.

    The environment overrides the project's file, which overrides the user's file.
    """
    environ = os.environ if environ is None else environ
    project, config = _data(project_file(cwd)), _data(config_file())

    def first_value(key: str, *files: dict[str, Any]) -> str | None:
        values = (environ.get(f"ACP_TUI_{key.upper()}"), *(file.get(key) for file in files))
        return next((value for value in values if isinstance(value, str) and value.strip()), None)

    bindings = ((".".join(path), join_keys(value)) for path, value in flatten_bindings(config.get("keys")))
    return EarlySettings(
        cwd,
        agent=first_value("agent", project, config),
        own_agent=first_value("agent", config),
        theme=first_value("theme", project, config),
        theme_dark=first_value("theme_dark", config),
        theme_light=first_value("theme_light", config),
        restore_tabs=_is_on(environ.get("ACP_TUI_RESTORE_TABS"), config.get("restore_tabs")),
        keys={action: keys for action, keys in bindings if keys},
    )


def _is_on(from_environment: str | None, value: Any) -> bool:
    if from_environment is not None:
        return from_environment.strip().lower() == "true"
    return value is True


def flatten_bindings(table: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the path of TOML keys to each value in `[keys]`, and the value.

    The path, joined by dots, is an action id. TOML reads an id with dots as nested tables, unless the id is
    quoted.
    """
    if isinstance(table, dict):
        for name, value in table.items():
            yield from flatten_bindings(value, (*path, name))
    elif path:
        yield path, table


def join_keys(value: Any) -> str | None:
    """Return a key such as `"ctrl+j"`, or a list of keys, as one string; None for any other value.

    Keys of a list are joined by commas. Return None for an empty list.
    """
    names = value if isinstance(value, list) else [value]
    if names and all(isinstance(name, str) and name.strip() for name in names):
        return ",".join(name.strip() for name in names)
    return None


def _data(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads((read_small_file(file) or b"").decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}
