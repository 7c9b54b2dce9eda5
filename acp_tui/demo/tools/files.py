"""Reads and edits files: with the client's file methods if there are any, otherwise directly.

The client can have unsaved changes or restrict access, so its file methods take precedence. If the client
refuses a request, the demo does not fall back to accessing the file directly.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from acp import RequestError, text_block, tool_content, tool_diff_content

from acp_tui.demo.tools.permission import request_permission
from acp_tui.demo.tools.tool_call import ToolCall

if TYPE_CHECKING:
    from pathlib import Path

    from acp_tui.demo.turn import Turn


async def read_file(
    turn: Turn, path: Path, *, line: int | None = None, limit: int | None = None
) -> str | None:
    """Read a file or part of it, as a tool call. Returns None if the file cannot be read."""
    raw_input = {"path": str(path), "line": line, "limit": limit}
    call = ToolCall(
        turn,
        f"Read {path.name}",
        "read",
        path=path,
        line=line or 1,
        raw_input={key: value for key, value in raw_input.items() if value is not None},
    )
    await call.start("in_progress")
    try:
        text = await _read_text(turn, path, line, limit)
    except (RequestError, OSError, ValueError) as error:
        await call.fail(f"Could not read the file: {_describe(error)}")
        return None
    await call.complete(content=[tool_content(text_block(f"````\n{text.rstrip()}\n````"))])
    return text


async def edit_file(turn: Turn, path: Path, old: str | None, new: str) -> bool:
    """Write a file, as a tool call with a diff and a permission request.

    Returns True if the file was written.
    """
    call = ToolCall(
        turn,
        f"{'Create' if old is None else 'Edit'} {path.name}",
        "edit",
        path=path,
        line=_first_difference(old or "", new),
        raw_input={"path": str(path), "content": new},
        content=[tool_diff_content(str(path), new, old)],
    )
    await call.start()
    reason = await request_permission(turn, call.for_permission_request())
    if reason is not None:
        await call.fail(reason)
        return False
    await call.mark_in_progress()
    try:
        await _write(turn, path, new)
    except (RequestError, OSError, ValueError) as error:
        await call.fail(f"Could not write the file: {_describe(error)}")
        return False
    await call.complete()
    return True


def in_session_folders(turn: Turn, path: Path) -> bool:
    """Return True if the path is in one of the session's folders."""
    roots = [turn.cwd, *map(type(path), turn.stored.directories)]
    return any(path.resolve().is_relative_to(root.resolve()) for root in roots)


async def _read_text(turn: Turn, path: Path, line: int | None, limit: int | None) -> str:
    fs = turn.capabilities.fs
    if fs and fs.read_text_file:
        answer = await turn.client.read_text_file(turn.session_id, str(path), line=line, limit=limit)
        return answer.content
    if not in_session_folders(turn, path):
        raise ValueError("it is outside the folders of this session")
    with path.open(encoding="utf-8", newline="") as file:
        first = (line or 1) - 1
        return "".join(itertools.islice(file, first, None if limit is None else first + limit))


async def _write(turn: Turn, path: Path, text: str) -> None:
    fs = turn.capabilities.fs
    if fs and fs.write_text_file:
        await turn.client.write_text_file(turn.session_id, str(path), text)
        return
    if not in_session_folders(turn, path):
        raise ValueError("it is outside the folders of this session")
    path.write_text(text, encoding="utf-8", newline="")


def _describe(error: Exception) -> str:
    if isinstance(error, RequestError):
        return f"the client answered {error.code}, {error}"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _first_difference(old: str, new: str) -> int:
    """Return the 1-based number of the first old line that differs, or else of the last old line."""
    pairs = zip(old.splitlines(), new.splitlines(), strict=False)
    return next(
        (number for number, (one, other) in enumerate(pairs, 1) if one != other), len(old.splitlines()) or 1
    )
