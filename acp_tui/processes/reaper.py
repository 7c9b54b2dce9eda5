"""Registers process groups and temporary folders with a watcher process, which ends and deletes them when
acp-tui is gone.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

WATCHER_SCRIPT = Path(__file__).with_name("watcher.py")
OWNER_VARIABLE = "ACP_TUI_OWNER"
"""Environment variable that marks processes started by this run of acp-tui."""


def watcher_command(control: int, *program: str) -> list[str]:
    """Return the command line of a watcher. `-I -S` skips site packages, which saves time and memory."""
    return [sys.executable, "-I", "-S", str(WATCHER_SCRIPT), str(control), *program]


FOLDER_NAME_BYTES = 6
"""The number of random bytes in the name of a temporary folder, so that no name is used twice."""


class ReaperClosedError(RuntimeError):
    """Raised when a group is registered, or a folder is created, after `Reaper.close`."""


class Reaper:
    """Ends process groups that acp-tui starts directly, such as git, when acp-tui ends, even if by SIGKILL.

    Its temporary folders are deleted then, too. The watcher process is started when it is first needed. Pass
    `environment` to every child process: on Linux the watcher uses these variables to find processes that
    left their group and session.
    """

    def __init__(self) -> None:
        self._token = secrets.token_hex(8)
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._closed = False
        self._lock = threading.Lock()  # git runs in threads

    @property
    def environment(self) -> dict[str, str]:
        """Variables by which the watcher recognises child processes, and the children of these processes."""
        return {OWNER_VARIABLE: self._token}

    def register(self, pgid: int) -> None:
        """Have the watcher end this group and, on Linux, the session with that id when acp-tui ends."""
        self._send(f"watch {pgid}")

    def unregister(self, pgid: int) -> None:
        """Stop watching a group that has ended: the system can reuse the group's id."""
        with contextlib.suppress(ReaperClosedError):
            if self._control is not None:
                self._send(f"forget {pgid}")

    def create_folder(self, parent: str | None = None) -> Path:
        """Create a folder that only the user can enter, and that is deleted when acp-tui ends.

        It is created in `parent`, by default the system's temporary directory. Raises `OSError`.
        """
        folder = Path(parent or tempfile.gettempdir(), f"acp-tui-{secrets.token_hex(FOLDER_NAME_BYTES)}")
        # First, so that the folder is deleted whenever acp-tui is killed. No folder has this name yet.
        self._send(f"scratch {os.fsencode(folder).hex()}")
        try:
            folder.mkdir(mode=0o700)
        except OSError:
            self._send(f"discard {os.fsencode(folder).hex()}")
            raise
        return folder

    def delete_folder(self, folder: Path) -> None:
        """Delete a folder that `create_folder` has created, with its content. Errors are ignored."""
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(ReaperClosedError):
            self._send(f"discard {os.fsencode(folder).hex()}")

    def close(self) -> None:
        """End all registered groups and, on Linux, all processes that `environment` marks.

        Then delete the temporary folders. If nothing has ever been registered, there is no watcher, and
        nothing is ended. Return when the watcher has ended.
        """
        with self._lock:
            self._closed = True
            if self._control is not None:
                self._control.close()
                self._control = None
        if self._process is not None:
            self._process.wait()
            self._process = None

    def _send(self, line: str) -> None:
        with self._lock:
            if self._closed:
                raise ReaperClosedError("the reaper is closed")
            control = self._control or self._start()
            with contextlib.suppress(OSError):  # the watcher was killed; keep working without it
                control.sendall(line.encode() + b"\n")

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                watcher_command(theirs.fileno()),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                cwd="/",
                env={**os.environ},
            )
        self._control = ours
        ours.sendall(f"mark {OWNER_VARIABLE}={self._token}\n".encode())
        return ours
