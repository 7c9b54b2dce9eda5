"""The log of each MCP server: stderr, log messages and tool calls, redacted and limited in size."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from acp_tui.session.safe_text import visible_excerpt
from acp_tui.store.json_lines_file import JsonLinesFile
from acp_tui.store.redaction import redact_value

MAX_LOG_BYTES = 1024 * 1024
MAX_TEXT = 2000
"""The maximum length of one text in a record. Longer texts are cut."""
MAX_VALUE = 20_000
"""The maximum length of a JSON value in a record. Longer values are replaced by an excerpt."""

RecordKind = Literal["connected", "ended", "failed", "stderr", "stdout", "log", "call", "changed"]


class McpLog:
    """The log of one server. Several processes can write to the same log."""

    def __init__(
        self, state_dir: Path, name: str, file: str = "", *, clock: Callable[[], float] = time.time
    ) -> None:
        """Open the log of the server `name`, which is defined in `file`."""
        self.path = state_dir / "mcp-logs" / f"{_file_name(name)}-{_short_hash(file)}.jsonl"
        self._clock = clock
        self._file = JsonLinesFile(self.path, limit=MAX_LOG_BYTES, condense=lambda records: records)

    def add(self, kind: RecordKind, **values: Any) -> None:
        """Append a record with the current time. Secrets are masked, and long texts are cut. Never raises."""
        record = {"at": round(self._clock(), 3), "kind": kind, **redact_value(_limited(values))}
        try:
            self._file.append(record)
        except OSError:  # the log is less important than the call
            return

    def read(self) -> list[dict[str, Any]]:
        """Return the records in order. Their texts are raw: sanitize them before display."""
        return self._file.read()


def read_logs(state_dir: Path, name: str) -> list[dict[str, Any]]:
    """Return the records of the log that was written last of all servers of this name.

    For a server that is no longer defined. The texts are raw.
    """
    files = (state_dir / "mcp-logs").glob(f"{_file_name(name)}-*.jsonl")
    newest = max(files, key=lambda file: file.stat().st_mtime, default=None)
    if newest is None:
        return []
    return JsonLinesFile(newest, limit=MAX_LOG_BYTES, condense=lambda records: records).read()


def _file_name(name: str) -> str:
    """Return the beginning of the name of a server's file, in which `*` and `?` do not occur."""
    readable = re.sub(r"[^A-Za-z0-9_.-]", "_", name)[:40].lstrip(".")
    return f"{readable}-{_short_hash(name)}"


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]


def _limited(values: dict[str, Any]) -> dict[str, Any]:
    found = {key: _short(value) for key, value in values.items()}
    return {
        key: value if len(excerpt := visible_excerpt(value, MAX_VALUE)) < MAX_VALUE else excerpt
        for key, value in found.items()
    }


def _short(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= MAX_TEXT else f"{value[:MAX_TEXT]}… ({len(value):,} characters)"
    if isinstance(value, list):
        return [_short(item) for item in value[:200]]
    if isinstance(value, dict):
        return {key: _short(item) for key, item in list(value.items())[:200]}
    return value
