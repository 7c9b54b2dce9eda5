"""The settings that the first frame needs, read without validation; `settings` validates them later."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from acp_tui.config.paths import config_file, project_file
from acp_tui.config.small_file import read_small_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class EarlySettings:
    """Unvalidated settings of a folder. Invalid values are ignored here and reported by `settings`."""

    cwd: Path
    agent: str | None = None
    own_agent: str | None = None  # … without the project's file
    theme: str | None = None
    keys: dict[str, str] = field(default_factory=dict)  # by the action's id, separated by commas


def read(cwd: Path, environ: Mapping[str, str] | None = None) -> EarlySettings:
    """Read the environment, the project's file and the user's file; earlier ones take precedence."""
    environ = os.environ if environ is None else environ
    project, config = _data(project_file(cwd)), _data(config_file())

    def wish(key: str, *files: dict[str, Any]) -> str | None:
        said = (environ.get(f"ACP_TUI_{key.upper()}"), *(file.get(key) for file in files))
        return next((value for value in said if isinstance(value, str) and value.strip()), None)

    wishes = ((".".join(path), join_keys(value)) for path, value in flatten_bindings(config.get("keys")))
    return EarlySettings(
        cwd,
        agent=wish("agent", project, config),
        own_agent=wish("agent", config),
        theme=wish("theme", project, config),
        keys={name: keys for name, keys in wishes if keys},
    )


def flatten_bindings(table: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the paths and values of `[keys]`. TOML turns unquoted ids with dots into nested tables."""
    if isinstance(table, dict):
        for name, value in table.items():
            yield from flatten_bindings(value, (*path, name))
    elif path:
        yield path, table


def join_keys(value: Any) -> str | None:
    """`"ctrl+j"`, or a list of such keys, as one string; None for anything else."""
    names = value if isinstance(value, list) else [value]
    if names and all(isinstance(name, str) and name.strip() for name in names):
        return ",".join(name.strip() for name in names)
    return None


def _data(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads((read_small_file(file) or b"").decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}
