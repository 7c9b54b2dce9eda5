"""The optional sign-in. It protects nothing and only demonstrates how clients sign in."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING

from acp_tui.config.paths import write_private

if TYPE_CHECKING:
    from pathlib import Path


class SignIn:
    """Stores whether the user has signed in."""

    def __init__(self, folder: Path, *, required: bool) -> None:
        self._file = folder / "signed-in"
        self.required = required

    @property
    def missing(self) -> bool:
        """True if a sign-in is required but has not happened; requests must be refused then."""
        return self.required and not self._file.exists()

    def record(self) -> None:
        """Sign in, also for other processes: the sign-in is stored on disk."""
        write_private(self._file, "No account and no secret: the demo agent only pretends to sign in.\n")

    def clear(self) -> None:
        """Sign out, also for other processes."""
        self._file.unlink(missing_ok=True)


def ask_in_terminal(sign_in: SignIn) -> int:
    """Ask on the terminal whether to sign in. Returns the exit code; 0 means signed in.

    Called in the process that the client starts for the sign-in method of the type `terminal`.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl+C ends it without a traceback
    print("This is the demo agent of acp-tui. It has no accounts: this only demonstrates signing in.")
    print("Sign in? [y/N] ", end="", flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        print("Not signed in.")
        return 1
    sign_in.record()
    print("Signed in.")
    return 0
