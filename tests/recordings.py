"""The recorded traffic of real agents in `tests/wirelogs/`, as records.

A line is `{"t", "dir", "n", "msg"}`; `c2a` went to the agent, `a2c` came from it, `noise` is what it printed
that was no JSON. `stderr` and `note` lines are no traffic.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.session.record import Record

if TYPE_CHECKING:
    from acp_tui.session.record import Direction

WIRELOGS = sorted((Path(__file__).parent / "wirelogs").glob("*.jsonl"))
_DIRECTIONS: dict[str, Direction] = {"c2a": "sent", "a2c": "received", "noise": "received"}


def records(path: Path) -> list[Record]:
    """The traffic of one recording."""
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return [
        Record(line["t"], _DIRECTIONS[line["dir"]], line["msg"] if "msg" in line else line["text"])
        for line in lines
        if line["dir"] in _DIRECTIONS
    ]
