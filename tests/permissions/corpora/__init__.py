"""Lists of shell commands, one per line, for measuring the recognition of dangerous ones.

`⏎` stands for a line break in a command. `dangerous_held_out.txt` was written after the recognition and not
used to tune it.
"""

from __future__ import annotations

from pathlib import Path


def commands(name: str) -> list[str]:
    """Return the commands of one list."""
    lines = (Path(__file__).parent / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return [line.replace("⏎", "\n") for line in lines if line and not line.startswith("## ")]
