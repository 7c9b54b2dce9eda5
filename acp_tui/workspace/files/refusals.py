"""Error answers to the agent's file requests. Each states a reason, for the agent and the user."""

from __future__ import annotations

import errno
from pathlib import Path

from acp_tui.errors import Refusal
from acp_tui.session.error_codes import INVALID_PARAMS, RESOURCE_NOT_FOUND

_SENTENCES = {
    errno.EACCES: "permission denied",
    errno.EPERM: "operation not permitted",
    errno.EROFS: "its file system is read-only",
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is exceeded",
    errno.EFBIG: "it would exceed the file size limit",
    errno.EISDIR: "it is a directory",
    errno.ENOTDIR: "a part of its path is a file, not a directory",
    errno.ELOOP: "its path has too many links",
    errno.ENAMETOOLONG: "its name is too long",
    errno.ENOENT: "it was moved or deleted in the meantime",
}


def not_found(path: str) -> Refusal:
    """Return the error that the protocol defines for a missing file."""
    return Refusal(
        RESOURCE_NOT_FOUND, f"Resource not found: {path}", {"path": path, "uri": Path(path).as_uri()}
    )


def unreadable(path: str, why: str, code: int = INVALID_PARAMS) -> Refusal:
    """Return the error for a file that exists but cannot be read as text."""
    return Refusal(code, f"{path} cannot be read: {why}", {"path": path})


def unwritable(path: str, why: str, code: int = INVALID_PARAMS) -> Refusal:
    """Return the error for a file that cannot be written. The error says that nothing was changed."""
    return Refusal(code, f"{path} cannot be written: {why}; nothing was changed", {"path": path})


def describe(error: OSError) -> str:
    """Return the reason for an error as a clause that can follow "cannot be read: "."""
    return _SENTENCES.get(error.errno or 0) or error.strerror or str(error)
