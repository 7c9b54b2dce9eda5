"""Recorded frames with a value replaced by an invalid one."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from tests.support.recordings import WIRELOGS, records

if TYPE_CHECKING:
    from acp_tui.session.record import Record

NAMES = ("claude-code-edit", "codex-zed-edit", "kimi-code-zedmeta", "opencode-shell", "ts-example-plain")


def nested(depth: int, *, lists: bool = False) -> Any:
    """Return a value that is nested to this depth."""
    value: Any = "end"
    for _ in range(depth):
        value = [value] if lists else {"a": value}
    return value


JUNK = [
    None, True, -1, 10**30, 1.5, float("1e308"), "", "\x1b[2J", "\ud800", [], ["completed"], {}, {"a": []},
    [[None]], nested(340), nested(340, lists=True), nested(900), "x" * 5000, [{"type": []}], {"id": {}},
]  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all values inside a value."""
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found += places(item, (*path, key))
    return found


def mutated(frame: Any, path: tuple[Any, ...], junk: Any) -> Any:
    """Return a copy of the frame with the value at a path replaced."""
    frame = copy.deepcopy(frame)
    inner = frame
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = junk
    return frame


@st.composite
def mutated_traffic(draw: st.DrawFn) -> list[Record]:
    """Draw a recording in which up to three received frames are invalid."""
    name = draw(st.sampled_from(NAMES))
    traffic = records(next(path for path in WIRELOGS if path.stem == name))
    received = [at for at, record in enumerate(traffic) if record.direction == "received"]
    for at in draw(st.lists(st.sampled_from(received), min_size=1, max_size=3)):
        frame = traffic[at].frame
        if found := places(frame):
            junk = draw(st.sampled_from(JUNK))
            traffic[at] = replace(traffic[at], frame=mutated(frame, draw(st.sampled_from(found)), junk))
    return traffic
