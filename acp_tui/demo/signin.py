"""The optional sign-in. It protects nothing: it is there to show how signing in looks."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from acp_tui.config.paths import write_private

if TYPE_CHECKING:
    from pathlib import Path


class SignIn:
    """Whether the demo wants a sign-in, and whether there was one."""

    def __init__(self, folder: Path, *, wanted: bool) -> None:
        self._file = folder / "signed-in"
        self.wanted = wanted

    @property
    def missing(self) -> bool:
        """True: calls have to be refused."""
        return self.wanted and not self._file.exists()

    def enter(self) -> None:
        """Remember that the user signed in; the next process knows it too."""
        write_private(self._file, "There is no account and no secret: the demo agent only pretends.\n")

    def leave(self) -> None:
        """Forget it."""
        self._file.unlink(missing_ok=True)


def ask_in_terminal(sign_in: SignIn) -> int:
    """The `terminal` method: a client runs us in a real terminal for it; exit code 0 is success."""
    print("This is the demo agent of acp-tui. There is no account: signing in only shows how it looks.")
    print("Sign in? [y/N] ", end="", flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        print("Not signed in.")
        return 1
    sign_in.enter()
    print("Signed in.")
    return 0
