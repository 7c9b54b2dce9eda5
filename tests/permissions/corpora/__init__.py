"""Lists of shell commands, one a line, by which the recognition of dangerous ones is measured.

`⏎` stands for a line end within a command. `dangerous_held_out.txt` was written after the recognition, to see
whether it holds for what it was not made for.
"""

from __future__ import annotations

from pathlib import Path


def commands(name: str) -> list[str]:
    """The commands of one list."""
    lines = (Path(__file__).parent / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return [line.replace("⏎", "\n") for line in lines if line and not line.startswith("## ")]
