"""The recorded traffic of real agents in `tests/wirelogs/`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.cli.recordings import read_recording

if TYPE_CHECKING:
    from acp_tui.session.record import Record

WIRELOGS = sorted((Path(__file__).parents[1] / "wirelogs").glob("*.jsonl"))


def records(path: Path) -> list[Record]:
    """Return the records of a recording."""
    return list(read_recording(path))
