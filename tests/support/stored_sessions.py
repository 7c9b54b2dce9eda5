"""Recorded sessions without an agent, for tests of lists and searches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_tui.store.session_folder import create_session_folder
from acp_tui.store.stderr_log import StderrLines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from acp_tui.store.session_folder import SessionFolder

Turn = tuple[str, str]
"""A prompt and its answer."""


def stderr_text(folder: Path) -> str:
    """Return the recorded lines of an agent's stderr, without their times."""
    lines = StderrLines(folder / "stderr.log")
    lines.update()
    return "\n".join(lines.texts)


def record_session(
    data_dir: Path,
    turns: Sequence[Turn] = (),
    *,
    updates: Sequence[dict[str, Any]] = (),
    at: float = 1_800_000_000.0,
    cwd: str = "/project",
    agent: str = "demo",
    session_id: str = "s-1",
    command: Sequence[str] = (),
    is_open: bool = False,
    **meta: Any,
) -> SessionFolder:
    """Record a session: the turns, then the updates. It is closed unless `is_open`."""
    folder = create_session_folder(
        data_dir,
        agent=agent,
        title=agent.title(),
        cwd=cwd,
        command=command,
        ad_hoc=bool(command),
        clock=lambda: at,
    )
    log = folder.log
    new = {"jsonrpc": "2.0", "id": 0}
    log.append(at, "sent", new | {"method": "session/new", "params": {"cwd": cwd, "mcpServers": []}})
    log.append(at, "received", new | {"result": {"sessionId": session_id}})
    add_turns(folder, turns, at=at, session_id=session_id)
    for update in updates:
        params = {"sessionId": session_id, "update": update}
        log.append(at, "received", {"jsonrpc": "2.0", "method": "session/update", "params": params})
    folder.update_meta(session_id=session_id, **meta)
    if not is_open:
        folder.close()
    return folder


def add_turns(
    folder: SessionFolder, turns: Sequence[Turn], *, at: float = 1_800_000_000.0, session_id: str = "s-1"
) -> None:
    """Append turns to the log of an open session."""
    for number, (prompt, answer) in enumerate(turns, start=1):
        call = {"jsonrpc": "2.0", "id": number}
        content = [{"type": "text", "text": prompt}]
        params: dict[str, Any] = {"sessionId": session_id, "prompt": content}
        folder.log.append(at, "sent", call | {"method": "session/prompt", "params": params})
        update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": answer}}
        params = {"sessionId": session_id, "update": update}
        folder.log.append(at, "received", {"jsonrpc": "2.0", "method": "session/update", "params": params})
        folder.log.append(at, "received", call | {"result": {"stopReason": "end_turn"}})
