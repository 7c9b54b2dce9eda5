"""How one agent is started."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Launch:
    """A command that speaks ACP on its standard input and output."""

    name: str  # the short name, or the program's when it has none
    title: str
    command: list[str]
    env: dict[str, str] = field(default_factory=dict)  # beside our own environment
    install_hint: str | None = None  # a command that installs it
    ad_hoc: bool = False  # started by a command of the user's, so the name is only the program's
    missing_file_is_empty: bool = False  # one agent takes any error on reading a new file as fatal
