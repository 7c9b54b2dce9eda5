"""Sends all logging to a private, rotating file: on stderr, log records would overwrite the screen.

The root logger is configured because the ACP SDK logs to it.
"""

from __future__ import annotations

import logging
import os
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import IO, cast

from acp_tui.config.own_files import open_own
from acp_tui.config.paths import paths, private_directory
from acp_tui.session.safe_text import escape_controls, escape_line
from acp_tui.store.secret_patterns import redact_text

MAX_LOG_BYTES = 1_000_000
BACKUP_COUNT = 3


class _PrivateFile(RotatingFileHandler):
    """A rotating log file that is created with mode 0600, also after a rotation."""

    def _open(self) -> IO[str]:  # type: ignore[override]  # the base class needs only a text file
        descriptor = open_own(Path(self.baseFilename), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        return cast("IO[str]", open(descriptor, self.mode, encoding=self.encoding, errors=self.errors))


class _SafeLines(logging.Formatter):
    """A log formatter that replaces control characters and masks secrets: records can quote an agent."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  # the name in `logging`
        """Format all but the exception on one line, so that a newline in a message cannot forge a record."""
        return escape_line(super().formatMessage(record))

    def format(self, record: logging.LogRecord) -> str:
        """Format the record, replace its control characters and mask its secrets."""
        return redact_text(escape_controls(super().format(record)))


def log_to_file(level: int = logging.WARNING) -> Path | None:
    """Send log records of at least this level to `acp-tui.log` in the state directory.

    Return the path of the file, or None if the file cannot be written; logging is then discarded.
    """
    path = paths().state / "acp-tui.log"
    root = logging.getLogger()
    for old in root.handlers[:]:
        if isinstance(old, _PrivateFile | logging.NullHandler):
            root.removeHandler(old)
            old.close()
    root.setLevel(level)
    logging.raiseExceptions = False  # a full disk must not print tracebacks onto the screen
    try:
        private_directory(path.parent)
        handler = _PrivateFile(
            path, maxBytes=MAX_LOG_BYTES, backupCount=BACKUP_COUNT, encoding="utf-8", errors="replace"
        )
    except OSError:
        root.addHandler(logging.NullHandler())
        return None
    handler.setFormatter(_SafeLines("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"))
    root.addHandler(handler)
    return path
