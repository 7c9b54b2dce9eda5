"""Lists of shell commands, one per line, with expected answers or to measure how well danger is recognised.

`⏎` stands for a line break in a command. `dangerous_held_out.txt` was written after the recognition and not
used to tune it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from acp_tui.config.validators import POLICIES
from acp_tui.permissions.rule_proposals import parse_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acp_tui.config.validators import Policy
    from acp_tui.permissions.rules import Rule


def commands(name: str) -> list[str]:
    """Return the commands of one list."""
    lines = (Path(__file__).parent / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return [line.replace("⏎", "\n") for line in lines if line and not line.startswith("## ")]


class CompositeCase(NamedTuple):
    """A line of `composite.txt` with the answer that is expected under its policy and rules."""

    policy: Policy
    rules: tuple[Rule, ...]
    line: str
    answer: str
    new: tuple[str, ...] | None  # the parts that are not allowed; None: all of them


def composite_cases() -> Iterator[CompositeCase]:
    """Yield the lines of `composite.txt`, which explains its format."""
    policy: Policy = "ask"
    rules: tuple[Rule, ...] = ()
    for row in (Path(__file__).parent / "composite.txt").read_text(encoding="utf-8").splitlines():
        if row.startswith("["):
            name, _, specs = row.removeprefix("[").partition("] ")
            policy = next(known for known in POLICIES if known == name)
            rules = tuple(_rule(spec) for spec in specs.split("; "))
        elif row and not row.startswith("#"):
            line, _, new = row[8:].partition("  =>  ")
            parts = tuple(new.split(" & ")) if new else None
            yield CompositeCase(
                policy,
                rules,
                line.replace("⏎", "\n").replace("→", "\t"),
                row[:8].strip(),
                () if parts == ("-",) else parts,
            )


def _rule(text: str) -> Rule:
    decision, _, spec = text.partition(" ")
    return parse_spec(spec, "allow" if decision == "allow" else "reject")
