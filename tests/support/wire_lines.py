"""Lines of wire logs, for tests that read logs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from acp_tui.wire.frame_log import FrameLog, FrameRow


def line(at: float, direction: str, frame: Any) -> bytes:
    """Return a line as acp-tui writes it."""
    text = json.dumps(frame, separators=(",", ":"), ensure_ascii=False)
    return f'{{"t":{at!r},"dir":"{direction}","frame":{text}}}\n'.encode()


def request(identity: Any, method: str = "session/prompt", **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identity, "method": method, "params": params}


def answer(identity: Any, result: Any = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identity, "result": result}


def update(kind: str = "agent_message_chunk", session: str = "s-1", **fields: Any) -> dict[str, Any]:
    params = {"sessionId": session, "update": {"sessionUpdate": kind, **fields}}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


def write_log(path: Path, lines: Iterable[bytes]) -> Path:
    """Write a log, and return its path."""
    path.write_bytes(b"".join(lines))
    return path


def rows(log: FrameLog) -> list[FrameRow]:
    """Return all rows of a log."""
    return [log.row(number) for number in range(len(log))]


def read_all(log: FrameLog) -> list[FrameRow]:
    """Update a log until it is complete, and return its rows."""
    log.update()
    while not log.is_complete:
        log.update()
    return rows(log)
