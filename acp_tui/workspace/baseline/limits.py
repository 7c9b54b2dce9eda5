"""The maximum numbers and sizes of files in a snapshot."""

from __future__ import annotations

from dataclasses import dataclass

from acp_tui.workspace.git.git_commands import GIT_TIMEOUT_SECONDS


class LimitExceededError(Exception):
    """The folder has more files or bytes than a snapshot may contain."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a snapshot. Sizes are in bytes."""

    file_size: int = 5_000_000
    files: int = 100_000
    total_size: int = 2_000_000_000
    untracked_files: int = 5_000  # in a repository
    untracked_size: int = 100_000_000
    listing_seconds: float = 30.0  # git walks the whole folder before it prints anything
    git_seconds: float = GIT_TIMEOUT_SECONDS  # for any other command


@dataclass(slots=True)
class Totals:
    """The number of files counted so far in all folders, and the total size of those that were copied."""

    files: int = 0
    size: int = 0

    def count(self, size: int, limits: Limits) -> None:
        """Count a file of `size` bytes. Raises `LimitExceededError` if the total size exceeds its limit."""
        self.files += 1
        self.size += size
        if self.size > limits.total_size:
            raise LimitExceededError(f"more than {limits.total_size / 1_000_000_000:g} GB")
